"""What the page shows of a T5, in either of its stacks, is what transformers computes of the same files."""

from typing import Any

import pytest
import torch
import transformers
from playwright.sync_api import Page
from torch import Tensor

from app.chapters import CHAPTERS
from tests.app.family_page import CLOSE, PROMPT, families, raw_keys, value_of
from tests.app.looking import calm, number, settled
from tests.families import Pair

pytestmark = pytest.mark.thorough

SHAPE: dict[str, Any] = {
    "vocab_size": 320,
    "d_model": 48,
    "d_kv": 10,
    "d_ff": 80,
    "num_layers": 2,
    "num_decoder_layers": 3,
    "num_heads": 6,
    "relative_attention_num_buckets": 8,
    "relative_attention_max_distance": 20,
    "n_positions": 128,
    "decoder_start_token_id": 0,
    "pad_token_id": 0,
    "eos_token_id": 0,
}
CONFIGS = {
    "t5-1.0": transformers.T5Config(**SHAPE),
    "t5-1.1": transformers.T5Config(**SHAPE, feed_forward_proj="gated-gelu", tie_word_embeddings=False),
}
LAYER, HEAD, WRITTEN = 1, 4, 3
pairs, page = families(CONFIGS)


def asked(page: Page, name: str, what: str) -> None:
    """Publish the answer to `run` or `step` of this model on the prompt."""
    page.evaluate(
        """async ([prompt, model, what]) => {
          const begun = glass.begin('running', [prompt, model, null, ...(what === 'run' ? [] : [1])]);
          const [, , view, , ...settings] = begun;
          const body = JSON.stringify(what === 'run' ? begun : [prompt, model, settings, view]);
          glass.publish(await (await fetch(`ask/${what}`, { method: 'POST', body })).json());
        }""",
        [PROMPT, name, what],
    )
    page.wait_for_function("(name) => glass.state.run.model.name === name && glass.state.status === 'idle'", arg=name)


def check_stack(page: Page, stack: str, attentions: Tensor, bias: Tensor, query: int, keys: tuple[int, int]) -> None:
    """Weights of a head in several panels; the score's difference between two keys; the bias as it is defined."""
    place = {"layer": LAYER, "head": HEAD, "query": query}
    scores = []
    weights = attentions[0, HEAD, query].double()
    for key in keys:
        page.evaluate("([stack, at]) => glass.readStack(stack, at)", [stack, {**place, "key": key}])
        start = f"layer {LAYER} head {HEAD} query {query} key {key} "
        cell = value_of(page, "attend", "cell", start)
        assert number(cell, "weight") == pytest.approx(float(weights[key]), **CLOSE)
        assert number(cell, "bias") == pytest.approx(float(bias[HEAD, query, key]), **CLOSE)
        assert number(cell, "qk") + number(cell, "bias") == pytest.approx(number(cell, "score"), rel=1e-3, abs=2e-4)
        scores.append(number(cell, "score"))
        value = value_of(page, "position", "rope", f"{start}distance {query - key} ")
        assert number(value, "bias") == pytest.approx(float(bias[HEAD, query, key]), **CLOSE)
        for chapter, kind, name in (
            ("glance", "attention", "weight"),
            ("position", "position-kinds", "weight_relative"),
        ):
            assert number(value_of(page, chapter, kind, start), name) == pytest.approx(float(weights[key]), **CLOSE)
    apart = float(weights[keys[0]].log() - weights[keys[1]].log())
    assert scores[0] - scores[1] == pytest.approx(apart, rel=1e-3, abs=2e-4)


def check_norm(page: Page, before: Tensor, eps: float, norm: str, token: int) -> None:
    """What a norm of the layer divides a token's stream by."""
    page.evaluate("(which) => glass.settings.set('norm', { which })", norm)
    page.evaluate("(at) => glass.select(at)", {"layer": LAYER, "query": token})
    value = value_of(page, "glance", "rmsnorm", f"layer {LAYER} {norm} token {token} ")
    rms = float((before[token].double().square().mean() + eps).sqrt())
    assert number(value, "rms") == pytest.approx(rms, **CLOSE), norm


def streams(pair: Pair, source: Tensor, written: Tensor) -> tuple[Any, dict[str, Tensor]]:
    """transformers' run, and what each of the layer's norms read in it."""
    seen: dict[str, Tensor] = {}
    parts = {
        "encoder attn": pair.peer.encoder.block[LAYER].layer[0].layer_norm,
        "encoder ffn": pair.peer.encoder.block[LAYER].layer[1].layer_norm,
        "decoder attn": pair.peer.decoder.block[LAYER].layer[0].layer_norm,
        "decoder cross": pair.peer.decoder.block[LAYER].layer[1].layer_norm,
        "decoder ffn": pair.peer.decoder.block[LAYER].layer[2].layer_norm,
    }
    marks = [
        norm.register_forward_pre_hook(lambda _module, given, name=name: seen.__setitem__(name, given[0][0]))
        for name, norm in parts.items()
    ]
    with torch.no_grad():
        theirs = pair.peer(source, decoder_input_ids=written, output_attentions=True)
    for mark in marks:
        mark.remove()
    return theirs, seen


