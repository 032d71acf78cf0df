"""B − A on the page: the table that each panel saves, the controls that stay, and how it fits a telephone."""

import csv
import io
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import Browser, Locator, Page, expect

import model
from app.texts import text
from tests.app.looking import number, run, settled, shown
from tests.page import leave, listen, open_page, watched
from tests.panels import of_a_llama
from tests.peer import Peer

pytestmark = pytest.mark.thorough

FIRST, SECOND = "The dog plays in the yard. 猫在沙发上", "The cat plays in the yard. 猫在沙发上"
AT = {"layer": 1, "head": 3, "query": 7, "key": 4, "pair": 2, "neuron": 11}
# Panels that show B − A; what of the others stands in its place, test_sides.py checks.
PLAIN = ("training", "merges", "why", "score-terms", "sinks", "logit-terms", "causal-map", "gqa-example", "ffn-width")
SUBTRACTED = {
    chapter: [kind for kind in kinds if not kind.startswith(("kv-", "famil")) and kind not in PLAIN]
    for chapter, kinds in of_a_llama().items()
    if chapter not in ("token", "kv", "compare")
}
Row = dict[str, str]
Pair = tuple[float, float]


def compare(page: Page) -> None:
    """Two runs, and B − A of them at one place."""
    run(page, FIRST)
    page.evaluate("glass.keep(glass.state.trace)")
    run(page, SECOND)
    page.evaluate("(at) => { glass.showSide('B-A'); glass.select(at); }", AT)
    page.wait_for_function("glass.state.side === 'B-A'")


@pytest.fixture
def both(page: Page) -> Page:
    compare(page)
    return page


@pytest.fixture(scope="module")
def still(browser: Browser, panels_alone: str) -> Iterator[Page]:
    """As `both`, one for all who only save what is there."""
    page = open_page(browser, f"{panels_alone}#lang=en")
    with watched(page):
        compare(page)
        yield page
    leave(page)


@pytest.fixture(scope="module")
def peers(roomy_checkpoint: Path) -> Callable[[Page], list[Peer]]:
    made: list[Peer] = []

    def find(page: Page) -> list[Peer]:
        if not made:
            ids = page.evaluate("Object.values(glass.sides()).map(({ tokens }) => tokens.ids)")
            made.extend(Peer(roomy_checkpoint, one) for one in ids)
        return made

    return find


def panel_of(page: Page, chapter: str, kind: str) -> Locator:
    """A panel that shows B − A, all of its answers there."""
    page.mouse.move(1, 1)
    page.evaluate("(chapter) => glass.open(chapter)", chapter)
    panel = page.locator(f"section[data-kind={kind}]")
    panel.scroll_into_view_if_needed()
    shown(page, kind, "B-A ")
    page.wait_for_function(
        "(kind) => ![...document.querySelectorAll(`section[data-kind=${kind}] .mn-body .gp-note`)].some((line) =>"
        " line.getClientRects().length && (line.dataset.text === 'sides.waiting'"
        " || /still to come|未到/.test(line.textContent)))",
        arg=kind,
    )
    settled(page)
    return panel


def saved(page: Page, chapter: str, kind: str) -> list[Row]:
    panel = panel_of(page, chapter, kind)
    panel.locator(".gp-save > button").click()
    with page.expect_download() as download:
        panel.locator(".gp-choice[data-format=CSV]").click()
    data = Path(download.value.path()).read_bytes().decode("utf-8-sig")
    table = csv.reader(io.StringIO(data, newline=""))
    heads = next(table)
    assert heads[0] == "part"
    assert heads[-3:] == ["A", "B", "B_minus_A"]
    rows = list(table)
    assert all(len(row) == len(heads) for row in rows)
    return [dict(zip(heads, row, strict=True)) for row in rows]


def of(rows: list[Row], part: str, **where: Any) -> list[Row]:
    wanted = {name: str(value) for name, value in where.items()}
    return [row for row in rows if row["part"] == part and all(row[name] == value for name, value in wanted.items())]


