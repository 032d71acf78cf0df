"""How soon a panel on what LLaMA replaced follows a run: a part of `python -m tests.bench_page` (`--panels`: it alone).

Each panel stands in view, Run is pressed again and again, and two texts alternate, so that its value changes. A time is
from when the run reaches the page until the panel is drawn with that run's numbers. Beside it stands when it is drawn
for the last time (attention-kinds runs the network once more for each number of K/V heads), and what the run, all that
was drawn with it and all that was asked about it took of the processors. ffn-width and gqa-example are left out, since
their numbers do not depend on the text, and families, which shows no run.
"""

import os
import re
import statistics
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote_plus

from playwright.sync_api import Browser, CDPSession, Page, Request

from app.chapters import CHAPTERS
from model.bench import Figure
from model.smollm2 import WEIGHTS
from tests.page import leave, new_page, open_page, running_process, wait_for_run

TOKENS, ROUNDS = 64, 9
OF_LLAMA = ("norm-kinds", "norm-placement", "activation-kinds", "position-kinds", "rope-derivation", "sqrt-d",
            "attention-kinds", "token-groups", "sparse-attention", "mask-kinds")  # fmt: skip
SHOWN = {  # by the model that has all that they show; None: the bundled one
    None: OF_LLAMA,
    "Mixtral (small)": ("routing-kinds",),
    "DeepSeek (small)": ("latent", "sparse-attention", "routing-kinds"),
}
NOT_AT_FIRST = (*OF_LLAMA, "ffn-width", "gqa-example", "latent", "routing-kinds", "families")
BAR, REAL_BAR, PATIENCE = 300, 800, 600_000  # ms
TEXTS = (
    "The cat sleeps on the sofa. The dog plays in the garden. ",
    "Tom is in the kitchen. Lily is in the park with a ball. ",
)
# Run, once what is to be seen has come into view.
PRESS = """(seen) => new Promise((done) => {
  document.querySelector(seen).scrollIntoView({ block: "start" });
  requestAnimationFrame(() => requestAnimationFrame(() => done(document.querySelector("#run").click())));
})"""
CHAPTER_OF = {kind: chapter for chapter, kinds in CHAPTERS.items() for kind in kinds}
# From when a run is handed to the page until the section is drawn with it, and until nothing more is drawn.
WATCH = """() => {
  const seen = (window.followed = { section: null, arrived: 0, drawn: 0, last: 0 });
  const publish = glass.publish;
  glass.publish = (payload) => {
    if (payload.kind === "run" && seen.section)
      Object.assign(seen, { arrived: performance.now(), drawn: 0, last: 0, before: seen.section.dataset.value });
    publish(payload);
  };
  const look = () => { // a panel that comes into view draws by itself, without the others
    if (!seen.arrived) return;
    const { dataset, classList } = seen.section;
    const waits = "loading" in dataset || "failed" in dataset || classList.contains("is-coming");
    if (!seen.drawn && !waits && dataset.value !== seen.before) seen.drawn = performance.now();
    if (seen.drawn) seen.last = performance.now();
  };
  const observer = new MutationObserver(look);
  seen.follow = (kind) => {
    observer.disconnect();
    Object.assign(seen, { arrived: 0, section: document.querySelector(`section[data-kind=${kind}]`) });
    observer.observe(seen.section, { attributes: true });
  };
}"""


def panels(browser: Browser, rounds: int = ROUNDS) -> Iterator[list[Figure]]:
    """Of the bundled model and the small ones, and of SmolLM2 where its weights are here; as they are found."""
    with running_process() as (address, pid):
        yield [first_load(browser, address)]
        for name, kinds in SHOWN.items():
            page = open_page(browser, address if name is None else f"{address}#model={quote_plus(name)}")
            yield of_model(page, pid, kinds, BAR, rounds)
            leave(page)
    if not WEIGHTS.is_file():
        print(f"SmolLM2 is not measured: there is no {WEIGHTS}")
        return
    with running_process("--model", str(WEIGHTS)) as (address, pid):
        page = open_page(browser, address)
        yield of_model(page, pid, OF_LLAMA, REAL_BAR, rounds)


