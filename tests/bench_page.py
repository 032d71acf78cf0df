"""python -m tests.bench_page [--panels]: how fast and how light the page is, measured in Chromium against its bars.

With `--panels` only how soon the panels on what LLaMA replaced follow a run (tests/bench_panels.py).

Times are of this machine and mean little elsewhere; bytes are exact. A repaint is timed from when the browser hands the
page the pointer's or the keyboard's event until every panel is drawn (`glass.on("painted")`); before that, a browser
holds a pointer's event back until its next frame, up to 16.7 ms, which no page can change.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Error, Page

from model.bench import Figure
from tests.app.looking import settled
from tests.bench_panels import ROUNDS, panels
from tests.page import OVER_A_NETWORK, chromium, free_port, leave, open_page, running_app, wait_for_run
from tests.standin import make_checkpoint

SENTENCE = "The cat sleeps on the sofa. "
PROMPT = SENTENCE * 4 + "The dog plays."  # 32 tokens of the bundled model
PROMPT_TOKENS, LONG_TOKENS, WIDE_TOKENS, MOST_TOKENS = 32, 64, 128, 512
PANELS = ("tokens", "attention", "rope", "rmsnorm", "swiglu", "next")
WIDE = {"num_hidden_layers": 30, "hidden_size": 576, "num_attention_heads": 9, "num_key_value_heads": 3,
        "head_dim": 64, "intermediate_size": 1536, "max_position_embeddings": 2048}  # fmt: skip
# Wraps the page's own hooks: from the event that asks for a repaint until it is drawn, from Run until it is drawn.
WATCH = """() => {
  const seen = (window.watched = { repaint: [], run: [], bytes: 0, asked: 0, ran: 0 });
  // One movement is handed over as several events of one time stamp, and a panel may answer to the first.
  for (const name of ["pointerout", "pointerleave", "pointerover", "pointerenter", "pointermove"]) {
    window.addEventListener(name, ({ timeStamp }) => {
      if (timeStamp !== seen.stamp) [seen.stamp, seen.event] = [timeStamp, performance.now()];
    }, true);
  }
  window.addEventListener("keydown", () => { seen.asked = performance.now(); }, true);
  for (const name of ["preview", "endPreview"]) {  // over bare ground a pointer asks for nothing
    const asked = glass[name];
    glass[name] = (...change) => { seen.asked ||= seen.event; asked(...change); };
  }
  document.querySelector("#run").addEventListener("click", (event) => { seen.ran = event.timeStamp; }, true);
  const publish = glass.publish;
  const size = (payload) => new TextEncoder().encode(JSON.stringify(payload)).length;
  glass.publish = (payload) => { seen.bytes = size(payload); publish(payload); };
  glass.on("painted", (fresh) => {
    const now = performance.now();
    if (seen.ran && fresh) { seen.run.push(now - seen.ran); seen.ran = 0; }
    if (seen.asked) { seen.repaint.push(now - seen.asked); seen.asked = 0; }
  });
}"""

WATCH_CLICKS = """() => {
  const seen = (window.watchedClicks = []);
  let clicked = 0;
  window.addEventListener("click", () => { clicked = performance.now(); }, true);
  glass.on("painted", () => {
    const { layer, head, query, key } = glass.state.locked;
    const { value = "" } = document.querySelector("section[data-kind=cell]").dataset;
    const here = value.startsWith(`layer ${layer} head ${head} query ${query} key ${key} `);
    if (!clicked || !here || !value.includes("written=")) return;
    seen.push(performance.now() - clicked);
    clicked = 0;
  });
}"""


def main() -> int:
    """Print every figure beside its bar; the exit status is 1 if one is not met."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench_page", description="The page's speed and weight.")
    parser.add_argument("--panels", action="store_true", help="only the panels on what LLaMA replaced")
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, help="runs that each of them follows (default: %(default)s)"
    )
    args = parser.parse_args()
    met = True
    with chromium() as browser:
        for figures in panels(browser, args.rounds) if args.panels else every_figure(browser, args.rounds):
            print(*figures, sep="\n", flush=True)
            met &= all(figure.met for figure in figures)
    return int(not met)


def every_figure(browser: Browser, rounds: int) -> Iterator[list[Figure]]:
    """Part by part, as they are found; the panels on what LLaMA replaced, which take longest, last."""
    with running_app() as address:
        yield first_load(browser, address)
        yield scene_pictures(browser, address)
        yield use(open_page(browser, address))
        yield sliders(browser, address)
    yield wide(browser)
    yield from panels(browser, rounds)


