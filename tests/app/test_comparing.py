"""Changed runs through the service, and the chapter that shows two runs, in Chromium, against runs made here."""

import csv
import io
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from app.engine import LocalEngine
from app.service import Service
from app.texts import text
from model.interventions import Intervention, Patch
from tests.app.looking import number, run, settled, shown, state, trace_of
from tests.app.test_saving import save
from tests.page import wait_for_run
from visuals.payload import unpack

CHANGES = {"heads": [[1, 2]], "ffn": [0], "neurons": [[2, 7]]}
SAME = Intervention(heads=((1, 2),), ffn=(0,), neurons=((2, 7),))


def test_a_changed_run_is_the_models_own(service: Service, engine: LocalEngine) -> None:
    first = service.run("The cat sleeps", "roomy")
    message = service.change({"run": first["id"], "changes": CHANGES, "layer": 1})
    assert (message["kind"], message["changes"]) == ("run", CHANGES)
    trace = engine.trace("roomy", first["tokens"]["ids"], SAME)
    assert message["next"]["ids"][0] == int(trace.logits.argmax())
    np.testing.assert_array_equal(unpack(message["rms"]["ffn"]), trace.ffn_norm_rms)
    np.testing.assert_array_equal(unpack(message["layer"]["q"]), trace.layer(1).q)


def test_a_patch_takes_the_other_runs_stream(service: Service, engine: LocalEngine) -> None:
    first = service.run("The cat sleeps", "roomy")
    second = service.run("The dog plays", "roomy")
    changes = {"patches": [[2, 1]], "source": first["id"]}
    message = service.change({"run": second["id"], "changes": changes})
    stream = engine.trace("roomy", first["tokens"]["ids"]).residual[2, 1]
    patched = engine.trace(
        "roomy", second["tokens"]["ids"], Intervention(patches=(Patch(2, 1, tuple(stream.tolist())),))
    )
    np.testing.assert_array_equal(unpack(message["rms"]["final"]), patched.final_norm_rms)


def test_how_far_two_runs_lie_apart(service: Service, engine: LocalEngine) -> None:
    first, second = service.run("The cat sleeps on", "roomy"), service.run("The dog", "roomy")
    data = service.detail({"run": second["id"], "what": "difference", "other": first["id"]})["data"]
    a, b = (engine.trace("roomy", message["tokens"]["ids"]).residual for message in (first, second))
    both = min(a.shape[1], b.shape[1])
    expected = np.sqrt(((b[:, :both] - a[:, :both]).astype(np.float64) ** 2).sum(-1))
    np.testing.assert_allclose(unpack(data["apart"]), expected, rtol=1e-5)
    np.testing.assert_allclose(unpack(data["first"]), np.sqrt((a[:, :both] ** 2).sum(-1)), rtol=1e-5)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"heads": [[0, 99]]}, "head 99"),
        ({"heads": [[0]]}, "heads"),
        ({"heads": "all"}, "heads"),
        ({"ffn": [1.5]}, "ffn"),
        ({"attention": [-1]}, "attention"),
        ({"patches": [[0, 0]], "source": "gone"}, "kept as A is no longer held"),
        ([1], "changes"),
    ],
)
def test_changes_that_make_no_sense_are_refused(service: Service, changes: Any, said: str) -> None:
    first = service.run("The cat", "roomy")
    message = service.change({"run": first["id"], "changes": changes})
    assert message["kind"] == "message"
    assert said in message["params"]["detail"]


def test_a_patch_beyond_either_run_is_refused(service: Service) -> None:
    long, short = service.run("The cat sleeps on the sofa.", "roomy"), service.run("The", "roomy")
    for run_id, source in ((short["id"], long["id"]), (long["id"], short["id"])):
        at = len(short["tokens"]["ids"])
        message = service.change({"run": run_id, "changes": {"patches": [[0, at]], "source": source}})
        assert message["code"] == "bad_request"


def test_two_models_cannot_be_compared(service: Service, engine: LocalEngine) -> None:
    first, second = (service.run("The cat", name) for name in engine.names)
    message = service.detail({"run": second["id"], "what": "difference", "other": first["id"]})
    assert message["code"] == "compare_models"


