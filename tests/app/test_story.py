"""The story: what opens, scene by scene, and the ways between it and the workbench."""

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
import torch
from playwright.sync_api import Browser, Page, Route, expect

import model
from app.engine import LocalEngine
from app.examples import EXAMPLES, REAL_EXAMPLES
from app.session import Runs
from app.texts import LANGUAGES, text, text_file
from model import smollm2
from model.analysis.last_token import read_text
from model.analysis.looks_back import looks_back
from model.analysis.sinks import last_attention, sinks
from model.checkpoint import BUNDLED
from tests.app.looking import as_chance, faults, number, scene_of, settled
from tests.app.test_digits import significant
from tests.app.test_lessons import LEGIBLE, SMALL
from tests.one_of import one_of
from tests.page import leave, new_page, open_page, wait_for_run, watched
from tests.peer import Peer
from tests.plain import plain_site

PROMPT = "The dog plays in the yard. 猫在沙发上"
SHORT = "The dog plays in the"
SPREAD = "Tom is in the kitchen. Lily is in the garden. Tom is in"  # hide any one word: the next one hardly changes
SCENES = ("answer", "pieces", "norm", "looks", "rope", "group", "carried", "gate", "layers", "choice", "cache")
CLOSE = {"rel": 6e-5, "abs": 2e-5}
WORDS = 45
# Whether a stop of the map lies inside it from its left to its right.
WHOLE = """(stop) => {
  const [inner, outer] = [stop, stop.closest(".st-mini")].map((one) => one.getBoundingClientRect());
  return inner.left >= outer.left - 1 && inner.right <= outer.right + 1;
}"""


@pytest.fixture
def story(browser: Browser, panels_alone: str) -> Iterator[Page]:
    """The page as somebody finds it who has never been here."""
    page = new_page(browser, panels_alone, story=True)
    with watched(page):
        page.goto(f"{panels_alone}#prompt={quote(PROMPT)}")
        wait_for_run(page)
        page.locator(".st-scene:not([hidden])").first.wait_for()
        yield page
    leave(page)


# A browser that is so busy that it tells what came into view a second late, several changes at once.
BUSY = """window.IntersectionObserver = class extends IntersectionObserver {
  constructor(told, init) {
    let held = [];
    super((changes, observer) => {
      if (!held.length) setTimeout(() => told(held.splice(0), observer), 1000);
      held.push(...changes);
    }, init);
  }
}"""


def value(page: Page, scene: str) -> str:
    """What a scene shows, once it is drawn."""
    place = scene_of(page, scene)
    expect(place).not_to_have_attribute("data-value", re.compile(r" key \? "))  # what is needed is still measured
    return place.get_attribute("data-value") or ""


def place_of(page: Page) -> tuple[int, int, int, int]:
    """Layer, head, query and key that the scenes on attention tell of."""
    found = re.match(r"layer (\d+) head (\d+) query (\d+) key (\d+) ", value(page, "looks"))
    assert found
    layer, head, query, key = map(int, found.groups())
    return layer, head, query, key


def needed(page: Page) -> int:
    """The token that the answer needs most, as the first scene says."""
    found = re.search(r" key (\d+) ", value(page, "answer"))
    assert found, "no token is needed for this answer"
    return int(found[1])


def needed_now(page: Page) -> bool:
    """Whether the answer needs any token."""
    return " key - " not in value(page, "answer")


def test_every_scene_shows_what_transformers_computes(story: Page, roomy_checkpoint: Path) -> None:
    ids = story.evaluate("glass.state.trace.tokens.ids")
    layer, head, query, key = place_of(story)
    peer = Peer(roomy_checkpoint, ids)
    p = peer.run.logits[0, -1].double().softmax(-1)
    best = int(p.argmax())
    assert value(story, "answer").startswith(f"answer {best} ")
    assert number(value(story, "answer"), "probability") == pytest.approx(float(p[best]), **CLOSE)
    assert value(story, "pieces") == f"tokens {len(ids)} ids {','.join(map(str, ids))}"
    assert number(value(story, "norm"), "rms") == pytest.approx(peer.rms(layer, key), **CLOSE)
    weight = float(peer.run.attentions[layer][0, head, query, key])
    assert number(value(story, "looks"), "weight") == pytest.approx(weight, **CLOSE)
    config = peer.config
    size = 2 * config.num_hidden_layers * config.head_dim * 4
    assert value(story, "group") == (
        f"heads {config.num_attention_heads} kv {config.num_key_value_heads} "
        f"bytes {size * config.num_key_value_heads} of {size * config.num_attention_heads}"
    )
    assert number(value(story, "carried"), "weight") == pytest.approx(weight, **CLOSE)
    gate = re.match(r"layer (\d+) neuron (\d+) ", value(story, "gate"))
    assert gate
    at_gate = int(gate[1]), len(ids) - 1, int(gate[2])
    wanted = {name: peer.neuron(at_gate[0], name, *at_gate[1:]) for name in ("gate", "up")}
    wanted["product"] = float(torch.nn.functional.silu(torch.tensor(wanted["gate"]))) * wanted["up"]
    for name, one in wanted.items():
        assert number(value(story, "gate"), name) == pytest.approx(one, **CLOSE)
    assert number(value(story, "choice"), "probability") == pytest.approx(float(p[best]), **CLOSE)
    assert value(story, "cache") == f"tokens {len(ids)} bytes {size * config.num_key_value_heads * len(ids)}"


def test_the_neuron_is_told_with_what_all_of_its_layer_add(story: Page, roomy_checkpoint: Path) -> None:
    told = value(story, "gate")
    found = re.match(r"layer (\d+) neuron (\d+) ", told)
    assert found
    peer = Peer(roomy_checkpoint, story.evaluate("glass.state.trace.tokens.ids"))
    stream, written = peer.inputs["model.norm"][0, -1], peer.outputs[f"model.layers.{found[1]}.mlp"][-1]
    rms = (stream.square().mean() + peer.config.rms_norm_eps).sqrt()
    best = int(peer.run.logits[0, -1].argmax())
    whole = float(peer.net.lm_head.weight[best].detach() @ (peer.net.model.norm.weight.detach() * written / rms))
    assert number(told, "whole") == pytest.approx(whole, rel=1e-3, abs=1e-4)
    said = story.locator("[data-scene=gate] .st-says")
    expect(said).to_contain_text(f"the layer’s {peer.config.intermediate_size:,} together")


def test_what_gamma_does_is_told_of_its_smallest_and_its_largest(story: Page, roomy_checkpoint: Path) -> None:
    layer, _, _, key = place_of(story)
    peer = Peer(roomy_checkpoint, story.evaluate("glass.state.trace.tokens.ids"))
    gamma = peer.net.model.layers[layer].input_layernorm.weight.detach()
    divided = peer.run.hidden_states[layer][0, key] / peer.rms(layer, key)
    told = value(story, "norm")
    assert [number(told, name) for name in ("low", "high")] == pytest.approx(
        [float(gamma.min()), float(gamma.max())], **CLOSE
    )
    rows = story.locator("[data-scene=norm] .st-gamma tbody tr")
    for row, at in zip(rows.all(), (int(gamma.argmin()), int(gamma.argmax())), strict=True):
        shown = row.locator("td").evaluate_all("(all) => all.map((one) => Number(one.title))")
        assert shown == pytest.approx([float(x) for x in (divided[at], gamma[at], divided[at] * gamma[at])], rel=1e-4)
        x, factor, gives = (float(one.replace("−", "-")) for one in row.locator("td").all_inner_texts())
        assert x * factor == pytest.approx(gives, rel=0.015)  # of numbers with three digits, as the head says
    story.set_viewport_size({"width": 390, "height": 844})
    ends = "(one) => one.getBoundingClientRect().right"
    assert story.locator(".st-gamma").evaluate(ends) < story.locator("[data-scene=norm]").evaluate(ends)
    cells = story.locator(".st-gamma :is(th, td)").evaluate_all(f"(all) => all.map({ends})")
    assert max(cells) <= story.locator("[data-scene=norm] .st-says").evaluate(ends) + 1


def test_layer_by_layer_all_chances_are_told_in_one_form(story: Page) -> None:
    value(story, "layers")
    said = story.locator("[data-scene=layers] .st-share").all_inner_texts()
    assert len({"%" in one for one in said}) == 1, said


