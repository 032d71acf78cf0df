"""The KV-cache chapter's chart under a real pointer, out of a link, and in the tables that a visitor saves."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Browser, Page, expect

from app.texts import text
from tests.app.kv_chapter import calculated, field, opened, panel
from tests.app.looking import calm, number, settled, shown
from tests.app.test_kv_tables import saved
from tests.page import leave, open_page
from tests.reference import reference, run_reference

PLOT = "document.querySelector('section[data-kind=kv-chart] .gp-plot')"
# Where a point of a line lies in the window, by plotly's own axes; lines have no marks that could be looked for.
POINT = f"""([model, tokens]) => {{
    const {{ data, _fullLayout: {{ xaxis, yaxis }} }} = {PLOT};
    const line = data.find(({{ name }}) => name === model);
    const box = {PLOT}.getBoundingClientRect();
    const height = line.y[line.x.indexOf(tokens)];
    return [box.left + xaxis._offset + xaxis.d2p(tokens), box.top + yaxis._offset + yaxis.d2p(height)];
}}"""
# The middle of a bar: of the part with that name, of that model at so many tokens.
BAR = f"""([part, model, tokens]) => {{
    const trace = {PLOT}.data.findIndex(({{ name }}) => name === part);
    const at = {PLOT}.data[trace].customdata.findIndex(([one, count]) => one === model && count === tokens);
    const bars = {PLOT}.querySelectorAll(".barlayer .trace")[trace].querySelectorAll(".point path");
    const {{ left, top, width, height }} = bars[at].getBoundingClientRect();
    return [left + width / 2, top + height / 2];
}}"""


@pytest.fixture(scope="module")
def chapter(browser: Browser, panels_alone: str) -> Iterator[Page]:
    page = open_page(browser, f"{panels_alone}#lang=en")
    yield opened(page)
    leave(page)


def drawn(page: Page, layer: str) -> Any:
    """The chart's panel, its chart drawn."""
    chart = panel(page, "kv-chart")
    page.wait_for_selector(f"section[data-kind=kv-chart] .gp-plot .{layer} .trace", state="attached")
    settled(page)
    return chart


def still(page: Page, where: str, what: list[Any]) -> tuple[float, float]:
    """Where something lies in the window, once it has stayed there for a while: panels above may still grow."""
    page.evaluate("window.placed = { at: '', frames: 0 }")
    page.wait_for_function(
        f"""(what) => {{
            const at = String(({where})(what));
            placed.frames = at === placed.at ? placed.frames + 1 : 0;
            placed.at = at;
            return placed.frames > 20;
        }}""",
        arg=what,
    )
    return page.evaluate(where, what)


def clicked(page: Page, where: str, what: list[Any], said: tuple[str, str]) -> tuple[str, list[str], str]:
    """Clicks a place once its words hover there; gives the title, the products' numbers and the sum below the chart."""
    page.evaluate(f"{PLOT}.scrollIntoView({{ block: 'center' }})")
    calm(page)  # a chart that is drawn anew between hover and click has nothing under the pointer
    place = still(page, where, what)
    page.mouse.move(place[0] + 3, place[1])
    page.mouse.move(*place)
    hovered = page.locator("section[data-kind=kv-chart] .hoverlayer .hovertext")
    for words in said:
        expect(hovered).to_contain_text(words)
    assert page.evaluate(where, what) == place
    page.mouse.click(*place)
    pinned = panel(page, "kv-chart").locator(".kv-pinned")
    title = pinned.locator("h3").first
    expect(title).to_contain_text(said[0])
    numbers = pinned.locator(".kv-product").evaluate_all(
        "(all) => all.map((one) => [...one.querySelectorAll('.kv-number')].map((n) => n.textContent).join(' × '))"
    )
    return title.inner_text(), numbers, pinned.locator(".kv-exact").inner_text()


