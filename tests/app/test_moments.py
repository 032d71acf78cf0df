"""A generation is remembered: of every written token, what it was chosen from, and how it was drawn."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from app.engine import LocalEngine, Settings
from app.service import Service
from tests.reference import reference, run_reference
from visuals.payload import unpack

PROMPT = "The cat sleeps on the sofa."
CLOSE: dict[str, Any] = {"rtol": 2e-5, "atol": 2e-5}
HOW = Settings(temperature=0.9, top_k=30, top_p=0.95, seed=5)


@pytest.fixture
def written(service: Service) -> dict[str, Any]:
    """A run of twelve drawn tokens."""
    return list(service.generate(PROMPT, "roomy", 12, HOW, {}))[-1]


def ask(service: Service, run: dict[str, Any], what: str, **params: Any) -> dict[str, Any]:
    return service.detail({"run": run["id"], "what": what, **params})["data"]


def test_what_every_token_was_chosen_from_is_what_transformers_computes(
    service: Service, written: dict[str, Any], roomy_checkpoint: Path
) -> None:
    ids = written["tokens"]["ids"]
    peer = run_reference(reference(roomy_checkpoint), torch.tensor([ids])).logits[0].double()
    for token in range(len(ids)):
        offered = ask(service, written, "next", token=token)
        top = peer[token].topk(len(offered["ids"]))
        np.testing.assert_allclose(unpack(offered["logits"]), top.values, **CLOSE)
        np.testing.assert_allclose(peer[token][offered["ids"]], top.values, **CLOSE)
        assert offered["log_z"] == pytest.approx(float(peer[token].logsumexp(-1)), rel=2e-5)
        np.testing.assert_allclose(unpack(ask(service, written, "logits", token=token)["logits"]), peer[token], **CLOSE)


def test_every_draw_of_a_generation_can_be_made_again(service: Service, written: dict[str, Any]) -> None:
    for index, step in enumerate(written["steps"]):
        assert step["sampling"] == {"temperature": 0.9, "top_k": 30, "top_p": 0.95, "seed": 5, "draws": index}
        drawn = ask(service, written, "draw", token=written["n_prompt"] + index - 1, **step["sampling"])
        assert drawn["id"] == step["id"], index
        assert drawn["probability"] == pytest.approx(step["drawn_probability"], rel=1e-4)
        assert drawn["race"]["winner"]["id"] == step["id"]


def test_tokens_written_one_by_one_are_remembered_too(service: Service) -> None:
    run = service.step(PROMPT, "roomy", HOW, {})
    for _ in range(3):
        run = service.step(PROMPT, "roomy", HOW, {"run": run["id"]})
    for index, step in enumerate(run["steps"]):
        assert (step["sampling"]["seed"], step["sampling"]["draws"]) == (HOW.seed + index, 0)
        drawn = ask(service, run, "draw", token=run["n_prompt"] + index - 1, **step["sampling"])
        assert drawn["id"] == step["id"], index


def test_no_token_named_is_the_end_of_the_text(service: Service, written: dict[str, Any], engine: LocalEngine) -> None:
    trace = engine.trace("roomy", written["tokens"]["ids"])
    for params in ({}, {"token": len(trace.token_ids) - 1}):
        said = unpack(ask(service, written, "logits", **params)["logits"])
        np.testing.assert_allclose(said, trace.logits, atol=1e-5)  # what was written was read token by token


@pytest.mark.parametrize("params", [{"token": 999}, {"token": -1}, {"token": "2"}])
def test_a_position_that_the_run_does_not_have_is_refused(
    service: Service, written: dict[str, Any], params: dict[str, Any]
) -> None:
    for what, more in (("next", {}), ("logits", {}), ("draw", {"seed": 1})):
        answer = service.detail({"run": written["id"], "what": what, **params, **more})
        assert (answer["kind"], answer["code"]) == ("message", "bad_request")
    answer = service.detail({"run": written["id"], "what": "draw", "seed": 1, "draws": 10_000})
    assert answer["code"] == "bad_request"