def first_load(browser: Browser, address: str) -> Figure:
    """How many files of these panels come before a reader opens a chapter."""
    page = new_page(browser, address, story=True, folded=True)
    asked: list[str] = []

    def heard(request: Request) -> None:
        asked.append(request.url)

    page.on("request", heard)
    page.goto(address)
    wait_for_run(page)
    calm(page)
    page.wait_for_timeout(1500)  # what is fetched ahead counts too
    page.remove_listener("request", heard)
    leave(page)
    assert any(url.endswith("/glass.js") for url in asked), "the page's own script was not seen to come"
    of_panels = [url for url in asked if re.search(rf"/(?:panels/\w+|readings)/({'|'.join(NOT_AT_FIRST)})\.js", url)]
    return Figure("first load: files of the panels on what LLaMA replaced", len(of_panels), "≤", 0)


def of_model(page: Page, pid: int, kinds: tuple[str, ...], bar: float, rounds: int) -> list[Figure]:
    """Every panel's median over so many runs of 64 tokens of the page's model."""
    page.set_default_timeout(PATIENCE)
    page.evaluate(WATCH)
    texts = [of_length(page, text) for text in TEXTS]
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable")
    name = page.evaluate("glass.state.trace.model.name")
    return [of_panel(page, devtools, pid, kind, texts, f"{name}: {kind}", bar, rounds) for kind in kinds]


def of_length(page: Page, text: str) -> str:
    """As many words of the repeated text as make 64 tokens of this model, or a little less."""
    words = (text * TOKENS).split()
    count = TOKENS
    while True:
        run(page, " ".join(words[:count]))
        tokens = page.evaluate("glass.state.trace.T")
        if tokens <= TOKENS:
            return " ".join(words[:count])
        count -= max(1, (tokens - TOKENS) // 2)


def calm(page: Page) -> None:
    """Until nothing more is asked, however long that takes."""
    page.wait_for_function("() => !glass.asking() && glass.drawn()", timeout=PATIENCE)


def run(page: Page, text: str, seen: str = "body") -> None:
    """Type a text, press Run while `seen` is in view, and wait until nothing more is asked about its run."""
    before = page.evaluate("glass.state.trace.id")
    page.locator("#prompt textarea").fill(text)  # scrolls to where it is, as a click of Playwright's would
    page.evaluate(PRESS, seen)
    page.wait_for_function("(last) => glass.state.trace.id !== last && glass.state.status === 'idle'", arg=before)
    calm(page)


def of_panel(
    page: Page, devtools: CDPSession, pid: int, kind: str, texts: list[str], what: str, bar: float, rounds: int
) -> Figure:
    """One panel in view."""
    page.evaluate("(chapter) => glass.open(chapter)", CHAPTER_OF[kind])
    calm(page)
    section = page.locator(f"section[data-kind={kind}]")
    section.evaluate("(one) => one.scrollIntoView({ block: 'start' })")
    calm(page)
    page.evaluate("(kind) => followed.follow(kind)", kind)
    found = []
    for _ in range(rounds + 1):
        before = spent(devtools, pid)
        text = next(text for text in texts if text != page.evaluate("glass.state.trace.prompt"))
        run(page, text, f"section[data-kind={kind}]")
        section.evaluate("(one) => one.scrollIntoView({ block: 'start' })")  # where others above it have grown
        page.wait_for_function("followed.drawn > 0")
        calm(page)
        after = spent(devtools, pid)
        times = page.evaluate("[followed.drawn - followed.arrived, followed.last - followed.arrived]")
        found.append([*times, *(1000 * (late - early) for early, late in zip(before, after, strict=True))])
    drawn, last, own, server = (statistics.median(column) for column in zip(*found[1:], strict=True))  # 1st warms up
    took = f"processor time of page {own:.0f} ms, of server {server:.0f} ms"
    print(f"{what}: drawn after {drawn:.0f} ms, for the last time after {last:.0f} ms; {took}", flush=True)
    return Figure(f"run to {what} drawn, {TOKENS} tokens: ms (median)", drawn, "≤", bar)


def spent(devtools: CDPSession, pid: int) -> tuple[float, float]:
    """Seconds of processor time: of the page's own process, and of the server's."""
    metrics = {one["name"]: one["value"] for one in devtools.send("Performance.getMetrics")["metrics"]}
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return metrics["ProcessTime"], (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
