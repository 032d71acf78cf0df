"""What the first chapter is sent: why this word, words to change."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from model.analysis.form import Form
from model.analysis.head_losses import Ablation
from model.analysis.switching import Kind

from .arrays import Packed

PartKind = Literal["head", "cross", "neuron", "encoder_head", "encoder_neuron"]


class SightPlace(TypedDict):
    """A head, and the token `key` that it looks at most from the one at `query`, with its weight."""

    layer: int
    head: int
    query: int
    key: int
    weight: float


class FirstHead(SightPlace):
    """The head to show first."""

    kind: Kind


class ReadingHead(TypedDict):
    """A head that reads the answer, and its weight there."""

    layer: int
    head: int
    weight: float


class LookMessage(TypedDict):
    """Where the answer was read: at token `key`, by `heads`. `without` is its probability when all of them are off, and
    `by_chance` what is left when as many others are, draw by draw, sorted."""

    kind: Kind
    key: int
    heads: list[ReadingHead]
    without: float
    by_chance: list[float]


class EffectMessage(TypedDict):
    """What a part is worth to the answer: its probability `without` the part, and the `loss` in nats. A head's sight
    where it has one."""

    kind: PartKind
    layer: int
    index: int
    without: float
    loss: float
    head: NotRequired[int]
    query: NotRequired[int]
    key: NotRequired[int]
    weight: NotRequired[float]


class RestsDetail(TypedDict):
    """What token `target` (its `piece`) after the token at `position` rests on.

    `lost` (T,) are nats of its log-probability that are lost when the last token may not look at a token, in any layer.
    `sinks` are tokens where heads park, and `parked` how many do; `tokens` the others that are needed, most needed
    first. `form` is how the model comes by the token: of `fetched` nats in the upper half of the layers, `from_answer`
    come from `places`, where it stands in the text; `from_hidden` nats are lost without a look at exactly these in any
    layer, and `alone` where the last `few` tokens see each other and the sinks alone.
    """

    target: int
    piece: str
    position: int
    probability: float
    lost: Packed
    tokens: list[int]
    sinks: list[int]
    parked: list[int]
    form: Form
    fetched: float
    from_answer: float
    places: list[int]
    from_hidden: float
    alone: float
    few: int


class LayersMessage(TypedDict):
    """From layer `first` to layer `last`."""

    first: int
    last: int


class GatheredMessage(TypedDict):
    """What is lost with FFNs' writes at a token taken from the other text, which those of `layers` carry: of `all`
    layers, those above the first of these (`later`), and those `above` the last; `attention` with every layer's
    attention there, and `elsewhere` with the FFNs of `layers` at the last token. Not `clear` where that does not show
    that it is these FFNs."""

    layers: LayersMessage
    all: float
    later: float
    above: float
    attention: float
    elsewhere: float
    clear: bool


class MovedMessage(TypedDict):
    """What is lost with the last token's stream taken from the other text, `before` these `layers` and `after` them,
    and with that of the other token before (`held`). Not `clear` where these are many, or it was not held."""

    layers: LayersMessage
    held: float
    before: float
    after: float
    clear: bool


class BroughtMessage(TypedDict):
    """The head that loses most at the last token, of the layers in which the difference moves, and what the `following`
    one loses. Not `clear` where it is not this one head."""

    layer: int
    head: int
    lost: float
    following: float
    clear: bool


class RecalledDetail(TypedDict):
    """How what tells `answer` from `other`, the other text's (pieces both), gets from `token` to the last one; in
    shares of the difference of the two logits."""

    answer: str
    other: str
    token: int
    gathered: GatheredMessage
    moved: MovedMessage
    brought: BroughtMessage


class WindowsDetail(TypedDict):
    """`lost` (W, T): as of RestsDetail, where a look at a token is forbidden in `width` layers alone, in each row from
    one of `starts` on."""

    width: int
    starts: list[int]
    lost: Packed


class HeadsMessage(TypedDict):
    """(L, n_heads): nats lost by each head's `ablation`; those that are not `measured` are estimates."""

    ablation: Ablation
    lost: Packed
    measured: Packed


class InsteadMessage(TypedDict):
    """The token that would come first, and how probable it would be."""

    id: int
    piece: str
    probability: float


