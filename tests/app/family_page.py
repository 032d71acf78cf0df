"""A page over tiny networks of several families, under the names that a test gives them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from playwright.sync_api import Browser, Page

from app.engine import LocalEngine
from app.session import Runs
from tests.families import Pair, pair_of, save
from tests.page import leave, new_page, wait_for_run, watched
from tests.plain import plain_site


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
            yield page
        leave(page)


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
