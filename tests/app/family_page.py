"""A page over tiny networks of several families, under the names that a test gives them."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from app.engine import LocalEngine
from app.session import Runs
from app.texts import table
from tests.app.looking import shown
from tests.families import Pair, pair_of, save
from tests.page import leave, new_page, wait_for_run, watched
from tests.plain import plain_site

CLOSE: dict[str, Any] = {"rel": 1e-4, "abs": 4e-5}  # for what a panel's value says to five or six digits
PROMPT = "The dog plays in the yard. 猫在沙发上"


def pairs_of(configs: Mapping[str, Any]) -> dict[str, Pair]:
    """Both networks of each config, ours under its name."""
    found = {name: pair_of(save(config, sharpness=1.0)) for name, config in configs.items()}
    return {name: pair._replace(lm=replace(pair.lm, name=name)) for name, pair in found.items()}


@contextmanager
def family_page(browser: Browser, pairs: Mapping[str, Pair]) -> Iterator[Page]:
    """A page that offers them, the first one's run shown. Fails for an error on the console."""
    with plain_site(LocalEngine([pair.lm for pair in pairs.values()]), Runs()) as site:
        page = new_page(browser, site)
        with watched(page):
            page.goto(site)
            wait_for_run(page)
            page.mouse.move(1, 1)  # somebody is there: what the pointer may ask for is fetched ahead
            yield page
        leave(page)


def families(configs: Mapping[str, Any]) -> tuple[Any, Any]:
    """A module's own fixtures, for all of its tests: `pairs, page = families(CONFIGS)`."""

    @pytest.fixture(scope="module")
    def pairs() -> dict[str, Pair]:
        return pairs_of(configs)

    @pytest.fixture(scope="module")
    def page(browser: Browser, pairs: dict[str, Pair]) -> Iterator[Page]:
        with family_page(browser, pairs) as page:
            yield page

    return pairs, page


def read(page: Page, name: str, prompt: str) -> list[int]:
    """Have this model read a prompt; the ids of what it read."""
    asked = "glass.begin('running', [prompt, model, null])"
    answer = f"fetch('ask/run', {{ method: 'POST', body: JSON.stringify({asked}) }})"
    page.evaluate(f"async ([prompt, model]) => glass.publish(await (await {answer}).json())", [prompt, name])
    page.wait_for_function(
        "([prompt, name]) => glass.state.trace.model.name === name && glass.state.trace.prompt === prompt"
        " && glass.state.status === 'idle'",
        arg=[prompt, name],
    )
    return page.evaluate("glass.state.trace.tokens.ids")


def value_here(page: Page, kind: str, start: str = "") -> str:
    """A panel's value in the open chapter, once it is complete; none may say that it could not be drawn."""
    page.locator(f"section[data-kind={kind}]").scroll_into_view_if_needed()
    value = shown(page, kind, start)
    assert page.locator("[data-failed]").count() == 0, page.locator("[data-failed]").first.get_attribute("data-kind")
    return value


def raw_keys(page: Page) -> list[str]:
    """Keys of texts that stand on the page in place of what they are to say."""
    sections = "|".join(re.escape(section) for section in table("en"))
    return re.findall(rf"(?<![\w./#-])(?:{sections})\.[a-z]\w*_\w+", page.evaluate("document.body.innerText"))


def value_of(page: Page, chapter: str, kind: str, start: str = "") -> str:
    """As `value_here`, in this chapter."""
    page.evaluate("(chapter) => glass.open(chapter)", chapter)
    return value_here(page, kind, start)
