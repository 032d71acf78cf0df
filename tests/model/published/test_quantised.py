"""The weights as a quantization_config says that they are stored, against published files and modules built here."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from app.remarks import in_chinese, in_languages
from model import GlassLlamaError, spec_from_config
from model.kv_math.__main__ import main
from model.kv_math.memory import Setup, memory_use
from model.kv_math.weights import AS_CONFIG, WeightBreakdown, weight_breakdown
from model.published.catalogue import catalogue, parameter_count
from model.published.quantised import names_module, quantised_note, quantised_of
from tests.model.published.test_hf_families import GPT_OSS_120B

CONFIGS = json.loads(Path(__file__).with_name("hub_configs.json").read_text(encoding="utf-8"))
# As openai/gpt-oss-20b and -120b have it.
MXFP4 = {
    "quant_method": "mxfp4",
    "modules_to_not_convert": [
        "model.layers.*.self_attn",
        "model.layers.*.mlp.router",
        "model.embed_tokens",
        "lm_head",
    ],
}
GPTQ = {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": False, "sym": True}
AWQ = {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True, "version": "gemm"}
NF4 = {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}
FP8 = {"quant_method": "fp8", "weight_block_size": [128, 128], "activation_scheme": "dynamic", "fmt": "e4m3"}


def scheme(ignore: Any = ("lm_head",), **weights: Any) -> dict[str, Any]:
    """compressed-tensors, one group for all linear layers."""
    given = {"num_bits": 8, "type": "float", "strategy": "channel", "symmetric": True, **weights}
    groups = {"group_0": {"targets": ["Linear"], "weights": given}}
    return {"quant_method": "compressed-tensors", "config_groups": groups, "ignore": list(ignore), "format": "x"}


def counted(base: dict[str, Any], quantised: Any, mtp: bool = False) -> WeightBreakdown:
    spec = spec_from_config({**base, "quantization_config": quantised})
    assert spec.quantised_unread == ""
    found = weight_breakdown(spec, AS_CONFIG, mtp=mtp)
    assert found.weights == parameter_count(spec) or mtp  # scales are no weights
    return found


GPT_OSS_20B = {k: v for k, v in GPT_OSS_120B.items() if k != "layer_types"}
GPT_OSS_20B |= {"num_hidden_layers": 24, "num_local_experts": 32}


@pytest.mark.parametrize(
    ("base", "quantised", "gigabytes"),
    [
        (GPT_OSS_20B, MXFP4, 13.8),  # its converter to GGUF logs total_size = 13.8G, tensors as they are
        (GPT_OSS_120B, MXFP4, 65.2),  # the model card of openai/gpt-oss-120b: checkpoints of 60.8 GiB
        (CONFIGS["Qwen2.5-7B"], GPTQ, 5.58),  # files of Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4, and -AWQ
        (CONFIGS["Qwen2.5-7B"], AWQ, 5.57),
        (CONFIGS["Llama-3 8B"], AWQ, 5.73),  # of hugging-quants' AWQ-INT4
        (CONFIGS["Llama-3 8B"], NF4 | {"bnb_4bit_use_double_quant": True}, 5.70),  # of unsloth's bnb-4bit
    ],
)
def test_published_files_are_as_large(base: dict[str, Any], quantised: dict[str, Any], gigabytes: float) -> None:
    assert counted(base, quantised).total_bytes / 1e9 == pytest.approx(gigabytes, rel=0.01)


def test_deepseek_v3_as_its_own_file_says() -> None:
    """README_WEIGHTS.md: 671 × 10⁹ weights; the files have the MTP layer and a second embedding and output, too."""
    base = CONFIGS["DeepSeek-V3"]
    assert counted(base, FP8).total_bytes / 1e9 == pytest.approx(671, rel=0.01)
    tables = 2 * 129_280 * 7168 * 2
    assert (counted(base, FP8, mtp=True).total_bytes + tables) / 1e9 == pytest.approx(688.6, rel=0.001)


def test_gpt_oss_20b_fits_where_it_is_said_to() -> None:
    spec = spec_from_config({**GPT_OSS_20B, "quantization_config": MXFP4})
    assert memory_use(spec, 8192, 1, "RTX 4090", Setup(weights=AS_CONFIG)).fits
    assert not memory_use(spec, 8192, 1, "RTX 4090", Setup(weights="bf16")).fits


SMALL = {"model_type": "llama", "hidden_size": 256, "num_hidden_layers": 3, "num_attention_heads": 4, "head_dim": 64,
         "num_key_value_heads": 2, "intermediate_size": 640, "vocab_size": 99, "max_position_embeddings": 64,
         "tie_word_embeddings": False}  # fmt: skip


def tensors(quantised: dict[str, Any]) -> int:
    """Bytes that the small LLaMA's modules take in transformers, each linear one in the layout of its method."""
    lm = AutoModelForCausalLM.from_config(AutoConfig.for_model(**SMALL), dtype=torch.bfloat16)
    linear = [(n, m) for n, m in lm.named_modules() if isinstance(m, torch.nn.Linear) and n != "lm_head"]
    total = sum(p.nbytes for p in lm.parameters()) - sum(m.weight.nbytes for _, m in linear)
    return total + sum(packed(quantised, name, m.in_features, m.out_features) for name, m in linear)


