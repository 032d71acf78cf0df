"""The chapters on RMSNorm, RoPE and SwiGLU in a real browser: what they show is what transformers computes."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Page, expect

from app.texts import text
from tests.app.looking import number, questions, shown
from tests.app.test_page_against_transformers import CLOSE, PROMPT
from tests.one_of import one_of
from tests.peer import Peer
from tests.reference import reference

pytestmark = pytest.mark.prompt(PROMPT)
AT = {"layer": 1, "head": 4, "query": 7, "key": 3, "pair": 2, "neuron": None}


@pytest.fixture
def peer(page: Page, roomy_checkpoint: Path) -> Peer:
    page.evaluate("(at) => glass.select(at)", AT)
    return Peer(roomy_checkpoint, page.evaluate("glass.state.trace.tokens.ids"))


def open_chapter(page: Page, name: str, *kinds: str) -> None:
    """Open a chapter and wait until each of its panels shows something."""
    page.click(f".page-nav button[data-chapter={name}]")
    for kind in kinds:
        shown(page, kind, "")
        assert page.locator(f"[data-kind={kind}]").get_attribute("data-failed") is None


def several(value: str, name: str) -> list[float]:
    """The numbers of `name=1,2,3` in a panel's value."""
    found = re.search(rf"\b{name}=([^ ]+)", value)
    assert found, f"no {name} in {value!r}"
    return [float(part) for part in found[1].split(",")]


def norm_of(peer: Peer, which: str) -> str:
    layer = f"model.layers.{AT['layer']}."
    names = {"attn": layer + "input_layernorm", "ffn": layer + "post_attention_layernorm", "final": "model.norm"}
    return names[which]


def test_a_vector_through_each_norm(page: Page, peer: Peer) -> None:
    open_chapter(page, "norm", "norm-vector", "norm-scale")
    for index, which in enumerate(("attn", "ffn", "final")):
        page.locator("[data-kind=norm-vector] .gp-tab:visible").nth(index).click()
        page.evaluate("(channel) => glass.settings.set('norm', {...glass.settings.get('norm'), channel})", 5 + index)
        page.evaluate("glass.repaint()")
        start = "final token 7 " if which == "final" else f"layer 1 {which} token 7 "
        value = shown(page, "norm-vector", f"{start}channel {5 + index} ")
        before = peer.inputs[norm_of(peer, which)][0, 7].double()
        after = peer.outputs[norm_of(peer, which)][7]
        assert number(value, "x") == pytest.approx(float(before[5 + index]), **CLOSE)
        assert number(value, "mean_square") == pytest.approx(float(before.square().mean()), **CLOSE)
        assert number(value, "normed") == pytest.approx(float(after[5 + index]), **CLOSE)
        value = shown(page, "norm-scale", start)
        scale, shift = number(value, "a"), number(value, "b")
        for name, eps in (("rms_eps", 1e-5), ("layer_eps", 1e-5), ("rms_zero", 0.0)):
            centre = name.startswith("layer")
            inputs = [before * scale, before + shift, before * scale + shift]
            truth = [change(before, vector, eps, centre) for vector in inputs]
            told = [number(value, f"{name}_{case}") for case in ("scaled", "shifted", "both")]
            assert told == pytest.approx(truth, rel=1e-3, abs=1e-9), (which, name)


def test_four_norms_and_their_places_follow_what_is_set(page: Page, peer: Peer) -> None:
    """Against torch's own norms; and nothing that is set is asked of the server."""
    open_chapter(page, "norm", "norm-kinds", "norm-placement")
    kinds, places = (page.locator(f"[data-kind={kind}]") for kind in ("norm-kinds", "norm-placement"))
    layer, eps = AT["layer"], peer.config.rms_norm_eps
    shown(page, "norm-kinds", f"layer {layer} attn token 7 ")
    expect(kinds.locator("tbody tr:visible")).to_have_count(10)  # the times of two norms have come
    asked = questions(page, kinds, places)
    value = shown(page, "norm-kinds", f"layer {layer} attn token 7 channel ")
    channel = int(value.split("channel ")[1].split()[0])
    before = peer.inputs[norm_of(peer, "attn")][0].double()
    x, size = before[7], before.shape[1:]
    assert channel == int(x.abs().argmax())
    alpha = (2 * peer.config.num_hidden_layers) ** 0.25
    larger = alpha * x + peer.outputs[f"model.layers.{layer}.self_attn.o_proj"][7].double()
    norms = {
        "batch": torch.nn.BatchNorm1d(size[0], eps=eps, affine=False, dtype=torch.float64).train()(before)[7],
        "layer": torch.nn.functional.layer_norm(x, size, eps=eps),
        "rms": torch.nn.functional.rms_norm(x, size, eps=eps),
        "deep": torch.nn.functional.layer_norm(larger, size, eps=eps),
    }
    for name, truth in norms.items():
        assert number(value, f"to_{name}") == pytest.approx(float(truth[channel]), **CLOSE), name
    for name in ("layer", "batch"):
        apart = float((norms[name] - norms["rms"]).norm() / norms["rms"].norm())
        assert number(value, f"{name}_apart") == pytest.approx(apart, rel=1e-3), name
    for key in ("batch_alone", "eps_outside"):
        kinds.get_by_role("button", name=text(f"norm-kinds.{key}")).click()
    value = shown(page, "norm-kinds", f"layer {layer} attn token 7 channel {channel} alone outside ")
    assert number(value, "to_batch") == 0
    assert number(value, "rms") == pytest.approx(float(x.square().mean().sqrt()) + eps, **CLOSE)
    expect(kinds.locator(".gp-readout")).to_contain_text("BatchNorm gives 0 in every channel")
    places.locator("input[type=range]").fill("2")
    value = shown(page, "norm-placement", "token 7 depth 100 ")
    assert number(value, "alpha") == pytest.approx(200**0.25, rel=1e-4)
    assert asked == []


