"""What every panel has: an explanation, its tensors by name, shape and line, full screen, and three formats to save."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import model
from app.chapters import FIRST
from app.texts import table, text
from model.trace import SHAPES
from tests.app.looking import as_read, run, settled, shown
from tests.page import leave, open_page
from tests.panels import of_a_llama, tensors
from tests.peer import Peer
from visuals.source_code import CODED
from visuals.tensors import ROOT, Place, tensor_places

pytestmark = pytest.mark.thorough

PROMPT = "The dog plays in the yard. 猫在沙发上"
PANELS = {kind: chapter for chapter, kinds in of_a_llama().items() for kind in kinds} | {"tokens": FIRST}
FILLS = [*(kinds[0] for kinds in of_a_llama().values() if kinds), "kv-chart"]  # the button is the frame's
NO_RUN = ("families", "family-parameters", "family-myths")
NO_TENSOR = {
    "merges", "training", "gqa-example", *NO_RUN,
    *(kind for kind in PANELS if kind.startswith("kv-") and kind != "kv-live"),
}  # fmt: skip
PLACEHOLDER = re.compile(r"\{[^}]*\}")
SINK = 0.3  # the weight on the first token from which the page speaks of a sink


@pytest.fixture(scope="module")
def both(browser: Browser, panels_alone: str) -> Iterator[Page]:
    """Two runs, so that no panel is without something to show."""
    page = open_page(browser, f"{panels_alone}#lang=en")
    run(page, PROMPT.replace("dog", "cat"))
    page.evaluate("glass.keep(glass.state.trace)")
    run(page, PROMPT)
    yield page
    leave(page)


@pytest.fixture(scope="module")
def places(roomy_checkpoint: Path) -> dict[str, Place]:
    """Where each tensor is made."""
    return tensor_places(model.load(roomy_checkpoint, device="cpu").net, 0)


def panel_of(page: Page, kind: str) -> Locator:
    page.mouse.move(1, 1)  # what the pointer previews would change under it
    page.evaluate("(chapter) => glass.open(chapter)", PANELS[kind])
    panel = page.locator(f"section[data-kind='{kind}']")
    panel.scroll_into_view_if_needed()
    settled(page)
    return panel


@pytest.fixture(scope="module")
def sizes(roomy_checkpoint: Path, both: Page) -> dict[str, int]:
    """Every dimension by name, from the checkpoint's own file."""
    config = json.loads((roomy_checkpoint / "config.json").read_text())
    names = {"d": "hidden_size", "f": "intermediate_size", "V": "vocab_size", "n_heads": "num_attention_heads"}
    names |= {"n_kv_heads": "num_key_value_heads", "head_dim": "head_dim"}
    return {name: config[field] for name, field in names.items()} | {"T": both.evaluate("glass.state.trace.T")}


@pytest.fixture(scope="module")
def named() -> dict[str, list[str]]:
    """Which tensors the page names of a LLaMA, by panel."""
    return {kind: [name for name in names if name in SHAPES or name == "logits"] for kind, names in tensors().items()}


@pytest.mark.parametrize("kind", PANELS)
def test_a_panel_is_explained_and_saved(
    both: Page, sizes: dict[str, int], named: dict[str, list[str]], places: dict[str, Place], kind: str
) -> None:
    panel = panel_of(both, kind)
    tools = panel.locator(".gp-tools")  # to look for a role in all of a panel takes as long as the rest of this test
    explain = tools.get_by_role("button", name=text("frame.explain"))
    box = panel.locator(".gp-explain")
    if box.is_visible():  # a first try that failed has left it open
        explain.click()
    expect(box).to_be_hidden()
    explain.click()
    for part in ("what", "formula"):
        pieces = [re.escape(" ".join(piece.split())) for piece in PLACEHOLDER.split(table("en")[kind][part])]
        expect(box).to_contain_text(re.compile(".*".join(pieces)))
    assert (kind in NO_TENSOR) == (kind not in named)
    lines = []
    for name in named.get(kind, []):
        dims = SHAPES.get(name, ("V",))
        shape = f"({', '.join(dims)}) = ({', '.join(str(sizes[dim]) for dim in dims)})"
        place = places[name]
        lines.append(f"{name} {shape} · {text(f'tensor.{name}')} · {place.file}:{place.line}")
    expect(box.locator(".gp-tensors > li")).to_have_text(lines)
    explain.click()
    expect(box).to_be_hidden()

    if kind in named or kind in CODED:
        code = tools.get_by_role("button", name=text("frame.code"))
        code.click()
        expect(panel.locator(".gp-code pre").first).to_be_visible()
        made = panel.locator(".gp-code-line.is-made")
        marked = sorted({(places[name].file, places[name].line) for name in named.get(kind, [])})
        expect(made).to_have_count(len(marked))
        read = sorted(line.strip() for line in made.locator("> span:nth-child(2)").all_inner_texts())
        assert read == sorted((ROOT / file).read_text().splitlines()[line - 1].strip() for file, line in marked)
        both.keyboard.press("Escape")
        expect(panel.locator(".gp-code")).to_be_hidden()
        expect(code).to_be_focused()

    expect(tools.get_by_role("button", name=text("frame.full"))).to_be_visible()
    tools.get_by_role("button", name=text("frame.save")).click()
    expect(panel.locator(".gp-choice")).to_have_text(["PNG", "SVG", "CSV"])
    both.keyboard.press("Escape")
    expect(panel.locator(".gp-menu")).to_be_hidden()


@pytest.mark.screen
def test_panels_fill_the_screen(page: Page) -> None:
    for kind in FILLS:
        page.evaluate("(chapter) => glass.open(chapter)", PANELS[kind])
        tools = page.locator(f"section[data-kind='{kind}'] .gp-tools")
        full = tools.get_by_role("button", name=text("frame.full"))
        full.click()
        page.wait_for_function("(kind) => document.fullscreenElement?.dataset.kind === kind", arg=kind)
        full.click()
        page.wait_for_function("!document.fullscreenElement")


def test_a_sink_is_explained_where_the_first_token_takes_much(both: Page, roomy_checkpoint: Path) -> None:
    peer = Peer(roomy_checkpoint, both.evaluate("glass.state.trace.tokens.ids"))
    panel_of(both, "cell")
    layer = 1
    rows = peer.run.attentions[layer][0, :, 2:, 0]  # (head, query): the weight on the first token
    for wanted in (True, False):
        head, query = next(place for place in (((rows >= SINK) == wanted).nonzero().tolist()))
        at = {"layer": layer, "head": head, "query": query + 2, "key": 0}
        both.evaluate("(at) => glass.select(at)", at)
        shown(both, "cell", f"layer {layer} head {head} query {query + 2} key 0 ")
        line = both.locator("section[data-kind=cell] .at-sink")
        if wanted:
            expect(line).to_contain_text(
                f"The first token: head {head} puts {as_read(rows[head, query])} of this row there."
            )
        else:
            expect(line).to_have_text("")
