"""What is asked of a network with two texts, or without RoPE: limits of each text, questions without an answer."""

from typing import Any

import pytest
import transformers

from app.engine import LocalEngine
from app.service import Service
from app.session import Runs
from tests.app.family_page import pairs_of
from tests.app.test_t5_on_page import CONFIGS
from tests.families import SIZES

LIMIT = 128  # of either text of the T5, and of BLOOM's


@pytest.fixture(scope="module")
def service() -> Service:
    pairs = pairs_of({"t5": CONFIGS["t5-1.0"], "bloom": transformers.BloomConfig(**SIZES, seq_length=LIMIT)})
    return Service(LocalEngine([pair.lm for pair in pairs.values()]), Runs())


def recalled(service: Service, prompt: str, count: int, model: str = "t5") -> dict[str, Any]:
    return service.recall({"prompt": prompt, "model": model, "generated": [7] * count, "layer": 0})


def test_a_link_is_cut_where_the_decoder_is_full_and_not_by_the_source(service: Service) -> None:
    prompt = "x" * 100
    run = recalled(service, prompt, 60)
    assert len(run["encoder"]["tokens"]["ids"]) + 60 > LIMIT
    assert (len(run["tokens"]["ids"]), "note" in run) == (61, False)
    run = recalled(service, prompt, 200)
    assert len(run["tokens"]["ids"]) == LIMIT
    assert run["note"]["params"] == {"given": 200, "kept": LIMIT - 1}  # the start token stands first


def test_a_run_that_has_expired_is_run_again_with_both_texts_whole(service: Service) -> None:
    first = recalled(service, "x" * 100, 60)
    source = first["encoder"]["tokens"]["ids"]
    asked = {"model": "t5", "prompt": "x" * 100, "ids": [*source, *[7] * 60], "n_prompt": len(source), "layer": 0}
    again = service.rerun(asked)
    assert again["kind"] == "run", again
    assert (again["tokens"], again["encoder"]["tokens"]) == (first["tokens"], first["encoder"]["tokens"])
    for ids, n_prompt in ((source * 2 + [7], 2 * len(source)), ([*source, *[7] * (LIMIT + 1)], len(source))):
        assert service.rerun(asked | {"ids": ids, "n_prompt": n_prompt})["kind"] == "message"


@pytest.mark.parametrize("model", ["t5", "bloom"])
def test_what_nothing_is_rotated_for_is_refused_by_name(service: Service, model: str) -> None:
    run = recalled(service, "The cat sleeps.", 1, model)
    said = service.detail({"run": run["id"], "what": "rope_scalings", "factor": 4})
    assert (said["kind"], said["code"]) == ("message", "bad_request"), said
    assert "rotate" in said["params"]["detail"]