@pytest.mark.parametrize("name", CONFIGS)
def test_both_stacks_are_shown_as_transformers_computes_them(name: str, page: Page, pairs: dict[str, Pair]) -> None:
    pair = pairs[name]
    page.evaluate("glass.readStack('decoder')")
    asked(page, name, "run")
    for _ in range(WRITTEN):
        asked(page, name, "step")
    ids = [page.evaluate(f"glass.state.run.{part}tokens.ids") for part in ("encoder.", "")]
    source, written = (torch.tensor([one]) for one in ids)
    assert written.shape == (1, WRITTEN + 1)
    theirs, seen = streams(pair, source, written)
    best = theirs.logits[0, -1].softmax(-1)
    assert torch.equal(written[0, 1:], theirs.logits[0, :-1].argmax(-1))
    value = value_of(page, "glance", "why", f"after {WRITTEN} ")
    assert number(value, "probability") == pytest.approx(float(best.max()), **CLOSE)
    eps = pair.lm.config.norm_eps
    stacks = pair.peer.encoder, pair.peer.decoder
    biases = [
        stack.block[0].layer[0].SelfAttention.compute_bias(n, n)[0].detach()
        for stack, n in zip(stacks, (source.shape[1], WRITTEN + 1), strict=True)
    ]
    check_stack(page, "encoder", theirs.encoder_attentions[LAYER], biases[0], 5, (9, 2))
    assert page.locator("section[data-kind=why][data-absent]").count() == 1
    for norm in ("attn", "ffn"):
        check_norm(page, seen[f"encoder {norm}"], eps, norm, 6)
    check_stack(page, "decoder", theirs.decoder_attentions[LAYER], biases[1], 3, (1, 2))
    for norm in ("attn", "cross", "ffn"):
        check_norm(page, seen[f"decoder {norm}"], eps, norm, 2)
    page.evaluate("(at) => glass.select(at)", {"layer": LAYER, "head": HEAD, "query": 2})
    page.evaluate("glass.settings.set('cross', { source: 7 })")
    value = value_of(page, "attend", "cross", f"layer {LAYER} head {HEAD} query 2 source 7 ")
    looks = theirs.cross_attentions[LAYER][0, HEAD, 2].double()
    assert number(value, "weight") == pytest.approx(float(looks[7]), **CLOSE)
    page.evaluate("glass.settings.set('cross', { source: 1 })")
    other = value_of(page, "attend", "cross", f"layer {LAYER} head {HEAD} query 2 source 1 ")
    apart = number(value, "qk") - number(other, "qk")
    assert apart == pytest.approx(float(looks[7].log() - looks[1].log()), rel=1e-3, abs=2e-4)


def test_every_chapter_is_drawn_of_either_stack(page: Page) -> None:
    asked(page, "t5-1.1", "run")
    asked(page, "t5-1.1", "step")
    page.set_viewport_size({"width": 1280, "height": 16000})  # what is out of view is not drawn
    for stack in ("encoder", "decoder"):
        page.evaluate("(stack) => glass.readStack(stack, { layer: 1, query: 1, key: 1 })", stack)
        for chapter in CHAPTERS:
            page.evaluate("(chapter) => glass.open(chapter)", chapter)
            settled(page)
            assert page.evaluate("document.documentElement.scrollHeight <= innerHeight"), chapter
            failed = page.locator("[data-failed]").evaluate_all("all => all.map((one) => one.dataset.kind)")
            assert failed == [], f"{stack} {chapter}"
            assert raw_keys(page) == [], f"{stack} {chapter}"
            assert page.locator(".page-message").text_content() == "", f"{stack} {chapter}"
    page.set_viewport_size({"width": 1280, "height": 720})


def test_what_waits_out_of_view_is_not_drawn_of_the_other_stack(page: Page) -> None:
    """A panel that nobody sees follows the selection later: by then the encoder, which has no cache, is shown."""
    asked(page, "t5-1.1", "run")
    asked(page, "t5-1.1", "step")
    page.set_viewport_size({"width": 1280, "height": 240})
    page.evaluate("glass.readStack('decoder', { query: 1, key: 1 }); glass.open('kv'); scrollTo(0, 0)")
    calm(page)
    page.evaluate(
        "async () => { glass.select({ query: 0 }); while (!glass.drawn()) await new Promise(requestAnimationFrame);"
        " glass.readStack('encoder', { query: 1 }); }"
    )
    calm(page)
    assert page.locator(".page-message").text_content() == ""
    page.set_viewport_size({"width": 1280, "height": 720})
