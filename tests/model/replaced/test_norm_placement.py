"""Placements of norms, on the branches of a run: against torch's own layers, and against transformers' own pass."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import model
from model.interventions import Intervention, Patch
from model.replaced.norm_placement import PLACEMENTS, Placement, chain, run_branches
from tests.peer import Peer

IDS = [5, 17, 300, 42, 7, 9, 123]
EPS, WIDTH = 1e-5, 48


def encoder_layer(norm_first: bool) -> nn.TransformerEncoderLayer:
    torch.manual_seed(1)
    layer = nn.TransformerEncoderLayer(WIDTH, 4, 96, 0.0, batch_first=True, norm_first=norm_first, layer_norm_eps=EPS)
    return layer.double().train()


def branches_of(layer: nn.TransformerEncoderLayer, x: torch.Tensor) -> list[torch.Tensor]:
    """What attention and feed-forward add in torch's own layer, in its order."""
    if layer.norm_first:
        normed = layer.norm1(x)
        attention = layer.self_attn(normed, normed, normed, need_weights=False)[0]
        normed = layer.norm2(x + attention)
        return [attention, layer.linear2(torch.relu(layer.linear1(normed)))]
    attention = layer.self_attn(x, x, x, need_weights=False)[0]
    after = layer.norm1(x + attention)
    return [attention, layer.linear2(torch.relu(layer.linear1(after)))]


@pytest.mark.parametrize(("placement", "first"), [("pre", True), ("post", False)])
def test_pre_and_post_are_torchs_own_layers(placement: Placement, first: bool) -> None:
    """Two layers of nn.TransformerEncoderLayer with weights of their own, whose norms have γ = 1 and β = 0."""
    layers, x = [encoder_layer(first), encoder_layer(first)], torch.randn(1, 5, WIDTH).double()
    start, branches, lengths = x[0], [], [x[0].norm(dim=-1)]
    with torch.no_grad():
        for layer in layers:
            branches += branches_of(layer, x)
            x = layer(x)
            lengths.append(x[0].norm(dim=-1))
        found = chain(start, torch.stack([one[0] for one in branches]), placement, 7.0, EPS)
    torch.testing.assert_close(found.lengths[::2], torch.stack(lengths), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("placement", "residual", "added"), [("deep", 3.0, 1.0), ("branch", 1.0, 3.0)])
def test_deep_norm_and_its_mistake_by_torchs_layer_norm(placement: Placement, residual: float, added: float) -> None:
    x, branches = torch.randn(5, WIDTH).double(), torch.randn(6, 5, WIDTH).double()
    found, norm = chain(x, branches, placement, 3.0, EPS), nn.LayerNorm(WIDTH, EPS, elementwise_affine=False).double()
    kept = torch.ones(5).double()
    for step, branch in enumerate(branches, 1):
        total = residual * x + added * branch
        kept = kept * residual / (total.var(-1, correction=0) + EPS).sqrt()
        x = norm(total)
        torch.testing.assert_close(found.lengths[step], x.norm(dim=-1), atol=1e-5, rtol=0)
        torch.testing.assert_close(found.kept[step], kept, atol=1e-5, rtol=1e-5)


def test_a_sandwich_adds_what_is_normalised() -> None:
    x, branches = torch.randn(5, WIDTH).double(), torch.randn(6, 5, WIDTH).double()
    added = nn.LayerNorm(WIDTH, EPS, elementwise_affine=False).double()(branches)
    found = chain(x, branches, "sandwich", 3.0, EPS)
    torch.testing.assert_close(found.lengths[-1], (x + added.sum(0)).norm(dim=-1))
    assert (found.kept == 1).all()


@pytest.mark.parametrize("placement", ["post", "deep"])
def test_what_is_kept_is_what_a_change_at_the_start_is_multiplied_by(placement: Placement) -> None:
    """A small change of x, across the directions that a LayerNorm takes out, comes through as kept · change."""
    torch.manual_seed(2)
    x, branches = torch.randn(1, 4096).double(), torch.randn(4, 1, 4096).double()

    def end(start: torch.Tensor) -> torch.Tensor:
        for branch in branches:
            alpha = 2.0 if placement == "deep" else 1.0
            start = torch.nn.functional.layer_norm(alpha * start + branch, (4096,), eps=EPS)
        return start

    change = torch.randn(1, 4096).double() * 1e-4
    moved = (end(x + change) - end(x)).norm() / change.norm()
    assert moved.item() == pytest.approx(chain(x, branches, placement, 2.0, EPS).kept[-1].item(), rel=2e-3)