def test_two_runs_on_the_page(page: Page, engine: LocalEngine) -> None:
    page.get_by_role("button", name="Compare", exact=True).click()
    panel = page.locator("section[data-kind=compare]")
    expect(panel).to_contain_text("Keep a run as A")
    run(page, "The cat sleeps on the sofa.")
    plain = trace_of(page, engine)
    panel.get_by_role("button", name="Keep this run as A").click()
    page.evaluate("glass.select({ layer: 1, head: 3, query: 4, key: 2 })")
    panel.get_by_role("button", name="Head 3 of layer 1 off").click()
    panel.get_by_role("button", name="Run with these changes").click()
    page.wait_for_function("glass.sides()")
    wait_for_run(page)
    changed = engine.trace("roomy", plain.token_ids, Intervention(heads=((1, 3),)))
    heads = panel.locator("h3").all_text_contents()
    ordered = [text(f"compare.{name}") for name in ("prediction", "changes", "exchange")]
    assert [head for head in heads if head in ordered] == ordered  # what came of it, then what else can be changed
    expect(panel.get_by_role("heading", name=ordered[0])).to_be_in_viewport()
    expect(panel.locator("tbody tr").nth(5)).to_be_in_viewport()

    row = panel.locator("tbody tr").first
    row.hover()
    settled(page)  # it shows the row that is pointed at
    first = page.evaluate("document.querySelector('section[data-kind=compare] tbody th').textContent")
    value = panel.get_attribute("data-value") or ""
    chances = {side: np.exp(t.logits - np.logaddexp.reduce(t.logits)) for side, t in (("A", plain), ("B", changed))}
    best = int(np.maximum(chances["A"], chances["B"]).argmax())
    assert first == engine.pieces("roomy", [best])[0].replace(" ", "·")
    for side, chance in chances.items():
        assert number(value, side) == pytest.approx(float(chance[best]), rel=1e-4)

    page.evaluate("glass.select({ layer: 2, query: 4 })")
    apart = shown(page, "stream-change", "layer 2 token 4")
    lengths = [np.linalg.norm(x) for x in (changed.residual[2, 4] - plain.residual[2, 4], plain.residual[2, 4])]
    assert number(apart, "apart") == pytest.approx(lengths[0], rel=1e-4)
    assert number(apart, "ratio") == pytest.approx(lengths[0] / lengths[1], rel=1e-4)
    layers = len(plain.residual) - 1
    page.locator("section[data-kind=stream-change] canvas").focus()
    for _ in range(layers - 2):
        page.keyboard.press("ArrowUp")  # up to what leaves the last layer, which enters none
    leaving = shown(page, "stream-change", "out token 4")
    lengths = [np.linalg.norm(x) for x in (changed.residual[-1, 4] - plain.residual[-1, 4], plain.residual[-1, 4])]
    assert number(leaving, "apart") == pytest.approx(lengths[0], rel=1e-4)
    assert state(page, "layer") == [layers - 1]
    page.keyboard.press("ArrowDown")
    shown(page, "stream-change", f"layer {layers - 1} token 4")
    page.evaluate("glass.select({ layer: 2 })")
    weights = shown(page, "head-change", "layer 2 head 3 query 4 key 2")
    assert number(weights, "A") == pytest.approx(float(plain.layer(2).attention[3, 4, 2]), rel=1e-3)
    assert number(weights, "B") == pytest.approx(float(changed.layer(2).attention[3, 4, 2]), rel=1e-3)

    panel.get_by_role("button", name="Show A").click()
    assert state(page, "side") == ["A"]
    assert page.evaluate("Object.keys(glass.state.trace.changes).length") == 0
    panel.get_by_role("button", name="Show B", exact=True).click()
    assert page.evaluate("glass.state.trace.changes.heads") == [[1, 3]]
    panel.get_by_role("button", name="Let go of A").click()
    assert page.evaluate("glass.sides()") is None


