"""On a CUDA device: bfloat16 weights, traces and cached decoding, held to the same network in float32 on the CPU."""

from pathlib import Path

import numpy as np
import pytest
import torch

import model
from model.cache import KVCache
from model.taps import capture
from tests.reference import sample_ids
from tests.standin import make_checkpoint

pytestmark = pytest.mark.gpu
PROMPT = "The cat sleeps, 猫在沙发上睡觉。"
# bfloat16 has 8 significant bits; activations are of the order of 1 and logits of 5.
BF16 = {"rtol": 0.05, "atol": 0.15}


@pytest.fixture(scope="module")
def soft(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_checkpoint(tmp_path_factory.mktemp("gpu"), sharpness=1.2)


@pytest.fixture(scope="module")
def on_gpu(soft: Path) -> model.LanguageModel:
    return model.load(soft)


@pytest.fixture(scope="module")
def on_cpu(soft: Path) -> model.LanguageModel:
    return model.load(soft, device="cpu")


def test_auto_takes_the_gpu_in_bfloat16(on_gpu: model.LanguageModel) -> None:
    assert on_gpu.device.type == "cuda"
    assert on_gpu.dtype == torch.bfloat16
    assert {parameter.device.type for parameter in on_gpu.net.parameters()} == {"cuda"}


def test_a_trace_in_bfloat16_is_that_of_float32_but_for_rounding(
    on_gpu: model.LanguageModel, on_cpu: model.LanguageModel
) -> None:
    ours, exact = model.run_trace(on_gpu, PROMPT), model.run_trace(on_cpu, PROMPT)
    assert ours.logits.dtype == np.float32
    np.testing.assert_allclose(ours.logits, exact.logits, **BF16)
    np.testing.assert_allclose(ours.attn_norm_rms, exact.attn_norm_rms, rtol=0.03)
    for i in range(3):
        layer = ours.layer(i)
        np.testing.assert_allclose(layer.attention, exact.layer(i).attention, atol=0.1)
        np.testing.assert_allclose(layer.attention.sum(-1), 1, atol=1e-5)  # the softmax is taken in float32
        np.testing.assert_allclose(layer.resid_out, exact.layer(i).resid_out, **BF16)


def test_a_layer_equals_what_a_full_capture_saw(on_gpu: model.LanguageModel) -> None:
    trace = model.run_trace(on_gpu, PROMPT)
    ids = torch.tensor([trace.token_ids], device="cuda")
    with torch.inference_mode(), capture(on_gpu.net, "layers.*.resid_out", "*.attention") as seen:
        on_gpu.net(ids, eager=True)
    for i in range(3):
        np.testing.assert_allclose(trace.layer(i).resid_out, seen[f"layers.{i}.resid_out"][0].float().cpu(), **BF16)
        np.testing.assert_allclose(trace.layer(i).attention, seen[f"layers.{i}.attn.attention"][0].cpu(), atol=0.1)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", {"rtol": 0, "atol": 1e-4}), ("bfloat16", BF16)])
@torch.inference_mode()
def test_cached_decoding_equals_the_full_pass(soft: Path, dtype: str, tolerance: dict[str, float]) -> None:
    lm, ids = model.load(soft, device="cuda", dtype=dtype), sample_ids(2, 12).cuda()
    full = lm.net(ids)
    cache = KVCache(lm.config, capacity=12, batch=2, dtype=lm.dtype, device=lm.device)
    parts = [lm.net(ids[:, :5], cache), *(lm.net(ids[:, n : n + 1], cache, n) for n in range(5, 12))]
    torch.testing.assert_close(torch.cat(parts, 1).float(), full.float(), **tolerance)


def test_generation_runs_and_counts_bytes_of_bfloat16(on_gpu: model.LanguageModel) -> None:
    for settings in ({}, {"temperature": 0.9, "top_k": 50, "top_p": 0.95, "seed": 4}):
        steps = list(model.generate(on_gpu, PROMPT, max_new_tokens=6, **settings))
        again = list(model.generate(on_gpu, PROMPT, max_new_tokens=6, **settings))
        assert [step.token_id for step in steps] == [step.token_id for step in again]
        for step in steps:
            assert step.cache_bytes == 2 * 3 * 2 * 8 * 2 * step.cache_tokens


def test_float32_on_the_gpu_agrees_with_the_cpu(soft: Path, on_cpu: model.LanguageModel) -> None:
    lm, ids = model.load(soft, device="cuda", dtype="float32"), sample_ids(1, 16)
    torch.testing.assert_close(lm.net(ids.cuda()).cpu(), on_cpu.net(ids), rtol=0, atol=1e-4)
