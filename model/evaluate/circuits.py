"""How far few nodes carry an answer: circuits of held-out prompts, and as many random nodes beside them.

A case is a prompt, the same with another thing told, and the same with another asked about; all three are answered
right by the model, with as many tokens each. `python -m model.evaluate --circuits` prints the shares recovered, and for
circuits out of band whether a search that follows no gradient finds more in as many nodes.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from tqdm import tqdm

from model.analysis.circuit import chance_control, with_and_without
from model.analysis.exchange import exchanged
from model.analysis.nodes import AnyNode, all_nodes, keep, rank, run_pair
from model.analysis.nodes import Pair as Runs
from model.analysis.recovered import recovered
from model.checkpoint import LanguageModel
from model.corpus import lexicon
from model.corpus.lexicon import Pair
from model.corpus.split import is_held_out, pick
from model.trace import run_trace

TOLD, ASKED = "told", "asked"
NODES = {TOLD: 20, ASKED: 40}
CURVE = (5, 10, 15, 20, 22, 24, 30, 40)
BAND = (0.9, 1.1)
ENTERING, ROWS = 40, 128  # of an exhaustive search: nodes tried in each place, circuits in one pass


class Case(NamedTuple):
    """`prompt` continues with `answer`; in each of `others` (by what is swapped) with that text's own."""

    kind: str
    prompt: str
    answer: str
    others: dict[str, tuple[str, str]]


class Found(NamedTuple):
    """The circuits of one case: the shares recovered by those with the counts of CURVE, by the one with NODES, by all
    nodes but these, and by as many random nodes. `searched`: out of band, what the search of `nearest` finds, else
    `recovered`."""

    kind: str
    swapped: str
    tokens: int
    curve: tuple[float, ...]
    recovered: float
    without: float
    by_chance: float
    searched: float


def _told(template: str, answer: Callable[[str], str]) -> Callable[[str, list[str], list[str]], Case]:
    """A kind of case: `template` tells two keys' values and asks for `asked`'s."""

    def make(kind: str, keys: list[str], values: list[str]) -> Case:
        def said(first: str, asked: str) -> str:
            return template.format(k1=keys[0], k2=keys[1], v1=first, v2=values[1], asked=asked)

        return Case(
            kind,
            said(values[0], keys[0]),
            answer(values[0]),
            {
                TOLD: (said(values[2], keys[0]), answer(values[2])),
                ASKED: (said(values[0], keys[1]), answer(values[1])),
            },
        )

    return make


def _same(word: str) -> str:
    return word


def _spaced(word: str) -> str:
    return f" {word}"


KINDS = {
    "place (en)": _told("{k1} is in the {v1}. {k2} is in the {v2}. {asked} is in the", _spaced),
    "place (zh)": _told("{k1}在{v1}里。{k2}在{v2}里。{asked}在", _same),
    "thing (en)": _told("{k1} has a {v1}. {k2} has a {v2}. {asked} has a", _spaced),
    "recall (en)": _told("{k1} = {v1}, {k2} = {v2}. {asked} =", _spaced),
    "recall (zh)": _told("{k1}是{v1}，{k2}是{v2}。{asked}是", _same),
    "induction (en)": _told("{k1} {v1} {k2} {v2} {asked}", _spaced),
}


def _words(kind: str) -> tuple[list[Pair], list[Pair]]:
    """Keys and values of a kind, in both languages."""

    def pairs(words: Sequence) -> list[Pair]:
        return [Pair(word.en, word.zh.replace(" ", "")) for word in words]

    nouns = pairs([*lexicon.THINGS, *lexicon.FOODS, *lexicon.NATURE])
    keys = pairs(lexicon.NAMES) if kind.startswith(("place", "thing")) else nouns
    return keys, pairs(lexicon.PLACES) if kind.startswith("place") else nouns


def endless_cases(kind: str, seed: int) -> Iterator[Case]:
    """Endless held-out prompts of a kind: no training text binds these keys to these values."""
    chance = random.Random(f"{kind} {seed}")
    keys, values = _words(kind)
    own = (lambda word: word.zh) if kind.endswith("(zh)") else (lambda word: word.en)
    while True:
        two = chance.sample(keys, 2)
        used = {word.en for word in two}
        bound: list[Pair] = []
        for key in (two[0], two[1], two[0]):
            free = [value for value in values if value.en not in used]
            if not any(is_held_out(key.en, value.en) for value in free):
                break  # all that is left was told of this key in training
            found = pick(chance, free, lambda value, key=key: is_held_out(key.en, value.en), tries=10_000)
            used.add(found.en)
            bound.append(found)
        else:
            yield KINDS[kind](kind, [own(word) for word in two], [own(word) for word in bound])


