"""The small networks of other families: which are offered, when their weights are read, and what a page then gets."""

import math
import re
import shutil
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from playwright.sync_api import Browser, expect

import model
from app.engine import LocalEngine
from app.examples import EXAMPLES, REAL_EXAMPLES, knows_words
from app.service import Service
from app.session import Runs
from app.texts import text
from app.zoo import FAMILIES, MAX_BYTES, offers, small_name, zoo
from tests.app.looking import shown
from tests.families import Pair, pair_of, run, save
from tests.page import leave, open_page, wait_for_run
from tests.plain import plain_site
from visuals.payload import unpack

PROMPT = "The cat sleeps on the sofa."
SHAPE: dict[str, Any] = {"vocab_size": 320, "hidden_size": 48}
CONFIGS: dict[str, Any] = {
    "bloom": transformers.BloomConfig(**SHAPE, n_layer=3, n_head=6),
    "qwen": transformers.Qwen2Config(
        **SHAPE, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=64
    ),
    "t5": transformers.T5Config(**SHAPE, d_model=48, d_kv=8, d_ff=64, num_layers=2, num_heads=6),
}


SIZES = {"Qwen": "63 k", "BLOOM": "100 k", "T5": "96 k"}


def own_cache(lm: model.LanguageModel) -> int:
    """Bytes that one token takes in a cache of this network."""
    return lm.net.cache(1).nbytes(1)


