"""What is written is shown at the reader's pace, in the browser; and what made a word of it, against transformers."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Page, Request, expect

import model
from app.engine import LocalEngine, Settings
from app.service import Service
from app.session import Runs
from app.texts import text
from tests.app.looking import as_chance, calm, idle, settled, shown
from tests.peer import Peer

PROMPT = "The cat sleeps on the sofa."


def ids_of(message: dict[str, Any]) -> list[int]:
    return message["tokens"]["ids"]


def test_the_run_of_the_first_tokens_that_were_written(engine: LocalEngine) -> None:
    service = Service(engine, Runs())
    *_, last = service.generate(PROMPT, "roomy", 8, Settings(), {})
    first = service.cut({"run": last["id"], "count": 3, "layer": 2})
    assert (first["kind"], first["n_prompt"], first["layer"]["layer"]) == ("run", last["n_prompt"], 2)
    assert ids_of(first) == ids_of(last)[: last["n_prompt"] + 3]
    assert first["steps"] == last["steps"][:3]
    assert first["next"]["ids"][0] == ids_of(last)[last["n_prompt"] + 3]  # greedy
    second = service.cut({"run": last["id"], "count": 4, "layer": 2, "instead": [first["id"]]})
    assert ids_of(second) == ids_of(last)[: last["n_prompt"] + 4]
    held = [service.layers({"run": one["id"], "layers": [0], "token": 0}) for one in (first, second, last)]
    assert [answer.get("code", answer["kind"]) for answer in held] == ["run_expired", "layers", "layers"]
    for wrong in (
        {"count": 9},
        {"count": -1},
        {"count": None},
        {"count": 2, "instead": "x"},
        {"count": 2, "instead": [1]},
    ):
        assert service.cut({"run": last["id"], "layer": 0} | wrong)["code"] == "bad_request", wrong


@pytest.fixture
def greedy(page: Page, roomy_checkpoint: Path) -> list[int]:
    """The tokens that are written after the page's prompt."""
    lm = model.load(roomy_checkpoint, device="cpu")
    return [step.token_id for step in model.generate(lm, page.evaluate("glass.state.trace.prompt"), 32)]


def written(page: Page) -> list[int]:
    return page.evaluate("glass.state.trace.tokens.ids.slice(glass.state.trace.nPrompt)")


# Whether the story's sentence and its gap show the text so far, each token once, while it is written.
TOLD_ONCE = """() => {
  const { prompt, steps, T, nPrompt, generating } = glass.state.trace;
  const shown = document.querySelector("[data-scene=answer] .wy-text")?.textContent ?? "";
  const bare = (text) => text.replace(/\\s/g, "");
  return generating && T > nPrompt && bare(shown) === bare(prompt + steps.map(({ piece }) => piece).join(""));
}"""


@pytest.mark.gradio
def test_a_hand_stops_it_in_time(page: Page, greedy: list[int]) -> None:
    page.evaluate("glass.settings.set('pace', {})")
    page.evaluate("glass.open('story')")
    page.click("#generate")
    page.wait_for_function(TOLD_ONCE)
    page.wait_for_function("glass.state.trace.generating && glass.state.trace.steps.length >= 2")
    page.click("#stop")
    idle(page)
    kept = written(page)
    assert 2 <= len(kept) < len(greedy)
    assert kept == greedy[: len(kept)]
    assert page.evaluate("glass.state.trace.steps.length") == len(kept)
    settled(page)
    assert written(page) == kept
    expect(page.locator("#generate")).to_be_visible()


@pytest.mark.gradio
def test_while_it_is_written_what_is_looked_at_is_asked_for_once(page: Page, greedy: list[int]) -> None:
    """Once a second the run of the text so far, and of that what the open chapter shows. No question comes twice, and
    ahead there is none but about the whole text."""
    page.evaluate("glass.open('overview')")
    page.evaluate("glass.settings.set('pace', { speed: '1' })")
    calm(page)
    page.evaluate("window.shown = []; glass.on('run', ({ id }) => shown.includes(id) || shown.push(id)); 0")
    asked: list[tuple[str, dict[str, Any]]] = []

    def note(request: Request) -> None:
        if "component_server" in request.url:
            body = json.loads(request.post_data or "")
            asked.append((body["fn_name"], body["data"]))

    page.on("request", note)
    page.click("#generate")
    page.wait_for_function("(count) => glass.state.trace.steps.length === count", arg=len(greedy))
    idle(page)
    calm(page)
    assert written(page) == greedy
    assert len({repr(one) for one in asked}) == len(asked)
    counts = [data["count"] for name, data in asked if name == "cut"]
    assert len(counts) >= 2
    assert counts == sorted(set(counts))
    shown = page.evaluate("shown")
    assert len(shown) <= len(counts) + 2  # the prompt's, and the whole
    for what in ("stream", "stage", "ends"):
        runs = [data["run"] for name, data in asked if name == "detail" and data["what"] == what]
        assert len(set(runs)) == len(runs), what
        assert set(runs) <= set(shown), what
        assert runs[-1] == shown[-1], what
    ahead = [(name, data["run"], data["ahead"]) for name, data in asked if name in ("layers", "neurons")]
    assert ahead == [("layers", shown[-1], True), ("neurons", shown[-1], True)]


