"""Links that hold two runs, what was changed in them and the side: made by the page, opened in another tab."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from app.engine import LocalEngine
from app.service import Service
from app.texts import LANGUAGES, text
from model.interventions import Intervention, Patch
from tests.app.looking import run
from tests.page import leave, open_page, wait_for_run
from visuals.payload import unpack

A, B = "The dog plays in the yard.", "The cat sleeps on the sofa."


def probabilities(page: Page) -> dict[int, float]:
    """The shown run's candidates: id to logit."""
    return dict(page.evaluate("glass.state.trace.next.ids.map((id, i) => [id, glass.state.trace.next.logits.data[i]])"))


@pytest.mark.thorough
@pytest.mark.gradio
def test_two_runs_come_back_from_the_address(page: Page, browser: Browser, site: str, engine: LocalEngine) -> None:
    page.get_by_role("button", name="Compare", exact=True).click()
    run(page, A)
    page.evaluate("glass.change({ ffn: [0] })")
    page.wait_for_function("glass.state.trace.changes.ffn")
    page.evaluate("glass.keep(glass.state.trace)")
    run(page, B)
    page.evaluate(
        "glass.change({ heads: [[1, 3]], neurons: [[2, 7]], patches: [[2, 1]], source: glass.state.kept.id })"
    )
    page.wait_for_function("glass.sides()?.B.changes.patches")
    wait_for_run(page)
    page.evaluate("glass.select({ layer: 2, head: 1, query: 3, key: 1 }); glass.showSide('A')")
    page.wait_for_function("location.hash.includes('side=A') && location.hash.includes('patch=2.1')")

    other = open_page(browser, page.url)
    other.wait_for_function("glass.sides() && glass.state.side === 'A'")
    ids = [engine.encode("roomy", prompt) for prompt in (A, B)]
    first = engine.trace("roomy", ids[0], Intervention(ffn=(0,)))
    patch = Patch(2, 1, tuple(first.residual[2, 1].tolist()))
    second = engine.trace("roomy", ids[1], Intervention(heads=((1, 3),), neurons=((2, 7),), patches=(patch,)))
    for side, trace in (("A", first), ("B", second)):
        other.evaluate("(side) => glass.showSide(side)", side)
        for token, logit in probabilities(other).items():
            assert logit == pytest.approx(float(trace.logits[token]), abs=1e-4)
    assert other.evaluate("['chapter', 'layer', 'head', 'query', 'key'].map((name) => glass.state[name])") == [
        "compare", 2, 1, 3, 1,
    ]  # fmt: skip
    panel = other.locator("section[data-kind=compare]")
    expect(panel).to_contain_text("FFN of layer 0 off")
    expect(panel.locator(".cmp-chip")).to_have_count(3)  # to go on from
    expect(other.locator(".page-message")).to_be_hidden()
    other.wait_for_function("location.hash.includes('side=B') && location.hash.includes('a-off-ffn=0')")
    leave(other)


def test_a_run_that_was_generated_comes_back_as_a(browser: Browser, panels_alone: str, engine: LocalEngine) -> None:
    link = f"{panels_alone}#prompt={quote(B)}&a-prompt={quote(A)}&a-more=5.9.12&side=B-A"
    page = open_page(browser, link)
    page.wait_for_function("glass.sides()")
    kept = page.evaluate("[glass.state.kept.tokens.ids, glass.state.kept.nPrompt, glass.state.side]")
    prompt = engine.encode("roomy", A)
    assert kept == [[*prompt, 5, 9, 12], len(prompt), "B-A"]
    leave(page)


def test_one_run_kept_as_a_comes_back(page: Page, browser: Browser) -> None:
    run(page, A)
    page.evaluate("glass.keep(glass.state.trace)")
    page.wait_for_function("location.hash.includes('side=A')")
    other = open_page(browser, page.url)
    other.wait_for_function("glass.state.kept")
    assert other.evaluate("[glass.state.kept === glass.state.trace, glass.sides()]") == [True, None]
    leave(other)


IMPOSSIBLE: list[tuple[str, str, dict[str, Any]]] = [
    ("off-ffn=99", "link_change", {"link": "off-ffn", "field": "layer", "value": 99}),
    ("off-heads=0.0_1.99", "link_change", {"link": "off-heads", "field": "head", "value": 99}),
    ("off-heads=one", "link_form", {"field": "off-heads", "value": "one", "expected": "3.7_4.0"}),
    ("patch=0.1", "link_source", {"field": "patch", "expected": "a-prompt"}),
    (f"a-prompt={quote(A)}&a-off-ffn=99", "link_change", {"link": "a-off-ffn", "field": "layer", "value": 99}),
]


