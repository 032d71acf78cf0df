"""A network whose values overflow, or that is damaged: the page and programs hear where, and no message carries NaN."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from playwright.sync_api import Browser, Page

import model
from app.endpoints import endpoints
from app.engine import LocalEngine, Settings
from app.service import Service
from app.session import Runs
from app.texts import text
from tests.app.family_page import read
from tests.page import leave, new_page, wait_for_run, watched
from tests.plain import plain_site

PROMPT = "The cat sleeps on the sofa."
NAN = float("nan")
GREEDY = Settings()


def spoilt(checkpoint: Path, name: str = "spoilt") -> model.LanguageModel:
    """The stand-in with NaN in the FFN of its layer 1."""
    lm = replace(model.load(checkpoint, device="cpu"), name=name)
    lm.net.get_submodule("layers.1.ffn.down_proj").weight[0, 0] = NAN
    return lm


@pytest.fixture(scope="module")
def engine(checkpoint: Path) -> LocalEngine:
    """Three of the stand-in: a sound one, a damaged one, and one that cannot read the fifth token that it writes."""
    sound, cut = (replace(model.load(checkpoint, device="cpu"), name=name) for name in ("sound", "cut"))
    fifth = list(model.generate(sound, PROMPT, max_new_tokens=5))[-1].token_id
    cut.net.embed.weight[fifth] = NAN
    return LocalEngine([sound, spoilt(checkpoint), cut])


@pytest.fixture
def service(engine: LocalEngine) -> Service:
    return Service(engine)


def is_refusal(message: dict[str, Any], code: str = "not_finite", **params: object) -> None:
    message = json.loads(json.dumps(message, allow_nan=False))
    assert (message["kind"], message["level"], message["code"]) == ("message", "error", code)
    assert {name: message["params"][name] for name in params} == params
    assert "{" not in text(f"message.{code}", "zh", **message["params"])


def test_a_run_that_is_not_finite_is_refused_by_layer_and_part(service: Service) -> None:
    where = {"part": "ffn", "layer": 1, "token": 0, "kind": "NaN", "piece": "The", "dtype": "float32"}
    is_refusal(service.run(PROMPT, "spoilt"), **where)
    is_refusal(service.recall({"prompt": PROMPT, "model": "spoilt"}), **where)
    (said,) = service.generate(PROMPT, "spoilt", 4, GREEDY, {})
    is_refusal(said, **where)
    is_refusal(service.step(PROMPT, "spoilt", GREEDY, {}), **where)
    assert len(service.runs) == 0


def test_with_the_damaged_part_off_it_runs(service: Service) -> None:
    """As a run of another prompt is, this is looked for in what is really computed."""
    healed = service.recall({"prompt": PROMPT, "model": "spoilt", "changes": {"ffn": [1]}})
    assert healed["kind"] == "run"
    is_refusal(service.change({"run": healed["id"], "changes": {"ffn": [0]}}), layer=1)
    assert service.layers({"run": healed["id"], "layers": [2], "token": 1})["kind"] == "layers"


def test_what_was_written_before_is_kept_and_it_is_said_why_it_ends(service: Service) -> None:
    *_, last = service.generate(PROMPT, "cut", 8, GREEDY, {})
    json.dumps(last, allow_nan=False)
    n_prompt = last["n_prompt"]
    assert (last["kind"], len(last["steps"]), last.get("generating")) == ("run", 4, None)
    assert len(last["tokens"]["ids"]) == n_prompt + 4
    is_refusal(last["note"], part="embedding", layer=None, token=n_prompt + 4)
    *_, whole = service.generate(PROMPT, "sound", 8, GREEDY, {})
    assert "note" not in whole
    assert [step["id"] for step in whole["steps"][:4]] == [step["id"] for step in last["steps"]]
    # the last token is chosen, and only the run of all would read it
    *_, five = service.generate(PROMPT, "cut", 5, GREEDY, {})
    assert len(five["steps"]) == 4
    is_refusal(five["note"], token=n_prompt + 4)
    held = service.step(PROMPT, "cut", GREEDY, {"run": last["id"]})
    is_refusal(held, token=n_prompt + 4)


def test_programs_hear_the_same(engine: LocalEngine) -> None:
    spoilt = LocalEngine([engine._models["spoilt"]])
    trace, generate, _ = endpoints(spoilt)
    for ask in (lambda: trace(PROMPT), lambda: generate(PROMPT, 4), lambda: generate(PROMPT, 4, temperature=1.0)):
        with pytest.raises(gr.Error, match=r"\(NaN\) arose in layer 1, the feed-forward \(ffn_out\), at token 0"):
            ask()


def test_no_answer_carries_a_number_that_json_has_no_form_for(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = service.run(PROMPT, "sound")
    for bad in (NAN, float("inf"), [1.0, {"a": (NAN,)}]):
        monkeypatch.setitem(service.detail.__wrapped__.__globals__["DETAILS"], "stream", lambda *_, bad=bad: {"x": bad})
        is_refusal(service.detail({"run": run["id"], "what": "stream"}), "not_finite_answer")


@pytest.fixture
def page(browser: Browser, engine: LocalEngine) -> Iterator[Page]:
    with plain_site(engine, Runs()) as site:
        page = new_page(browser, site)
        with watched(page):
            page.goto(site)
            wait_for_run(page)
            yield page
        leave(page)


def test_the_page_says_where_and_keeps_what_it_shows(page: Page) -> None:
    before = page.evaluate("[glass.state.trace.id, document.querySelector('.glass-panel[data-kind=why]').innerText]")
    ask = "async () => glass.publish(await (await fetch('ask/run', { method: 'POST', body: JSON.stringify("
    page.evaluate(f"{ask}glass.begin('running', ['{PROMPT}', 'spoilt', null])) }})).json())")
    said = page.locator(".page-message")
    wanted = {"kind": "NaN", "part": "ffn", "layer": 1, "token": 0, "piece": "The", "dtype": "float32"}
    assert said.inner_text() == text("message.not_finite", **wanted)
    assert "in layer 1, in the FFN (feed-forward network), at token 0, “The”" in said.inner_text()
    assert said.get_attribute("data-level") == "error"
    assert page.evaluate("glass.state.status") == "idle"
    after = page.evaluate("[glass.state.trace.id, document.querySelector('.glass-panel[data-kind=why]').innerText]")
    assert after == before
    page.evaluate("glass.setLanguage('zh')")
    assert said.inner_text() == text("message.not_finite", "zh", **wanted)
    assert "出现在第 1 层的 FFN（前馈网络）中，位于词元 0“The”" in said.inner_text()
    read(page, "sound", "The dog")
    assert said.is_hidden()
