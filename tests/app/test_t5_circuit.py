"""A trained T5 on the page: one word of the source changed, the circuit of both stacks, and a causal map of each."""

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
import torch
from playwright.sync_api import Browser, Page, expect

from app.texts import text
from model.analysis.circuit import circuit
from model.analysis.nodes import Pair as Runs
from model.analysis.nodes import run_pair
from model.analysis.paths import edges
from tests.app.family_page import family_page
from tests.app.looking import settled, shown
from tests.app.test_t5_in_use import PROMPT, ZOO, save, write
from tests.families import Pair, pair_of

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def t5() -> Pair:
    pair = pair_of(ZOO / "t5")
    return pair._replace(lm=replace(pair.lm, name="t5"))


@pytest.fixture(scope="module")
def page(browser: Browser, t5: Pair) -> Iterator[Page]:
    with family_page(browser, {"t5": t5}) as page:
        yield page


def test_a_circuit_of_both_stacks_is_drawn_and_each_has_its_causal_map(page: Page, t5: Pair) -> None:
    write(page, PROMPT, 0)
    lm, net = t5.lm, t5.peer
    page.evaluate("glass.open('glance'); glass.settings.set('why', { open: '1' }); glass.repaint()")
    why = page.locator("section[data-kind=why]")
    button = why.locator("[data-swap]").first
    button.click()
    why.locator(".wy-node").first.wait_for()
    other = button.get_attribute("data-swap") or ""
    found = circuit(lm, PROMPT, other)
    for form, kind in (("is-head", "head"), ("is-cross", "cross"), ("is-ffn", "ffn")):
        expect(why.locator(f".wy-node.{form}")).to_have_count(sum(node.kind == kind for node in found.nodes))
    assert "{" not in why.inner_text()
    expect(why.locator(".wy-faith")).to_contain_text(f"{100 * found.recovered:.1f}")
    decoder, encoder = why.locator(".wy-grid").all()
    counts = [grid.locator(".wy-node").count() for grid in (decoder, encoder)]
    assert counts == [sum(node.stack == stack for node in found.nodes) for stack in ("decoder", "encoder")]
    assert other.split()[4].strip(".") in encoder.locator(".wy-token i").first.inner_text()
    why.locator(".wy-circuit .gp-holds").click()
    page.wait_for_function("document.querySelector('.wy-circuit progress').hidden")
    settled(page)
    strong = [edge for part in edges(found.pair, found.nodes) for edge in part if abs(edge.effect) >= 0.01]
    assert any(edge.source.stack != edge.target.stack for edge in strong)
    assert abs(why.locator(".wy-edges path").count() - len(strong)) <= 1  # one may round to either side
    drawn = "".join(ElementTree.fromstring(save(page, "why", "SVG")).itertext())
    assert drawn.count("×") == sum(node.kind == "cross" for node in found.nodes)
    assert why.locator(".wy-said").inner_text().split()[-3] in drawn  # what can be pressed is a part of its sentence
    encoder.locator(".wy-node.is-head").first.click()  # leads to the encoder, and back
    page.wait_for_function("glass.state.stack === 'encoder' && glass.state.chapter === 'attend'")
    place = tuple(page.evaluate("[glass.state.layer, glass.state.head, glass.state.query]"))
    assert place in {(node.layer, node.head, node.token) for node in found.nodes if node.stack == "encoder"}
    page.get_by_role("button", name=text("page.way_back"), exact=True).click()
    page.wait_for_function("glass.state.stack === 'decoder' && glass.state.chapter === 'glance'")
    expect(why.locator(".wy-node")).to_have_count(len(found.nodes))
    check_maps(page, net, run_pair(lm, PROMPT, other))


def check_maps(page: Page, net: Any, pair: Runs) -> None:
    """What the two maps save, by transformers' own hooks."""
    page.evaluate("glass.open('choice')")
    shown(page, "causal-map", "depth ")
    rows = list(csv.reader(io.StringIO(save(page, "causal-map", "CSV").decode("utf-8-sig"), newline="")))
    assert rows[0] == ["stack", "depth", "token", "share_left"]
    left = {(stack, int(depth), int(token)): float(share) for stack, depth, token, share in rows[1:]}
    assert len(left) == 4 * sum(ids.shape[1] for ids in pair.texts)  # depths of each stack

    def lead(ids: torch.Tensor) -> float:
        with torch.no_grad():
            logits = net(ids, decoder_input_ids=pair.written).logits[0, -1]
        return float(logits[pair.answer] - logits[pair.other])

    first, second = lead(pair.ids), lead(pair.other_ids)
    for stack, depth, token in [
        ("encoder", 0, 4),
        ("encoder", 2, 4),
        ("encoder", 1, 7),
        ("decoder", 1, 0),
        ("decoder", 2, 0),
    ]:
        block = getattr(net, stack).block[depth]
        seen: list[torch.Tensor] = []
        hook = block.register_forward_pre_hook(lambda _, given, seen=seen: seen.append(given[0][0].clone()))
        lead(pair.other_ids)
        hook.remove()

        def place(_: Any, given: Any, token: int = token, theirs: torch.Tensor = seen[0]) -> Any:
            stream = given[0].clone()
            stream[0, token] = theirs[token]
            return (stream, *given[1:])

        hook = block.register_forward_pre_hook(place)
        share = (lead(pair.ids) - second) / (first - second)
        hook.remove()
        assert left[stack, depth, token] == pytest.approx(share, abs=1e-4)
