"""The circuit of an answer: its message, that of its controls, and that of its edges."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from model import Circuit, LanguageModel
from model.analysis.circuit import HeldOut, chance_control, change_control, circuit, held_out_shares
from model.analysis.node_roles import Role, node_roles
from model.analysis.nodes import AnyNode, Pair, run_pair
from model.analysis.paths import Edge, Paths, edges_of_a_pass
from model.pieces import Work, in_pieces

from .messages.circuit import (
    CircuitControlsDetail,
    CircuitDetail,
    CircuitEdge,
    CircuitNode,
    EdgesDetail,
    HeldOutPair,
    ScoredNode,
)
from .payload import Pieces

EDGES = 64  # of a circuit that are sent at once
DRAWS = 5  # circuits by lot


class CircuitInfo(NamedTuple):
    """A circuit, and what each of its nodes reads and writes."""

    circuit: Circuit
    roles: list[Role]


class CircuitControls(NamedTuple):
    """What could refute a circuit: what as many nodes drawn by lot recover of the pair's difference, draw by draw, and
    as many that change most between the two texts; and on other pairs what these same nodes do."""

    pair: Pair
    by_chance: list[float]
    by_change: float
    held_out: list[HeldOut]


@in_pieces
def circuit_info(
    lm: LanguageModel, ids: Sequence[int], other: str, nodes: int | None, written: Sequence[int] | None = None
) -> Work[CircuitInfo]:
    """The circuit of a run's answer against that to `other`, after what is `written`, without its edges. With no number
    of nodes there are as many as are needed. Raises what `circuit` does."""
    found = yield from circuit.pieces(lm, ids, other, nodes, target=written)
    return CircuitInfo(found, (yield from node_roles.pieces(found.pair, found.nodes)))


@in_pieces
def circuit_controls(
    lm: LanguageModel,
    ids: Sequence[int],
    other: str,
    nodes: Sequence[AnyNode],
    written: Sequence[int] | None = None,
) -> Work[CircuitControls]:
    """The controls of a circuit of these nodes, for the same texts. Raises GlassLlamaError for prompts that make no
    pair."""
    pair = yield from run_pair.pieces(lm, ids, other, written)
    by_chance = yield from chance_control.pieces(pair, len(nodes), draws=DRAWS)
    by_change = yield from change_control.pieces(pair, len(nodes))
    return CircuitControls(pair, by_chance, by_change, (yield from held_out_shares.pieces(pair, nodes)))


def circuit_payload(info: CircuitInfo, pieces: Pieces) -> CircuitDetail:
    """The message of a CircuitInfo; `written` is how many tokens a decoder has, where an encoder reads the text."""
    found, pair = info.circuit, info.circuit.pair
    answer, other = pieces([found.answer, found.other])
    theirs = pair.other_ids[0].tolist()
    return {
        "answer": {"id": found.answer, "piece": answer},
        "other": {"id": found.other, "piece": other},
        "first": pair.first,
        "second": pair.second,
        "other_pieces": pieces(theirs),
        "written": None if pair.written is None else pair.written.shape[1],
        "differ": [t for t, (a, b) in enumerate(zip(pair.ids[0].tolist(), theirs, strict=True)) if a != b],
        "nodes": [_scored(*one) for one in zip(found.nodes, found.scores, info.roles, strict=True)],
        "recovered": found.recovered,
        "without": found.without,
        "curve": list(found.curve),
    }


def controls_payload(info: CircuitControls, pieces: Pieces) -> CircuitControlsDetail:
    """The message of CircuitControls."""
    return {
        "by_chance": info.by_chance,
        "by_change": info.by_change,
        "held_out": [_held_out(info.pair, one, pieces) for one in info.held_out],
    }


def _node(node: AnyNode) -> CircuitNode:
    told: CircuitNode = {"kind": node.kind, "layer": node.layer, "head": node.head, "token": node.token}
    return told if node.stack is None else {**told, "stack": node.stack}


def _scored(node: AnyNode, score: float, role: Role) -> ScoredNode:
    return {
        **_node(node),
        "score": score,
        "reads": role.reads,
        "weight": role.weight,
        "to_answer": role.to_answer,
        "to_other": role.to_other,
    }


def _held_out(pair: Pair, one: HeldOut, pieces: Pieces) -> HeldOutPair:
    """The words that stand there instead, each once, as they come in the two texts."""
    both = ((one.pair.ids, pair.ids), (one.pair.other_ids, pair.other_ids))
    words = [token for made, own in both for token in made[made != own].tolist()]
    return {"words": pieces(list(dict.fromkeys(words))), "share": one.share}


class Edges(NamedTuple):
    """Some of a circuit's edges, and how many it has in all."""

    edges: list[Edge]
    total: int


@in_pieces
def edges_info(
    lm: LanguageModel,
    ids: Sequence[int],
    other: str,
    nodes: Sequence[AnyNode],
    start: int,
    written: Sequence[int] | None = None,
) -> Work[Edges]:
    """EDGES edges from number `start` on. Raises GlassLlamaError for prompts that make no pair."""
    paths = _paths(lm, tuple(ids), other, tuple(nodes), written and tuple(written))
    yield
    part, rows = paths.possible[start : start + EDGES], edges_of_a_pass(paths.pair)
    found: list[Edge] = []
    for first in range(0, len(part), rows):
        found += paths.measure(part[first : first + rows])
        yield
    return Edges(found, len(paths.possible))


@lru_cache(maxsize=4)
def _paths(
    lm: LanguageModel,
    ids: tuple[int, ...],
    other: str,
    nodes: tuple[AnyNode, ...],
    written: tuple[int, ...] | None,
) -> Paths:
    """A page asks for a circuit's edges part by part; what all parts share is worked out with the first."""
    return Paths(run_pair(lm, ids, other, written), nodes)


def edges_payload(info: Edges) -> EdgesDetail:
    """The message of Edges: each with the two nodes that it joins."""
    return {"total": info.total, "edges": [_edge(edge) for edge in info.edges]}


def _edge(edge: Edge) -> CircuitEdge:
    return {"from": _node(edge.source), "to": _node(edge.target), "effect": edge.effect}
