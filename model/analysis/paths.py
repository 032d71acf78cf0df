"""Which node of a circuit feeds which: path patching (Wang et al. 2022; Goldowsky-Dill et al. 2023, arXiv 2304.05969).

The circuit runs as in nodes.py. For an edge, the target alone reads a stream in which what the source wrote is the
other run's; all else that the target reads, and all that others read, stays. Attention reads the source's token through
q, k and v alike. What an encoder's nodes write reaches a decoder through the encoder's final norm, behind which each
head that looks at the source makes its own k and v; through q it reads its own stream. The effect is the share of the
logit difference that is lost.

In a causal network a run without an edge is the circuit's own below the target's layer: it joins there.

Symbols: T tokens of the text that a stack reads, S those that run (nodes.py), d d_model, E edges measured at once.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ..forward_pass import Pass
from ..masks import causal_mask
from ..network import Layer, Network, Stack
from ..positions import PositionEncoding
from ..taps import capture
from .nodes import (
    AnyNode,
    Node,
    Pair,
    StackNode,
    Swap,
    keep,
    others_swapped,
    rows_of_a_pass,
    share_of,
    site_of,
    sites,
    swapped,
    tokens_of_a_row,
)
from .recovered import kept_alone, recovered

EDGE_TOKENS = 512  # of one pass in which runs join: most are of few layers, and little is computed beside the circuit


class Edge(NamedTuple):
    """The direct path between two nodes: `effect` is the share that is lost when this path alone carries what the other
    run wrote."""

    source: AnyNode
    target: AnyNode
    effect: float


Ends = tuple[AnyNode, AnyNode]


def possible_edges(pair: Pair, nodes: Sequence[AnyNode]) -> list[Ends]:
    """Every direct path inside a circuit, from the embeddings that differ to its nodes and on to the logits."""
    return Paths(pair, nodes).possible


class Paths:
    """A circuit's direct paths, and what measuring any of them takes: worked out once, in three passes.

    `possible` are all of them.
    """

    def __init__(self, pair: Pair, nodes: Sequence[AnyNode]):
        self.pair, self.nodes = pair, tuple(nodes)
        net, kept = pair.lm.net, keep(pair, [nodes])
        self._taps, self._kept = sites(net), kept
        (self._whole,) = recovered(pair, kept)
        with torch.inference_mode():
            with swapped(net, others_swapped(pair, kept)), capture(net, *self._taps.values(), *_read(net)) as base:
                pair.lead()
            self._base = base
            reader, *then = net.stacks
            self._positions = {reader.name: reader.net.positions(0, pair.ids.shape[1])}
            for stack in then:
                self._positions[stack.name] = self._looking(stack, base[f"{reader.prefix}final_normed"])
            self._seen = {
                stack.name: _mask(self._positions[stack.name], ids)
                for stack, ids in zip(net.stacks, pair.texts, strict=True)
            }
            self.possible = self._possible(net.stacks)

    def measure(self, part: Sequence[Ends]) -> list[Edge]:
        """The effect of each of these paths, in one pass."""
        with torch.inference_mode():
            left = self._left(part) if self.pair.before is None else self._left_joining(part)
        return [Edge(*ends, self._whole - share) for ends, share in zip(part, left.tolist(), strict=True)]

    def _possible(self, stacks: Sequence[Stack]) -> list[Ends]:
        pair, reader, last = self.pair, stacks[0], stacks[-1]
        differ = (pair.ids != pair.other_ids)[0].nonzero()[:, 0].tolist()
        sources = [*(_end(reader, "embedding", -1, token) for token in differ), *self.nodes]
        end = _end(last, "logits", last.net.config.n_layers, pair.texts[-1].shape[1] - 1)
        return [
            (source, target) for source in sources for target in (*self.nodes, end) if self._reaches(source, target)
        ]

    def _stack(self, node: AnyNode) -> Stack:
        """The stack that a node is in; the network is found anew, so that none is held."""
        return next(stack for stack in self.pair.lm.net.stacks if stack.name == node.stack)

    def _reaches(self, source: AnyNode, target: AnyNode) -> bool:
        """Whether what `source` writes is in what `target` reads without passing another node."""
        if source.stack != target.stack:  # an encoder's last states are all that a decoder sees of it
            return target.kind == "cross"
        earlier = source.layer < target.layer
        if source.layer == target.layer:
            block, wrote, reads = (
                self._stack(target).net.block(target.layer),
                site_of(source).kind,
                site_of(target).kind,
            )
            order = list(block.writes)
            earlier = block.reads(reads) != "resid_in" and order.index(wrote) < order.index(reads)
        seen = self._seen[target.stack][target.token][source.token] if target.kind == "head" else False
        return earlier and (seen or source.token == target.token)

    def _left(self, part: Sequence[Ends]) -> Float[Tensor, "E"]:
        """The share that is left with each of these edges cut, a row an edge."""
        pair, net = self.pair, self.pair.lm.net
        places: dict[str, list[tuple[tuple[int, ...], Tensor]]] = {}
        for row, ends in enumerate(part):
            tap, place, value = self._cut(*ends)
            places.setdefault(tap, []).append(((row, *place), value))
        swaps = others_swapped(pair, keep(pair, [self.nodes] * len(part)))
        for tap, found in places.items():
            first, change = swaps.get(tap), _set(found)
            swaps[tap] = change if first is None else _both(first, change)
        with swapped(net, swaps):
            return share_of(pair, pair.lead(len(part)))

    def _cut(self, source: AnyNode, target: AnyNode) -> tuple[str, tuple[int, ...], Tensor]:
        """The tap that the target writes to, its place there, and the value that it has without the edge."""
        delta, stack, token = self._delta(source), self._stack(target), target.token
        if target.kind == "logits":
            tap = f"{stack.prefix}final_resid"
            return tap, (token,), self._base[tap][0, token] + delta
        site, block = site_of(target), stack.net.block(target.layer)
        tap = self._taps[site]
        stream = self._base[f"{stack.prefix}layers.{target.layer}.{block.reads(site.kind)}"]
        if site.kind == "ffn":
            return tap, (token,), block.feed(stream[:, token, None] + delta)[0, 0]
        positions = self._positions[stack.name]
        if source.stack == target.stack:
            stream = _plus(stream, source.token, delta)
        else:
            reader = self._stack(source)
            states = _plus(self._base[f"{reader.prefix}final_resid"], source.token, delta)
            positions = self._looking(stack, reader.net.norm(states))
        head = target.head or 0
        mixed = _mixed(block, block.attentions[site.kind], stream, Pass(positions))
        return tap, (token, head), mixed[0, token, head]

    def _left_joining(self, part: Sequence[Ends]) -> Float[Tensor, "E"]:
        """As `_left`, of a causal network. What comes from a token before the first that differs is the same in both
        runs, so nothing is lost without it."""
        pair, net = self.pair, self.pair.lm.net
        left = torch.full((len(part),), self._whole)
        layers = net.config.n_layers
        joins: dict[int, list[int]] = {}
        for i, (source, target) in enumerate(part):
            if source.token >= pair.start:
                joins.setdefault(target.layer, []).append(i)
        if not joins:
            return left
        rows: list[int] = []
        x = self._base["final_resid"][:0]
        for layer in range(min(joins), layers):
            new = joins.get(layer, [])
            x = torch.cat([x, self._base[f"layers.{layer}.resid_in"].expand(len(new), -1, -1)])
            kept = {site: mask.expand(len(x), -1, -1) for site, mask in self._kept.items() if site.layer == layer}
            cuts = self._cuts([part[i] for i in new], len(rows))  # before anything hangs on the network
            with kept_alone(pair, kept), swapped(net, cuts):
                x = net.block(layer)(x, pair.at(layer))
            rows += new
        ends = joins.get(layers, [])
        last = self._base["final_resid"].expand(len(ends), -1, -1).clone()
        for row, i in enumerate(ends):
            last[row, -1] += self._delta(part[i][0])
        left[rows + ends] = share_of(pair, pair.lead_after(torch.cat([x, last]))).float().cpu()
        return left

    def _cuts(self, part: Sequence[Ends], first: int) -> dict[str, Swap]:
        """What sets the targets of these edges, all in one layer, to their values without them, from row `first` on."""
        pair, start = self.pair, self.pair.start
        places: dict[str, list[tuple[tuple[int, ...], Tensor]]] = {}
        for site in dict.fromkeys(site_of(target) for _, target in part):
            here = [(row, ends) for row, ends in enumerate(part, first) if site_of(ends[1]) == site]
            block = pair.lm.net.block(site.layer)
            streams = self._base[f"layers.{site.layer}.{block.reads(site.kind)}"].expand(len(here), -1, -1).clone()
            for i, (_, (source, _)) in enumerate(here):
                streams[i, source.token - start] += self._delta(source)
            at = [target.token - start for _, (_, target) in here]
            of = list(range(len(here)))
            if site.kind == "ffn":
                values = block.feed(streams[of, at][:, None])[:, 0]
                found = [((row, token), value) for (row, _), token, value in zip(here, at, values, strict=True)]
            else:
                heads = [target.head or 0 for _, (_, target) in here]
                values = _mixed(block, block.attentions[site.kind], streams, pair.at(site.layer))[of, at, heads]
                found = [
                    ((row, token, head), value)
                    for (row, _), token, head, value in zip(here, at, heads, values, strict=True)
                ]
            places[self._taps[site]] = list(found)
        return {tap: _set(found) for tap, found in places.items()}

    def _delta(self, source: AnyNode) -> Float[Tensor, "d"]:
        """What the other run's value of a node would add to the stream, less what the node wrote."""
        pair, stack, token = self.pair, self._stack(source), source.token
        if source.kind == "embedding":
            other, own = (
                stack.net.embed_tokens(ids[0, token : token + 1], token) for ids in (pair.other_ids, pair.ids)
            )
            return (other - own)[0]
        site, head = site_of(source), source.head
        own, theirs = self._base[self._taps[site]][0, token - pair.start], pair.other_values[site][token]
        if site.kind == "ffn" or head is None:
            return theirs[0] - own
        block = stack.net.block(site.layer)
        attn = getattr(block, block.attentions[site.kind])
        return attn.o_proj.weight.unflatten(1, (attn.n_heads, -1))[:, head] @ (theirs[head] - own[head])

    def _looking(self, stack: Stack, memory: Float[Tensor, "1 S d"]) -> PositionEncoding:
        """The places of a decoder's tokens where this is what the encoder made of the source."""
        return stack.net.with_memory(self.pair.ids, memory).positions(0, self.pair.texts[-1].shape[1])


