"""How the tests of the page type, wait and read."""

import json
import math
import random
import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, Request, expect

import model
from app.engine import LocalEngine
from app.texts import LANGUAGES, text
from tests.page import listen, wait_for_run

PANELS = ("tokens", "next", "rmsnorm", "attention", "rope", "swiglu")
BOX = "#prompt textarea"
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
# What axe looks for by theme: of all its rules the dark can break only the one on contrast.
RULES: dict[str, Any] = {
    "light": {"type": "tag", "values": WCAG},
    "dark": {"type": "rule", "values": ["color-contrast"]},
}


def run(page: Page, prompt: str) -> None:
    """Type a prompt, press Enter, and wait until its run is shown."""
    page.fill(BOX, prompt)
    page.press(BOX, "Enter")
    page.wait_for_function("(prompt) => glass.state.trace.prompt === prompt", arg=prompt)
    wait_for_run(page)


def to_theme(page: Page, theme: str) -> None:
    """Light or dark, whichever the page was left in."""
    if page.evaluate("glass.state.theme") != theme:
        page.click("#theme")
    assert page.evaluate("glass.state.theme") == theme


# Colours on their way from one state to another are of neither; what is out of view is drawn after 80 ms (late.js).
ENDED = """async () => {
  await new Promise((done) => setTimeout(done, 260));
  document.getAnimations().forEach((one) => {
    if (one.effect.getComputedTiming().endTime < Infinity) one.finish();
  });
}"""


def faults(page: Page, theme: str = "light", context: str | None = None) -> list[str]:
    """What axe finds at WCAG AA: each fault's rule and markup. To describe what is none would take it as long again."""
    options = {"runOnly": RULES[theme], "resultTypes": ["violations"]}
    page.evaluate(ENDED)
    found = Axe().run(page, context, options).response["violations"]
    return [f"{fault['id']}: {node['html'][:120]}" for fault in found for node in fault["nodes"]]


def state(page: Page, *names: str) -> list[Any]:
    return page.evaluate("(names) => names.map((name) => glass.state[name])", list(names))


def array(page: Page, expression: str) -> np.ndarray:
    """An array that the page holds, such as "glass.state.trace.rms.attn"."""
    shape, data = page.evaluate(f"(() => {{ const a = {expression}; return [a.shape, [...a.data]]; }})()")
    return np.array(data, np.float32).reshape(shape)


def trace_of(page: Page, engine: LocalEngine) -> model.Trace:
    return engine.trace("roomy", page.evaluate("glass.state.trace.tokens.ids"))


def idle(page: Page) -> None:
    page.wait_for_function("glass.state.status === 'idle'")


# What is drawn may ask for more, and what comes into view asks with the frame after.
SETTLED = """
const frame = () => new Promise((done, fail) => {
  const late = setTimeout(() => fail(new Error("the browser has drawn no frame for a minute")), 60_000);
  requestAnimationFrame(() => { clearTimeout(late); done(); });
});
const until = performance.now() + 120_000;
const waits = (what) => { if (performance.now() > until) throw new Error(`after two minutes ${what}`); };
const busy = () => glass.asking() || !glass.drawn() || document.querySelector("[data-fetching]");
for (let calm = 0; calm < 3; calm = busy() ? 0 : calm + 1) {
  waits(`${glass.asking()} questions have no answer`);
  await frame();
}
"""
SHOWN = """
const value = () => document.querySelector(`section[data-kind=${kind}]`).dataset.value;
while (!value()?.startsWith(start)) {
  waits(`${kind} shows ${value()} and not ${start}`);
  await frame();
}
return value();
"""


# Does EACH at every panel of these chapters, once it is drawn, or has not been for long; `waits` tells which.
EACH_PANEL = """
const settle = async () => { SETTLED };
for (const chapter of chapters) {
  glass.open(chapter);
  await settle();
  for (const panel of document.querySelectorAll("section.glass-panel:not(.page-away)")) {
    if (!panel.getClientRects().length) continue;
    panel.scrollIntoView(); // what is out of view is not drawn
    const waits = () => panel.dataset.value === undefined && !panel.hasAttribute("data-none");
    for (let left = 600; left && waits(); left--) await new Promise((done) => setTimeout(done, 16));
    await settle();
    EACH
  }
}
""".replace("SETTLED", SETTLED)
WALK = """
const found = {};
const begun = performance.now();
EACH_PANEL
return found;
""".replace(
    "EACH_PANEL",
    EACH_PANEL.replace(
        "EACH",
        """
    if (panel.hasAttribute("data-none")) continue; // no panel of this network
    if (waits()) throw new Error(`${chapter} ${panel.dataset.kind} shows nothing`);
    const { kind, value, side } = panel.dataset;
    const seconds = (performance.now() - begun) / 1000;
    const count = Object.keys(found).length;
    if (seconds > 240) throw new Error(`after ${seconds} s at ${chapter} ${kind}, and ${count} panels before it`);
    found[`${chapter} ${kind}`] = { value: value ?? "", side: side ?? "", absent: panel.hasAttribute("data-absent") };
    const failed = [...document.querySelectorAll("[data-failed]")].map((one) => one.dataset.kind);
    const said = document.querySelector(".page-message").textContent;
    if (failed.length || said) throw new Error(`${chapter} ${kind}: failed ${failed}; message: ${said}`);
    // a place of a text that nothing stands in, and the key of one that is not there
    const unsaid = new RegExp(`\\\\{\\\\w+[|@][^}]*\\\\}|(?<![\\\\w./])${kind}\\\\.[a-z]\\\\w+`);
    const [raw] = unsaid.exec(panel.querySelector(".gp-body").textContent) ?? [];
    if (raw) throw new Error(`${chapter} ${kind} says ${raw}`);""",
    ),
)


