"""What the KV-cache calculators refuse, and that each message names the field and what it may be."""

import pytest

from model.errors import GlassLlamaError
from model.kv_math import KvOptions, kv_breakdown, kv_bytes_per_token, kv_cache_bytes
from model.published.catalogue import catalogue


def _short(value):
    return "huge" if isinstance(value, int) and value > 10**18 else repr(value)[:20]


@pytest.mark.parametrize(
    "value", [0, -1, 10**9, 10**400, 10**5000, True, 1.0, 8192.5, float("nan"), None, "8192", [1]], ids=_short
)
@pytest.mark.parametrize("field", ["tokens", "batch"])
def test_counts_out_of_range(field, value):
    limit = {"tokens": "100,000,000", "batch": "1,000,000"}[field]
    with pytest.raises(GlassLlamaError, match=f"^{field} is .*; expected a whole number from 1 to {limit}") as caught:
        kv_cache_bytes("Llama-3 8B", **{field: value})
    assert caught.value.params["field"] == field
    assert len(str(caught.value)) < 200


def test_the_limits_themselves_are_accepted():
    assert kv_cache_bytes("Llama-3 8B", 10**8, 10**6) == 131_072 * 10**14


@pytest.mark.parametrize("dtype", ["float16", "BF16", "", "q8", None, 16, "x" * 10_000, ["bf16"]])
def test_unknown_dtype(dtype):
    with pytest.raises(GlassLlamaError, match=r"^dtype is .*; expected one of fp32, fp16, bf16, fp8, int8") as caught:
        kv_cache_bytes("Llama-3 8B", dtype=dtype)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "dtype", ["/", "q8_0/", "/q8_0", "q8_0/fp8", "fp8/q8_0", "fp8/fp8", "q8_0/q4_0/q4_0", "/" * 999]
)
def test_two_formats_of_which_no_engine_keeps_one_each(dtype):
    with pytest.raises(GlassLlamaError, match=r"^dtype is .*; expected two of fp32, .*, iq4_nl, as K/V\.") as caught:
        kv_cache_bytes("Llama-3 8B", dtype=dtype)
    assert caught.value.params["expected_code"] == "pair"
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("name", ["Llama-9", "", "x" * 10_000])
def test_unknown_model(name):
    with pytest.raises(GlassLlamaError, match="is not in the catalogue"):
        kv_cache_bytes(name)


@pytest.mark.parametrize("spec", [None, 5, {"n_layers": 3}, b"Llama-3 8B"])
def test_something_else_than_a_model(spec):
    with pytest.raises(GlassLlamaError, match=r"^spec is .*expected a ModelSpec"):
        kv_bytes_per_token(spec)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tp": 0}, "tp is 0; expected a whole number from 1 to 10,000"),
        ({"pp": -2}, "pp is -2; expected a whole number from 1"),
        ({"block_size": 16.0}, "block_size is 16.0; expected a whole number"),
        ({"shared_layers": -1}, "shared_layers is -1; expected a whole number from 0"),
        ({"shared_prefix": -1}, "shared_prefix is -1; expected a whole number from 0"),
        ({"reserved_tokens": 0}, "reserved_tokens is 0"),
        ({"encoder_tokens": True}, "encoder_tokens is True"),
        ({"tp": None}, "tp is None"),
        ({"window": "on"}, "window is 'on'; expected one of ideal, transformers, vllm, off"),
        ({"layout": None}, "layout is None; expected one of formula, expanded_mla, broadcast_heads"),
        ({"indexer": "bf16"}, "indexer is 'bf16'; expected one of fp8, dtype"),
        ({"mtp": 1}, "mtp is 1; expected True or False"),
        ({"dcp": 0}, "dcp is 0; expected a whole number from 1"),
        ({"state": "fp8"}, "state is 'fp8'; expected one of own, dtype, fp32"),
        ({"draft": 5}, "draft is 5; expected a ModelSpec, a name in the catalogue, or None"),
    ],
)
def test_options_out_of_range(given, message):
    with pytest.raises(GlassLlamaError) as caught:
        KvOptions(**given)
    assert str(caught.value).startswith(message)
    assert caught.value.params["field"] in given


