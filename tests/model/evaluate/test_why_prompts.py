"""The prompts on which the why is judged, and how one of them is."""

from collections import Counter
from typing import get_args

import numpy as np
import pytest

import model
from model import LanguageModel
from model.analysis.form import Form
from model.evaluate.why import (
    Judged,
    WhyCase,
    cases_for,
    held_out_for,
    judge,
    line,
    report_held_out,
    report_words,
    summary,
    words_held_out_for,
)


def test_forty_prompts_of_eight_kinds_for_either_model(lm: LanguageModel) -> None:
    for of in (lm, model.load(device="cpu")):
        cases = cases_for(of)
        assert len({case.prompt for case in cases}) == 40
        assert len(Counter(case.kind for case in cases)) == 8
        assert {case.form for case in cases} <= set(get_args(Form))


def test_held_out_prompts_are_others_of_the_same_kinds(lm: LanguageModel, capsys: pytest.CaptureFixture[str]) -> None:
    cases, known = held_out_for(lm), cases_for(lm)
    assert len(cases) == 15
    assert {case.prompt for case in cases}.isdisjoint(case.prompt for case in known)
    assert {case.kind for case in cases} == {case.kind for case in known}
    assert held_out_for(model.load(device="cpu")) == []
    report_held_out(lm)
    *lines, last = capsys.readouterr().out.splitlines()
    wrong = sum("(by hand: " in one for one in lines)
    assert last.startswith(f"{15 - wrong} of 15: ")


def test_words_that_a_person_would_change_stand_in_other_prompts(
    lm: LanguageModel, capsys: pytest.CaptureFixture[str]
) -> None:
    bundled = model.load(device="cpu")
    for of in (lm, bundled):
        cases, known = words_held_out_for(of), cases_for(of) + held_out_for(of)
        assert len(cases) >= 10
        assert {case.kind for case in cases} == {case.kind for case in known}
        assert {case.prompt for case in cases}.isdisjoint(case.prompt for case in known)
        for case in cases:
            assert case.change
            assert all(word in case.prompt for word in case.change)
    report_words(bundled)
    *lines, last = capsys.readouterr().out.splitlines()
    missed = sum("(a person would change " in one for one in lines)
    assert last == f"{len(lines) - missed} of {len(lines)}: a word that a person would change is proposed"
    assert any("{→ [:' ]'" in one or "{→ (:' )'" in one for one in lines)  # what closes is what was opened


def test_a_prompt_is_judged_by_what_was_measured() -> None:
    bundled = model.load(device="cpu")
    one = judge(bundled, WhyCase("induction", "cat dog bird fish cat dog", "copied"), heads_budget=0)
    assert one.first_is_largest
    assert not one.names_sink
    assert "copied (fetched late" in line(bundled, one)
    wrong = one._replace(found=_with(one, tokens=(0,), sinks=(0,)))
    assert wrong.names_sink
    assert not wrong.first_is_largest
    said = summary([one, wrong])
    assert "1 of 2: no sink is named" in said
    assert "2 of 2: the form is that of the label" in said


def _with(one: Judged, tokens: tuple[int, ...], sinks: tuple[int, ...]) -> model.Why:
    fields = vars(one.found) | {"tokens": tokens, "sinks": sinks, "knock_out": np.arange(6.0)}
    return model.Why(**fields)