def test_every_candidate_has_its_probability_in_both_runs(page: Page, engine: LocalEngine) -> None:
    page.evaluate("glass.open('compare')")
    panel = page.locator("section[data-kind=compare]")
    run(page, "The cat sleeps on the sofa.")
    a = trace_of(page, engine)
    panel.get_by_role("button", name="Keep this run as A").click()
    run(page, "小明在学校。")
    b = trace_of(page, engine)
    rows = panel.locator("tbody tr")
    expect(rows).to_have_count(10)
    expect(panel.locator("tbody")).not_to_contain_text("≤")
    chances = [np.exp(t.logits.astype(np.float64) - np.logaddexp.reduce(t.logits.astype(np.float64))) for t in (a, b)]
    ranked = np.argsort(-np.maximum(*chances), kind="stable")[:10]
    for row, best in zip(rows.all(), ranked, strict=True):
        row.hover()
        value = panel.get_attribute("data-value") or ""
        assert [number(value, side) for side in "AB"] == pytest.approx([float(p[best]) for p in chances], rel=1e-3)
        assert row.locator("td").nth(2).text_content()
    first, byte = (engine.pieces("roomy", [t.token_ids[1]])[0].replace(" ", "·") for t in (a, b))
    assert byte == "⟨B0⟩"  # the second of the three bytes of 小
    page.evaluate("glass.select({ layer: 1, query: 1, key: 0 })")
    shown(page, "stream-change", "layer 1 token 1")
    section = page.locator("section[data-kind=stream-change]")
    expect(section).to_contain_text(f"{first} → 小(2/3)")
    tokens = [len(t.token_ids) for t in (a, b)]
    if tokens[0] != tokens[1]:
        expect(section).to_contain_text(f"Run A has {tokens[0]} tokens and run B {tokens[1]}: compared are the first")


def test_chosen_changes_say_whether_the_run_has_them(page: Page) -> None:
    page.evaluate("glass.open('compare')")
    panel = page.locator("section[data-kind=compare]")
    run(page, "The cat sleeps")
    panel.get_by_role("button", name="Keep this run as A").click()
    page.evaluate("glass.select({ layer: 1, head: 3 })")
    panel.get_by_role("button", name="Head 3 of layer 1 off").click()
    chip = panel.locator(".cmp-chip")
    expect(chip).to_have_text("Head 3 of layer 1 off (not applied yet) ×")
    panel.get_by_role("button", name="Run with these changes").click()
    expect(chip).to_have_text("Head 3 of layer 1 off ×")
    panel.get_by_role("button", name="FFN of layer 1 off").click()
    expect(panel).to_contain_text("press “Run with these changes”")
    run(page, "The dog")  # as it is: what was made is taken back, what was only chosen still waits
    expect(chip).to_have_text("FFN of layer 1 off (not applied yet) ×")
    page.evaluate("glass.change({})")
    expect(chip).to_have_text("FFN of layer 1 off (not applied yet) ×")


def test_another_run_of_a_changed_prompt_is_unchanged(service: Service) -> None:
    first = service.run("The cat", "roomy")
    changed = service.change({"run": first["id"], "changes": CHANGES})
    again = service.run("The cat", "roomy")
    assert again["changes"] == {}
    assert again["next"]["logits"] == first["next"]["logits"]
    assert changed["next"]["logits"] != first["next"]["logits"]


def test_a_changed_run_is_shown_as_it_ran_everywhere(service: Service, engine: LocalEngine) -> None:
    first = service.run("The cat sleeps", "roomy")
    changed = service.change({"run": first["id"], "changes": {"heads": [[1, 2]], "attention": [0]}})
    at = {"run": changed["id"], "query": 2}
    writes = {
        (layer, head): unpack(
            service.detail({**at, "what": "head_write", "layer": layer, "head": head})["data"]["written"]
        )
        for layer, head in ((0, 3), (1, 2), (1, 3))
    }
    assert [bool(np.any(written)) for written in writes.values()] == [False, False, True]
    live = service.detail({"run": changed["id"], "what": "kv_live"})["data"]
    what = Intervention(heads=((1, 2),), attention=(0,))
    keys = [engine.trace("roomy", first["tokens"]["ids"], what).layer(layer).k_rot for layer in range(3)]
    expected = [np.sqrt((k.astype(np.float64) ** 2).sum((0, 2))) for k in keys]
    np.testing.assert_allclose(unpack(live["k_norm"]), expected, rtol=1e-5)


def test_a_kept_run_that_is_gone_is_not_mistaken_for_the_shown_one(service: Service) -> None:
    first = service.run("The cat", "roomy")
    for message in (
        service.detail({"run": first["id"], "what": "difference", "other": "gone"}),
        service.change({"run": first["id"], "changes": {"patches": [[0, 0]], "source": "gone"}}),
    ):
        assert message["code"] == "compare_gone"  # "run_expired" would have the page run its own prompt again, for ever


