"""Routing, capacity and balance against transformers' Switch and Mixtral."""

import pytest
import torch
from transformers import MixtralConfig, SwitchTransformersConfig
from transformers.models.mixtral.modeling_mixtral import MixtralTopKRouter
from transformers.models.switch_transformers.modeling_switch_transformers import SwitchTransformersTop1Router

from model.replaced.capacity import capacity, fitting
from model.replaced.routing import gshard, probabilities, switch

TOKENS, EXPERTS, WIDTH = 24, 6, 16


def given() -> tuple[torch.Tensor, torch.Tensor]:
    draw = torch.Generator().manual_seed(3)
    return torch.randn(TOKENS, WIDTH, generator=draw), torch.randn(EXPERTS, WIDTH, generator=draw) / 3


@pytest.mark.parametrize("factor", [0.25, 0.5, 1.0, 1.25, 4.0])
def test_the_best_expert_and_who_is_dropped_are_those_of_switch(factor: float) -> None:
    x, weight = given()
    slots = capacity(TOKENS, EXPERTS, 1, factor)
    config = SwitchTransformersConfig(
        num_experts=EXPERTS, expert_capacity=slots, hidden_size=WIDTH, router_jitter_noise=0.0
    )
    router = SwitchTransformersTop1Router(config).eval()
    router.classifier.weight.data = weight
    with torch.no_grad():
        dispatched, theirs, _ = router(x[None])
    chosen, own = switch(probabilities((x @ weight.T).softmax(-1), "softmax"))
    torch.testing.assert_close(own, theirs[0], rtol=1e-5, atol=1e-6)
    kept = fitting(chosen, EXPERTS, slots)
    assert torch.equal(dispatched[0].sum(-1).bool(), kept[:, 0])
    assert torch.equal(dispatched[0].argmax(-1)[kept[:, 0]], chosen[kept[:, 0], 0])


def test_two_experts_are_those_of_mixtral() -> None:
    x, weight = given()
    config = MixtralConfig(hidden_size=WIDTH, num_local_experts=EXPERTS, num_experts_per_tok=2)
    router = MixtralTopKRouter(config).eval()
    router.weight.data = weight
    with torch.no_grad():
        _, theirs, experts = router(x)
    chosen, own = gshard((x @ weight.T).softmax(-1))
    assert torch.equal(chosen, experts)
    torch.testing.assert_close(own, theirs, rtol=1e-5, atol=1e-6)


def test_sigmoid_scores_tell_the_softmax() -> None:
    x, weight = given()
    logits = x @ weight.T
    torch.testing.assert_close(probabilities(logits.sigmoid(), "sigmoid"), logits.softmax(-1), rtol=1e-5, atol=1e-6)


def test_first_choices_come_before_second_ones() -> None:
    chosen = torch.tensor([[0, 1], [1, 0], [0, 1], [0, 2]])
    # Expert 0 is chosen first by tokens 0, 2 and 3, then second by 1; expert 1 first by 1, then second by 0 and 2.
    assert fitting(chosen, 3, 2).tolist() == [[True, True], [True, False], [True, False], [False, True]]
    assert fitting(chosen, 3, 4).all()


def test_capacity_by_hand() -> None:
    assert capacity(64, 8, 1, 1.0) == 8
    assert capacity(64, 8, 2, 1.25) == 20
    assert capacity(10, 8, 1, 1.0) == 2
    with pytest.raises(ValueError, match="factor is 0"):
        capacity(10, 8, 1, 0)
