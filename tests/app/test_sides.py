"""B − A on the page is the difference of two independent passes of transformers; and the switch between the sides."""

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Page, expect

from app.engine import LocalEngine
from app.service import Service
from app.texts import text
from tests.app.looking import PANELS, calm, faults, number, pick, questions, run, shown, state, to_theme
from tests.page import wait_for_run
from tests.panels import of_a_llama
from tests.peer import Peer
from visuals.payload import unpack

FIRST, SECOND = "The dog plays in the yard. 猫在沙发上", "The cat plays in the yard. 猫在沙发上"
OFF = [(0, 1), (1, 4)]
PICKS = 5  # of each of two pairs of runs, the first in every chapter; test_sides_saved.py has whole tables
# The page subtracts numbers of which float32 gives about seven digits: the difference is as good as the operands.
DIGITS = 2e-5


def close(value: str, name: str, first: float, second: float) -> bool:
    """Whether a panel's value has B − A, and both operands, as transformers computes them."""
    scale = max(abs(first), abs(second), 1.0)
    told = [number(value, rf"\b{name}"), number(value, rf"A\.{name}"), number(value, rf"B\.{name}")]
    return told == pytest.approx([second - first, first, second], rel=6e-5, abs=DIGITS * scale)


def compare(page: Page, prompt: str, then: Callable[[], Any]) -> None:
    """Keep the run of a prompt as A, make another one, and show B − A."""
    run(page, prompt)
    page.evaluate("glass.keep(glass.state.trace)")
    kept = page.evaluate("glass.state.trace.id")
    then()
    page.wait_for_function("(id) => glass.state.trace.id !== id", arg=kept)
    wait_for_run(page)
    page.evaluate("glass.showSide('B-A')")
    page.wait_for_function("document.querySelector('section[data-kind=attention]').dataset.value?.startsWith('B-A')")


def pick_in_both(page: Page, chance: random.Random) -> dict[str, int]:
    """Somewhere in both runs, once both are here."""
    chosen = pick(page, chance)
    page.wait_for_function(
        "Object.values(glass.sides()).every("
        "({ layers }) => layers.get(glass.state.layer)?.neurons.has(glass.state.query))"
    )
    return chosen