def agrees(rows: list[Row], first: Any, second: Any) -> None:
    """Whether the rows hold these values of A and of B, all of them and in this order, and their difference."""
    told = np.array([[float(row[name]) for name in ("A", "B", "B_minus_A")] for row in rows])
    a, b = (np.asarray(torch.as_tensor(x).detach().double()).reshape(-1) for x in (first, second))
    assert len(told) == len(a) == len(b) > 0
    most = max(abs(a).max(), abs(b).max(), 1e-3)
    assert np.allclose(told, np.stack([a, b, b - a], 1), rtol=1e-4, atol=2e-5 * most)
    assert np.allclose(told[:, 2], told[:, 1] - told[:, 0], rtol=0, atol=1e-6 * most)


def test_every_panel_saves_all_its_parts(still: Page) -> None:
    for chapter, kinds in SUBTRACTED.items():
        for kind in kinds:
            rows = saved(still, chapter, kind)
            parts = list(dict.fromkeys(row["part"] for row in rows))
            assert parts[0] == "selected"
            section = still.locator(f"section[data-kind={kind}]")
            # One part for each drawing and table, but for two drawings of what the table beside them lists.
            drawn = section.locator(".mn-part").count()
            assert len(parts) - 1 == (drawn - 1 if kind in ("arcs", "overview") else drawn), (kind, parts)
            place = section.get_attribute("data-value") or ""
            assert all(row["at"] and f"B-A {row['at']} " in place for row in of(rows, "selected")), (kind, place)
            for row in of(rows, "selected"):
                if row["A"]:
                    told = number(place, rf"(?<![.\w]){row['name']}")
                    assert told == pytest.approx(float(row["B_minus_A"]), rel=1e-4), (kind, row)
            numbers = [(row["A"], row["B"], row["B_minus_A"]) for row in rows]
            assert all(math.isfinite(float(x)) for three in numbers for x in three if x)


def test_attention_saves_every_cell_and_the_row(still: Page, peers: Callable) -> None:
    a, b = peers(still)
    layer, head, query = AT["layer"], AT["head"], AT["query"]
    below = torch.ones_like(a.run.attentions[layer][0, 0]).tril().bool()
    rows = saved(still, "glance", "attention")
    for other in range(a.config.num_attention_heads):
        agrees(of(rows, "maps", layer=layer, head=other), *(p.run.attentions[layer][0, other][below] for p in (a, b)))
    weights = [p.run.attentions[layer][0, head, query, : query + 1] for p in (a, b)]
    agrees(of(rows, "weights"), *weights)
    assert [row["index"] for row in of(rows, "weights")] == [str(key) for key in range(query + 1)]
    rows = saved(still, "attend", "arcs")
    agrees(of(rows, "weights"), *weights)
    rows = saved(still, "attend", "heads")
    for depth in range(a.config.num_hidden_layers):
        agrees(of(rows, "maps", layer=depth, head=head), *(p.run.attentions[depth][0, head][below] for p in (a, b)))


def turned(p: Peer, x: torch.Tensor, position: float, by: float = 1) -> torch.Tensor:
    """RoPE on one vector, all frequencies divided by `by`."""
    first, second = x.double().chunk(2)
    angles = position * p.net.model.rotary_emb.inv_freq.double() / by
    return torch.cat([first * angles.cos() - second * angles.sin(), second * angles.cos() + first * angles.sin()])


