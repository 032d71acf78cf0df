"""Where q, k and v come from: the weights that are sent, and what the panel shows, against transformers."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from playwright.sync_api import Page, expect

import model
from app.engine import LocalEngine
from app.service import Service
from app.texts import text
from tests.app.looking import calm, number, questions, shown
from tests.families import Pair, pair_of, save
from tests.model.families.test_qwen import CONFIGS
from tests.peer import Peer
from visuals.attend import VECTORS, projection_info, projection_payload
from visuals.payload import unpack

PROMPT = "The dog plays in the yard. 猫在沙发上"
pytestmark = pytest.mark.prompt(PROMPT)
CLOSE: dict[str, Any] = {"rel": 6e-5, "abs": 2e-5}
AT = {"layer": 2, "head": 4, "query": 9, "key": 3}


def answer(service: Service, **asked: Any) -> dict[str, Any]:
    held = service.run(PROMPT, "roomy")
    return json.loads(json.dumps(service.detail({"run": held["id"], "what": "projection", **asked})))


def test_the_weights_that_are_sent_make_what_transformers_has(
    service: Service, engine: LocalEngine, roomy_checkpoint: Path
) -> None:
    peer = Peer(roomy_checkpoint, engine.encode("roomy", PROMPT))
    heads = {"q": peer.config.num_attention_heads} | dict.fromkeys("kv", peer.config.num_key_value_heads)
    for vector, count in heads.items():
        for head in range(count):
            data = answer(service, layer=1, vector=vector, head=head, channel=None)["data"]
            assert (data["bias"], data["gamma"], data["divisor"]) == (None, None, None)
            n = peer.outputs["model.layers.1.input_layernorm"]
            made = n.numpy().astype(np.float64) @ unpack(data["rows"]).T
            truth = torch.stack([peer.head(1, vector, head, t) for t in range(len(n))])
            np.testing.assert_allclose(made, truth, rtol=1e-4, atol=1e-5)
    whole = unpack(answer(service, layer=1, vector="v", head=1, channel=None)["data"]["rows"])
    one = unpack(answer(service, layer=1, vector="v", head=1, channel=5)["data"]["rows"])
    np.testing.assert_array_equal(one, whole[5:6])
    for wrong in ({"vector": "o"}, {"vector": "k", "head": 2}, {"layer": 3}, {"channel": 8}, {"channel": -1}):
        asked = {"layer": 0, "vector": "q", "head": 0, "channel": None} | wrong
        assert answer(service, **asked)["code"] == "bad_request", wrong


@pytest.mark.parametrize("name", CONFIGS)
def test_biases_and_norms_on_q_and_k_are_sent_too(name: str) -> None:
    """transformers' own q, k and v before RoPE: with Qwen 2.5's biases, and after the norms of Qwen 3."""
    config: transformers.PretrainedConfig = CONFIGS[name]
    pair: Pair = pair_of(save(config))
    seen: dict[str, torch.Tensor] = {}
    for part, module in pair.peer.named_modules():
        module.register_forward_hook(lambda _m, _g, result, part=part: seen.update({part: result}))
    trace = model.run_trace(pair.lm, list(range(3, 14)))
    with torch.no_grad():
        pair.peer(torch.tensor([trace.token_ids]))
    width = pair.lm.config.head_dim
    for vector in VECTORS:
        normed = name == "Qwen3" and vector != "v"
        theirs = seen[f"model.layers.1.self_attn.{vector}_{'norm' if normed else 'proj'}"][0].unflatten(-1, (-1, width))
        for head in range(pair.lm.config.n_heads if vector == "q" else pair.lm.config.n_kv_heads):
            layer = trace.layer(1)
            info = projection_info(pair.lm, layer, 1, vector, head, None)
            assert (info.bias is not None) == (name == "Qwen2.5")
            made = layer.attn_normed @ info.rows.T + (0 if info.bias is None else info.bias)
            if normed:
                assert info.divisor is not None
                made = made / info.divisor[:, None] * info.gamma
            truth = theirs.squeeze(2)[:, head] if theirs.dim() == 4 else theirs[:, head]
            np.testing.assert_allclose(made, truth, rtol=1e-4, atol=1e-5)
            message = projection_payload(projection_info(pair.lm, layer, 1, vector, head, 2))
            assert {key: None if part is None else part["shape"] for key, part in message.items()} == {
                "rows": [1, pair.lm.config.d_model],
                "bias": [1] if name == "Qwen2.5" else None,
                "gamma": [1] if normed else None,
                "divisor": [len(trace.token_ids)] if normed else None,
            }


@pytest.fixture
def panel(page: Page) -> Page:
    page.evaluate("(at) => { glass.open('attend'); glass.select(at); }", AT)
    page.locator("section[data-kind=qkv]").scroll_into_view_if_needed()
    return page


def place_of(peer: Peer, at: dict[str, int], vector: str) -> tuple[int, int]:
    """The head that makes the vector, and the token."""
    group = peer.config.num_attention_heads // peer.config.num_key_value_heads
    return (at["head"], at["query"]) if vector == "q" else (at["head"] // group, at["key"])


def check(page: Page, peer: Peer, at: dict[str, int], vector: str, channel: int | None = None) -> None:
    """A channel's value and its sum are transformers', and the sum is whole."""
    of, token = place_of(peer, at, vector)
    truth = peer.head(at["layer"], vector, of, token)
    j = int(truth.abs().argmax()) if channel is None else channel
    place = f"layer {at['layer']} head {at['head']} {vector} of {of} token {token} channel {j} "
    value = shown(page, "qkv", place)
    for name in ("value", "sum", "products"):
        assert number(value, name) == pytest.approx(float(truth[j]), **CLOSE), (name, value)
    assert number(value, "listed") + number(value, "others") == pytest.approx(float(truth[j]), **CLOSE)
    row = peer.net.model.layers[at["layer"]].self_attn.get_submodule(f"{vector}_proj").weight.detach()
    terms = peer.outputs[f"model.layers.{at['layer']}.input_layernorm"][token] * row[of * peer.config.head_dim + j]
    order = terms.abs().argsort(descending=True)[:8]
    assert number(value, "listed") == pytest.approx(float(terms[order].sum()), **CLOSE)
    rows = page.locator("section[data-kind=qkv] .wy-terms tbody tr:not([hidden])")
    expect(rows).to_have_count(10)
    assert [row.split("\t")[0] for row in rows.all_inner_texts()[:8]] == [str(int(i)) for i in order]


def test_every_channel_is_what_transformers_computes(panel: Page, roomy_checkpoint: Path) -> None:
    peer = Peer(roomy_checkpoint, panel.evaluate("glass.state.trace.tokens.ids"))
    buttons = panel.locator("section[data-kind=qkv] .at-choice")
    for i, vector in enumerate(VECTORS):
        buttons.nth(i).click()
        check(panel, peer, AT, vector)
        for channel in (
            range(peer.config.head_dim) if vector == "q" else (0, 5)
        ):  # the first test has the weights of all
            panel.evaluate("(c) => glass.settings.set('qkv', {...glass.settings.get('qkv'), channel: c})", str(channel))
            check(panel, peer, AT, vector, channel)
        panel.get_by_role("button", name=text("qkv.largest"), exact=True).click()
        for at in (AT | {"layer": 0, "head": 0}, AT | {"layer": 1, "head": 5, "query": 4, "key": 4}, AT):
            panel.evaluate("(at) => glass.select(at)", at)
            check(panel, peer, at, vector)
    note = panel.locator("section[data-kind=qkv] .gp-note").first
    expect(note).to_contain_text("K/V head 1, once for all the query heads of its group: 3, 4, 5")


def test_the_pointer_and_the_keys_choose_without_the_server(panel: Page) -> None:
    section = panel.locator("section[data-kind=qkv]")
    panel.set_viewport_size({"width": 1280, "height": 2000})  # the panel at once: its buttons are pressed, too
    start = shown(panel, "qkv", "layer 2 head 4 q of 4 token 9 ")
    panel.wait_for_function("glass.layer().neurons.size === glass.state.trace.T")  # what is fetched ahead is here
    inputs, made = section.locator("canvas").nth(0), section.locator("canvas").nth(1)
    asked = questions(panel, inputs, made)
    box = made.bounding_box()
    assert box
    made.hover(position={"x": box["width"] * 0.5 / 8, "y": box["height"] / 2})
    shown(panel, "qkv", "layer 2 head 4 q of 4 token 9 channel 0 ")
    made.hover(position={"x": box["width"] * 6.5 / 8, "y": box["height"] / 2})
    shown(panel, "qkv", "layer 2 head 4 q of 4 token 9 channel 6 ")
    panel.mouse.move(1, 1)
    assert shown(panel, "qkv", start) == start
    made.focus()
    made.click(position={"x": box["width"] * 6.5 / 8, "y": box["height"] / 2})
    panel.keyboard.press("ArrowLeft")
    panel.mouse.move(1, 1)
    shown(panel, "qkv", "layer 2 head 4 q of 4 token 9 channel 5 ")
    section.get_by_role("button", name=text("qkv.channel_on")).click()
    shown(panel, "qkv", "layer 2 head 4 q of 4 token 9 channel 6 ")
    assert panel.evaluate("glass.settings.get('qkv')") == {"channel": "6"}
    inputs.hover()
    assert " input " in shown(panel, "qkv", "layer 2 head 4 q of 4 token 9 channel 6 ")
    expect(section.locator(".gp-readout")).to_contain_text("W_Q[6, ")
    calm(panel)
    assert asked == []
