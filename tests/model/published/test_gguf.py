"""GGUF metadata as people paste it: log lines of llama.cpp's loader, gguf-dump's table, JSON.

The logs are of published files, as users posted them: the shape is that of the same model's config.json.
"""

import json
from pathlib import Path

import pytest

from app.remarks import in_chinese
from model import GlassLlamaError, kv_cache_bytes, spec_from_config
from model.published.catalogue import catalogue, parameter_count
from model.published.hf.gguf import ARCHITECTURES
from model.published.hf_spec import spec_from_text
from tests.model.published.test_hf_families import GPT_OSS_120B

CONFIGS = json.loads(Path(__file__).with_name("hub_configs.json").read_text(encoding="utf-8"))
DEEPSEEK_V3 = """
llama_model_loader: loaded meta data with 46 key-value pairs and 1147 tensors from DeepSeek-V3-0324-Q8_0.gguf
llama_model_loader: - kv   0:                       general.architecture str              = deepseek2
llama_model_loader: - kv   2:                               general.name str              = DeepSeek V3 0324
llama_model_loader: - kv   7:                      deepseek2.block_count u32              = 61
llama_model_loader: - kv   8:                   deepseek2.context_length u32              = 163840
llama_model_loader: - kv   9:                 deepseek2.embedding_length u32              = 7168
llama_model_loader: - kv  10:              deepseek2.feed_forward_length u32              = 18432
llama_model_loader: - kv  11:             deepseek2.attention.head_count u32              = 128
llama_model_loader: - kv  12:          deepseek2.attention.head_count_kv u32              = 128
llama_model_loader: - kv  13:                   deepseek2.rope.freq_base f32              = 10000.000000
llama_model_loader: - kv  14: deepseek2.attention.layer_norm_rms_epsilon f32              = 0.000001
llama_model_loader: - kv  15:                deepseek2.expert_used_count u32              = 8
llama_model_loader: - kv  17:        deepseek2.leading_dense_block_count u32              = 3
llama_model_loader: - kv  18:                       deepseek2.vocab_size u32              = 129280
llama_model_loader: - kv  19:            deepseek2.attention.q_lora_rank u32              = 1536
llama_model_loader: - kv  20:           deepseek2.attention.kv_lora_rank u32              = 512
llama_model_loader: - kv  21:             deepseek2.attention.key_length u32              = 192
llama_model_loader: - kv  22:           deepseek2.attention.value_length u32              = 128
llama_model_loader: - kv  23:       deepseek2.expert_feed_forward_length u32              = 2048
llama_model_loader: - kv  24:                     deepseek2.expert_count u32              = 256
llama_model_loader: - kv  25:              deepseek2.expert_shared_count u32              = 1
llama_model_loader: - kv  26:             deepseek2.expert_weights_scale f32              = 2.500000
llama_model_loader: - kv  27:              deepseek2.expert_weights_norm bool             = true
llama_model_loader: - kv  28:               deepseek2.expert_gating_func u32              = 2
llama_model_loader: - kv  29:             deepseek2.rope.dimension_count u32              = 64
llama_model_loader: - kv  30:                deepseek2.rope.scaling.type str              = yarn
llama_model_loader: - kv  31:              deepseek2.rope.scaling.factor f32              = 40.000000
llama_model_loader: - kv  32: deepseek2.rope.scaling.original_context_length u32              = 4096
llama_model_loader: - kv  33: deepseek2.rope.scaling.yarn_log_multiplier f32              = 0.100000
llama_model_loader: - kv  36:                      tokenizer.ggml.tokens arr[str,129280]  = ["
llama_model_loader: - kv  44:                    tokenizer.chat_template str              = {% if not add_generation...
llama_model_loader: - type  f32:  361 tensors
llm_load_print_meta: n_ctx_train      = 163840
"""
GPT_OSS = """
llama_model_loader: - kv   0:                       general.architecture str              = gpt-oss
llama_model_loader: - kv   5:                        gpt-oss.block_count u32              = 36
llama_model_loader: - kv   6:                     gpt-oss.context_length u32              = 131072
llama_model_loader: - kv   7:                   gpt-oss.embedding_length u32              = 2880
llama_model_loader: - kv   8:                gpt-oss.feed_forward_length u32              = 2880
llama_model_loader: - kv   9:               gpt-oss.attention.head_count u32              = 64
llama_model_loader: - kv  10:            gpt-oss.attention.head_count_kv u32              = 8
llama_model_loader: - kv  11:                     gpt-oss.rope.freq_base f32              = 150000.000000
llama_model_loader: - kv  12:   gpt-oss.attention.layer_norm_rms_epsilon f32              = 0.000010
llama_model_loader: - kv  13:                       gpt-oss.expert_count u32              = 128
llama_model_loader: - kv  14:                  gpt-oss.expert_used_count u32              = 4
llama_model_loader: - kv  15:               gpt-oss.attention.key_length u32              = 64
llama_model_loader: - kv  16:             gpt-oss.attention.value_length u32              = 64
llama_model_loader: - kv  17:           gpt-oss.attention.sliding_window u32              = 128
llama_model_loader: - kv  18:         gpt-oss.expert_feed_forward_length u32              = 2880
llama_model_loader: - kv  19:                  gpt-oss.rope.scaling.type str              = yarn
llama_model_loader: - kv  20:                gpt-oss.rope.scaling.factor f32              = 32.000000
llama_model_loader: - kv  21: gpt-oss.rope.scaling.original_context_length u32              = 4096
2025-08-12 00:27:55 [DEBUG]
 llama_model_loader: - kv  24:                      tokenizer.ggml.tokens arr[str,201088]  = ["!", "\\"", ...
"""
GEMMA_3_27B = """
llama_model_loader: - kv   0:                       general.architecture str              = gemma3
llama_model_loader: - kv   8:                      gemma3.context_length u32              = 131072
llama_model_loader: - kv   9:                    gemma3.embedding_length u32              = 5376
llama_model_loader: - kv  10:                         gemma3.block_count u32              = 62
llama_model_loader: - kv  11:                 gemma3.feed_forward_length u32              = 21504
llama_model_loader: - kv  12:                gemma3.attention.head_count u32              = 32
llama_model_loader: - kv  13:    gemma3.attention.layer_norm_rms_epsilon f32              = 0.000001
llama_model_loader: - kv  14:                gemma3.attention.key_length u32              = 128
llama_model_loader: - kv  15:              gemma3.attention.value_length u32              = 128
llama_model_loader: - kv  16:                      gemma3.rope.freq_base f32              = 1000000.000000
llama_model_loader: - kv  17:            gemma3.attention.sliding_window u32              = 1024
llama_model_loader: - kv  18:             gemma3.attention.head_count_kv u32              = 16
llama_model_loader: - kv  19:                   gemma3.rope.scaling.type str              = linear
llama_model_loader: - kv  20:                 gemma3.rope.scaling.factor f32              = 8.000000
llama_model_loader: - kv  23:                      tokenizer.ggml.tokens arr[str,262208]  = ["<pad>", "<eos>", ...
"""
PHI_4_MINI = """
llama_model_loader: - kv   0:                       general.architecture str              = phi3
llama_model_loader: - kv  11:                        phi3.context_length u32              = 131072
llama_model_loader: - kv  12:  phi3.rope.scaling.original_context_length u32              = 4096
llama_model_loader: - kv  13:                      phi3.embedding_length u32              = 3072
llama_model_loader: - kv  14:                   phi3.feed_forward_length u32              = 8192
llama_model_loader: - kv  15:                           phi3.block_count u32              = 32
llama_model_loader: - kv  16:                  phi3.attention.head_count u32              = 24
llama_model_loader: - kv  17:               phi3.attention.head_count_kv u32              = 8
llama_model_loader: - kv  18:      phi3.attention.layer_norm_rms_epsilon f32              = 0.000010
llama_model_loader: - kv  19:                  phi3.rope.dimension_count u32              = 96
llama_model_loader: - kv  20:                        phi3.rope.freq_base f32              = 10000.000000
llama_model_loader: - kv  21:              phi3.attention.sliding_window u32              = 262144
llama_model_loader: - kv  24:                      tokenizer.ggml.tokens arr[str,200064]  = ["!", "#", "$", "%", ...
"""
QWEN3_30B = {  # as a user's log has it, here as JSON
    "general.architecture": "qwen3moe",
    "general.name": "Qwen3 30B A3B",
    "qwen3moe.block_count": 48,
    "qwen3moe.context_length": 40960,
    "qwen3moe.embedding_length": 2048,
    "qwen3moe.feed_forward_length": 6144,
    "qwen3moe.attention.head_count": 32,
    "qwen3moe.attention.head_count_kv": 4,
    "qwen3moe.rope.freq_base": 1_000_000.0,
    "qwen3moe.attention.layer_norm_rms_epsilon": 1e-6,
    "qwen3moe.expert_used_count": 8,
    "qwen3moe.attention.key_length": 128,
    "qwen3moe.attention.value_length": 128,
    "qwen3moe.expert_count": 128,
    "qwen3moe.expert_feed_forward_length": 768,
    "qwen3moe.vocab_size": 151_936,
}
LLAMA_3_8B = {
    "general.architecture": "llama",
    "general.name": "Meta-Llama-3-8B",
    "llama.block_count": 32,
    "llama.context_length": 8192,
    "llama.embedding_length": 4096,
    "llama.feed_forward_length": 14_336,
    "llama.attention.head_count": 32,
    "llama.attention.head_count_kv": 8,
    "llama.rope.freq_base": 500_000.0,
    "llama.attention.layer_norm_rms_epsilon": 1e-5,
    "llama.vocab_size": 128_256,
    "llama.rope.dimension_count": 128,
}