def test_a_cell_saves_its_map_its_vectors_and_what_its_head_writes(still: Page, peers: Callable) -> None:
    a, b = peers(still)
    layer, head, query, key = AT["layer"], AT["head"], AT["query"], AT["key"]
    rows = saved(still, "attend", "cell")
    width = a.config.head_dim
    kv = head // (a.config.num_attention_heads // a.config.num_key_value_heads)
    for name, of_head, t in (("q", head, query), ("k", kv, key)):
        agrees(of(rows, "vectors", vector=name), *(turned(p, p.head(layer, name, of_head, t), t) for p in (a, b)))
    carried = [p.run.attentions[layer][0, head, query, key] * p.head(layer, "v", kv, key) for p in (a, b)]
    agrees(of(rows, "vectors", vector="carried"), *carried)
    columns = slice(head * width, (head + 1) * width)
    name = f"model.layers.{layer}.self_attn.o_proj"
    inner = [p.inputs[name].view(-1, width * p.config.num_attention_heads)[query, columns] for p in (a, b)]
    agrees(of(rows, "vectors", vector="out"), *inner)
    wrote = [p.net.get_submodule(name).weight[:, columns] @ x for p, x in zip((a, b), inner, strict=True)]
    channels = of(rows, "head_channels", layer=layer, head=head, m=query)
    assert [row["index"] for row in channels] == [str(i) for i in range(a.config.hidden_size)]
    agrees(channels, *wrote)
    agrees(of(rows, "head_sizes")[:1], *(x.norm() for x in wrote))
    scores = of(rows, "map", view="scores") + of(rows, "map", view="weights")
    assert len(scores) == a.run.attentions[0].shape[-1] * (a.run.attentions[0].shape[-1] + 1) // 2


def test_q_k_and_v_are_subtracted_product_by_product(still: Page, peers: Callable) -> None:
    a, b = peers(still)
    layer, kv = AT["layer"], AT["head"] // (a.config.num_attention_heads // a.config.num_key_value_heads)
    for vector, of_head, token in (("q", AT["head"], AT["query"]), ("k", kv, AT["key"]), ("v", kv, AT["key"])):
        panel_of(still, "attend", "qkv").locator(f".mn-body [data-choice={vector}]").click()
        shown(still, "qkv", f"B-A layer {layer} head {AT['head']} {vector} of {of_head} token {token} ")
        rows = saved(still, "attend", "qkv")
        made = [p.head(layer, vector, of_head, token) for p in (a, b)]
        agrees(of(rows, "vector_made", vector=vector), *made)
        channel = int(made[1].abs().argmax())  # of both runs the one that is largest in B
        normed = [p.outputs[f"model.layers.{layer}.input_layernorm"][token] for p in (a, b)]
        weight = a.net.model.layers[layer].self_attn.get_submodule(f"{vector}_proj").weight
        row = weight[of_head * a.config.head_dim + channel].detach()
        agrees(of(rows, "vector_products", j=channel), *(n * row for n in normed))
        agrees(of(rows, "vector_read", index=3, m=token)[1:], *(n[3] for n in normed))


def test_norm_and_swiglu_save_whole_vectors(still: Page, peers: Callable) -> None:
    a, b = peers(still)
    layer, query = AT["layer"], AT["query"]
    streams = [p.run.hidden_states[layer][0, query].double() for p in (a, b)]
    rows = saved(still, "norm", "norm-vector")
    agrees(of(rows, "vectors", vector="x"), *streams)
    agrees(of(rows, "channels"), *streams)
    agrees(
        of(rows, "vectors", vector="divided"), *(x / p.rms(layer, query) for x, p in zip(streams, (a, b), strict=True))
    )
    normed = [p.outputs[f"model.layers.{layer}.input_layernorm"][query] for p in (a, b)]
    agrees(of(rows, "vectors", vector="normed"), *normed)
    rows = saved(still, "glance", "rmsnorm")
    label = f"attention {layer}"
    tokens = a.run.hidden_states[0].shape[1]
    agrees(of(rows, "n_rms", place=label), *([p.rms(layer, t) for t in range(tokens)] for p in (a, b)))
    pieces = {(row["piece_in_A"], row["piece_in_B"]) for row in of(rows, "n_rms", place=label)}
    assert any(one != other for one, other in pieces)
    rows = saved(still, "glance", "swiglu")
    for name in ("gate", "up"):
        module = f"model.layers.{layer}.mlp.{name}_proj"
        agrees(of(rows, "vectors", vector=name), *(p.outputs[module][query] for p in (a, b)))
    inner = f"model.layers.{layer}.mlp.down_proj"
    products = [p.inputs[inner].reshape(-1, a.config.intermediate_size)[query] for p in (a, b)]
    agrees(of(rows, "products"), *products)
    assert [row["name"] for row in of(rows, "products")] == [str(i) for i in range(a.config.intermediate_size)]


