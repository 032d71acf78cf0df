"""Scores with other divisors than √d, against torch's own softmax and autograd."""

import pytest
import torch
from torch.autograd.functional import jacobian
from torch.distributions import Categorical
from torch.nn.functional import scaled_dot_product_attention

from model.replaced.scaled_scores import entropy, gradient_size, softmax_gradient, spread_expected, weights_at


@pytest.fixture
def scores() -> torch.Tensor:
    return torch.randn(9, generator=torch.Generator().manual_seed(0)) * 4


@pytest.mark.parametrize("divisor", [1.0, 32**0.5, 32.0])
def test_weights_are_those_of_scaled_dot_product_attention(divisor: float) -> None:
    chance = torch.Generator().manual_seed(1)
    q, k = torch.randn(5, 32, generator=chance), torch.randn(7, 32, generator=chance)
    seen = scaled_dot_product_attention(q[None], k[None], torch.eye(7)[None], scale=1 / divisor)[0]
    torch.testing.assert_close(weights_at(q @ k.T, divisor), seen, rtol=1e-5, atol=1e-5)


def test_the_gradient_is_autograds(scores: torch.Tensor) -> None:
    for divisor in (1.0, 5.66):
        row = scores / divisor
        found = jacobian(lambda s: s.softmax(-1), row)
        assert isinstance(found, torch.Tensor)
        weights = weights_at(scores, divisor)
        torch.testing.assert_close(softmax_gradient(weights), found, rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(gradient_size(weights), found.trace(), rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(entropy(weights), Categorical(weights).entropy(), rtol=1e-5, atol=1e-6)


def test_a_hard_row_has_no_gradient(scores: torch.Tensor) -> None:
    hard, soft = (gradient_size(weights_at(scores, divisor)) for divisor in (0.01, 9.0))
    assert float(hard) < 1e-5 < float(soft)
    assert float(softmax_gradient(weights_at(scores, 0.01)).abs().max()) < 1e-5


@pytest.mark.parametrize(("width", "root"), [(32, 5.66), (128, 11.31)])
def test_products_of_independent_entries_spread_as_the_root_of_the_width(width: int, root: float) -> None:
    chance = torch.Generator().manual_seed(2)
    q, k = torch.randn(2, 4000, width, generator=chance)
    assert float((q * k).sum(-1).std()) == pytest.approx(root, rel=0.05)
    assert spread_expected(q, k) == pytest.approx(root, rel=0.02)


def test_a_divisor_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="divisor is 0; expected a number above 0"):
        weights_at(torch.zeros(1, 2), 0)