def cases(lm: LanguageModel, kind: str, count: int, seed: int, tries: int = 2000) -> list[Case]:
    """The first `count` cases that the model answers right in all three forms, with as many tokens each."""
    found: list[Case] = []
    for _, case in zip(range(tries), endless_cases(kind, seed), strict=False):
        forms = [(case.prompt, case.answer), *case.others.values()]
        lengths = {len(lm.tokenizer.encode(prompt)) for prompt, _ in forms}
        if len(lengths) == 1 and all(_right(lm, *form) for form in forms):
            found.append(case)
        if len(found) == count:
            break
    return found


def measure(lm: LanguageModel, case: Case, swapped: str) -> Found:
    """The circuit of one case with NODES[swapped] nodes."""
    pair = run_pair(lm, case.prompt, case.others[swapped][0])
    ranked, _ = rank(pair)
    found = {count: exchanged(pair, ranked[:count]) for count in CURVE}
    inside, outside = with_and_without(pair, found[NODES[swapped]])
    curve = tuple(recovered(pair, keep(pair, list(found.values()))))
    chance = chance_control(pair, NODES[swapped], draws=5)
    searched = inside if in_band(inside) else nearest(pair, found[NODES[swapped]])
    return Found(case.kind, swapped, pair.ids.shape[1], curve, inside, outside, max(chance, key=abs), searched)


def nearest(pair: Runs, nodes: Sequence[AnyNode], entering: int = ENTERING) -> float:
    """The share nearest to 1 that these nodes recover, or these with any one exchanged for any of `entering` others.

    The others are those that bring it nearest when they join; every one of all these sets is run.
    """

    def run(sets: Sequence[set[AnyNode]]) -> list[float]:
        parts = [sets[start : start + ROWS] for start in range(0, len(sets), ROWS)]
        return [share for part in parts for share in recovered(pair, keep(pair, part))]

    own = set(nodes)
    others = [node for node in all_nodes(pair) if node not in own]
    joined = dict(zip(others, run([own | {node} for node in others]), strict=True))
    best = sorted(others, key=lambda node: abs(joined[node] - 1))[:entering]
    return min(run([own, *(own - {out} | {new} for out in nodes for new in best)]), key=lambda share: abs(share - 1))


def report_circuits(lm: LanguageModel, seed: int, count: int) -> int:
    """Measure `count` cases of each kind and print the report; the exit status is 1 where one in ten is not in band."""
    found: list[Found] = []
    with tqdm(KINDS, unit="kind", dynamic_ncols=True) as bar:
        for kind in bar:
            bar.set_description(kind)
            found += [measure(lm, case, swapped) for case in cases(lm, kind, count, seed) for swapped in NODES]
    print(report(found))
    return int(not found or sum(in_band(one.recovered) for one in found) < 0.9 * len(found))


def in_band(share: float) -> bool:
    """Whether a share of the logit difference counts as recovered."""
    return BAND[0] <= share <= BAND[1]


def report(found: Sequence[Found]) -> str:
    """A line for each kind and swap, then all of a swap together; how many are in band with each count of nodes;
    the kinds without a case."""
    columns = ("swapped", "kind", "in band", "least", "most", "without", "random")
    lines = ["{:8}{:16}{:>9}{:>8}{:>8}{:>9}{:>8}".format(*columns) + f"  median at {CURVE}"]
    for swapped in NODES:
        for kind in [*KINDS, "all"]:
            rows = [one for one in found if one.swapped == swapped and kind in (one.kind, "all")]
            if rows:
                shares = [one.recovered for one in rows]
                middle = [sorted(one.curve[i] for one in rows)[len(rows) // 2] for i in range(len(CURVE))]
                inside = f"{sum(map(in_band, shares))}/{len(rows)}"
                chance = max((one.by_chance for one in rows), key=abs)
                lines.append(
                    f"{swapped:8}{kind:16}{inside:>9}{min(shares):8.3f}{max(shares):8.3f}"
                    f"{max((one.without for one in rows), key=abs):9.3f}{chance:8.4f}  "
                    + " ".join(f"{share:.2f}" for share in middle)
                )
                if kind == "all":
                    curves = zip(*(one.curve for one in rows), strict=True)
                    within = (f"{count}: {sum(map(in_band, some))}" for count, some in zip(CURVE, curves, strict=True))
                    lines.append(f"{swapped:8}in band of {len(rows)}, by nodes: " + "  ".join(within))
                    inside, most = sum(in_band(one.searched) for one in rows), NODES[swapped] * ENTERING
                    lines.append(f"{swapped:8}in band with any one of up to {most} exchanges, all run: {inside}")
    if missing := [kind for kind in KINDS if kind not in {one.kind for one in found}]:
        lines.append(f"no prompt that the model answers right in all three forms: {', '.join(missing)}")
    return "\n".join(lines)


def _right(lm: LanguageModel, prompt: str, answer: str) -> bool:
    best = int(run_trace(lm, prompt).logits.argmax())
    piece = lm.tokenizer.pieces([best])[0]
    return bool(piece.strip()) and answer.startswith(piece)