def test_what_comes_next_is_saved_for_the_whole_vocabulary(still: Page, peers: Callable) -> None:
    logits = [p.run.logits[0, -1].double() for p in peers(still)]
    agrees(of(saved(still, "glance", "next"), "candidate"), *(x.softmax(-1) for x in logits))
    agrees(of(saved(still, "choice", "sampling"), "before_filters"), *logits)


def test_the_diagram_saves_every_tensor_and_the_length_of_its_change(still: Page, roomy_checkpoint: Path) -> None:
    lm = model.load(roomy_checkpoint, device="cpu")
    ids = still.evaluate("Object.values(glass.sides()).map(({ tokens }) => tokens.ids)")
    layers = [model.run_trace(lm, one).layer(AT["layer"]) for one in ids]
    query = AT["query"]
    rows = saved(still, "overview", "overview")
    named = {
        "before": "resid_in", "attn_norm": "attn_normed", "attn": "attn_out", "attn_add": "resid_mid",
        "ffn_norm": "ffn_normed", "ffn": "ffn_out", "ffn_add": "resid_out",
    }  # fmt: skip
    for row, name in named.items():
        first, second = (getattr(layer, name)[query] for layer in layers)
        agrees(of(rows, "diagram", row=row, name="value"), first, second)
        agrees(of(rows, "diagram", row=row, name="length"), np.linalg.norm(first), np.linalg.norm(second))
        (change,) = of(rows, "diagram", row=row, name="length_of_change")
        assert float(change["B_minus_A"]) == pytest.approx(np.linalg.norm(second - first), rel=1e-4, abs=1e-5)
    (told,) = of(rows, "diagram", row="ids")
    assert [told["A"], told["B"]] == [str(one[query]) for one in ids]


def scale_changes(p: Peer, a: float, share: float) -> dict[str, float]:
    """What a·x and x + share · RMS(x) change in RMSNorm's output, relative to it."""
    x = p.run.hidden_states[AT["layer"]][0, AT["query"]].double()

    def norm(y: torch.Tensor) -> torch.Tensor:
        return y / (y.square().mean() + p.config.rms_norm_eps).sqrt()

    moved = {"scaled": a * x, "shifted": x + share * p.rms(AT["layer"], AT["query"])}
    return {name: float((norm(y) - norm(x)).norm() / norm(x).norm()) for name, y in moved.items()}


def check_scaling(page: Page, peers: list[Peer], a: float, share: float) -> None:
    start = f"B-A layer {AT['layer']} attn token {AT['query']} a {a:#.5g} share {share:#.5g} "
    value = shown(page, "norm-scale", start)
    first, second = (scale_changes(p, a, share) for p in peers)
    for name in first:
        told = [number(value, rf"(?<![.\w]){side}rms_eps_{name}") for side in ("", r"A\.", r"B\.")]
        wanted = [second[name] - first[name], first[name], second[name]]
        assert told == pytest.approx(wanted, rel=6e-5, abs=1e-5 * max(second[name], 1e-3)), (name, value)


def test_scaling_and_shifting_follow_their_sliders_in_the_difference(both: Page, peers: Callable) -> None:
    panel = panel_of(both, "norm", "norm-scale").locator(".mn-body")
    check_scaling(both, peers(both), 0.01, 0.5)
    asked: list[str] = []
    listen(both, "request", lambda request: asked.append(request.url))
    scale, shift = (panel.get_by_role("slider", name=name) for name in ("scale: a·x", "shift: x + b"))
    scale.fill("-3")
    check_scaling(both, peers(both), 0.001, 0.5)
    shift.fill("-1.5")
    check_scaling(both, peers(both), 0.001, -1.5)
    rms = [p.rms(AT["layer"], AT["query"]) for p in peers(both)]
    told = [
        float(x)
        for x in (panel.locator("output").nth(1).text_content() or "")
        .replace("−", "-")
        .split("RMS(x), A: ")[1]
        .split(", B: ")
    ]
    assert told == pytest.approx([-1.5 * x for x in rms], rel=1e-3)
    panel.get_by_role("checkbox").check()
    expect(panel.locator("output").first).to_have_text("a = −0.00100")
    panel.get_by_role("button", name="a = 1, b = 0").click()
    check_scaling(both, peers(both), 1, 0)
    assert asked == []
    both.evaluate("glass.showSide('B')")  # one setting for every side
    expect(both.locator("section[data-kind=norm-scale] .gp-body input[type=range]").first).to_have_value("0")


