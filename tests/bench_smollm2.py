"""python -m tests.bench_smollm2 [--against DIR] [--keep FILE]: how long a reader of SmolLM2 waits, in Chromium.

With `--against`, a checkout of another revision (say a git worktree, with .venv linked) is served beside this one.
Rounds of both sides alternate, so that a busy machine slows both alike, and each figure is told with their ratio.
Times are medians, in ms, from what asks until every panel is drawn with the answer. With `--keep` each round is written
to FILE as it is done, and what FILE has of the same revisions is not measured again: a bench that was stopped goes on.
A revision without the detail "rests" has "why" as its first answer.
At the end stands the memory of this checkout's server: at rest, with the page open, and after all of this.

The chapter Next token is told in three parts, in the order in which the server does them, the cheapest first. What is
asked of the selected token (sampling, terms, contributions, its lens at every depth) has the bar: a reader sees the
whole chapter by then, but for two maps. The lens of all tokens costs (L + 1)·T·d·V multiply–adds, 26 G at 30 tokens,
which no order makes shorter. The causal map is last: it is below all others, and runs the text once for each place.
"""

import argparse
import json
import re
import statistics
import subprocess
from contextlib import ExitStack
from pathlib import Path

from playwright.sync_api import Page

from model.bench import Figure
from model.smollm2 import WEIGHTS
from tests.page import ROOT, chromium, open_page, running_process
from tests.soak import resident

BARS = {5: (500, 600), 30: (700, 1200), 120: (1200, 3000), 480: (3000, 8000)}  # of a run, of why's first answer
LAYER_BAR, CHAPTER_BAR, CHAPTER_TOKENS = 100, 1000, 30
CIRCUIT_BAR, EDGES_BAR, CIRCUIT_TOKENS = 2000, 6000, 14
PATIENCE = 900_000  # ms
LOOKS = 1000  # ms that a reader looks at a layer
AIMS = 250  # ms from where the pointer comes to rest to the click
REST_BAR, USED_BAR = 1.2, 2.0  # GB
LENGTHS = sorted((*BARS, CIRCUIT_TOKENS))
PAIR = "When {one} and {other} went to the store, {giver} gave a drink to"
TEXT = "The capital of {one} is {other}, and the capital of Germany is Berlin. A boy went to the lake with his father. "
# Each round has a text of its own, as the page knows the answers of the last runs; each of these words is one token.
NAMES = [("Mary", "John"), ("Alice", "Bob"), ("Anna", "Tom"), ("Lucy", "Peter"), ("Sarah", "David"), ("Emma", "James")]
PLACES = [("France", "Paris"), ("Spain", "Madrid"), ("Italy", "Rome"), ("Japan", "Tokyo"), ("Egypt", "Cairo"),
          ("Greece", "Athens")]  # fmt: skip

