"""What a run's prediction becomes with other keys and values: with another number of K/V heads, each the mean of those
that it stands for, and with one latent a token from which all heads' keys and values are rebuilt."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from model import GlassLlamaError, LanguageModel, Trace
from model.interventions import intervened
from model.network import Network
from model.pieces import Work, in_pieces, rows_of_a_piece
from model.replaced.low_rank import joint_directions, with_latents
from model.replaced.pooled_heads import can_be_pooled, head_counts, with_kv_heads
from model.view import with_prefix_mask

from .messages.attend import AttentionKindsDetail, PredictionMessage

RANKS_AT_ONCE = 3  # of a part: the directions are fitted once for all of them


class Prediction(NamedTuple):
    """The next token of a changed run: `kl` nats from the run as it is, KL(run ‖ changed), the `answer`'s probability,
    and the most probable token `best` with its own."""

    kl: float
    p_answer: float
    best: int
    p_best: float


class AttentionKinds(NamedTuple):
    """The run's most probable next token, its probability, and what it becomes with each number of K/V heads and with
    a latent of each rank; None where that is not measured so far."""

    answer: int
    p: float
    heads: dict[int, Prediction | None]
    latents: dict[int, Prediction | None]

    @property
    def done(self) -> int:
        """How many of them are measured."""
        return sum(one is not None for one in (*self.heads.values(), *self.latents.values()))

    @property
    def total(self) -> int:
        """How many there are."""
        return len(self.heads) + len(self.latents)


def ranks_of(tokens: int, width: int) -> list[int]:
    """Ranks that are measured: powers of two, up to the most that [K; V] of so many tokens can have."""
    most = min(tokens, width)
    return [*(1 << i for i in range(most.bit_length()) if 1 << i < most), most]


@in_pieces
def attention_kinds_info(lm: LanguageModel, trace: Trace, so_far: AttentionKinds | None = None) -> Work[AttentionKinds]:
    """The run's next token with other keys and values, under the run's own changes; of the last place alone.

    Comes in parts. The first takes no pass: with a multiple of a network's own K/V heads these are repeated, and it
    computes what it did. Each further part adds to `so_far` one number of heads, or then a few ranks.
    Raises GlassLlamaError where keys and values are no heads' projections of one stream.
    """
    if not can_be_pooled(lm.net):
        raise GlassLlamaError("bad_request", f"{lm.name}: it has no K/V heads of one text that could be pooled.")
    own = torch.from_numpy(trace.logits).double().log_softmax(-1)
    if so_far is None:
        return _first(lm, trace, own)
    net = with_prefix_mask(lm, trace.intervention.prefix).net
    count = next((count for count, one in so_far.heads.items() if one is None), None)
    if count is not None:
        (logs,) = _logs(lm, trace, with_kv_heads(net, count), 1)
        return so_far._replace(heads={**so_far.heads, count: _prediction(own, logs, so_far.answer)})
    ranks = [rank for rank, one in so_far.latents.items() if one is None][:RANKS_AT_ONCE]
    latents = dict(so_far.latents)
    if ranks:
        directions = yield from joint_directions.pieces(lm, trace.residual)
        at_once = rows_of_a_piece(lm, len(trace.token_ids))
        for start in range(0, len(ranks), at_once):
            some = ranks[start : start + at_once]
            for rank, logs in zip(some, _logs(lm, trace, with_latents(net, directions, some), len(some)), strict=True):
                latents[rank] = _prediction(own, logs, so_far.answer)
            yield
    return so_far._replace(latents=latents)


def _first(lm: LanguageModel, trace: Trace, own: Float[Tensor, "V"]) -> AttentionKinds:
    config, answer = lm.config, int(own.argmax())
    same = _prediction(own, own, answer)
    heads = {n: None if n % config.n_kv_heads else same for n in head_counts(config.n_heads)}
    ranks = ranks_of(len(trace.token_ids), 2 * config.n_kv_heads * config.head_dim)
    return AttentionKinds(answer, same.p_answer, heads, dict.fromkeys(ranks))


def _prediction(own: Float[Tensor, "V"], logs: Float[Tensor, "V"], answer: int) -> Prediction:
    best = int(logs.argmax())
    kl = max(0.0, float((own.exp() * (own - logs)).sum()))
    return Prediction(kl, float(logs[answer].exp()), best, float(logs[best].exp()))


def _logs(lm: LanguageModel, trace: Trace, net: Network, rows: int) -> Float[Tensor, "rows V"]:
    """ln p of every next token after the run, float64, of each of so many rows with the same text."""
    with torch.inference_mode(), intervened(net, trace.intervention):
        logits = net(torch.tensor([trace.token_ids] * rows, device=lm.device), last_only=True)[:, -1]
    return logits.double().log_softmax(-1).cpu()


def attention_kinds_payload(info: AttentionKinds, pieces: Mapping[int, str]) -> AttentionKindsDetail:
    """The message of AttentionKinds; `pieces` are the texts of the tokens in it."""
    return {
        "answer": pieces[info.answer],
        "p": info.p,
        "done": info.done,
        "heads": _messages(info.heads, pieces),
        "latents": _messages(info.latents, pieces),
    }


def tokens_in(info: AttentionKinds) -> Sequence[int]:
    """The tokens in it, each once."""
    found = (*info.heads.values(), *info.latents.values())
    return sorted({info.answer, *(one.best for one in found if one is not None)})


def _messages(found: Mapping[int, Prediction | None], pieces: Mapping[int, str]) -> list[PredictionMessage]:
    return [
        {
            "count": count,
            "kl": one and one.kl,
            "p_answer": one and one.p_answer,
            "best": one and pieces[one.best],
            "p_best": one and one.p_best,
        }
        for count, one in found.items()
    ]
