"""A trained T5 on the page: why, the stories, two runs beside each other, what is saved, another network beside it."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import torch
from playwright.sync_api import Browser, Locator, Page, expect
from torch import nn

from app.chapters import CHAPTERS
from app.texts import text
from tests.app.family_page import CLOSE, family_page, read
from tests.app.looking import number, settled, shown, walk
from tests.app.test_comparing import WRITTEN
from tests.app.test_story_families import told
from tests.families import Pair, pair_of

pytestmark = pytest.mark.thorough

ZOO = Path(__file__).parents[2] / "model" / "zoo"
PROMPT = "Tom is in the kitchen. Lily is in the garden. Tom is in the"
OTHER = "Lily is in the kitchen. Tom is in the garden. Tom is in the"
# Panels that draw what a LLaMA has not; what draws the others knows neither of which network nor of which stack it is.
DRAWN = {"why", "overview", "cross", "cell", "rope"}


@pytest.fixture(scope="module")
def pairs() -> dict[str, Pair]:
    found = {name: pair_of(ZOO / name) for name in ("t5", "llama")}
    return {name: pair._replace(lm=replace(pair.lm, name=name)) for name, pair in found.items()}


@pytest.fixture(scope="module")
def page(browser: Browser, pairs: dict[str, Pair]) -> Iterator[Page]:
    with family_page(browser, pairs) as page:
        yield page


STEP = """async (count) => {
  for (let i = 0; i < count; i++) {
    const [prompt, model, view, , ...settings] = glass.begin("running", [glass.state.run.prompt, "t5", null, 1]);
    const body = JSON.stringify([prompt, model, settings, view]);
    glass.publish(await (await fetch("ask/step", { method: "POST", body })).json());
  }
}"""


def write(page: Page, prompt: str, count: int) -> None:
    """The T5 reads a prompt and writes this many tokens."""
    read(page, "t5", prompt)
    page.evaluate(STEP, count)
    page.wait_for_function("(T) => glass.state.run.T === T && glass.state.status === 'idle'", arg=count + 1)


def alone(page: Page) -> None:
    """No run is kept, and the decoder is shown."""
    page.evaluate("glass.showSide('B'); void glass.keep(null); glass.readStack('decoder')")


def ids_of(page: Page, side: str = "B") -> tuple[torch.Tensor, torch.Tensor]:
    """What the encoder read and what the decoder has, as batches."""
    run = "(glass.sides() ? glass.sides()[side] : glass.state.trace)"
    script = f"(side) => {{ const one = {run}; const run = one.whole ?? one;"
    found = page.evaluate(f"{script} return [run.encoder.tokens.ids, run.tokens.ids]; }}", side)
    source, written = (torch.tensor([ids]) for ids in found)
    return source, written


def theirs(
    pair: Pair,
    source: torch.Tensor,
    written: torch.Tensor,
    off: Iterable[tuple[int, int]] = (),
    read: Iterable[tuple[int, int]] = (),
) -> Any:
    """transformers' run, without these heads of its cross-attention, and of its encoder."""
    width = pair.lm.config.head_dim

    def silence(head: int) -> Any:
        def change(_module: nn.Module, given: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
            value = given[0].clone()
            value[..., head * width : (head + 1) * width] = 0
            return (value,)

        return change

    outlets = [(pair.peer.decoder.block[layer].layer[1].EncDecAttention.o, head) for layer, head in off]
    outlets += [(pair.peer.encoder.block[layer].layer[0].SelfAttention.o, head) for layer, head in read]
    hooks = [outlet.register_forward_pre_hook(silence(head)) for outlet, head in outlets]
    with torch.no_grad():
        found = pair.peer(source, decoder_input_ids=written, output_attentions=True, output_hidden_states=True)
    for hook in hooks:
        hook.remove()
    return found


def why_kitchen(page: Page) -> tuple[Locator, dict[str, Any]]:
    """The panel that says why the T5 writes "kitchen" first, and what it was told."""
    alone(page)
    write(page, PROMPT, 0)
    page.evaluate("glass.open('glance'); glass.settings.set('why', { open: '1' }); glass.repaint()")
    why = page.locator("section[data-kind=why]")
    expect(why.locator(".wy-said")).to_contain_text("“kitchen” stands in the source")
    settled(page)
    return why, json.loads(page.evaluate("JSON.stringify(glass.detail('why', { token: 0 }))"))


def test_why_leads_to_the_word_of_the_source_and_its_readers_can_be_switched_off(
    page: Page, pairs: dict[str, Pair]
) -> None:
    why, said = why_kitchen(page)
    heads = [(one["layer"], one["head"]) for one in said["look"]["heads"]]
    source, written = ids_of(page)
    run = theirs(pairs["t5"], source, written)
    whole, left = (one.logits[0, -1].softmax(-1) for one in (run, theirs(pairs["t5"], source, written, heads)))
    answer = int(whole.argmax())
    value = shown(page, "why", f"after 0 answer {answer} ")
    key = int(number(value.replace("source ", "source="), "source"))
    assert page.evaluate("glass.state.trace.encoder.tokens.pieces")[key] == " kitchen"
    assert number(value, "probability") == pytest.approx(float(whole[answer]), **CLOSE)
    assert number(value, "without") == pytest.approx(float(left[answer]), **CLOSE)
    for layer, head in heads:
        assert float(run.cross_attentions[layer][0, head, 0, key]) >= 0.5
    for one in said["parts"]:
        if one["kind"] == "cross":
            without = theirs(pairs["t5"], source, written, [(one["layer"], one["index"])])
            assert one["without"] == pytest.approx(float(without.logits[0, -1].softmax(-1)[answer]), **CLOSE)
    assert page.locator(".wy-text .is-key").all_text_contents() == ["kitchen"]
    assert "{" not in why.inner_text()
    why.locator(".wy-lead").first.click()  # the weight leads to the head's cell
    first = said["first"]
    place = f"layer {first['layer']} head {first['head']} query 0 source {first['key']} "
    assert number(shown(page, "cross", place), "weight") == pytest.approx(first["weight"], **CLOSE)
    page.evaluate("glass.open('glance')")
    why.locator(".wy-actions button").nth(1).click()
    page.wait_for_function("glass.state.status === 'idle' && glass.state.trace.changes.cross?.length")
    value = shown(page, "why", f"after 0 answer {int(left.argmax())} ")
    assert number(value, "probability") == pytest.approx(float(left.max()), **CLOSE)
    named = text("changes.is_cross", layer=heads[0][0], head=heads[0][1])
    expect(page.locator("section[data-kind=why] .gp-changed")).to_contain_text(named)
    page.wait_for_function("location.hash.includes('off-cross=')")
    assert f"{heads[0][0]}.{heads[0][1]}" in page.evaluate(
        "new URLSearchParams(location.hash.slice(1)).get('off-cross')"
    )
    page.evaluate("(at) => { glass.open('attend'); glass.select(at); }", {"layer": heads[0][0], "head": heads[0][1]})
    unused = text("off.cross_unused", layer=heads[0][0], head=heads[0][1])
    expect(page.locator("section[data-kind=cross] .gp-changed")).to_contain_text(unused)
    page.evaluate("glass.change({})")
    page.wait_for_function("glass.state.status === 'idle' && !glass.state.trace.changes.cross?.length")


def test_why_leads_to_the_encoders_heads_and_back(page: Page, pairs: dict[str, Pair]) -> None:
    why, said = why_kitchen(page)
    source, written = ids_of(page)
    heads = [one for one in said["parts"] if one["kind"] == "encoder_head"]
    assert len(heads) == 15
    for one in heads[:4]:
        run = theirs(pairs["t5"], source, written, read=[(one["layer"], one["index"])])
        assert one["without"] == pytest.approx(float(run.logits[0, -1].softmax(-1)[said["target"]]), **CLOSE)
    why.locator(".wy-list > summary", has_text=text("why.parts")).click()
    first = heads[0]
    name = text("why.part_encoder_head", layer=first["layer"], index=first["index"])
    at = page.evaluate("({ ...glass.state.locked })")
    why.locator(".wy-parts .wy-lead", has_text=name).click()
    place = f"layer {first['layer']} head {first['head']} query {first['query']} key {first['key']} "
    assert number(shown(page, "cell", place), "weight") == pytest.approx(first["weight"], **CLOSE)
    weights = theirs(pairs["t5"], source, written).encoder_attentions[first["layer"]][0, first["head"], first["query"]]
    assert first["weight"] == pytest.approx(float(weights.max()), **CLOSE)
    assert page.evaluate("glass.state.stack") == "encoder"
    page.get_by_role("button", name=text("page.way_back"), exact=True).click()
    page.wait_for_function("glass.state.stack === 'decoder' && glass.state.chapter === 'glance'")
    page.wait_for_function("(at) => JSON.stringify(glass.state.locked) === JSON.stringify(at)", arg=at)


def test_an_encoders_head_is_switched_off_and_subtracted(page: Page, pairs: dict[str, Pair]) -> None:
    """By the buttons of the chapter that compares; both stacks' numbers, the address, and from it the same again."""
    alone(page)
    write(page, PROMPT, 2)
    plain = page.evaluate("location.hash")
    panel = page.locator("section[data-kind=compare]")
    page.evaluate("glass.open('compare'); glass.readStack('encoder', { layer: 0, head: 3, query: 5, key: 1 })")
    panel.get_by_role("button", name=text("compare.keep")).click()
    panel.get_by_role("button", name=text("changes.off_encoder_heads", layer=0, head=3)).click()
    panel.get_by_role("button", name=text("compare.run")).click()
    page.wait_for_function("glass.state.status === 'idle' && glass.sides()")
    source, written = ids_of(page)
    off = {"A": [], "B": [(0, 3)]}
    runs = {side: theirs(pairs["t5"], source, written, read=read) for side, read in off.items()}
    settled(page)
    best = {side: run.logits[0, -1].softmax(-1).max() for side, run in runs.items()}
    for side in off:
        assert f"({100 * float(best[side]):#.3g}%)" in panel.locator(".gp-note", has_text="Most probable").inner_text()
    place = {"layer": 1, "head": 2, "query": 4, "key": 1}

    def check() -> None:
        settled(page)
        for stack in ("encoder", "decoder"):
            at = place if stack == "encoder" else place | {"query": 2}
            page.evaluate("([stack, at]) => { glass.readStack(stack, at); glass.showSide('B-A'); }", [stack, at])
            page.evaluate("glass.open('attend')")
            value = shown(page, "attention", f"B-A layer 1 head 2 query {at['query']} key 1 ")
            weights = [float(getattr(run, f"{stack}_attentions")[1][0, 2, at["query"], 1]) for run in runs.values()]
            assert [number(value, rf"\b{side}\.weight") for side in "AB"] == pytest.approx(weights, **CLOSE)
        page.evaluate("glass.settings.set('cross', { source: '4' })")
        page.mouse.move(1, 1)  # what is under the pointer is shown in a selection's place
        value = shown(page, "cross", "B-A layer 1 head 2 query 2 source 4 ")
        looks = [run.cross_attentions[1][0].double() for run in runs.values()]
        weights = [float(one[2, 2, 4]) for one in looks]
        assert [number(value, rf"\b{side}\.weight") for side in "AB"] == pytest.approx(weights, **CLOSE)
        assert number(value, r"^B-A .*? weight") == pytest.approx(weights[1] - weights[0], **CLOSE)
        rows = list(csv.reader(io.StringIO(save(page, "cross", "CSV").decode("utf-8-sig"), newline="")))
        found = [row[1:] for row in rows if row[0] == "maps" and row[1] != "layer"]
        apart = looks[1] - looks[0]
        assert len(found) == apart.numel()
        told = torch.tensor([float(row[-1]) for row in found], dtype=torch.float64)
        assert torch.allclose(told, apart.flatten(), atol=1e-5)

    check()
    changes = page.evaluate("[glass.state.run.changes.encoder_heads, glass.state.run.encoder.changes]")
    assert changes == [[[0, 3]], {"heads": [[0, 3]]}]
    page.evaluate("glass.readStack('encoder', { layer: 0, head: 3 }); glass.showSide('B')")
    unused = text("off.head_unused", layer=0, head=3)
    expect(page.locator("section[data-kind=attention] .gp-changed")).to_contain_text(unused)
    page.evaluate("glass.readStack('decoder')")
    named = text("changes.is_encoder_heads", layer=0, head=3)
    expect(page.locator("section[data-kind=attention] .gp-changed")).to_contain_text(named)
    page.evaluate("document.querySelector('[data-kind=cell]').scrollIntoView()")
    expect(page.locator("[data-kind=tokens].is-row")).to_be_visible()
    expect(page.locator("[data-kind=tokens].is-row > .gp-changed")).to_be_hidden()  # the row has no room; panels say it
    page.wait_for_function("location.hash.includes('off-encoder-heads=0.3')")
    page.evaluate("glass.showSide('B-A')")
    page.wait_for_function("location.hash.includes('side=B-A')")
    address = page.evaluate("location.hash")
    page.evaluate("(hash) => glass.visit(hash)", plain)
    page.wait_for_function("glass.state.status === 'idle' && !glass.sides() && !glass.state.run.changes.encoder_heads")
    page.evaluate("(hash) => glass.visit(hash)", address)
    page.wait_for_function("glass.state.status === 'idle' && glass.sides()?.B && glass.state.side === 'B-A'")
    check()
    page.evaluate("glass.readStack('decoder')")
    alone(page)
    page.evaluate("glass.change({})")
    page.wait_for_function("glass.state.status === 'idle' && !glass.state.run.changes.encoder_heads")


@pytest.mark.parametrize("count", [0, 2])
def test_the_stories_tell_of_two_texts_what_transformers_and_the_networks_own_cache_hold(
    page: Page, pairs: dict[str, Pair], count: int
) -> None:
    """Byte for byte: the source's part from before the first token, and both after."""
    alone(page)
    write(page, PROMPT, count)
    page.mouse.move(1, 1)
    source, written = ids_of(page)
    found = told(page, "story")
    assert {"answer", "pieces", "norm", "across", "layers", "choice"} <= set(found)
    look = re.match(r"layer (\d+) head (\d+) source (\d+) weight=", found["across"])
    assert look
    layer, head, key = map(int, look.groups())
    weights = theirs(pairs["t5"], source, written).cross_attentions[layer][0, head, -1]
    assert key == int(weights.argmax())
    assert number(found["across"], "weight") == pytest.approx(float(weights[key]), **CLOSE)

    net = pairs["t5"].lm.net.encode_source(source)
    tokens = count + 1
    read, held = (net.cache(8).nbytes(n) for n in (0, tokens))
    found = told(page, "story-cache")
    assert found["prefill"] == f"tokens {source.shape[1]} layers {len(net.layers)} bytes {read}"
    assert found["decode"].startswith(f"held {tokens} written {count} ")
    assert f" held {held} measured {held} " in found["grows"]
    assert "saves" not in found  # no one text can be timed with and without a cache
    page.evaluate("glass.open('glance')")


def test_what_cannot_be_told_of_two_texts_is_not_offered_and_says_so(page: Page) -> None:
    alone(page)
    write(page, PROMPT, 2)
    page.evaluate("glass.open('kv')")
    expect(page.locator("section[data-kind=kv-race]")).to_contain_text(text("absent.two_texts_title"))
    shown(page, "kv-live", "layer ")
    kept = page.wait_for_function("glass.detail('kv_live')?.bytes").json_value()
    own = shown(page, "kv-kinds", "tokens=3 ")
    assert f"MHA={kept} " in own  # its own kind is what was measured
    source, _ = ids_of(page)
    assert kept == 3 * 2 * 5 * 32 * 4 * (3 + source.shape[1])  # layers, K and V, heads, width, bytes, both texts


def test_both_stacks_are_subtracted_as_transformers_computes_them(page: Page, pairs: dict[str, Pair]) -> None:
    alone(page)
    write(page, PROMPT, 3)
    page.evaluate("void glass.keep(glass.state.run)")
    write(page, OTHER, 3)
    runs = [theirs(pairs["t5"], *ids_of(page, side)) for side in "AB"]
    layer, head, query, key = 1, 2, 3, 1
    for stack in ("encoder", "decoder"):
        at = {"layer": layer, "head": head, "query": query, "key": key}
        page.evaluate("([stack, at]) => { glass.readStack(stack, at); glass.showSide('B-A'); }", [stack, at])
        found = walk(page, [chapter for chapter in CHAPTERS if chapter != "families"])
        assert not [kind for kind, one in found.items() if "NaN" in one["value"] or "undefined" in one["value"]]
        value = found["attend attention"]["value"]
        weights = [float(getattr(run, f"{stack}_attentions")[layer][0, head, query, key]) for run in runs]
        assert [number(value, rf"\b{side}\.weight") for side in "AB"] == pytest.approx(weights, **CLOSE)
        value = found["norm rmsnorm"]["value"]
        eps = pairs["t5"].lm.config.norm_eps
        streams = [getattr(run, f"{stack}_hidden_states")[layer][0, query].double() for run in runs]
        rms = [float((stream.square().mean() + eps).sqrt()) for stream in streams]
        assert [number(value, rf"\b{side}\.rms") for side in "AB"] == pytest.approx(rms, **CLOSE)


def save(page: Page, kind: str, ending: str) -> bytes:
    panel = page.locator(f"section[data-kind={kind}]")
    panel.locator(".gp-save > button").click()
    with page.expect_download() as download:
        panel.locator(f".gp-choice[data-format={ending}]").click()
    return Path(download.value.path()).read_bytes()


def test_the_maps_of_cross_attention_have_the_words_of_both_texts(page: Page) -> None:
    alone(page)
    write(page, PROMPT, 2)
    page.evaluate(WRITTEN)
    page.evaluate("glass.open('attend')")
    maps = page.locator("section[data-kind=cross] canvas[aria-label]").first
    maps.scroll_into_view_if_needed()
    written, source = (page.evaluate(f"glass.state.{of}.pieces") for of in ("trace.tokens", "trace.encoder.tokens"))
    for query in range(len(written)):
        page.evaluate("(query) => glass.select({ query })", query)
        settled(page)
    for key in (*["ArrowLeft"] * len(source), *["ArrowRight"] * len(source)):
        maps.press(key)
        settled(page)
    words = {word.strip("·") for word in page.evaluate("(name) => written[name]", maps.get_attribute("aria-label"))}
    assert {piece.strip() for piece in (*written, *source)} <= words


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_every_panel_of_either_stack_saves_its_table_and_those_that_differ_from_a_llamas_their_drawing(
    page: Page, pairs: dict[str, Pair], stack: str
) -> None:
    alone(page)
    write(page, PROMPT, 3)
    layer, head, query = 1, 2, 3
    at = {"layer": layer, "head": head, "query": query, "key": 1}
    page.evaluate("([stack, at]) => glass.readStack(stack, at)", [stack, at])
    page.mouse.move(1, 1)
    tables: dict[str, list[list[str]]] = {}
    drawn: set[str] = set()
    for chapter in CHAPTERS:
        if chapter in ("kv", "families", "compare"):  # of no run, or saved as of any network
            continue
        told = {place.split()[1]: one for place, one in walk(page, [chapter]).items() if not one["absent"]}
        for kind in [kind for kind, one in told.items() if one["value"] != "nothing"]:  # no word to change here
            if kind in tables or kind in ("training", "tokens"):
                continue
            page.locator(f"section[data-kind={kind}]").evaluate("(panel) => panel.scrollIntoView()")
            settled(page)
            tables[kind] = list(csv.reader(io.StringIO(save(page, kind, "CSV").decode("utf-8-sig"), newline="")))
            names, *rows = tables[kind]
            assert rows, kind
            assert all(len(row) == len(names) for row in rows), kind
            assert not {"undefined", "null", "NaN", "[object Object]"} & {cell for row in rows for cell in row}, kind
            if stack == "decoder" and kind in DRAWN:
                drawn.add(kind)
                root = ElementTree.fromstring(save(page, kind, "SVG"))
                title = page.locator(f"section[data-kind={kind}] .gp-title")
                said = title.evaluate("(one) => one.firstChild.textContent")
                assert "".join(said.split()) in "".join("".join(root.itertext()).split()), kind
            expect(page.locator(f"section[data-kind={kind}] .gp-trouble")).to_be_hidden()
    assert ("cross" in tables) == (stack == "decoder")
    assert drawn == (DRAWN if stack == "decoder" else set())
    run = theirs(pairs["t5"], *ids_of(page))
    if stack == "decoder":
        names, *rows = tables["cross"]
        told = [dict(zip(names, row, strict=True)) for row in rows]
        of_head = [float(row["weight"]) for row in told if row["head"] == str(head)]
        assert of_head == pytest.approx(run.cross_attentions[layer][0, head, query].tolist(), **CLOSE)


def test_a_llama_reads_the_same_sentence_beside_it(page: Page, pairs: dict[str, Pair]) -> None:
    alone(page)
    write(page, PROMPT, 2)
    page.evaluate("(at) => { glass.select(at); glass.open('compare'); }", {"layer": 1, "head": 2, "query": 1})
    panel = page.locator("section[data-kind=read-by-two]")
    panel.scroll_into_view_if_needed()
    source, written = ids_of(page)
    panel.locator("button[data-model=llama]").click()
    page.wait_for_function("glass.state.status === 'idle' && glass.sides()?.B.model.name === 'llama'")
    page.mouse.move(1, 1)
    settled(page)
    value = shown(page, "read-by-two", "A next=")
    first = theirs(pairs["t5"], source, written)
    with torch.no_grad():
        second = pairs["llama"].peer(
            torch.tensor([page.evaluate("glass.sides().B.tokens.ids")]), output_attentions=True
        )
    probabilities = [run.logits[0, -1].softmax(-1).max() for run in (first, second)]
    told = [float(one) for one in re.findall(r"p=([\d.e-]+)", value)]
    assert told == pytest.approx([float(p) for p in probabilities], **CLOSE)
    assert "?" not in re.sub(r"next='.*?'", "", value)  # what each costs has come
    rows = list(csv.reader(io.StringIO(save(page, "read-by-two", "CSV").decode("utf-8-sig"), newline="")))
    weights = {side: [float(row[-1]) for row in rows if row[:2] == ["attention", side]] for side in "AB"}
    assert weights["A"] == pytest.approx(first.cross_attentions[1][0, 2, -1].tolist(), **CLOSE)
    query = len(weights["B"]) - 1
    assert weights["B"] == pytest.approx(second.attentions[1][0, 2, query, : query + 1].tolist(), **CLOSE)
    assert walk(page, ["glance", "compare"])
    alone(page)