def same_cache(text, like):
    for tokens in (1, 5000, 100_000):
        assert kv_cache_bytes(text, tokens, 3) == kv_cache_bytes(like, tokens, 3)


def test_a_loaders_log_gives_the_shape_of_the_models_config():
    spec, card = spec_from_text(DEEPSEEK_V3), catalogue()["DeepSeek-V3"]
    same_cache(spec, card)
    assert spec.moe is not None
    assert (spec.name, spec.family, spec.mla, spec.moe.router_bias) == (
        "DeepSeek V3 0324",
        "deepseek_v3",
        card.mla,
        True,
    )
    assert parameter_count(spec) == parameter_count(card) - 129_280 * 7168  # tied or not is not told, and counts once
    assert spec.tied_embeddings is None
    assert "whether the output reuses the embedding" in spec.notes[-1]
    assert in_chinese(spec.notes[-1]) != spec.notes[-1]
    assert (spec.source, in_chinese(spec.source[0])) == (
        ("GGUF metadata of DeepSeek V3 0324",),
        "DeepSeek V3 0324 的 GGUF 元数据",
    )
    assert spec.position.scaling is not None
    assert (spec.position.scaling.kind, spec.position.scaling.factor) == ("yarn", 40.0)
    oss = spec_from_text(GPT_OSS, "mine")
    assert (kv_cache_bytes(oss, 131_072), oss.name) == (4_836_556_800, "mine")
    assert parameter_count(oss) == parameter_count(spec_from_config(GPT_OSS_120B)) - 201_088 * 2880
    gemma = spec_from_text(GEMMA_3_27B)
    assert "".join(kind[0] for kind in gemma.layer_kinds) == ("sssssf" * 11)[:62]
    assert (gemma.attention.window, gemma.tied_embeddings, gemma.n_kv_heads, gemma.head_dim) == (1024, True, 16, 128)
    assert parameter_count(gemma) == 27_009_346_304  # the text model of google/gemma-3-27b-it
    phi = spec_from_text(PHI_4_MINI)
    assert (phi.head_dim, phi.position.rotary_dim, phi.attention.window) == (128, 96, 262_144)
    assert parameter_count(phi) == 3_836_021_760  # microsoft/Phi-4-mini-instruct, whose embedding is tied


