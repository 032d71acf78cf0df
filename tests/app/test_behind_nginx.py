"""The page behind nginx under a prefix, by deploy/nginx.conf."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.app.looking import run
from tests.page import leave, new_page, running_app, wait_for_run
from tests.proxy import PREFIX, nginx_before

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def proxied(roomy_checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page's address at the proxy."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADIO_ROOT_PATH", PREFIX)
        with (
            running_app("--model", str(roomy_checkpoint), "--device", "cpu", "--trusted-proxy", "127.0.0.1") as page,
            nginx_before(int(urlsplit(page).port or 0), tmp_path_factory.mktemp("nginx")) as address,
        ):
            yield address


def test_the_page_runs_and_writes_behind_a_prefix(browser: Browser, proxied: str) -> None:
    page = new_page(browser, proxied)
    page.goto(f"{proxied}#lang=en&chapter=glance")
    wait_for_run(page)
    run(page, "The cat sleeps")
    page.click("#generate")
    page.wait_for_function("glass.state.trace.T > glass.state.trace.nPrompt && glass.state.status === 'idle'")
    page.evaluate("glass.open('attend')")
    expect(page.locator("section[data-kind=attention][data-value]")).to_be_visible()
    leave(page)


def test_of_the_proxys_word_on_visitors_its_own_is_believed(proxied: str) -> None:
    """Who says that he is another is not taken for him: his address is the one that nginx saw."""
    said = {"X-Forwarded-For": "203.0.113.7"}
    assert httpx.get(f"{proxied}healthz", headers=said).json() == {"status": "ok"}
    assert (
        httpx.get(f"{proxied}metrics", headers=said).status_code == 200
    )  # this machine's own, not that of 203.0.113.7
    assert httpx.post(f"{proxied}gradio_api/queue/join", content=b" " * 2_000_000).status_code == 413
