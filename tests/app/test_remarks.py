"""The remarks on models and GPUs in Chinese: each there, none stale, and with every number and name of the English."""

import json
import re
from pathlib import Path

import pytest

import app.remarks
from app.remarks import in_chinese
from model.kv_math.gpus import GPUS
from model.published.catalogue import catalogue
from model.published.hf_spec import spec_from_config

TABLE = json.loads((Path(app.__file__).parent / "catalogue.zh.json").read_text(encoding="utf-8"))
CONFIGS = json.loads((Path(__file__).parents[1] / "model/published/hub_configs.json").read_text(encoding="utf-8"))
PARTS = ("source", "not_verified", "notes")
REMARKS = {part: sorted({text for spec in catalogue().values() for text in getattr(spec, part)}) for part in PARTS}
REMARKS["gpus"] = [gpu.source for gpu in GPUS.values()]
ON_CONFIGS = {
    text
    for name, config in CONFIGS.items()
    for spec in [spec_from_config(config, name)]
    for text in (*spec.source, *spec.notes)
}
# Names of fields, functions and libraries, which no language translates; "(text)" is part of a model's name.
KEPT = {"config", "logit", "theta", "eps", "xxl", "null", "false", "ffn", "min", "transformers", "text"}


def english_words(text: str) -> list[str]:
    """Words in small letters that are part of no name, path, identifier, number or formula."""
    names = r"[\w.\-]*[/_@=.*{}\d][\w./\-@=*{}(),]*|[\w-]*[A-Z][\w-]*(?: [\w-]*[A-Z][\w-]*)*"
    return [word for word in re.findall(r"[a-z]{3,}", re.sub(names, " ", text)) if word not in KEPT]


@pytest.mark.parametrize("remark", [text for texts in REMARKS.values() for text in texts] + sorted(ON_CONFIGS))
def test_a_remark_is_said_in_chinese(remark: str) -> None:
    chinese = in_chinese(remark)
    assert english_words(chinese) == []
    # What cannot be translated stays: numbers, commits, versions, paths.
    for kept in re.findall(r"\d[\d,.]*\d|\d|\b\w+/[\w/.\-]+\.\w+", remark):
        assert kept.rstrip(".,") in chinese, kept
    assert ("凭记忆" in chinese) <= ("from memory" in remark)  # nor does the Chinese add a doubt of its own


def test_nothing_stale_is_kept() -> None:
    for part, texts in REMARKS.items():
        assert [text for text in TABLE[part] if text not in {*texts, "your own figures"}] == []


def test_words_are_found_where_there_are_some() -> None:
    assert english_words("HF docs snapshot huggyllama/llama-7b config.json") == ["docs", "snapshot"]
    assert english_words("GitHub openai/gpt-2@122c55a：src/model.py") == []