def test_where_layers_go_down_and_where_they_go_up_is_said(story: Page) -> None:
    value(story, "layers")
    table = story.locator("[data-scene=layers]")
    expect(table.locator("thead .st-down")).to_have_text(text("story.layers_down"))
    rows = table.locator("tbody tr > th").all_inner_texts()
    assert rows[0] == text("story.layers_start")  # the first on top
    story.evaluate("glass.open('story-cache')")
    grid = story.locator(".st-told:not([hidden]) .st-grid").first
    grid.scroll_into_view_if_needed()
    up = grid.get_by_text(text("marks.layers"), exact=True)
    expect(up).to_be_visible()
    first, last = (
        grid.get_by_text(text("story-cache.layer", layer=layer), exact=True).bounding_box()
        for layer in (0, story.evaluate("glass.state.trace.model.n_layers") - 1)
    )
    assert first
    assert last
    assert last["y"] < first["y"] < (up.bounding_box() or {"y": 0})["y"]


def test_the_scenes_look_where_the_answer_looks(story: Page, roomy_checkpoint: Path) -> None:
    """From the last token at the one that it needs most, with the head that adds most from there."""
    lm = model.load(roomy_checkpoint, device="cpu")
    ids, key = story.evaluate("glass.state.trace.tokens.ids"), needed(story)
    read = read_text(lm, ids)
    attention = last_attention(read)
    found = looks_back(read, read.answer, key, attention.numpy(), sinks(read, attention))
    head = found.head
    assert place_of(story) == (head.layer, head.head, len(ids) - 1, key)
    assert value(story, "carried").startswith(f"layer {head.layer} head {head.head} key {key} ")
    assert value(story, "norm").startswith(f"layer {head.layer} token {key} ")


