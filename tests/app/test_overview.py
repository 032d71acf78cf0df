"""The chapter Overview: the diagram and the residual stream show what transformers computes."""

import random
import shutil
from collections.abc import Iterator
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Browser, Page, expect

from app.chapters import CHAPTERS
from app.texts import text
from model.checkpoint import BUNDLED
from model.record import LOG, read_record
from tests.app.looking import calm, faults, number, questions, run, settled, shown
from tests.one_of import one_of
from tests.page import leave, open_page
from tests.reference import reference, run_reference

PROMPT = "The dog plays in the yard. 猫在沙发上"
pytestmark = pytest.mark.prompt(PROMPT)
CLOSE: dict[str, Any] = {"rel": 6e-5, "abs": 2e-5}
PICKS = 16
ROWS = ["ids", "embed", "before", "attn_norm", "attn", "attn_add", "ffn_norm", "ffn", "ffn_add", "after"]
ROWS += ["final_norm", "head", "softmax"]


@pytest.fixture
def chapter(page: Page) -> Page:
    page.evaluate("glass.open('overview')")
    for kind in ("overview", "residual"):
        shown(page, kind)
    return page


@pytest.fixture
def vectors(chapter: Page, roomy_checkpoint: Path) -> dict[str, torch.Tensor]:
    """transformers' vectors (L, T, d) by row of the diagram."""
    net = reference(roomy_checkpoint)
    seen: dict[str, torch.Tensor] = {}
    for name, module in net.named_modules():
        module.register_forward_hook(
            lambda _module, _given, result, name=name: seen.__setitem__(
                name, result[0] if isinstance(result, torch.Tensor) else result[0][0]
            )
        )
    out = run_reference(net, torch.tensor([chapter.evaluate("glass.state.trace.tokens.ids")]))
    layers = range(net.config.num_hidden_layers)

    def by_layer(name: str) -> torch.Tensor:
        return torch.stack([seen[f"model.layers.{i}.{name}"] for i in layers])

    rows = {
        "before": torch.stack([out.hidden_states[i][0] for i in layers]),
        "attn_norm": by_layer("input_layernorm"),
        "attn": by_layer("self_attn"),
        "ffn_norm": by_layer("post_attention_layernorm"),
        "ffn": by_layer("mlp"),
    }
    rows["attn_add"] = rows["before"] + rows["attn"]
    rows["ffn_add"] = rows["attn_add"] + rows["ffn"]
    for name, values in (
        ("embed", seen["model.embed_tokens"]),
        ("after", rows["ffn_add"][-1]),
        ("final_norm", seen["model.norm"]),
        ("head", out.logits[0]),
        ("softmax", out.logits[0].double().softmax(-1)),
    ):
        rows[name] = values.expand(len(layers), *values.shape)
    return rows


def test_the_diagram_shows_transformers_vectors(chapter: Page, vectors: dict[str, torch.Tensor]) -> None:
    chance = random.Random(2)
    layers, tokens, _ = vectors["attn"].shape
    for _ in range(PICKS):
        layer, token, row = chance.randrange(layers), chance.randrange(tokens), chance.choice(ROWS[1:])
        chapter.evaluate("(chosen) => glass.select(chosen)", {"layer": layer, "query": token})
        chapter.locator(f"[data-row={row}] .ov-name").click()
        chapter.wait_for_function(
            "(start) => { const at = document.querySelector('[data-kind=overview]').dataset.value;"
            " return at.startsWith(start) && at.includes('channel'); }",
            arg=f"{row} layer {layer} token {token} ",
        )
        value = shown(chapter, "overview")
        vector = vectors[row][layer, token].double()
        channel = int(value.split("channel ")[1].split()[0])
        assert number(value, "value") == pytest.approx(float(vector[channel]), **CLOSE), value
        if row not in ("head", "softmax"):
            assert number(value, "norm") == pytest.approx(float(vector.norm()), **CLOSE), value
            called = "y" if row.endswith("_norm") else row if row in ("attn", "ffn") else "x"  # as its values are
            expect(chapter.locator("[data-kind=overview] .ov-sums")).to_contain_text(f"‖{called}‖ = √Σ {called}²")
        part = {"attn": "attn", "attn_add": "attn"}.get(row, "ffn")
        chapter.locator("[data-kind=residual] canvas").first.focus()
        chapter.wait_for_function(  # a panel that is scrolled away follows after a moment
            "([start, token]) => { const at = document.querySelector('[data-kind=residual]').dataset.value;"
            " return at.startsWith(start) && at.includes(token); }",
            arg=[f"layer {layer} ", f" token {token} "],
        )
        value = shown(chapter, "residual")
        kind = value.split()[2]
        assert kind in ("attn", "ffn")
        added, stream = vectors[kind][layer, token], vectors["before" if kind == "attn" else "attn_add"][layer, token]
        assert number(value, "norm") == pytest.approx(float(added.double().norm()), **CLOSE), part
        cosine = torch.nn.functional.cosine_similarity(added.double(), stream.double(), dim=0)
        assert number(value, "cosine") == pytest.approx(float(cosine), **CLOSE)