def edges(
    pair: Pair, nodes: Sequence[AnyNode], paths: Sequence[Ends] | None = None, rows: int | None = None
) -> Iterator[list[Edge]]:
    """The effect of each of `paths` (all possible edges), `rows` at a time: for who shows progress or may stop."""
    found = Paths(pair, nodes)
    waiting, rows = found.possible if paths is None else paths, rows or edges_of_a_pass(pair)
    for start in range(0, len(waiting), rows):
        yield found.measure(waiting[start : start + rows])


def edges_of_a_pass(pair: Pair) -> int:
    """How many edges are measured in one piece of work."""
    rows = rows_of_a_pass(pair)
    return rows if pair.before is None else max(rows, EDGE_TOKENS // tokens_of_a_row(pair))


def _read(net: Network) -> Iterator[str]:
    """The taps of all streams that a node or the logits read, and of what an encoder hands on."""
    for _, prefix, stack in net.stacks:
        block = stack.block(0)
        yield from (f"{prefix}layers.*.{tap}" for tap in {block.reads(kind) for kind in block.writes})
        yield from (f"{prefix}final_resid", f"{prefix}final_normed")


def _end(stack: Stack, kind: Literal["embedding", "logits"], layer: int, token: int) -> AnyNode:
    node = Node(kind, layer, None, token)
    return node if stack.name is None else StackNode(*node, stack.name)


def _mask(positions: PositionEncoding, ids: Int[Tensor, "1 T"]) -> list[list[bool]]:
    """Which tokens (columns) each token's query sees."""
    count = ids.shape[1]
    return (causal_mask(count, count, ids.device) if positions.mask is None else positions.mask).tolist()


def _plus(stream: Float[Tensor, "1 T d"], token: int, delta: Float[Tensor, "d"]) -> Float[Tensor, "1 T d"]:
    changed = stream.clone()
    changed[0, token] += delta
    return changed


def _mixed(block: Layer, module: str, stream: Float[Tensor, "E S d"], at: Pass) -> Float[Tensor, "E S n_heads width"]:
    """The weighted sums of values of the heads of a module where its norm reads this stream."""
    with capture(block, f"{module}.mixed") as seen:
        getattr(block, module)(getattr(block, f"{module}_norm")(stream), at)
    return seen[f"{module}.mixed"]


def _both(first: Swap, then: Swap) -> Swap:
    return lambda value: then(first(value))


def _set(places: list[tuple[tuple[int, ...], Tensor]]) -> Swap:
    def change(value: Tensor) -> Tensor:
        changed = value.clone()
        for place, new in places:
            changed[place] = new
        return changed

    return change
