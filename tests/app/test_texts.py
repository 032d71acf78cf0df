"""Both languages say the same things."""

import re
from pathlib import Path

import pytest

from app import build
from app.texts import LANGUAGES, table, text
from model.curriculum import STAGES
from model.record import Entry, Record
from visuals import STATIC
from visuals.training import training_payload

PLACEHOLDER = re.compile(r"\{(\w+)(?:\|[^|}]*\|[^|}]*)?\}")


def keys(language: str) -> dict[str, str]:
    return {f"{section}.{name}": words for section, names in table(language).items() for name, words in names.items()}


def test_same_keys_and_placeholders() -> None:
    tables = {language: keys(language) for language in LANGUAGES}
    assert tables["en"].keys() == tables["zh"].keys()
    for key in tables["en"]:
        assert set(PLACEHOLDER.findall(tables["en"][key])) == set(PLACEHOLDER.findall(tables["zh"][key])), key


def test_no_text_is_empty_and_chinese_is_chinese() -> None:
    for language in LANGUAGES:
        assert all(words.strip() for words in keys(language).values())
    same = [key for key, words in keys("zh").items() if words == keys("en")[key]]
    assert [key for key in same if len(re.findall(r"[A-Za-z]{3}", PLACEHOLDER.sub("", keys("en")[key]))) > 2] == []


@pytest.mark.parametrize("path", sorted(STATIC.rglob("*.js")), ids=lambda path: path.name)
def test_every_text_that_a_script_names_is_there(path: Path) -> None:
    named = re.findall(r"""\btext\(\s*["']([a-z_]+\.[a-z_0-9]+)["']""", path.read_text(encoding="utf-8"))
    assert [key for key in named if key not in keys("en")] == []


def test_every_label_is_there() -> None:
    assert [key for words in build.LABELS.values() for key in words.values() if key not in keys("en")] == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("stage", [stage.name for stage in STAGES])
def test_every_training_stage_has_a_name(stage: str, language: str) -> None:
    (said,) = training_payload(Record([Entry(stage, 1, 1.0, 1.0, {})], []))["loss"]["data"][0]["customdata"]
    assert said.startswith("text:training.")
    assert keys(language)[said.removeprefix("text:")].strip()


def test_placeholders_are_filled_in() -> None:
    assert text("message.prompt_too_long", tokens=600, limit=512).startswith("The prompt has 600 tokens")
    with pytest.raises(KeyError):
        text("page.nothing_like_this")
    with pytest.raises(KeyError):
        text("message.prompt_too_long", tokens=600)


def test_one_is_not_many() -> None:
    assert [text("compare.tokens", count=count) for count in (0, 1, 2)] == ["0 tokens", "1 token", "2 tokens"]
    assert text("rope.sum", pairs=1) == "sum over the 1 pair"
    assert text("overview.title", name="x", n_layers=1, d_model=4, piece="a").startswith("x: 1 layer, ")
    said = text("merges.all_title", tokens=1, characters=1, bytes=3)
    assert said == "The whole run: 1 token, 1 character, 3 bytes"
