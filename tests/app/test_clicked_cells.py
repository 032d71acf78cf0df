"""Real clicks on maps, and numbers of the chapters on RMSNorm and RoPE, against transformers' own pass and numpy."""

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import Browser, Page, expect

from app.engine import LocalEngine
from tests.app.looking import calm, exactly, number, run, shown
from tests.app.test_inside_page import open_chapter, several
from tests.app.test_page_against_transformers import CLOSE, PROMPT
from tests.page import leave, open_page
from tests.peer import Peer


@pytest.fixture(scope="module")
def shared(browser: Browser, panels_alone: str) -> Iterator[Page]:
    page = open_page(browser, f"{panels_alone}#lang=en")
    run(page, PROMPT)
    yield page
    leave(page)


@pytest.fixture(scope="module")
def peer(engine: LocalEngine, roomy_checkpoint: Path) -> Peer:
    return Peer(roomy_checkpoint, engine.encode("roomy", PROMPT))


def click(page: Page, canvas: str, x: float, y: float) -> None:
    """Clicks a canvas there, in its own pixels, and takes the pointer off the page's maps."""
    page.locator(canvas).scroll_into_view_if_needed()
    calm(page)  # a panel above that is still drawn would move it
    page.locator(canvas).hover(position={"x": x, "y": y})  # what is pointed at lies still
    calm(page)
    page.locator(canvas).click(position={"x": x, "y": y})
    page.mouse.move(1, 1)


def locked(page: Page, *names: str) -> list[int]:
    return page.evaluate("(names) => names.map((name) => glass.state.locked[name])", list(names))


def test_a_click_on_a_cell_of_the_map_locks_its_query_and_key(shared: Page, peer: Peer) -> None:
    page = shared
    page.click("nav [data-chapter=attend]")
    page.evaluate("glass.select({ layer: 1, head: 4, query: 0, key: 0 })")
    shown(page, "cell", "layer 1 head 4 query 0 key 0 ")
    canvas = "section[data-kind=cell] .at-map canvas"
    tokens = peer.run.logits.shape[1]
    # The map is a square with 82 pixels before it and 2 after it, and 72 above it: the words of the text.
    side = page.evaluate("(at) => document.querySelector(at).clientWidth", canvas) - 84
    for query, key, chosen in ((9, 3, 3), (6, 6, 6), (4, 8, 4)):  # the mask hides the last: its query's own row
        click(page, canvas, 82 + (key + 0.5) * side / tokens, 72 + (query + 0.5) * side / tokens)
        value = shown(page, "cell", f"layer 1 head 4 query {query} key {chosen} ")
        assert locked(page, "query", "key") == [query, chosen]
        weight = float(peer.run.attentions[1][0, 4, query, chosen])
        assert number(value, "weight") == pytest.approx(weight, **CLOSE)


@pytest.mark.thorough
def test_a_click_on_the_map_of_sizes_selects_its_layer_and_token(shared: Page, peer: Peer) -> None:
    page = shared
    open_chapter(page, "norm", "rmsnorm")
    canvas = "section[data-kind=rmsnorm] canvas"
    tokens, width = peer.run.logits.shape[1], page.evaluate("(at) => document.querySelector(at).clientWidth", canvas)
    # Rows of 14 pixels from the top: the final norm, then FFN and attention of layers 2, 1 and 0.
    for row, layer, norm, token in ((4, 1, "attn", 5), (1, 2, "ffn", 8), (6, 0, "attn", 2)):
        click(page, canvas, 112 + (token + 0.5) * (width - 120) / tokens, 2 + (row + 0.5) * 14)
        value = shown(page, "rmsnorm", f"layer {layer} {norm} token {token} ")
        assert locked(page, "layer", "query") == [layer, token]
        name = {"attn": "input", "ffn": "post_attention"}[norm]
        before = peer.inputs[f"model.layers.{layer}.{name}_layernorm"][0, token].double()
        assert number(value, "rms") == pytest.approx(float((before.square().mean() + 1e-5).sqrt()), **CLOSE)


