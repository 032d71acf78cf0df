"""Heads are measured in parts that appear one after the other; a reader stops, keeps what is there, and goes on."""

from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

import model
from app.engine import LocalEngine
from app.examples import EXAMPLES
from app.session import Runs
from app.texts import text
from model.analysis.head_losses import heads_of_a_pass
from tests.app.looking import array, faults
from tests.one_of import one_of
from tests.page import leave, open_page
from tests.plain import plain_site

HOLD = """() => {
  window.held = true;
  const ask = glass.detail;
  glass.detail = (what, params, ...rest) =>
    what === "heads" && params.start > 0 && window.held ? null : ask(what, params, ...rest);
}"""


@pytest.fixture(scope="module")
def bundled() -> model.LanguageModel:
    return model.load(device="cpu")


@pytest.fixture
def page(browser: Browser, bundled: model.LanguageModel, request: pytest.FixtureRequest) -> Iterator[Page]:
    with plain_site(LocalEngine([bundled]), Runs()) as address:
        page = open_page(browser, f"{address}#lang={request.param}", 1280, 1200)
        yield page
        leave(page)


@pytest.mark.thorough
@pytest.mark.parametrize("page", one_of(["en", "zh"]), indirect=True)
def test_measuring_stops_and_goes_on(page: Page, bundled: model.LanguageModel, request: pytest.FixtureRequest) -> None:
    language = request.node.callspec.params["page"]
    found = model.why(bundled, EXAMPLES[language][0])
    first = heads_of_a_pass(len(found.knock_out))
    assert first < found.heads.size
    page.evaluate(HOLD)
    page.click(".wy-ask")
    button, about = page.locator("[data-part=measuring]"), page.locator(".wy-missed .gp-note").first
    expect(button).to_have_text(text("why.heads_stop", language))
    by = text("why.by_mean", language)
    so_far = text("why.grid_so_far", language, measured=first, total=found.heads.size, by=by)
    expect(about).to_have_text(so_far)
    assert page.locator(".wy-missed progress").evaluate("(bar) => [bar.value, bar.max]") == [first, found.heads.size]
    button.click()
    expect(button).to_have_text(text("why.heads_on", language))
    page.evaluate("window.held = false")
    page.evaluate("glass.repaint()")
    expect(about).to_have_text(so_far)  # nothing more is asked for
    expect(page.locator(".wy-proof")).to_be_empty()
    assert faults(page, context=".wy-missed") == []
    button.click()
    expect(about).to_contain_text(text("why.grid_all", language, all=found.heads.size, by=by))
    expect(about).to_contain_text(text("why.grid_story", language))  # which has a zero in a head's place
    expect(page.locator(".wy-proof b").first).to_be_visible()
    expect(button).to_be_hidden()
    shown = array(page, "[...glass.state.run.details].find(([key]) => key.startsWith('why '))[1].grid.lost")
    np.testing.assert_allclose(shown, found.heads, atol=1e-4)