def change(before: torch.Tensor, after: torch.Tensor, eps: float, centre: bool) -> float:
    """By how much the norm of a vector changes, relatively; torch's own norms without weights."""

    def normed(x: torch.Tensor) -> torch.Tensor:
        if centre:
            return torch.nn.functional.layer_norm(x, x.shape, eps=eps)
        return torch.nn.functional.rms_norm(x, x.shape, eps=eps)

    return float((normed(after) - normed(before)).norm() / normed(before).norm())


def test_strips_zoom_to_single_values(page: Page) -> None:
    open_chapter(page, "norm", "norm-vector")
    panel = page.locator("[data-kind=norm-vector]")
    closer = panel.get_by_role("button", name=text("norm-vector.closer"))
    for _ in range(3):
        closer.click()
    panel.locator("canvas").first.hover(position={"x": 5, "y": 40})
    first = shown(page, "norm-vector")
    expect(panel.locator(".gp-note").first).to_contain_text("of 48")
    panel.locator("canvas").first.hover(position={"x": 300, "y": 40})
    page.wait_for_function(
        "(old) => document.querySelector('[data-kind=norm-vector]').dataset.value !== old", arg=first
    )
    panel.locator("canvas").first.click(position={"x": 300, "y": 40})
    kept = shown(page, "norm-vector")
    page.mouse.move(2, 2)
    page.keyboard.press("ArrowLeft")
    shown_channel = re.search(r"channel (\d+)", kept)
    assert shown_channel
    shown(page, "norm-vector", kept.split("channel")[0] + f"channel {int(shown_channel[1]) - 1} ")


def turned(x: torch.Tensor, position: int, inv_freq: torch.Tensor, neighbours: bool = False) -> torch.Tensor:
    """RoPE with complex numbers, as Meta's code has it (neighbours), or of half-split pairs."""
    pairs = x.double().reshape(-1, 2) if neighbours else x.double().reshape(2, -1).T
    angles = (position * inv_freq).double()
    rotated = torch.view_as_complex(pairs.contiguous()) * torch.polar(torch.ones_like(angles), angles)
    out = torch.view_as_real(rotated)
    return out.flatten() if neighbours else out.T.flatten()


