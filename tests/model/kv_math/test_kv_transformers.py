"""The KV-cache arithmetic against the bytes that transformers' caches allocate for tiny random models of each kind.

B = 3 sequences, T = 21 tokens (a prefill of 18, then 3 steps of one), float32 unless said otherwise.
"""

import importlib
from types import SimpleNamespace

import pytest
import torch
import transformers
from transformers.cache_utils import DynamicCache, QuantizedCache, StaticCache

from model.kv_math import KvOptions, kv_cache_bytes
from model.published.catalogue import catalogue, parameter_count
from model.published.hf_spec import spec_from_config
from model.published.spec import (
    AttentionSpec,
    FfnSpec,
    IndexerSpec,
    MlaSpec,
    ModelSpec,
    NormSpec,
    PositionSpec,
    StateSpec,
)

B, PROMPT, T, VOCABULARY = 3, 18, 21, 50
SIZES = {"vocab_size": VOCABULARY, "hidden_size": 32, "intermediate_size": 48, "max_position_embeddings": 64}
HEADS = {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16}


def spec(n_layers, n_heads=4, n_kv_heads=2, head_dim=16, attention=None, **more):
    """A ModelSpec in which only what the cache depends on is the tiny model's."""
    return ModelSpec(
        name="tiny",
        n_layers=n_layers,
        d_model=32,
        n_heads=n_heads,
        n_kv_heads=n_kv_heads,
        head_dim=head_dim,
        ffn_hidden=48,
        vocab_size=VOCABULARY,
        max_context=64,
        tied_embeddings=False,
        attention=attention or AttentionSpec("GQA"),
        norm=NormSpec("RMSNorm", "pre"),
        ffn=FfnSpec("SwiGLU", gated=True),
        position=PositionSpec("rope"),
        **more,
    )


def run(net, cache=None, steps=T - PROMPT, prompt=PROMPT):
    """The cache after a prefill and `steps` single tokens."""
    net = net.eval()
    cache = DynamicCache(config=net.config) if cache is None else cache
    with torch.no_grad():
        for length in [prompt] + [1] * steps:
            net(input_ids=torch.randint(0, VOCABULARY, (B, length)), past_key_values=cache, use_cache=True)
    return cache


def tensors(cache):
    """Every tensor in which a cache keeps K, V, latents or indexer keys."""
    names = ("keys", "values", "indexer_keys")
    found = [getattr(layer, name, None) for layer in cache.layers for name in names]
    return [tensor for tensor in found if tensor is not None]


def held(cache):
    return sum(tensor.nbytes for tensor in tensors(cache))


def allocated(cache):
    """Bytes of the storages behind the tensors: more than `held` where a tensor is a view of a larger one."""
    return sum(tensor.untyped_storage().nbytes() for tensor in tensors(cache))


def mistral():
    config = transformers.MistralConfig(**SIZES, **HEADS, num_hidden_layers=2, sliding_window=8)
    return transformers.MistralForCausalLM(config)


def gemma3():
    config = transformers.Gemma3TextConfig(
        **SIZES, **HEADS, num_hidden_layers=7, sliding_window=8, query_pre_attn_scalar=16, pad_token_id=0
    )
    return transformers.Gemma3ForCausalLM(config)


def deepseek(version, **more):
    config = getattr(transformers, f"Deepseek{version}Config")(
        **SIZES,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        kv_lora_rank=20,
        q_lora_rank=24,
        qk_rope_head_dim=8,
        qk_nope_head_dim=12,
        v_head_dim=16,
        first_k_dense_replace=2,
        n_routed_experts=4,
        num_experts_per_tok=2,
        moe_intermediate_size=16,
        n_group=1,
        topk_group=1,
        **more,
    )
    return getattr(transformers, f"Deepseek{version}ForCausalLM")(config)