def dump(metadata, tensors=()):
    """`gguf-dump FILE`, as gguf/scripts/gguf_dump.py prints it."""
    lines = ["* Dumping 3 key/value pair(s)", "      1: UINT32     |        1 | GGUF.version = 3"]
    for n, (key, value) in enumerate(metadata.items(), 4):
        kind = {str: "STRING", float: "FLOAT32", int: "UINT32"}[type(value)]
        lines.append(f"  {n:5}: {kind:10} | {1:8} | {key} = {value!r}")
    lines.append(f"  {99:5}: [STRING]   | {128256:8} | tokenizer.ggml.tokens = ['!', '\"', '#', ...]")
    lines.append(f"* Dumping {len(tensors)} tensor(s)")
    lines += [
        f"  {n:5}:  525336576 |  4096, 128256,     1,     1 | Q4_K    | {name}" for n, name in enumerate(tensors, 1)
    ]
    return "\n".join(lines)


def test_every_form_says_the_same():
    card, names = catalogue()["Llama-3 8B"], ["token_embd.weight", "blk.0.attn_q.weight", "output.weight"]
    plain = {key: value for key, value in LLAMA_3_8B.items() if key != "llama.vocab_size"}
    values = {key: {"index": 0, "type": "X", "offset": 9, "value": value} for key, value in LLAMA_3_8B.items()}
    log = "\n".join(
        f"0.00.005.5 I llama_model_loader: - kv {i}: {k} u32 = {v}" for i, (k, v) in enumerate(LLAMA_3_8B.items())
    )
    for text, told in (
        (json.dumps(LLAMA_3_8B), None),
        (json.dumps({"metadata": LLAMA_3_8B, "tensorInfos": [{"name": name} for name in names]}), False),
        (json.dumps({"filename": "x.gguf", "metadata": values, "tensors": {name: {} for name in names}}), False),
        (json.dumps({"metadata": values, "tensors": {"token_embd.weight": {}}}), True),
        (dump(plain), None),
        (log + "\n|   2 | output.weight | Output (W) | (~525M) 525336576 | 4096 x 128256 x 1 x 1 | Q6_K |", False),
        (log + "\n[   1/ 291] output.weight - [ 4096, 128256, 1, 1], type = f16", False),
        (log + "\n[   1/ 291] blk.0.attn_output.weight - [ 4096, 4096, 1, 1], type = f16", None),
        (dump(plain, names), False),
        (dump(plain, names[:2]), True),
        (log, None),
        ("\n".join(f"{key} = {value}" for key, value in LLAMA_3_8B.items()), None),
        ("\n".join(f"{key}\t{value}" for key, value in LLAMA_3_8B.items()), None),
        ("\n".join(f"{key}: {value}" for key, value in LLAMA_3_8B.items()), None),
    ):
        spec = spec_from_text(text)
        same_cache(spec, card)
        assert (spec.name, spec.tied_embeddings) == ("Meta-Llama-3-8B", told)
        assert parameter_count(spec) == parameter_count(card) - (0 if told is False else 128_256 * 4096)
    assert spec_from_config(LLAMA_3_8B) == spec_from_text(json.dumps(LLAMA_3_8B))
    assert spec_from_config(LLAMA_3_8B, "mine").name == "mine"