def test_a_click_on_a_point_and_on_a_bar_shows_its_arithmetic(chapter: Page) -> None:
    page = chapter
    panel(page, "kv-chart").get_by_role("button", name=text("kv-chart.lines"), exact=True).click()
    chart = drawn(page, "scatterlayer")
    # 61 layers keep a latent of 512 and a RoPE key of 64.
    title, numbers, total = clicked(page, POINT, ["DeepSeek-V3", 4096], ("DeepSeek-V3", "287,834,112\xa0B"))
    assert (title, total) == ("DeepSeek-V3 at 4,096 tokens", "287,834,112\xa0B")
    assert numbers == ["61 × 1 × 4,096 × 576 × 2"]
    title, numbers, total = clicked(page, POINT, ["Llama-2 7B", 2048], ("Llama-2 7B", "1,073,741,824\xa0B"))
    assert (title, total) == ("Llama-2 7B at 2,048 tokens", "1,073,741,824\xa0B")
    assert numbers == ["32 × 1 × 2,048 × 32 × 2 × 128 × 2"]
    chart.get_by_role("button", name=text("kv-chart.stack")).click()
    drawn(page, "barlayer")
    bar = [text("kv.stack_self_full_kv"), "Gemma-3 12B (text)", 32_768]
    # Of 48 layers 8 keep all tokens and 40 the last 1,024; the bar's upper part is the first of the two.
    title, numbers, total = clicked(page, BAR, bar, ("Gemma-3 12B (text)", "2,147,483,648\xa0B"))
    assert (title, total) == ("Gemma-3 12B (text) at 32,768 tokens", "2,483,027,968\xa0B")
    assert numbers == ["8 × 1 × 32,768 × 8 × 2 × 256 × 2", "40 × 1 × 1,024 × 8 × 2 × 256 × 2"]


LINK = (
    "chapter=kv&kv.model=Llama-2+7B&kv.n_kv_heads=4&kvchart.unit=gb&kvchart.x=linear&kvchart.y=linear"
    "&kvfit.gpu=A100+40+GB&kvfit.weights=fp16&kvfit.room=share&kvfit.usable_percent=85&kvfit.users=10&kvfit.user_tokens=4096"
)
FIT = {
    "gpu": "A100 40 GB",
    "weights": "fp16",
    "room": "share",
    "usable_percent": "85",
    "users": "10",
    "user_tokens": "4096",
}


@pytest.mark.thorough
def test_a_link_restores_the_chart_the_gpu_and_the_heads(browser: Browser, panels_alone: str) -> None:
    page = open_page(browser, f"{panels_alone}#lang=en&{LINK}")
    # 32 layers with 32 heads of 128; as GQA with the link's 4 K/V heads an eighth of it.
    assert calculated(page, "Llama-2 7B tokens=8192 ") == 4_294_967_296
    expect(field(page, "kv-calculator", "n_kv_heads")).to_have_value("4")
    card = panel(page, "kv-calculator").locator(".kv-kind", has_text="GQA")
    expect(card.locator(".kv-short")).to_contain_text("32 × 1 × 8,192 × 4 × 2 × 128 × 2 = 536,870,912\xa0B")

    chart = drawn(page, "scatterlayer")
    shown(page, "kv-chart", "view=lines x=linear y=linear unit=gb")
    assert page.evaluate(f"[{PLOT}.layout.xaxis.type, {PLOT}.layout.yaxis.type]") == ["linear", "linear"]
    title = chart.locator(".ytitle")
    expect(title).to_have_text("cache, GB")
    assert page.evaluate(f"{PLOT}.data.at(-1).y") == [4.294967296]
    pressed = chart.locator(".kv-choice[aria-pressed=true]")
    expect(pressed).to_have_text(["by context", "linear", "linear", "GB"])

    panel(page, "kv-fit")
    # 85 % of the 40,960 MiB that its driver reports, less 6,738,415,616 weights of 2 bytes and the cache.
    value = shown(page, "kv-fit", "gpu=A100 40 GB fits=true ")
    assert number(value, "free") == 40_960 * 2**20 * 85 // 100 - 13_476_831_232 - 4_294_967_296
    assert number(value, "batch") == 5
    for name, setting in FIT.items():
        expect(field(page, "kv-fit", name)).to_have_value(setting)
    # 10 users of 4,096 tokens: 13,476,831,232 + 21,474,836,480 = 34,951,667,712 bytes, on 85 % of each GPU.
    cells = panel(page, "kv-fit").locator("tbody td:nth-child(3)")
    expect(cells).to_have_text([*"11111111", "2", "2", "3", *"1111"])
    for setting in LINK.split("&"):
        page.wait_for_function("(one) => location.hash.slice(1).split('&').includes(one)", arg=setting)
    leave(page)