# [ms until the run that Run asks for is drawn, ms until why's first answer about it is]
RUN = """() => new Promise((done) => {
  const before = glass.state.run?.id, began = performance.now();
  let drawn = 0;
  const off = glass.on("painted", () => {
    const { run } = glass.state;
    if (!run || run.id === before) return;
    drawn ||= performance.now() - began;
    if (![...run.details.keys()].some((key) => /^(rests|why) /.test(key))) return;
    off();
    done([drawn, performance.now() - began]);
  });
  document.querySelector("#run").click();
})"""
# ms until the layer beside the selected one is drawn, or one that is not here yet; null where all are here
LAYER = """(beside) => new Promise((done) => {
  const { trace, locked } = glass.state, began = performance.now(), last = trace.model.n_layers - 1;
  const missing = [...trace.model.parts.ffn.keys()].find((one) => !trace.layers.has(one));
  const layer = beside ? (locked.layer < last ? locked.layer + 1 : last - 1) : missing;
  if (layer === undefined) return done(null);
  const off = glass.on("painted", () => {
    if (glass.state.layer !== layer || !glass.layer()) return;
    off();
    done(performance.now() - began);
  });
  glass.selectByPage({ layer });
})"""
# ms from the click on a cell of a layer that was not here when the pointer came to it until that layer is drawn; null
# where all are here
POINTED = """(aims) => new Promise((done) => {
  const { trace } = glass.state, layer = [...trace.model.parts.ffn.keys()].find((one) => !trace.layers.has(one));
  if (layer === undefined) return done(null);
  glass.preview({ layer });
  setTimeout(() => {
    const began = performance.now();
    const off = glass.on("painted", () => {
      if (glass.state.locked.layer !== layer || !glass.layer()) return;
      off();
      done(performance.now() - began);
    });
    glass.select({ layer });
  }, aims);
})"""
# [ms until the chapter Next token shows all of the selected token, the lens of all tokens, and the causal map, too]
CHAPTER = """async () => {
  const began = performance.now(), frame = () => new Promise(requestAnimationFrame);
  const { details } = glass.state.run, { query, chapter } = glass.state;
  const came = (...names) => names.every((name) => [...details.keys()].some((key) => key.startsWith(name)));
  const column = `lens {"follow":false,"token":${query}}`, whole = `lens {"follow":false}`, times = [];
  const drawn = async (there) => {
    while (!there() || !glass.drawn()) await frame();
    times.push(performance.now() - began);
  };
  glass.open("choice");
  await drawn(() => came("logits ", "draw ", "logit_terms ", "contributions ") && (came(column) || came(whole)));
  await drawn(() => came(whole));
  let calm = 0;
  await drawn(() => (calm = glass.asking() ? 0 : calm + 1) > 1);
  glass.open(chapter);
  return times;
}"""
# [ms until the circuit against another text is drawn, ms from there until its controls are, ms from there until all of
# its edges are]
CIRCUIT = """async (text) => {
  const frame = () => new Promise(requestAnimationFrame), { details } = glass.state.run, { chapter } = glass.state;
  const drawn = async (there) => {
    while (!there() || !glass.drawn()) await frame();
    return performance.now();
  };
  const has = (name) => [...details.keys()].some((key) => key.startsWith(name));
  glass.open("glance");
  await drawn(() => has("words ") && !glass.asking());  // what stands above the circuit has come
  const began = performance.now();
  glass.settings.set("why", { open: "1", text, at: String(glass.state.query) });
  const circuit = await drawn(() => has("circuit "));
  const controls = await drawn(() => !glass.asking());
  document.querySelector(".wy-circuit .gp-holds").click();
  const edges = await drawn(() => document.querySelector(".wy-circuit progress").hidden && has("edges "));
  glass.open(chapter);
  return [circuit - began, controls - circuit, edges - controls];
}"""
CHAPTER_PARTS = ("chapter", "lens", "map")
SETTLED = "() => !glass.asking() && glass.drawn()"
Times = dict[str, list[float]]


def main() -> int:
    """Print every figure beside its bar; the exit status is 1 if one of this checkout is not met."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench_smollm2", description="A reader's waits on SmolLM2.")
    parser.add_argument("--against", type=Path, help="a checkout of another revision to measure beside this one")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each side (default: %(default)s)")
    parser.add_argument("--tokens", type=int, nargs="+", default=LENGTHS, choices=LENGTHS, help="lengths of the text")
    parser.add_argument("--dtype", default="float32", help="of the weights (default: %(default)s)")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="where rounds are kept, and taken from")
    args = parser.parse_args()
    roots = [ROOT, *([args.against.resolve()] if args.against else [])]
    kept, met = Kept(args.keep, [f"{revision(root)} {args.dtype}" for root in roots]), True
    with chromium() as browser, ExitStack() as served:
        options = ("--model", str(WEIGHTS), *(() if args.dtype == "float32" else ("--dtype", args.dtype)))
        servers = [served.enter_context(running_process(*options, root=root)) for root in roots]
        pages = [open_page(browser, address) for address, _ in servers]
        for page in pages:
            page.set_default_timeout(PATIENCE)
            page.wait_for_function(SETTLED)
            page.evaluate("glass.settings.set('why', { open: '1' })")  # else nothing is asked of it
            page.mouse.move(1, 1)  # somebody is there: what the pointer may ask for is fetched ahead
        own, at_rest = servers[0][1], resident(servers[0][1])
        for tokens in args.tokens:
            left = args.rounds - kept.done(tokens)
            for number in range(left + 1 if left else 0):  # the first round warms up
                rounds = [one_round(page, tokens, number) for page in pages]
                if number:
                    kept.add(tokens, rounds)
            met &= report(tokens, kept.times(tokens))
        for name, mebibytes, bar in (("at rest", at_rest, REST_BAR), ("after use", resident(own), USED_BAR)):
            print(figure := Figure(f"the server's memory {name}: GB", mebibytes * 2**20 / 1e9, "≤", bar))
            met &= figure.met
    return int(not met)


class Kept:
    """Rounds that were measured: of each length of text, a list with the figures of each side."""

    def __init__(self, file: Path | None, sides: list[str]):
        """`sides` names what is measured on each."""
        self._file, self._sides = file, sides
        lines = file.read_text(encoding="utf-8").splitlines() if file and file.is_file() else []
        known = [json.loads(line) for line in lines]
        self._rounds = [(one["tokens"], one["rounds"]) for one in known if one["sides"] == self._sides]

    def done(self, tokens: int) -> int:
        """How many rounds there are of a length."""
        return sum(length == tokens for length, _ in self._rounds)

    def add(self, tokens: int, rounds: list[dict[str, float]]) -> None:
        """One more round."""
        self._rounds.append((tokens, rounds))
        if self._file:
            with self._file.open("a", encoding="utf-8") as out:
                out.write(json.dumps({"sides": self._sides, "tokens": tokens, "rounds": rounds}) + "\n")

    def times(self, tokens: int) -> list[Times]:
        """By side, every figure's times."""
        sides: list[Times] = [{} for _ in self._sides]
        for length, rounds in self._rounds:
            for times, found in zip(sides, rounds, strict=True):
                for name, took in found.items() if length == tokens else ():
                    times.setdefault(name, []).append(took)
        return sides