def test_other_architectures():
    same_cache(spec_from_config(QWEN3_30B), catalogue()["Qwen3-30B-A3B"])
    both = spec_from_config({"metadata": QWEN3_30B, "tensors": ["output.weight"]})
    assert parameter_count(both) == parameter_count(catalogue()["Qwen3-30B-A3B"])
    mixtral = {**LLAMA_3_8B, "llama.expert_count": 8, "llama.expert_used_count": 2, "llama.vocab_size": 32_000}
    read = spec_from_config({"metadata": mixtral, "tensors": ["output.weight"]})
    assert (read.family, parameter_count(read)) == ("mixtral", parameter_count(catalogue()["Mixtral-8x7B v0.1"]))
    v3 = spec_from_text(DEEPSEEK_V3)
    newer = DEEPSEEK_V3.replace("head_count_kv u32              = 128", "head_count_kv u32 = 1")
    newer = newer.replace("key_length u32              = 192", "key_length u32 = 576")
    newer = newer.replace("value_length u32              = 128", "value_length u32 = 512")
    newer += "llama_model_loader: - kv 50: deepseek2.attention.key_length_mla u32 = 192\n"
    newer += "llama_model_loader: - kv 51: deepseek2.attention.value_length_mla u32 = 128\n"
    assert spec_from_text(newer) == v3  # llama.cpp since it caches the latent names the absorbed widths
    plain = {key.replace("llama.", "olmo2."): value for key, value in LLAMA_3_8B.items()} | {
        "general.architecture": "olmo2"
    }
    assert spec_from_config(plain).layer_kinds == ("full",) * 32
    windowed = spec_from_config({**plain, "olmo2.attention.sliding_window": 4096})
    assert (windowed.family, windowed.layer_kinds[:4]) == ("olmo3", ("sliding",) * 3 + ("full",))


