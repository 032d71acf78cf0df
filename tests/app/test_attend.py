"""The chapter Attention: what its panels show is what transformers computes from the same files."""

import json
import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import Browser, Page, expect

import model
from app.build import build
from app.engine import LocalEngine
from app.hosting import launch
from app.service import Service
from app.texts import text
from tests.app.looking import faults, number, questions, run, shown
from tests.page import leave, open_page, wait_for_run
from tests.reference import reference, run_reference
from visuals.payload import unpack

PROMPT = "The dog plays in the yard. 猫在沙发上"
pytestmark = pytest.mark.prompt(PROMPT)
CLOSE: dict[str, Any] = {"rel": 6e-5, "abs": 2e-5}
AT = {"layer": 2, "head": 4, "query": 9, "key": 3}


class Peer:
    """transformers' own pass: the values, the attention, and what each head writes, from its own modules."""

    def __init__(self, directory: Path, ids: list[int]):
        net = reference(directory)
        self.config, self.v = net.config, {}
        self.out = [layer.self_attn.o_proj.weight.detach() for layer in net.model.layers]
        for i, layer in enumerate(net.model.layers):
            layer.self_attn.v_proj.register_forward_hook(lambda _m, _g, result, i=i: self.v.update({i: result[0]}))
        self.run = run_reference(net, torch.tensor([ids]))

    def mixed(self, layer: int, head: int, query: int) -> torch.Tensor:
        return self.run.attentions[layer][0, head, query].double() @ self.values(layer, head).double()

    def values(self, layer: int, head: int) -> torch.Tensor:
        width, group = self.config.head_dim, self.config.num_attention_heads // self.config.num_key_value_heads
        return self.v[layer][:, head // group * width : (head // group + 1) * width]

    def written(self, layer: int, head: int, query: int) -> torch.Tensor:
        width = self.config.head_dim
        return self.out[layer][:, head * width : (head + 1) * width].double() @ self.mixed(layer, head, query)


def detail(service: Service, **asked: Any) -> dict[str, Any]:
    ids = service.engine.encode("roomy", PROMPT)
    held = service.run(PROMPT, "roomy")
    assert held["tokens"]["ids"] == ids
    answer = json.loads(json.dumps(service.detail({"run": held["id"], **asked})))
    assert answer["kind"] == "detail", answer
    return answer["data"]


@pytest.fixture(scope="module")
def peer(engine: LocalEngine, roomy_checkpoint: Path) -> Peer:
    return Peer(roomy_checkpoint, engine.encode("roomy", PROMPT))


def test_the_values_of_a_layer(service: Service, peer: Peer) -> None:
    v = unpack(detail(service, what="values", layer=1)["v"])
    assert v.shape == (peer.config.num_key_value_heads, len(peer.v[1]), peer.config.head_dim)
    for head in range(peer.config.num_attention_heads):
        group = peer.config.num_attention_heads // peer.config.num_key_value_heads
        np.testing.assert_allclose(v[head // group], peer.values(1, head).numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("layer", "head", "query"), [(0, 0, 0), (1, 5, 7), (2, 3, 10)])
def test_what_a_head_writes(service: Service, peer: Peer, layer: int, head: int, query: int) -> None:
    found = {k: unpack(a) for k, a in detail(service, what="head_write", layer=layer, head=head, query=query).items()}
    written = peer.written(layer, head, query).numpy()
    np.testing.assert_allclose(found["mixed"], peer.mixed(layer, head, query).numpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found["written"], written, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found["stream"], peer.run.hidden_states[layer][0, query].numpy(), rtol=1e-4, atol=1e-5)
    assert list(found["channels"]) == sorted(range(len(written)), key=lambda c: -abs(found["written"][c]))[:8]
    np.testing.assert_allclose(found["rows"] @ found["mixed"], written[found["channels"]], rtol=1e-3, atol=1e-5)


def test_the_heads_together_write_the_attention_output(service: Service, peer: Peer) -> None:
    heads = range(peer.config.num_attention_heads)
    found = [detail(service, what="head_write", layer=1, head=head, query=5) for head in heads]
    total = sum(unpack(one["written"]) for one in found)
    np.testing.assert_allclose(total, unpack(found[0]["attn_out"]), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "asked",
    [
        {"what": "values", "layer": 99},
        {"what": "values", "layer": "0"},
        {"what": "head_write", "layer": 0, "head": 6, "query": 0},
        {"what": "head_write", "layer": 0, "head": 0, "query": -1},
        {"what": "head_write", "layer": 0, "head": 0},
    ],
)
def test_what_the_run_does_not_have(service: Service, asked: dict[str, Any]) -> None:
    held = service.run(PROMPT, "roomy")
    assert service.detail({"run": held["id"], **asked})["code"] == "bad_request"


@pytest.fixture
def chapter(page: Page) -> Page:
    """The chapter with the test's prompt, one cell locked."""
    page.click("nav [data-chapter=attend]")
    page.evaluate("(at) => glass.select(at)", AT)
    return page


def check_cell(page: Page, peer: Peer, at: dict[str, int]) -> None:
    """Every number of the cell that is locked there."""
    layer, head, query, key = (at[name] for name in ("layer", "head", "query", "key"))
    start = f"layer {layer} head {head} query {query} key {key} "
    page.evaluate("(at) => glass.select(at)", at)
    page.wait_for_function(
        "(start) => { const { value } = document.querySelector('section[data-kind=cell]').dataset;"
        " return value?.startsWith(start) && value.includes('written='); }",
        arg=start,
    )
    value = shown(page, "cell", start)
    weight = float(peer.run.attentions[layer][0, head, query, key])
    v, out = peer.values(layer, head)[key].double(), peer.mixed(layer, head, query)
    written, stream = peer.written(layer, head, query), peer.run.hidden_states[layer][0, query].double()
    cosine = torch.nn.functional.cosine_similarity(written, stream, dim=0)
    wanted = {
        "weight": weight,
        "carried_norm": weight * float(v.norm()),
        "part": float(weight * v @ out / (out @ out)),
        "written": float(written.norm()),
        "written_cosine": float(cosine),
    }
    for name, truth in wanted.items():
        assert number(value, name) == pytest.approx(truth, **CLOSE), (name, at)
    assert number(value, "score") * peer.config.head_dim**0.5 == pytest.approx(number(value, "qk"), rel=1e-4)


def test_cells_in_numbers(chapter: Page, peer: Peer) -> None:
    chance = random.Random(0)
    for _ in range(6):
        query = chance.randrange(11)
        place = {"query": query, "key": chance.randrange(query + 1)}
        check_cell(chapter, peer, {"layer": chance.randrange(3), "head": chance.randrange(6), **place})
    check_cell(chapter, peer, AT)
    written = peer.written(AT["layer"], AT["head"], AT["query"])
    line = chapter.locator(".at-channels tr[data-rank='1']")
    channel = int(written.abs().argsort(descending=True)[1])
    expect(line.locator("td").first).to_have_text(str(channel))
    line.hover()
    expect(chapter.locator("section[data-kind=cell]")).to_contain_text(f"[{channel}, i]")


def test_axe_finds_nothing(chapter: Page) -> None:
    shown(chapter, "cell", "layer 2 head 4 query 9 key 3 ")
    assert faults(chapter) == []


def test_a_preview_asks_the_server_for_nothing(chapter: Page) -> None:
    shown(chapter, "cell", "layer 2 head 4 query 9 key 3 ")
    chapter.wait_for_function("document.querySelector('[data-kind=cell]').dataset.value.includes('written=')")
    asked = questions(chapter)
    # Not layer 0, where a chapter opens: its values may have been asked for before the cell was locked.
    chapter.evaluate("glass.preview({ layer: 1, head: 1, query: 8, key: 5 })")
    assert "carried" not in shown(chapter, "cell", "layer 1 head 1 query 8 key 5 ")
    assert "difference=" in shown(chapter, "difference", "layer 1 head 1 minus ")
    chapter.evaluate("glass.endPreview()")
    assert "written=" in shown(chapter, "cell", "layer 2 head 4 query 9 key 3 ")
    assert [data for data in asked if '"values"' in data or "head_write" in data] == []


def test_a_finger_comes_to_a_cell_by_large_buttons(screen: Browser, chapter: Page) -> None:
    expect(chapter.locator(".at-cell-steps:visible")).to_have_count(0)  # a mouse hits the cells
    address = chapter.evaluate("location.href")
    page = open_page(screen, address, 390, 844, has_touch=True, is_mobile=True)
    page.evaluate("(at) => glass.select(at)", AT)
    for kind in ("attention", "cell"):
        steps = page.locator(f"section[data-kind={kind}] .at-cell-steps")
        steps.scroll_into_view_if_needed()
        for button in steps.locator("button").all():
            box = button.bounding_box()
            assert box
            assert min(box["width"], box["height"]) >= 24
        for name, to in (("query_back", "query 8 key 3"), ("key_on", "query 8 key 4"), ("query_on", "query 9 key 4")):
            steps.get_by_label(text(f"marks.{name}")).tap()
            assert shown(page, "cell", f"layer 2 head 4 {to} ")
        steps.get_by_label(text("marks.key_back")).tap()
        assert shown(page, "cell", "layer 2 head 4 query 9 key 3 ")
    page.evaluate("glass.select({ query: 3, key: 3 })")
    expect(page.locator("section[data-kind=cell]").get_by_label(text("marks.key_on"))).to_be_disabled()  # masked
    leave(page)


def test_a_chapter_asks_at_once_though_a_pointer_rests_where_its_panels_come(chapter: Page) -> None:
    chapter.locator(".gp-chip").nth(2).hover()
    assert chapter.evaluate("glass.state.query") == 2
    asked = questions(chapter)
    chapter.locator("nav [data-chapter=ffn]").focus()
    chapter.keyboard.press("Enter")
    assert "token 9 " in shown(chapter, "ffn-token", "layer 2 ")
    assert asked
    assert chapter.evaluate("glass.state.query") == AT["query"]


def test_the_views_of_the_map(chapter: Page) -> None:
    section = chapter.locator("section[data-kind=cell]")
    for view in ("scores", "weighted", "weights"):
        section.locator(f"[data-name={view}]").click()
        expect(section.locator(f"[data-name={view}]")).to_have_attribute("aria-pressed", "true")
        expect(section.locator("[aria-pressed=true]")).to_have_count(1)
    assert chapter.evaluate("glass.settings.get('cell')") == {}


def test_every_head_as_a_thumbnail(chapter: Page, peer: Peer) -> None:
    shape = peer.run.attentions[0].shape
    for layer, head in ((0, 0), (1, 5)):
        chapter.evaluate("(at) => glass.select(at)", {"layer": layer, "head": head})
        chapter.wait_for_function(
            "(start) => /first=0/.test(document.querySelector('[data-kind=heads]').dataset.value)"
            " && document.querySelector('[data-kind=heads]').dataset.value.startsWith(start)",
            arg=f"layer {layer} head {head} ",
        )
        value = shown(chapter, "heads", f"layer {layer} head {head} ")
        weights = peer.run.attentions[layer][0, head].double()
        assert number(value, "first") == pytest.approx(float(weights[2:, 0].mean()), **CLOSE)
        previous = torch.stack([weights[t, t - 1] for t in range(2, shape[-1])]).mean()
        assert number(value, "previous") == pytest.approx(float(previous), **CLOSE)
    box = chapter.locator("section[data-kind=heads] canvas")
    box.focus()
    chapter.keyboard.press("ArrowRight")
    assert chapter.evaluate("[glass.state.layer, glass.state.head]") == [2, 5]
    box.click(position={"x": 90, "y": 40})
    assert chapter.evaluate("[glass.state.layer, glass.state.head]") == [0, 0]


def test_two_heads_and_their_difference(chapter: Page, peer: Peer) -> None:
    section = chapter.locator("section[data-kind=difference]")
    section.get_by_label("one layer down for head B").click()
    value = shown(chapter, "difference", "layer 2 head 4 minus layer 1 head 5 query 9 key 3 ")
    a, b = peer.run.attentions[2][0, 4, 9].double(), peer.run.attentions[1][0, 5, 9].double()
    assert number(value, "difference") == pytest.approx(float(a[3] - b[3]), **CLOSE)
    assert number(value, "apart") == pytest.approx(float((a - b).abs().sum() / 2), **CLOSE)


def test_walking_through_what_was_written(page: Page) -> None:
    run(page, "The cat")
    page.click("nav [data-chapter=attend]")
    for _ in range(2):
        before = page.evaluate("glass.state.trace.T")
        page.click("#step")
        page.wait_for_function("(n) => glass.state.trace.T > n && glass.state.status === 'idle'", arg=before)
    n_prompt = page.evaluate("glass.state.trace.nPrompt")
    section = page.locator("section[data-kind=arcs]")
    page.evaluate("glass.select({ query: 0 })")
    section.get_by_label("the next written token").click()
    section.get_by_label("the next written token").click()
    expect(section.locator("output")).to_have_text("2 / 2")
    assert page.evaluate("glass.state.query") == n_prompt
    assert shown(page, "arcs", "layer 0 head 0 ").split(" key ")[0].endswith(f"query {n_prompt}")


NAMED = {
    "kinds": {
        "previous_token": {
            "definition": "as measured",
            "scores": [],
            "best": [{"layer": 1, "head": 2, "score": 0.91}, {"layer": 0, "head": 0, "score": 0.1}],
            "prompt": "<b>The dog</b>",
        },
        "made_up": {"definition": "A job of its own.", "best": [{"layer": 2, "head": 5, "score": 0.5}], "prompt": None},
    }
}


@pytest.fixture(scope="module")
def named(roomy_checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("named") / "named"
    shutil.copytree(roomy_checkpoint, directory)
    (directory / "heads.json").write_text(json.dumps(NAMED))
    return directory


@pytest.fixture(scope="module")
def named_site(named: Path) -> Iterator[str]:
    demo = build(LocalEngine([model.load(named, device="cpu")]))
    yield launch(demo)
    demo.close(verbose=False)


@pytest.mark.thorough
def test_the_heads_that_a_file_names(browser: Browser, named_site: str) -> None:
    page = open_page(browser, f"{named_site}#lang=en&chapter=attend")
    section = page.locator("section[data-kind=heads]")
    named = section.locator(".at-jobs", has_text="A job of its own.")
    expect(named.locator(".at-job").first).to_contain_text("Previous token")
    expect(section.locator("b")).to_have_count(0)
    section.get_by_text("layer 2 head 5: 0.500").click()
    assert page.evaluate("[glass.state.layer, glass.state.head]") == [2, 5]
    section.get_by_text("Run the text that shows it best").click()
    page.wait_for_function("glass.state.trace.prompt === '<b>The dog</b>'")
    wait_for_run(page)
    assert page.evaluate("[glass.state.layer, glass.state.head]") == [1, 2]
    expect(page.locator("section[data-kind=cell] .gp-title")).to_contain_text("Previous token (0.91)")
    leave(page)


def test_the_first_chapter_names_the_selected_heads_job(browser: Browser, named_site: str) -> None:
    page = open_page(browser, f"{named_site}#lang=en&layer=1&head=2")
    section = page.locator("section[data-kind=attention]")
    job = section.locator(".gp-job")
    expect(job).to_have_text("head 2: Previous token")
    expect(job).to_have_attribute("title", re.compile("Looks at the token just before"))
    expect(section.locator(".gp-readout")).to_contain_text("Previous token (0.91)")
    page.evaluate("glass.select({ layer: 2, head: 5 })")
    expect(job).to_have_text("head 5: made_up")
    page.evaluate("glass.select({ layer: 0, head: 0 })")  # a score of 0.1 makes no name
    expect(job).to_have_count(0)
    leave(page)