@pytest.mark.thorough
def test_impossible_changes_are_named_and_the_plain_run_stays(
    browser: Browser, panels_alone: str, engine: LocalEngine
) -> None:
    config = engine.about("roomy").config
    plain = engine.trace("roomy", engine.encode("roomy", B))
    for i, (field, code, params) in enumerate(IMPOSSIBLE):
        first, then = LANGUAGES if i % 2 else reversed(LANGUAGES)
        page = open_page(browser, f"{panels_alone}#lang={first}&prompt={quote(B)}&{field}")
        limit = config.n_layers if params["field"] == "layer" else config.n_heads
        said = {"expected": f"0 to {limit - 1}"} | params
        for language in (first, then):
            page.click(f"#language >> text={LANGUAGES[language]}")
            expect(page.locator(".page-message")).to_have_text(text(f"message.{code}", language, **said))
        assert page.evaluate("[glass.state.trace.changes, glass.state.kept, glass.state.status]") == [{}, None, "idle"]
        for token, logit in probabilities(page).items():
            assert logit == pytest.approx(float(plain.logits[token]), abs=1e-4)
        leave(page)


def test_a_link_to_a_model_that_is_not_here_names_it_and_runs_the_first(browser: Browser, site: str) -> None:
    page = open_page(browser, f"{site}#prompt={quote(A)}&model=nowhere")
    expect(page.locator(".page-message")).to_have_text(text("message.model_unknown", name="nowhere"))
    assert page.evaluate("[glass.state.trace.prompt, glass.state.trace.model.name]") == [A, "roomy"]
    expect(page.locator("#model select")).to_have_value("roomy")
    run(page, B)  # and the controls work
    assert page.evaluate("glass.state.trace.model.name") == "roomy"
    leave(page)


@pytest.mark.thorough
def test_a_link_to_the_second_model_opens_that_model(browser: Browser, site: str, engine: LocalEngine) -> None:
    name = engine.names[1]
    page = open_page(browser, f"{site}#lang=en&prompt={quote(A)}&model={quote(name)}")
    expect(page.locator("#model select")).to_have_value(name)
    opened = page.evaluate("(({ model, prompt }) => [model.name, model.max_context, prompt])(glass.state.trace)")
    assert opened == [name, 128, A]  # the first one's context is 1024
    expect(page.locator(".page-message")).to_be_hidden()
    run(page, B)
    assert page.evaluate("glass.state.trace.model.name") == name
    assert f"model={quote(name)}" in page.url
    leave(page)


def test_a_link_with_markup_stays_text(browser: Browser, panels_alone: str) -> None:
    bad = "<img src=x onerror='window.hacked = 1'>"
    page = open_page(browser, f"{panels_alone}#lang=en&prompt=x&off-heads={quote(bad)}")
    expect(page.locator(".page-message")).to_contain_text(bad[:40])
    assert page.evaluate("window.hacked") is None
    leave(page)


def test_recall_runs_what_a_link_describes(service: Service, engine: LocalEngine) -> None:
    message = service.recall(
        {"prompt": A, "model": "roomy", "generated": [5, 9], "changes": {"heads": [[1, 2]]}, "layer": 1}
    )
    ids = [*engine.encode("roomy", A), 5, 9]
    trace = engine.trace("roomy", ids, Intervention(heads=((1, 2),)))
    assert (message["kind"], message["tokens"]["ids"], message["n_prompt"]) == ("run", ids, len(ids) - 2)
    np.testing.assert_array_equal(unpack(message["rms"]["final"]), trace.final_norm_rms)


def test_recall_runs_as_much_of_a_link_as_the_model_can_and_says_how_much(
    service: Service, engine: LocalEngine, checkpoint: Path
) -> None:
    cases = ((checkpoint.name, 128, 500), (checkpoint.name, 128, 4096), ("roomy", 1024, 1000), ("roomy", 1024, 10**5))
    for model, context, given in cases:
        ids = engine.encode(model, A)
        kept = min(context - len(ids), 512 + 256)
        message = service.recall({"prompt": A, "model": model, "generated": [5] * given, "layer": 0})
        assert (message["kind"], message["tokens"]["ids"]) == ("run", [*ids, *[5] * kept])
        note = message["note"]
        assert (note["code"], note["params"]) == ("link_cut", {"given": given, "kept": kept})
    room = 128 - len(engine.encode(checkpoint.name, A))
    whole = service.recall({"prompt": A, "model": checkpoint.name, "generated": [5] * room, "layer": 0})
    assert (len(whole["tokens"]["ids"]), whole.get("note")) == (128, None)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"model": "no such"}, "no such"),
        ({"prompt": ""}, "empty"),
        ({"generated": ["a"]}, "id"),
        ({"changes": {"attention": [99]}}, "layer 99 is not there; expected 0 to"),
        ({"changes": {"patches": [[0, 0]]}}, "no longer held"),
    ],
)
def test_recall_names_what_is_wrong(service: Service, wrong: dict[str, Any], said: str) -> None:
    message = service.recall({"prompt": A, "model": "roomy", "generated": [], "changes": {}, "layer": 0, **wrong})
    assert message["kind"] == "message"
    assert said in message["params"]["detail"]
