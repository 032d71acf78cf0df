"""Another part put into the network in a browser: every panel shows the run with it, as transformers runs it."""

import re
from pathlib import Path

import pytest
import torch
import transformers
from playwright.sync_api import Page, expect

from app.texts import text
from tests.app.looking import faults, number, run, settled, shown

PROMPT = "The cat sleeps on the sofa. The dog plays on the"
LAYER, HEAD, QUERY, KEY = 2, 1, 6, 3


@torch.no_grad()
def theirs(place: Path, ids: list[int], **config: object) -> transformers.modeling_outputs.CausalLMOutputWithPast:
    peer = transformers.LlamaForCausalLM.from_pretrained(place, attn_implementation="eager", **config).eval()
    return peer(torch.tensor([ids]), output_attentions=True)


def chosen(page: Page, part: str) -> None:
    """The run with one more part exchanged."""
    page.locator(f'[data-part-choice="{part}"]').click()
    page.get_by_role("button", name=text("compare.run"), exact=True).click()
    page.wait_for_function(
        "(part) => glass.state.status === 'idle' && glass.state.trace.changes.parts?.includes(part)", arg=part
    )


def test_another_activation_runs_in_every_panel(page: Page, roomy_checkpoint: Path) -> None:
    run(page, PROMPT)
    ids = page.evaluate("glass.state.trace.tokens.ids")
    page.evaluate("glass.keep(glass.state.trace); glass.open('compare')")
    shown(page, "compare")
    chosen(page, "activation:relu")
    plain, other = theirs(roomy_checkpoint, ids), theirs(roomy_checkpoint, ids, hidden_act="relu")
    page.wait_for_function("new URLSearchParams(location.hash.slice(1)).get('parts') === 'activation:relu'")
    compare = page.locator("section[data-kind=compare]")
    expect(compare).not_to_contain_text(text("compare.parts"))
    losses = [
        float(torch.nn.functional.cross_entropy(one.logits[0, :-1], torch.tensor(ids[1:]))) for one in (plain, other)
    ]
    said = compare.locator(".cmp-loss")
    expect(said).to_contain_text("in B")
    found = [float(value) for value in re.findall(r"[\d.]+(?= nats in A| in B)", said.inner_text())]
    assert found == pytest.approx(losses, rel=5e-3)
    page.evaluate("(at) => glass.select(at)", {"layer": LAYER, "head": HEAD, "query": QUERY, "key": KEY})
    page.evaluate("glass.open('attend')")
    value = shown(page, "attention", f"layer {LAYER} head {HEAD} query {QUERY} key {KEY} ")
    assert number(value, "weight") == pytest.approx(float(other.attentions[LAYER][0, HEAD, QUERY, KEY]), rel=1e-3)
    expect(page.locator("section[data-kind=attention] .gp-changed")).to_contain_text(text("part.activation_relu"))
    page.evaluate("glass.open('compare')")
    compare.get_by_role("button", name=text("compare.show_B-A"), exact=True).click()  # the tensors are the same ones
    for chapter in page.evaluate("Object.keys(glassConfig.chapters)"):
        page.evaluate("(chapter) => glass.open(chapter)", chapter)
        settled(page)
        failed = page.locator(".glass-panel[data-failed]")
        assert failed.count() == 0, (chapter, failed.all_inner_texts())
        values = page.locator("section[data-value]").evaluate_all("(all) => all.map((one) => one.dataset.value)")
        assert not [value for value in values if "NaN" in value or "undefined" in value], chapter
    page.evaluate("glass.open('attend')")
    value = shown(page, "attention", f"B-A layer {LAYER} head {HEAD} query {QUERY} key {KEY} ")
    weights = [float(one.attentions[LAYER][0, HEAD, QUERY, KEY]) for one in (plain, other)]
    assert number(value, "weight") == pytest.approx(weights[1] - weights[0], rel=1e-2, abs=1e-5)
    page.evaluate("glass.open('compare')")
    compare.get_by_role("button", name=text("compare.show_B"), exact=True).click()
    page.evaluate("glass.open('glance')")
    settled(page)
    best = int(other.logits[0, -1].argmax())
    value = shown(page, "why", "after ")
    assert f"answer {best} " in value
    assert number(value, "probability") == pytest.approx(float(other.logits[0, -1].softmax(-1)[best]), rel=1e-3)
    page.reload()  # the link brings it back
    page.wait_for_function("glass?.state?.trace?.changes?.parts?.length === 1")


def test_norm_position_and_heads_run_together_and_every_panel_shows_them(page: Page) -> None:
    run(page, PROMPT)
    page.evaluate("glass.keep(glass.state.trace); glass.open('compare')")
    shown(page, "compare")
    for part in ("norm:layer_norm", "position:none", "kv_heads:1"):
        chosen(page, part)
    page.evaluate("glass.open('position')")
    settled(page)
    rope = page.locator("section[data-kind=rope]")
    expect(rope).to_contain_text(text("rope.read_bias_none", head=page.evaluate("glass.state.head")))
    page.evaluate("glass.open('compare')")
    chosen(page, "position:alibi")
    assert page.evaluate("glass.state.trace.model.n_kv_heads") == 1
    expect(page.locator("section[data-kind=compare]")).to_contain_text(text("compare.parts"))
    button = page.locator("section[data-kind=compare]").get_by_role("button", name=text("compare.show_B-A"), exact=True)
    expect(button).to_be_disabled()
    for chapter in page.evaluate("Object.keys(glassConfig.chapters)"):
        page.evaluate("(chapter) => glass.open(chapter)", chapter)
        settled(page)
        failed = page.locator(".glass-panel[data-failed]")
        assert failed.count() == 0, (chapter, failed.all_inner_texts())
        values = page.locator("section[data-value]").evaluate_all("(all) => all.map((one) => one.dataset.value)")
        assert not [value for value in values if "NaN" in value or "undefined" in value], chapter
        expect(page.locator(".page-message")).to_be_hidden()
    page.evaluate("glass.open('norm'); scrollTo(0, 0)")
    shown(page, "norm-vector", "layer ")
    expect(page.locator("section[data-kind=norm-vector] .gp-title")).to_contain_text("LayerNorm")
    page.evaluate("glass.open('kv'); scrollTo(0, 0)")
    assert " own=MQA " in shown(page, "kv-kinds", "tokens=")
    page.evaluate("glass.open('compare')")
    settled(page)
    assert faults(page) == []
    page.locator('[data-part-choice="norm:layer_norm"]').click()  # and out again
    page.get_by_role("button", name=text("compare.run"), exact=True).click()
    page.wait_for_function("glass.state.status === 'idle' && glass.state.trace.changes.parts?.length === 2")