def test_the_score_at_another_distance_is_that_of_rope(story: Page, roomy_checkpoint: Path) -> None:
    """What the slider says is q·k after transformers' own rotation, at that distance."""
    layer, _, query, _ = place_of(story)
    found = re.match(r"head (\d+) key (\d+) distance (\d+) ", value(story, "rope"))
    assert found
    head, key, own = map(int, found.groups())
    assert own == query - key
    peer = Peer(roomy_checkpoint, story.evaluate("glass.state.trace.tokens.ids"))
    group = peer.config.num_attention_heads // peer.config.num_key_value_heads
    q, k = (
        torch.as_tensor(np.asarray(peer.head(layer, name, one, position)))
        for name, one, position in (("q", head, query), ("k", head // group, key))
    )
    value(story, "rope")
    slider = story.locator("[data-scene=rope] input[type=range]")
    for distance in (0, 1, 7, 40):
        slider.evaluate("(one, to) => { one.value = to; one.dispatchEvent(new Event('input')); }", distance)
        expect(story.locator("[data-scene=rope]")).to_have_attribute("data-value", re.compile(f" distance {distance} "))
        cos, sin = peer.net.model.rotary_emb(q[None, None], torch.tensor([[0, distance]]))
        half = len(q) // 2
        turned = q * cos[0, 1] + torch.cat((-q[half:], q[:half])) * sin[0, 1]
        wanted = float(turned @ k) / len(q) ** 0.5
        assert number(value(story, "rope"), "score") == pytest.approx(wanted, rel=1e-4, abs=1e-4), distance


def test_the_dials_and_the_rest_of_the_pairs_add_up_to_the_score(browser: Browser) -> None:
    with plain_site(
        LocalEngine([model.load(device="cpu")]), Runs()
    ) as address:  # whose heads have more pairs than dials
        page = open_page(browser, f"{address}#lang=en", story=True)
        scene = page.locator("[data-scene=rope]")
        value(page, "rope")
        slider = scene.locator("input[type=range]")
        for distance in (None, 0, 5):
            if distance is not None:
                slider.evaluate("(one, to) => { one.value = to; one.dispatchEvent(new Event('input')); }", distance)
                expect(scene).to_have_attribute("data-value", re.compile(f" distance {distance} "))
            said = scene.locator(".st-total").inner_text().replace("−", "-")
            drawn, others, rest, whole = map(float, re.findall(r"-?\d+(?:\.\d+)?", said))
            unit = 10.0 ** -len(said.rstrip(".").partition("q·k = ")[2].partition(".")[2])
            captions = [words.replace("−", "-").split()[-1] for words in scene.locator("figcaption").all_inner_texts()]
            assert all(significant(one.strip("+-")) <= 3 for one in captions)
            assert sum(map(float, captions)) == pytest.approx(drawn, abs=1e-9)
            assert drawn + rest == pytest.approx(whole, abs=1e-9)
            head_dim = page.evaluate("glass.state.trace.model.head_dim")
            assert len(captions) + others == head_dim / 2
            assert number(value(page, "rope"), "score") == pytest.approx(
                whole / head_dim**0.5, abs=unit / head_dim**0.5
            )
        leave(page)


def test_a_token_that_is_hidden_costs_what_knocking_it_out_costs(story: Page, roomy_checkpoint: Path) -> None:
    lm = model.load(roomy_checkpoint, device="cpu")
    key = needed(story)
    without = number(value(story, "answer"), "without")
    lost = model.knock_out(lm, story.evaluate("glass.state.trace.tokens.ids"))
    p = number(value(story, "answer"), "probability")
    left = min(1.0, p * float(np.exp(-lost[key])))
    assert without == pytest.approx(left, rel=1e-3)
    read = read_text(lm, story.evaluate("glass.state.trace.tokens.ids"))
    instead = looks_back(read, read.answer, key, last_attention(read).numpy())
    value(story, "looks")  # by then it is known what would come
    story.click("[data-act=hide]")
    word = lm.tokenizer.pieces([instead.instead])[0].strip()
    expect(story.locator(".st-gap")).to_have_text(re.compile(f"^{re.escape(word)}( \\(|$)"))  # and what it means
    expect(story.locator("[data-scene=answer] .is-key")).to_be_visible()
    first = story.locator(".st-bars tr").last.locator(".st-share")
    assert float(first.get_attribute("title") or "nan") == pytest.approx(instead.p_instead, rel=1e-3)
    after = story.locator(".st-bars .is-after .st-share")
    assert float(after.get_attribute("title") or "nan") == pytest.approx(left, rel=1e-3)
    before = story.locator(".st-bars .is-before .st-share").get_attribute("title")
    assert float(before or "nan") == pytest.approx(p, rel=1e-4)
    story.click("[data-act=back]")
    expect(story.locator(".st-bars .is-now")).to_be_visible()
    expect(story.locator("[data-scene=answer] .is-key")).to_have_count(0)


def test_heads_are_switched_off_and_on_again_there(story: Page, roomy_checkpoint: Path) -> None:
    answer = int(value(story, "answer").split()[1])
    layer, head, *_ = place_of(story)
    before = story.locator(".st-bars .st-share").get_attribute("title")
    story.click("[data-act=heads]")
    story.wait_for_function("glass.state.trace.changes.heads?.length")
    expect(story.locator(".st-bars .is-before .st-share")).to_have_attribute("title", before or "")
    expect(story.locator("[data-scene=answer] .st-changed")).to_be_hidden()  # its list stands under the bars
    after = story.locator(".st-bars :is(.is-after, .is-first) .st-share").last
    assert float(after.get_attribute("title") or "nan") == pytest.approx(
        story.evaluate("Math.exp(glass.state.trace.next.logits.data[0] - glass.state.trace.next.logZ)"), rel=1e-4
    )
    off = [(layer, head) for layer, head in story.evaluate("glass.state.trace.changes.heads")]
    peer = Peer(roomy_checkpoint, story.evaluate("glass.state.trace.tokens.ids"), off)
    assert answer not in story.evaluate("glass.state.trace.next.ids")  # so it is read among all logits
    p = float(peer.run.logits[0, -1].double().softmax(-1)[answer])
    left = story.locator(".st-bars .is-after .st-share")
    assert float(left.get_attribute("title") or "nan") == pytest.approx(p, rel=1e-3)
    said = story.locator("[data-scene=answer] .st-says")
    expect(said).to_contain_text(f"{len(off)} of its heads")
    expect(said).to_contain_text(as_chance(p))
    if needed_now(story):  # else no look leads to a head
        chosen = f"story.did_heads_chosen_{'too' if (layer, head) in off else 'not'}"
        said = text(chosen, head=text("story.head", layer=layer, head=head), alone="").removesuffix(".")
        which = story.locator("[data-scene=answer] .st-fold")
        which.locator("summary").click()
        expect(which).to_contain_text(said)
    story.click("[data-act=back]")
    story.wait_for_function("!glass.state.trace.changes.heads?.length")
    expect(story.locator(".st-bars .is-now .st-share")).to_have_attribute("title", before or "")


def test_scenes_of_a_changed_run_say_what_is_changed_in_it(story: Page) -> None:
    value(story, "norm")
    said = story.locator("[data-scene=norm] .st-changed")
    expect(said).to_be_hidden()
    story.evaluate("glass.change({ heads: [[1, 2]] })")
    expect(said).to_contain_text(re.compile(r"head 2 of layer 1", re.IGNORECASE))
    said.get_by_role("button", name=text("why.back_on")).click()
    expect(said).to_be_hidden()
    assert story.evaluate("glass.state.trace.changes.heads ?? []") == []
    assert story.evaluate("document.activeElement.dataset.scene") == "norm"


def test_only_the_first_scene_lists_what_is_changed_in_a_run(story: Page) -> None:
    story.set_viewport_size({"width": 390, "height": 844})
    value(story, "answer")
    first, later = (story.locator(f"[data-scene={name}] .st-changed") for name in ("answer", "norm"))
    story.evaluate("glass.change({ heads: [[0, 1], [1, 2], [1, 3]] })")
    expect(first).to_contain_text(re.compile(r"head 2 of layer 1", re.IGNORECASE))
    value(story, "norm")
    expect(later).to_have_text(text("off.count", count=3) + text("why.back_on"))
    assert later.evaluate("(one) => one.getBoundingClientRect().height") < 70
    later.get_by_role("button").click()
    expect(later).to_be_hidden()


def test_the_arrow_leads_from_the_gap_to_the_word_wherever_their_lines_are(story: Page) -> None:
    story.emulate_media(reduced_motion="reduce")
    key = needed(story)
    # how far the arrow's begin is above the gap, and its end from the top of the word
    where = """(key) => {
      const box = (name) => document.querySelector(`[data-scene=answer] .wy-text ${name}`).getBoundingClientRect();
      const [gap, word, tip] = [".st-gap", `[data-position="${key}"]`, ".wy-arcs .wy-tip"].map(box);
      const way = document.querySelector("[data-scene=answer] .wy-arcs path").getAttribute("d");
      const y = Number(/[\\d.]+$/.exec(way)[0]);
      const middle = (one) => one.x + one.width / 2;
      return [gap.top - box(".wy-arcs").top - y, tip.bottom - word.top, middle(tip) - middle(word)];
    }"""
    for width, height in ((1280, 720), (390, 844), (390, 430), (390, 844)):  # the last are a phone whose keyboard opens
        story.set_viewport_size({"width": width, "height": height})
        story.wait_for_timeout(300)
        settled(story)
        assert story.evaluate(where, key) == pytest.approx([3, 0, 0], abs=1.5), (width, height)


def test_nothing_is_tinted_of_an_answer_that_needs_no_single_word(browser: Browser) -> None:
    lm = model.load(device="cpu")
    with plain_site(LocalEngine([lm]), Runs()) as address:
        page = open_page(browser, f"{address}#lang=en&chapter=story&prompt={quote(SPREAD)}", story=True)
        assert not needed_now(page)
        scene = page.locator("[data-scene=answer]")
        assert not scene.locator(".is-lost, .is-gained").count()
        expect(scene).not_to_contain_text(text("story.answer_colours"))
        expect(scene).not_to_contain_text(text("story.answer_colours_arrow"))
        leave(page)


def test_a_space_at_the_end_is_said_under_the_answer_and_one_press_runs_the_text_without_it(browser: Browser) -> None:
    lm = model.load(device="cpu")
    assert lm.tokenizer.pieces(lm.tokenizer.encode(f"{SHORT} "))[-1] == " "
    with plain_site(LocalEngine([lm]), Runs()) as address:
        page = open_page(browser, f"{address}#lang=en&chapter=story&prompt={quote(f'{SHORT} ')}", story=True)
        scene = page.locator("[data-scene=answer]")
        said = scene.get_by_text(text("story.answer_blank"))
        expect(said).to_be_visible()
        needed_now(page)  # what is measured has come
        answer, remark = (one.bounding_box() for one in (scene.locator(".st-says"), said))
        assert answer
        assert remark
        assert 0 <= remark["y"] - answer["y"] - answer["height"] < 20
        page.click("#language [value=zh]")
        expect(scene.get_by_text(text("story.answer_blank", "zh"))).to_be_visible()
        scene.get_by_role("button", name=text("story.answer_unblank", "zh")).click()
        page.wait_for_function("(prompt) => glass.state.trace.prompt === prompt", arg=SHORT)
        expect(page.locator("#prompt textarea")).to_have_value(SHORT)
        expect(scene.locator(".st-blank")).to_be_empty()
        leave(page)


def test_a_pointer_on_a_word_leaves_the_colours_to_what_the_answer_needs(story: Page) -> None:
    needed(story)
    word = story.locator("[data-scene=answer] .wy-text [data-position]").first
    tints = "(word) => [word, word.parentElement].map((one) => getComputedStyle(one).backgroundColor)"
    before = word.evaluate(tints)
    word.hover()
    assert word.evaluate(tints) == before
    assert before[1] == "rgba(0, 0, 0, 0)"


def test_the_choice_says_its_temperature_and_how_much_all_others_have(story: Page) -> None:
    value(story, "choice")
    scene = story.locator("[data-scene=choice]")
    scene.locator("input").fill("2.8")
    expect(scene.locator(".st-says")).to_contain_text("temperature 2.8")
    shares = scene.locator(".st-share").evaluate_all("(all) => all.map((one) => Number(one.title))")
    assert sum(shares) == pytest.approx(1, abs=1e-4)
    vocabulary = story.evaluate("glass.state.trace.model.vocab_size")
    others = text("story.choice_others", count=f"{vocabulary - len(shares) + 1:,}")
    expect(scene.locator(".is-others th")).to_have_text(others)
    drawn = scene.locator(".st-bar").evaluate_all(
        "(all) => all.map((one) => one.getBoundingClientRect().width / one.parentElement.getBoundingClientRect().width)"
    )
    assert drawn == pytest.approx(shares, abs=0.02)  # of a track that is seen, and as long as 1; the least has a pixel
    tracks = scene.locator(".st-bar").evaluate_all(
        "(all) => all.map((one) => getComputedStyle(one.parentElement).backgroundColor)"
    )
    assert "rgba(0, 0, 0, 0)" not in tracks


def test_no_temperature_of_the_slider_makes_a_chance_0_or_1(browser: Browser) -> None:
    with plain_site(LocalEngine([model.load(BUNDLED, device="cpu")]), Runs()) as address:
        page = open_page(browser, f"{address}#lang=en", story=True)
        value(page, "choice")
        scene = page.locator("[data-scene=choice]")
        scene.locator("input").fill("0.1")
        shares = scene.locator(".st-share")
        expect(shares.first).to_have_text(text("chance.nearly_all_of_it"))
        assert set(shares.all_inner_texts()[1:]) == {text("chance.hardly_any")}
        leave(page)


def test_the_line_under_the_map_has_no_hole(story: Page) -> None:
    story.set_viewport_size({"width": 390, "height": 844})
    value(story, "answer")
    gaps = story.locator(".st-stop:visible").evaluate_all(
        """(all) => all.map((one) => one.getBoundingClientRect())
          .map(({ left }, i, boxes) => (i ? left - boxes[i - 1].right : 0))"""
    )
    assert len(gaps) > 5
    assert max(gaps) <= 1


def named(pieces: list[str], t: int) -> str:
    """A token in a sentence: with its position where its word stands in the text more than once."""
    words = [piece.strip() for piece in pieces]
    return text("why.token_at" if words.count(words[t]) > 1 else "why.token", piece=words[t], position=t)


def test_the_frame_of_the_map_is_at_the_cell_that_is_told(story: Page) -> None:
    """At the one under the pointer, or else at the one that was clicked; and there the button leads."""
    layer, head, query, key = place_of(story)
    scene = story.locator("[data-scene=looks]")
    framed = """(scene) => {
      const [frame, ...cells] = [".st-mark", "[data-at]"].flatMap((one) => [...scene.querySelectorAll(one)]);
      const at = (one) => ["x", "y"].map((name) => one.getAttribute(name)).join();
      return cells.find((cell) => at(cell) === at(frame)).dataset.at;
    }"""

    def told(row: int, column: int) -> None:
        where = f"layer {layer} head {head} query {row} key {column} "
        expect(scene).to_have_attribute("data-value", re.compile(f"^{where}"))
        assert scene.evaluate(framed) == f"{row} {column}"

    told(query, key)
    scene.locator('rect[data-at="3 1"]').hover()
    told(3, 1)
    pieces = story.evaluate("glass.state.trace.tokens.pieces")
    assert scene.locator(".st-says span:has(> b)").all_inner_texts() == [named(pieces, t) for t in (3, 1)]
    scene.locator(".st-says").hover()
    told(query, key)
    scene.locator('rect[data-at="4 2"]').click()
    scene.locator(".st-says").hover()
    told(4, 2)
    scene.locator("rect.st-masked").first.click()  # what no row sees is no cell to read
    later = text("story.looks_later", **{"from": named(pieces, 0), "to": named(pieces, 1)})
    expect(scene.get_by_text(later)).to_be_visible()
    scene.locator(".st-says").hover()
    told(4, 2)
    scene.locator(".st-foot button").click()
    story.wait_for_function("(at) => [glass.state.query, glass.state.key].join() === at", arg="4,2")


def test_looks_that_add_nothing_are_no_reason(browser: Browser) -> None:
    """Where hiding a token costs much, and the heads that look there take from the answer, later layers are named."""
    lm = model.load(device="cpu")
    prompt = "Lily likes the cat and Tom likes the"
    read = read_text(lm, lm.tokenizer.encode(prompt))
    with plain_site(LocalEngine([lm]), Runs()) as address:
        page = open_page(browser, f"{address}#lang=en&chapter=story&prompt={quote(prompt)}", story=True)
        value(page, "looks")
        key = needed(page)
        attention = last_attention(read)
        parked = sinks(read, attention)
        found = looks_back(read, read.answer, key, attention.numpy(), parked)
        assert found.together <= 0
        scene = page.locator("[data-scene=looks]")
        expect(scene).to_contain_text(text("story.looks_heads_later", to=named(lm.tokenizer.pieces(read.ids), key)))
        less = text("story.looks_follows_less", head="", adds="").removesuffix(".").rpartition(":")[2]
        scene.locator("summary").click()  # which head, and why
        assert (less in scene.inner_text()) is (found.head.adds <= 0)
        assert (text("story.looks_apart") in scene.inner_text()) is bool(len(parked))
        value(page, "carried")
        last = text("why.token_at", piece="the", position=len(read.ids) - 1)  # one of three
        expect(page.locator("[data-scene=carried] .st-says")).to_contain_text(last)
        leave(page)


def test_dials_stay_where_they_are_while_the_slider_moves(story: Page) -> None:
    value(story, "rope")
    places = "(all) => all.map((one) => one.getBoundingClientRect().left)"
    seen = []
    for apart in (0, 1, 7, 20, 33, 64):
        story.locator("[data-scene=rope] input").fill(str(apart))
        settled(story)
        seen.append(story.locator(".st-dial").evaluate_all(places))
    assert all(one == seen[0] for one in seen)


def test_a_term_is_explained_where_it_first_stands(story: Page) -> None:
    value(story, "looks")
    terms = story.locator("[data-scene=looks] .st-says .gl-term")
    term = terms.and_(story.locator("[data-term=softmax]"))
    term.wait_for()
    story.locator("[data-scene=looks] .st-map rect[data-at]").first.hover()  # the scene is drawn again
    settled(story)
    term.click()
    expect(story.locator(".gl-card")).to_contain_text(text("glossary.softmax_means"))
    story.keyboard.press("Escape")
    assert story.locator(".gl-term[data-term=softmax]").count() == 1
    assert story.locator(".st-says b .gl-term").count() == 0  # a run's own words are no terms


def test_a_token_that_is_written_stands_under_the_bar(story: Page) -> None:
    expect(story.locator(".page-written")).to_be_hidden()
    story.click("#step")
    story.wait_for_function("glass.state.trace.T > glass.state.trace.nPrompt && glass.state.status === 'idle'")
    piece = story.evaluate("glass.state.trace.tokens.pieces.at(-1)")
    expect(story.locator(".page-written ins")).to_have_text(piece.strip())
    expect(story.locator(".page-tells")).to_have_text(text("page.tells"))


def test_a_phone_that_is_turned_shows_the_scene_that_was_read(screen: Browser) -> None:
    with plain_site(LocalEngine([model.load(device="cpu")]), Runs()) as address:
        page = new_page(screen, address, 390, 844, story=True, has_touch=True, is_mobile=True)
        page.goto(f"{address}#lang=en")
        wait_for_run(page)
        value(page, "rope")
        page.locator(".st-stop[data-stop=rope]").tap()
        page.wait_for_timeout(1000)
        page.evaluate("scrollBy(0, 120)")  # as by a finger: not the place to which the tap brought it
        page.wait_for_timeout(1000)
        marked = page.locator(".st-stop[aria-current]")
        for width, height in ((844, 390), (390, 844)):
            expect(marked).to_have_attribute("data-stop", "rope")
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_timeout(1000)
            settled(page)
            expect(page.locator("[data-scene=rope]")).to_be_in_viewport()
        expect(marked).to_have_attribute("data-stop", "rope")
        leave(page)


# What of a scene is cut: beyond the window or its own drawing, or within an element that hides what has no room.
LACKS_ROOM = """(scene) => [...scene.querySelectorAll("*")].filter((one) => {
  if (!one.checkVisibility({ visibilityProperty: true }) || one.closest(".gp-hidden, .wy-arcs")) return false;
  const { left, right, width } = one.getBoundingClientRect();
  if (!width) return false;
  const drawing = one.closest("text") && one.ownerSVGElement.getBoundingClientRect();
  const [least, most] = drawing ? [drawing.left, drawing.right] : [0, innerWidth];
  const hides = one instanceof HTMLElement && getComputedStyle(one).overflowX !== "visible";
  return left < least - 1 || right > most + 1 || (hides && one.scrollWidth > one.clientWidth + 1);
}).map((one) => `${one.localName}.${one.getAttribute("class")} ${one.textContent.trim().slice(0, 40)}`)"""


@pytest.mark.parametrize("code", one_of(LANGUAGES))
def test_on_a_phone_that_lies_nothing_of_a_scene_is_cut(browser: Browser, bundled: str, code: str) -> None:
    page = new_page(browser, bundled, 844, 390, story=True, has_touch=True, is_mobile=True)
    page.goto(f"{bundled}#lang={code}&chapter=story")
    wait_for_run(page)
    for scene in SCENES:
        value(page, scene)
        settled(page)
        assert page.locator(f"[data-scene={scene}]").evaluate(LACKS_ROOM) == [], scene
        assert page.evaluate("document.documentElement.scrollWidth") <= 844, scene
    leave(page)


def test_what_a_keyboard_leaves_of_a_phone_shows_the_word_in_its_gap(screen: Browser, panels_alone: str) -> None:
    page = new_page(screen, panels_alone, 390, 430, story=True, has_touch=True, is_mobile=True)
    with watched(page):
        page.goto(panels_alone)
        wait_for_run(page)
        for prompt in (SHORT, " ".join([PROMPT] * 4)):
            page.locator("#prompt textarea").tap()
            page.fill("#prompt textarea", prompt)
            page.locator("#run").tap()
            page.wait_for_function("(prompt) => glass.state.trace.prompt === prompt", arg=prompt)
            settled(page)
            box = page.locator("[data-scene=answer] .st-gap").bounding_box()
            assert box
            assert 0 < box["y"] < box["y"] + box["height"] < 430
            title = page.locator("[data-scene=answer] h2").bounding_box()
            map_ends = page.locator(".st-mini").evaluate("(one) => one.getBoundingClientRect().bottom")
            assert title
            if prompt == SHORT:
                assert map_ends <= title["y"]
    leave(page)


def test_the_last_scene_says_what_writing_does_to_the_others_and_takes_it_back(story: Page) -> None:
    value(story, "cache")
    scene = story.locator("[data-scene=cache]")
    back = scene.get_by_text(text("story.cache_back"))
    expect(scene).to_contain_text(text("story.cache_writes"))
    expect(back).to_be_hidden()
    scene.get_by_text(text("story.cache_write")).click()
    expect(scene).to_contain_text(text("story.cache_written", count=1))
    expect(scene.locator(".is-new")).to_have_count(1)
    back.click()
    expect(scene).to_contain_text(text("story.cache_writes"))
    assert story.evaluate("glass.state.trace.T === glass.state.trace.nPrompt")
    expect(back).to_be_hidden()


@pytest.mark.parametrize("top", [300, 480])
def test_the_button_that_writes_a_token_stays_under_the_thumb(screen: Browser, panels_alone: str, top: int) -> None:
    page = open_page(screen, panels_alone, 390, 844, story=True)
    button = page.locator("[data-scene=cache]").get_by_text(text("story.cache_write"))
    while not button.is_visible():
        page.evaluate("scrollBy({ top: 700, behavior: 'instant' })")
        page.wait_for_timeout(100)
    settled(page)
    button.evaluate("(one, top) => scrollBy({ top: one.getBoundingClientRect().top - top, behavior: 'instant' })", top)
    settled(page)
    button.evaluate("(one) => one.click()")  # where it stands: Playwright would scroll
    page.wait_for_function("glass.state.trace.T > glass.state.trace.nPrompt && glass.drawn()")
    settled(page)
    box = page.locator("[data-scene=cache] .st-acts button").first.bounding_box()
    assert box
    assert abs(box["y"] - top) < 2
    leave(page)


def test_another_word_is_read_at_once_and_the_old_sentence_comes_back(story: Page) -> None:
    value(story, "answer")
    swap = story.locator(".st-swaps button").first
    swap.wait_for()
    wanted = swap.get_attribute("data-swap")
    promised = re.search(r"it would answer “(.+)” \((.+)\)$", swap.inner_text())
    swap.click()
    story.wait_for_function("(text) => glass.state.trace.prompt === text", arg=wanted)
    first = story.locator(".st-bars .is-first")
    assert promised
    expect(first.locator(".st-best")).to_have_text(promised[1])
    expect(first.locator(".st-share")).to_have_text(promised[2])  # how sure it would be is said before
    expect(story.locator(".st-bars .is-first")).to_be_visible()  # another answer: that is what a swap is for
    assert story.locator("#prompt textarea").input_value() == wanted
    assert wanted is not None
    [(word, other)] = [pair for pair in zip(PROMPT.split(), wanted.split(), strict=True) if pair[0] != pair[1]]
    said = text("story.did_word", word=word.strip("."), other=other.strip("."))
    expect(story.locator(".st-try [role=status]")).to_have_text(said)
    story.click("[data-act=back]")
    story.wait_for_function("(text) => glass.state.trace.prompt === text", arg=PROMPT)
    expect(story.locator(".st-bars .is-now")).to_be_visible()


def test_a_word_that_ends_the_text_is_offered_by_name(story: Page) -> None:
    said = story.evaluate(
        """async () => {
      const { swapButtons } = await import("/glass/panels/glance/words.js");
      const { model, prompt } = glass.state.trace;
      const swap = { start: 0, word: "The", other: "A", text: "A", piece: "<|end|>", probability: 0.0387 };
      const found = { text: prompt, swaps: [{ ...swap, answer: model.eos_ids[0] }] };
      return swapButtons(glass, found, () => {}, () => "")[0].textContent;
    }"""
    )
    assert said == "“The” → “A”: it would answer the end of the text (3.87%)"


def test_a_sentence_that_is_typed_and_not_run_is_said_to_be_so(story: Page) -> None:
    said, box = story.locator(".st-typed"), story.locator("#prompt textarea")
    expect(said).to_be_hidden()
    box.fill(SHORT)
    expect(said).to_contain_text("Not read yet")
    story.click("#language [value=zh]")
    expect(said).to_contain_text("还没有读")
    box.fill(PROMPT)  # what the story is of
    expect(said).to_be_hidden()
    box.fill(SHORT)
    expect(said).to_be_visible()
    box.press("Enter")
    story.wait_for_function("(text) => glass.state.trace.prompt === text", arg=SHORT)
    expect(said).to_be_hidden()


@pytest.mark.parametrize("code", one_of(LANGUAGES))
def test_quotes_stand_around_what_is_bold(story: Page, code: str) -> None:
    """In a sentence all alike, and no line parts a short word."""
    story.click(f"#language [value={code}]")
    for scene in SCENES:
        value(story, scene)
        bold = story.locator(f"[data-scene={scene}] :is(h2, .st-says) b")
        assert not [one for one in bold.all_text_contents() if re.search("[“”]", one)]
    assert story.locator("[data-scene=answer] .st-says b").first.evaluate("(b) => getComputedStyle(b).wordBreak") == (
        "keep-all"
    )


def test_what_is_changed_stays_so_with_another_word_and_when_that_is_undone(
    story: Page, roomy_checkpoint: Path
) -> None:
    off = [(1, 3), (2, 0)]

    def answers_as_transformers() -> None:
        found = story.evaluate(
            "(({ tokens, next }) => [tokens.ids, next.ids, [...next.logits.data]])(glass.state.trace)"
        )
        logits = Peer(roomy_checkpoint, found[0], off).run.logits[0, -1]
        assert found[2] == pytest.approx([float(logits[token]) for token in found[1]], abs=1e-4)

    story.evaluate("(heads) => glass.change({ heads })", off)
    story.wait_for_function("glass.state.trace.changes.heads")
    value(story, "answer")
    swaps = story.locator(".st-swaps")
    expect(swaps).to_contain_text(text("story.act_swap_kept"))
    expect(swaps).not_to_contain_text("it would answer")  # that is of the network as it was
    button = swaps.locator("button").first
    wanted = button.get_attribute("data-swap")
    button.click()
    story.wait_for_function("(text) => glass.state.trace.prompt === text", arg=wanted)
    answers_as_transformers()
    said = story.locator(".st-try [role=status]")
    expect(said).to_contain_text(text("story.did_word_kept"))
    expect(story.locator(".st-changed").first).to_be_visible()
    story.click("[data-act=back]")
    story.wait_for_function("(text) => glass.state.trace.prompt === text", arg=PROMPT)
    answers_as_transformers()


def test_of_two_runs_each_probability_has_its_word_and_a_head_that_is_off_its_mark(browser: Browser, site: str) -> None:
    page = open_page(browser, f"{site}#lang=en&chapter=glance&prompt={quote(PROMPT)}")
    unused = page.locator(".gp-samples .is-off").locator("..")
    expect(unused).to_be_hidden()
    page.evaluate("glass.keep(glass.state.run); glass.change({ ffn: [0, 1], heads: [[1, 2]] })")
    page.wait_for_function("glass.state.trace.changes.ffn")
    page.evaluate("glass.select({ layer: 1, head: 2 }); glass.showSide('B-A')")
    expect(unused).to_be_visible()
    a, b = page.evaluate("Object.values(glass.sides()).map((run) => run.next.pieces[0].trim())")
    sure = page.locator(".wy-sure")
    if a == b:
        expect(sure).not_to_contain_text("“")
    else:
        expect(sure).to_have_text(re.compile(f"A “{re.escape(a)}” .*% · B “{re.escape(b)}” .*%"))
    expect(page.locator(".wy-others")).to_contain_text(text("why.others_of_b"))
    leave(page)


def test_pieces_have_the_positions_of_their_tokens(story: Page) -> None:
    value(story, "pieces")
    shown = story.locator(".st-pieces li").evaluate_all("(all) => all.map((one) => one.firstChild.textContent)")
    assert shown == [str(t) for t in range(story.evaluate("glass.state.trace.T"))]


def test_of_a_long_text_the_first_pieces_stand_whole_and_a_button_shows_the_others(screen: Browser, site: str) -> None:
    for width in (360, 1280):
        page = open_page(screen, f"{site}#lang=en&chapter=story&prompt={quote(PROMPT * 4)}", width, 740, story=True)
        count = int(value(page, "pieces").split()[1])
        pieces = page.locator("[data-scene=pieces] .st-pieces")
        seen = pieces.locator("li:visible")
        first = seen.count()
        rest = page.get_by_text(text("story.pieces_rest", count=count - first))
        for button in (rest, None):
            assert pieces.evaluate("(one) => one.scrollHeight <= one.clientHeight")  # none lies where nothing leads
            if button:
                button.click()
        expect(seen).to_have_count(count)
        expect(rest).to_be_hidden()
        leave(page)


# What of a table's cells lies outside their scene, or outside their own cell.
CUT = """(table) => {
  const edge = table.closest(".st-scene").getBoundingClientRect();
  return [...table.querySelectorAll("th, td")].filter((cell) => cell.textContent).filter((cell) => {
    const words = document.createRange();
    words.selectNodeContents(cell);
    const [inner, outer] = [words, cell].map((one) => one.getBoundingClientRect());
    return inner.right > Math.min(edge.right, outer.right) + 1 || inner.left < edge.left;
  }).map((cell) => cell.textContent);
}"""

NAMED = "(cells, name) => cells.forEach((one) => { one.textContent = name; })"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_numbers_beside_long_words_stand_whole_on_a_narrow_telephone(screen: Browser, site: str, language: str) -> None:
    page = open_page(screen, f"{site}#lang={language}&chapter=story&prompt={quote(PROMPT)}", 320, 740, story=True)
    value(page, "answer")
    page.locator("[data-act=hide]").click()
    expect(page.locator(".st-bars tr")).not_to_have_count(1)
    value(page, "layers")
    choice = page.locator("[data-scene=layers] .st-guess button").first
    if choice.is_visible():
        choice.click()
    expect(page.locator(".st-layers tbody tr").first).to_be_visible()
    for name in ("responsibilities", ". (a full stop)"):
        for width in (320, 360, 390):
            page.set_viewport_size({"width": width, "height": 740})
            settled(page)
            for table in (".st-bars", ".st-layers"):
                page.locator(f"{table} .st-best").evaluate_all(NAMED, name)
                assert page.locator(table).evaluate(CUT) == [], (table, width)
            row = "(one) => one.closest('tr').firstChild.getBoundingClientRect().right"
            word = page.locator(".st-layers .st-best").first
            assert word.evaluate(row) <= word.evaluate("(one) => one.getBoundingClientRect().left")
    leave(page)


def test_a_picture_leads_to_the_panel_behind_it_and_back(story: Page) -> None:
    for scene, chapter, kind in (
        ("looks", "attend", "cell"),
        ("gate", "ffn", "ffn-token"),
        ("norm", "norm", "norm-vector"),
    ):
        shown = value(story, scene)
        story.locator(f"[data-scene={scene}] .st-more").click()
        assert story.evaluate("glass.state.chapter") == chapter
        panel = story.locator(f"section[data-kind={kind}]")
        expect(panel).to_be_in_viewport()
        expect(panel).to_have_attribute("data-value", re.compile("."))
        place = re.match(r"layer (\d+)", shown)
        assert place
        assert story.evaluate("glass.state.layer") == int(place[1])
        expect(story.locator(".page-story")).to_be_hidden()
        story.click(".page-back button >> nth=0")
        expect(story.locator(f"[data-scene={scene}]")).to_be_in_viewport()
        assert story.evaluate("glass.state.chapter") == "story"
    value(story, "carried")
    story.locator("[data-scene=carried] .st-more").click()
    summed = story.locator("section[data-kind=cell] [data-part=carried]")
    expect(summed).to_be_in_viewport()
    settled(story)
    assert (
        summed.evaluate("(one) => one.getBoundingClientRect().top") < 200
    )  # the sum's own step, not the panel's first
    story.click(".page-back button >> nth=0")
    story.locator("[data-scene=answer] .st-more").click()
    expect(story.locator("section[data-kind=why] .wy-answer")).to_be_visible()  # opened, as the words promise it


def test_a_message_is_no_way_to_the_workbench(story: Page) -> None:
    story.evaluate("glass.publish({ kind: 'message', level: 'info', code: 'end_of_text', params: {} })")
    message = story.locator(".page-message")
    expect(message).to_have_text(text("message.end_of_text"))
    message.click()
    assert story.evaluate("glass.state.chapter") == "story"


def test_what_a_reader_chose_opens_the_next_time(story: Page, panels_alone: str) -> None:
    expect(story.locator("#level [data-level=story]")).to_have_attribute("aria-pressed", "true")
    story.click("#level [data-level=workbench]")
    expect(story.locator("section[data-kind=why]")).to_be_visible()
    for link, seen in (("", "glance"), ("#chapter=story", "story"), ("#chapter=norm", "norm")):
        story.goto("about:blank")
        story.goto(f"{panels_alone}{link}")
        wait_for_run(story)
        assert story.evaluate("document.body.dataset.chapter") == seen, link
    story.click("#level [data-level=story]")
    story.goto("about:blank")
    story.goto(panels_alone)
    wait_for_run(story)
    assert story.evaluate("document.body.dataset.chapter") == "story"


def test_the_first_scenes_are_drawn_in_a_browser_that_is_busy(browser: Browser, panels_alone: str) -> None:
    page = new_page(browser, panels_alone, story=True)
    with watched(page):
        page.add_init_script(BUSY)
        page.goto(f"{panels_alone}#prompt={quote(PROMPT)}")
        wait_for_run(page)
        for scene in SCENES[:2]:
            expect(page.locator(f"[data-scene={scene}] h2")).not_to_be_empty()
    page.close()


# What is seen of each scene in the window: whether it is drawn, and what it says of itself where it is not.
IN_VIEW = """() => [...document.querySelectorAll(".st-scene:not([hidden])")].filter((one) => {
  const { top, bottom } = one.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
}).map((one) => {
  if (one.dataset.value && !one.hasAttribute("data-waits")) return "drawn";
  const own = getComputedStyle(one, "::before").content;
  const [, said = ""] = /^"(.*)"$/.exec(own) ?? [];
  return said || one.querySelector(".st-waits").innerText;
})"""


@pytest.mark.parametrize("code", one_of(LANGUAGES))
def test_a_scene_that_a_reader_comes_to_from_below_before_it_is_drawn_says_so(
    browser: Browser, panels_alone: str, code: str
) -> None:
    page = new_page(browser, panels_alone, story=True)
    with watched(page):
        page.add_init_script(BUSY)
        page.goto(f"{panels_alone}#lang={code}&chapter=story&prompt={quote(PROMPT)}")
        wait_for_run(page)
        page.locator("[data-scene=answer][data-value]").wait_for()
        page.evaluate("scrollTo({ top: document.body.scrollHeight, behavior: 'instant' })")
        page.keyboard.press("PageUp")
        seen = page.evaluate(f"async () => {{ await new Promise(requestAnimationFrame); return ({IN_VIEW})(); }}")
        assert seen
        assert "drawn" not in seen  # the browser is slower than the reader
        assert set(seen) == {text("story.waits", code)}
        page.wait_for_function(f"({IN_VIEW})().every((one) => one === 'drawn')")
    page.close()


def test_space_goes_on_scene_by_scene_and_the_map_marks_where(story: Page) -> None:
    story.emulate_media(reduced_motion="reduce")
    story.locator("[data-scene=answer]").focus()
    ends = "(scene) => scene.getBoundingClientRect().bottom - innerHeight"
    for before, scene in itertools.pairwise(SCENES[:4]):
        while story.locator(f"[data-scene={before}]").evaluate(ends) > 60:  # what is taller than the screen is read
            settled(story)
            top = story.evaluate("scrollY")
            story.keyboard.press(" ")
            assert story.evaluate("scrollY") > top
            assert story.locator(f"[data-scene={before}]").evaluate(ends) > -1
            expect(story.locator(f"[data-stop={before}]")).to_have_attribute("aria-current", "step")
        story.keyboard.press(" ")
        expect(story.locator(f"[data-stop={scene}]")).to_have_attribute("aria-current", "step")
    story.keyboard.press("Shift+ ")
    expect(story.locator(f"[data-stop={SCENES[2]}]")).to_have_attribute("aria-current", "step")
    story.click("[data-stop=layers]")
    expect(story.locator("[data-scene=layers]")).to_be_in_viewport()


def test_space_reaches_the_end_of_the_story_and_does_nothing_more(story: Page) -> None:
    story.emulate_media(reduced_motion="reduce")
    story.locator("[data-stop=cache]").evaluate("(one) => one.click()")
    value(story, "cache")
    settled(story)
    left = "document.querySelector('.st-end').getBoundingClientRect().bottom - innerHeight"
    for _ in range(4):
        story.keyboard.press(" ")
    assert abs(story.evaluate(left)) < 9
    before = story.evaluate("scrollY")
    story.keyboard.press(" ")
    assert story.evaluate("scrollY") == before


def test_a_stop_whose_scene_is_not_in_the_run_leads_to_the_one_that_says_so(browser: Browser) -> None:
    with plain_site(LocalEngine([model.load(device="cpu")]), Runs()) as address:
        for prompt, is_there in (("My cat sleeps and my dog", False), (None, True)):
            link = f"&prompt={quote(prompt)}" if prompt else ""
            page = open_page(browser, f"{address}#lang=en&chapter=story{link}", story=True)
            page.emulate_media(reduced_motion="reduce")
            stop = page.locator("[data-stop=match]")
            expect(stop).to_have_attribute("data-waits", "")  # nobody has come near
            stop.click()
            if not is_there:
                expect(page.locator("[data-stop=looks]")).to_have_attribute("aria-current", "step")
            value(page, "looks")
            expect(stop).to_be_visible()  # also where it is not: the map keeps its room
            if is_there:  # once that is known, it leads to the scene itself
                expect(stop).not_to_have_attribute("data-waits", "")
                expect(stop).to_have_attribute("aria-current", "step")
                expect(page.locator("[data-scene=match] h2")).to_be_in_viewport()
            else:
                expect(page.locator("[data-scene=looks]")).to_contain_text(text("story.looks_untold"))
                expect(stop).to_have_attribute("data-waits", "")
            leave(page)


def test_the_way_back_to_a_story_leads_to_the_scene_that_was_read(story: Page) -> None:
    story.emulate_media(reduced_motion="reduce")
    for scene in SCENES:
        if story.locator(f"[data-scene={scene}]").is_visible():
            value(story, scene)
    story.click("[data-stop=group]")
    expect(story.locator("[data-stop=group]")).to_have_attribute("aria-current", "step")
    story.click("#level [data-level=workbench]")
    expect(story.locator("[data-scene=group]")).to_be_hidden()
    story.click("#level [data-level=story]")
    expect(story.locator("[data-scene=group] h2")).to_be_in_viewport()
    expect(story.locator("[data-stop=group]")).to_have_attribute("aria-current", "step")
    named = story.locator(".st-ways:visible [aria-current]")
    expect(named).to_have_text(text("story.name_story"))


def test_a_far_scene_is_there_at_once(story: Page) -> None:
    """It is not scrolled to past all that would have to be drawn on the way."""
    story.locator("[data-stop=cache]").click()
    assert story.locator("[data-scene=cache]").evaluate("(one) => one.getBoundingClientRect().top") < 400


def test_while_a_scene_is_measured_nothing_of_another_sentence_stands_in_it(story: Page) -> None:
    value(story, "choice")
    scene = story.locator("[data-scene=choice]")
    expect(scene.locator(".st-says")).to_be_visible()
    held = held_back(story, "logits")
    story.evaluate("glass.read('The cat is')")
    story.wait_for_function("glass.state.trace.prompt === 'The cat is'")
    expect(scene).to_have_attribute("data-waits", "")
    expect(scene.locator(".st-says")).to_be_hidden()
    answer = story.evaluate("glass.state.trace.next.pieces[0].trim()")
    expect(scene.locator("h2")).to_contain_text(answer)  # the question is of the new one
    for route in held:
        route.continue_()
    expect(scene.locator(".st-says")).to_be_visible()


def test_the_workbench_opens_at_the_head_that_the_story_followed(story: Page) -> None:
    layer, head, query, key = place_of(story)
    story.click("#level [data-level=workbench]")
    shown = "[glass.state.layer, glass.state.head, glass.state.query, glass.state.key]"
    assert story.evaluate(shown) == [layer, head, query, key]
    story.evaluate("glass.select({ layer: 1, head: 3 })")
    story.click("#level [data-level=story]")
    value(story, "looks")
    story.click("#level [data-level=workbench]")
    assert story.evaluate(shown)[:2] == [1, 3]  # which the reader chose


def test_a_story_that_is_loaded_again_leads_to_its_head_too(browser: Browser) -> None:
    with plain_site(LocalEngine([model.load(device="cpu")]), Runs()) as address:
        page = open_page(browser, f"{address}#lang=en&chapter=story&layer=1&head=3", story=True)
        settled(page)
        followed = list(place_of(page)[:2])
        assert followed != [1, 3]
        page.click("#level [data-level=workbench]")
        assert page.evaluate("[glass.state.layer, glass.state.head]") == followed
        leave(page)


def held_back(page: Page, what: str) -> list[Route]:
    """What a page asks about a run, held until it is continued."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        if f'"{what}"' in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    page.route("**/*", hold)
    return held


def test_the_workbench_follows_the_story_once_its_head_is_known(browser: Browser) -> None:
    prompt = "Lily is in the garden. Tom is in the kitchen. Lily is in the"
    shown = "[glass.state.layer, glass.state.head]"
    with plain_site(LocalEngine([model.load(device="cpu")]), Runs()) as address:
        for chooses in (False, True):
            page = new_page(browser, address, story=True)
            held = held_back(page, "told_apart")
            page.goto(f"{address}#lang=en&chapter=story&prompt={quote(prompt)}")
            wait_for_run(page)
            page.click("#level [data-level=workbench]")
            while not held:
                page.wait_for_timeout(50)
            first = page.evaluate(shown)
            if chooses:
                page.evaluate("glass.select({ head: 2 })")
            held[0].continue_()
            settled(page)
            opened = page.evaluate(shown)
            page.unroute("**/*")
            page.click("#level [data-level=story]")
            followed = list(place_of(page)[:2])
            assert followed != first
            assert opened == ([first[0], 2] if chooses else followed)
            leave(page)


def test_a_finger_goes_from_cell_to_cell_and_sees_the_whole_map_on_a_turned_phone(screen: Browser) -> None:
    with plain_site(LocalEngine([model.load(device="cpu")]), Runs()) as address:
        page = new_page(screen, address, 844, 390, story=True, has_touch=True, is_mobile=True)
        page.goto(f"{address}#lang=en&chapter=story")
        wait_for_run(page)
        _, _, query, key = place_of(page)
        page.locator("[data-scene=looks]").evaluate("(one) => one.scrollIntoView()")
        map_box, row = page.locator(".st-map").bounding_box(), page.locator(".st-map .is-query").bounding_box()
        assert map_box
        assert row
        assert page.locator(".st-mini").evaluate("(one) => one.getBoundingClientRect().bottom") < map_box["y"]
        assert row["y"] + row["height"] <= 390
        steps = page.locator("[data-scene=looks] .gp-step")
        for box in (step.bounding_box() for step in steps.all()):
            assert box
            assert min(box["width"], box["height"]) >= 44
        scene = page.locator("[data-scene=looks]")
        steps.nth(0).tap()
        expect(scene).to_have_attribute("data-value", re.compile(f" query {query - 1} key {key} "))
        steps.nth(3).tap()
        expect(scene).to_have_attribute("data-value", re.compile(f" query {query - 1} key {key + 1} "))
        leave(page)


def test_back_from_a_panel_leads_to_the_scene_that_led_there(story: Page) -> None:
    for scene in ("layers", "norm"):
        story.locator(f"[data-stop={scene}]").click()
        expect(story.locator(f"[data-stop={scene}]")).to_have_attribute("aria-current", "step")
        value(story, scene)
        story.click(f"[data-scene={scene}] .st-more")
        story.wait_for_function("document.body.dataset.chapter !== 'story'")
        settled(story)
        story.go_back()
        expect(story.locator(f"[data-scene={scene}]")).to_be_in_viewport()
        settled(story)
        expect(story.locator(f"[data-stop={scene}]")).to_have_attribute("aria-current", "step")


def test_the_map_marks_the_upper_of_two_scenes_however_one_came_there(story: Page) -> None:
    value(story, "norm")
    line = """(past) => scrollTo(0, scrollY - innerHeight * 0.36 + past
      + document.querySelector("[data-scene=norm]").getBoundingClientRect().top)"""
    for past, marked in ((-90, "pieces"), (60, "norm"), (-90, "pieces"), (20, "norm"), (-90, "pieces"), (60, "norm")):
        story.evaluate(line, past)
        expect(story.locator(f"[data-stop={marked}]")).to_have_attribute("aria-current", "step")


def test_at_the_head_of_the_page_the_map_marks_the_first_scene(story: Page) -> None:
    story.set_viewport_size({"width": 390, "height": 844})  # where no scene has come to the line that is read yet
    story.locator("[data-scene=norm]").evaluate("(one) => one.scrollIntoView()")
    expect(story.locator("[data-stop=norm]")).to_have_attribute("aria-current", "step")
    story.evaluate("scrollTo(0, 0)")
    expect(story.locator("[data-stop=answer]")).to_have_attribute("aria-current", "step")
    for scene in SCENES:  # the map is wider than a phone: what it marks is seen whole
        story.locator(f"[data-scene={scene}]").evaluate("(one) => one.scrollIntoView()")
        stop = story.locator(f"[data-stop={scene}]")
        expect(stop).to_have_attribute("aria-current", "step")
        story.wait_for_function(WHOLE, arg=stop.element_handle())


def test_a_far_stop_of_the_map_leads_to_its_scene_though_others_grow_on_the_way(story: Page) -> None:
    story.set_viewport_size({"width": 390, "height": 844})
    for scene in ("choice", "looks", "layers"):
        story.locator(f"[data-stop={scene}]").evaluate("(one) => one.click()")
        expect(story.locator(f"[data-stop={scene}]")).to_have_attribute("aria-current", "step")
        story.wait_for_function(
            "(scene) => Math.abs(document.querySelector(`[data-scene=${scene}]`).getBoundingClientRect().top) < 100",
            arg=scene,
        )


@pytest.mark.screen
def test_a_finger_that_scrolls_from_a_slider_leaves_it_as_it_was(story: Page) -> None:
    story.set_viewport_size({"width": 390, "height": 844})
    value(story, "rope")
    slider = story.locator("[data-scene=rope] input[type=range]")
    slider.evaluate("(one) => one.scrollIntoView({ block: 'center' })")
    before = slider.input_value()
    finger = story.context.new_cdp_session(story)
    finger.send("Emulation.setTouchEmulationEnabled", {"enabled": True})

    def drag(right: int, down: int) -> None:
        settled(story)
        box = slider.bounding_box()
        assert box
        x, y = box["x"] + box["width"] - 10, box["y"] + box["height"] / 2
        for kind, part in (("touchStart", 0.0), *(("touchMove", i / 8) for i in range(1, 9))):
            at = {"x": x + right * part, "y": y + down * part}
            finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [at]})
        finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    # Along the slider first: a finger that comes down while the page still glides from a scroll stops the glide alone.
    drag(-60, 0)
    expect(slider).not_to_have_value(before)
    moved = slider.input_value()
    story.evaluate("addEventListener('pointercancel', () => (window.scrolled = true), { once: true })")
    drag(0, -200)
    story.wait_for_function("window.scrolled")
    expect(slider).to_have_value(moved)
    finger.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
    finger.detach()


def test_arcs_over_a_text_that_has_ended_begin_at_its_last_token(story: Page) -> None:
    needed(story)
    story.evaluate("glass.state.trace.model.eos_ids.push(glass.state.trace.tokens.ids.at(-1))")
    story.set_viewport_size({"width": 700, "height": 720})  # so that they are drawn again
    story.evaluate("glass.repaint(true)")
    expect(story.locator("[data-scene=answer] .st-gap")).to_be_hidden()
    settled(story)
    expect(story.locator("[data-scene=answer] .wy-arcs path").first).to_be_attached()


def test_a_clicker_leads_through_the_story_on_a_projector_where_no_text_is_small(story: Page) -> None:
    """From the first scene to the last with PageDown alone; what is taller than the screen is scrolled through."""
    story.emulate_media(reduced_motion="reduce")
    value(story, "answer")
    story.click(".st-large")
    seen: list[str] = []
    for _ in range(60):
        scene = story.evaluate("""() => [...document.querySelectorAll(".st-scene")].find((one) => {
          const { top, bottom } = one.getBoundingClientRect();
          return top <= innerHeight / 2 && bottom > innerHeight / 2;
        }).dataset.scene""")
        value_now = story.locator(f"[data-scene={scene}]")
        expect(value_now).to_have_attribute("data-value", re.compile("."))
        settled(story)
        assert story.evaluate(SMALL, LEGIBLE) == [], scene
        if scene not in seen:
            seen.append(scene)
        if scene == SCENES[-1]:
            break
        story.keyboard.press("PageDown")
        story.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert seen == list(SCENES)
    story.keyboard.press("Escape")
    expect(story.locator(".st-mini")).to_be_visible()


@pytest.mark.parametrize("code", one_of(LANGUAGES))
def test_scenes_are_brief_and_every_one_is_told(story: Page, code: str) -> None:
    story.click(f"#language [value={code}]")
    for scene in SCENES:
        value(story, scene)
        place = story.locator(f"[data-scene={scene}]")
        expect(place.locator("h2")).not_to_have_text("")
        said = place.locator(".st-says").inner_text()
        assert said
        assert not re.search(r"[{}]", said), said
        assert "story." not in said
        if scene == "gate":  # what a negative product writes points away from the answer that it raises
            gate, up = (number(value(story, scene), name) for name in ("gate", "up"))
            note = place.locator(".st-note").first.inner_text()
            assert note == text(f"story.gate_note{'_turned' if gate * up < 0 else ''}", code)  # SiLU keeps the sign
        if code == "en":
            assert len(said.split()) <= WORDS, (len(said.split()), said)


@pytest.mark.parametrize("trained", one_of(["bundled", "smollm2"]))
def test_scenes_of_trained_models_are_brief(browser: Browser, trained: str) -> None:
    """On the sentence that each opens with."""
    if trained == "smollm2" and not smollm2.WEIGHTS.exists():
        pytest.skip(f"{smollm2.WEIGHTS} is not there")
    lm = model.load(smollm2.WEIGHTS if trained == "smollm2" else BUNDLED, device="cpu")
    prompt = EXAMPLES["en"][0] if trained == "bundled" else REAL_EXAMPLES[0]
    with plain_site(LocalEngine([lm]), Runs()) as address:
        page = open_page(browser, f"{address}#lang=en&prompt={quote(prompt)}", story=True)
        told = []
        for scene in page.locator("[data-scene]").all():
            name = scene.get_attribute("data-scene") or ""
            if scene.is_hidden():
                continue
            value(page, name)
            told.append(name)
            said = scene.locator(".st-says").text_content() or ""
            assert 0 < len(said.split()) <= WORDS, (name, len(said.split()), said)
        assert set(SCENES) <= {*told}
        assert ("match" in told) is (trained == "bundled")
        # What else there is to say waits behind its line.
        fold = page.locator("[data-scene=looks] .st-fold")
        expect(fold.locator(".st-note")).to_be_hidden()
        fold.locator("summary").click()
        expect(fold.locator(".st-note")).to_contain_text(text("story.looks_counted"))
        leave(page)


@pytest.mark.parametrize("theme", one_of(["light", "dark"]))
@pytest.mark.parametrize("width", one_of([1280, 360]))
def test_the_story_is_accessible_and_nothing_is_wider_than_the_window(story: Page, theme: str, width: int) -> None:
    story.set_viewport_size({"width": width, "height": 740})
    if theme == "dark":
        story.click("#theme")
    for scene in SCENES:
        value(story, scene)
    assert story.evaluate("document.documentElement.scrollWidth") <= width
    assert faults(story, theme, ".page-story") == []


def test_every_text_of_the_story_is_used() -> None:
    """In both languages the same keys; each of them is named by a scene."""
    keys = [set(json.loads(text_file(code).read_text(encoding="utf-8"))["story"]) for code in LANGUAGES]
    assert keys[0] == keys[1]
    for scene in SCENES:
        assert {f"{scene}_more", f"map_{scene}"} <= keys[0]


def test_the_scene_of_rope_says_whether_distance_counts(story: Page) -> None:
    """Of the head that it looks at; where it hardly does, of another one in the layer for which it counts."""
    layer, head, query, key = place_of(story)
    found = re.match(r"head (\d+) key (\d+) ", value(story, "rope"))
    assert found
    shown = [int(one) for one in found.groups()]

    def flat(head: int, key: int) -> bool:
        return story.evaluate(
            """async ([layer, head, query, key]) => {
          const { reachOf } = await import("/glass/readings/reach.js");
          return reachOf(glass.state.trace.layers.get(layer), glass.state.trace, { head, query, key }).flat;
        }""",
            [layer, head, query, key],
        )

    assert (shown == [head, key]) is (not flat(head, key) or flat(*shown))
    title = text("story.rope_title_flat" if flat(*shown) else "story.rope_title")
    expect(story.locator("[data-scene=rope] h2")).to_have_text(title)
