"""The page's temperature, top-k and top-p (filters.js, run by Node) against transformers' own processors."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from model.sampling import Sampling, filtered_logits

FILTERS = Path(__file__).parents[2] / "visuals" / "static" / "readings" / "filters.js"
PROGRAM = """
import { readFileSync } from "node:fs";
const { filter, probabilityAfter, rank, rest } = await import(process.argv[1]);
const cases = JSON.parse(readFileSync(0, "utf8"));
const answers = cases.map(({ logits, temperature, topK, topP }) => {
  const ranked = rank(Float32Array.from(logits));
  const after = filter(ranked, { temperature, topK, topP });
  const out = {};
  for (const stage of ["all", "topK", "topP"]) {
    const p = new Array(logits.length);
    ranked.order.forEach((id, place) => { p[id] = probabilityAfter(after, stage, place); });
    out[stage] = { p, rest: rest(after, stage, 7) };
  }
  return out;
});
process.stdout.write(JSON.stringify(answers));
"""
NO_IDS = torch.empty(1, 0, dtype=torch.long)
SETTINGS = [
    Sampling(temperature, top_k, top_p)
    for temperature in (0.25, 0.8, 1.0, 1.7)
    for top_k in (0, 1, 7, 40, 5000)
    for top_p in (1.0, 0.95, 0.5, 0.01, 0.0)
]


def made_logits() -> list[np.ndarray]:
    """A peaked, a flat and a tied set of logits."""
    draw = np.random.default_rng(5)
    tied = np.round(draw.normal(0, 2, 90))
    return [
        draw.normal(0, 3, 400).astype(np.float32),
        draw.normal(0, 0.2, 60).astype(np.float32),
        tied.astype(np.float32),
    ]


def in_the_page(logits: np.ndarray, settings: list[Sampling]) -> list[dict]:
    cases = [
        {"logits": logits.tolist(), "temperature": s.temperature, "topK": s.top_k, "topP": s.top_p} for s in settings
    ]
    command = ["node", "--input-type=module", "--eval", PROGRAM, FILTERS.as_uri()]
    done = subprocess.run(command, input=json.dumps(cases), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def by_transformers(logits: np.ndarray, how: Sampling) -> dict[str, np.ndarray]:
    """Probabilities after each stage, (V,) each, in the order of transformers' `generate`."""
    scores = TemperatureLogitsWarper(how.temperature)(NO_IDS, torch.from_numpy(logits).double()[None])
    stages = {"all": scores}
    stages["topK"] = TopKLogitsWarper(how.top_k)(NO_IDS, scores) if how.top_k else scores
    stages["topP"] = TopPLogitsWarper(how.top_p)(NO_IDS, stages["topK"]) if how.top_p < 1 else stages["topK"]
    return {name: values[0].softmax(-1).numpy() for name, values in stages.items()}


@pytest.mark.parametrize("which", range(3))
def test_the_sliders_give_what_transformers_gives(which: int) -> None:
    logits = made_logits()[which]
    ties = len(np.unique(logits)) < len(logits)
    for how, ours in zip(SETTINGS, in_the_page(logits, SETTINGS), strict=True):
        theirs = by_transformers(logits, how)
        for stage in ("all", "topK", "topP"):
            mine, other = np.array(ours[stage]["p"]), theirs[stage]
            # Of equal logits at top-p's edge either may stay, so there the values are compared in order.
            if ties and stage == "topP":
                mine, other = np.sort(mine), np.sort(other)
            np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-12, err_msg=f"{how} {stage}")
            best = np.sort(theirs[stage])[::-1]
            assert ours[stage]["rest"]["probability"] == pytest.approx(best[7:].sum(), abs=1e-12)
            assert ours[stage]["rest"]["count"] == int((best[7:] > 0).sum())


def test_and_what_the_server_draws_from() -> None:
    logits = made_logits()[2]
    for how, ours in zip(SETTINGS, in_the_page(logits, SETTINGS), strict=True):
        server = filtered_logits(torch.from_numpy(logits), how).softmax(-1).numpy()
        np.testing.assert_allclose(ours["topP"]["p"], server, rtol=1e-9, atol=1e-12, err_msg=str(how))


def test_temperature_zero_takes_the_first_of_the_highest() -> None:
    (answer,) = in_the_page(np.array([1.0, 3.0, 3.0], np.float32), [Sampling(0.0, 2, 0.5)])
    assert answer["topP"]["p"] == [0, 1, 0]