@pytest.mark.gradio
def test_pause_look_step_and_go_on(page: Page, greedy: list[int], roomy_checkpoint: Path) -> None:
    place = page.locator(".page-written")
    page.evaluate("glass.settings.set('pace', { speed: '2' })")
    page.click("#generate")
    page.wait_for_function("glass.state.trace.generating && glass.state.trace.steps.length >= 4")
    page.keyboard.press(" ")
    idle(page)
    expect(place.locator(".page-hold")).to_have_text(text("pace.go_on"))
    count = len(written(page))
    assert 4 <= count < len(greedy)
    n_prompt = page.evaluate("glass.state.trace.nPrompt")
    place.locator("ins [data-position]").nth(1).click()
    position = int(place.locator("ins [data-position]").nth(1).get_attribute("data-position") or "")
    assert page.evaluate("glass.state.query") == position - 1
    expect(place.locator("ins .is-chosen")).to_have_count(1)
    check_made(page, roomy_checkpoint, position)
    check_chosen(page, position)
    place.locator(".page-next").click()
    page.wait_for_function(
        "(T) => glass.state.status === 'idle' && glass.state.trace.T === T", arg=n_prompt + count + 1
    )
    page.mouse.click(1, 1)
    page.keyboard.press(".")
    page.wait_for_function(
        "(T) => glass.state.status === 'idle' && glass.state.trace.T === T", arg=n_prompt + count + 2
    )
    place.locator("[data-speed=all]").click()
    place.locator(".page-hold").click()
    page.wait_for_function(
        "(T) => glass.state.status === 'idle' && glass.state.trace.T === T", arg=n_prompt + len(greedy)
    )
    assert written(page) == greedy
    expect(place.locator(".page-hold")).to_be_disabled()


@pytest.mark.gradio
@pytest.mark.parametrize("where", [".page-written ins", "[data-scene=answer] .wy-text"])
def test_a_word_that_is_tapped_while_more_is_written_is_told_of(page: Page, where: str) -> None:
    """On a phone: what is written is held, and under it stands what the word with the frame was chosen from."""
    page.set_viewport_size({"width": 390, "height": 844})
    page.evaluate("glass.open('story')")
    page.evaluate("glass.settings.set('pace', { speed: '2' })")
    page.click("#generate")
    # words that all panels follow already, and not the text alone
    page.wait_for_function("glass.state.trace.generating && glass.state.trace.T >= glass.state.trace.nPrompt + 2")
    position = page.evaluate("glass.state.trace.nPrompt + 1")
    page.locator(f"{where} [data-position='{position}']").first.click()
    framed = page.locator(".page-written .is-chosen")
    expect(framed).to_have_attribute("data-position", str(position))
    told = page.locator(".page-chosen")
    expect(told).to_be_visible()
    idle(page)
    assert page.evaluate("glass.pace.now()") == "held"
    expect(framed).to_have_attribute("data-position", str(position))
    expect(told.locator("b")).to_have_text(page.evaluate("(t) => glass.state.trace.tokens.pieces[t].trim()", position))


def check_chosen(page: Page, position: int) -> None:
    """In a chapter that has no panel on why, the word's candidates stand under the text, with the way to why."""
    line = page.locator(".page-chosen")
    expect(line).to_be_hidden()
    page.evaluate("glass.open('norm')")
    expect(line).to_be_visible()
    piece = page.evaluate("(position) => glass.state.trace.tokens.pieces[position]", position)
    p = page.evaluate(
        "(i) => glass.state.trace.steps[i].probability", position - page.evaluate("glass.state.trace.nPrompt")
    )
    expect(line).to_contain_text(f" {as_chance(p)} · {text('why.others')}")
    line.get_by_role("button").click()
    page.locator(".wy-said b").first.wait_for()
    assert page.evaluate("[glass.state.chapter, glass.settings.get('why').open]") == ["glance", "1"], piece
    page.click(".wy-ask")


def check_made(page: Page, checkpoint: Path, position: int) -> None:
    """The line under a written word: the heads and FFNs that add most to its logit, by transformers' own modules."""
    value = shown(page, "why", f"after {position - 1} ")
    ids = page.evaluate("glass.state.trace.tokens.ids")
    assert f"answer {ids[position]} " in value
    peer = Peer(checkpoint, ids)
    at, net = position - 1, peer.net
    layers, width = net.config.num_hidden_layers, net.config.head_dim
    stream = peer.run.hidden_states[layers - 1][0, at] + peer.outputs[f"model.layers.{layers - 1}.self_attn.o_proj"][at]
    stream = (stream + peer.outputs[f"model.layers.{layers - 1}.mlp"][at]).double()
    rms = (stream.square().mean() + net.config.rms_norm_eps).sqrt()
    read = net.lm_head.weight[ids[position]].detach().double() * net.model.norm.weight.detach().double() / rms
    parts: dict[str, float] = {}
    for layer in range(layers):
        name = f"model.layers.{layer}.self_attn.o_proj"
        mixed = peer.inputs[name].view(len(ids), -1, width)[at].double()
        columns = net.get_submodule(name).weight.detach().double().view(-1, *mixed.shape)
        for head, added in enumerate(torch.einsum("dhw,hw,d->h", columns, mixed, read).tolist()):
            parts[f"head {head} of layer {layer}"] = added
        parts[f"FFN of layer {layer}"] = float(peer.outputs[f"model.layers.{layer}.mlp"][at].double() @ read)
    order = sorted(parts, key=lambda part: -parts[part])[:3]
    ways = page.locator("section[data-kind=why] .wy-made .wy-lead")
    expect(ways).to_have_count(3)
    for said, part in zip(ways.all_inner_texts(), order, strict=True):
        assert said.startswith(part), (said, order)
        number = float(said.rpartition("(")[2].rstrip(")").replace("\u2212", "-"))
        assert number == pytest.approx(parts[part], rel=6e-3)
