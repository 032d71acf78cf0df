"""How far circuits carry the answers of a model other than the bundled one: 14 pairs of six kinds (pairs.json).

For each pair as many nodes as are needed, and their controls: as many random nodes, as many whose writes differ most,
and the same nodes on other pairs of the same kind. `python -m model.evaluate --circuits --model …` prints them.
"""

import json
import time
from pathlib import Path
from typing import NamedTuple

from model.analysis.circuit import ENOUGH, chance_control, change_control, circuit, held_out_shares
from model.checkpoint import LanguageModel
from model.errors import GlassLlamaError

PAIRS = Path(__file__).with_name("pairs.json")
BAR = 0.8  # of the pairs


class Texts(NamedTuple):
    """Two prompts of one kind, with other answers."""

    kind: str
    prompt: str
    other: str


class Measured(NamedTuple):
    """What was found for a pair: tokens, the two answers, the chosen number of nodes and the share that they recover;
    `random` the largest of five draws in size, `change` as many nodes whose writes differ most, `held_out` shares on
    other pairs. `seconds` for the circuit alone."""

    texts: Texts
    tokens: int
    answers: tuple[str, str]
    nodes: int
    recovered: float
    random: float
    change: float
    held_out: list[float]
    seconds: float

    @property
    def enough(self) -> bool:
        """Whether the nodes come within ENOUGH of the whole difference."""
        return abs(self.recovered - 1) <= ENOUGH


def all_pairs() -> list[Texts]:
    """The pairs of pairs.json."""
    return [Texts(**row) for row in json.loads(PAIRS.read_text(encoding="utf-8"))["english"]]


def measure_pair(lm: LanguageModel, texts: Texts) -> Measured:
    """The circuit of one pair. Raises GlassLlamaError for texts that make no pair."""
    start = time.perf_counter()
    found = circuit(lm, texts.prompt, texts.other)
    seconds = time.perf_counter() - start
    pair, count = found.pair, len(found.nodes)
    one, other = lm.tokenizer.pieces([found.answer, found.other])
    return Measured(
        texts,
        pair.ids.shape[1],
        (one, other),
        count,
        found.recovered,
        max(chance_control(pair, count, draws=5), key=abs),
        change_control(pair, count),
        [one.share for one in held_out_shares(pair, found.nodes)],
        seconds,
    )


def report_pairs(lm: LanguageModel) -> int:
    """Measure every pair and print a line for each as it is done; the exit status is 1 where fewer than BAR of them
    reach 90 % with at most 60 nodes."""
    print(f"{'kind':10}{'T':>4}{'nodes':>6}{'share':>8}{'held out':>10}{'random':>9}{'change':>8}{'s':>7}  answers")
    done: list[Measured] = []
    for texts in all_pairs():
        try:
            done.append(measure_pair(lm, texts))
        except GlassLlamaError as error:
            print(f"{texts.kind:10} {texts.prompt!r}: {error}", flush=True)
            continue
        print(line(done[-1]), flush=True)
    met = sum(one.enough for one in done)
    print(f"{met} of {len(done)} within {ENOUGH:.0%} of the whole difference with at most 60 nodes")
    return int(not done or met < BAR * len(done))


def line(one: Measured) -> str:
    """One pair in a row of the table."""
    held = f"{sum(one.held_out) / len(one.held_out):.3f}/{len(one.held_out)}" if one.held_out else "none"
    return (
        f"{one.texts.kind:10}{one.tokens:4}{one.nodes:6}{one.recovered:8.3f}{held:>10}{one.random:9.4f}"
        f"{one.change:8.3f}{one.seconds:7.1f}  {one.answers[0]!r} / {one.answers[1]!r}  {one.texts.prompt!r}"
    )