def test_shapes_come_from_the_config(chapter: Page) -> None:
    tokens = chapter.evaluate("glass.state.trace.T")
    for row, said in (
        ("attn", f"T × d = {tokens} × 48"),
        ("head", "V = 320"),
        ("attn", f"q 6 × {tokens} × 8 · k, v 2 × {tokens} × 8 · scores 6 × {tokens} × {tokens}"),
        ("ffn", f"gate, up {tokens} × 80"),
    ):
        expect(chapter.locator(f"[data-row={row}]")).to_contain_text(said)
    expect(chapter.locator("[data-row=attn]")).to_contain_text("GQA")


@pytest.mark.thorough
def test_steps_walk_through_every_layer_and_play_can_be_paused(chapter: Page) -> None:
    seen = []
    chapter.click(f"text={text('overview.restart')}")
    for _ in range(2 + 3 * 6 + 3):
        value = shown(chapter, "overview")
        seen.append(tuple(value.split()[:3:2]))
        chapter.click("[data-text='overview.step']")
        chapter.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    inside = ["attn_norm", "attn", "attn_add", "ffn_norm", "ffn", "ffn_add"]
    walk = [("ids", "0"), ("embed", "0"), *((key, str(i)) for i in range(3) for key in inside)]
    assert seen == [*walk, *((key, "2") for key in ("final_norm", "head", "softmax"))]

    chapter.click(".ov-play")  # from the start again; a busy browser may draw a later step than the first
    value = "document.querySelector('section[data-kind=overview]').dataset.value"
    chapter.wait_for_function(f"!/^(softmax|ids) /.test({value})")
    chapter.click(".ov-play")
    expect(chapter.locator(".ov-play")).to_have_text(text("overview.play"))
    rested = shown(chapter, "overview")
    chapter.wait_for_timeout(1100)
    assert shown(chapter, "overview") == rested


def test_a_part_opens_its_chapter(chapter: Page) -> None:
    chapter.locator("[data-row=head] .ov-mark").click()
    assert chapter.evaluate("glass.state.chapter") == "choice"
    assert shown(chapter, "lens")


def test_hovering_a_strip_reads_its_value_and_asks_nothing(chapter: Page, vectors: dict[str, torch.Tensor]) -> None:
    chapter.wait_for_function("document.querySelector('[data-row=ffn] .ov-strip').hasAttribute('href')")
    strip = chapter.locator("[data-row=ffn] .ov-strip")
    asked = questions(chapter, strip)
    strip.hover(position={"x": 100, "y": 9})
    value = shown(chapter, "overview", "ffn ")
    layer, token = chapter.evaluate("[glass.state.layer, glass.state.query]")
    channel = int(value.split("channel ")[1].split()[0])
    assert number(value, "value") == pytest.approx(float(vectors["ffn"][layer, token, channel]), **CLOSE)
    calm(chapter)
    assert asked == []


def charts(page: Page) -> list[tuple[float, float, float, float]]:
    """Width and height of each chart of the training panel, and of the room that it is in."""
    return page.evaluate(
        "[...document.querySelectorAll('[data-kind=training] .gp-chart')].map((room) => {"
        " const svg = room.querySelector('.main-svg')?.getBoundingClientRect();"
        " return svg && [svg.width, svg.height, room.clientWidth, room.clientHeight]; })"
    )