def check_glance(page: Page, a: Peer, b: Peer, at: dict[str, int]) -> None:
    layer, head, query, key, pair, neuron = at.values()
    group = a.config.num_attention_heads // a.config.num_key_value_heads
    place = f"layer {layer} head {head} query {query} key {key} "
    value = shown(page, "attention", f"B-A {place}")
    assert close(value, "weight", *(float(p.run.attentions[layer][0, head, query, key]) for p in (a, b))), (at, value)
    value = shown(page, "rope", f"B-A pair {pair} {place}")
    for name, which, t in (("q", head, query), ("k", head // group, key)):
        for part, i in (("first", pair), ("second", pair + a.config.head_dim // 2)):
            both = (float(p.head(layer, name, which, t)[i]) for p in (a, b))
            assert close(value, f"{name}_{part}", *both), (at, value)
    value = shown(page, "rmsnorm", f"B-A layer {layer} attn token {query} ")
    assert close(value, "rms", *(p.rms(layer, query) for p in (a, b))), (at, value)
    value = shown(page, "swiglu", f"B-A layer {layer} token {query} neuron {neuron} ")
    gates, ups = ([p.neuron(layer, name, query, neuron) for p in (a, b)] for name in ("gate", "up"))
    readout = page.locator("section[data-kind=swiglu] .gp-readout")
    expect(readout).to_contain_text(text("b_minus_a.of_neuron", neuron=neuron))
    silus = torch.nn.functional.silu(torch.tensor(gates, dtype=torch.float64)).tolist()
    products = [silu * up for silu, up in zip(silus, ups, strict=True)]
    for name, both in {"gate": gates, "up": ups, "silu": silus, "product": products}.items():
        assert close(value, name, *both), (name, at, value)


def check_next(page: Page, a: Peer, b: Peer) -> None:
    value = shown(page, "next", "B-A id ")
    best = int(number(value.replace("id ", "id="), "id"))
    rows = [p.run.logits[0, -1].double() for p in (a, b)]
    assert close(value, "logit", *(float(row[best]) for row in rows))
    assert close(value, "p", *(float(row.softmax(-1)[best]) for row in rows))
    assert best == int(torch.maximum(*(row.softmax(-1) for row in rows)).argmax())


def scores(page: Page, at: dict[str, int]) -> list[float]:
    """The score of a cell in A and in B, as the panel on RoPE and the score tells it."""
    page.evaluate("(key) => glass.select({ key })", at["key"])
    place = " ".join(f"{name} {at[name]}" for name in ("layer", "head", "query", "key", "pair"))
    value = shown(page, "rope-score", f"B-A {place} ")
    return [number(value, rf"{side}\.score") for side in "AB"]


def check_strongest(page: Page, a: Peer, b: Peer, at: dict[str, int]) -> None:
    """The strip's colours, a head's map and the maps of a layer have a scale each, which is said."""
    layer, head, query, *_ = at.values()
    one, other = (p.run.attentions[layer][0].double() for p in (a, b))
    changed = (other - one).abs()
    said = {
        "section[data-kind=tokens] .gp-strongest": (changed[head, query].max(), 5e-2),  # two digits
        "section[data-kind=cell] .gp-note:has-text('±')": (changed[head].max(), 5e-3),
        "section[data-kind=attention] .gp-note:has-text('±')": (changed.max(), 5e-3),
    }
    for place, (most, digits) in said.items():
        if most > DIGITS:
            words = page.locator(place).first.text_content() or ""
            told = plain_number(words.partition("±")[2].partition(". ")[0])
            assert told == pytest.approx(float(most), rel=digits, abs=DIGITS), (place, at)


def check_chapters(page: Page, a: Peer, b: Peer, at: dict[str, int]) -> None:
    """A panel of each chapter."""
    layer, head, query, key, _, _ = at.values()
    place = f"layer {layer} head {head} query {query} key {key} "
    weights = [float(p.run.attentions[layer][0, head, query, key]) for p in (a, b)]
    page.evaluate("glass.open('attend')")
    for kind in ("cell", "arcs"):
        assert close(shown(page, kind, f"B-A {place}"), "weight", *weights), (kind, at)
    check_strongest(page, a, b, at)
    carried = []
    for p, weight in zip((a, b), weights, strict=True):
        kv = head // (p.config.num_attention_heads // p.config.num_key_value_heads)
        carried.append(weight * float(p.head(layer, "v", kv, key).double().norm()))
    assert close(shown(page, "cell", f"B-A {place}"), "carried_norm", *carried), at
    page.evaluate("glass.open('position')")
    here, first = (scores(page, at | {"key": k}) for k in (key, 0))
    for p, score, other in zip((a, b), here, first, strict=True):
        row = p.run.attentions[layer][0, head, query].double().log()  # the scores, up to what the softmax adds to all
        assert score - other == pytest.approx(float(row[key] - row[0]), abs=1e-3), at  # scores have five digits
    page.evaluate("(key) => glass.select({ key })", key)
    page.evaluate("glass.open('overview')")
    value = shown(page, "residual", f"B-A layer {layer} attn token {query} ")
    added = [p.outputs[f"model.layers.{layer}.self_attn.o_proj"][query].double() for p in (a, b)]
    streams = [p.run.hidden_states[layer][0, query].double() for p in (a, b)]
    assert close(value, "norm", *(float(x.norm()) for x in added)), (at, value)
    assert close(value, "before", *(float(x.norm()) for x in streams)), (at, value)
    cosines = [float(torch.cosine_similarity(x, y, dim=0)) for x, y in zip(added, streams, strict=True)]
    assert close(value, "cosine", *cosines), (at, value)
    page.evaluate("glass.open('norm')")
    value = shown(page, "norm-vector", f"B-A layer {layer} attn token {query} channel ")
    channel = int(number(value.replace("channel ", "channel="), "channel"))
    assert close(value, "x", *(float(x[channel]) for x in streams)), (at, value)
    gamma = float(a.net.model.layers[layer].input_layernorm.weight[channel].detach())
    normed = [float(x[channel]) / p.rms(layer, query) * gamma for x, p in zip(streams, (a, b), strict=True)]
    assert close(value, "normed", *normed), (at, value)
    page.evaluate("glass.open('choice')")
    value = shown(page, "lens", f"B-A layer {layer} token {query} ")
    target = int(b.run.logits[0, query].argmax())
    read = []
    for p in (a, b):
        after = p.run.hidden_states[layer + 1][0, query]
        last = layer + 1 == p.config.num_hidden_layers  # transformers gives the last one normalised
        with torch.no_grad():
            read.append(float(p.net.lm_head(after if last else p.net.model.norm(after)).double().softmax(-1)[target]))
    assert close(value, "p", *read), (at, value)
    value = shown(page, "contributions", f"B-A layer {layer} ffn token {query} ")
    assert close(value, "logit", *(float(p.run.logits[0, query, target]) for p in (a, b))), (at, value)
    check_rebuilt(page, a, b, at)
    check_written(page, a, b, at)
    check_diagram(page, a, b, at)
    page.evaluate("glass.open('glance')")


def turned(x: torch.Tensor, angles: torch.Tensor, layout: str) -> torch.Tensor:
    """RoPE on one vector: pair i is (i, i + width/2), or (2i, 2i + 1) where the layout is "neighbours"."""
    half = len(x) // 2
    first, second = (slice(0, half), slice(half, None)) if layout == "half" else (slice(0, None, 2), slice(1, None, 2))
    out = torch.empty_like(x)
    out[first] = x[first] * angles.cos() - x[second] * angles.sin()
    out[second] = x[second] * angles.cos() + x[first] * angles.sin()
    return out


def products(p: Peer, at: dict[str, int], places: tuple[int, int], by: float, layouts: tuple[str, str]) -> float:
    """q·k of a cell's vectors at two positions, all frequencies divided by `by`."""
    kv = at["head"] // (p.config.num_attention_heads // p.config.num_key_value_heads)
    vectors = p.head(at["layer"], "q", at["head"], at["query"]), p.head(at["layer"], "k", kv, at["key"])
    frequencies = p.net.model.rotary_emb.inv_freq.double() / by
    q, k = (
        turned(x.double(), place * frequencies, layout)
        for x, place, layout in zip(vectors, places, layouts, strict=True)
    )
    return float(q @ k)


def scaled(p: Peer, at: dict[str, int]) -> dict[str, float]:
    """What a = 0.01 and b = RMS(x) / 2 change in a vector after RMSNorm and after LayerNorm, relative to it."""
    x = p.run.hidden_states[at["layer"]][0, at["query"]].double()
    share = p.rms(at["layer"], at["query"]) / 2
    eps = p.config.rms_norm_eps

    def rms_norm(y: torch.Tensor) -> torch.Tensor:
        return y / (y.square().mean() + eps).sqrt()

    def layer_norm(y: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.layer_norm(y, y.shape, eps=eps)

    found = {}
    for method, norm in (("rms_eps", rms_norm), ("layer_eps", layer_norm)):
        for case, moved in (("scaled", x / 100), ("shifted", x + share), ("both", x / 100 + share)):
            found[f"{method}_{case}"] = float((norm(moved) - norm(x)).norm() / norm(x).norm())
    return found


def check_rebuilt(page: Page, a: Peer, b: Peer, at: dict[str, int]) -> None:
    """Panels that do something else with the run's vectors than the model did."""
    layer, head, query, key, _, _ = at.values()
    place = f"layer {layer} head {head} query {query} key {key}"
    page.evaluate("glass.open('norm')")
    value = shown(page, "norm-scale", f"B-A layer {layer} attn token {query} ")
    first, second = (scaled(p, at) for p in (a, b))
    for name, change in first.items():
        assert close(value, name, change, second[name]), (name, at, value)
    page.evaluate("glass.open('position')")
    value = shown(page, "rope-scaling", f"B-A {place} factor 4 method linear distance ")
    far = int(number(value.replace("distance ", "distance="), "distance"))
    straight = ("half", "half")
    for name, places, by in (("plain", (query, key), 1), ("real", (query, key), 4), ("far", (far, 0), 4)):
        assert close(value, name, *(products(p, at, places, by, straight) for p in (a, b))), (name, at, value)
    value = shown(page, "rope-layout", f"B-A {place} ")
    mixes = {"half": straight, "mixed": ("neighbours", "neighbours"), "one_side": ("half", "neighbours")}
    for name, layouts in mixes.items():
        for part, shift in (("product", 0), ("shifted", 100)):
            places = (query + shift, key + shift)
            both = (products(p, at, places, 1, layouts) for p in (a, b))
            assert close(value, f"{name}_{part}", *both), (name, part, at, value)
    weights = [float(p.run.attentions[layer][0, head, query, key]) for p in (a, b)]
    assert close(value, "half_weight", *weights), (at, value)


def check_written(page: Page, a: Peer, b: Peer, at: dict[str, int]) -> None:
    """What a head and the strongest neuron write, and two heads beside each other."""
    layer, head, query, key, _, _ = at.values()
    page.evaluate("glass.open('attend')")
    other = (head + 1) % a.config.num_attention_heads
    apart = [p.run.attentions[layer][0, [head, other], query, key].tolist() for p in (a, b)]
    start = f"B-A layer {layer} head {head} minus layer {layer} head {other} query {query} key {key} "
    assert close(shown(page, "difference", start), "difference", *(one - two for one, two in apart)), at
    page.wait_for_function("document.querySelector('[data-kind=cell]').dataset.value?.includes('written=')")
    value = shown(page, "cell", f"B-A layer {layer} head {head} query {query} key {key} ")
    columns = slice(head * a.config.head_dim, (head + 1) * a.config.head_dim)
    written = []
    for p in (a, b):
        name = f"model.layers.{layer}.self_attn.o_proj"
        weight = p.net.get_submodule(name).weight[:, columns].detach().double()
        written.append(
            weight @ p.inputs[name].view(-1, weight.shape[1] * p.config.num_attention_heads)[query, columns].double()
        )
    assert close(value, "written", *(float(w.norm()) for w in written)), (at, value)
    page.evaluate("glass.open('ffn')")
    name = f"model.layers.{layer}.mlp.down_proj"
    inner = [p.inputs[name].view(-1, p.config.intermediate_size)[query] for p in (a, b)]
    strongest = int(inner[1].abs().argmax())
    page.evaluate("(neuron) => glass.select({ neuron })", strongest)
    start = f"B-A layer {layer} token {query} neuron {strongest} "
    page.wait_for_function(
        "(start) => { const { value } = document.querySelector('[data-kind=ffn-token]').dataset;"
        " return value?.startsWith(start) && value.includes('writes='); }",
        arg=start,
    )
    column = a.net.get_submodule(name).weight[:, strongest].detach()
    both = (float((row[strongest] * column).norm()) for row in inner)
    assert close(shown(page, "ffn-token", start), "writes", *both), at
    page.evaluate("(neuron) => glass.select({ neuron })", at["neuron"])


def plain_number(words: str) -> float:
    """A number as the page writes it for reading: 0.0123, −1.5×10⁻⁶, 2.48%."""
    if words.endswith("%"):
        return plain_number(words[:-1]) / 100
    mantissa, _, power = words.partition("×10")
    raised = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    return float(mantissa.replace("−", "-")) * 10.0 ** int(power.translate(raised) or 0)


def check_diagram(page: Page, a: Peer, b: Peer, at: dict[str, int]) -> None:
    """Rows of the overview's diagram, each with one value of its tensor."""
    layer, query = at["layer"], at["query"]
    page.evaluate("glass.open('overview')")
    diagram = page.locator("section[data-kind=overview] .mn-body")
    last = layer + 1 == a.config.num_hidden_layers
    vectors = {
        "before": lambda p: p.run.hidden_states[layer][0, query],
        "attn": lambda p: p.outputs[f"model.layers.{layer}.self_attn.o_proj"][query],
        "ffn_norm": lambda p: p.outputs[f"model.layers.{layer}.post_attention_layernorm"][query],
        "ffn": lambda p: p.outputs[f"model.layers.{layer}.mlp.down_proj"][query],
        "final_norm": lambda p: p.run.hidden_states[-1][0, query],  # transformers gives the last one normalised
        "head": lambda p: p.run.logits[0, query],
        "softmax": lambda p: p.run.logits[0, query].softmax(-1),
    }
    if not last:
        vectors["ffn_add"] = lambda p: p.run.hidden_states[layer + 1][0, query]
    for row, read in vectors.items():
        diagram.locator(f"[data-row={row}]").dispatch_event("pointerenter")
        start = f"B-A {row} layer {layer} token {query} channel "
        value = shown(page, "overview", start)
        index = int(value.removeprefix(start).split()[0])
        both = [read(p).double() for p in (a, b)]
        assert close(value, "value", *(float(x[index]) for x in both)), (row, at, value)
        name, size = ("largest", max) if row in ("head", "softmax") else ("norm", lambda x: x.norm())
        first, second = (float(size(x)) for x in both)
        assert close(value, name, first, second), (row, at, value)
        beside = diagram.locator(f"[data-row={row}] .ov-size").text_content() or ""
        if name == "largest":
            told = [plain_number(word) for word in beside.removeprefix("max ").split(" → ")]
            assert told == pytest.approx([first, second], rel=6e-3), (row, at, beside)
        else:
            apart = float((both[1] - both[0]).norm())
            scale = max(first, second, 1.0)
            assert number(value, r"\bapart") == pytest.approx(apart, rel=6e-5, abs=DIGITS * scale), (row, at, value)
            told_apart = plain_number(beside.removeprefix("‖B − A‖ "))
            assert told_apart == pytest.approx(apart, rel=6e-3, abs=DIGITS * scale), (row, at, beside)


def check_picks(page: Page, a: Peer, b: Peer, seed: int) -> None:
    chance = random.Random(seed)
    for count in range(PICKS):
        at = pick_in_both(page, chance)
        check_glance(page, a, b, at)
        if count % 5 == 0:
            check_chapters(page, a, b, at)
    check_next(page, a, b)


def test_two_prompts_are_subtracted_as_transformers_computes_them(page: Page, roomy_checkpoint: Path) -> None:
    compare(page, FIRST, lambda: run(page, SECOND))
    ids = page.evaluate("Object.values(glass.sides()).map(({ tokens }) => tokens.ids)")
    assert len(ids[0]) == len(ids[1])
    assert ids[0] != ids[1]
    check_picks(page, *(Peer(roomy_checkpoint, one) for one in ids), seed=1)


@pytest.mark.thorough
def test_heads_switched_off_are_subtracted_as_transformers_computes_them(page: Page, roomy_checkpoint: Path) -> None:
    compare(page, FIRST, lambda: page.evaluate("(heads) => glass.change({ heads })", [list(pair) for pair in OFF]))
    ids = page.evaluate("glass.state.trace.tokens.ids")
    check_picks(page, Peer(roomy_checkpoint, ids), Peer(roomy_checkpoint, ids, OFF), seed=2)


def test_a_switched_off_sub_layer_has_no_direction_and_no_difference_of_directions(page: Page) -> None:
    compare(page, FIRST, lambda: page.evaluate("glass.change({ attention: [1] })"))
    page.evaluate("glass.open('overview')")
    page.evaluate("glass.select({ layer: 1, query: 3 })")
    value = shown(page, "residual", "B-A layer 1 attn token 3 ")
    assert " cosine=- " in value
    assert " B.cosine=-" in value
    assert -1 <= number(value, r"A\.cosine") <= 1
    section = page.locator("section[data-kind=residual]")
    expect(section.locator(".gp-readout")).to_contain_text("B –, B − A = –")
    page.evaluate("glass.showSide('B')")
    value = shown(page, "residual", "layer 1 attn token 3 norm=0.0000 cosine=-")
    assert number(value, "before") == number(value, "after")
    expect(section.locator(".gp-readout")).to_contain_text("cosine –")
    expect(section.locator(".gp-formula")).to_contain_text(text("residual.no_angle"))
    clear = section.get_by_text(text("residual.clear"))
    expect(clear).to_be_hidden()
    section.get_by_role("button", name=text("residual.quantity_cosine"), exact=True).click()
    expect(clear).to_be_visible()
    page.evaluate("glass.change({ heads: [[1, 2]] })")
    page.evaluate("glass.open('attend')")
    page.evaluate("glass.select({ layer: 1, head: 2, query: 3, key: 1 })")
    page.wait_for_function("document.querySelector('[data-kind=cell]').dataset.value?.includes('cosine=-')")
    expect(page.locator("section[data-kind=cell]")).to_contain_text(f"– {text('cell.no_angle')}")


def test_a_mean_of_no_rows_is_no_number(page: Page) -> None:
    """Means leave out the first two rows: runs of two tokens have none."""
    run(page, "aa")
    page.evaluate("glass.keep(glass.state.trace)")
    run(page, "bb")
    assert page.evaluate("glass.state.trace.T") == 2
    page.evaluate("glass.open('attend'); glass.showSide('B-A'); glass.select({ layer: 0, head: 1 })")
    assert shown(page, "heads", "B-A layer 0 head 1 ").endswith(
        "first=- A.first=- B.first=- previous=- A.previous=- B.previous=-"
    )


@pytest.mark.thorough
def test_where_nothing_changed_the_panels_say_so(page: Page) -> None:
    compare(page, FIRST, lambda: page.evaluate("glass.change({ heads: [[1, 4]], attention: [1] })"))
    # What a layer reads is as it was before the first change; in layer 1 nothing uses the weights, as attention is off.
    for layer, same, words in (
        (0, True, "No difference here"),
        (1, True, "nothing uses them in B"),
        (2, False, "No diff"),
    ):
        page.evaluate("(layer) => glass.select({ layer, head: 0, query: 7, key: 2 })", layer)
        for chapter, kind in (("glance", "attention"), ("attend", "arcs"), ("attend", "cell")):
            page.evaluate("(name) => glass.open(name)", chapter)
            shown(page, kind, f"B-A layer {layer} head 0 query 7 key 2")
            section = page.locator(f"section[data-kind={kind}]")
            lines = section.locator(".mn-body").get_by_text(words)
            # The cell has two parts that are alike; what its head writes is not, where that is switched off in B.
            expect(lines.locator("visible=true")).to_have_count(same * (2 if kind == "cell" and layer else 1))
            expect(section.locator(".mn-body canvas:visible")).to_have_count(0 if same else 2 if kind == "cell" else 1)


def test_from_where_nothing_differs_a_button_goes_to_the_first_layer_that_does(page: Page) -> None:
    compare(page, FIRST, lambda: page.evaluate("glass.change({ attention: [1] })"))
    for chapter, kind in (("attend", "arcs"), ("compare", "head-change")):
        page.evaluate("(name) => glass.open(name)", chapter)
        page.evaluate("glass.select({ layer: 0, head: 0, query: 7, key: 2 })")
        section = page.locator(f"section[data-kind={kind}]")
        button = section.get_by_role("button", name=text("b_minus_a.first_apart", layer=2, query=7))
        button.click()  # layer 1 is entered as before, and what leaves it is not
        assert state(page, "layer", "query") == [2, 7]
        expect(button).to_be_hidden()
        expect(section.get_by_text("No difference here").locator("visible=true")).to_have_count(0)


def test_before_the_first_other_token_the_button_goes_to_it(page: Page) -> None:
    compare(page, FIRST, lambda: run(page, SECOND))
    a, b = page.evaluate("['A', 'B'].map((side) => glass.sides()[side].tokens.ids)")
    first = next(t for t, (one, other) in enumerate(zip(a, b, strict=True)) if one != other)
    assert first > 0
    page.evaluate("glass.open('attend'); glass.select({ layer: 2, head: 0, query: 0, key: 0 })")
    button = page.locator("section[data-kind=arcs]").get_by_role(
        "button", name=text("b_minus_a.first_apart", layer=0, query=first)
    )
    button.click()
    assert state(page, "layer", "query") == [0, first]


def test_two_runs_of_the_same_text_do_not_differ(page: Page) -> None:
    compare(page, FIRST, lambda: page.evaluate("glass.change({})"))
    page.evaluate("glass.open('compare')")
    for side in ("A", "B"):
        page.evaluate("(side) => glass.showSide(side)", side)
        expect(page.locator("section[data-kind=stream-change]")).to_contain_text("No difference here")
        expect(page.locator("section[data-kind=head-change] figure").nth(2)).to_contain_text("No difference here")
        expect(page.locator("section[data-kind=head-change] button.gp-option:visible")).to_have_count(0)
        expect(page.locator("section[data-kind=compare] tbody td:nth-child(4)").first).to_have_text("0")


def test_runs_of_different_lengths_say_so(page: Page) -> None:
    compare_lengths(page)
    for kind in PANELS:
        section = page.locator(f"section[data-kind={kind}]")
        expect(section).to_contain_text("Run A has 8 tokens and run B 10" if kind != "tokens" else "10", timeout=10_000)
    assert shown(page, "attention") == ""
    assert number(shown(page, "next", "B-A id "), "p") != 0  # what follows the last token of each can be compared


def compare_lengths(page: Page) -> None:
    run(page, "The cat sleeps on the sofa.")
    first = page.evaluate("glass.state.trace.T")
    page.evaluate("glass.keep(glass.state.trace)")
    run(page, "The dog plays in the yard. The cat")
    assert page.evaluate("glass.state.trace.T") != first
    page.evaluate("glass.showSide('B-A')")


# Panels of no run: they stand as they are, whichever is shown.
RUNLESS = {
    *("kv-calculator", "kv-chart", "kv-fit", "kv-log", "kv-myth", "kv-race"),
    *("families", "family-parameters", "family-myths"),
}


@pytest.mark.thorough
def test_the_switch_is_there_in_every_chapter_while_two_runs_are(page: Page) -> None:
    switch = page.locator(".gp-sides")  # looked for by its role, it would be looked for in all chapters at each step
    expect(switch).to_be_hidden()
    run(page, FIRST)
    page.evaluate("glass.keep(glass.state.trace)")
    expect(switch).to_be_hidden()
    run(page, SECOND)
    expect(page.get_by_role("group", name="Which run the panels show")).to_have_class(re.compile(r"\bgp-sides\b"))
    for chapter, kinds in of_a_llama().items():
        page.evaluate("(name) => glass.open(name)", chapter)
        for side in ("A", "B", "B − A"):
            button = switch.get_by_role("button", name=side, exact=True)
            button.focus()
            button.press("Enter")
            expect(button).to_have_attribute("aria-pressed", "true")
            mark = side.replace(" − ", "-")
            wanted: dict[str, str | None] = dict.fromkeys(("tokens", *kinds), mark)
            if chapter == "compare":  # shows both runs beside each other
                wanted |= dict.fromkeys(kinds)
            elif mark == "B-A":
                wanted |= {kind: "B" for kind in {*wanted} - RUNLESS if not has_difference(page, kind)}
            wanted |= dict.fromkeys(RUNLESS & {*wanted})
            page.wait_for_function(
                "(wanted) => Object.entries(wanted).every(([kind, side]) =>"
                " (document.querySelector(`section[data-kind=${kind}]`).dataset.side ?? null) === side)",
                arg=wanted,
            )
    page.evaluate("glass.keep(null)")
    expect(switch).to_be_hidden()
    assert page.locator("section[data-side]:visible").count() == 0


def has_difference(page: Page, kind: str) -> bool:
    """Whether a panel shows B − A; else it must say that it shows B."""
    section = page.locator(f"section[data-kind={kind}]")
    page.wait_for_function(
        "(kind) => { const at = document.querySelector(`section[data-kind=${kind}]`);"
        " return ['tokens', 'why'].includes(kind) || at.querySelector('.mn-body:not([hidden]), .mn-none'); }",
        arg=kind,
    )
    if kind not in ("tokens", "why") and not section.locator(".mn-body").count():
        expect(section.locator(".mn-none")).to_have_text(text(f"sides.none_{kind}"))
        return False
    return True


def test_hovering_the_difference_asks_the_server_nothing(page: Page) -> None:
    compare(page, FIRST, lambda: run(page, SECOND))
    page.wait_for_function(
        "Object.values(glass.sides()).every(({ layers, model, T }) => layers.size === model.n_layers"
        " && layers.get(glass.state.layer).neurons.size === T)"
    )
    asked = questions(page)
    for query in range(4):
        page.evaluate("(query) => glass.preview({ query, key: 0 })", query)
        assert number(shown(page, "rmsnorm", f"B-A layer 0 attn token {query} "), "rms") is not None
    assert asked == []


def test_back_from_the_difference_a_panel_is_as_it_was(page: Page) -> None:
    compare(page, FIRST, lambda: run(page, SECOND))
    page.evaluate("glass.showSide('A')")
    value = shown(page, "attention", "layer ")
    expect(page.locator("section[data-kind=attention] .mn-body")).to_be_hidden()
    page.evaluate("glass.keep(null)")
    assert shown(page, "attention", "layer ") != value


@pytest.mark.thorough
def test_axe_finds_nothing_in_the_difference_of_either_theme(page: Page) -> None:
    compare(page, FIRST, lambda: run(page, SECOND))
    page.set_viewport_size({"width": 1280, "height": 8000})  # axe scrolls, and what comes into view begins to be drawn
    coming = ".glass-panel:not(.page-away):is(.is-coming, [data-loading])"
    for chapter in ("glance", "attend", "choice"):
        page.evaluate("(name) => glass.open(name)", chapter)
        for theme in ("light", "dark"):
            to_theme(page, theme)
            calm(page)
            page.wait_for_function("(coming) => !document.querySelector(coming)", arg=coming)
            assert faults(page, theme) == [], (chapter, theme)
    page.set_viewport_size({"width": 1280, "height": 720})


def test_the_switch_fits_a_telephone(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 720})
    compare(page, FIRST, lambda: run(page, SECOND))
    box = page.locator(".gp-sides").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_two_runs_are_asked_about_the_same_tokens(service: Service, engine: LocalEngine) -> None:
    a, b = (service.run(prompt, "roomy") for prompt in (FIRST, SECOND))
    for what, more in (("lens", {"follow": False}), ("contributions", {"target": None, "versus": True})):
        asked = {"what": what, **more, "other": b["id"]}
        first, second = (service.detail({"run": held["id"], **asked})["data"] for held in (a, b))
        assert unpack(first["targets"]).tolist() == unpack(second["targets"]).tolist()
        if what == "contributions":
            assert unpack(first["against"]).tolist() == unpack(second["against"]).tolist()
    neurons = [
        service.detail({"run": held["id"], "what": "ffn_map", "layer": 1, "other": b["id"]})["data"] for held in (a, b)
    ]
    assert neurons[0]["neurons"] == neurons[1]["neurons"]
    trace = engine.trace("roomy", a["tokens"]["ids"]).layer(1)
    assert unpack(neurons[0]["gate"]).tolist() == trace.gate.T[neurons[1]["neurons"]].tolist()
    ends = [
        service.detail({"run": held["id"], "what": "ends", "token": 3, "other": b["id"]})["data"] for held in (a, b)
    ]
    assert unpack(ends[0]["logits"]["ids"]).tolist() == unpack(ends[1]["logits"]["ids"]).tolist()


def test_what_strong_neurons_write_is_told_of_the_same_tokens(service: Service, roomy_checkpoint: Path) -> None:
    a, b = (service.run(prompt, "roomy") for prompt in (FIRST, SECOND))
    asked = {"what": "ffn_written", "layer": 2, "token": 6, "neuron": None, "other": b["id"]}
    first, second = (service.detail({"run": held["id"], **asked})["data"]["rows"] for held in (a, b))
    own = service.detail({"run": b["id"], **{name: value for name, value in asked.items() if name != "other"}})
    assert second == own["data"]["rows"]
    assert [row["neuron"] for row in first] == [row["neuron"] for row in second]
    peer = Peer(roomy_checkpoint, a["tokens"]["ids"])
    down = peer.net.model.layers[2].mlp.down_proj
    inner = peer.inputs["model.layers.2.mlp.down_proj"].view(-1, down.in_features)[6]
    scale = peer.net.model.norm.weight / peer.inputs["model.norm"].view(-1, down.out_features)[6].square().mean().sqrt()
    with torch.no_grad():
        for one, other in zip(first, second, strict=True):
            wrote = down.weight[:, one["neuron"]] * inner[one["neuron"]]
            logits = peer.net.lm_head(wrote * scale)
            assert one["norm"] == pytest.approx(float(wrote.norm()), rel=1e-4)
            for way in ("raised", "lowered"):
                assert [token["id"] for token in one[way]] == [token["id"] for token in other[way]]
                for token in one[way]:
                    assert token["by"] == pytest.approx(float(logits[token["id"]]), rel=1e-3, abs=1e-6)


def test_runs_of_different_lengths_follow_no_common_tokens(service: Service) -> None:
    a, b = (service.run(prompt, "roomy") for prompt in (FIRST, FIRST + " 猫"))
    message = service.detail({"run": a["id"], "what": "lens", "follow": False, "other": b["id"]})
    assert message["code"] == "bad_request"