def lower(products: np.ndarray, steps: int) -> np.ndarray:
    """The products of each token as a whole matrix."""
    whole = np.zeros((len(products), steps, steps), np.float64)
    rows, columns = np.tril_indices(steps)
    whole[:, rows, columns] = whole[:, columns, rows] = products
    return whole


def test_the_branches_of_a_run_are_what_transformers_adds(checkpoint: Path) -> None:
    lm, peer = model.load(checkpoint, device="cpu"), Peer(checkpoint, IDS)
    trace = model.run_trace(lm, IDS)
    found = run_branches(lm, trace.residual)
    layers = peer.config.num_hidden_layers
    assert found.layers == [layer for layer in range(layers) for _ in "af"]
    assert found.parts == ["attn", "ffn"] * layers
    names = [f"model.layers.{i}.{part}" for i in range(layers) for part in ("self_attn.o_proj", "mlp")]
    theirs = torch.stack([peer.run.hidden_states[0][0], *(peer.outputs[name] for name in names)], 1).double()
    np.testing.assert_allclose(found.lengths, theirs.cumsum(1).norm(dim=-1).detach(), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found.mean, theirs[:, 0].mean(-1).detach(), atol=1e-5)
    centred = (theirs - theirs.mean(-1, keepdim=True)).detach().numpy()
    products = centred @ centred.swapaxes(1, 2)
    np.testing.assert_allclose(lower(found.products, 2 * layers + 1), products, rtol=1e-4, atol=1e-4)


def test_a_patch_counts_as_part_of_the_branch_before_it(checkpoint: Path) -> None:
    lm = model.load(checkpoint, device="cpu")
    other = model.run_trace(lm, IDS[::-1])
    patch = Patch(1, 2, tuple(other.residual[1, 2].tolist()))
    trace = model.run_trace(lm, IDS, Intervention(patches=(patch,)))
    found = run_branches(lm, trace.residual, trace.intervention)
    np.testing.assert_allclose(found.lengths[:, ::2], np.linalg.norm(trace.residual, axis=-1).T, rtol=1e-5)


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_the_products_are_enough_for_every_placement(checkpoint: Path, placement: Placement) -> None:
    """The stream as weights on what was added, whose lengths follow from the products, as the page has it."""
    lm = model.load(checkpoint, device="cpu")
    trace = model.run_trace(lm, IDS)
    found, eps, alpha = run_branches(lm, trace.residual), lm.config.norm_eps, 2.0
    steps, width = len(found.layers) + 1, lm.config.d_model
    products = lower(found.products, steps)[-1]
    block = [torch.from_numpy(trace.residual[0])]
    for layer in range(trace.n_layers):
        held = trace.layer(layer)
        block += [torch.from_numpy(held.attn_out), torch.from_numpy(held.ffn_out)]
    truth = chain(block[0], torch.stack(block[1:]), placement, alpha, eps)
    weights, offset = np.zeros(steps), found.mean[-1] ** 2 * width
    weights[0] = 1
    for k in range(1, steps):
        if placement == "pre":
            weights[k] = 1
            length = found.lengths[-1, k]
        elif placement == "sandwich":
            weights[k] = 1 / np.sqrt(products[k, k] / width + eps)
            length = np.sqrt(weights @ products @ weights + offset)
        else:
            residual, added = {"post": (1, 1), "deep": (alpha, 1), "branch": (1, alpha)}[placement]
            weights, weights[k] = weights * residual, added
            weights = weights / np.sqrt(weights @ products @ weights / width + eps)
            length = np.sqrt(weights @ products @ weights)
        assert length == pytest.approx(truth.lengths[k, -1].item(), rel=1e-4)
        assert weights[0] == pytest.approx(truth.kept[k, -1].item(), rel=1e-4)
