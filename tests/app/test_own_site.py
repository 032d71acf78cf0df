"""What fails a test of the page by itself: an error on the console, and with it a request to another site."""

import pytest
from playwright.sync_api import Browser

from tests.page import leave, new_page, watched


@pytest.mark.parametrize("ask", ["fetch('http://127.0.0.1:9/').catch(() => {})", "new Image().src = 'http://a.test/'"])
def test_a_request_to_another_site_fails(browser: Browser, panels_alone: str, ask: str) -> None:
    page = new_page(browser, panels_alone)
    watch = watched(page)
    troubles = watch.__enter__()
    page.goto(f"{panels_alone}gradio_api/app_id")  # any answer of the site, and this one is short
    with page.expect_console_message(lambda message: message.type == "error"):
        page.evaluate(f"() => {{ {ask} }}")
    assert "Content Security Policy" in troubles[0]
    with pytest.raises(AssertionError):
        watch.__exit__(None, None, None)
    leave(page)
