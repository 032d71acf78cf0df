"""A circuit made better by exchanging its nodes: what the ranking promised is put right by what is measured.

The ranking (nodes.py) follows gradients of whole runs; inside a circuit, where all other nodes have the other run's
values, a node is worth something else. So the gradient is taken there, with respect to how much of itself each node
keeps: v' + m (v - v'), at m = 1 inside the circuit and 0 outside, for values v and v' of the two runs (the gradient of
a mask: Michel, Levy and Neubig 2019, arXiv 1905.10650). It names the nodes that the circuit would miss least, and those
outside that promise to bring the recovered share nearer to 1. Exchanges of one to WIDTH of them are run, and the one
that does best is made, until none brings the share nearer to 1 or it is within CLOSE.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import torch

from ..pieces import Work, in_pieces
from .nodes import AnyNode, Pair, Swap, all_nodes, keep, others_swapped, share_of, swapped
from .recovered import recovered

WIDTH, ROUNDS, CLOSE = 6, 4, 0.01


class Exchanged(NamedTuple):
    """Nodes in the order of `all_nodes`, and the share of the logit difference that they recover."""

    nodes: list[AnyNode]
    share: float


@in_pieces
def exchanged(pair: Pair, nodes: Sequence[AnyNode]) -> Work[list[AnyNode]]:
    """As many nodes that recover as much of the logit difference as `nodes` do or come nearer to all of it.

    They are in the order of `all_nodes`.
    """
    return (yield from exchange_nodes(pair, nodes)).nodes


def exchange_nodes(pair: Pair, nodes: Sequence[AnyNode], share: float | None = None) -> Work[Exchanged]:
    """The same, and what they recover. `share` is what `nodes` do, where that is known."""
    every, found = all_nodes(pair), set(nodes)
    width = min(WIDTH, len(found), len(every) - len(found))
    if share is None:
        (share,) = yield from recovered.pieces(pair, keep(pair, [found]))
    for _ in range(ROUNDS if width else 0):
        if abs(share - 1) <= CLOSE:
            break
        gain, way = gains(pair, found), 1 if share < 1 else -1
        yield
        leaving = sorted((node for node in every if node in found), key=lambda node: abs(gain[node]))
        entering = sorted((node for node in every if node not in found), key=lambda node: -way * gain[node])
        tries = [found.difference(leaving[:some]).union(entering[:some]) for some in range(1, width + 1)]
        measured = yield from recovered.pieces(pair, keep(pair, tries))
        best, others = min(zip(measured, tries, strict=True), key=lambda one: abs(one[0] - 1))
        if abs(best - 1) >= abs(share - 1):
            break
        share, found = best, others
    return Exchanged([node for node in every if node in found], share)


def gains(pair: Pair, nodes: Collection[AnyNode]) -> dict[AnyNode, float]:
    """To first order, the share of the logit difference that each node brings to the circuit of `nodes` by being in."""
    with torch.inference_mode(False), torch.enable_grad():
        kept = {site: part.float().requires_grad_() for site, part in keep(pair, [nodes]).items()}
        with swapped(pair.lm.net, others_swapped(pair, kept, _mixed)):
            share_of(pair, pair.lead()).sum().backward()
    slopes = [slope for part in kept.values() if part.grad is not None for slope in part.grad.flatten().tolist()]
    return dict(zip(all_nodes(pair), slopes, strict=True))


def _mixed(kept: torch.Tensor, theirs: torch.Tensor) -> Swap:
    return lambda value: (theirs + kept * (value - theirs)).to(value.dtype)
