"""Which node of a circuit feeds which: path patching (Wang et al. 2022; Goldowsky-Dill et al. 2023, arXiv 2304.05969).

The circuit runs as in nodes.py. For an edge, the target alone reads a stream in which what the source wrote is the
other run's; all else that the target reads, and all that others read, stays. Attention reads the source's token through
q, k and v alike. The effect is the share of the logit difference that is lost.

Symbols: L n_layers, T tokens, d d_model, E edges measured at once.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from ..taps import capture
from .nodes import FFN, HEADS, Node, Pair, Swap, keep, others_swapped, recovered, share_of, swapped

ROWS = 32  # edges in one pass


class Edge(NamedTuple):
    """The direct path between two nodes: `effect` is the share that is lost when this path alone carries what the other
    run wrote."""

    source: Node
    target: Node
    effect: float


def possible_edges(pair: Pair, nodes: Sequence[Node]) -> list[tuple[Node, Node]]:
    """Every direct path inside a circuit, from the embeddings that differ to its nodes and on to the logits."""
    layers, tokens, _ = pair.shape
    differ = (pair.ids != pair.other_ids)[0].nonzero()[:, 0].tolist()
    sources = [*(Node("embedding", -1, None, token) for token in differ), *nodes]
    targets = [*nodes, Node("logits", layers, None, tokens - 1)]
    return [(source, target) for source in sources for target in targets if _reaches(pair, source, target)]


class Paths:
    """A circuit's direct paths, and what measuring any of them takes: worked out once, in three passes.

    `possible` are all of them.
    """

    def __init__(self, pair: Pair, nodes: Sequence[Node]):
        self.pair, self.nodes = pair, tuple(nodes)
        self.possible = possible_edges(pair, nodes)
        net = pair.lm.net
        reads = {f"layers.*.{tap}" for tap in net.block(0).norms.values()}
        taps = (*reads, "layers.*.attn.mixed", "layers.*.ffn_out", "final_resid")
        kept = keep(pair, [nodes])
        (self._whole,) = recovered(pair, kept)
        with torch.inference_mode(), swapped(net, others_swapped(pair, kept)), capture(net, *taps) as base:
            net(pair.ids)
        self._base = base

    def measure(self, part: Sequence[tuple[Node, Node]]) -> list[Edge]:
        """The effect of each of these paths, in one pass."""
        with torch.inference_mode():
            left = _left(self.pair, self.nodes, self._base, part)
        return [Edge(*ends, self._whole - share) for ends, share in zip(part, left.tolist(), strict=True)]


def edges(
    pair: Pair, nodes: Sequence[Node], paths: Sequence[tuple[Node, Node]] | None = None, rows: int = ROWS
) -> Iterator[list[Edge]]:
    """The effect of each of `paths` (all possible edges), `rows` at a time: for who shows progress or may stop."""
    found = Paths(pair, nodes)
    waiting = found.possible if paths is None else paths
    for start in range(0, len(waiting), rows):
        yield found.measure(waiting[start : start + rows])


def _reaches(pair: Pair, source: Node, target: Node) -> bool:
    """Whether what `source` writes is in what `target` reads without passing another node."""
    earlier = source.layer < target.layer
    if (source.layer, source.kind, target.kind) == (target.layer, "head", "ffn"):
        earlier = not pair.lm.net.block(target.layer).parallel
    same = source.token == target.token
    return earlier and (source.token <= target.token if target.kind == "head" else same)


def _left(
    pair: Pair, nodes: Sequence[Node], base: dict[str, Tensor], part: Sequence[tuple[Node, Node]]
) -> Float[Tensor, "E"]:
    """The share that is left with each of these edges cut, a row an edge."""
    net = pair.lm.net
    swaps = others_swapped(pair, keep(pair, [nodes] * len(part)))
    for name, change in _changes(pair, base, part).items():
        first = swaps.get(name)
        swaps[name] = change if first is None else _both(first, change)
    with swapped(net, swaps):
        return share_of(pair, net(pair.ids.expand(len(part), -1), last_only=True)[:, -1])


def _changes(pair: Pair, base: dict[str, Tensor], part: Sequence[tuple[Node, Node]]) -> dict[str, Swap]:
    """By tap: what sets, in each edge's row, the target to the value that it has without the edge."""
    net = pair.lm.net
    changes: dict[str, Swap] = {}
    places: dict[str, list[tuple[tuple[int, ...], Tensor]]] = {}
    for row, (source, target) in enumerate(part):
        delta = _delta(pair, base, source)
        if target.kind == "logits":
            value = base["final_resid"][0, target.token] + delta
            places.setdefault("final_resid", []).append(((row, target.token), value))
        elif target.kind == "ffn":
            block = net.block(target.layer)
            reads = block.norms[block.ffn_reads]
            stream = base[f"layers.{target.layer}.{reads}"][:, target.token, None] + delta
            value = block.feed(stream)[0, 0]
            places.setdefault(FFN.format(target.layer), []).append(((row, target.token), value))
        else:
            value = _mixed(pair, base[f"layers.{target.layer}.resid_in"], source.token, delta, target)
            places.setdefault(HEADS.format(target.layer), []).append(((row, target.token, target.head or 0), value))
    for name, found in places.items():
        changes[name] = _set(found)
    return changes


def _delta(pair: Pair, base: dict[str, Tensor], source: Node) -> Float[Tensor, "d"]:
    """What the other run's value of a node would add to the stream, less what the node wrote."""
    net, token = pair.lm.net, source.token
    if source.kind == "embedding":
        return net.embedded(pair.other_ids[0, token]) - net.embedded(pair.ids[0, token])
    if source.head is None:
        return pair.other_values.ffn[source.layer, token] - base[FFN.format(source.layer)][0, token]
    attn = net.block(source.layer).attn
    own = base[HEADS.format(source.layer)][0, token, source.head]
    columns = attn.o_proj.weight.unflatten(1, (attn.n_heads, -1))[:, source.head]
    return columns @ (pair.other_values.heads[source.layer, token, source.head] - own)


def _mixed(pair: Pair, stream: Float[Tensor, "1 T d"], token: int, delta: Float[Tensor, "d"], target: Node) -> Tensor:
    """A head's weighted sum of values (head_dim,) where the stream that it reads is changed at one token."""
    net = pair.lm.net
    block = net.block(target.layer)
    changed = stream.clone()
    changed[0, token] += delta
    with capture(block, "attn.mixed") as seen:
        block.attn(block.attn_norm(changed), net.places(0, stream.shape[1]))
    return seen["attn.mixed"][0, target.token, target.head or 0]


def _both(first: Swap, then: Swap) -> Swap:
    return lambda value: then(first(value))


def _set(places: list[tuple[tuple[int, ...], Tensor]]) -> Swap:
    def change(value: Tensor) -> Tensor:
        changed = value.clone()
        for place, new in places:
            changed[place] = new
        return changed

    return change