def test_every_part_of_the_stack_is_saved(chapter: Page) -> None:
    page = chapter
    panel(page, "kv-chart").get_by_role("button", name=text("kv-chart.stack")).click()
    drawn(page, "barlayer")
    rows = saved(page, "kv-chart")
    found = {(row["model"], int(row["tokens"]), row["what"]): int(row["bytes"]) for row in rows}
    assert len(found) == len(rows)
    llama3 = {2048: 268_435_456, 8192: 1_073_741_824, 32_768: 4_294_967_296}  # 32 × 8 × 2 × 128 × 2 a token
    llama2 = {2048: 1_073_741_824, 8192: 4_294_967_296, 32_768: 17_179_869_184}  # 32 heads keep four times as much
    gemma = {2048: 134_217_728, 8192: 536_870_912, 32_768: 2_147_483_648}  # 8 layers × 8 × 2 × 256 × 2
    latent = {2048: 143_917_056, 8192: 575_668_224, 32_768: 2_302_672_896}  # 61 × 576 × 2
    whole = {"Llama-3 8B": llama3, "Llama-2 7B": llama2, "Gemma-3 12B (text)": gemma}
    full, kept, window = (text(f"kv.stack_self_{part}") for part in ("full_kv", "full_latent", "sliding_kv"))
    expected = {(model, n, full): count for model, counts in whole.items() for n, count in counts.items()}
    expected |= {("DeepSeek-V3", n, kept): count for n, count in latent.items()}
    expected |= {("Gemma-3 12B (text)", n, window): 335_544_320 for n in llama3}  # 40 windows of 1,024
    assert found == expected


def test_every_measured_token_is_saved(chapter: Page, roomy_checkpoint: Path) -> None:
    page = chapter
    race = panel(page, "kv-race")
    race.get_by_role("button", name=text("kv-race.start"), exact=True).click()
    expect(race.get_by_role("button", name=text("kv-race.more"))).to_be_visible(timeout=30_000)
    rows = saved(page, "kv-race")
    ids = page.evaluate("glass.state.trace.tokens.ids")
    net = reference(roomy_checkpoint)
    assert len(rows) == 32
    for row in rows:
        n, best = len(ids), int(run_reference(net, torch.tensor([ids])).logits[0, -1].argmax())
        assert [int(row["tokens"]), int(row["token_id"]), row["same_token"]] == [n, best, "true"]
        # 3 layers of 48 × (16 × 8 + 3 × 80) weights, 320 × 48 in the output, 3 × 6 × 2 × 8 for each query and key.
        assert int(row["cached_multiply_adds"]) == 52_992 + 15_360 + 288 * n
        assert int(row["full_multiply_adds"]) == 52_992 * n + 15_360 + 288 * n * (n + 1) // 2
        assert 0 < float(row["cached_seconds"]) < 5
        assert 0 < float(row["full_seconds"]) < 5
        ids.append(best)
    total = race.locator(".kv-sums strong").inner_text()
    spent = [sum(float(row[f"{name}_seconds"]) for row in rows) for name in ("cached", "full")]
    told = re.search(r"([\d.,]+) ms with the cache, ([\d.,]+) ms without", total)
    assert told, total
    assert [float(one.replace(",", "")) for one in told.groups()] == pytest.approx([1000 * s for s in spent], rel=0.01)
