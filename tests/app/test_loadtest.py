"""The load test serves checkouts of other days."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Request

from app.loadtest import NEURON_BYTES, PROMPTS, Side, neuron_bytes, of_page, of_story, served
from tests.app.looking import calm, run
from tests.page import leave, open_page

# An app.py that has the options of its day, and stays once it has said where it is.
APP = """
import argparse, time
parser = argparse.ArgumentParser()
for option in {options}:
    parser.add_argument(option)
args = parser.parse_args()
print(f"Glass Llama is at http://127.0.0.1:{{args.port}}/", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("believes", [True, False])
def test_a_checkout_is_served_with_the_options_that_it_has(believes: bool, tmp_path: Path) -> None:
    options = ["--port", "--trusted-proxy"][: 1 + believes]
    (tmp_path / "app.py").write_text(APP.format(options=options))
    with served(Side(tmp_path), 8123) as server:
        assert server.address == "http://127.0.0.1:8123"
        given = Path(f"/proc/{server.pid}/cmdline").read_text().split("\0")
        assert ("--trusted-proxy" in given) == believes


@pytest.mark.parametrize("chapter", ["glance", "story"])
def test_visitors_ask_what_the_page_asks(chapter: str, browser: Browser, bundled: str) -> None:
    """After a run: in the workbench's first chapter, and in the story, down to its end."""
    page = open_page(browser, f"{bundled}#lang=en&chapter={chapter}", story=True)
    page.mouse.move(1, 1)  # somebody is there: what may come ahead does
    calm(page)
    asked: list[tuple[str, dict[str, Any]]] = []

    def note(request: Request) -> None:
        if "/ask/" in request.url:
            asked.append((request.url.rpartition("/")[2], json.loads(request.post_data or "")[0]))

    page.on("request", note)
    run(page, PROMPTS[0])
    calm(page)
    for scene in page.locator("[data-scene]:visible").all() if chapter == "story" else ():
        scene.scroll_into_view_if_needed()
        calm(page)
    message = page.evaluate(
        "(({ tokens, model, next }) => ({ tokens: { ids: [...tokens.ids] }, model, next: { ids: [...next.ids] } }))"
        "(glass.state.trace)"
    )
    details = of_page(message) + (of_story(message) if chapter == "story" else [])
    told = [{key: one for key, one in data.items() if key != "run"} for name, data in asked if name == "detail"]
    leave(page)
    assert sorted(map(of_any_place, told)) == sorted(map(of_any_place, details))
    ahead = [sorted(data["layers"]) for name, data in asked if name == "layers"]
    assert [len(layers) for layers in ahead] == [7]
    assert [data["token"] for name, data in asked if name == "neurons"] == [None] * (
        neuron_bytes(message) <= NEURON_BYTES
    )


def of_any_place(question: dict[str, Any]) -> str:
    """A question without the layer, the head and the answer that it is about: a reader looks anywhere."""
    return repr({key: "…" if key in ("layer", "head", "target") else one for key, one in question.items()})
