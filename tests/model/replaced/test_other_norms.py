"""BatchNorm, DeepNorm, ε outside the root and the written-out norms, against torch's own modules and by hand."""

import pytest
import torch
import torch.nn.functional as F

from model.norms import RMSNorm
from model.replaced.batch_norm import batch_norm, batch_statistics
from model.replaced.deep_norm import decoder_scales, deep_norm, encoder_scales, one_stack_scales
from model.replaced.norm_speed import layer_norm_written, norm_times, rms_norm_written
from model.replaced.rms_outside import rms_norm_outside

EPS = 1e-5


@pytest.fixture
def x() -> torch.Tensor:
    """(7, 48): channels with means and sizes of their own."""
    source = torch.Generator().manual_seed(3)
    own = torch.rand(48, generator=source)
    return torch.randn(7, 48, generator=source) * (0.1 + 3 * own) + 2 * own


def test_batch_norm_is_torchs_while_it_trains(x: torch.Tensor) -> None:
    theirs = torch.nn.BatchNorm1d(48, eps=EPS, affine=False).train()(x)
    torch.testing.assert_close(batch_norm(x, batch_statistics(x), EPS), theirs, atol=1e-5, rtol=0)


def test_batch_norm_of_one_token_is_0_and_torch_refuses_it(x: torch.Tensor) -> None:
    one = batch_statistics(x[:1])
    assert one.variance.abs().max() == 0
    assert batch_norm(x[:1], one, EPS).abs().max() == 0
    with pytest.raises(ValueError, match="more than 1 value per channel"):
        torch.nn.BatchNorm1d(48).train()(x[:1])


@pytest.mark.parametrize("alpha", [1.0, 2.0, 11.83])
def test_deep_norm_is_a_layer_norm_of_the_larger_stream(x: torch.Tensor, alpha: float) -> None:
    branch = x.flip(0)
    theirs = torch.nn.LayerNorm(48, eps=EPS, elementwise_affine=False)(x * alpha + branch)
    torch.testing.assert_close(deep_norm(x, branch, alpha, EPS), theirs, atol=1e-5, rtol=0)


def test_the_scales_are_those_of_the_paper() -> None:
    assert one_stack_scales(8) == (pytest.approx(2.0), pytest.approx(64**-0.25))
    assert decoder_scales(27).alpha == pytest.approx(3.0)
    assert decoder_scales(6).beta == pytest.approx(72**-0.25)
    both = encoder_scales(16, 16)  # (16⁴ · 16)^(1/16) = 2^(20/16)
    assert both == (pytest.approx(0.81 * 2**1.25), pytest.approx(0.87 * 2**-1.25))


@pytest.mark.parametrize("eps", [1e-5, 0.5])
def test_eps_outside_the_root(x: torch.Tensor, eps: float) -> None:
    by_hand = torch.stack([row / (row.norm() / 48**0.5 + eps) for row in x])
    torch.testing.assert_close(rms_norm_outside(x, eps), by_hand, atol=1e-5, rtol=0)


def test_both_places_of_eps_at_the_size_where_they_part() -> None:
    small = torch.full((1, 8), 1e-3)
    assert rms_norm_outside(small, EPS)[0, 0].item() == pytest.approx(0.990, abs=5e-4)
    assert RMSNorm(8, EPS)(small)[0, 0].item() == pytest.approx(0.302, abs=5e-4)


def test_what_is_timed_gives_what_torch_gives(x: torch.Tensor) -> None:
    gamma, beta = torch.linspace(0.5, 2, 48), torch.linspace(-1, 1, 48)
    layer, rms = F.layer_norm(x, (48,), gamma, beta, EPS), F.rms_norm(x, (48,), gamma, EPS)
    torch.testing.assert_close(layer_norm_written(x, gamma, beta, EPS), layer, atol=1e-5, rtol=0)
    torch.testing.assert_close(rms_norm_written(x, gamma, EPS), rms, atol=1e-5, rtol=0)


@pytest.mark.parametrize(("dtype", "size"), [(torch.float32, 4), (torch.bfloat16, 2)])
def test_times_are_told_with_what_they_are_of(x: torch.Tensor, dtype: torch.dtype, size: int) -> None:
    told = norm_times(x.to(dtype), EPS)
    assert told.bytes_layer == size * (2 * 7 * 48 + 2 * 48)
    assert told.bytes_rms == size * (2 * 7 * 48 + 48)
    assert told.rounds >= 5
    for timing in (told.layer_fused, told.rms_fused, told.layer_written, told.rms_written):
        assert 0 < timing.low <= timing.median <= timing.high
