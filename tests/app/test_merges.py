"""The chapter Tokens: how each token of a run was made."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tokenizers import Tokenizer as BackEnd
from tokenizers import models, pre_tokenizers

import model
from app.service import Service
from model.tokenizer import Tokenizer
from tests.app.looking import faults, run, shown
from visuals.token import merges_info, merges_payload

PROMPT = "The dog plays 龘 in the yard."
pytestmark = pytest.mark.prompt(PROMPT)


def test_the_message_of_a_run(service: Service) -> None:
    held = service.run(PROMPT, "roomy")
    data = json.loads(json.dumps(service.detail({"run": held["id"], "what": "merges"})))["data"]
    ids, pieces = held["tokens"]["ids"], held["tokens"]["pieces"]
    assert bytes(byte for i in ids for byte in data["bytes"][str(i)]).decode() == PROMPT
    assert (data["kind"], data["whole_words"]) == ("BPE", False)
    for i, piece in zip(ids, pieces, strict=True):
        made = data["made"][str(i)]
        assert made["tokens"] == [i]
        assert len(made["base"]) == len(data["bytes"][str(i)]) == len(made["merges"]) + 1
        assert data["pieces"][str(i)] == piece
    first = next(t for t, piece in enumerate(pieces) if "⟨" in piece)
    assert data["split"] == [{"character": "龘", "first": first, "last": first + 2}]


def test_special_tokens_and_ids_beyond_the_tokenizer(lm: model.LanguageModel) -> None:
    info = merges_info(lm, [0, 319, 65])
    assert info.stands_for[0] is None
    assert 0 not in info.made
    assert info.pieces[0] == "<|end|>"
    assert info.split == []


def test_a_tokenizer_of_another_kind_has_no_merges(lm: model.LanguageModel) -> None:
    back_end = BackEnd(models.WordLevel({"cat": 0, "dog": 1, "?": 2}, unk_token="?"))
    back_end.pre_tokenizer = pre_tokenizers.Whitespace()
    other = model.LanguageModel("other", lm.config, Tokenizer(back_end), lm.net)
    message = merges_payload(merges_info(other, [0, 1]))
    assert (message["kind"], message["merges"], message["made"]) == ("WordLevel", 0, {})
    assert message["bytes"] == {"0": list(b"cat"), "1": list(b"dog")}


@pytest.fixture
def chapter(page: Page) -> Page:
    page.click("nav [data-chapter=token]")
    shown(page, "merges", "token ")
    return page


def test_the_ladder_of_a_token(chapter: Page, roomy_checkpoint: Path) -> None:
    tokenizer = Tokenizer.from_file(roomy_checkpoint / "tokenizer.json")
    ids, pieces = chapter.evaluate("[glass.state.trace.tokens.ids, glass.state.trace.tokens.pieces]")
    position = max(range(len(ids)), key=lambda t: len(pieces[t]))
    chapter.evaluate("(query) => glass.select({ query })", position)
    stands_for = tokenizer.bytes_of(ids[position])
    assert stands_for is not None
    count = len(stands_for) - 1
    assert count > 1
    hexadecimal = stands_for.hex(" ").upper()
    assert shown(chapter, "merges", f"token {position} ").endswith(f"bytes={hexadecimal} merges={count}")
    steps = chapter.locator("section[data-kind=merges] .tm-step")
    expect(steps).to_have_count(count + 1)
    expect(steps.last.locator(".tm-symbol")).to_have_text([pieces[position].replace(" ", "·")])
    ranks = json.loads(tokenizer.back_end.to_str())["model"]["merges"]
    shown_rank = int(steps.last.locator(".tm-rank").inner_text().split()[-1])
    assert "".join(ranks[shown_rank]) == tokenizer.back_end.id_to_token(ids[position])


def test_a_character_in_several_tokens_and_the_list(chapter: Page) -> None:
    section = chapter.locator("section[data-kind=merges]")
    expect(section.locator("tr.is-cut")).to_have_count(3)
    section.locator("tr.is-cut").first.click()
    query = chapter.evaluate("glass.state.query")
    expect(section).to_contain_text(f"The character “龘” lies across tokens {query} to {query + 2}")
    chapter.click("#language >> text=中文")
    expect(section).to_contain_text(f"字符“龘”跨了词元 {query} 到 {query + 2}")


def test_axe_finds_nothing(chapter: Page) -> None:
    assert faults(chapter) == []


def test_the_list_begins_at_its_first_token_and_follows_who_chooses_another(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    run(page, "one two three four five six seven eight nine ten " * 4)
    page.evaluate("glass.open('token')")
    query = page.evaluate("glass.state.trace.T - 1")
    shown(page, "merges", f"token {query} ")
    box = "document.querySelector('section[data-kind=merges] .gp-list')"
    assert page.evaluate(f"{box}.scrollHeight > {box}.clientHeight")
    assert page.evaluate(f"{box}.scrollTop") == 0
    page.evaluate("(query) => glass.select({ query })", query - 1)
    shown(page, "merges", f"token {query - 1} ")
    assert page.evaluate(f"{box}.scrollTop") > 0