MLA = {
    "n_heads": 4,
    "n_kv_heads": 4,
    "head_dim": 20,
    "mla": MlaSpec(20, 8, 12, 16, 24),
    "attention": AttentionSpec("MLA"),
}
GEMMA = AttentionSpec("GQA", ("sliding",) * 5 + ("full",), window=8)


def test_dynamic_cache_of_a_llama():
    for dtype, torch_dtype in (("fp32", torch.float32), ("bf16", torch.bfloat16)):
        config = transformers.LlamaConfig(**SIZES, **HEADS, num_hidden_layers=3)
        cache = run(transformers.LlamaForCausalLM(config).to(torch_dtype))
        assert held(cache) == allocated(cache) == kv_cache_bytes(spec(3), T, B, dtype)


def test_sliding_layers_hold_one_token_less_than_the_window_in_room_for_it():
    """The tensors show W - 1 tokens, the query's own being no past; they are views of storages of W tokens."""
    for net, shape in (
        (mistral(), spec(2, attention=AttentionSpec("GQA", ("sliding",), window=8))),
        (gemma3(), spec(7, attention=GEMMA)),
    ):
        cache = run(net)
        assert held(cache) == kv_cache_bytes(shape, T, B, "fp32", KvOptions(window="transformers"))
        assert allocated(cache) == kv_cache_bytes(shape, T, B, "fp32")
        short = run(net, steps=2, prompt=3)
        assert held(short) == kv_cache_bytes(shape, 5, B, "fp32", KvOptions(window="transformers"))


def test_chunked_layers_are_cached_as_sliding_ones():
    config = transformers.Llama4TextConfig(
        **SIZES, **HEADS, num_hidden_layers=4, attention_chunk_size=8, num_local_experts=2, intermediate_size_mlp=48
    )
    cache = run(transformers.Llama4ForCausalLM(config))
    shape = spec(4, attention=AttentionSpec("GQA", ("chunked",) * 3 + ("full",), chunk=8))
    assert held(cache) == kv_cache_bytes(shape, T, B, "fp32", KvOptions(window="transformers"))
    assert allocated(cache) == kv_cache_bytes(shape, T, B, "fp32")


@pytest.mark.parametrize(
    "build",
    [
        lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZES, **HEADS, num_hidden_layers=3)),
        mistral,
        gemma3,
        lambda: deepseek("V2"),
        lambda: deepseek("V3"),
        lambda: deepseek("V32", index_n_heads=2, index_head_dim=16, index_topk=4),
        lambda: transformers.BloomForCausalLM(
            transformers.BloomConfig(vocab_size=VOCABULARY, hidden_size=32, n_layer=2, n_head=4)
        ),
        lambda: transformers.GPT2LMHeadModel(
            transformers.GPT2Config(
                vocab_size=VOCABULARY, n_embd=32, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0
            )
        ),
    ],
    ids=["llama", "mistral", "gemma3", "deepseek-v2", "deepseek-v3", "deepseek-v32", "bloom", "gpt2"],
)
def test_a_shape_read_from_the_networks_own_config_gives_its_bytes(build):
    net = build()
    shape = spec_from_config(net.config.to_dict(), "tiny")
    options = KvOptions(window="transformers", indexer="dtype" if shape.indexer else "fp8")
    assert held(run(net)) == kv_cache_bytes(shape, T, B, "fp32", options)


def test_mamba_keeps_a_state_of_constant_size():
    """transformers' convolution keeps as many inputs as its kernel is wide, 4; one of them is the newest token's."""
    config = transformers.Mamba2Config(
        vocab_size=VOCABULARY,
        hidden_size=32,
        num_hidden_layers=3,
        num_heads=4,
        head_dim=16,
        state_size=8,
        n_groups=1,
        conv_kernel=4,
    )
    net = transformers.Mamba2ForCausalLM(config).eval()
    shape = spec(
        3,
        attention=AttentionSpec("GQA", ("linear",)),
        state=StateSpec(conv_channels=4 * 16 + 2 * 8, conv_past=4, heads=4, rows=16, columns=8),
    )
    for tokens in (1, 5, 20):
        with torch.no_grad():
            cache = net(torch.randint(0, VOCABULARY, (B, tokens)), use_cache=True).cache_params
        states = [
            s for layer in cache.layers for kept in (layer.conv_states, layer.recurrent_states) for s in kept.values()
        ]
        assert sum(state.nbytes for state in states) == kv_cache_bytes(shape, tokens, B, "fp32")


