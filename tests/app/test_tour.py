"""The tour from text to word, walked with the keyboard: each stop's panel is in view above the bar, or beside it, and
both say the same numbers. What all tours share is tried here; the others are in test_tours.py."""

import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import model
from app.engine import LocalEngine
from app.texts import text
from tests.app.looking import faults, run, settled, trace_of
from tests.page import leave, open_page, wait_for_run

# The numbers of a stop's sentences, and how its panel's data-value names them.
SAME = {
    "tokens": {"id": "id"},
    "embedding": {"value": "x"},
    "norm": {"rms": "rms", "value": "x", "over": "divided", "gamma": "gamma", "product": "normed"},
    "project": {"channel": "channel", "value": "value"},
    "rope": {"sum": "sum", "moved": "moved_sum", "score": "score"},
    "head": {"layer": "layer", "head": "head", "weight": "weight"},
    "match": {"score": "score"},
    "softmax": {"dot": "qk", "score": "score", "weight": "weight"},
    "carry": {"carried": "carried_norm", "written": "written"},
    "ffn": {"neuron": "neuron", "gate": "gate", "open": "silu", "up": "up", "product": "product", "size": "writes"},
    "lens": {"after": "p_target"},
    "logits": {"logit": "logit"},
    "choice": {"p_one": "p", "logit_one": "logit"},
    "off": {"p": "probability"},
}
PLACE = """() => {
  const bar = document.querySelector(".tour-bar").getBoundingClientRect();
  const spot = document.querySelector(".is-spot");
  const named = [...document.querySelectorAll(".is-spot-part")].filter((one) => one.getClientRects().length);
  const boxes = (named.length ? named : [spot]).filter(Boolean).map((one) => one.getBoundingClientRect());
  const [top, bottom] = [Math.min(...boxes.map((box) => box.top)), Math.max(...boxes.map((box) => box.bottom))];
  const right = Math.max(...boxes.map((box) => box.right));
  const over = document.elementFromPoint(boxes[0].left + boxes[0].width / 2, Math.max(top, 0) + 2);
  return { kind: spot?.dataset.kind, top, bottom, part: named.length > 0, seen: spot.contains(over),
    bar: bar.top > 0 ? bar.top : innerHeight, free: bar.top > 0 || right <= bar.left,
    wide: document.documentElement.scrollWidth,
    more: document.querySelector(".tour-middle").scrollHeight - document.querySelector(".tour-middle").clientHeight,
    value: spot?.dataset.value,
    stop: document.querySelector(".tour-stop[aria-current]")?.dataset.stop,
    numbers: document.querySelector(".tour-bar").dataset.numbers, focus: document.activeElement.id };
}"""

# The parts that the stop names and its panel does not show.
MISSING = """async (stop) => {
  const style = document.querySelector('link[href$="/tour/style.css"]').href;
  const { tourOf } = await import(style.replace("style.css", "tours.js"));
  const { of, ...given } = tourOf(stop).stops.find(({ name }) => name === stop);
  const { panel, parts = [] } = { ...given, ...of?.(glass.state.trace.model) };
  const spot = document.querySelector(".is-spot");
  const there = [...spot.querySelectorAll(".is-spot-part")].map((one) => one.dataset.part);
  return spot.dataset.kind === panel ? parts.filter((name) => !there.includes(name)) : [panel];
}"""


def set_out(page: Page, tour: str) -> None:
    """Chooses a tour from the list."""
    page.click("#tour")
    page.click(f"dialog[open] button[data-tour={tour}]")


def arrive(page: Page, stop: str) -> dict[str, Any]:
    """Waits until a stop has all its numbers and its panel is drawn for them; says where everything is."""
    page.wait_for_function(
        """(stop) => document.querySelector(".tour-stop[aria-current]")?.dataset.stop === stop
          && !document.querySelector(".tour-bar[data-loading]") && document.querySelector(".tour-said b")
          && document.querySelector(".is-spot")?.dataset.value && !document.querySelector(".is-spot[data-loading]")""",
        arg=stop,
    )
    settled(page)
    page.wait_for_function(f"async (stop) => !(await ({MISSING})(stop)).length", arg=stop)
    return page.evaluate(PLACE)


