"""The activations against torch.nn.functional, their slopes against autograd, and the errors that are often quoted."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from transformers.activations import ACT2FN

from model.replaced.activations import FUNCTIONS, KINDS, SLOPES, is_zero, kind_of, kinds_for

PEERS = {
    "relu": F.relu,
    "silu": F.silu,
    "gelu": F.gelu,
    "gelu_new": ACT2FN["gelu_new"],
    "gelu_sigmoid": ACT2FN["quick_gelu"],
    "sigmoid": F.sigmoid,
}


def grid(dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.linspace(-10, 10, 4001, dtype=dtype)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_the_one_of_torch(name: str) -> None:
    torch.testing.assert_close(FUNCTIONS[name](grid()), PEERS[name](grid()), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_slope_is_what_autograd_finds(name: str) -> None:
    x = grid(torch.float64).requires_grad_()
    PEERS[name](x).sum().backward()
    torch.testing.assert_close(SLOPES[name](x.detach()), x.grad, rtol=1e-9, atol=1e-9)
    assert FUNCTIONS.keys() == SLOPES.keys()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_only_relu_is_zero_away_from_zero(name: str) -> None:
    x = torch.tensor([-2.0, -0.1, 0.0, 0.1], dtype=torch.float64)
    assert is_zero(name, x).tolist() == (PEERS[name](x) == 0).tolist()
    assert not (is_zero(name, torch.tensor([-40.0])).any() and name != "relu")  # where GELU rounds to 0


def test_a_gated_unit_is_the_one_of_torch() -> None:
    gate, up = torch.randn(2, 64, generator=torch.Generator().manual_seed(1))
    both = torch.cat([up, gate])
    factors = {kind.name: kind.factor(gate, up) for kind in KINDS}
    torch.testing.assert_close(factors["glu"], F.glu(both))  # torch's gate is the second half
    torch.testing.assert_close(factors["swiglu"], F.silu(gate) * up)
    torch.testing.assert_close(factors["reglu"], F.relu(gate) * up)
    torch.testing.assert_close(factors["geglu"], F.gelu(gate) * up)
    torch.testing.assert_close(factors["relu"], gate.clamp(min=0))


def test_how_far_the_approximations_of_gelu_are_off() -> None:
    x = torch.linspace(-10, 10, 200_001, dtype=torch.float64)
    exact = F.gelu(x)
    found = {name: (FUNCTIONS[name](x) - exact).abs() for name in ("gelu_new", "gelu_sigmoid")}
    assert float(found["gelu_new"].max()) == pytest.approx(4.7e-4, rel=0.02)
    assert float(found["gelu_sigmoid"].max()) == pytest.approx(0.0203, rel=0.005)
    assert abs(float(x[found["gelu_sigmoid"].argmax()])) == pytest.approx(2.27, abs=0.01)


def test_which_kinds_a_network_may_have() -> None:
    assert kind_of("silu", True).name == "swiglu"
    assert kind_of("gelu_new", False).name == "gelu_new"
    assert all(not kind.gated for kind in kinds_for(False))
    assert len(kinds_for(True)) == len(KINDS)
    with pytest.raises(KeyError, match="tanh"):
        kind_of("tanh", True)