# A page of gradio's that holds one box: the least that any page of its kind takes on this machine.
PEER = """
import gradio, sys
with gradio.Blocks(analytics_enabled=False) as page:
    gradio.Textbox("here", elem_id="box")
page.launch(server_port=int(sys.argv[1]), quiet=True)
"""


def first_load(browser: Browser, address: str, rounds: int = 5) -> list[Figure]:
    """Bytes over the wire, and seconds until the story's first scene is drawn, with nothing in the cache; beside a page
    of gradio's with nothing in it."""
    port = free_port()
    environment = os.environ | {"GRADIO_ANALYTICS_ENABLED": "False"}
    with subprocess.Popen([sys.executable, "-c", PEER, str(port)], env=environment, stdout=subprocess.DEVNULL) as peer:
        try:
            bare, _ = loads(browser, f"http://127.0.0.1:{port}", "document.querySelector('#box textarea')", rounds)
        finally:
            peer.terminate()
    drawn = "document.querySelector('[data-scene=answer]')?.dataset.value"
    seconds, received = loads(browser, address, drawn, rounds)
    return [
        Figure("first load: kB over the wire", received / 1000, "≤", 600),
        Figure(f"first load: seconds to the story's first scene ({bare:.2f}: gradio, one box)", seconds, "≤", 1.0),
    ]


def loads(browser: Browser, address: str, drawn: str, rounds: int) -> tuple[float, int]:
    """Median seconds until `drawn` holds, in a new context each time, and the bytes of the last."""
    seconds, received = [], 0
    for _ in range(rounds):
        context = browser.new_context(viewport={"width": 1280, "height": 720}, extra_http_headers=OVER_A_NETWORK)
        page = context.new_page()
        network = context.new_cdp_session(page)
        network.send("Network.enable")
        sizes: list[float] = []
        network.on("Network.loadingFinished", lambda event, sizes=sizes: sizes.append(event["encodedDataLength"]))
        reached(page, address)
        start = time.perf_counter()
        page.goto(address, wait_until="commit")
        page.wait_for_function(drawn)
        seconds.append(time.perf_counter() - start)
        page.wait_for_timeout(1500)  # what is fetched ahead counts too
        received = int(sum(sizes))
        context.close()
    return statistics.median(seconds), received


def reached(page: Page, address: str, patience: float = 60) -> None:
    """Waits until a server that was just started answers, without the page."""
    until = time.monotonic() + patience
    while True:
        try:
            page.request.get(address)
            return
        except Error:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


# Moves a slider or the pointer once a frame; how many frames a second there are meanwhile.
PER_SECOND = """async ([scene, moves]) => {
  const frame = () => new Promise(requestAnimationFrame);
  const place = document.querySelector(`[data-scene=${scene}]`);
  place.scrollIntoView({ behavior: "instant" });
  for (let i = 0; i < 30; i++) await frame();
  const slider = place.querySelector("input[type=range]");
  const squares = [...place.querySelectorAll("svg [data-at]")];
  const [least, most] = slider ? [Number(slider.min), Number(slider.max)] : [0, squares.length - 1];
  const begun = performance.now();
  for (let i = 0; i < moves; i++) {
    const at = least + ((most - least) * i) / moves;
    if (slider) {
      slider.value = at;
      slider.dispatchEvent(new Event("input", { bubbles: true }));
    } else squares[Math.round(at)].dispatchEvent(new PointerEvent("pointermove", { bubbles: true }));
    await frame();
  }
  return (1000 * moves) / (performance.now() - begun);
}"""


def scene_pictures(browser: Browser, address: str) -> list[Figure]:
    """Frames a second while what a scene shows follows a slider, or the pointer over its map."""
    page = open_page(browser, address, story=True)
    figures = []
    for scene in ("looks", "rope", "choice"):
        place = page.locator(f"[data-scene={scene}]")
        place.scroll_into_view_if_needed()
        page.wait_for_function("(one) => one.dataset.value && !('waits' in one.dataset)", arg=place.element_handle())
        settled(page)
        shown = page.evaluate(PER_SECOND, [scene, 120])
        figures.append(Figure(f"story, scene {scene}: frames a second while it is moved", shown, "≥", 58))
    leave(page)
    return figures


def use(page: Page, runs: int = 15) -> list[Figure]:
    """A 32-token run, again and again; then pointer and arrow keys over a run of 64 tokens."""
    page.evaluate(WATCH)
    for _ in range(runs):
        run(page, PROMPT, PROMPT_TOKENS)
    ran = statistics.median(page.evaluate("watched.run"))
    short = page.evaluate("watched.bytes")
    run(page, PROMPT * 2, LONG_TOKENS)
    grown = page.evaluate("watched.bytes") / short
    every_layer(page)
    return [
        Figure(f"Run to all panels drawn, {PROMPT_TOKENS} tokens: ms (median)", ran, "≤", 250),
        Figure(f"payload of that run: kB ({PROMPT_TOKENS} tokens)", short / 1000, "≤", 150),
        Figure(f"payload at {LONG_TOKENS} tokens / at {PROMPT_TOKENS}", grown, "≤", LONG_TOKENS / PROMPT_TOKENS),
        *repaints(page, f"bundled model, {LONG_TOKENS} tokens"),
        *arithmetic(page),
    ]