def elsewhere(page: Page, link: str) -> Page:
    """A link as another reader opens it, with a browser that keeps nothing of this one."""
    browser = page.context.browser
    assert browser
    return open_page(browser, link)


def plain(words: str) -> float:
    """A number as a sentence writes it."""
    mantissa, _, power = words.replace("−", "-").partition("×10")
    return float(mantissa) * 10.0 ** int(power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")) or 0)


def check_numbers(page: Page, at: dict[str, Any], same: Mapping[str, dict[str, str]] = SAME) -> None:
    numbers = json.loads(at["numbers"])
    for ours, theirs in same[at["stop"]].items():
        found = re.search(rf"(?:^|\s){theirs}[ =]([-\d.e+]+)", at["value"])
        assert found, (at["stop"], theirs, at["value"])
        assert float(found[1]) == pytest.approx(numbers[ours], rel=6e-5, abs=1e-6), (at["stop"], ours, at["value"])
    for name, words in page.eval_on_selector_all(
        ".tour-said b[data-number]", "(all) => all.map((one) => [one.dataset.number, one.textContent])"
    ):
        if isinstance(numbers[name], (int, float)):
            assert plain(words) == pytest.approx(numbers[name], rel=6e-3, abs=6e-5), (at["stop"], name)


def check_place(at: dict[str, Any], width: int) -> None:
    assert at["top"] >= 0, at
    assert at["seen"], at  # under nothing that sticks to the top
    assert at["free"], at  # beside a bar at the right
    if at["part"]:  # what is named is whole, unless it is higher than the room
        assert at["bottom"] <= at["bar"] or at["bottom"] - at["top"] > at["bar"] - 16, at
    assert min(at["bottom"], at["bar"]) - at["top"] >= min(100, at["bottom"] - at["top"]), at
    assert at["wide"] <= width, at
    assert at["focus"] == "tour-title", at


def test_the_tour_is_walked_by_keyboard_and_says_what_its_panels_show(page: Page) -> None:
    run(page, "The cat sleeps on the sofa. The dog plays on the")
    set_out(page, "word")
    page.mouse.move(1, 1)  # what is under the pointer is shown in a selection's place
    for i, stop in enumerate(SAME):
        at = arrive(page, stop)
        check_numbers(page, at)
        check_place(at, 1280)
        page.click(".tour-does button[aria-controls]")
        assert page.evaluate(PLACE)["more"] == 0, stop  # all of the text is there, with the answer
        page.focus(".tour-title")
        assert "{" not in page.inner_text(".tour-bar")
        if i + 1 < len(SAME):
            page.keyboard.press("ArrowRight" if i % 2 else "Space")
    page.keyboard.press("ArrowRight")  # there is none after it, and a key too many does not end it
    expect(page.locator(".tour-bar")).to_be_visible()
    page.click(".tour-does button >> nth=0")
    page.wait_for_function("glass.state.status === 'idle' && Object.keys(glass.state.trace.changes).length > 0")
    arrive(page, "off")
    numbers = json.loads(page.get_attribute(".tour-bar", "data-numbers") or "")
    assert numbers["now"] == pytest.approx(numbers["without"], rel=1e-3)  # run as a whole, and measured for the ranking
    page.click(".tour-does button >> nth=0")
    page.wait_for_function("glass.state.status === 'idle' && Object.keys(glass.state.trace.changes).length === 0")
    page.keyboard.press("ArrowLeft")
    arrive(page, "choice")
    run(page, "The dog plays in the yard")  # the tour goes on with the new run's numbers
    check_numbers(page, arrive(page, "choice"))
    page.locator(".tour-title").press("Escape")
    expect(page.locator(".tour-bar")).to_be_hidden()
    page.click("#tour")
    far = f"{text('tour.count', count=14)} · {text('tour.far', ticked=13)} · {text('tour.resume', number=13)}"
    expect(page.locator("dialog button[data-tour=word] .tour-note")).to_have_text(far)


def test_the_tour_fits_a_telephone_resumes_and_has_a_link_to_each_stop(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    set_out(page, "word")
    for stop in SAME:
        at = arrive(page, stop)
        check_place(at, 360)
        assert at["bar"] >= 740 * 2 / 3  # of which the bar leaves two thirds
        if stop == "norm":
            reveal = page.locator(".tour-does button[aria-controls]")
            reveal.click()
            expect(page.locator(".tour-answer")).to_be_visible()
            assert faults(page) == []
            page.locator(".tour-title").press("Escape")
            expect(page.locator(".tour-bar")).to_be_hidden()
            set_out(page, "word")
            arrive(page, "norm")
        if stop != "off":
            page.keyboard.press("ArrowRight")
    page.wait_for_function("location.hash.includes('tour.stop=off')")
    link = page.evaluate("location.href").replace("tour.stop=off", "tour.stop=softmax")
    page.goto(link)  # in the open page, which goes there by itself
    arrive(page, "softmax")
    page.reload()
    wait_for_run(page)
    check_numbers(page, arrive(page, "softmax"))
    expect(page.locator(".tour-stop.is-done")).to_have_count(13)  # this browser's own
    another = elsewhere(page, link)
    arrive(another, "softmax")
    expect(another.locator(".tour-stop.is-done")).to_have_count(0)
    leave(another)


def test_the_heads_and_the_token_that_the_tour_names_are_those_of_the_measurement(
    page: Page, engine: LocalEngine
) -> None:
    run(page, "The cat sleeps on the sofa. The dog plays on the")
    trace = trace_of(page, engine)
    found = model.why(trace.lm, trace.token_ids, ablation="zero")
    last = len(trace.token_ids) - 1
    set_out(page, "word")
    page.mouse.move(1, 1)
    numbers = json.loads(arrive(page, "tokens")["numbers"])
    assert numbers["key_at"] == (found.tokens[0] if found.tokens else last)
    page.click(".tour-stop[data-stop=head]")
    numbers = json.loads(arrive(page, "head")["numbers"])
    layer, head = numbers["layer"], numbers["head"]
    assert numbers["without"] == pytest.approx(found.p * np.exp(-found.heads[layer, head]), rel=1e-3)
    assert numbers["looking"] == ", ".join(text("tour.head_name", layer=at, head=number) for at, number in found.group)
    most_layer, most_head = np.unravel_index(found.heads.argmax(), found.heads.shape)
    assert f"head {most_head} of layer {most_layer} is missed most" in page.inner_text(".tour-said")
    page.click(".tour-stop[data-stop=off]")
    numbers = json.loads(arrive(page, "off")["numbers"])
    assert numbers["without"] == pytest.approx(found.without, rel=1e-3)
    assert numbers["chance"] == pytest.approx(np.median(found.by_chance), rel=1e-3)
    page.click(".tour-does button[aria-controls]")
    assert "random heads of the same layers" in page.inner_text(".tour-answer")
    page.locator(".tour-title").press("Escape")


def test_a_model_without_a_log_has_no_tour_of_how_it_learned(page: Page) -> None:
    page.click("#tour")
    settled(page)
    expect(page.locator("dialog[open] button[data-tour]:visible")).to_have_count(2)
    another = elsewhere(page, page.evaluate("location.href") + "&tour.stop=loss")
    expect(another.locator(".page-message")).to_have_text(text("message.tour_absent"))
    expect(another.locator(".tour-bar")).to_be_hidden()
    leave(another)
