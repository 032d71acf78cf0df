"""Generation: prefill the prompt once, then one token a step with the KV cache."""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import torch

from .checkpoint import LanguageModel
from .interventions import NOTHING, Intervention, intervened
from .nonfinite import NonFinite, not_finite_error
from .prompt import prompt_ids, target_ids
from .refusals import refusal
from .replaced.exchange import with_parts
from .sampling import Candidates, Sampling, candidates, choose
from .trace import run_trace
from .view import with_prefix_mask

StopReason = Literal["end_of_text", "max_context", "max_new_tokens"]


@dataclass(frozen=True)
class Step:
    """One new token.

    `text` is what it adds to the text ("" while a character is not yet whole; the last step gives all that is left);
    `probability` the model's own, under the whole vocabulary at temperature 1; `drawn_probability` the one it was drawn
    with, after temperature, top-k and top-p; `candidates` what it was chosen from; `cache_tokens` and `cache_bytes`
    what the KV cache held when it was chosen; `seconds` the time from the last token to this one (from the start,
    prefill and all, for the first); `stop` why there is no further step, None while there is. `sampling` and `seed` are
    what it was drawn with, and `draws` how many tokens had been drawn with that seed before it.
    """

    token_id: int
    text: str
    probability: float
    drawn_probability: float
    candidates: Candidates
    cache_tokens: int
    cache_bytes: int
    seconds: float
    stop: StopReason | None
    sampling: Sampling
    seed: int
    draws: int


def generate(
    lm: LanguageModel,
    prompt: str | Sequence[int],
    max_new_tokens: int = 32,
    temperature: float = 0.0,
    top_k: int = 0,
    top_p: float = 1.0,
    seed: int = 0,
    target: str | Sequence[int] | None = None,
    intervention: Intervention = NOTHING,
) -> Iterator[Step]:
    """Continue a prompt (text or token ids), one Step a token, until end of text, max_context or max_new_tokens.

    A network with an encoder reads the prompt and writes a text of its own, on from `target` where it has begun:
    cache_tokens and max_context count that. What `intervention` switches off is off at every step; it patches what the
    first step reads, and a `prefix` is of that too.

    Temperature 0 is greedy; otherwise draws are reproducible by `seed`. Raises GlassLlamaError at the call, before the
    first step, for an empty or too long prompt or target, for a target where there is no encoder, for a setting out of
    range and for an intervention that the network cannot have; and at a step whose logits are not finite, with the
    place where the first such value arose ("not_finite").
    """
    how = Sampling(temperature, top_k, top_p)
    how.check()
    if isinstance(max_new_tokens, bool) or not isinstance(max_new_tokens, int) or max_new_tokens < 1:
        raise refusal("max_new_tokens", max_new_tokens, "a whole number of at least 1")
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise refusal("seed", seed, "a whole number from 0 to 2^63 - 1")
    ids, written = prompt_ids(lm, prompt), target_ids(lm, target)
    if intervention.prefix > len(ids):
        raise refusal("prefix", intervention.prefix, f"at most {len(ids)}, the prompt's tokens")
    lm = with_prefix_mask(with_parts(lm, intervention.parts), intervention.prefix)
    with intervened(lm.net, intervention):
        pass  # what the network cannot have is refused here
    return _steps(lm, ids, written, max_new_tokens, how, seed, intervention)


def _steps(
    lm: LanguageModel,
    ids: list[int],
    written: list[int],
    max_new_tokens: int,
    how: Sampling,
    seed: int,
    intervention: Intervention,
) -> Iterator[Step]:
    random = torch.Generator().manual_seed(seed)
    given, new = ids, list[int]()
    with intervened(lm.net, intervention):
        net, ids = lm.net.start_decoding(given)
    ids = ids + written
    limit = min(len(ids) + max_new_tokens, lm.config.context_limit)
    cache = net.cache(limit)
    text = lm.tokenizer.stream(ids)
    feed, position, changes = ids, 0, intervention
    while True:
        start = time.perf_counter()
        with torch.inference_mode(), intervened(net, changes):
            logits = net(torch.tensor([feed], device=lm.device), cache, position, last_only=True)[0, -1].float()
            position += len(feed)
            offered = candidates(logits)
        if _doubtful(logits, offered):
            _check_finite(lm, given, written + new, intervention, logits)
        token, drawn = choose(logits, how, random)
        stop = _stop(lm, token, position, len(ids), max_new_tokens)
        yield Step(
            token_id=token,
            text=text.feed(token, last=stop is not None),
            probability=_probability(logits, token, offered.log_z),
            drawn_probability=drawn,
            candidates=offered,
            cache_tokens=position,
            cache_bytes=cache.nbytes(position),
            seconds=time.perf_counter() - start,
            stop=stop,
            sampling=how,
            seed=seed,
            draws=position - len(ids),
        )
        if stop:
            return
        new.append(token)
        feed, changes = [token], intervention.lasting


def _doubtful(logits: torch.Tensor, offered: Candidates) -> bool:
    """Whether the run may not be finite: logits are not, or all are 0, as after a norm whose mean square overflowed."""
    return not bool(logits.isfinite().all()) or not offered.logits.any()


def _check_finite(
    lm: LanguageModel, given: list[int], written: list[int], intervention: Intervention, logits: torch.Tensor
) -> None:
    """Raises GlassLlamaError("not_finite") where the run of these tokens is not finite, and says where it began."""
    text: dict[str, list[int]] = (
        {"prompt": given, "target": written} if lm.reads_source else {"prompt": given + written}
    )
    if not text.get("target", written):
        text.pop("target", None)
    trace = run_trace(lm, **text, intervention=intervention)
    trace.check_finite()
    if not bool(logits.isfinite().all()):  # over the cache alone, whose products add up in another order
        found = NonFinite(
            "head", None, "logits", len(trace.token_ids) - 1, "NaN" if bool(logits.isnan().any()) else "inf"
        )
        raise not_finite_error(found, lm.dtype, trace.pieces)


def _probability(logits: torch.Tensor, token: int, log_z: float) -> float:
    return math.exp(float(logits[token]) - log_z)


def _stop(lm: LanguageModel, token: int, position: int, prompt: int, max_new_tokens: int) -> StopReason | None:
    """Why generation ends with `token`, which stands at `position`, if it does."""
    if token in lm.config.eos_ids:
        return "end_of_text"
    if position - prompt + 1 >= max_new_tokens:
        return "max_new_tokens"
    # The token itself takes a position when it is read; where that would be past the context, it stays unread.
    return "max_context" if position >= lm.config.context_limit else None
