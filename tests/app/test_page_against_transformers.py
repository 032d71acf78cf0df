"""What the browser shows is what transformers computes: an independent forward pass of the same files."""

import random
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Page

from tests.app.looking import exactly, number, pick, shown
from tests.peer import Peer

PROMPT = "The dog plays in the yard. 猫在沙发上"
pytestmark = pytest.mark.prompt(PROMPT)
PICKS = 24  # beside the whole tables of tests/app/test_saved_tables.py
# Five digits are shown, and both sides compute in float32 or better.
CLOSE: dict[str, Any] = {"rel": 6e-5, "abs": 2e-5}


@pytest.fixture
def peer(page: Page, roomy_checkpoint: Path) -> Peer:
    return Peer(roomy_checkpoint, page.evaluate("glass.state.trace.tokens.ids"))


def pair_of(value: str, name: str) -> list[float]:
    """The two numbers of `name=(a, b)` in a panel's value."""
    found = re.search(rf"\b{name}=\(([^,]+), ([^)]+)\)", value)
    assert found, f"no {name} in {value!r}"
    return [float(found[1]), float(found[2])]


def test_picks_all_over_the_run_show_what_transformers_computes(page: Page, peer: Peer) -> None:
    group = peer.config.num_attention_heads // peer.config.num_key_value_heads
    for seed in range(PICKS):
        at = pick(page, random.Random(seed))
        page.wait_for_function("glass.layer()?.neurons.has(glass.state.query)")
        layer, head, query, key, neuron = (at[name] for name in ("layer", "head", "query", "key", "neuron"))
        weight = float(peer.run.attentions[layer][0, head, query, key])
        value = shown(page, "attention", f"layer {layer} head {head} query {query} key {key} ")
        assert number(value, "weight") == pytest.approx(weight, **CLOSE), at
        value = shown(page, "rmsnorm", f"layer {layer} attn token {query} ")
        assert number(value, "rms") == pytest.approx(peer.rms(layer, query), **CLOSE), at
        value = shown(page, "swiglu", f"neuron {neuron} ")
        gate, up = (peer.neuron(layer, name, query, neuron) for name in ("gate", "up"))
        silu = float(torch.nn.functional.silu(torch.tensor(gate)))
        for name, truth in (("gate", gate), ("up", up), ("silu", silu), ("product", silu * up)):
            assert number(value, name) == pytest.approx(truth, **CLOSE), (name, at)
        value = shown(page, "rope", f"pair {at['pair']} ")
        half = peer.config.head_dim // 2
        for name, vector in (
            ("q", peer.head(layer, "q", head, query)),
            ("k", peer.head(layer, "k", head // group, key)),
        ):
            assert pair_of(value, name) == pytest.approx(vector[at["pair"] :: half].tolist(), **CLOSE), (name, at)


def test_the_next_token_shows_what_transformers_computes(page: Page, peer: Peer) -> None:
    logits = peer.run.logits[0, -1]
    best = int(logits.argmax())
    value = shown(page, "next")
    assert number(value, "logit") == pytest.approx(float(logits[best]), **CLOSE)
    assert number(value, "p") == pytest.approx(float(logits.double().softmax(-1)[best]), **CLOSE)
    assert page.evaluate("glass.state.trace.next.ids[0]") == best


@pytest.mark.gradio
def test_what_a_written_token_was_chosen_from_is_what_transformers_computes(page: Page, roomy_checkpoint: Path) -> None:
    """The candidates are those of the moment, and the token that was written is marked among them."""
    page.click("#generate")
    page.wait_for_function("glass.state.status === 'idle' && glass.state.trace.T > glass.state.trace.nPrompt + 4")
    ids, n_prompt = page.evaluate("[glass.state.trace.tokens.ids, glass.state.trace.nPrompt]")
    peer = Peer(roomy_checkpoint, ids)
    for position in (n_prompt, n_prompt + 3, len(ids) - 1):
        page.click(f".gp-chip[data-position='{position}']")
        page.mouse.move(1, 1)
        logits = peer.run.logits[0, position - 1].double()
        value = shown(page, "next")
        assert number(value, "logit") == pytest.approx(float(logits.max()), **CLOSE), position
        assert number(value, "p") == pytest.approx(float(logits.softmax(-1).max()), **CLOSE), position
        written = page.locator("section[data-kind=next] tr.is-chosen:not([hidden])")
        p = float(logits.softmax(-1)[ids[position]])
        assert float(exactly(written.locator("td"))[1]) == pytest.approx(p, abs=6e-5), position
        rows = exactly(page.locator("section[data-kind=next] tbody tr:not([hidden]) td:nth-child(3)"))
        assert sum(map(float, rows)) == pytest.approx(1, abs=2e-3)
