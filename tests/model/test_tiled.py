"""Weights in tiles, of 32, 16 and 8 bits, against NumPy, torch and the same network with its weights written out."""

from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import nn

from model import GlassLlamaError, generate, load, run_trace, tiled
from model.analysis.kept_lens import fingerprint
from model.checkpoint import pick_dtype, save_weights
from model.network import Network
from model.stacked import StackedLinear
from model.tiled import Tiled, TiledLinear, TiledStacked, bytes_held, named_weights, quantise, weight_rows
from model.weight_error import TEXT

SIZES = [(960, 576), (576, 1536), (97, 64), (7, 5), (769, 16)]  # the last one leaves a tile half empty
PROMPT = "Tom has a red ball."


def random(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def of(weight: torch.Tensor, bias: bool = False) -> nn.Linear:
    made = nn.Linear(weight.shape[1], len(weight), bias=bias).requires_grad_(False)
    made.weight.copy_(weight)
    if bias:
        made.bias.copy_(random(len(weight)))
    return made


@pytest.mark.parametrize("size", SIZES)
def test_codes_are_those_of_torch_and_of_numpy(size: tuple[int, int]) -> None:
    weight = random(*size)
    weight[0] = 0
    found = quantise(weight)
    largest = np.abs(weight.numpy()).max(1, keepdims=True)
    scale = np.where(largest == 0, np.float32(1), largest / np.float32(127))
    assert np.array_equal(found.codes.numpy().astype(int) - 128, np.rint(weight.numpy() / scale).astype(int))
    theirs = torch.fake_quantize_per_channel_affine(weight, found.scale, torch.zeros(len(weight)).int(), 0, -127, 127)
    ours = (found.codes.float() - 128) * found.scale[:, None]
    # torch multiplies by 1/scale: a weight half way between two codes may go to the other one.
    apart = ((ours - theirs).abs() / found.scale[:, None]).round()
    assert float(apart.max()) <= 1
    assert float((apart > 0).double().mean()) < 1e-3
    assert float(((ours - weight).abs() / found.scale[:, None]).max()) <= 0.5 + 1e-4


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("rows", [(1, 1), (1, 5), (3, 1)])
def test_product_of_codes_is_that_of_the_weights_they_stand_for(
    size: tuple[int, int], bias: bool, rows: tuple[int, int]
) -> None:
    given = of(random(*size) / size[1] ** 0.5, bias)
    codes = quantise(given.weight)
    weight = (codes.codes.double() - 128) * codes.scale.double()[:, None]
    made, x = TiledLinear(given, int8=True), random(*rows, size[1])
    expected = F.linear(x.double(), weight, given.bias.double() if bias else None)
    assert made(x).shape == expected.shape
    assert float((made(x) - expected).abs().max()) < 1e-5
    assert torch.allclose(made.weight.double(), weight, rtol=0, atol=1e-7)
    # Its gradient is that of the same weights.
    x.requires_grad_()
    made(x).square().sum().backward()
    assert x.grad is not None
    assert float((x.grad - 2 * expected.detach() @ weight).abs().max()) < 2e-6 * max(1.0, float(x.grad.abs().max()))


@pytest.mark.parametrize("size", SIZES)
def test_bfloat16_is_kept_as_it_is(size: tuple[int, int]) -> None:
    given = of(random(*size)).bfloat16()
    made = TiledLinear(given, int8=False)
    assert torch.equal(made.weight, given.weight)
    for count in (1, 4):
        x = random(count, size[1]).bfloat16()
        exact = F.linear(x.double(), given.weight.double())
        assert float(((made(x) - exact).abs() / exact.abs().amax()).max()) <= 2**-8


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("int8", [False, True])
def test_rows_are_those_of_the_matrix_written_out(size: tuple[int, int], int8: bool) -> None:
    given = of(random(*size))
    made = TiledLinear(given, int8)
    whole = torch.from_numpy(made.weight.numpy())
    assert whole.shape == size
    assert int8 or torch.equal(whole, given.weight)
    for some in ([0], [size[0] - 1, 0, 3], size[0] // 2):
        assert torch.equal(weight_rows(made, some), whole[some])
        assert torch.equal(weight_rows(given, some), given.weight[some])


def test_a_large_network_in_float32_lies_in_tiles_and_can_be_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = load(device="cpu")
    assert not any(isinstance(module, Tiled) for module in plain.net.modules())
    monkeypatch.setattr(tiled, "MANY", 1_000_000)
    lm = load(device="cpu")
    assert isinstance(lm.net.head, TiledLinear)
    assert lm.n_parameters == plain.n_parameters
    held = [*lm.net.parameters(), *(one.table for one in lm.net.modules() if isinstance(one, Tiled))]
    assert bytes_held(lm.net, lm.device, lm.dtype, int8=False) == sum(one.nbytes for one in held)
    assert (
        bytes_held(plain.net, lm.device, torch.float16, False) == sum(one.nbytes for one in plain.net.parameters()) // 2
    )
    assert {name: tuple(one.shape) for name, one in named_weights(lm.net)} == {
        name: tuple(one.shape) for name, one in named_weights(plain.net)
    }
    assert fingerprint(lm.net) == fingerprint(plain.net)
    one, other = run_trace(lm, PROMPT), run_trace(plain, PROMPT)
    assert np.abs(one.residual - other.residual).max() < 1e-4 * np.abs(other.residual).max()
    written = [[step.token_id for step in generate(each, PROMPT, max_new_tokens=12)] for each in (lm, plain)]
    assert written[0] == written[1]
    save_weights(lm.net, tmp_path, torch.float32)
    saved = load_file(tmp_path / "model.safetensors")
    save_weights(plain.net, tmp_path / "plain", torch.float32)
    expected = load_file(tmp_path / "plain" / "model.safetensors")
    assert saved.keys() == expected.keys()
    assert all(torch.equal(saved[name], expected[name]) for name in expected)


def test_a_stack_is_its_parts() -> None:
    given = StackedLinear(24, 16, 8, 8).requires_grad_(False)
    made, x = TiledStacked(given, int8=True), random(1, 1, 24)
    assert [part.shape[-1] for part in made(x)] == [16, 8, 8]
    assert torch.allclose(torch.cat(made(x), -1), F.linear(x, made.weight), atol=1e-6)


def written_out(net: Network) -> None:
    """Put plain maps with the same weights in the place of those in tiles."""
    for parent in [*net.modules()]:
        for name, child in [*parent.named_children()]:
            if isinstance(child, TiledLinear):
                setattr(parent, name, of(child.weight))
            elif isinstance(child, TiledStacked):
                plain = StackedLinear(child.in_features, *child.rows).requires_grad_(False)
                plain.weight.copy_(child.weight)
                setattr(parent, name, plain)


def test_a_network_of_codes_is_that_of_their_weights_and_says_its_error(tmp_path: Path) -> None:
    exact, lm, plain = load(device="cpu"), load(device="cpu", dtype="int8"), load(device="cpu", dtype="int8")
    written_out(plain.net)
    assert not any(isinstance(module, Tiled) for module in plain.net.modules())
    ids = lm.tokenizer.encode(PROMPT)
    with torch.inference_mode():
        ours, same, whole = (one.net(torch.tensor([ids]))[0] for one in (lm, plain, exact))
    assert float((ours - same).abs().max()) < 1e-4  # of logits up to 30: six digits of float32
    assert 0 < float((ours - whole).abs().max()) < 2
    assert lm.n_parameters == exact.n_parameters
    assert lm.dtype == torch.float32
    assert isinstance(lm.net.head, TiledLinear)
    assert lm.net.head.table.element_size() == 1
    tokens = [[step.token_id for step in generate(one, PROMPT, max_new_tokens=12)] for one in (lm, plain)]
    assert tokens[0] == tokens[1]
    traces = [run_trace(one, PROMPT) for one in (lm, plain)]
    assert np.allclose(traces[0].residual, traces[1].residual, atol=1e-4)
    assert np.allclose(traces[0].layer(2).gate, traces[1].layer(2).gate, atol=1e-4)

    error, text = lm.net.int8_error, torch.tensor([lm.tokenizer.encode(TEXT)])
    assert error is not None
    assert exact.net.int8_error is None
    with torch.inference_mode():
        p, q = (nn.functional.log_softmax(one.net(text)[0].double(), -1).numpy() for one in (exact, plain))
        a, b = (one.net(text)[0].numpy() for one in (exact, plain))
    assert error.tokens == text.shape[1]
    assert error.kl == pytest.approx(float((np.exp(p) * (p - q)).sum(-1).mean()), rel=1e-3)
    assert error.logit_rms == pytest.approx(float(np.sqrt(((a - b) ** 2).mean())), rel=1e-3)
    assert error.logit_max == pytest.approx(float(np.abs(a - b).max()), rel=1e-3)
    assert error.same == pytest.approx(float((a.argmax(-1) == b.argmax(-1)).mean()))

    with pytest.raises(GlassLlamaError, match="load them as float32"):
        save_weights(lm.net, tmp_path)
    with pytest.raises(GlassLlamaError, match="int8' is for the CPU"):
        pick_dtype("int8", torch.device("cuda"))


def test_a_checkpoint_in_bfloat16_has_the_fingerprint_that_it_has_in_float32() -> None:
    assert fingerprint(load(device="cpu", dtype="bfloat16").net) == fingerprint(load(device="cpu").net)