def test_what_is_switched_off_is_named_in_every_panel_and_b_minus_a_says_so(page: Page) -> None:
    run(page, "The cat sleeps on the sofa.")
    page.evaluate("glass.keep(glass.state.trace)")
    page.evaluate("glass.select({ layer: 0, head: 1 })")
    page.evaluate("glass.change({ heads: [[0, 1]] })")
    page.wait_for_function("glass.sides()")
    for chapter in ("glance", "attend", "choice", "compare"):
        page.evaluate("(name) => glass.open(name)", chapter)
        page.locator("section.glass-panel:not(.page-away):not(:has(.gp-head))").first.wait_for(state="detached")
        panels = page.locator("section.glass-panel:visible:not([data-kind=compare])")
        for panel in panels.all():
            expect(panel.locator(".gp-changed")).to_contain_text("head 1 of layer 0 off")
            expect(panel.locator(".gp-changed")).to_contain_text("zero ablation")
    change = page.locator("section[data-kind=head-change]")
    expect(change).to_contain_text("nothing uses them in B: head 1 of layer 0 off")
    expect(change).not_to_contain_text("No difference here")
    page.evaluate("glass.showSide('A')")
    expect(page.locator("section[data-kind=tokens] .gp-changed")).to_be_hidden()
    page.evaluate("glass.showSide('B-A')")
    page.evaluate("glass.open('glance')")
    attention = page.locator("section[data-kind=attention]")
    expect(attention).to_contain_text("nothing uses them in B: head 1 of layer 0 off")


WRITTEN = """() => {
  const { prototype } = CanvasRenderingContext2D, { fillText } = prototype;
  prototype.fillText = function (text, ...place) {
    const name = this.canvas.getAttribute("aria-label");
    ((window.written ??= {})[name] ??= []).push(text);
    return fillText.call(this, text, ...place);
  };
}"""


def test_each_of_the_three_maps_has_the_words_of_its_own_run(page: Page) -> None:
    run(page, "The cat sleeps")
    page.evaluate("glass.keep(glass.state.trace)")
    run(page, "The dog sleeps")
    page.evaluate(WRITTEN)
    page.evaluate("glass.open('compare')")
    maps = page.locator("section[data-kind=head-change] canvas[aria-label]")
    maps.nth(2).scroll_into_view_if_needed()
    settled(page)
    page.evaluate("glass.select({ query: 1, key: 1 })")  # the words of the cell are written over the map each time
    settled(page)
    names = maps.evaluate_all("(all) => all.map((one) => one.getAttribute('aria-label'))")
    of_a, of_b = (set(page.evaluate(f"glass.sides().{side}.tokens.pieces")) for side in "AB")
    apart = {word.strip(" ") for word in of_a ^ of_b}
    words = [{word.strip("·") for word in page.evaluate("written")[name]} & apart for name in names]
    first, second = ({word.strip(" ") for word in own} for own in (of_a - of_b, of_b - of_a))
    assert first
    assert words == [first, second, second]


def test_a_run_beside_a_kept_one_is_looked_at_in_the_same_place(page: Page) -> None:
    """What the page itself led to stays, too: the server says where to look first only where nothing is kept."""
    run(page, "The cat sleeps on the sofa.")
    page.evaluate("glass.keep(glass.state.trace)")
    place = page.evaluate("[glass.state.layer, glass.state.head]")
    elsewhere = [0 if place[0] else 1, 0 if place[1] else 1]
    page.evaluate("([layer, head]) => glass.selectByPage({ layer, head })", elsewhere)
    run(page, "The dog sleeps on the sofa.")
    assert page.evaluate("[glass.state.layer, glass.state.head]") == elsewhere
    page.evaluate("glass.open('compare')")
    title = page.locator("section[data-kind=read-by-two] .gp-title")
    expect(title).to_have_text(text("read-by-two.title_texts"))


def test_a_switched_off_neuron_is_off_in_the_saved_table(page: Page) -> None:
    run(page, "The cat sleeps on the sofa.")
    panel = page.locator("section[data-kind=swiglu]")

    def rows() -> list[dict[str, str]]:
        settled(page)
        return list(csv.DictReader(io.StringIO(save(page, panel, "swiglu", "csv").decode("utf-8-sig"))))

    assert "off" not in rows()[0]
    page.evaluate("glass.select({ layer: 1, neuron: 7 })")
    page.evaluate("glass.change({ neurons: [[1, 7]] })")
    page.wait_for_function("glass.state.trace.changes.neurons")
    wait_for_run(page)
    off = {int(row["neuron"]): row["off"] for row in rows()}
    assert len(off) == page.evaluate("glass.state.trace.model.ffn_hidden")
    assert [neuron for neuron, is_off in off.items() if is_off != "0"] == [7]
