"""What a run's prediction becomes with another number of K/V heads, each the mean of those that it stands for."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from model import GlassLlamaError, LanguageModel, Trace
from model.interventions import intervened
from model.network import Network
from model.pieces import Work, in_pieces
from model.replaced.pooled_heads import can_be_pooled, head_counts, with_kv_heads
from model.view import with_prefix_mask

from .messages.attend import AttentionKindsDetail


class Pooled(NamedTuple):
    """The next token with `n_kv_heads` K/V heads in every layer: `kl` nats from the run as it is, KL(run ‖ pooled), the
    `answer`'s probability, and the most probable token `best` with its own."""

    n_kv_heads: int
    kl: float
    p_answer: float
    best: int
    p_best: float


class AttentionKinds(NamedTuple):
    """The run's most probable next token, its probability, and what it becomes with each number of K/V heads."""

    answer: int
    p: float
    kinds: tuple[Pooled, ...]


def poolings(n_heads: int, n_kv_heads: int) -> list[int]:
    """The numbers of K/V heads that must be run: with a multiple of a network's own its heads are repeated, and it
    computes what it did."""
    return [count for count in head_counts(n_heads) if count % n_kv_heads]


@in_pieces
def attention_kinds_info(lm: LanguageModel, trace: Trace) -> Work[AttentionKinds]:
    """The run's next token with every number of K/V heads, under the run's own changes; of the last place alone.

    Raises GlassLlamaError where keys and values are no heads' projections of one stream.
    """
    if not can_be_pooled(lm.net):
        raise GlassLlamaError("bad_request", f"{lm.name}: it has no K/V heads of one text that could be pooled.")
    config = lm.config
    own = _logs(lm, trace, config.n_kv_heads)
    yield
    answer, p = int(own.argmax()), own.exp()
    kinds = []
    run = poolings(config.n_heads, config.n_kv_heads)
    for count in head_counts(config.n_heads):
        logs = own
        if count in run:
            logs = _logs(lm, trace, count)
            yield
        best = int(logs.argmax())
        kl = float((p * (own - logs)).sum())
        kinds.append(Pooled(count, max(0.0, kl), float(logs[answer].exp()), best, float(logs[best].exp())))
    return AttentionKinds(answer, float(p[answer]), tuple(kinds))


def _logs(lm: LanguageModel, trace: Trace, count: int) -> Float[Tensor, "V"]:
    """ln p of every next token after the run, float64."""
    changes = trace.intervention
    given: Network = with_prefix_mask(lm, changes.prefix).net
    net = given if count == lm.config.n_kv_heads else with_kv_heads(given, count)
    with torch.inference_mode(), intervened(net, changes):
        logits = net(torch.tensor([trace.token_ids], device=lm.device), last_only=True)[0, -1]
    return logits.double().log_softmax(-1).cpu()


def attention_kinds_payload(info: AttentionKinds, pieces: dict[int, str]) -> AttentionKindsDetail:
    """The message of AttentionKinds; `pieces` are the texts of the tokens in it."""
    return {
        "answer": pieces[info.answer],
        "p": info.p,
        "kinds": [
            {
                "n_kv_heads": one.n_kv_heads,
                "kl": one.kl,
                "p_answer": one.p_answer,
                "best": pieces[one.best],
                "p_best": one.p_best,
            }
            for one in info.kinds
        ],
    }
