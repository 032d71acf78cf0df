"""Another part put into the network in a browser: every panel shows the run with it, as transformers runs it."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from playwright.sync_api import Page, expect

from app.texts import text
from tests.app.looking import faults, number, run, settled, shown

pytestmark = pytest.mark.thorough

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
    expect(compare).not_to_contain_text(text("compare.parts", a="", b="").split("So")[1])
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
    walked(page)
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


@torch.no_grad()
def theirs_with_sinusoids_in_a_window(place: Path, ids: list[int], window: int) -> Any:
    """transformers without RoPE, PE(pos) added by a hook to the embedding, and a mask of four dimensions."""
    peer = transformers.LlamaForCausalLM.from_pretrained(place, attn_implementation="eager").eval()
    width = peer.config.head_dim
    peer.model.rotary_emb.forward = lambda x, position_ids: (
        torch.ones(1, position_ids.shape[1], width),
        torch.zeros(1, position_ids.shape[1], width),
    )
    pairs = torch.arange(peer.config.hidden_size) // 2 * 2 / peer.config.hidden_size
    angles = torch.arange(len(ids))[:, None].double() / 10_000 ** pairs.double()
    table = torch.where(torch.arange(len(pairs)) % 2 == 0, angles.sin(), angles.cos()).float()
    peer.model.embed_tokens.register_forward_hook(lambda _module, _args, embedded: embedded + table)
    seen = torch.ones(len(ids), len(ids), dtype=torch.bool).tril().triu(1 - window)
    mask = torch.where(seen, 0.0, torch.finfo(torch.float32).min)[None, None]
    return peer(torch.tensor([ids]), attention_mask=mask, output_attentions=True)


def walked(page: Page) -> dict[str, str]:
    """What every panel shows; none fails, and none shows a number that is none."""
    found = {}
    for chapter in page.evaluate("Object.keys(glassConfig.chapters)"):
        page.evaluate("(chapter) => glass.open(chapter)", chapter)
        settled(page)
        failed = page.locator(".glass-panel[data-failed]")
        assert failed.count() == 0, (chapter, failed.all_inner_texts())
        for kind, value in page.locator("section[data-value]").evaluate_all(
            "(all) => all.map((one) => [one.dataset.kind, one.dataset.value])"
        ):
            assert not re.search("NaN|undefined|Infinity", value), (chapter, kind, value)
            found[kind] = value
        expect(page.locator(".page-message")).to_be_hidden()
    return found


def test_sinusoidal_positions_and_a_window_run_in_every_panel(page: Page, roomy_checkpoint: Path) -> None:
    window = 4
    run(page, PROMPT)
    ids = page.evaluate("glass.state.trace.tokens.ids")
    page.evaluate("glass.keep(glass.state.trace); glass.open('compare')")
    shown(page, "compare")
    compare = page.locator("section[data-kind=compare]")
    for said in ("exchange_position", "exchange_window"):
        expect(compare).to_contain_text(text(f"compare.{said}", tokens=len(ids)))
    chosen(page, f"window:{window}")
    expect(compare).to_contain_text(text("compare.masks"))
    expect(compare.get_by_role("button", name=text("compare.show_B-A"), exact=True)).to_be_disabled()
    walked(page)
    near = np.tri(len(ids), dtype=int).sum(1).clip(max=window).sum()  # pairs that the window lets through
    for chapter, kind, said in (
        ("attend", "token-groups", f"Σ nᵢ = {near}"),
        ("attend", "sparse-attention", f"Σ nᵢ = {near}"),
        ("position", "position-kinds", f"sliding window of {window}"),
    ):
        page.evaluate("(chapter) => glass.open(chapter)", chapter)
        panel = page.locator(f"section[data-kind={kind}]")
        panel.scroll_into_view_if_needed()
        expect(panel).to_contain_text(said)
    page.evaluate("glass.open('compare')")
    chosen(page, "position:sinusoidal")
    other = theirs_with_sinusoids_in_a_window(roomy_checkpoint, ids, window)
    page.evaluate("glass.select({layer: 2, head: 1, query: 6, key: 0})")  # which the window hides
    found = walked(page)
    weight = float(other.attentions[LAYER][0, HEAD, QUERY, QUERY - window + 1])
    for kind in ("attention", "cell", "arcs"):
        assert f"query {QUERY} key {QUERY - window + 1} " in found[kind], found[kind]
        assert number(found[kind], "weight") == pytest.approx(weight, rel=1e-3, abs=1e-6), kind
    best = int(other.logits[0, -1].argmax())
    assert f"answer {best} " in found["why"]
    assert number(found["why"], "probability") == pytest.approx(float(other.logits[0, -1].softmax(-1)[best]), rel=1e-3)
    expect(page.locator("section[data-kind=cell]")).to_contain_text(
        text("cell.mask_window", query=QUERY, window=window, key=3, far=3, hidden=len(ids) - 1 - QUERY)
    )
    expect(page.locator("section[data-kind=rope] .gp-title")).to_contain_text("added to the embedding")
    expect(page.locator("section[data-kind=position-kinds]")).to_contain_text(text("absent.added_positions_title"))
    expect(page.locator("section[data-kind=mask-kinds] .wy-notice")).to_contain_text(
        text("mask-kinds.notice_sliding", all="|", tokens="|", pairs="|", window="|", sliding="|", query="|", lost="|")
        .split("|")[0]
        .strip()
    )
    assert "position:sinusoidal" in page.evaluate("decodeURIComponent(location.hash)")
    page.evaluate("glass.keep(glass.state.trace)")  # the same parts in both runs: they can be subtracted
    page.evaluate("glass.open('compare')")
    chosen(page, "activation:relu")
    compare.get_by_role("button", name=text("compare.show_B-A"), exact=True).click()
    walked(page)
    page.evaluate("glass.open('compare')")
    settled(page)
    assert faults(page) == []
    page.reload()
    page.wait_for_function("glass?.state?.trace?.changes?.parts?.length === 3")


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
    exchanged = {"is_kv_heads": "1 K/V head", "is_norm": "LayerNorm", "is_position": "ALiBi"}
    other = " · ".join(text(f"part.{name}", part=part) for name, part in exchanged.items())
    said = text("compare.parts", a=text("off.unchanged"), b=other)
    expect(page.locator("section[data-kind=compare]")).to_contain_text(said)
    button = page.locator("section[data-kind=compare]").get_by_role("button", name=text("compare.show_B-A"), exact=True)
    expect(button).to_be_disabled()
    walked(page)
    page.evaluate("glass.open('norm'); scrollTo(0, 0)")
    shown(page, "norm-vector", "layer ")
    expect(page.locator("section[data-kind=norm-vector] .gp-title")).to_contain_text("LayerNorm")
    page.evaluate("glass.open('kv'); scrollTo(0, 0)")
    assert " own=MQA " in shown(page, "kv-kinds", "tokens=")
    expect(page.locator("section[data-kind=kv-kinds]")).to_have_attribute("data-side", "B")
    calculator = page.locator("section[data-kind=kv-calculator]")
    expect(calculator).to_have_attribute("data-value", re.compile("."))
    assert calculator.get_attribute("data-side") is None  # it is of no run
    page.evaluate("glass.open('compare')")
    settled(page)
    assert faults(page) == []
    page.locator('[data-part-choice="norm:layer_norm"]').click()  # and out again
    page.get_by_role("button", name=text("compare.run"), exact=True).click()
    page.wait_for_function("glass.state.status === 'idle' && glass.state.trace.changes.parts?.length === 2")
