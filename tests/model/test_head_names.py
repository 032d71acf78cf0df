"""Reading heads.json: what fits the model is kept, anything else is named and refused."""

import json
from pathlib import Path
from typing import Any

import pytest

import model
from model import GlassLlamaError
from model.head_names import HeadScore, read_heads


def write(directory: Path, found: Any) -> Path:
    (directory / "heads.json").write_text(found if isinstance(found, str) else json.dumps(found))
    return directory


def kind(**change: Any) -> dict[str, Any]:
    return {"definition": "d", "scores": [], "best": [{"layer": 0, "head": 1, "score": 0.5}], "prompt": None} | change


def test_no_file_no_names(lm: model.LanguageModel, tmp_path: Path) -> None:
    assert read_heads(tmp_path, lm.config) == {}
    assert read_heads(None, lm.config) == {}
    assert lm.directory is not None
    assert read_heads(lm.directory, lm.config) == {}


def test_names_are_read_best_first(lm: model.LanguageModel, tmp_path: Path) -> None:
    best = [{"layer": 0, "head": 1, "score": 0.2}, {"layer": 2, "head": 5, "score": 1}]
    kinds = read_heads(write(tmp_path, {"kinds": {"induction": kind(best=best, prompt="猫")}}), lm.config)
    assert kinds["induction"].best == [HeadScore(2, 5, 1.0), HeadScore(0, 1, 0.2)]
    assert (kinds["induction"].definition, kinds["induction"].prompt, kinds["induction"].prompts) == ("d", "猫", {})


def test_a_text_for_each_language(lm: model.LanguageModel, tmp_path: Path) -> None:
    kinds = read_heads(
        write(tmp_path, {"kinds": {"a": kind(prompt="猫", prompts={"en": "cat", "zh": "猫"})}}), lm.config
    )
    assert kinds["a"].prompts == {"en": "cat", "zh": "猫"}


def test_what_the_evaluation_writes_can_be_read(lm: model.LanguageModel, tmp_path: Path) -> None:
    from model.analysis.head_scores import DEFINITIONS

    kinds = {name: kind(definition=words) for name, words in DEFINITIONS.items()}
    assert read_heads(write(tmp_path, {"cases": 1, "kinds": kinds, "ablation": {}}), lm.config).keys() == kinds.keys()


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ("not json", "Expecting value"),
        ("[]", "it is no JSON object"),
        ({}, "kinds is no JSON object"),
        ({"kinds": {"a": []}}, "kinds.a is no JSON object"),
        ({"kinds": {"a": kind(best=None)}}, "kinds.a.best is no list"),
        ({"kinds": {"a": kind(best=[{"layer": 3, "head": 0, "score": 1}])}}, "kinds.a.best[0].layer is 3"),
        ({"kinds": {"a": kind(best=[{"layer": 0, "head": -1, "score": 1}])}}, "kinds.a.best[0].head is -1"),
        ({"kinds": {"a": kind(best=[{"layer": True, "head": 0, "score": 1}])}}, "layer is True"),
        ({"kinds": {"a": kind(best=[{"layer": 0, "head": 0, "score": "1"}])}}, "score is '1'"),
        ('{"kinds": {"a": {"best": [{"layer": 0, "head": 0, "score": NaN}]}}}', "score is nan"),
        ({"kinds": {"a": kind(definition=7)}}, "kinds.a.definition is no text"),
        ({"kinds": {"a": kind(prompt="x" * 3000)}}, "kinds.a.prompt is no text"),
        ({"kinds": {"a": kind(prompts=["cat"])}}, "kinds.a.prompts is no JSON object"),
        ({"kinds": {"a": kind(prompts={"zh": 1})}}, "kinds.a.prompts.zh is no text"),
    ],
)
def test_a_file_that_does_not_fit(lm: model.LanguageModel, tmp_path: Path, found: Any, words: str) -> None:
    with pytest.raises(GlassLlamaError) as error:
        read_heads(write(tmp_path, found), lm.config)
    assert words in str(error.value)
    assert "model.evaluate --heads" in str(error.value)
