"""The circuit of an answer: the few heads and FFNs that carry it, how far they do, and which feeds which.

All other heads and FFNs have the values of another prompt's run, whose answer is another (Wang et al. 2022, arXiv
2211.00593). nodes.py ranks and measures, exchange.py puts the choice right, paths.py measures edges.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from ..checkpoint import LanguageModel
from ..errors import GlassLlamaError
from ..pieces import Work, in_pieces
from .exchange import exchanged
from .nodes import POINTS, AnyNode, Pair, all_nodes, keep, rank, recovered, run_pair
from .paths import Edge, edges


@dataclass(frozen=True)
class Circuit:
    """The nodes that carry `answer` (a token id) rather than `other`, strongest first, and how far they do.

    `scores` are the nodes' attributions, in logits. `recovered` is the share of the logit difference when these nodes
    alone keep the first run's part and all other heads and FFNs have the other run's values: 1 is all of it, 0 what the
    other run has. `without` is that share when these nodes alone have the other run's values. `edges` are there where
    they were asked for.
    """

    pair: Pair
    nodes: tuple[AnyNode, ...]
    scores: tuple[float, ...]
    recovered: float
    without: float
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
    nodes: int = 20,
    with_edges: bool = False,
    points: int = POINTS,
    target: str | Sequence[int] | None = None,
) -> Work[Circuit]:
    """The `nodes` heads and FFNs (at tokens) that carry the answer to `prompt` rather than that to `other`.

    They are those of the largest attributions, some of them exchanged for others where that brings what is recovered
    nearer to 1 (exchange.py). The answers are the most probable next tokens of the two. Where an encoder reads the
    prompts, they are the next ones after `target`, what is written so far (nothing), and the nodes are those of both
    stacks. Raises GlassLlamaError where the two prompts have different numbers of tokens or the same answer, and for
    fewer nodes than 1 or more than the run has.
    """
    pair = yield from run_pair.pieces(lm, prompt, other, target)
    limit = len(all_nodes(pair))
    if not 1 <= nodes <= limit:
        raise GlassLlamaError(
            "field", f"nodes is {nodes}; expected 1 to {limit}.", field="nodes", value=nodes, expected=f"1 to {limit}"
        )
    ranked, scores = yield from rank.pieces(pair, points)
    chosen = set((yield from exchanged.pieces(pair, ranked[:nodes])))
    pushes = {node: score for node, score in zip(ranked, scores, strict=True) if node in chosen}
    found = tuple(pushes)
    inside, outside = yield from with_and_without.pieces(pair, found)
    paths: list[Edge] = []
    for part in edges(pair, found) if with_edges else ():
        paths += part
        yield
    return Circuit(pair, found, tuple(pushes.values()), inside, outside, tuple(paths))


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
