"""Held-out prompts whose circuits are measured: as they should be, and carried by few nodes in the bundled model."""

from itertools import islice, product

import pytest

import model
from model.analysis.nodes import all_nodes, keep, run_pair
from model.analysis.recovered import recovered
from model.evaluate.circuits import (
    ASKED,
    CURVE,
    KINDS,
    NODES,
    TOLD,
    cases,
    endless_cases,
    in_band,
    measure,
    nearest,
    report,
)


def test_cases_swap_one_thing_and_are_held_out() -> None:
    for kind in KINDS:
        # None of them may be missing a value: some names were told of nearly every place in training.
        case = list(islice(endless_cases(kind, seed=1), 1000))[-1]
        (told, other), (asked, second) = case.others[TOLD], case.others[ASKED]
        assert len({case.prompt, told, asked}) == 3
        assert len({case.answer, other, second}) == 3
        assert case.answer.strip() in case.prompt
        assert other.strip() in told
        assert second.strip() in asked


@pytest.mark.thorough
def test_few_nodes_carry_the_bundled_models_answers() -> None:
    lm = model.load(device="cpu")
    found = []
    for kind in ("place (en)", "recall (zh)"):
        (case,) = cases(lm, kind, 1, seed=1)
        found += [measure(lm, case, swapped) for swapped in NODES]
    for one in found:
        assert in_band(one.curve[CURVE.index({TOLD: 24, ASKED: 40}[one.swapped])]), one
        assert abs(one.by_chance) < 0.05
        assert abs(one.without) < 0.1
    told = [one for one in found if one.swapped == TOLD]
    assert f"{sum(in_band(one.recovered) for one in told)}/{len(told)}" in report(told)
    missing = [kind for kind in KINDS if kind not in {one.kind for one in told}]
    assert f"all three forms: {', '.join(missing)}" in report(told)


def test_the_search_runs_every_exchange(lm: model.LanguageModel) -> None:
    pair = run_pair(lm, [5, 17, 31, 42], [5, 90, 31, 42])
    every = all_nodes(pair)
    nodes, others = every[:3], every[3:]
    sets = [nodes, *([kept for kept in nodes if kept != out] + [new] for out, new in product(nodes, others))]
    shares = [share for one in sets for share in recovered(pair, keep(pair, [one]))]
    best = min(shares, key=lambda share: abs(share - 1))
    assert nearest(pair, nodes, entering=len(others)) == pytest.approx(best, abs=1e-5)
