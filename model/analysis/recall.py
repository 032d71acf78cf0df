"""How an answer that is recalled gets to the last token: where it is gathered, in which layers, and when it moves.

All of it is read off a causal map (causal_map.py) over a pair of texts, and off runs in which more is taken from the
other text at once: a subject is enriched by feed-forwards, layer after layer, until heads fetch it (Geva et al. 2023,
arXiv 2304.14767). So it is told of what tells the two answers apart, and of nothing that both texts share.

- The difference stands at the token before the last at which most is lost, on average over the depths.
- It *moves* in the layers between which the last token's stream goes from less than FROM of the difference to TO or
  more, and stays there. That is clear where these are no more than a part of all layers (NARROW), and the other token
  holds half or more before.
- It is *gathered* in the layers whose feed-forwards there carry it. With those of layer k and above taken from the
  other text, the loss goes down as k goes up: from nine tenths of the whole in the first of these layers to a tenth
  above the last. That is clear where half or more is lost with all of them, and two controls lose no more than half of
  that: what attention writes there in all layers, and the same layers' feed-forwards at the last token.
- A head brings it where, of those in the layers in which it moves, its write at the last token alone loses BRINGS or
  more, and twice as much as that of the next one.

Symbols: L n_layers, T tokens.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor

from ..pieces import Work, in_pieces
from .head_losses import Head
from .nodes import NodeMask, Pair, Site
from .recovered import recovered

FROM, TO = 0.25, 0.75  # of the difference: less than this, and this or more
NARROW = 4  # the layers in which it moves are a clear place where they are no more than L / NARROW, or one
HALF = 0.5
BRINGS = 0.25
NEXT = 2  # times as much as the next head
TENTH = 0.1


class Layers(NamedTuple):
    """From layer `first` to layer `last`."""

    first: int
    last: int


class Gathered(NamedTuple):
    """What is lost at one token with feed-forwards' writes taken from the other text: those of `layers` carry it.

    `all` is lost with every layer's, `later` with those above the first of `layers`, and `above` with those above the
    last. Controls: `attention` with every layer's attention there, `elsewhere` with the feed-forwards of `layers` at
    the last token.
    """

    layers: Layers
    all: float
    later: float
    above: float
    attention: float
    elsewhere: float

    @property
    def clear(self) -> bool:
        """Whether the feed-forwards there carry it, and neither control does."""
        return self.all >= HALF and max(self.attention, self.elsewhere) <= self.all / 2


class Moved(NamedTuple):
    """In which `layers` the difference comes to the last token: `before` them its stream carries so much, `after` them
    so much; the other token `held` so much before."""

    layers: Layers
    held: float
    before: float
    after: float
    of: int  # layers that there are

    @property
    def clear(self) -> bool:
        """Whether it is held at the one token, and a few layers take it to the other."""
        count = self.layers.last - self.layers.first + 1
        return self.held >= HALF and self.before < FROM and count <= max(1, self.of // NARROW)


class Brought(NamedTuple):
    """The head of these layers whose write at the last token loses most, and what the `following` one loses."""

    head: Head
    lost: float
    following: float

    @property
    def clear(self) -> bool:
        """Whether it is this one head."""
        return self.lost >= BRINGS and self.lost >= NEXT * self.following


class Recalled(NamedTuple):
    """How the difference between two answers gets from `token` to the last token."""

    token: int
    gathered: Gathered
    moved: Moved
    brought: Brought


@in_pieces
def recalled(pair: Pair, left: Float[Tensor, "depths T"]) -> Work[Recalled | None]:
    """How the answer gets to the last token, by the pair's causal map `left` of the stream; None where the texts do not
    differ before that. For a causal network."""
    last = left.shape[1] - 1
    if pair.start == last:
        return None
    lost = 1 - left
    token = pair.start + int(lost[:, pair.start : last].mean(0).argmax())
    moved = _moved(lost[:, token].tolist(), lost[:, last].tolist())
    gathered = yield from _gathered(pair, token)
    brought = yield from _brought(pair, moved.layers)
    return Recalled(token, gathered, moved, brought)


def _moved(there: Sequence[float], at_last: Sequence[float]) -> Moved:
    """From what is lost at each depth, L + 1 numbers, at the token where the difference stands and at the last one."""
    first, last = _for_good(at_last, FROM), _for_good(at_last, TO)
    begin = max(0, first - 1)
    layers = Layers(begin, max(begin, last - 1))
    return Moved(layers, there[begin], at_last[begin], at_last[layers.last + 1], len(at_last) - 1)


def _for_good(lost: Sequence[float], least: float) -> int:
    """The first depth from which on so much is lost at all; the last depth where there is none."""
    below = [depth for depth, part in enumerate(lost) if part < least]
    return min(below[-1] + 1, len(lost) - 1) if below else 0


def _gathered(pair: Pair, token: int) -> Work[Gathered]:
    count, last = pair.lm.net.config.n_layers, pair.ids.shape[1] - 1
    ffns = _sites(pair, "ffn")
    heads = [(site, token) for site in _sites(pair, "head")]
    *nested, attention = yield from lost_without.pieces(
        pair, [*([(site, token) for site in ffns[layer:]] for layer in range(count)), heads]
    )
    layers = carrying(nested)
    (elsewhere,) = yield from lost_without.pieces(
        pair, [[(site, last) for site in ffns[layers.first : layers.last + 1]]]
    )
    nested.append(0.0)
    return Gathered(layers, nested[0], nested[layers.first + 1], nested[layers.last + 1], attention, elsewhere)


def carrying(nested: Sequence[float]) -> Layers:
    """The layers that carry what is lost; `nested` is what is lost with those of layer k and above, for each k."""
    whole = nested[0]
    first = max(layer for layer, part in enumerate(nested) if part >= (1 - TENTH) * whole or layer == 0)
    last = max(layer for layer, part in enumerate(nested) if part > TENTH * whole or layer == first)
    return Layers(first, last)


def _brought(pair: Pair, layers: Layers) -> Work[Brought]:
    last = pair.ids.shape[1] - 1
    heads: list[Head] = [
        (layer, head) for layer in range(layers.first, layers.last + 1) for head in range(pair.lm.config.n_heads)
    ]
    sites = {site.layer: site for site in _sites(pair, "head")}
    lost = yield from lost_without.pieces(pair, [[(sites[layer], last, head)] for layer, head in heads])
    best = sorted(range(len(heads)), key=lambda i: -lost[i])
    following = lost[best[1]] if len(best) > 1 else 0.0
    return Brought(heads[best[0]], lost[best[0]], following)


def _sites(pair: Pair, kind: str) -> list[Site]:
    """Where the parts of a kind write, by layer."""
    return sorted((site for site in pair.values if site.kind == kind), key=lambda site: site.layer)


@in_pieces
def lost_without(pair: Pair, parts: Sequence[Iterable[tuple[Site, int] | tuple[Site, int, int]]]) -> Work[list[float]]:
    """What is lost of the difference with some parts' writes taken from the other text, for each set of parts: a site
    with all its heads at a token, or one of them."""
    kept: NodeMask = {
        site: value.new_ones((len(parts), *value.shape[:2])).bool() for site, value in pair.values.items()
    }
    for i, some in enumerate(parts):
        for site, *place in some:
            kept[site][(i, *place)] = False
    shares = yield from recovered.pieces(pair, kept)
    return [1 - share for share in shares]
