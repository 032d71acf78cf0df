"""On a CUDA device: bfloat16 weights, traces and cached decoding, held to the same network in float32 on the CPU."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

import model
from model.analysis.last_token import read_text
from model.analysis.looks_back import looks_back
from model.analysis.sinks import last_attention
from model.batch import Batch, readable
from model.cache import KVCache
from model.generation import Generation
from model.kv_math.beside import STEP_TOKENS, activations
from model.published.hf_spec import spec_from_config
from model.replaced.norm_speed import norm_times
from model.replaced.parts import Parts
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


def test_what_an_answer_rests_on_is_the_same_on_the_gpu(soft: Path, on_cpu: model.LanguageModel) -> None:
    on_gpu = model.load(soft, device="cuda", dtype="float32")
    np.testing.assert_allclose(model.knock_out(on_gpu, PROMPT), model.knock_out(on_cpu, PROMPT), atol=1e-3)
    found, there = (model.why(lm, PROMPT) for lm in (on_cpu, on_gpu))
    assert there.answer == found.answer
    assert there.tokens == found.tokens
    np.testing.assert_allclose(there.heads, found.heads, atol=1e-3)
    here, gpu = (read_text(lm, PROMPT) for lm in (on_cpu, on_gpu))
    one, two = (looks_back(read, found.answer, 3, last_attention(read).cpu().numpy()) for read in (here, gpu))
    assert two.instead == one.instead
    assert set(two.looking) == set(one.looking)
    assert two.head[:2] == one.head[:2]
    assert two.head[2:] == pytest.approx(one.head[2:], abs=1e-3)


def test_texts_that_share_steps_are_written_as_alone_on_the_cpu(soft: Path, on_cpu: model.LanguageModel) -> None:
    on_gpu = model.load(soft, device="cuda", dtype="float32")
    prompts = [PROMPT, "The cat", "猫在沙发上睡觉。The"]
    texts, batch = [Generation(on_gpu, prompt, max_new_tokens=8) for prompt in prompts], Batch()
    found = {text: list[model.Step]() for text in texts}
    waiting = list(texts)
    while waiting or batch.texts:
        chosen = readable(waiting) if waiting else []
        waiting = [text for text in waiting if text not in chosen]
        outcomes = (batch.step(batch.texts) if batch.texts else {}) | (batch.read(chosen) if chosen else {})
        for text, step in outcomes.items():
            assert isinstance(step, model.Step)
            found[text].append(step)
    for prompt, text in zip(prompts, texts, strict=True):
        alone = list(model.generate(on_cpu, prompt, max_new_tokens=8))
        assert [step.token_id for step in found[text]] == [step.token_id for step in alone]
        for one, other in zip(found[text], alone, strict=True):
            np.testing.assert_allclose(one.candidates.logits, other.candidates.logits, atol=1e-3)


def test_another_part_is_the_same_on_the_gpu(soft: Path, on_cpu: model.LanguageModel) -> None:
    on_gpu = model.load(soft, device="cuda", dtype="float32")
    for parts in (Parts(norm="layer_norm"), Parts(activation="relu"), Parts(position="alibi"), Parts(kv_heads=1)):
        there, here = (model.run_trace(lm, PROMPT, model.Intervention(parts=parts)) for lm in (on_gpu, on_cpu))
        np.testing.assert_allclose(there.logits, here.logits, atol=1e-3)
        np.testing.assert_allclose(there.layer(1).attention, here.layer(1).attention, atol=1e-3)


def test_a_window_of_layers_is_knocked_out_alike_on_the_gpu(soft: Path, on_cpu: model.LanguageModel) -> None:
    on_gpu = model.load(soft, device="cuda", dtype="float32")
    for layers in ((0, 1), (1, 2)):
        there, here = (model.knock_out(lm, PROMPT, layers=layers) for lm in (on_gpu, on_cpu))
        np.testing.assert_allclose(there, here, atol=1e-3)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_times_of_both_norms_are_those_of_the_card(dtype: torch.dtype) -> None:
    """All that was begun is waited for: vectors of 256 MiB are read no faster than from memory."""
    x = torch.randn(2**28 // dtype.itemsize // 4096, 4096, dtype=dtype, device="cuda")
    found = norm_times(x, 1e-5)
    for timing in (found.layer_fused, found.rms_fused, found.layer_written, found.rms_written):
        assert timing.median > found.bytes_rms / 8e12  # no card reads 8 TB a second
    print(
        f"{dtype}: LayerNorm {found.layer_fused.median * 1e6:.1f} µs, RMSNorm {found.rms_fused.median * 1e6:.1f} µs; "
        f"written out {found.layer_written.median * 1e6:.1f} and {found.rms_written.median * 1e6:.1f} µs"
    )


@pytest.mark.parametrize(("width", "inner"), [(2048, 8192), (4096, 11008)])
def test_the_activations_of_a_step_are_what_the_card_then_holds(width: int, inner: int) -> None:
    """Transformers' own LLaMA in bfloat16 reads 8,192 tokens: at its largest moment it holds the three kinds of tensors
    that the calculator counts, two more copies of the stream, and the cosines and sines of RoPE."""
    sizes: dict[str, Any] = {"hidden_size": width, "intermediate_size": inner, "vocab_size": 32_000}
    heads: dict[str, Any] = {"num_hidden_layers": 2, "num_attention_heads": width // 128, "num_key_value_heads": 8}
    settings: dict[str, Any] = {"dtype": "bfloat16", "attn_implementation": "sdpa"}
    config = transformers.LlamaConfig(**sizes, **heads, **settings)
    with torch.device("cuda"):
        net = transformers.LlamaForCausalLM(config).bfloat16().eval()
    ids = sample_ids(1, STEP_TOKENS).cuda()
    with torch.inference_mode():
        net(ids[:, :64], use_cache=False, logits_to_keep=1)  # what libraries set aside for good comes before
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        net(ids, use_cache=False, logits_to_keep=1)
    held = torch.cuda.max_memory_allocated() - before
    counted = sum(term.bytes for term in activations(spec_from_config(config.to_dict()), STEP_TOKENS, 1))
    copies, turns = 2 * STEP_TOKENS * width * 2, 2 * STEP_TOKENS * 128 * 2
    print(f"d {width}, f {inner}: the card held {held:,} bytes, {counted:,} are counted ({held / counted:.3f})")
    assert held == pytest.approx(counted + copies + turns, rel=0.005)