def test_scores_pair_by_pair_moved_scaled_and_mixed(page: Page, peer: Peer) -> None:
    open_chapter(page, "position", "rope-score", "rope-scaling", "rope-layout")
    m, n, width = AT["query"], AT["key"], peer.config.head_dim
    q, k = peer.head(AT["layer"], "q", AT["head"], m), peer.head(AT["layer"], "k", AT["head"] // 3, n)
    inv_freq = 1 / 10_000 ** (torch.arange(0, width, 2) / width)
    truth = float(turned(q, m, inv_freq) @ turned(k, n, inv_freq))
    value = shown(page, "rope-score", f"layer 1 head 4 kv 1 query {m} key {n} pair 2 ")
    close: dict[str, Any] = {"rel": 1e-5, "abs": 2e-5}
    assert number(value, "sum") == pytest.approx(truth, **close)
    terms = (turned(q, m, inv_freq) * turned(k, n, inv_freq)).reshape(2, -1).sum(0)
    assert number(value, "term") == pytest.approx(float(terms[2]), **close)
    assert abs(number(value, "deviation")) < 1e-4
    assert abs(number(value, "precise")) < 1e-10
    page.evaluate("glass.settings.set('rope', { both: 200, distance: 90, reach: 500, factor: 8, method: 'yarn' })")
    page.evaluate("glass.repaint()")
    page.wait_for_function(
        "document.querySelector('[data-kind=rope-score]').dataset.value.includes('moved=(293, 203)')"
    )
    value = shown(page, "rope-score")
    far = float(turned(q, 90, inv_freq) @ turned(k, 0, inv_freq))
    assert number(value, "moved_sum") == pytest.approx(far, rel=1e-4, abs=1e-4)
    value = shown(page, "rope-scaling", f"head 4 query {m} key {n} distance 500 factor 8 method yarn ")
    for name, slowed in (("none", inv_freq), ("linear", inv_freq / 8)):
        expected = [float(turned(q, i, slowed) @ turned(k, j, slowed)) for i, j in ((m, n), (500, 0))]
        assert several(value, name) == pytest.approx(expected, **close), name
    value = shown(page, "rope-layout", f"head 4 query {m} key {n} ")
    mixed = float(turned(q, m, inv_freq, neighbours=True) @ turned(k, n, inv_freq, neighbours=True))
    one = float(turned(q, m, inv_freq) @ turned(k, n, inv_freq, neighbours=True))
    weight = float(peer.run.attentions[AT["layer"]][0, AT["head"], m, n])
    assert several(value, "half") == pytest.approx([truth, truth, weight], **close)
    assert several(value, "neighbours") == pytest.approx([truth, truth, weight], **close)
    assert several(value, "mixed")[:2] == pytest.approx([mixed, mixed], **close)
    assert several(value, "one_side")[0] == pytest.approx(one, **close)
    assert abs(mixed - truth) > 1e-3


def test_neurons_of_a_token_and_across_tokens(page: Page, peer: Peer, roomy_checkpoint: Path) -> None:
    open_chapter(page, "ffn", "ffn-token", "ffn-tokens")
    page.wait_for_function("document.querySelector('[data-kind=ffn-token]').dataset.value.includes('writes=')")
    value = shown(page, "ffn-token", "layer 1 token 7 ")
    gates, ups = (peer.outputs[f"model.layers.1.mlp.{name}_proj"] for name in ("gate", "up"))
    product = torch.nn.functional.silu(gates) * ups
    best = int(product[7].abs().argmax())
    weight = reference(roomy_checkpoint).model.layers[1].mlp.down_proj.weight
    assert f"neuron {best} " in value
    assert f"neuron {best} " in shown(page, "swiglu", "neuron ")
    assert number(value, "product") == pytest.approx(float(product[7, best]), **CLOSE)
    assert number(value, "writes") == pytest.approx(
        float((weight[:, best] * product[7, best]).detach().norm()), **CLOSE
    )
    signs = [((gates[7] > 0) == g) & ((ups[7] > 0) == u) for g, u in ((0, 1), (1, 1), (0, 0), (1, 0))]
    assert several(value, "quadrants") == [int(sign.sum()) for sign in signs]
    page.wait_for_function("document.querySelector('[data-kind=ffn-tokens]').dataset.value.includes('mean_top=')")
    value = shown(page, "ffn-tokens", "layer 1 ")
    strength = product.abs().sort(-1, descending=True).values
    top = strength[:, :4].sum(-1) / strength.sum(-1)  # 4 = 5 % of 80 neurons
    assert number(value, "mean_top") == pytest.approx(float(top.mean()), **CLOSE)
    assert number(value, "top") == pytest.approx(float(top[7]), **CLOSE)
    assert number(value, "mean_open") == pytest.approx(float((gates > 0).float().mean()), **CLOSE)
    found = re.search(r"neuron (\d+) token (\d+)", value)
    assert found
    assert number(value, "product") == pytest.approx(float(product[int(found[2]), int(found[1])]), **CLOSE)


def test_a_neuron_of_the_map_is_previewed_and_kept(page: Page) -> None:
    open_chapter(page, "ffn", "ffn-token", "ffn-tokens")
    cells = page.locator("[data-kind=ffn-tokens] canvas").first
    cells.scroll_into_view_if_needed()
    page.wait_for_function("document.querySelector('[data-kind=ffn-tokens]').dataset.value")
    cells.hover(position={"x": 100, "y": 60})
    page.wait_for_function("glass.state.neuron !== null && glass.state.locked.neuron === null")
    neuron = page.evaluate("glass.state.neuron")
    shown(page, "ffn-tokens", f"layer 0 neuron {neuron} token ")
    cells.click(position={"x": 100, "y": 60})
    assert page.evaluate("glass.state.locked.neuron") == neuron
    expect(page.locator(".ffn-written tr.is-chosen th")).to_have_text(str(neuron))
    page.keyboard.press("Escape")
    assert page.evaluate("glass.state.locked.neuron") is None


@pytest.mark.parametrize("chapter", one_of(["norm", "position", "ffn"]))
def test_chapters_fit_a_phone_in_chinese(page: Page, chapter: str) -> None:
    page.click("#language >> text=中文")
    open_chapter(page, chapter)
    page.set_viewport_size({"width": 360, "height": 740})
    seen = "[...document.querySelectorAll('.page-grid section')].filter((section) => section.offsetParent)"
    page.wait_for_function(f"{seen}.every((section) => section.dataset.value)")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    words = page.evaluate(f"{seen}.map((section) => section.textContent).join(' ')")
    assert re.findall(r"(?:norm|rope|ffn)-[a-z]+\.[a-z_]+", words) == []  # a text that is missing shows its key


TABLES = """() => [...document.querySelectorAll('.gp-table')].filter((table) => table.offsetParent).flatMap((table) => {
    const heads = [...(table.tHead?.rows[0].cells ?? [])].filter((head) => head.offsetWidth && head.textContent);
    const thin = heads.filter((head) => head.offsetWidth < 3 * parseFloat(getComputedStyle(head).fontSize));
    const { clientWidth, scrollWidth } = table.parentElement;
    const lost = scrollWidth > clientWidth + 1 && getComputedStyle(table.parentElement).overflowX !== 'auto';
    const said = [...thin.map((head) => head.textContent), ...(lost ? ['wider than its place'] : [])];
    return said.map((words) => `${table.closest('section').dataset.kind}: ${words}`);
})"""


@pytest.mark.parametrize("language", one_of(["en", "zh"]))
def test_no_column_is_squeezed_on_a_phone(page: Page, language: str) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.evaluate("(language) => glass.setLanguage(language)", language)
    for chapter, kind in (("choice", "sampling"), ("position", "rope-layout"), ("norm", "norm-scale")):
        page.evaluate("(chapter) => glass.open(chapter)", chapter)
        page.locator(f"section[data-kind={kind}]").scroll_into_view_if_needed()
        shown(page, kind)
        assert page.evaluate(TABLES) == [], chapter
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


# Whether what holds a table shows all of it, and each word of a column's head stands whole in its line.
IN_ITS_PLACE = """(box) => {
  const range = document.createRange();
  const wordsOf = (head) => [...(head.firstChild?.data ?? "").matchAll(/\\|?\\p{L}+\\|?/gu)];
  const isWhole = (head) => wordsOf(head).every(({ 0: word, index }) => {
    range.setStart(head.firstChild, index);
    range.setEnd(head.firstChild, index + word.length);
    return range.getClientRects().length === 1;
  });
  return box.scrollWidth <= box.clientWidth && [...box.querySelectorAll("thead th")].every(isWhole);
}"""


@pytest.mark.gradio  # in whose font the heads are wide
@pytest.mark.parametrize("width", one_of([390, 1280]))
def test_all_columns_of_the_four_norms_are_seen(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    open_chapter(page, "norm", "norm-kinds")
    assert page.locator(".norm-figures").evaluate(IN_ITS_PLACE)


def test_on_a_phone_a_model_stands_above_its_widths_and_a_line_says_what_it_lists(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    open_chapter(page, "ffn", "ffn-width", "ffn-token")
    widths = page.locator("section[data-kind=ffn-width] .ffn-all")
    expect(widths.locator("tbody tr").first).to_be_visible()
    assert widths.evaluate("(box) => box.scrollWidth <= box.clientWidth")
    said = "(row) => [...row.cells].slice(3).map((cell) => getComputedStyle(cell, '::before').content)"
    heads = [f'"{text(f"ffn-token.{name}")}"' for name in ("raises", "lowers")]
    assert page.locator(".ffn-written tbody tr").nth(4).evaluate(said) == heads


@pytest.mark.gradio  # whose own styles move what is raised
def test_a_power_in_a_table_stands_in_its_row(page: Page) -> None:
    open_chapter(page, "position", "rope-derivation")
    power = page.locator("section[data-kind=rope-derivation] td sup").first
    expect(power).to_be_visible()
    assert power.evaluate("(one) => one.getBoundingClientRect().top >= one.closest('td').getBoundingClientRect().top")
    sizes = power.evaluate(
        "(one) => [one, one.parentElement].map((part) => parseFloat(getComputedStyle(part).fontSize))"
    )
    assert sizes[0] < sizes[1]