def test_static_cache_is_allocated_in_full_and_a_window_to_its_own_size():
    for net, shape in ((mistral(), None), (gemma3(), spec(7, attention=GEMMA))):
        shape = shape or spec(2, attention=AttentionSpec("GQA", ("sliding",), window=8))
        cache = run(net, StaticCache(config=net.config, max_cache_len=40), steps=0, prompt=2)
        assert held(cache) == allocated(cache) == kv_cache_bytes(shape, 2, B, "fp32", KvOptions(reserved_tokens=40))


def test_deepseek_v3_caches_latents():
    cache = run(deepseek("V3"))
    assert held(cache) == allocated(cache) == kv_cache_bytes(spec(2, **MLA), T, B, "fp32")
    assert kv_cache_bytes(spec(2, **MLA), T, B, "fp32") == 2 * T * B * (20 + 8) * 4


def test_deepseek_v32_caches_indexer_keys_in_its_own_dtype():
    cache = run(deepseek("V32", index_n_heads=2, index_head_dim=16, index_topk=4))
    shape = spec(2, indexer=IndexerSpec(2, 16, 4), **MLA)
    assert held(cache) == kv_cache_bytes(shape, T, B, "fp32", KvOptions(indexer="dtype"))
    assert held(cache) == 2 * T * B * (20 + 8 + 16) * 4


def test_falcon_broadcasts_its_heads_before_it_caches_them():
    config = transformers.FalconConfig(
        vocab_size=VOCABULARY, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_kv_heads=2
    )
    config.new_decoder_architecture = True
    cache = run(transformers.FalconForCausalLM(config))
    assert held(cache) == kv_cache_bytes(spec(2), T, B, "fp32", KvOptions(layout="broadcast_heads"))
    assert held(cache) == 2 * kv_cache_bytes(spec(2), T, B, "fp32")


def test_gemma3n_keeps_nothing_for_layers_that_share():
    config = transformers.Gemma3nTextConfig(
        **{**SIZES, "intermediate_size": [48] * 6},
        **HEADS,
        num_hidden_layers=6,
        num_kv_shared_layers=2,
        layer_types=["full_attention"] * 6,
        activation_sparsity_pattern=[0.0] * 6,
        vocab_size_per_layer_input=VOCABULARY,
        hidden_size_per_layer_input=8,
        laurel_rank=4,
        altup_num_inputs=2,
        pad_token_id=0,
    )
    cache = run(transformers.Gemma3nForCausalLM(config))
    assert held(cache) == kv_cache_bytes(spec(6, kv_shared_layers=2), T, B, "fp32")


def test_t5_keeps_the_encoders_tokens_once_more():
    config = transformers.T5Config(
        vocab_size=VOCABULARY, d_model=32, d_kv=16, d_ff=48, num_layers=3, num_decoder_layers=2, num_heads=4
    )
    net = transformers.T5ForConditionalGeneration(config).eval()
    with torch.no_grad():
        done = net(
            input_ids=torch.randint(0, VOCABULARY, (B, 11)),
            decoder_input_ids=torch.randint(0, VOCABULARY, (B, 5)),
            use_cache=True,
        )
    both = done.past_key_values
    shape = spec(2, n_kv_heads=4, attention=AttentionSpec("MHA"), encoder_layers=3)
    real = held(both.self_attention_cache) + held(both.cross_attention_cache)
    assert real == kv_cache_bytes(shape, 5, B, "fp32", KvOptions(encoder_tokens=11))


