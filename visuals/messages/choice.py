"""What the chapter on the next token is sent."""

from typing import NotRequired

from typing_extensions import TypedDict

from .arrays import Packed
from .run import NextMessage


class TokenNames(TypedDict):
    """The distinct token ids of a message, with the text of each."""

    ids: list[int]
    pieces: list[str]


class LensDetail(TypedDict):
    """The logit lens at every depth, the embedding first: the K most probable tokens, best first, `ids` int32 and
    `probabilities` (L + 1, T, K); of each token's target its `rank` int32, `logit` and `probability` (L + 1, T).

    `targets` (T,) int32 is whose rank is followed. Else float32. The Jacobian lens may begin at a later depth, `first`:
    then there are so many rows fewer. Where one token was asked for, T is 1.
    """

    first: int

    targets: Packed
    ids: Packed
    probabilities: Packed
    rank: Packed
    logit: Packed
    probability: Packed
    names: TokenNames


class LensFitAnswer(TypedDict):
    """How far a model's Jacobian lens is: a mean over `done` of `tokens` tokens, from layer `first` on. `tokens` is 0
    where it takes too much work here. `own_texts`: of held-out texts of the model's own world."""

    done: int
    tokens: int
    first: int
    own_texts: bool


class GlossesAnswer(TypedDict):
    """What Chinese words mean in English: `words` by word; `parts` are characters that are no word by themselves, each
    with the meaning of a word that they stand in."""

    words: dict[str, str]
    parts: dict[str, str]


class ContributionsDetail(TypedDict):
    """What each part of the network added to one logit of each token, float32.

    `embedding` and `patched` (T,), `attention`, `ffn` and, with a source, `cross` (L, T) and, with a biased final norm,
    `constant` (T,) sum to `logit` (T,); `scale` (T,) is what the final norm divides by. `targets` and `against` (T,)
    int32 say whose logit, and less whose.
    """

    embedding: Packed
    attention: Packed
    ffn: Packed
    patched: Packed
    logit: Packed
    scale: Packed
    constant: NotRequired[Packed]
    cross: NotRequired[Packed]
    targets: Packed
    against: Packed | None
    names: TokenNames


class WrittenToken(TypedDict):
    """The token that a text goes on with: its logit, and its rank counted from 0."""

    id: int
    logit: float
    rank: int


class NextDetail(NextMessage):
    """The candidates after a position, and the token that the text goes on with; null after the last."""

    written: WrittenToken | None


class LogitsDetail(TypedDict):
    """All logits after a position, (V,) float32."""

    logits: Packed


class Runner(TypedDict):
    """A token in the race: its probability after the filters, and its throw E ~ Exp(1)."""

    id: int
    piece: str
    probability: float
    throw: float


class RaceMessage(TypedDict):
    """The throws of the most probable tokens. The one with the largest probability / throw wins; `second` is null where
    only one can."""

    ids: list[int]
    throws: list[float]
    winner: Runner
    second: Runner | None


class DrawDetail(TypedDict):
    """The drawn token, its probability after the filters (1 where there was no choice) and its logit; `race` is null
    where nothing was thrown."""

    id: int
    piece: str
    probability: float
    logit: float
    race: RaceMessage | None


class NeuronTerm(TypedDict):
    """What one neuron adds to a logit."""

    layer: int
    neuron: int
    value: float


class LogitTermsDetail(TypedDict):
    """One logit as a sum: `embedding`, `heads` (L, n_heads, T) by source token, `cross` (L, n_heads, S) of a look at a
    source, and each layer's `ffn` (L,), float32; of that the strongest `neurons`, and the others' sum.

    `patched` is what an intervention put in the stream's place, `biases` what the network's biases add (0 in a LLaMA).
    `logit` is the network's own, `total` the sum.
    """

    embedding: float
    heads: Packed
    cross: Packed | None
    ffn: Packed
    neurons: list[NeuronTerm]
    other_neurons: float
    patched: float
    biases: float
    logit: float
    total: float


class CausalMapDetail(TypedDict):
    """Where the answer lives: `left` (L + 1, T) float32 is the share of the difference of two logits that is left with
    another text's stream at that place, `source_left` (L + 1, S) of an encoder; with another text's attention or
    feed-forward there, both have L rows. `answer` and `other` are pieces. The texts differ from token `start` on."""

    left: Packed
    source_left: Packed | None
    answer: str
    other: str
    start: int
