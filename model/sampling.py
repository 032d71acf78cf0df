"""From logits to the next token: the candidates, and the choice. Knows nothing about the network."""

import math
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from .errors import GlassLlamaError
from .refusals import refusal


class Candidates(NamedTuple):
    """The most probable next tokens, and exactly as much of the rest as their probabilities need.

    `ids` (K,) int64 and `logits` (K,) float32, highest first; `log_z` is logsumexp over the whole vocabulary, so that
    exp(logit - log_z) is each probability; `tail` is the summed probability of all tokens that are not listed.
    """

    ids: np.ndarray
    logits: np.ndarray
    log_z: float
    tail: float

    @property
    def probabilities(self) -> np.ndarray:
        """(K,) float64, under the whole vocabulary's softmax at temperature 1."""
        return np.exp(self.logits.astype(np.float64) - self.log_z)


def candidates(logits: Float[Tensor, "V"], k: int = 64) -> Candidates:
    """The k most probable tokens of one position's logits."""
    top = logits.topk(min(k, logits.numel()))
    log_z = float(logits.double().logsumexp(-1))
    return _candidates(top.indices.cpu().numpy(), top.values.float().cpu().numpy(), log_z)


def candidates_of_each(logits: Float[Tensor, "B V"], k: int = 64) -> list[Candidates]:
    """The same for each row."""
    top = logits.topk(min(k, logits.shape[-1]))
    ids, best = top.indices.cpu().numpy(), top.values.float().cpu().numpy()
    log_z = logits.double().logsumexp(-1).tolist()
    return [_candidates(*row) for row in zip(ids, best, log_z, strict=True)]


def _candidates(ids: np.ndarray, logits: np.ndarray, log_z: float) -> Candidates:
    found = Candidates(ids, logits, log_z, 0.0)
    return found._replace(tail=max(0.0, 1.0 - float(found.probabilities.sum())))


class Sampling(NamedTuple):
    """How a token is drawn: temperature 0 takes the most probable; top_k 0 and top_p 1 leave every token in."""

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0

    def check(self) -> None:
        """Raise GlassLlamaError, naming the field and its range, for a value that makes no sense."""
        _within("temperature", self.temperature, 0.0, 100.0)
        _within("top_p", self.top_p, 0.0, 1.0)
        if isinstance(self.top_k, bool) or not isinstance(self.top_k, int) or self.top_k < 0:
            raise refusal("top_k", self.top_k, "a whole number of at least 0 (0 keeps every token)")


def filtered_logits(logits: Float[Tensor, "V"], how: Sampling) -> Float[Tensor, "V"]:
    """Logits over temperature, less the highest, with -inf at what top-k, then top-p, leave out (transformers' order).

    Top-p keeps the smallest set of most probable tokens whose mass reaches top_p, over the whole vocabulary.
    """
    exact = logits.double()
    scaled = (exact - exact.max()) / how.temperature  # the highest stays 0 at the smallest temperature
    if 0 < how.top_k < scaled.numel():
        scaled = scaled.masked_fill(scaled < scaled.topk(how.top_k).values[-1], float("-inf"))
    if how.top_p < 1.0:
        ordered, order = scaled.sort(descending=True, stable=True)
        probabilities = ordered.softmax(-1)
        before = probabilities.cumsum(-1) - probabilities  # the mass of all that are more probable
        dropped = before >= how.top_p
        dropped[0] = False  # top_p 0 still keeps the most probable
        scaled = scaled.masked_fill(torch.zeros_like(dropped).scatter(0, order, dropped), float("-inf"))
    return scaled


def choose(logits: Float[Tensor, "V"], how: Sampling, random: torch.Generator) -> tuple[int, float]:
    """(token id, its probability under the distribution that it was drawn from; 1 where there was no choice).

    A logit of -inf leaves its token out. Raises GlassLlamaError("not_finite_logits") for NaN and +inf, and where no
    token is left.
    """
    best = int(logits.argmax())  # NaN counts as the highest of all
    if not math.isfinite(highest := float(logits[best])):
        said = f"logits: token id {best} has {highest}; expected finite numbers."
        raise GlassLlamaError("not_finite_logits", said, token_id=best, kind=str(highest))
    if how.temperature == 0:
        return best, 1.0
    probabilities = filtered_logits(logits, how).softmax(-1).cpu()
    token = int(torch.multinomial(probabilities, 1, generator=random))
    return token, float(probabilities[token])


def _within(field: str, value: float, low: float, high: float) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise refusal(field, value, f"a number from {low:g} to {high:g}")
