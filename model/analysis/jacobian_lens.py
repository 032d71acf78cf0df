"""The Jacobian lens (Gurnee et al. 2026, arXiv 2607.15495): what a vector of the stream disposes the model to say.

The logit lens reads a stream with final norm and head as it is, though the layers that are left would still change it.
The Jacobian lens first carries it to where the head reads, by the mean linear effect of these layers:

    J_l = E[∂h_L[t] / ∂h_l[t]],    logits = head(norm(J_l · h_l)).

h_l is the stream that enters layer l; h_L is the one after the last layer, before the final norm, and J_L is the
identity. The mean is over tokens of a few texts. Both ends stand at the same token: the paper adds the effect on all
later tokens, and its code says that either works as a lens. As there, the first tokens of a text are left out of the
mean, since heads park there.

Symbols: L n_layers, T tokens, d d_model.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from ..checkpoint import LanguageModel
from ..forward_pass import Pass
from ..pieces import Work, in_pieces
from ..taps import capture
from .read_before import ReadBefore

SKIPPED = 4  # tokens at the beginning of a text


class JacobianLens(NamedTuple):
    """J_l from l = `first` on, as `jacobians` (L - first, d, d): the mean over `tokens` tokens. On the CPU, in float16
    where that can hold it."""

    jacobians: Float[Tensor, "fitted d d"]
    tokens: int
    first: int = 0

    def carry(self, depth: int, stream: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch d"]:
        """J · h of vectors that enter layer `depth`; those after the last layer (L) stay as they are."""
        if depth == self.first + len(self.jacobians):
            return stream
        jacobian = self.jacobians[depth - self.first].to(stream.device).float()
        return (stream.float() @ jacobian.T).to(stream.dtype)


class Place(NamedTuple):
    """A token of a text, where a Jacobian is taken: the text's ids up to that token, which comes last."""

    ids: tuple[int, ...]


def places_in(texts: Sequence[Sequence[int]], count: int) -> list[Place]:
    """About `count` tokens, evenly spaced through all texts but for the first SKIPPED tokens of each; all if fewer."""
    every = [Place(tuple(ids[: end + 1])) for ids in texts for end in range(SKIPPED, len(ids))]
    step = max(1.0, len(every) / max(1, count))
    return [every[int((i + 0.5) * step)] for i in range(min(count, len(every)))]


@in_pieces
def jacobians_at(lm: LanguageModel, place: Place, first: int = 0) -> Work[Float[Tensor, "fitted d d"]]:
    """∂h_L[t] / ∂h_l[t] at one place, for every l from `first` on; float32, on the CPU. One layer is a piece.

    Later tokens do not see t and earlier ones do not change with it, so t alone passes the layers again, beside the
    keys and values of those before it. The d rows of the Jacobian come back through one layer after the other.
    """
    net, d, last = lm.net, lm.config.d_model, len(place.ids) - 1
    cache = net.cache(last + 1)
    ids = torch.tensor([place.ids], device=lm.device)
    with torch.no_grad(), capture(net, "layers.*.resid_in", record=lambda x: x[:, -1:].detach()) as seen:
        net(ids, cache=cache, last_only=True)
    past, positions = ReadBefore(cache, last), net.positions(last, 1)
    rows = torch.eye(d, device=lm.device, dtype=lm.dtype)[:, None]
    found = torch.empty(lm.config.n_layers - first, d, d)
    for layer in reversed(range(first, lm.config.n_layers)):
        yield
        with torch.enable_grad():
            x = seen[f"layers.{layer}.resid_in"].repeat(d, 1, 1).requires_grad_()
            y = net.block(layer)(x, Pass(positions, layer, past, last))
            (rows,) = torch.autograd.grad(y, x, rows)
        found[layer - first] = rows[:, 0]
    return found


def mean_lens(total: Float[Tensor, "fitted d d"], tokens: int, first: int = 0) -> JacobianLens:
    """The lens of Jacobians that were added up over so many tokens."""
    mean = total / tokens
    half = mean.half()
    return JacobianLens(half if half.isfinite().all() else mean, tokens, first)