@pytest.mark.parametrize(
    ("name", "dtype", "given", "message"),
    [
        ("Llama-3 8B", "bf16", {"tp": 3}, "tp is 3; expected a divisor of n_heads (32)."),
        ("Falcon-7B", "bf16", {"tp": 2}, "tp is 2; expected a divisor of n_heads (71)."),
        ("Llama-3.2 3B", "bf16", {"tp": 12}, "tp is 12; expected a divisor or a multiple of n_kv_heads (8)."),
        ("Llama-3 8B", "bf16", {"pp": 33}, "pp is 33; expected at most n_layers (32)."),
        ("Llama-3 8B", "bf16", {"layout": "expanded_mla"}, "layout is 'expanded_mla'"),
        ("DeepSeek-V3", "bf16", {"layout": "broadcast_heads"}, "layout is 'broadcast_heads'"),
        ("Llama-3 8B", "bf16", {"encoder_tokens": 5}, "encoder_tokens is 5; expected none; Llama-3 8B has no encoder."),
        ("Llama-3 8B", "bf16", {"mtp": True}, "mtp is True"),
        ("DeepSeek-V3", "bf16", {"indexer": "dtype"}, "indexer is 'dtype'"),
        ("Llama-3 8B", "fp8_ds_mla", {}, "dtype is 'fp8_ds_mla'; expected another; it is defined for MLA"),
        ("DeepSeek-V3", "fp8_ds_mla", {"layout": "expanded_mla"}, "dtype is 'fp8_ds_mla'"),
        ("DeepSeek-V3", "nvfp4", {}, "dtype is 'nvfp4'; expected another, such as fp8_ds_mla"),
        ("llama2.c stories260K", "q8_0", {}, "dtype q8_0 stores blocks of 32 elements, which do not divide"),
        ("llama2.c stories15M", "hf_int4", {}, "dtype hf_int4 stores blocks of 64 elements"),
        ("Gemma-2 9B", "hf_int4", {}, "dtype is 'hf_int4'; expected another; transformers quantises only"),
        ("T5-large (v1.0)", "hf_int4", {}, "dtype is 'hf_int4'"),
        ("Llama-3 8B", "hf_int4", {"block_size": 16}, "dtype is 'hf_int4'"),
        ("Llama-3 8B", "bf16", {"prompt_tokens": 5}, "prompt_tokens is 5; expected none; only hf_int4"),
        ("Llama-3 8B", "hf_int4", {"prompt_tokens": 9000}, "prompt_tokens is 9,000; expected at most tokens (8,192)."),
        ("Llama-3 8B", "bf16", {"shared_layers": 32}, "shared_layers is 32; expected at most n_layers - 1 (31)."),
        ("Llama-3 8B", "bf16", {"shared_prefix": 8193}, "shared_prefix is 8,193; expected at most tokens (8,192)."),
        ("Llama-3 8B", "bf16", {"reserved_tokens": 100}, "reserved_tokens is 100; expected at least 8,192"),
        ("Llama-3 8B", "bf16", {"reserved_tokens": 9000, "block_size": 16}, "reserved_tokens is 9,000"),
        (
            "Llama-3 8B",
            "bf16",
            {"tp": 8, "dcp": 2},
            "dcp is 2; expected a divisor of the copies that tp=8 makes of each",
        ),
        ("Llama-3 8B", "hf_int4", {"tp": 16, "dcp": 2}, "dcp is 2; expected 1 with hf_int4"),
        ("Gemma-2 9B", "bf16", {"tp": 16, "dcp": 2}, "dcp is 2; expected 1; tokens are split for plain"),
        ("Llama-3 8B", "bf16", {"state": "fp32"}, "state is 'fp32'; expected own, the default"),
        ("Llama-3 8B", "bf16", {"draft": "T5-large (v1.0)"}, "draft is 'T5-large (v1.0)'; expected a decoder"),
        ("Llama-3 8B", "bf16", {"draft": "Falcon-7B", "tp": 2}, "tp is 2; expected a divisor of n_heads (71)"),
        ("Gemma-2 9B", "bf16", {"window": "vllm"}, "batched_tokens is None"),
        ("Gemma-2 9B", "bf16", {"batched_tokens": 2048}, "batched_tokens is 2,048"),
        ("Gemma-2 9B", "bf16", {"window": "transformers", "block_size": 16}, "window is 'transformers'"),
        ("Gemma-2 9B", "bf16", {"window": "vllm", "batched_tokens": 9, "shared_prefix": 9}, "window is 'vllm'"),
    ],
)
def test_options_that_do_not_fit(name, dtype, given, message):
    with pytest.raises(GlassLlamaError) as caught:
        kv_breakdown(catalogue()[name], 8192, 1, dtype, KvOptions(**given))
    assert str(caught.value).startswith(message)


def test_a_reserved_batch_smaller_than_the_batch():
    with pytest.raises(GlassLlamaError, match="reserved_batch is 2; expected at least 3"):
        kv_cache_bytes("Llama-3 8B", 10, 3, options=KvOptions(reserved_batch=2))


def test_options_of_another_type():
    with pytest.raises(GlassLlamaError, match=r"options is .*expected a KvOptions"):
        kv_cache_bytes("Llama-3 8B", options={"tp": 2})