def test_the_largest_channel_is_named(shared: Page, peer: Peer) -> None:
    page = shared
    open_chapter(page, "norm", "norm-vector")
    note = page.locator("section[data-kind=norm-vector]").get_by_text("Largest channel:")
    found = set()
    for layer, token in ((0, 0), (1, 7), (2, 3)):
        page.evaluate("([layer, query]) => glass.select({ layer, query })", [layer, token])
        shown(page, "norm-vector", f"layer {layer} attn token {token} ")
        sizes = np.abs(peer.run.hidden_states[layer][0, token].double().numpy())
        channel = int(sizes.argmax())
        told = re.match(r"Largest channel: (\d+), \|x\| = ([\d.]+), ([\d.]+) times the median", note.inner_text())
        assert told, note.inner_text()
        assert int(told[1]) == channel
        assert float(told[2]) == pytest.approx(sizes[channel], rel=5e-3)  # three digits
        half = 0.5 * 10.0 ** -len(told[3].partition(".")[2])  # of the last digit, one fewer where three do not come out
        assert float(told[3]) == pytest.approx(sizes[channel] / np.median(sizes), abs=1.01 * half)
        first = page.locator("section[data-kind=norm-vector] .norm-channels tbody tr").first
        expect(first.locator("th")).to_have_text(str(channel))
        found.add(channel)
    assert len(found) > 1


THETA, WIDTH, CONTEXT = 10_000, 8, 1024


def frequencies(method: str, factor: float) -> tuple[np.ndarray, float]:
    """Radians a token of each pair, and what cos and sin are multiplied by; from the methods' own papers and code."""
    plain = THETA ** (-np.arange(0, WIDTH, 2) / WIDTH)
    turns = CONTEXT * plain / (2 * np.pi)
    if method == "dynamic":  # bloc97 and emozilla: the base grows with the length, here the context times the factor
        return (THETA * factor ** (WIDTH / (WIDTH - 2))) ** (-np.arange(0, WIDTH, 2) / WIDTH), 1.0
    if method == "llama3":  # kept above 4 turns in the context, slowed below 1
        keep = np.clip((turns - 1) / (4 - 1), 0, 1)
        return keep * plain + (1 - keep) * plain / factor, 1.0
    # YaRN: a ramp over the pairs, from 32 turns in the context to 1, and 0.1 · ln(factor) + 1.
    ends = [WIDTH * math.log(CONTEXT / (n * 2 * math.pi)) / (2 * math.log(THETA)) for n in (32, 1)]
    low, high = math.floor(ends[0]), math.ceil(ends[1])
    slowed = np.clip((np.arange(WIDTH // 2) - low) / (high - low), 0, 1)
    return slowed * plain / factor + (1 - slowed) * plain, 0.1 * math.log(factor) + 1


def score(q: Any, k: Any, distance: int, method: str, factor: float) -> float:
    """q·k so many tokens apart: the real part of Σ q·conj(k)·exp(i·distance·θ) over the half-split pairs."""
    theta, scaling = frequencies(method, factor)
    q, k = (np.asarray(x.detach(), np.float64).reshape(2, -1) for x in (q, k))
    met = (q[0] + 1j * q[1]) * np.conj(k[0] + 1j * k[1]) * np.exp(1j * distance * theta)
    return float(met.real.sum() * scaling**2)


def test_the_same_score_by_ntk_yarn_and_llama3(shared: Page, peer: Peer) -> None:
    page = shared
    open_chapter(page, "position", "rope-scaling")
    page.evaluate("glass.settings.set('rope', { reach: 500, factor: 8 })")
    page.evaluate("glass.select({ layer: 1, head: 4, query: 7, key: 3 })")
    q, k = peer.head(1, "q", 4, 7), peer.head(1, "k", 1, 3)
    panel = page.locator("section[data-kind=rope-scaling]")
    seen = []
    for name, button in (("dynamic", "NTK"), ("yarn", "YaRN"), ("llama3", "Llama 3")):
        panel.get_by_role("button", name=button, exact=True).click()
        page.mouse.move(1, 1)
        value = shown(page, "rope-scaling", f"head 4 query 7 key 3 distance 500 factor 8 method {name} ")
        expected = [score(q, k, distance, name, 8) for distance in (4, 500)]
        assert several(value, name) == pytest.approx(expected, rel=1e-4, abs=1e-4), name
        cells = exactly(panel.locator(".position-table tr.is-chosen td"))
        told = [float(cell.replace("−", "-")) for cell in cells[1:4]]
        assert told == pytest.approx([frequencies(name, 8)[1], *expected], rel=1e-3, abs=1e-4), name
        seen.append(expected)
    assert np.ptp(seen, axis=0).min() > 0.01  # the methods differ here


def test_the_scores_that_ntk_yarn_and_llama3_stretch_are_the_runs(peer: Peer) -> None:
    """The formula above, unscaled, gives transformers' own attention weights."""
    q = peer.head(1, "q", 4, 7)
    plain = [score(q, peer.head(1, "k", 1, key), 7 - key, "llama3", 1.0) for key in range(8)]
    weights = torch.tensor(plain).div(math.sqrt(WIDTH)).softmax(-1)
    assert weights.tolist() == pytest.approx(peer.run.attentions[1][0, 4, 7, :8].tolist(), abs=1e-5)
