"""The code behind a panel is what the files say, for a network of each family."""

from textwrap import dedent

import pytest

import model
from app.chapters import all_panels
from model.train.zoo import ZOO
from tests.panels import tensors
from visuals.messages.code import CodeExcerpt
from visuals.source_code import CODED, code_payload
from visuals.tensors import ROOT, tensor_places


def written(excerpt: CodeExcerpt) -> str:
    """An excerpt's text, put together from its pieces."""
    return "\n".join("".join(text for _, text in line) for line in excerpt["lines"])


def check(excerpt: CodeExcerpt) -> None:
    lines = (ROOT / excerpt["file"]).read_text(encoding="utf-8").splitlines()
    first = excerpt["first"] - 1
    assert written(excerpt) == dedent("\n".join(lines[first : first + len(excerpt["lines"])]))
    compile(written(excerpt), excerpt["file"], "exec")  # a whole function or class
    assert f" {excerpt['name'].rpartition('.')[2]}(" in written(excerpt)
    assert excerpt["file"].startswith("model/")


@pytest.mark.parametrize("family", [None, "bloom", "falcon", "mixtral", "deepseek", "glm", "t5"])
def test_excerpts_are_what_the_files_say(family: str | None) -> None:
    lm = model.load(*([ZOO / family] if family else []), device="cpu")
    places = tensor_places(lm.net, 1)
    for panel in all_panels():
        shown = tensors().get(panel, [])
        excerpts = code_payload(lm, 1, panel, shown)["excerpts"]
        assert bool(excerpts) == (panel in CODED or any(name in places for name in shown))
        for excerpt in excerpts:
            check(excerpt)
        made = {name["tensor"]: (one["file"], name["line"]) for one in excerpts for name in one["makes"]}
        assert made == {name: places[name][1:] for name in shown if name in places}


def test_code_is_named_for_panels_that_there_are() -> None:
    assert set(all_panels()) >= CODED
