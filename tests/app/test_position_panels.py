"""What a reader does with the panels on what RoPE replaced and on its derivation: none of it waits for the server."""

import pytest
from playwright.sync_api import Page, expect

from app.texts import text
from model.positions import alibi_slopes
from tests.app.looking import calm, faults, number, questions, run, settled, shown
from tests.page import wait_for_run

KINDS, DERIVATION = "position-kinds", "rope-derivation"
EXAMPLE = "The cat sleeps on the sofa."  # in Chinese another: each reader knows the words
PLACE = {"layer": 1, "head": 3, "query": 9, "key": 4, "pair": 2}


def test_what_a_reader_changes_is_computed_in_the_page(page: Page) -> None:
    run(page, "The dog plays in the yard. 猫在沙发上")
    page.evaluate("(at) => { glass.open('position'); glass.select(at); }", PLACE)
    kinds, derivation = (page.locator(f"section[data-kind={kind}]") for kind in (KINDS, DERIVATION))
    for panel in (derivation, kinds):
        panel.scroll_into_view_if_needed()
        settled(page)
    for theme in ("light", "dark"):
        page.evaluate("(dark) => document.body.classList.toggle('dark', dark)", theme == "dark")
        settled(page)
        both = ", ".join(f"section[data-kind={kind}]" for kind in (KINDS, DERIVATION))
        assert faults(page, theme, both) == [], theme
    page.evaluate("document.body.classList.remove('dark')")
    calm(page)
    asked = questions(page)
    start = "layer 1 head 3 query 9 key 4 order "
    first = shown(page, KINDS, f"{start}1 ")
    kinds.get_by_role("button", name=text("position-kinds.shuffle_next")).click()
    other = shown(page, KINDS, f"{start}2 ")
    assert number(first, "moved_rope") != number(other, "moved_rope")
    for value in (first, other):
        assert number(value, "change_none") == 0
        assert number(value, "moved_none") == pytest.approx(0, abs=1e-12)
        assert number(value, "score_rope") == number(first, "score_rope")
    kinds.locator("input[type=range]").fill("12")
    settled(page)
    value = shown(page, KINDS, f"{start}2 ")
    by_slope = number(value, "score_none") - float(alibi_slopes(12)[3]) * (9 - 4)
    assert number(value, "score_alibi") == pytest.approx(by_slope, abs=1e-4)
    notice = kinds.locator(".wy-notice")
    expect(notice).to_contain_text(text("position-kinds.kind_rope"))
    derivation.locator("[data-part=plane]").press("ArrowRight")
    value = shown(page, DERIVATION, "layer 1 head 3 query 9 key 4 pair 3 ")
    assert number(value, "by_distance") == pytest.approx(number(value, "term"), abs=1e-6)
    assert number(value, "shifted") == pytest.approx(number(value, "term"), abs=1e-6)
    page.evaluate("glass.settings.set('rope', { distance: 100 })")
    assert abs(number(shown(page, DERIVATION), "far")) <= number(shown(page, DERIVATION), "limit")
    calm(page)
    assert asked == []
    kinds.locator("[data-part=example]").click()
    page.wait_for_function("(prompt) => glass.state.trace.prompt === prompt", arg=EXAMPLE)
    wait_for_run(page)


def test_it_is_said_where_distance_hardly_counts(page: Page) -> None:
    """RoPE's panel says it of a head whose score no distance moves by a quarter of its row's spread, and not of the
    head that distance moves most; the panel on the score, whose chart may reach farther than the text, does not."""
    run(page, "The dog plays in the yard. 猫在沙发上")
    found = page.evaluate("""async () => {
      const { reachOf } = await import('/glass/readings/reach.js');
      const { trace } = glass.state;
      const cells = [];
      for (const [layer, held] of trace.layers)
        for (let head = 0; head < trace.model.n_heads; head++)
          for (let key = 1; key < trace.T - 1; key++) {
            const cell = { layer, head, query: trace.T - 1, key };
            cells.push([cell, reachOf(held, trace, cell)]);
          }
      return cells.sort(([, a], [, b]) => a.most / a.spread - b.most / b.spread);
    }""")
    (flat, least), (steep, most) = found[0], found[-1]
    assert (least["flat"], most["flat"]) == (True, False), (least, most)
    begun = text("rope.flat", most="…", spread="…").split("…")[0]
    page.evaluate("glass.open('position')")
    for cell, said in ((flat, True), (steep, False)):
        page.evaluate("(at) => glass.select(at)", cell)
        for kind, says in (("rope", said), ("rope-score", False)):
            panel = page.locator(f"section[data-kind={kind}]")
            panel.scroll_into_view_if_needed()
            settled(page)
            assert (begun in panel.inner_text()) == says, (kind, cell)


def test_where_distances_lie_close_a_bar_stands_for_several_and_that_is_said(page: Page) -> None:
    page.evaluate("glass.open('position')")
    panel = page.locator("section[data-kind=rope-score]")
    panel.scroll_into_view_if_needed()
    settled(page)
    said = text("rope-score.far_grouped", size="…").split("…")
    expect(panel.locator(".position-far")).not_to_contain_text(said[1])  # the chart opens as long as the run
    panel.get_by_role("button", name=text("rope-score.span_context")).click()
    settled(page)
    expect(panel.locator(".position-far")).to_contain_text(said[1])
    size = panel.locator(".position-far").inner_text().split(said[0])[1].split()[0]
    assert 6 * page.evaluate("glass.state.trace.model.max_context") / 1200 <= int(size) <= 50  # six pixels a bar
    panel.get_by_role("button", name=text("rope-score.span_run")).click()
    settled(page)
    expect(panel.locator(".position-far")).not_to_contain_text(said[1])


def test_the_whole_matrix_is_clear_where_it_is_always_zero(page: Page) -> None:
    """So that it lies on the ground of either theme: off the diagonal nothing is stored."""
    page.evaluate("(at) => { glass.open('position'); glass.select(at); }", PLACE)
    section = page.locator(f"section[data-kind={DERIVATION}]")
    section.scroll_into_view_if_needed()
    settled(page)
    corner, diagonal = section.locator("canvas[data-part=paired]").evaluate(
        """(canvas) => [0.9, 0.02].map((share) =>
            canvas.getContext("2d").getImageData(share * canvas.width, 0.02 * canvas.height, 1, 1).data[3])"""
    )
    assert (corner, diagonal) == (0, 255)


def test_it_is_said_how_long_an_arrow_is_until_all_are_drawn_to_full_length(page: Page) -> None:
    page.evaluate("glass.open('position')")
    dials = page.locator("section[data-kind=rope]")
    note = dials.get_by_text(text("rope.one_scale"))
    expect(note).to_be_visible()
    dials.get_by_label(text("rope.own_scale")).check()
    expect(note).to_be_hidden()