def walk(page: Page, chapters: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Opens these chapters and scrolls to every panel; what each shows as its value, and on which side, by its chapter
    and kind. Fails for a panel that cannot be drawn and for a message."""
    page.mouse.move(1, 1)  # what is under the pointer is shown in a selection's place
    return page.evaluate(f"async (chapters) => {{ {WALK} }}", list(chapters))


def in_each_language(page: Page) -> Iterator[str]:
    """The languages of the page, each while it is shown; English last."""
    for language in sorted(LANGUAGES, reverse=True):
        page.evaluate("(code) => glass.setLanguage(code)", language)
        page.wait_for_function("(code) => document.documentElement.dataset.language === code", arg=language)
        yield language


def settled(page: Page) -> None:
    """Until every question to the server has its answer and the panels are drawn with it."""
    page.evaluate(f"async () => {{ {SETTLED} }}")


# A timer and idle work of the page's that began before these end before them: a panel out of view follows a selection
# after 80 ms (late.js), the address after 250 (history.js), and layers are fetched when the browser is idle.
CALM = f"""
do {{
  {SETTLED}
  await new Promise((done) => setTimeout(done, 260));
  await new Promise((done) => requestIdleCallback(done, {{ timeout: 1000 }}));
}} while (glass.asking() || !glass.drawn());
"""


def calm(page: Page) -> None:
    """As `settled`, and until nothing that the page does later by itself is left to be done."""
    page.evaluate(f"async () => {{ {CALM} }}")


def scene_of(page: Page, name: str) -> Locator:
    """A scene of the story that is shown, once it is drawn."""
    scene = page.locator(f"[data-scene={name}]:visible")
    scene.scroll_into_view_if_needed()
    expect(scene).to_have_attribute("data-value", re.compile("."))
    expect(scene).not_to_have_attribute("data-waits", "")
    return scene


def questions(page: Page, *pointed: Locator) -> list[str]:
    """What the page asks the server from now on, bodies or addresses, once it is calm. Its scripts are no question.

    `pointed` is what will be pointed at: that scrolls, and a neighbour that comes into view asks for what it draws.
    """
    for place in pointed:
        place.hover()
        settled(page)
    if pointed:
        page.mouse.move(1, 1)
    calm(page)
    asked: list[str] = []

    def heard(request: Request) -> None:
        if request.resource_type != "script" and not request.url.startswith("data:"):
            asked.append(request.post_data or request.url)

    listen(page, "request", heard)
    return asked


def shown(page: Page, kind: str, start: str = "") -> str:
    """A panel's value, once it begins so and nothing is under way that could still change it."""
    return page.evaluate(f"async ([kind, start]) => {{ {SETTLED} {SHOWN} }}", [kind, start])


def number(value: str, name: str) -> float:
    found = re.search(rf"{name}=(-?[\d.]+(?:e[+-]?\d+)?)", value)
    assert found, f"no {name} in {value!r}"
    return float(found[1])


def exactly(cells: Locator) -> list[str]:
    """What cells say on pointing: a number's every digit; else their text."""
    said = "(all) => all.map((one) => one.title || one.querySelector('[title]')?.title || one.textContent.trim())"
    return cells.evaluate_all(said)


def as_read(share: float) -> str:
    """A share as sentences write it: three significant digits, of four decimals at most."""
    return f"{share:.3f}" if share >= 0.1 else f"{share:.4f}"


def as_chance(p: float, language: str = "en") -> str:
    """A probability as the page writes it: per cent with three significant digits, what is next to nothing in words."""
    if p < 1e-5:
        return text("chance.hardly_any", language)
    decimals = 2 - math.floor(math.log10(100 * p))
    return f"{100 * p:.{max(0, decimals)}f}%"


def pick(page: Page, chance: random.Random) -> dict[str, int]:
    """Somewhere in the run, drawn by the test's own generator and locked on the page."""
    shape, tokens = page.evaluate("[glass.state.trace.model, glass.state.trace.T]")
    query = chance.randrange(tokens)
    chosen = {
        "layer": chance.randrange(shape["n_layers"]),
        "head": chance.randrange(shape["n_heads"]),
        "query": query,
        "key": chance.randrange(query + 1),
        "pair": chance.randrange(shape["head_dim"] // 2),
        "neuron": chance.randrange(shape["ffn_hidden"]),
    }
    page.evaluate("(chosen) => glass.select(chosen)", chosen)
    return chosen


def type_in(page: Page, prompt: str) -> None:
    """Put a text into the prompt as a script would, since a keyboard cannot type all of these."""
    page.evaluate(
        "(json) => { const box = document.querySelector('#prompt textarea'); box.value = JSON.parse(json);"
        " box.dispatchEvent(new Event('input', { bubbles: true })); }",
        json.dumps(prompt),
    )