def wide(browser: Browser) -> list[Figure]:
    """Pointer and arrow keys on a model of 30 layers × 9 heads with random weights, at 128 tokens and at nearly 512."""
    with tempfile.TemporaryDirectory() as directory:
        model = make_checkpoint(Path(directory) / "wide", **WIDE)
        with running_app("--model", str(model), "--device", "cpu") as address:
            page = open_page(browser, address)
            page.evaluate(WATCH)
            page.evaluate("glass.select({ query: 0 })")
            run(page, SENTENCE * 60, WIDE_TOKENS, cut=True)
            every_layer(page)
            figures = repaints(page, f"30 layers × 9 heads, {WIDE_TOKENS} tokens")
            run(page, SENTENCE * 60, MOST_TOKENS, cut=True)
            page.wait_for_timeout(3000)  # layers of so many tokens are fetched when they are asked for, not all at once
            return figures + repaints(page, f"30 layers × 9 heads, {found(page)} tokens")[:-1]


def run(page: Page, prompt: str, tokens: int, cut: bool = False) -> None:
    """Run a prompt of so many tokens; `cut` shortens it until it has no more than that."""
    while True:
        last = page.evaluate("glass.state.trace.id")
        page.locator("#prompt textarea").fill(prompt)
        page.locator("#run").click()
        page.wait_for_function("(last) => glass.state.trace.id !== last && glass.state.status === 'idle'", arg=last)
        wait_for_run(page)
        count = found(page)
        if count <= tokens or not cut:
            break
        prompt = prompt[: len(prompt) * tokens // count]
    assert count == tokens or (cut and count > tokens * 0.9), f"the prompt has {count} tokens, not {tokens}"


def every_layer(page: Page) -> None:
    """Wait until every layer of the shown run has been fetched."""
    page.wait_for_function("glass.state.trace.layers.size === glass.state.trace.model.n_layers", timeout=120_000)


def found(page: Page) -> int:
    """How many tokens the shown run has."""
    return page.evaluate("glass.state.trace.T")


def repaints(page: Page, what: str) -> list[Figure]:
    """How long a repaint takes while the pointer sweeps over every panel and while the arrow keys move."""
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    hover = timed(page, lambda: [sweep(page, kind) for kind in PANELS])
    asked = len(requests)
    page.evaluate("glass.select({ query: glass.state.trace.T - 1, layer: 0 })")  # so that both keys have a way to go
    tokens = timed(page, lambda: press(page, "ArrowLeft", 40))
    layers = timed(page, lambda: press(page, "ArrowUp", 20))
    return [
        Figure(f"hover to repaint, {what}: ms (median)", statistics.median(hover), "≤", 16),
        Figure(f"hover to repaint, {what}: ms (95th percentile)", percentile(hover), "≤", 16),
        Figure(f"requests during {len(hover)} hovers", asked, "≤", 0),
        Figure(f"arrow key to repaint, {what}: ms (95th percentile)", percentile(tokens), "≤", 16),
        Figure(f"arrow key to another layer, {what}: ms (95th percentile)", percentile(layers), "≤", 100),
    ]


def arithmetic(page: Page, times: int = 30) -> list[Figure]:
    """Clicks on cells of a head's map: from the click until every number of that cell is shown, W_O's part too."""
    page.click("nav [data-chapter=attend]")
    canvas = page.locator("section[data-kind=cell] .at-map canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box
    left, top, side = box["x"] + 82, box["y"] + 72, box["width"] - 84  # beside and under the words of the text
    page.evaluate(WATCH_CLICKS)
    chance = random.Random(0)
    for i in range(times):
        down = chance.uniform(0.3, 0.9)  # the mask hides what is right of the diagonal
        page.mouse.click(left + chance.uniform(0.1, 0.8) * down * side, top + down * side)
        page.wait_for_function("(count) => watchedClicks.length > count", arg=i)
        page.wait_for_timeout(30)
    return [
        Figure(
            "click to full arithmetic of a cell: ms (95th percentile)",
            percentile(page.evaluate("watchedClicks")), "≤", 150,
        )
    ]  # fmt: skip


def timed(page: Page, act: Any) -> list[float]:
    """The milliseconds of each repaint that `act` asks for."""
    page.evaluate("watched.repaint.length = 0")
    act()
    page.wait_for_timeout(100)
    return page.evaluate("watched.repaint")


# From a slider's event until its numbers are in the page; with `chart`, until plotly has drawn the chart as well.
SLIDE = """([name, kind, chart]) => {
  const slider = document.querySelector(`section[data-kind=${kind}] [data-field=${name}] input[type=range]`);
  const seen = (window.slid = { drawn: [], at: 0 });
  const done = () => {
    if (seen.at) seen.drawn.push(performance.now() - seen.at);
    seen.at = 0;
  };
  slider.addEventListener("input", (event) => { seen.at = event.timeStamp; }, true);
  const plot = document.querySelector("section[data-kind=kv-chart] .gp-plot");
  // a whole drawing ends with the one, points that move alone with the other
  if (chart) for (const event of ["plotly_afterplot", "plotly_animatingframe"]) plot.on(event, done);
  else glass.on("painted", done);
  slider.focus();
}"""


def sliders(browser: Browser, address: str, steps: int = 30) -> list[Figure]:
    """The KV-cache chapter's sliders: the calculator's with the chart in view, then all that what fits depends on."""
    figures = []
    for name in ("tokens", "batch"):
        page = kv_chapter(browser, address, "kv-chart", height=4000)  # the chart is in view with the calculator
        page.wait_for_selector("section[data-kind=kv-chart] .gp-plot .scatterlayer .trace", state="attached")
        what = f"slider ({name}) to numbers and chart drawn"
        figures += slid(page, what, [name, "kv-calculator", True], ('"what":"kv"', '"what":"kv_chart"'), steps)
    for kind, name in (("kv-calculator", "tokens"), ("kv-calculator", "batch"),
                       ("kv-fit", "users"), ("kv-fit", "user_tokens")):  # fmt: skip
        page = kv_chapter(browser, address, "kv-fit", height=4000)
        page.wait_for_selector("section[data-kind=kv-fit][data-value^=gpu] tbody tr")
        what = f"slider ({name}) to what fits"
        figures += slid(page, what, [name, kind, False], ('"what":"kv_fit"', '"what":"kv_needs"'), steps)
    return figures


def kv_chapter(browser: Browser, address: str, kind: str, height: int) -> Page:
    """The chapter on a screen as high as that, one of its panels in view."""
    page = open_page(browser, address, height=height)
    page.evaluate("glass.open('kv')")
    page.locator(f"section[data-kind={kind}]").scroll_into_view_if_needed()
    return page


def slid(page: Page, what: str, which: list[str | bool], questions: tuple[str, ...], steps: int) -> list[Figure]:
    """Milliseconds of each step of a slider, and what was asked meanwhile; arrow keys take a step, as a hand would."""
    page.wait_for_timeout(1000)
    page.evaluate(SLIDE, which)
    page.keyboard.press("Home")  # so that there are as many steps before its end
    page.wait_for_timeout(2000)  # a hand is near the slider for a while before it moves it
    page.evaluate("slid.drawn.length = 0")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.post_data or ""))
    for _ in range(steps):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(100)
    drawn = page.evaluate("slid.drawn")
    assert len(drawn) == steps, f"{steps} steps of the slider, drawn {len(drawn)} times"
    page.context.close()
    needed = [text for text in asked if any(question in text for question in questions)]
    return [
        Figure(f"{what}: ms (95th percentile)", percentile(drawn), "≤", 50),
        Figure(f"{what}: requests in {steps} steps of it", len(needed), "≤", 0),
    ]


def percentile(values: list[float]) -> float:
    """The 95th."""
    return statistics.quantiles(values, n=20)[-1]


def press(page: Page, key: str, times: int) -> None:
    """Press a key again and again with the focus on a panel that has no keys of its own."""
    page.evaluate("document.querySelector('section[data-kind=tokens]').focus()")
    for _ in range(times):
        page.keyboard.press(key)
        page.wait_for_timeout(30)


def sweep(page: Page, kind: str, steps: int = 60) -> None:
    """Move the pointer over one panel, back and forth, as a hand would: a place every few milliseconds."""
    panel = page.locator(f"section[data-kind={kind}]")
    panel.scroll_into_view_if_needed()
    box = panel.bounding_box()
    assert box
    for i in range(steps):
        across, down = (i * 7 % steps) / steps, i / steps
        page.mouse.move(box["x"] + 8 + across * (box["width"] - 16), box["y"] + 60 + down * (box["height"] - 70))
        page.wait_for_timeout(20)
    page.mouse.move(1, 1)


if __name__ == "__main__":
    raise SystemExit(main())
