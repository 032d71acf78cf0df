"""The Jacobian lens: against torch's own Jacobians, where layers are linear, and by intervention."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import MethodType
from typing import Any

import numpy as np
import pytest
import torch

import model
from model.analysis import kept_lens
from model.analysis.jacobian_lens import SKIPPED, JacobianLens, Place, jacobians_at, mean_lens, places_in
from model.analysis.kept_lens import fit_further, fit_of, jacobian_lens_at_every_depth
from model.analysis.lens import logit_lens
from model.evaluate.lens import agreement, effects, judged_texts
from model.forward_pass import Pass
from model.train.zoo import ZOO
from tests.standin import make_checkpoint

IDS = [5, 71, 300, 18, 18, 222, 9]


@pytest.fixture
def lm(tmp_path: Path) -> model.LanguageModel:
    return model.load(make_checkpoint(tmp_path / "tiny"), device="cpu")


def rest_of(lm: model.LanguageModel, stream: torch.Tensor, layer: int, token: int) -> Callable[[Any], torch.Tensor]:
    """From one token's vector before a layer, the others' being as in the run, to its vector after the last layer."""
    positions = lm.net.positions(0, stream.shape[1])

    def run(vector: torch.Tensor) -> torch.Tensor:
        x = stream[layer].clone().index_put((torch.tensor(token),), vector)[None]
        for number in range(layer, lm.config.n_layers):
            x = lm.net.block(number)(x, Pass(positions, number))
        return x[0, token]

    return run


def stream_of(lm: model.LanguageModel, ids: Sequence[int]) -> torch.Tensor:
    return torch.from_numpy(model.run_trace(lm, list(ids)).residual)


@pytest.mark.parametrize("token", [4, 6])
def test_jacobians_are_torchs_own(lm: model.LanguageModel, token: int) -> None:
    stream = stream_of(lm, IDS)  # of a text that goes on behind the token
    found = jacobians_at(lm, Place(tuple(IDS[: token + 1])))
    for layer, ours in enumerate(found):
        theirs = torch.autograd.functional.jacobian(rest_of(lm, stream, layer, token), stream[layer, token])
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("family", ["qwen", "bloom", "falcon", "glm", "mixtral", "deepseek"])
def test_jacobians_of_other_families(family: str) -> None:
    lm = model.load(ZOO / family, device="cpu")
    stream, token = stream_of(lm, IDS), len(IDS) - 1
    found = jacobians_at(lm, Place(tuple(IDS)))
    rows = torch.randn(lm.config.d_model, generator=torch.Generator().manual_seed(1))
    for layer in (0, lm.config.n_layers - 1):
        _, theirs = torch.autograd.functional.vjp(rest_of(lm, stream, layer, token), stream[layer, token], rows)
        torch.testing.assert_close(rows @ found[layer], theirs, rtol=2e-3, atol=2e-3)


def test_linear_layers_are_carried_exactly(lm: model.LanguageModel) -> None:
    """Where each layer multiplies by a matrix, one place gives it, and every depth says what the network says."""
    d, layers = lm.config.d_model, lm.config.n_layers
    maps = [torch.eye(d) + 0.2 * torch.randn(d, d, generator=torch.Generator().manual_seed(i)) for i in range(layers)]

    def linear(block: Any, x: torch.Tensor, at: Pass) -> torch.Tensor:
        return block.resid_out(block.resid_in(x) @ maps[at.layer].T)

    for block in lm.net.layers:
        block.forward = MethodType(linear, block)
    lens = mean_lens(jacobians_at(lm, Place(tuple(IDS))), 1)
    torch.testing.assert_close(lens.jacobians[-1].float(), maps[-1], rtol=1e-3, atol=1e-3)
    whole = torch.linalg.multi_dot(maps[::-1])
    torch.testing.assert_close(lens.jacobians[0].float(), whole, rtol=2e-3, atol=2e-3)
    vector = torch.randn(d, generator=torch.Generator().manual_seed(9))
    torch.testing.assert_close(lens.carry(layers, vector), vector)
    exact = JacobianLens(jacobians_at(lm, Place(tuple(IDS))), 1)
    after = whole @ vector
    torch.testing.assert_close(lm.net.logits(exact.carry(0, vector)), lm.net.logits(after), rtol=1e-4, atol=1e-4)


def test_identities_make_it_the_logit_lens(lm: model.LanguageModel) -> None:
    d, layers = lm.config.d_model, lm.config.n_layers
    lens, stream = mean_lens(torch.eye(d).repeat(layers, 1, 1) * 3, 3), stream_of(lm, IDS)
    targets = np.arange(len(IDS))
    for depth in range(layers + 1):
        plain = logit_lens(lm, stream[depth].numpy(), targets)
        for ours, theirs in zip(logit_lens(lm, lens.carry(depth, stream[depth]).numpy(), targets), plain, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_places_are_spread_over_all_texts() -> None:
    texts = [list(range(20)), list(range(100, 103)), list(range(200, 230))]
    every = places_in(texts, 1000)
    assert len(every) == 20 - SKIPPED + 30 - SKIPPED
    assert all(
        len(place.ids) > SKIPPED and list(place.ids) == texts[place.ids[0] // 100][: len(place.ids)] for place in every
    )
    some = places_in(texts, 7)
    assert len(set(some)) == 7
    assert {place.ids[0] for place in some} == {0, 200}
    assert places_in(texts, 0) == places_in([], 5) == []


def test_a_lens_is_fitted_a_token_at_a_time_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_lens, "LAYERS", 2)
    monkeypatch.setattr(kept_lens, "TOKENS", 17)
    directory = make_checkpoint(tmp_path / "tiny")
    lm = model.load(directory, device="cpu")
    trace = model.run_trace(lm, IDS)
    targets = np.array(IDS)
    assert fit_of(lm) == (0, 17, 1, False)
    with pytest.raises(model.GlassLlamaError, match="No Jacobian lens"):
        jacobian_lens_at_every_depth(lm, trace.residual, targets)
    assert [fit_further(lm).done for _ in range(17)] == list(range(1, 18))
    assert fit_further(lm).done == 17  # nothing is left to do

    places = places_in(kept_lens.lens_texts(lm), 17)
    mean = torch.stack([jacobians_at(lm, place) for place in places]).mean(0)
    again = model.load(directory, device="cpu")  # as another process finds it
    assert fit_of(again) == (17, 17, 1, False)
    lens = kept_lens.kept_lens(again)
    assert lens is not None
    torch.testing.assert_close(lens.jacobians.float(), mean[1:], rtol=2e-3, atol=2e-3)
    first, *_, last = jacobian_lens_at_every_depth(again, trace.residual, targets)
    carried = torch.from_numpy(trace.residual[1]) @ lens.jacobians[0].float().T
    for ours, theirs in zip(first, logit_lens(lm, carried.numpy(), targets), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
    for ours, theirs in zip(last, logit_lens(lm, trace.residual[-1], targets), strict=True):
        np.testing.assert_array_equal(ours, theirs)

    other = model.load(make_checkpoint(directory, seed=1), device="cpu")  # other weights in the same place
    assert fit_of(other).done == 0
    (directory / kept_lens.FILE).write_bytes(b"no tensors")
    with pytest.raises(model.GlassLlamaError, match=r"cannot be used.*--lens"):
        fit_of(model.load(directory, device="cpu"))


def test_what_takes_too_much_is_not_fitted(lm: model.LanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_lens, "WORK", 1.0)
    assert fit_of(lm).tokens == 0
    with pytest.raises(model.GlassLlamaError, match="too much work"):
        fit_further(lm)
    assert fit_of(model.load(ZOO / "t5", device="cpu")).tokens == 0


@pytest.mark.thorough
def test_the_bundled_lens_is_nearer_to_what_the_network_says_and_does() -> None:
    """At every depth: nearer in KL, right more often, and a step along its direction raises a logit more than one along
    the logit lens' and a random one; what it promises is nearer to what comes. From the first layer on the logit lens'
    raises it, too."""
    lm = model.load(device="cpu")
    lens = kept_lens.kept_lens(lm)
    assert lens is not None
    assert lens.jacobians.shape == (8, 256, 256)
    texts = judged_texts(lm)[:8]
    for row in agreement(lm, lens, texts):
        assert row.jacobian_kl < row.logit_kl
        assert row.jacobian_same > row.logit_same
    for row in effects(lm, lens, texts):
        assert row.jacobian > max(row.logit, row.random)
        assert row.depth == 0 or row.logit > row.random
        assert abs(row.random) < 0.1 * row.jacobian
        assert row.jacobian_r > row.logit_r
        assert row.jacobian == pytest.approx(row.predicted, rel=0.7)