def stretched(p: Peer, by: float, distance: int) -> float:
    """q·k of the cell's vectors so many tokens apart, all frequencies divided by `by`."""
    kv = AT["head"] // (p.config.num_attention_heads // p.config.num_key_value_heads)
    q, k = p.head(AT["layer"], "q", AT["head"], AT["query"]), p.head(AT["layer"], "k", kv, AT["key"])
    return float(turned(p, q, distance, by) @ k.double())


def check_stretch(page: Page, peers: list[Peer], factor: int, distance: int) -> None:
    place = " ".join(f"{name} {AT[name]}" for name in ("layer", "head", "query", "key"))
    value = shown(page, "rope-scaling", f"B-A {place} factor {factor} method linear distance {distance} ")
    here = AT["query"] - AT["key"]
    for name, by, apart in (("plain", 1, here), ("real", factor, here), ("far", factor, distance)):
        first, second = (stretched(p, by, apart) for p in peers)
        told = [number(value, rf"(?<![.\w]){side}{name}") for side in ("", r"A\.", r"B\.")]
        assert told == pytest.approx([second - first, first, second], rel=1e-4, abs=1e-4), (name, value)


def test_stretching_follows_its_controls_in_the_difference(both: Page, peers: Callable) -> None:
    panel = panel_of(both, "position", "rope-scaling").locator(".mn-body")
    reach = panel.get_by_role("slider")
    reach.fill("321")
    check_stretch(both, peers(both), 4, 321)
    panel.get_by_role("button", name="× 16").click()
    check_stretch(both, peers(both), 16, 321)
    expect(reach).to_have_attribute("max", "8191")  # as far as distances are drawn
    rows = saved(both, "position", "rope-scaling")
    far = of(rows, "stretched_far", distance=321)
    assert [row["name"] for row in far][:2] == ["unscaled", "linear"]
    agrees(far[1:2], *(stretched(p, 16, 321) for p in peers(both)))
    over = of(rows, "by_distance", vector="stretched")
    agrees(over[:400], *([stretched(p, 16, d) for d in range(400)] for p in peers(both)))
    panel.get_by_role("button", name="YaRN", exact=True).click()
    shown(both, "rope-scaling", "B-A layer 1 head 3 query 7 key 4 factor 16 method yarn distance 321 ")
    expect(panel.get_by_role("button", name="YaRN", exact=True)).to_have_attribute("aria-pressed", "true")


def test_the_distance_follows_its_slider_in_the_difference(both: Page, peers: Callable) -> None:
    panel = panel_of(both, "position", "rope-score").locator(".mn-body")
    tokens = peers(both)[0].run.logits.shape[1]
    assert len(of(saved(both, "position", "rope-score"), "score_by_distance")) == tokens
    panel.get_by_role("button", name=text("rope-score.span_context")).click()  # the slider reaches as far
    panel.get_by_role("slider").fill("321")
    value = shown(both, "rope-score", "B-A layer 1 head 3 query 7 key 4 pair 2 distance 321 ")
    first, second = (stretched(p, 1, 321) for p in peers(both))
    told = [number(value, rf"(?<![.\w]){side}far") for side in ("", r"A\.", r"B\.")]
    assert told == pytest.approx([second - first, first, second], rel=1e-4, abs=1e-4)
    rows = of(saved(both, "position", "rope-score"), "score_by_distance")
    assert len(rows) == 1024  # the context
    agrees(rows, *([stretched(p, 1, d) for d in range(1024)] for p in peers(both)))


