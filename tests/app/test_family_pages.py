"""The page on tiny networks of the other families: every chapter is drawn, and what it works out is transformers'."""

import re
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from playwright.sync_api import Page, expect

from app.chapters import CHAPTERS
from tests.app.family_page import families, raw_keys, read, value_of
from tests.app.looking import number, settled
from tests.families import SIZES, Pair, run
from tests.page import wait_for_run

pytestmark = pytest.mark.thorough

GQA = SIZES | {"num_key_value_heads": 2, "intermediate_size": 80}
MLA = {"kv_lora_rank": 20, "qk_nope_head_dim": 12, "qk_rope_head_dim": 8, "v_head_dim": 10, "num_key_value_heads": 6}
MOE = {"n_routed_experts": 8, "num_experts_per_tok": 3, "moe_intermediate_size": 24, "first_k_dense_replace": 1}
FALCON = {name: SIZES[name] for name in SIZES if name != "pad_token_id"}
CONFIGS: dict[str, Any] = {
    "Qwen": transformers.Qwen3Config(**GQA, head_dim=8),
    "BLOOM": transformers.BloomConfig(vocab_size=320, hidden_size=48, n_layer=3, n_head=6),
    "Falcon-7B": transformers.FalconConfig(**FALCON),
    "Falcon-40B": transformers.FalconConfig(**FALCON, new_decoder_architecture=True, num_kv_heads=2),
    "GLM": transformers.GlmConfig(**GQA, head_dim=16),
    "Mixtral": transformers.MixtralConfig(**GQA, num_local_experts=4),
    "DeepSeek": transformers.DeepseekV3Config(
        **SIZES, **MLA, **MOE, intermediate_size=80, n_group=4, topk_group=2, q_lora_rank=16
    ),
}
PROMPT = "The cat sleeps on the sofa."
# Every row of a head as the browser works it out from what it was sent.
ROWS = """async ([layer, head]) => {
  const script = document.querySelector('script[src$="glass.js"]');
  const { row } = await import(new URL('compute.js', script.src));
  const { trace } = glass.state;
  const held = trace.layers.get(layer);
  return Array.from({ length: trace.T }, (_, query) => [...row(held, trace.model, head, query).weights]);
}"""
# The formulas of a panel as a line of text each, and its value.
LINES = """(kind) => {
  const section = document.querySelector(`section[data-kind=${kind}]`);
  const copies = [...section.querySelectorAll('.gp-formula p')].map((line) => line.cloneNode(true));
  const written = ({ children: [above, , below] }) => `(${above.textContent}) / (${below.textContent})`;
  for (const copy of copies) for (const one of copy.querySelectorAll('.gp-fraction')) one.replaceWith(written(one));
  return copies.map((line) => line.textContent.replaceAll("\\u00a0", " "));
}"""
pairs, page = families(CONFIGS)


def worked_out(line: str) -> None:
    """What stands before a line's last equals sign is what stands after it."""
    *_, sum_, result = (part.replace("−", "-").strip() for part in line.split("="))
    assert float(result) == pytest.approx(eval(sum_.replace("·", "*")), rel=2e-4, abs=2e-5), line


def check_projection(page: Page, pair: Pair, tokens: int) -> None:
    """The formulas on where q, k and v come from are the network's own, and their numbers give what they say."""
    page.evaluate("(at) => glass.select(at)", {"layer": 1, "head": 4, "query": tokens - 1, "key": 2})
    centred = hasattr(pair.lm.net.norm, "bias")
    for vector in "qkv":
        page.evaluate("(vector) => glass.settings.set('qkv', { vector })", vector)
        value = value_of(page, "attend", "qkv", f"layer 1 head 4 {vector} ")
        normed, numbers, product, *more = page.evaluate(LINES, "qkv")
        assert normed.startswith("n = (x − μ) / (σ) · γ + β" if centred else "n = (x) / (RMS(x)) · γ"), normed
        worked_out(numbers)
        if "bias=" in value:
            worked_out(product)
        last = product
        if more[0].startswith(f"{vector}"):
            worked_out(last := more[0])
        shown = float(last.split("=")[-1].replace("−", "-"))
        assert shown == pytest.approx(number(value, "value"), rel=1e-4, abs=2e-5), last


@pytest.mark.parametrize("name", CONFIGS)
def test_every_chapter_is_drawn_and_attention_is_transformers(page: Page, pairs: dict[str, Pair], name: str) -> None:
    ids = read(page, name, PROMPT)
    for chapter in CHAPTERS:
        page.evaluate("(name) => glass.open(name)", chapter)
        settled(page)
        assert page.locator(".glass-panel[data-failed]:visible").count() == 0, chapter
        assert raw_keys(page) == [], chapter
    if name != "DeepSeek":
        check_projection(page, pairs[name], len(ids))
    theirs = run(pairs[name].peer, torch.tensor([ids]))
    for layer, head in ((0, 1), (2, 5)):
        page.evaluate("([layer, head]) => glass.select({ layer, head })", [layer, head])
        wait_for_run(page)
        weights = page.evaluate(ROWS, [layer, head])
        for query, row in enumerate(weights):
            expected = theirs.attentions[layer][0, head, query, : query + 1].numpy()
            np.testing.assert_allclose(row, expected, atol=1e-5)


# What the story leaves out of a network that has no such part.
LACKS: dict[str, set[str]] = {
    "Qwen": set(),
    "BLOOM": {"norm", "rope", "gate"},
    "Falcon-7B": {"norm", "gate"},
    "Falcon-40B": {"norm", "gate"},
    "GLM": set(),
    "Mixtral": {"gate"},
    "DeepSeek": {"rope", "group", "carried", "gate"},
}


@pytest.mark.parametrize("name", CONFIGS)
def test_the_story_is_told_of_what_a_network_has(page: Page, pairs: dict[str, Pair], name: str) -> None:
    ids = read(page, name, PROMPT)
    page.evaluate("glass.open('story')")
    page.locator(".st-scene:not([hidden])").first.wait_for()
    page.wait_for_function("glass.drawn()")
    seen = {scene.get_attribute("data-scene"): scene for scene in page.locator(".st-scene").all() if scene.is_visible()}
    everything = {scene.get_attribute("data-scene") for scene in page.locator(".st-scene").all()}
    assert everything - set(seen) == LACKS[name] | {"across", "match"}  # of two texts, and of runs that have one
    for scene in seen.values():
        scene.scroll_into_view_if_needed()
        expect(scene).to_have_attribute("data-value", re.compile("."))
        expect(scene.locator(".st-says")).not_to_have_text("")
    assert page.locator("[data-failed]").count() == 0
    assert raw_keys(page) == []
    logits = run(pairs[name].peer, torch.tensor([ids])).logits[0, -1].double()
    best = int(logits.argmax())
    value = seen["answer"].get_attribute("data-value") or ""
    assert value.startswith(f"answer {best} ")
    assert number(value, "probability") == pytest.approx(float(logits.softmax(-1)[best]), rel=1e-3)
