"""How the tests of the KV-cache chapter find their way about it."""

from typing import Any

from playwright.sync_api import Page

from tests.app.looking import number, shown


def opened(page: Page) -> Page:
    """The page with the chapter open and its live cache shown."""
    page.evaluate("glass.open('kv')")
    shown(page, "kv-live", "layer")
    return page


def panel(page: Page, kind: str) -> Any:
    found = page.locator(f"section[data-kind={kind}]")
    found.scroll_into_view_if_needed()
    return found


def field(page: Page, kind: str, name: str) -> Any:
    return panel(page, kind).locator(f"[data-field={name}] :is(input[type=text], select, textarea)").first


def calculated(page: Page, start: str) -> int:
    panel(page, "kv-calculator")
    return int(number(shown(page, "kv-calculator", start), "bytes"))
