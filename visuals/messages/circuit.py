"""What the first chapter is sent of a circuit, its controls and its edges."""

from typing import NotRequired

from typing_extensions import TypedDict

from model.analysis.nodes import NodeKind
from model.network import StackName


class AnswerToken(TypedDict):
    """An answer: a token and its text."""

    id: int
    piece: str


class CircuitNode(TypedDict):
    """A head, or one layer's feed-forward (`head` null), at one token; at the ends of edges also a token's embedding
    (layer −1) and the logits (layer L). `stack` where the network has two."""

    kind: NodeKind
    layer: int
    head: int | None
    token: int
    stack: NotRequired[StackName]


class ScoredNode(CircuitNode):
    """A node of a circuit, and what it was ranked by: negative where it works against the answer.

    A head reads token `reads` most, with `weight`; of a look at a source, and in an encoder, that is one of the source.
    `to_answer` and `to_other` are what it adds to the two logits; null where it writes to no logit.
    """

    score: float
    reads: int | None
    weight: float | None
    to_answer: float | None
    to_other: float | None


class HeldOutPair(TypedDict):
    """Two texts of the same kind with other words, and the share that the same nodes bring back there."""

    words: list[str]
    share: float


class CircuitDetail(TypedDict):
    """The circuit of an answer against that to another text.

    `first` and `second` are the logits of `answer` less that of `other` in the two runs. `differ` are the positions at
    which the texts do; `written` counts a decoder's tokens. `recovered` is the share of the difference that the nodes
    alone bring back, `without` what is left without them. `curve` has that share by number of nodes.
    """

    answer: AnswerToken
    other: AnswerToken
    first: float
    second: float
    other_pieces: list[str]
    written: int | None
    differ: list[int]
    nodes: list[ScoredNode]
    recovered: float
    without: float
    curve: list[tuple[int, float]]


class CircuitControlsDetail(TypedDict):
    """What could refute a circuit.

    `by_chance` is the share that as many nodes drawn by lot bring back, draw by draw, `by_change` that of as many whose
    writes differ most between the two texts, `held_out` what the circuit's nodes bring back on other pairs.
    """

    by_chance: list[float]
    by_change: float
    held_out: list[HeldOutPair]


_Ends = TypedDict("_Ends", {"from": CircuitNode, "to": CircuitNode})


class CircuitEdge(_Ends):
    """An edge between two nodes, and what it carries of the difference."""

    effect: float


class EdgesDetail(TypedDict):
    """The next edges of a circuit, which has `total`."""

    total: int
    edges: list[CircuitEdge]