def test_what_is_wrong_is_told_by_the_metadatas_own_keys():
    for change, says in (
        ({"general.architecture": "x9"}, "GGUF: this calculator does not read the architecture 'x9' yet; it reads: "),
        ({"general.architecture": 5}, "GGUF: this calculator does not read the architecture 5 yet"),
        ({"llama.block_count": None}, "GGUF: llama.block_count is missing; expected a whole number"),
        ({"llama.block_count": 0}, "GGUF: llama.block_count is 0; expected a whole number from 1 to 1,000"),
        ({"llama.attention.head_count_kv": 5}, "GGUF: llama.attention.head_count_kv is 5; expected a divisor"),
        ({"llama.attention.head_count_kv": [8, 4]}, "GGUF: llama.attention.head_count_kv is [8, 4]; expected a whole"),
        ({"llama.embedding_length": "x"}, "GGUF: llama.embedding_length is 'x'; expected a whole number"),
        ({"llama.attention.value_length": 64}, "GGUF: llama.attention.value_length is 64; expected 128"),
        ({"llama.ssm.state_size": 16}, "GGUF: llama.ssm.state_size is 16; expected it absent: this calculator does"),
        ({"llama.attention.kv_lora_rank": 512}, "GGUF: llama.attention.kv_lora_rank is 512; expected it absent"),
        ({"llama.attention.sliding_window_pattern": 4}, "GGUF: llama.attention.sliding_window_pattern is 4; "),
    ):  # fmt: skip
        with pytest.raises(GlassLlamaError) as caught:
            spec_from_config({**LLAMA_3_8B, **change})
        assert caught.value.code == "hf_config"
        assert str(caught.value).startswith(says), change
    wrong = {"llama.block_count": 0, "llama.embedding_length": None, "llama.ssm.state_size": 16, "llama.cla": 2}
    with pytest.raises(GlassLlamaError) as caught:
        spec_from_config({**LLAMA_3_8B, **wrong})
    told = [(one["file"], one["field"]) for one in caught.value.params["faults"]]
    assert sorted(told) == sorted(("GGUF", key) for key in wrong)
    unstated = spec_from_config({**LLAMA_3_8B, "llama.vocab_size": None, "llama.rope.freq_base": "x"})
    assert str(unstated.unstated[0]).startswith("GGUF: tokenizer.ggml.tokens is missing; expected a whole number")
    assert "Not read, and no figure here depends on it: llama.rope.freq_base is 'x'." in unstated.notes
    assert kv_cache_bytes(unstated, 8192) == kv_cache_bytes("Llama-3 8B", 8192)
    assert "spam" not in "".join(ARCHITECTURES)
    for text in ("hello = 5", "general.name = x", "llama.block_count = 32"):  # no architecture: no GGUF
        with pytest.raises(GlassLlamaError, match="this is no JSON"):
            spec_from_text(text)


def test_no_value_of_any_key_breaks_it():
    messages = []
    junk = (None, -1, 1, 1.5, "x", [[1]], {"a": 1}, {"value": [1]}, 10**5000, True, float("nan"))
    for base in (LLAMA_3_8B, QWEN3_30B, {"general.architecture": "deepseek2", "deepseek2.rope.dimension_count": 64}):
        for key in (
            *base,
            "tensors",
            "metadata",
            "tokenizer.ggml.tokens",
            "llama.rope.scaling.type",
            "llama.nextn_predict_layers",
        ):
            for value in junk:
                try:
                    spec = spec_from_config({**base, key: value})
                except GlassLlamaError as error:
                    messages.append(str(error))
                else:
                    assert kv_cache_bytes(spec, 100) > 0
    assert max(map(len, messages)) < 1500
    assert not any("\n" in message for message in messages)
