"""Every equation that is drawn is worked out again from the digits that are printed."""

import pytest
from playwright.sync_api import Browser

from app.chapters import CHAPTERS
from tests.app.equations import READ, equations
from tests.app.looking import settled, walk
from tests.one_of import one_of
from tests.page import leave, open_page

FORMULAS = ("norm", "position", "attend", "ffn")


@pytest.mark.parametrize("chapter", one_of([*FORMULAS, *(name for name in CHAPTERS if name not in FORMULAS)]))
def test_printed_operands_give_the_printed_result(browser: Browser, panels_alone: str, chapter: str) -> None:
    page = open_page(browser, panels_alone)
    for layer, head, key in ((0, 0, 0), (1, 1, 1)):
        page.evaluate("(place) => glass.select(place)", {"layer": layer, "head": head, "key": key})
        walk(page, [chapter])
        settled(page)
        wrong = [(one.place, one.text, one.left) for one in equations(page.evaluate(READ)) if not one.holds]
        assert not wrong
    leave(page)