def test_the_norm_that_is_chosen_is_subtracted(both: Page, peers: Callable) -> None:
    panel = panel_of(both, "norm", "norm-vector").locator(".mn-body")
    panel.get_by_role("button", name=text("norm-vector.final")).click()
    shown(both, "norm-vector", f"B-A final token {AT['query']} ")
    rows = of(saved(both, "norm", "norm-vector"), "vectors", vector="normed")
    agrees(rows, *(p.outputs["model.norm"][AT["query"]] for p in peers(both)))


def test_a_view_that_is_chosen_is_subtracted(both: Page, peers: Callable) -> None:
    panel = panel_of(both, "attend", "cell").locator(".mn-body")
    panel.get_by_role("button", name=text("cell.view_scores")).click()
    rows = of(saved(both, "attend", "cell"), "map", view="scores")
    layer, head, kv, query = AT["layer"], AT["head"], AT["head"] // 3, AT["query"]
    wanted = [
        [float(turned(p, p.head(layer, "q", head, query), query) @ turned(p, p.head(layer, "k", kv, n), n)) / 8**0.5
         for n in range(query + 1)]
        for p in peers(both)
    ]  # fmt: skip
    agrees([row for row in rows if row["query"] == str(query)], *wanted)
    panel = panel_of(both, "ffn", "ffn-tokens").locator(".mn-body")
    panel.get_by_role("button", name=text("ffn-tokens.gates")).click()
    rows = of(saved(both, "ffn", "ffn-tokens"), "strongest")
    gates = [p.outputs[f"model.layers.{layer}.mlp.gate_proj"] > 0 for p in peers(both)]
    at = [(int(row["token"]), int(row["place"])) for row in rows]
    agrees(rows, *([float(gate[place]) for place in at] for gate in gates))


def test_the_second_head_is_chosen_in_the_difference(both: Page, peers: Callable) -> None:
    panel = panel_of(both, "attend", "difference").locator(".mn-body")
    panel.get_by_role("button", name=text("difference.head_up")).click()
    layer, head, query = AT["layer"], AT["head"], AT["query"]
    place = f"layer {layer} head {head} minus layer {layer} head {head + 2} query {query} "
    shown(both, "difference", f"B-A {place}")
    rows = of(saved(both, "attend", "difference"), "apart")
    weights = [p.run.attentions[layer][0, :, query, : query + 1] for p in peers(both)]
    agrees(rows, *(one[head] - one[head + 2] for one in weights))


def test_filters_and_followed_tokens_are_chosen_in_the_difference(both: Page, peers: Callable) -> None:
    logits = [p.run.logits[0, -1].double() for p in peers(both)]
    panel = panel_of(both, "choice", "sampling").locator(".mn-body")
    panel.locator("[data-setting=temperature] input").fill("2")
    expect(panel.locator("[data-setting=temperature] output")).to_have_text("2")
    agrees(of(saved(both, "choice", "sampling"), "after_filters"), *((x / 2).softmax(-1) for x in logits))
    panel = panel_of(both, "choice", "lens").locator(".mn-body")
    panel.get_by_role("button", name=text("lens.follow_text")).click()
    ids = both.evaluate("glass.state.trace.tokens.ids")
    after = ids[AT["query"] + 1]  # the token of B's text that follows the selected one
    rows = of(saved(both, "choice", "lens"), "p_by_depth")
    last = [p.run.logits[0, AT["query"]].double().softmax(-1)[after] for p in peers(both)]
    agrees(rows[-1:], *last)
    panel = panel_of(both, "choice", "contributions").locator(".mn-body")
    panel.get_by_role("button", name=text("contributions.versus_second")).click()
    value = shown(both, "contributions", "B-A ")
    best, second = peers(both)[1].run.logits[0, AT["query"]].topk(2).indices
    told = [number(value, rf"(?<![.\w]){side}logit") for side in (r"A\.", r"B\.")]
    choices = [p.run.logits[0, AT["query"]] for p in peers(both)]
    assert told == pytest.approx([float(x[best] - x[second]) for x in choices], rel=1e-4, abs=1e-4)
    both.evaluate("glass.showSide('B')")  # one setting for every side
    for kind, name in (("lens", "follow_text"), ("contributions", "versus_second")):
        button = both.locator(f"section[data-kind={kind}] .gp-body").get_by_role("button", name=text(f"{kind}.{name}"))
        expect(button).to_have_attribute("aria-pressed", "true")


