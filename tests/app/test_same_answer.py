"""What the server answers twice in the same words reaches the page twice: "Running…" ends each time."""

import pytest
from playwright.sync_api import Page, expect

from app.engine import LocalEngine
from app.prompts import MAX_CHARACTERS
from app.texts import text
from app.waiting import LIMITS, Limit
from tests.app.looking import calm, type_in

REFUSED = {
    "empty": ("", text("message.prompt_empty")),
    "blank": ("   ", text("message.prompt_blank")),
    "control": ("The\u0007cat", text("message.prompt_control", position=4, character="U+0007")),
    "too long": ("cat " * 600, "The prompt has "),
    "too many characters": (
        "x" * (MAX_CHARACTERS + 1),
        text("message.prompt_too_many_characters", characters=MAX_CHARACTERS + 1, limit=MAX_CHARACTERS),
    ),
}


def press_twice(page: Page, button: str) -> str:
    """Presses a button twice; each time the same message is shown and nothing is under way any more. The message."""
    message = page.locator(".page-message")
    device = page.locator(".page-device")
    said = []
    for _ in range(2):
        page.click(button)
        page.wait_for_function("glass.state.status === 'idle' && !document.querySelector('.page-message').hidden")
        expect(device).not_to_have_text(text("page.running"))
        said.append(message.inner_text())
    assert said[0] == said[1]
    return said[0]


@pytest.mark.thorough
@pytest.mark.gradio
@pytest.mark.parametrize("kind", REFUSED)
def test_a_prompt_that_is_refused_twice_ends_twice(page: Page, kind: str) -> None:
    prompt, words = REFUSED[kind]
    shown = page.evaluate("glass.state.trace.id")
    type_in(page, prompt)
    for button in ("#run", "#generate", "#step"):
        assert press_twice(page, button).startswith(words)
    page.dblclick("#run")
    calm(page)
    expect(page.locator(".page-message")).to_be_visible()
    assert page.evaluate("glass.state.status") == "idle"
    assert page.evaluate("glass.state.trace.id") == shown


@pytest.mark.gradio
def test_an_error_that_comes_again_ends_again(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_args: object, **_kwargs: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(LocalEngine, "trace", fails)
    assert press_twice(page, "#run") == text("message.internal", detail="RuntimeError")


@pytest.mark.gradio
def test_busy_twice_is_said_twice(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("run", "generate"):
        monkeypatch.setitem(LIMITS, kind, Limit(1, 1, 0, 0))
    for button in ("#run", "#generate", "#step"):
        assert press_twice(page, button) == text("message.busy")