def test_fp8_cache_holds_a_byte_an_element_and_two_scales_a_layer():
    config = transformers.LlamaConfig(**SIZES, **HEADS, num_hidden_layers=3)
    cache = run(transformers.LlamaForCausalLM(config), QuantizedCache(backend="fp8", config=config))
    parts = [part for layer in cache.layers for part in (layer._quantized_keys, layer._quantized_values)]
    assert sum(values.nbytes for values, _ in parts) == kv_cache_bytes(spec(3), T, B, "fp8")
    assert sum(scale.nbytes for _, scale in parts) == 3 * 2 * 4  # the scales that the formula leaves out


@pytest.fixture
def quanto(monkeypatch):
    """optimum-quanto, unpacking in Python: its C++ kernel would be compiled for minutes when it is first used."""
    pytest.importorskip("optimum.quanto", reason="optimum-quanto quantises transformers' int4 cache")
    extension = importlib.import_module("optimum.quanto.library.extensions.extension").get_extension("quanto_cpp")

    def unpack(packed, bits):
        return torch.cat([packed >> bits * i & 2**bits - 1 for i in range(8 // bits)])

    monkeypatch.setattr(extension, "_lib", SimpleNamespace(unpack=unpack))


@pytest.mark.parametrize("steps", [0, 5, 127, 128, 130])
@pytest.mark.usefixtures("quanto")
def test_int4_cache_with_its_16_bit_tail(steps):
    config = transformers.LlamaConfig(**SIZES, **{**HEADS, "head_dim": 64}, num_hidden_layers=2)
    net = transformers.LlamaForCausalLM(config).to(torch.bfloat16)
    cache = run(net, QuantizedCache(backend="quanto", config=config), steps=steps)
    real = held(cache)
    for layer in cache.layers:
        for packed in (layer._quantized_keys, layer._quantized_values):
            real += packed._data._data.nbytes + packed._scale.nbytes + packed._shift.nbytes
    options = KvOptions(prompt_tokens=PROMPT)
    assert real == kv_cache_bytes(spec(2, head_dim=64), PROMPT + steps, B, "hf_int4", options)


# Catalogue name, transformers' config and model, and what its defaults lack. Built without memory, on "meta".
FULL_SIZE = [
    ("DeepSeek-V3", "DeepseekV3Config", "DeepseekV3ForCausalLM", {}),
    ("DeepSeek-V3.2-Exp", "DeepseekV32Config", "DeepseekV32ForCausalLM", {}),
    ("Llama-4 Scout 17B-16E (text)", "Llama4TextConfig", "Llama4ForCausalLM", {}),
    ("GPT-2 (124M)", "GPT2Config", "GPT2LMHeadModel", {}),
    ("Falcon-7B", "FalconConfig", "FalconForCausalLM", {}),
    ("BLOOM-176B", "BloomConfig", "BloomForCausalLM", {"hidden_size": 14336, "n_layer": 70, "n_head": 112}),
    (
        "T5-11B (v1.0)",
        "T5Config",
        "T5ForConditionalGeneration",
        {"d_model": 1024, "num_heads": 128, "d_ff": 65536, "num_layers": 24, "d_kv": 128},
    ),
]


@pytest.mark.parametrize(("name", "config", "kind", "sizes"), FULL_SIZE, ids=[row[0] for row in FULL_SIZE])
def test_parameters_are_those_that_transformers_allocates(name, config, kind, sizes):
    with torch.device("meta"):
        net = getattr(transformers, kind)(getattr(transformers, config)(**sizes))
    net.tie_weights()
    entry = catalogue()[name]
    # transformers keeps DeepSeek's routing bias as a buffer: 256 experts × 58 layers
    buffers = 58 * 256 if entry.moe and entry.moe.router_bias else 0
    assert sum(weights.numel() for weights in net.parameters()) + buffers == parameter_count(entry)