@pytest.fixture
def trained(roomy_checkpoint: Path) -> Iterator[None]:
    """The page's model with the bundled one's training log beside its weights."""
    log = roomy_checkpoint / LOG
    shutil.copy(BUNDLED / LOG, log)
    yield
    log.unlink()


@pytest.mark.thorough
@pytest.mark.usefixtures("trained")
def test_training_charts_fill_their_room_also_after_being_hidden(page: Page) -> None:
    page.evaluate("glass.open('overview')")
    section = page.locator("section[data-kind=training]")
    # A chart starts where it is near the view, and the panels above still grow meanwhile.
    page.wait_for_function(
        "() => { document.querySelector('[data-kind=training] .ov-answers')?.scrollIntoView();"
        " return document.querySelector('[data-kind=training] .ov-answers .main-svg'); }"
    )
    high = [392, 320]

    def fitted() -> None:
        page.wait_for_function(
            "[...document.querySelectorAll('[data-kind=training] .gp-chart')].every((room) =>"
            " room.clientWidth > 0 &&"
            " Math.abs(room.querySelector('.main-svg').getBoundingClientRect().width - room.clientWidth) < 1)"
        )
        assert [round(chart[1]) for chart in charts(page)] == high
        assert [round(chart[3]) for chart in charts(page)] == high

    fitted()
    page.evaluate("glass.open('kv')")  # its own charts are higher
    page.set_viewport_size({"width": 900, "height": 600})
    page.wait_for_timeout(300)
    page.evaluate("glass.open('overview')")
    fitted()
    page.evaluate("glass.keep(glass.state.trace)")
    run(page, "The cat plays in the yard. 猫在沙发上")
    for side in ("A", "B-A", "A"):
        page.evaluate("(side) => glass.showSide(side)", side)
        expect(section).to_have_attribute("data-side", "B" if side == "B-A" else side)
        fitted()
    stages = section.locator(".ov-stages li")
    named = [entry.stage for entry in read_record(BUNDLED).log if entry.stage]
    assert stages.count() == 1 + sum(a != b for a, b in pairwise(named))
    marks = section.locator(".ov-loss .annotation-text")
    assert marks.all_text_contents() == [
        text("training.first_stage"),
        *(str(i + 2) for i in range(stages.count() - 1)),
    ]
    boxes = [mark.bounding_box() for mark in marks.all()]
    for a, b in combinations([box for box in boxes if box], 2):  # no number lies over another one
        assert a["x"] + a["width"] <= b["x"] or b["x"] + b["width"] <= a["x"] or abs(a["y"] - b["y"]) >= 14
    place = next(i + 1 for i, words in enumerate(stages.all_text_contents()) if "backwards" in words)
    expect(section).to_contain_text(text("training.leap", number=place))


@pytest.mark.thorough
def test_nothing_is_drawn_without_a_width(page: Page) -> None:
    """Panels are drawn when their section has no width: in a chapter that has just been opened, or hidden again."""
    page.add_style_tag(content=".page-hidden-for-a-test .page-grid { display: none !important; }")
    for chapter in CHAPTERS:
        page.evaluate("(chapter) => glass.open(chapter)", chapter)
        settled(page)
        page.evaluate("document.body.classList.add('page-hidden-for-a-test')")
        settled(page)
        page.evaluate("glass.select({ layer: 1, query: 2 })")
        page.evaluate("glass.repaint(true)")
        settled(page)
        page.evaluate("document.body.classList.remove('page-hidden-for-a-test')")
        settled(page)
        assert page.locator("section[data-failed]").count() == 0, chapter


@pytest.mark.parametrize(("scheme", "width"), one_of([("dark", 1280), ("light", 360)]))
def test_accessible_and_nothing_cut(browser: Browser, panels_alone: str, scheme: Any, width: int) -> None:
    page = open_page(browser, f"{panels_alone}#chapter=overview", width, color_scheme=scheme)
    for kind in ("overview", "residual"):
        shown(page, kind)
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    leave(page)