def packed(quantised: dict[str, Any], name: str, inputs: int, outputs: int) -> int:
    """Shapes as libraries register them: AutoGPTQ's QuantLinear, AutoAWQ's WQLinear_GEMM, transformers' FP8Linear."""
    if "model.layers.1.mlp" in name and quantised.get("modules_to_not_convert"):
        return 2 * inputs * outputs
    method, groups = quantised["quant_method"], -(-inputs // quantised.get("group_size", inputs))
    if method == "fp8":
        return inputs * outputs + 4 * -(-inputs // 128) * -(-outputs // 128)
    qweight, qzeros, scales = inputs // 8 * outputs * 4, groups * outputs // 8 * 4, groups * outputs * 2
    return qweight + qzeros + scales + (4 * inputs if method == "gptq" else 0)


@pytest.mark.parametrize("quantised", [GPTQ, AWQ, FP8, GPTQ | {"group_size": 32}], ids=lambda one: one["quant_method"])
@pytest.mark.parametrize("kept", [None, ["model.layers.1.mlp"]])
def test_modules_of_transformers_are_as_large(quantised: dict[str, Any], kept: list[str] | None) -> None:
    given = quantised | {"modules_to_not_convert": kept}
    assert counted(SMALL, given).total_bytes == tensors(given)


def test_the_fp8_modules_that_transformers_builds() -> None:
    from transformers.integrations.finegrained_fp8 import FP8Linear

    module = FP8Linear(576, 320, block_size=(128, 128))
    assert module.weight_scale_inv.shape == (3, 5)
    assert module.weight_scale_inv.element_size() == 4


@pytest.mark.parametrize(
    ("quantised", "each"),
    [
        (NF4, lambda i, o: i * o // 2 + 4 * (i * o // 64) + 64),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, lambda i, o: i * o + 4 * o),
        ({"quant_method": "fp8"}, lambda i, o: i * o + 4),
        (scheme(), lambda i, o: i * o + 2 * o),
        (scheme(num_bits=4, type="int", strategy="group", group_size=128) | {"format": "pack-quantized"},
         lambda i, o: i * o // 2 + 2 * o * i // 128 + 16),
        (scheme(num_bits=4, strategy="tensor_group", group_size=16), lambda i, o: i * o // 2 + o * i // 16 + 4),
        (scheme(strategy="block", block_structure=[128, 128]), lambda i, o: i * o + 2 * -(-i // 128) * -(-o // 128)),
    ],
)  # fmt: skip
def test_codes_and_what_stands_beside_them(quantised: dict[str, Any], each: Any) -> None:
    matrices = [(256, 256)] * 2 + [(256, 128)] * 2 + [(256, 640)] * 2 + [(640, 256)]
    plain = weight_breakdown(spec_from_config(SMALL)).total_bytes - 3 * 2 * sum(i * o for i, o in matrices)
    assert counted(SMALL, quantised).total_bytes == plain + 3 * sum(each(i, o) for i, o in matrices)


@pytest.mark.parametrize(
    ("quantised", "why"),
    [
        ({"quant_method": "aqlm"}, "quant_method 'aqlm' is none of mxfp4, fp8, gptq"),
        ({"bits": 4}, "quant_method None is none of"),
        ("x", "it is no object"),
        (GPTQ | {"lm_head": True}, "its lm_head is set"),
        (GPTQ | {"bits": "four"}, "its bits is 'four'"),
        (FP8 | {"weight_block_size": [128]}, "its weight_block_size is [128]"),
        (AWQ | {"modules_to_not_convert": ["re:.*(a|b)+"]}, "it excepts 're:.*(a|b)+', and no pattern"),
        (AWQ | {"modules_to_not_convert": ["model.layers.1.spam"]}, "it names 'spam', which is no module"),
        (scheme() | {"config_groups": {}}, "it has 0 config_groups, and one is read"),
        (scheme(strategy="token"), "its strategy is 'token'"),
        ({"quant_method": "bitsandbytes"}, "it names neither load_in_4bit nor load_in_8bit"),
    ],
)
def test_what_is_not_counted_is_said(quantised: Any, why: str) -> None:
    spec = spec_from_config({**SMALL, "quantization_config": quantised})
    assert spec.quantised is None
    assert why in spec.quantised_unread
    assert spec.notes[-1] == quantised_note(spec)
    assert in_chinese(spec.notes[-1]).startswith("权重文件是量化的，但其方式未计入")
    assert not any(word in in_chinese(spec.notes[-1]) for word in (" its ", " is ", " it "))
    assert weight_breakdown(spec, AS_CONFIG).dtype == "bf16"


def test_shapes_that_are_not_known_matrix_by_matrix() -> None:
    hybrids = json.loads(Path(__file__).with_name("hybrid_configs.json").read_text(encoding="utf-8"))
    spec = spec_from_config({**hybrids["Qwen3-Next 80B-A3B"]["config"], "quantization_config": FP8})
    assert "are not known matrix by matrix" in spec.quantised_unread


def test_names_of_modules() -> None:
    for given in ("self_attn", "self_attn.q_proj", "q_proj", ""):
        assert names_module(given, "self_attn.q_proj")
    assert not names_module("attn", "self_attn.q_proj")
    assert not names_module("mlp.gate", "mlp.gate_proj")
    assert names_module("experts", "mlp.experts.up_proj")


def test_of_the_catalogue_five_models_are_in_formats_of_their_own() -> None:
    mxfp4 = {"quant_method": "mxfp4"}
    stored = {"DeepSeek-V3": FP8, "DeepSeek-V3.2-Exp": FP8, "Kimi-K2": FP8}
    stored |= {"gpt-oss-20b": mxfp4, "gpt-oss-120b": mxfp4}
    for spec in catalogue().values():
        own = quantised_of({"quantization_config": stored[spec.name]}) if spec.name in stored else None
        assert (spec.quantised, spec.quantised_unread) == (own, "")
        if spec.state is None and own is None:
            assert weight_breakdown(spec, AS_CONFIG) == weight_breakdown(spec)


@pytest.mark.parametrize(
    ("name", "gigabytes"), [("DeepSeek-V3", 671), ("DeepSeek-V3.2-Exp", 672), ("gpt-oss-120b", 65.2)]
)
def test_they_meet_the_size_of_their_files(name: str, gigabytes: float) -> None:
    """As their configs are counted: 671 × 10⁹ weights, most of them in 8 bits; experts in 4."""
    read, stored = spec_from_config(CONFIGS[name], "x"), weight_breakdown(name, AS_CONFIG).total_bytes
    assert stored == weight_breakdown(read, AS_CONFIG).total_bytes
    assert stored / 1e9 == pytest.approx(gigabytes, rel=0.01)


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.json").write_text(json.dumps({**GPT_OSS_20B, "quantization_config": MXFP4}))
    assert main(["--config", str(tmp_path / "config.json"), "--gpu", "RTX 4090"]) == 0
    said = capsys.readouterr().out
    assert "Weights in mxfp4, embeddings in bf16" in said
    assert "13,761,264,768 B" in said
    assert "24 layers × 32 experts × 777,600 scales (3 × 90 × 2,880) × 1 byte each" in said
    assert main(["--config", str(tmp_path / "config.json"), "--gpu", "RTX 4090", "--weights", "bf16"]) == 0
    assert "13,761,264,768 B" not in capsys.readouterr().out
    with pytest.raises(GlassLlamaError, match="expected one of fp32"):
        Setup(weights="x")


LLAMA_3_1_8B = {
    "model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "intermediate_size": 14_336,
    "vocab_size": 128_256, "num_attention_heads": 32, "num_key_value_heads": 8, "tie_word_embeddings": False,
}  # fmt: skip
EIGHT_BITS = {"dynamic": False, "num_bits": 8, "type": "float"}
NVFP4_WEIGHTS = {"dynamic": False, "num_bits": 4, "type": "float", "group_size": 16}
NVFP4 = {
    "config_groups": {"group_0": {"input_activations": NVFP4_WEIGHTS, "weights": NVFP4_WEIGHTS, "targets": ["Linear"]}},
    "ignore": ["lm_head"], "quant_algo": "NVFP4", "kv_cache_scheme": EIGHT_BITS, "quant_method": "modelopt",
}  # fmt: skip


def test_modelopts_nvfp4_is_half_a_byte_a_scale_for_16_and_two_scales_a_matrix() -> None:
    """Each layer: 2 × 4096² + 2 × 4096 × 1024 + 3 × 4096 × 14,336 weights in seven matrices; the rest in bf16."""
    linear = 32 * (2 * 4096**2 + 2 * 4096 * 1024 + 3 * 4096 * 14_336)
    rest = 2 * (2 * 128_256 * 4096 + 65 * 4096)
    assert counted(LLAMA_3_1_8B, NVFP4).total_bytes == linear // 2 + linear // 16 + 32 * 7 * 8 + rest == 6_027_749_120
    producer = {"quantization": {"quant_algo": "NVFP4", "group_size": 16, "exclude_modules": ["lm_head"]}}
    assert counted(LLAMA_3_1_8B, producer).total_bytes == 6_027_749_120
    fp8 = counted(LLAMA_3_1_8B, {"quant_method": "modelopt", "quant_algo": "FP8", "ignore": ["lm_head"]})
    assert fp8.total_bytes == linear + 32 * 7 * 8 + rest


@pytest.mark.parametrize(
    ("quantised", "said", "name"),
    [
        (NVFP4, "kv_cache_scheme: float, 8 bits", "fp8"),
        (scheme() | {"kv_cache_scheme": EIGHT_BITS}, "kv_cache_scheme: float, 8 bits", "fp8"),
        ({**NVFP4, "kv_cache_quant_algo": "NVFP4"}, "kv_cache_quant_algo NVFP4", "nvfp4"),
        ({"quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}}, "kv_cache_quant_algo FP8", "fp8"),
        (scheme(), "", ""),
        (scheme() | {"kv_cache_scheme": None}, "", ""),
        (scheme() | {"kv_cache_scheme": {"num_bits": 8, "type": "int"}}, "", ""),
    ],
)
def test_that_a_checkpoint_asks_for_a_cache_in_fewer_bits_is_said(quantised: Any, said: str, name: str) -> None:
    spec = spec_from_config({**LLAMA_3_1_8B, "quantization_config": quantised})
    notes = [note for note in spec.notes if "asks for a cache" in note]
    asks = f"The checkpoint asks for a cache in {name} ({said}), which vLLM's auto takes: choose {name} as the format."
    assert notes == ([asks] if name else [])
    assert all(in_languages(note)["zh"] != note for note in notes)