class LookingMessage(TypedDict):
    """A head, its `weight` for the token that it looks at, what it `adds` to the answer's logit from there, and the
    nats of log-probability lost when it is switched off."""

    layer: int
    head: int
    weight: float
    adds: float
    missed: float


class LooksBackDetail(TypedDict):
    """What would come `instead` without the last token's looks at `token`, which the answer needs most, and the most
    that a head that looks there adds to the answer's logit, `from_token`. `key` is the token that the answer is brought
    from; which heads, by layer and number, are `looking` there most, sinks apart, the one that adds most first, and
    what they add `together`. `head` is the first of these, or of all where there are none; the one of the first few
    that is missed most where the first is not missed."""

    token: int
    instead: InsteadMessage
    from_token: float
    key: int
    looking: list[tuple[int, int]]
    together: float
    head: LookingMessage


class KnockedDetail(TypedDict):
    """How many tokens are knocked out by now, one at a time, of how many: what "rests" takes longest for."""

    done: int
    total: int


class MeasuredDetail(TypedDict):
    """Heads that are measured one after the other: `done` of `total` so far, and what is known by then."""

    grid: HeadsMessage
    done: int
    total: int


class WhyDetail(TypedDict):
    """What matters for token `target` (its `piece`) after the token at `position`: parts by loss, the largest first.

    `grid` is of every head, where the network's tokens see those before them alone.
    """

    target: int
    piece: str
    position: int
    probability: float
    first: FirstHead | None
    look: LookMessage
    parts: list[EffectMessage]
    grid: NotRequired[HeadsMessage]


class Nothing(TypedDict):
    """There is nothing to tell."""


class LookStep(TypedDict):
    """A head at token `at` that looks at token `key` with `weight`."""

    layer: int
    head: int
    at: int
    key: int
    weight: float


class OtherToken(TypedDict):
    """The same head with token `id`, `piece`, at `position` instead: its two scores."""

    position: int
    id: int
    piece: str
    score: float
    rival_score: float


class MatchingDetail(TypedDict):
    """What made a head's score of a key higher than of its `rival`, another token of the text.

    `asked`, `told` and `rival_told` are how what is matched came there, the last step first. The others are as in
    model.analysis.matching.Matching.
    """

    rival: int
    score: float
    rival_score: float
    asked: list[LookStep]
    told: list[LookStep]
    rival_told: list[LookStep] | None
    term: float
    rival_term: float
    from_asked: float
    rival_from_asked: float
    n_terms: int
    other: OtherToken | None


class ToldApartDetail(MatchingDetail, LookingMessage):
    """The same of the first `head` that matches a word with itself, of those that look at the token that the answer
    is brought from, `key`; with the `other` token in the text it prefers the rival."""

    key: int


class UsualSurprisal(TypedDict):
    """Mean surprisal of held-out `documents`, in nats a token: the middle one and the largest."""

    documents: int
    middle: float
    most: float


class OutsideDetail(TypedDict):
    """What is strange in a prompt of `words` words: `places` of words that the corpus never has, [first token, end].

    `surprisal` is the mean over the first `tokens` tokens, in nats. `odd`: the words are known, the text is not.
    `misplaced`: the answer is the place of which the prompt says otherwise. `doubt` is the probability of the prompt's
    answer, with nothing changed, where all other tokens together have more; `unsure`: that is so of it or of the run's
    own answer. `example` is a sentence that the model knows.
    """

    words: int
    places: list[tuple[int, int]]
    tokens: int
    surprisal: float | None
    usual: UsualSurprisal | None
    odd: bool
    misplaced: bool
    doubt: float | None
    unsure: bool
    example: str


class SwapMessage(TypedDict):
    """`text` is the prompt with `word`, from character `start` on, replaced by `other`; `answer` (its `piece`) follows
    then, with `probability`."""

    start: int
    word: str
    other: str
    text: str
    answer: int
    piece: str
    probability: float


class WordsDetail(TypedDict):
    """Words of `text` to change. It has `tokens` tokens; two texts are compared part by part up to `limit`, and mapped
    place by place up to `map_limit`."""

    swaps: list[SwapMessage]
    text: str
    tokens: int
    limit: int
    map_limit: int
