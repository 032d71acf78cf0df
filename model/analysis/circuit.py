"""The circuit of an answer: the few heads and FFNs that carry it, how far they do, and which feeds which.

All other heads and FFNs have the values of another prompt's run, whose answer is another (Wang et al. 2022, arXiv
2211.00593). nodes.py ranks, recovered.py measures, exchange.py puts the choice right, paths.py measures edges; what
nodes read and write is in node_roles.py, and pairs on which a circuit was not found in held_out.py.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch

from ..checkpoint import LanguageModel
from ..errors import GlassLlamaError
from ..pieces import Work, in_pieces
from .exchange import Exchanged, exchange_nodes
from .held_out import held_out
from .node_roles import written
from .nodes import POINTS, AnyNode, Pair, all_nodes, keep, rank, run_pair
from .paths import Edge, edges
from .recovered import recovered

COUNTS = (5, 10, 15, 20, 25, 30, 40, 50, 60)  # of nodes, tried one after the other where nobody names a number
ENOUGH = 0.1  # how far from the whole difference a circuit may be
PROMISED = 0.15  # by so much an exchange may bring a circuit nearer


@dataclass(frozen=True)
class Circuit:
    """The nodes that carry `answer` (a token id) rather than `other`, strongest first, and how far they do.

    `scores` are the nodes' attributions, in logits; a negative one works against the answer. `recovered` is the share
    of the logit difference when these nodes alone keep the first run's part and all other heads and FFNs have the other
    run's values: 1 is all of it, 0 what the other run has. `without` is that share when these nodes alone have the
    other run's values. `curve` has the shares of other counts: of the strongest of these nodes, and of these with the
    next of the ranking. `edges` are there where they were asked for.
    """

    pair: Pair
    nodes: tuple[AnyNode, ...]
    scores: tuple[float, ...]
    recovered: float
    without: float
    curve: tuple[tuple[int, float], ...] = ()
    edges: tuple[Edge, ...] = ()

    @property
    def answer(self) -> int:
        return self.pair.answer

    @property
    def other(self) -> int:
        return self.pair.other


@in_pieces
def circuit(
    lm: LanguageModel,
    prompt: str | Sequence[int],
    other: str | Sequence[int],
    nodes: int | None = None,
    with_edges: bool = False,
    points: int = POINTS,
    target: str | Sequence[int] | None = None,
) -> Work[Circuit]:
    """The `nodes` heads and FFNs (at tokens) that carry the answer to `prompt` rather than that to `other`.

    They are those of the largest attributions, some of them exchanged for others where that brings what is recovered
    nearer to 1 (exchange.py). Without a number there are as many as come within ENOUGH of it, at most COUNTS[-1], or
    else as many as come nearest. The answers are the most probable next tokens of the two. Where an encoder reads the
    prompts, they are the next ones after `target`, what is written so far (nothing), and the nodes are those of both
    stacks. Raises GlassLlamaError where the two prompts have different numbers of tokens or the same answer, and for
    fewer nodes than 1 or more than the run has.
    """
    pair = yield from run_pair.pieces(lm, prompt, other, target)
    limit = len(all_nodes(pair))
    if nodes is not None and not 1 <= nodes <= limit:
        raise GlassLlamaError(
            "field", f"nodes is {nodes}; expected 1 to {limit}.", field="nodes", value=nodes, expected=f"1 to {limit}"
        )
    ranked, scores = yield from rank.pieces(pair, points)
    counts = [count for count in COUNTS if count <= limit] or [limit]
    if nodes is None:
        best = yield from _enough(pair, ranked, counts)
    else:
        best = yield from exchange_nodes(pair, ranked[:nodes])
    chosen, inside = set(best.nodes), best.share
    pushes = {node: score for node, score in zip(ranked, scores, strict=True) if node in chosen}
    found, rest = tuple(pushes), [node for node in ranked if node not in chosen]
    order = [*found, *rest]
    others = [count for count in counts if count != len(found)]
    *shares, outside = yield from recovered.pieces(pair, keep(pair, [*(order[:count] for count in others), rest]))
    curve = sorted([*zip(others, shares, strict=True), (len(found), inside)])
    paths: list[Edge] = []
    for part in edges(pair, found) if with_edges else ():
        paths += part
        yield
    return Circuit(pair, found, tuple(pushes.values()), inside, outside, tuple(curve), tuple(paths))


def _enough(pair: Pair, ranked: Sequence[AnyNode], counts: Sequence[int]) -> Work[Exchanged]:
    """The fewest of the ranked nodes, by these counts and with exchanges, that come within ENOUGH of the whole
    difference; where none do, those that come nearest.

    Counts whose nodes as they are ranked are farther than exchanges bring them are passed over, but for the last.
    """
    promised = yield from recovered.pieces(pair, keep(pair, [ranked[:count] for count in counts]))
    best = Exchanged([], float("inf"))
    for count, share in zip(counts, promised, strict=True):
        if abs(share - 1) > ENOUGH + PROMISED and count != counts[-1]:
            continue
        some = best.nodes + [node for node in ranked if node not in best.nodes][: count - len(best.nodes)]
        found = yield from exchange_nodes(pair, some, None if best.nodes else share)
        best = min(best, found, key=lambda one: abs(one.share - 1))
        if abs(best.share - 1) <= ENOUGH:
            break
    return best


@in_pieces
def with_and_without(pair: Pair, nodes: Sequence[AnyNode]) -> Work[tuple[float, float]]:
    """The share that is recovered with these nodes alone, and with all but these."""
    kept = keep(pair, [nodes, nodes])
    for mask in kept.values():
        mask[1].logical_not_()
    inside, outside = yield from recovered.pieces(pair, kept)
    return inside, outside


@in_pieces
def chance_control(pair: Pair, nodes: int, draws: int = 20, seed: int = 0) -> Work[list[float]]:
    """What as many random nodes recover, `draws` times: the measure that a circuit must beat."""
    every, chance = all_nodes(pair), random.Random(seed)
    return (yield from recovered.pieces(pair, keep(pair, [chance.sample(every, nodes) for _ in range(draws)])))


def changed_most(pair: Pair, nodes: int) -> list[AnyNode]:
    """As many nodes as that whose writes to the stream differ most between the two runs: |v - v'|."""
    changes = [written(pair, site, value - pair.other_values[site]) for site, value in pair.values.items()]
    sizes = torch.cat([change.float().norm(dim=-1).flatten() for change in changes])
    every = all_nodes(pair)
    return [every[i] for i in sizes.argsort(descending=True, stable=True)[:nodes].tolist()]


@in_pieces
def change_control(pair: Pair, nodes: int) -> Work[float]:
    """What as many nodes recover whose writes differ most: a stronger control, which follows no gradient."""
    (share,) = yield from recovered.pieces(pair, keep(pair, [changed_most(pair, nodes)]))
    return share


class HeldOut(NamedTuple):
    """A pair on which a circuit was not found, and the share that its nodes recover there."""

    pair: Pair
    share: float


@in_pieces
def held_out_shares(pair: Pair, nodes: Sequence[AnyNode]) -> Work[list[HeldOut]]:
    """What the same nodes recover of other pairs of the same kind (held_out.py); there may be none."""
    found: list[HeldOut] = []
    for made in (yield from held_out.pieces(pair)):
        (share,) = yield from recovered.pieces(made, keep(made, [nodes]))
        found.append(HeldOut(made, share))
    return found