def numbers(value: str) -> list[dict[str, float]]:
    """The numbers of both sides in the panel's value."""
    sides = re.findall(r"[AB] next='.*?' p=(\S+) read=(\d+) kept=(\d+)", value)
    return [dict(zip(("p", "read", "kept"), map(float, side), strict=True)) for side in sides]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A zoo of three families, and of a fourth without weights."""
    there = tmp_path_factory.mktemp("zoo")
    for name, config in CONFIGS.items():
        shutil.copytree(save(config), there / name)
    (there / "falcon").mkdir()
    (there / "falcon" / "config.json").write_text("{}")
    return there


@pytest.fixture
def engine(lm: model.LanguageModel, directory: Path) -> LocalEngine:
    """A model that is there, and the zoo, which holds the weights of one network at a time."""
    return LocalEngine([lm, *zoo(directory, device="cpu", max_bytes=1)])


def held(engine: LocalEngine) -> list[str]:
    """Whose weights are held."""
    return engine._get("BLOOM (small)").weight_cache.held


def test_what_is_there_is_offered_without_its_weights(engine: LocalEngine, directory: Path) -> None:
    assert engine.names[1:] == ["Qwen (small)", "BLOOM (small)", "T5 (small)"]  # in the order of families
    assert engine.about("BLOOM (small)").n_parameters == model.load(directory / "bloom", device="cpu").n_parameters
    told = offers(engine)
    assert [(one["kind"], one["family"]) for one in told[1:]] == [
        ("small", "Qwen"),
        ("small", "BLOOM"),
        ("small", "T5"),
    ]
    assert told[0]["kind"] is None
    assert [one["examples"] for one in told] == [None, "world", "world", "world"]  # the stand-in has only letters
    assert engine.encode("Qwen (small)", PROMPT)
    assert held(engine) == []
    assert zoo(directory / "nowhere") == []


def test_a_network_has_the_examples_whose_words_its_tokenizer_has() -> None:
    engine = LocalEngine([replace(model.load(device="cpu"), name="own")])  # as an operator names one
    assert knows_words(engine, "own", EXAMPLES["en"][0])
    assert not knows_words(engine, "own", REAL_EXAMPLES[0])
    (offer,) = offers(engine)
    assert (offer["kind"], offer["examples"]) == (None, "world")


def test_the_page_opens_on_the_first_and_reads_no_other(engine: LocalEngine) -> None:
    service = Service(engine, Runs())
    assert service.recall({"prompt": PROMPT})["model"]["name"] == engine.names[0]
    assert held(engine) == []
    answer = service.recall({"prompt": PROMPT, "model": "BLOOM (small)", "layer": 99})
    assert (answer["model"]["name"], answer["layer"]["layer"]) == ("BLOOM (small)", 2)
    assert held(engine) == ["BLOOM (small)"]
    assert service.recall({"prompt": PROMPT, "model": "Nobody (small)"})["code"] == "model_unknown"


def test_a_kept_run_is_looked_into_after_its_network_was_let_go_of(engine: LocalEngine, directory: Path) -> None:
    service = Service(engine, Runs())
    first = service.run(PROMPT, "BLOOM (small)")
    again = service.run(PROMPT, "Qwen (small)")
    assert held(engine) == ["Qwen (small)"]
    for answer, name in ((first, "bloom"), (again, "qwen"), (first, "bloom")):
        pair: Pair = pair_of(directory / name)
        ids = answer["tokens"]["ids"]
        theirs = run(pair.peer, pair.lm.net.embed.weight.new_tensor([ids]).long())
        layer = engine.layer(small_name(name), service.runs.get(answer["id"]).trace, 1)
        np.testing.assert_allclose(layer.attention, theirs.attentions[1][0].numpy(), atol=1e-5)
        assert service.layers({"run": answer["id"], "layers": [0], "token": 0})["kind"] == "layers"
        best = unpack(answer["next"]["logits"])[0]
        assert abs(best - float(theirs.logits[0, -1].max())) < 1e-5


def test_both_stacks_of_a_kept_run_are_looked_into_after_the_network_was_let_go_of(
    engine: LocalEngine, directory: Path
) -> None:
    service = Service(engine, Runs())
    first = service.step(PROMPT, "T5 (small)", (0, 0, 1, 0), {})
    service.run(PROMPT, "Qwen (small)")
    assert held(engine) == ["Qwen (small)"]
    pair = pair_of(directory / "t5")
    source, written = (torch.tensor([part["tokens"]["ids"]]) for part in (first["encoder"], first))
    assert written.shape == (1, 2)
    with torch.no_grad():
        theirs = pair.peer(source, decoder_input_ids=written, output_attentions=True)
    stacks = {first["id"]: theirs.decoder_attentions, first["encoder"]["id"]: theirs.encoder_attentions}
    for name, attentions in stacks.items():
        layer = engine.layer("T5 (small)", service.runs.get(name).trace, 1)
        np.testing.assert_allclose(layer.attention, attentions[1][0].numpy(), atol=1e-5)
        assert service.layers({"run": name, "layers": [0], "token": 0})["kind"] == "layers"
        service.run(PROMPT, "Qwen (small)")
    looked = service.runs.get(first["id"]).trace.layer(1).cross_attention
    np.testing.assert_allclose(looked, theirs.cross_attentions[1][0].numpy(), atol=1e-5)
    assert service.detail({"run": first["encoder"]["id"], "what": "next"})["code"] == "bad_request"


@pytest.mark.thorough
def test_many_at_once_with_room_for_one(engine: LocalEngine) -> None:
    service = Service(engine, Runs())
    alone = {name: service.run(PROMPT, name)["next"]["ids"] for name in engine.names}
    wrong: list[str] = []

    def ask(name: str) -> None:
        for _ in range(4):
            answer = service.run(PROMPT, name)
            if answer.get("next", {}).get("ids") != alone[name]:
                wrong.append(name)
            written = list(service.generate(PROMPT, name, 3, (0, 0, 1, 0), {}))
            if written[-1]["kind"] != "run":
                wrong.append(f"{name} wrote {written[-1]}")

    threads = [threading.Thread(target=ask, args=(name,)) for name in engine.names for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(held(engine)) == 1


def test_names_and_bound() -> None:
    assert list(FAMILIES) == ["llama", "qwen", "bloom", "falcon", "glm", "mixtral", "deepseek", "t5"]
    # Two of the largest allowed (an eighth of 60 MB in half precision, twice that in float32) are held side by side.
    assert 2 * 2 * 60e6 / 8 <= MAX_BYTES < 2 * 60e6


def test_what_a_network_costs(engine: LocalEngine, directory: Path) -> None:
    """Parameters as transformers counts them, bytes kept as its cache holds them, weights read as its tensors take."""
    service = Service(engine, Runs())
    for name in ("bloom", "qwen"):
        answer = service.run(PROMPT, small_name(name))
        cost = service.detail({"run": answer["id"], "what": "cost"})["data"]
        peer = pair_of(directory / name).peer
        assert cost["parameters"] == sum(weight.numel() for weight in peer.parameters())
        cache = peer(torch.tensor([answer["tokens"]["ids"]]), use_cache=True).past_key_values
        held = sum(layer.keys.nbytes + layer.values.nbytes for layer in cache.layers)
        assert cost["kept"] * len(answer["tokens"]["ids"]) == held
        tied = peer.get_output_embeddings().weight is peer.get_input_embeddings().weight
        table = peer.get_input_embeddings().weight
        read = sum(weight.nbytes for weight in peer.parameters()) - (0 if tied else table.nbytes - table[0].nbytes)
        assert cost["read"] == read
        for term in (*cost["weights"], *cost["cache"]):
            assert int(term["bytes"]) == math.prod(factor["value"] for factor in term["factors"])


def test_two_networks_read_one_sentence_on_the_page(
    engine: LocalEngine, directory: Path, browser: Browser, checkpoint: Path, lm: model.LanguageModel
) -> None:
    with plain_site(engine, Runs()) as site:
        page = open_page(browser, f"{site}#lang=en&prompt={PROMPT}&layer=2&head=5&chapter=compare", width=360)
        panel = page.locator("section[data-kind=read-by-two]")
        expect(panel.locator("[data-model]")).to_have_text([f"{name} (small, {size})" for name, size in SIZES.items()])
        for name, family in (("Qwen (small)", "qwen"), ("BLOOM (small)", "bloom")):
            panel.locator(f"[data-model='{name}']").press("Enter")
            page.wait_for_function("(name) => glass.state.trace.model.name === name", arg=name)
            wait_for_run(page)
            page.wait_for_function("document.querySelectorAll('.rbt-word[style]').length > 2 && glass.asking() === 0")
            peer = pair_of(directory / family).peer
            b = run(peer, torch.tensor([page.evaluate("glass.state.trace.tokens.ids")]))
            told = numbers(shown(page, "read-by-two", "A next="))
            a = run(pair_of(checkpoint).peer, torch.tensor([page.evaluate("glass.state.kept.tokens.ids")]))
            chances = [theirs.logits[0, -1].softmax(-1).max() for theirs in (a, b)]
            np.testing.assert_allclose([side["p"] for side in told], chances, rtol=1e-4)
            assert told[0]["kept"] == own_cache(lm)
            layer, head, query = page.evaluate("[glass.state.layer, glass.state.head, glass.state.query]")
            assert (layer, head) == {"qwen": (1, 3), "bloom": (2, 5)}[
                family
            ]  # Qwen's last ones here, and then as in the link
            words = panel.locator("[data-side=B] .rbt-word")
            words.nth(1).focus()
            value = shown(page, "read-by-two", f"B layer {layer} head {head} query {query} key 1 ")
            weight = float(b.attentions[layer][0, head, query, 1])
            assert abs(float(value.partition("weight=")[2]) - weight) < 1e-5
            page.keyboard.press("Tab")  # the words are still the same elements
            shown(page, "read-by-two", f"B layer {layer} head {head} query {query} key 2 ")
            words.nth(2).blur()
        assert page.evaluate("[glass.state.kept.model.name, glass.subtractable()]") == [engine.names[0], False]
        expect(panel).to_contain_text("nothing is subtracted")
        for kind in ("stream-change", "head-change"):
            expect(page.locator(f"section[data-kind={kind}]")).to_contain_text("different models")
        expect(page.locator(".gp-sides [data-side='B-A']")).to_be_hidden()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        expect(panel).to_contain_text(text("read-by-two.page_shows", model=f"BLOOM (small, {SIZES['BLOOM']})"))
        back = panel.locator("[data-back]")
        back.press("Enter")  # the whole page is the first network's again, and both stay beside each other
        assert page.evaluate("[glass.state.trace.model.name, Boolean(glass.sides())]") == [engine.names[0], True]
        expect(back).to_have_count(0)
        page.evaluate("glass.showSide('B')")
        expect(back).to_be_visible()
        panel.locator("[data-side=A]").get_by_role("button", name="Head before").press("Enter")
        expect(panel.locator("[data-side=A] .gp-step-value").nth(1)).to_have_text("4 (0–5)")
        expect(panel.locator("[data-side=B] .gp-step-value").nth(1)).to_have_text("5 (0–5)")
        leave(page)
