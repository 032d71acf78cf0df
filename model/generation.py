"""Generation: prefill the prompt once, then one token a step with the KV cache.

`generate` runs one text. Several that share their steps: model/batch.py.
"""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from .checkpoint import LanguageModel
from .growth import Growth
from .interventions import NOTHING, Intervention, check, intervened
from .network import Network
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


class Generation:
    """A text that is being written: what the network reads next, and what is chosen of the logits that it gives.

    Knows nothing about who runs the network. `feed` are the tokens to be read next, the first of them at `position`;
    `stop` is why the text is at its end, None while it is not. Under `changes` the next pass runs.
    """

    def __init__(
        self,
        lm: LanguageModel,
        prompt: str | Sequence[int],
        max_new_tokens: int = 32,
        temperature: float = 0.0,
        top_k: int = 0,
        top_p: float = 1.0,
        seed: int = 0,
        target: str | Sequence[int] | None = None,
        intervention: Intervention = NOTHING,
        growth: Growth | None = None,
    ):
        """Takes and raises what `generate` does. `growth` is a run of the tokens so far, which is to grow."""
        self.growth = growth
        self.how, self.seed = Sampling(temperature, top_k, top_p), seed
        self.how.check()
        if isinstance(max_new_tokens, bool) or not isinstance(max_new_tokens, int) or max_new_tokens < 1:
            raise refusal("max_new_tokens", max_new_tokens, "a whole number of at least 1")
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**63:
            raise refusal("seed", seed, "a whole number from 0 to 2^63 - 1")
        self.max_new_tokens = max_new_tokens
        self.given, self._written = prompt_ids(lm, prompt), target_ids(lm, target)
        if intervention.prefix > len(self.given):
            raise refusal("prefix", intervention.prefix, f"at most {len(self.given)}, the prompt's tokens")
        self.model = lm
        self.unprefixed = with_parts(lm, intervention.parts)
        self.lm = with_prefix_mask(self.unprefixed, intervention.prefix)
        check(self.lm.net, intervention)
        self.changes = self.intervention = intervention
        self.new: list[int] = []
        self.stop: StopReason | None = None
        self._random = torch.Generator().manual_seed(seed)

    @property
    def most_tokens(self) -> int:
        """How many tokens it may have at its end, as far as is known before its prompt is read."""
        own = 1 if self.model.reads_source else len(self.given)
        return min(own + len(self._written) + self.max_new_tokens, self.model.config.context_limit)

    def begin(self) -> Network:
        """The network that writes this text; where it has an encoder, that reads the source now."""
        with intervened(self.lm.net, self.intervention):
            self.net, ids = self.lm.net.start_decoding(self.given)
        self.feed = ids + self._written
        self.start = len(self.feed)
        self.position = 0
        self.limit = min(self.start + self.max_new_tokens, self.lm.config.context_limit)
        self._text = self.lm.tokenizer.stream(self.feed)
        return self.net

    @property
    def reads_last(self) -> bool:
        """Whether the text is at its end but for its last token, which the run that grows is still to read."""
        within = self.position < self.lm.config.context_limit
        return self.stop is not None and self.growth is not None and within

    def take(self, logits: Float[Tensor, "V"], offered: Candidates, cache_bytes: int, since: float) -> Step:
        """The next token, once the network has read `feed`; `offered` are the candidates of the logits.

        `since` (time.perf_counter) is when work on it began, and `cache_bytes` what the cache then held.
        Raises GlassLlamaError("not_finite") where the run of the text is not finite.
        """
        self.position += len(self.feed)
        if _doubtful(logits, offered):
            _check_finite(self.lm, self.given, self._written + self.new, self.intervention, logits)
        token, drawn = choose(logits, self.how, self._random)
        self.stop = _stop(self.lm, token, self.position, self.start, self.max_new_tokens)
        self.new.append(token)
        self.feed, self.changes = [token], self.intervention.lasting
        return Step(
            token_id=token,
            text=self._text.feed(token, last=self.stop is not None),
            probability=_probability(logits, token, offered.log_z),
            drawn_probability=drawn,
            candidates=offered,
            cache_tokens=self.position,
            cache_bytes=cache_bytes,
            seconds=time.perf_counter() - since,
            stop=self.stop,
            sampling=self.how,
            seed=self.seed,
            draws=self.position - self.start,
        )


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
    return _steps(Generation(lm, prompt, max_new_tokens, temperature, top_k, top_p, seed, target, intervention))


def _steps(text: Generation) -> Iterator[Step]:
    net = text.begin()
    cache = net.cache(text.limit)
    while text.stop is None:
        start = time.perf_counter()
        with torch.inference_mode(), intervened(net, text.changes):
            ids = torch.tensor([text.feed], device=text.lm.device)
            logits = net(ids, cache, text.position, last_only=True)[0, -1].float()
            offered = candidates(logits)
        bytes_read = cache.nbytes(text.position + len(text.feed))
        yield text.take(logits, offered, bytes_read, start)


def _doubtful(logits: torch.Tensor, offered: Candidates) -> bool:
    """Whether the run may not be finite: logits are not, or all are 0, as after a norm whose mean square overflowed.

    One logit that is not finite makes their sum so, which takes one pass over them in place of two.
    """
    return not math.isfinite(float(logits.sum())) or not offered.logits.any()


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
