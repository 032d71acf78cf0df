"""What the server answers of other norms and their places: stretches of tokens, α by stack, what it refuses."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import model
from app.engine import LocalEngine
from app.service import Service
from app.session import SOURCE
from app.zoo import ZOO
from tests.visuals.test_payload import unpack

PROMPT = "Tom is in the kitchen. Tom is in the"


@pytest.fixture(scope="module")
def service() -> Service:
    return Service(LocalEngine([replace(model.load(ZOO / name, device="cpu"), name=name) for name in ("llama", "t5")]))


def ask(service: Service, run: str, what: str, **params: Any) -> Any:
    return service.detail({"run": run, "what": what, **params})


def run_of(service: Service, name: str) -> str:
    """The id of a run of a model."""
    answer: Any = service.run(PROMPT, name)
    return answer["id"]


def test_a_stretch_is_a_part_of_the_whole_with_the_figures_of_all_tokens(service: Service) -> None:
    run = run_of(service, "llama")
    at = {"layer": 1, "norm": "ffn"}
    whole, part = (
        ask(service, run, "norm_kinds", **at, first=first, count=count)["data"] for first, count in ((0, 10**6), (2, 3))
    )
    for name in ("before", "branch"):
        np.testing.assert_array_equal(unpack(part[name]), unpack(whole[name])[2:5])
    assert (part["mean"], part["variance"]) == (whole["mean"], whole["variance"])
    np.testing.assert_allclose(unpack(whole["mean"]), unpack(whole["before"]).mean(0), atol=1e-5)
    whole, part = (
        ask(service, run, "norm_placement", first=first, count=count)["data"] for first, count in ((0, 99), (2, 3))
    )
    for name in ("lengths", "mean", "products"):
        np.testing.assert_array_equal(unpack(part[name]), unpack(whole[name])[2:5])


def test_alpha_is_that_of_the_stack(service: Service) -> None:
    run, decoder = run_of(service, "t5"), 3  # as many layers as the encoder
    asked = {"layer": 0, "norm": "attn", "first": 0, "count": 1}
    assert ask(service, run, "norm_kinds", **asked)["data"]["alpha"] == pytest.approx((3 * decoder) ** 0.25)
    encoder = ask(service, f"{run}{SOURCE}", "norm_kinds", **asked)["data"]["alpha"]
    assert encoder == pytest.approx(0.81 * (decoder**4 * decoder) ** (1 / 16))
    assert ask(service, run, "norm_placement", first=0, count=1)["data"]["decoder_layers"] is None
    placed = ask(service, f"{run}{SOURCE}", "norm_placement", first=0, count=1)["data"]
    assert placed["decoder_layers"] == decoder
    parts = ask(service, run, "norm_placement", first=0, count=1)["data"]["parts"]
    assert parts == ["attn", "cross", "ffn"] * decoder


@pytest.mark.parametrize(
    ("what", "params", "says"),
    [
        ("norm_kinds", {"layer": 1, "norm": "attn", "first": 99, "count": 3}, "first is 99; expected a whole number"),
        ("norm_kinds", {"layer": 1, "norm": "attn", "first": 0, "count": 0}, "count is 0; expected a whole number"),
        ("norm_kinds", {"layer": 1, "norm": "cross", "first": 0, "count": 1}, "expected one of attn, ffn, final"),
        ("norm_times", {"norm": "attn"}, "layer is None; expected a whole number from 0 to"),
        ("norm_placement", {"first": 0, "count": "x"}, "count is 'x'; expected a whole number"),
    ],
)
def test_what_is_wrong_is_named_with_what_would_be_right(
    service: Service, what: str, params: dict[str, Any], says: str
) -> None:
    run = run_of(service, "llama")
    assert says in ask(service, run, what, **params)["params"]["detail"]