def revision(root: Path) -> str:
    """The commit of a checkout, with a mark where files of it were changed."""
    asked = ("git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    return subprocess.run(asked, cwd=root, check=True, capture_output=True, text=True).stdout.strip()


def one_round(page: Page, tokens: int, number: int) -> dict[str, float]:
    """A run of so many tokens by a reader who has chosen nothing, and what follows it."""
    page.evaluate("glass.settings.set('why', { open: '1' })")  # else the circuit of the round before comes along
    page.locator("#prompt textarea").fill(prompt_of(tokens, number))
    shown, why = page.evaluate(RUN)
    assert page.evaluate("glass.state.trace.T") == tokens
    found = {"run": shown, "why": why}
    page.wait_for_function(SETTLED)
    if tokens == CHAPTER_TOKENS:
        found |= dict(zip(CHAPTER_PARTS, page.evaluate(CHAPTER), strict=True))
        page.wait_for_function(SETTLED)
    if tokens == CIRCUIT_TOKENS:
        found |= dict(zip(("circuit", "controls", "edges"), page.evaluate(CIRCUIT, pair_of(number)[1]), strict=True))
        page.wait_for_function(SETTLED)
    for name, script, given in (("pointed", POINTED, AIMS), ("layer", LAYER, False), ("step", LAYER, True)):
        if (took := page.evaluate(script, given)) is not None:
            found[name] = took
        page.wait_for_timeout(LOOKS)
        page.wait_for_function(SETTLED)
    return found


def pair_of(number: int) -> list[str]:
    """A text of CIRCUIT_TOKENS tokens, and what it is compared with."""
    one, other = NAMES[number % len(NAMES)]
    return [PAIR.format(one=one, other=other, giver=giver) for giver in (other, one)]


def prompt_of(tokens: int, number: int) -> str:
    """A text of exactly so many tokens: each of its words and marks is one."""
    if tokens == CIRCUIT_TOKENS:
        return pair_of(number)[0]
    one, other = PLACES[number % len(PLACES)]
    return "".join(re.findall(r" ?\w+|[.,]", TEXT.format(one=one, other=other) * tokens)[:tokens])


def report(tokens: int, sides: list[Times]) -> bool:
    """Prints the medians of one length of text; whether those of the first side meet their bars."""
    bars = dict(zip(("run", "why"), BARS.get(tokens, ()), strict=False))
    bars |= {"pointed": LAYER_BAR, "layer": LAYER_BAR, "step": LAYER_BAR}
    bars |= {"chapter": CHAPTER_BAR, "circuit": CIRCUIT_BAR, "edges": EDGES_BAR}
    names = {"run": "Run until drawn", "why": "why's first answer", "pointed": "to a far layer by the pointer",
             "layer": "to a far layer that nothing announced", "step": "a second later to the layer beside it",
             "chapter": "chapter Next token, of the selected token", "circuit": "a circuit of as many parts as needed",
             "edges": "its edges"}  # fmt: skip
    figures = [
        (Figure(f"{tokens} tokens, {names[name]}: ms", statistics.median(sides[0][name]), "≤", bars[name]), name)
        for name in bars
        if sides[0].get(name)
    ]
    for name, words in (("lens", "chapter Next token, the lens of all tokens"), ("map", "the causal map, too"),
                        ("controls", "the circuit's controls, after it")):  # fmt: skip
        if sides[0].get(name):
            print(f"{tokens} tokens, {words}: ms {statistics.median(sides[0][name]):.0f}")
    for figure, name in figures:
        others = [statistics.median(side[name]) for side in sides[1:] if side.get(name)]
        print(figure, *(f"  against {other:.0f}: {figure.value / other:.2f} times" for other in others), flush=True)
    return all(figure.met for figure, _ in figures)


if __name__ == "__main__":
    raise SystemExit(main())