def test_the_share_of_what_is_added_is_subtracted(still: Page, peers: Callable) -> None:
    rows = of(saved(still, "overview", "residual"), "added_share")
    layer, query = AT["layer"], AT["query"]
    (row,) = of(rows, "added_share", place=f"attention {layer}", token=query)
    parts = [
        (p.outputs[f"model.layers.{layer}.self_attn.o_proj"][query], p.run.hidden_states[layer][0, query])
        for p in peers(still)
    ]
    agrees([row], *(added.norm() / stream.norm() for added, stream in parts))


# What a panel of one run can be set to and B − A cannot: the line that says so.
WITHOUT = {
    "norm-vector": "zoom", "rope-score": "both", "rope": "dials", "heads": "jobs", "residual": "quantity",
    "lens": "colour", "sampling": "draw", "qkv": "row",
    "activation-kinds": "curve", "position-kinds": "example", "rope-derivation": "distance",
    "mask-kinds": "glm", "attention-kinds": "rank",
}  # fmt: skip
# a term that is explained sets nothing, nor does the way to where two runs differ
SET_WITH = "button:not(.gl-term, .mn-onward), input, select"


def test_no_control_goes_without_a_word(both: Page) -> None:
    """Where the panel of one run can be set to something, B − A can be set to it too, or a line says why not."""
    both.evaluate("glass.showSide('B'); glass.open('attend')")
    found = both.locator(f"section[data-kind=heads] .gp-body :is({SET_WITH})").first
    expect(found).to_be_attached(timeout=30_000)  # heads with a job are found while the page is idle
    both.evaluate("glass.showSide('B-A')")
    for chapter, kinds in SUBTRACTED.items():
        for kind in kinds:
            panel = panel_of(both, chapter, kind)
            own, there = (
                panel.locator(f"{body} :is({SET_WITH}):not({body} [hidden] *)").count()
                for body in (".gp-body", ".mn-body")
            )
            line = panel.locator(".mn-body [data-text^='b_minus_a.without_']")
            if kind in WITHOUT:
                assert own, kind
                expect(line).to_have_text(text(f"b_minus_a.without_{WITHOUT[kind]}"))
                expect(line).to_be_visible()
            else:
                assert (line.count(), there) == (0, own), kind


# But short terms: what a finger finds of one is wider than the word.
WIDER = """(kind) => [document.documentElement, ...document.querySelectorAll(`section[data-kind=${kind}] .mn-body *`)]
  .filter((at) => !at.matches(".gl-term, .wy-lead"))
  .filter((at) => at.clientWidth && at.scrollWidth > at.clientWidth && getComputedStyle(at).display !== 'inline')
  .map((at) => `${at.localName}.${at.className}: ${at.scrollWidth} > ${at.clientWidth}`)"""

BESIDE = """(all) => all.filter((one) => one.getClientRects().length).map((one) => one.getBoundingClientRect())
  .filter(({ left, right }) => left < 0 || right > innerWidth).map(({ left, right }) => [left, right])"""


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_difference_fits_a_telephone(browser: Browser, panels_alone: str, language: str) -> None:
    page = open_page(browser, f"{panels_alone}#lang={language}", 360, 720)
    compare(page)
    for chapter, kinds in SUBTRACTED.items():
        for kind in kinds:
            panel = panel_of(page, chapter, kind)
            assert page.evaluate(WIDER, kind) == [], kind
            cells = panel.locator(".mn-table:visible tbody tr:visible").first.locator("th, td")
            assert cells.evaluate_all(BESIDE) == [], kind
    leave(page)
