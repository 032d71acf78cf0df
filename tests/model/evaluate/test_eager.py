"""How the command holds knock-out to transformers', and what it says where the two differ."""

from pathlib import Path

import pytest

import model
from model.checkpoint import BUNDLED, LanguageModel
from model.evaluate.eager import report_eager
from model.evaluate.why import cases_for, one_of_each_kind
from tests.standin import make_checkpoint

PROMPTS = ["The cat sleeps", "猫在沙发上"]


def test_the_largest_difference_is_printed_beside_its_bar(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory, other = make_checkpoint(tmp_path / "one"), make_checkpoint(tmp_path / "other", seed=1)
    lm = model.load(directory, device="cpu")
    assert report_eager(lm, directory, PROMPTS)
    assert not report_eager(lm, other, PROMPTS)
    met, missed = capsys.readouterr().out.splitlines()
    assert met.endswith("nats at most (bar 1e-04; 2 prompts)")
    assert float(met.split(" by ")[1].split()[0]) <= 1e-4 < float(missed.split(" by ")[1].split()[0])


def test_the_bundled_model_is_held_to_transformers_too() -> None:
    lm = model.load(device="cpu")
    prompts = one_of_each_kind(cases_for(lm))
    assert len(prompts) == 8
    assert report_eager(lm, BUNDLED, prompts[:1])


def test_where_there_is_no_peer_the_command_says_so(
    lm: LanguageModel, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("model.evaluate.eager.find_spec", lambda _: None)
    assert report_eager(lm, "nowhere", PROMPTS)
    assert capsys.readouterr().out.startswith("knock-out was not held to transformers")
