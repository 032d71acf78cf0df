"""The in-process engine: names, turns, and what it says about a model."""

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import model
from app.engine import LocalEngine, Settings, short_name
from model import GlassLlamaError


def test_names_hide_where_a_directory_is(engine: LocalEngine) -> None:
    assert engine.names[0] == "roomy"
    assert short_name("HuggingFaceTB/SmolLM2-135M") == "HuggingFaceTB/SmolLM2-135M"


def test_two_models_of_one_name(lm: model.LanguageModel) -> None:
    with pytest.raises(ValueError, match="different models"):
        LocalEngine([lm, lm])
    with pytest.raises(ValueError, match="none"):
        LocalEngine([])


def test_directories_of_one_name_are_told_apart_without_their_paths(lm: model.LanguageModel, tmp_path: Path) -> None:
    places = [tmp_path / place for place in ("a/run", "b/run", "run (2)", "c/run")]
    for place in places:
        place.mkdir(parents=True)
    engine = LocalEngine([replace(lm, name=str(place)) for place in places] + [replace(lm, name="org/run")])
    assert engine.names == ["run", "run (2)", "run (2) (2)", "run (3)", "org/run"]


def test_about_says_what_is_really_used(engine: LocalEngine) -> None:
    about = engine.about("roomy")
    assert (about.name, about.device, about.dtype) == ("roomy", "CPU", "float32")
    assert about.n_parameters > 10_000


def test_an_unknown_model_is_a_clear_error(engine: LocalEngine) -> None:
    with pytest.raises(GlassLlamaError) as caught:
        engine.trace("nowhere", [1])
    assert caught.value.code == "model_unknown"


def test_work_side_by_side_does_not_mix(engine: LocalEngine, roomy_checkpoint: Path) -> None:
    """Captures of several threads, while others generate, equal those of one thread alone."""
    alone = {n: engine.trace("roomy", list(range(1, n))) for n in (5, 9, 17)}
    wrong: list[str] = []

    def look(n: int) -> None:
        for _ in range(10):
            trace = engine.trace("roomy", list(range(1, n)))
            if not np.array_equal(trace.attn_norm_rms, alone[n].attn_norm_rms):
                wrong.append(f"trace {n}")
            if not np.array_equal(engine.layer("roomy", trace, 1).q, engine.layer("roomy", alone[n], 1).q):
                wrong.append(f"layer {n}")

    def write() -> None:
        list(engine.generate("roomy", [1, 2, 3], 30, Settings()))

    threads = [threading.Thread(target=look, args=(n,)) for n in alone] + [threading.Thread(target=write)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
