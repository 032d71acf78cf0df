"""Networks from GGUF files against transformers' own loader of such files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from tokenizers import Tokenizer as BackEnd

import model
from model.checkpoint import BUNDLED
from model.gguf.reader import GgufContent, is_gguf
from tests.model.gguf.written import ARCHITECTURES, WIDTH, Kind, byte_level, network, write

SOURCE = BackEnd.from_file(str(BUNDLED / "tokenizer.json"))  # digit by digit, then GPT-2's split: "smollm"
KEYS = byte_level(SOURCE, "smollm", ends=("<|end|>",))
VOCABULARY = SOURCE.get_vocab_size()
# In turn, so that each matrix of a layer is stored in another kind.
ALL_KINDS = (
    Kind.Q8_0, Kind.F32, Kind.Q4_K, Kind.F16, Kind.Q5_K, Kind.BF16, Kind.Q6_K, Kind.Q4_0,
    Kind.Q5_0, Kind.Q4_1, Kind.Q5_1, Kind.Q2_K, Kind.Q3_K,
)  # fmt: skip
LLAMA_3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}


IDS = torch.tensor([[5, 300, 17, 4000, 17, 9, 256, 300]])


def read_by_transformers(path: Path, dtype: torch.dtype = torch.float32) -> Any:
    loaded = transformers.AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=dtype)
    return loaded.eval()


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_logits_are_transformers_of_the_same_file(tmp_path: Path, architecture: str, tied: bool) -> None:
    path = write(tmp_path / "x.gguf", network(architecture, VOCABULARY, tied), architecture, KEYS, ALL_KINDS)
    with torch.no_grad():
        expected = read_by_transformers(path)(IDS).logits
    assert {tensor.tensor_type for tensor in GgufContent(path).tensors.values()} == set(ALL_KINDS)
    lm = model.load(path, device="cpu")
    assert (lm.net(IDS) - expected).abs().max() <= 1e-5 * max(1, float(expected.abs().max()))
    assert lm.config.tied_embeddings is tied
    assert lm.config.eos_ids == (0,)


def test_on_the_cpu_its_weights_may_be_kept_in_bfloat16(tmp_path: Path) -> None:
    """No further from float32 than transformers' own bfloat16 of the same file."""
    path = write(tmp_path / "x.gguf", network("llama", VOCABULARY), "llama", KEYS, ALL_KINDS)
    lm = model.load(path, device="cpu", dtype="bfloat16")
    with torch.no_grad():
        exact = read_by_transformers(path)(IDS).logits
        theirs = read_by_transformers(path, torch.bfloat16)(IDS).logits.float() - exact
        ours = lm.net(IDS).float() - exact
    assert 0 < ours.square().mean() <= 1.5 * theirs.square().mean()
    assert model.run_trace(lm, "Tom is in the kitchen.").logits.dtype == np.float32


def test_a_file_is_found_by_its_first_bytes_and_runs_as_the_network_that_it_was_made_from(tmp_path: Path) -> None:
    net = network("llama", VOCABULARY)
    path = write(tmp_path / "sha256-0123", net, "llama", KEYS)
    lm = model.load(path, device="cpu")
    text = "Tom is in the kitchen."
    trace = model.run_trace(lm, text)
    assert list(trace.token_ids) == SOURCE.encode(text).ids
    with torch.no_grad():
        expected = net(torch.tensor([SOURCE.encode(text).ids])).logits[0, -1]
    np.testing.assert_allclose(trace.logits, expected, atol=1e-5)
    assert lm.tokenizer.chat_template == "{{ messages }}"
    assert lm.directory is None
    assert not is_gguf(BUNDLED / "model.safetensors")
    assert not is_gguf(BUNDLED)


def test_the_scaling_of_llama_3_is_recognised_by_its_factors(tmp_path: Path) -> None:
    net = network("llama", VOCABULARY, rope_parameters={**LLAMA_3, "rope_theta": 500_000.0})
    plain = 500_000.0 ** -(torch.arange(0, WIDTH // 4, 2) / (WIDTH // 4))
    factors = plain / net.model.rotary_emb.inv_freq
    net.model.register_buffer("rope_freqs", factors)
    path = _with_factors(tmp_path / "scaled.gguf", net, factors)
    ids = torch.randint(0, VOCABULARY, (1, 100), generator=torch.Generator().manual_seed(1))
    lm = model.load(path, device="cpu")
    assert isinstance(lm.config, model.LlamaConfig)
    assert lm.config.rope_scaling is not None
    with torch.no_grad():
        torch.testing.assert_close(lm.net(ids), net(ids).logits, atol=1e-4, rtol=1e-4)
    other = _with_factors(tmp_path / "other.gguf", net, factors.flip(0))
    with pytest.raises(model.GlassLlamaError, match=r"rope_freqs\.weight holds factors that Llama 3"):
        model.load(other)


def _with_factors(path: Path, net: Any, factors: torch.Tensor) -> Path:
    state = {name: weight for name, weight in net.state_dict().items() if "rope_freqs" not in name}
    state["rope_freqs.weight"] = factors

    class Held:
        config = net.config

        def state_dict(self) -> dict[str, torch.Tensor]:
            return state

    return write(path, Held(), "llama", KEYS)
