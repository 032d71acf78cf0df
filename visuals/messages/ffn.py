"""What the chapter on the feed-forward and on experts is sent."""

from typing_extensions import TypedDict

from .arrays import Packed
from .run import NeuronArrays


class RoutingDetail(TypedDict):
    """Where a layer's router sent each token, of E experts to k.

    `scores` (T, E) after softmax or sigmoid; `chosen` (T, k) uint16, best first; `weight` (T, k) multiplies their
    outputs; `balance` (E,) is added to the scores for the choice alone. `length` (T, k) is that of what each writes to
    the stream, `shared` (T,) the shared expert's, `whole` (T,) of all together. Else float32.
    """

    scores: Packed
    chosen: Packed
    weight: Packed
    balance: Packed | None
    length: Packed
    shared: Packed | None
    whole: Packed


class RoutingScheme(TypedDict):
    """One way to route a layer's tokens (visuals/routing.py): `chosen` (T, k) uint16, best first; else float32.

    `weight` (T, k) multiplies what the experts write, `gram` (T, k, k) are the products of what they write with that
    weight, `length` (T,) is that of all that the layer writes then, `change` (T,) how far it is from what the network
    writes. `shared`: with the shared expert, where there is one.
    """

    name: str
    shared: bool
    chosen: Packed
    weight: Packed
    gram: Packed
    length: Packed
    change: Packed


class RoutingSchemesDetail(TypedDict):
    """Ways to route a layer's tokens, the network's own first; `probabilities` (T, E) float32 are the softmax of the
    router's logits, `alpha` the weight of the balance loss in Mixtral's config.json."""

    schemes: list[RoutingScheme]
    probabilities: Packed
    alpha: float


class ActivationKindsDetail(TypedDict):
    """A layer with each of K kinds of feed-forward in turn (visuals/activations.py), by token.

    `kinds` and the `functions` that they bend with go by the names of model.replaced.activations; `own` is the
    network's. `zeros` (K, T) int32 of the `neurons`, else float32: `slope`, `length` and `change` (K, T), and `apart`
    (2, T), from exact GELU to its tanh and to its sigmoid form.
    """

    kinds: list[str]
    functions: list[str]
    own: str
    neurons: int
    zeros: Packed
    slope: Packed
    length: Packed
    change: Packed
    apart: Packed


class PublishedWidth(TypedDict):
    """A published model's width of the feed-forward, and the two numbers of LLaMA's rule where it has them."""

    model: str
    d_model: int
    width: int
    gated: bool
    multiplier: float | None
    multiple_of: int | None
    source: str


class WidthsDetail(TypedDict):
    """Published widths (visuals/ffn_width.py)."""

    rows: list[PublishedWidth]


class NeuronMapDetail(NeuronArrays):
    """K neurons of a layer at every token, (K, T) each."""

    neurons: list[int]


class FiringDetail(TypedDict):
    """How sparsely each layer fires, as shares in 0…1, (L, T) float32 each (model.analysis.neurons.Firing): `open` of
    the neurons, `top` of the mass, `needed` of the neurons again."""

    open: Packed
    top: Packed
    needed: Packed


class MovedToken(TypedDict):
    """A token, and what is added to its logit."""

    id: int
    piece: str
    by: float


class NeuronWrites(TypedDict):
    """What a neuron reads and writes at a token.

    `gate` and `up` are null where it has none or is of an expert that the token does not go to. `norm` is the length of
    what it writes, `column` that of its column of W_down. `raised` and `lowered` are the tokens to whose logits it
    adds most, and least, which may be above zero; `adds` is its part of the logit that was asked for, null where none
    was.
    """

    neuron: int
    gate: float | None
    up: float | None
    adds: float | None
    norm: float
    column: float
    raised: list[MovedToken]
    lowered: list[MovedToken]


class NeuronWritesDetail(TypedDict):
    """What neurons of a layer write at a token; `rest` is the length of what all others write, `whole` of all."""

    rows: list[NeuronWrites]
    rest: float
    whole: float
