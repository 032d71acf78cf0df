"""config.json is read in both its forms, and what would change the result is refused by name, never ignored."""

import dataclasses
import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.config import FIXED_FIELDS, ROPE_FIELDS, LlamaConfig, RopeScaling
from model.errors import GlassLlamaError, shortly
from model.positions import rope_frequencies
from tests.standin import SHAPE

CONFIG = LlamaConfig(
    n_layers=3,
    d_model=48,
    n_heads=6,
    n_kv_heads=2,
    head_dim=8,
    ffn_hidden=80,
    vocab_size=320,
    norm_eps=1e-5,
    rope_theta=10_000.0,
    max_context=128,
    eos_ids=(0,),
)
ORIGINAL = "original_max_position_embeddings"
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}


def refusal(**fields: Any) -> GlassLlamaError:
    """The error for the stand-in's config with some fields changed; `...` removes one."""
    with pytest.raises(GlassLlamaError) as caught:
        read(**fields)
    assert caught.value.code == "config"
    return caught.value


def read(**fields: Any) -> LlamaConfig:
    raw = {name: value for name, value in (SHAPE | fields).items() if value is not ...}
    return LlamaConfig.from_hf(raw)


def test_every_field_is_read() -> None:
    assert read() == CONFIG
    assert CONFIG.group_size == 3
    assert CONFIG.context_limit == 128


def test_absent_fields_mean_what_they_mean_in_transformers() -> None:
    bare = read(
        **dict.fromkeys(["num_key_value_heads", "head_dim", "rms_norm_eps", "rope_theta", "tie_word_embeddings"], ...),
        **dict.fromkeys(["max_position_embeddings", "eos_token_id", "hidden_act"], ...),
    )
    changed = {"n_kv_heads": 6, "norm_eps": 1e-6, "max_context": 2048, "eos_ids": ()}
    assert bare == dataclasses.replace(CONFIG, **changed)
    assert read(num_key_value_heads=None, head_dim=None) == dataclasses.replace(CONFIG, n_kv_heads=6)


@pytest.mark.parametrize(("given", "ids"), [(7, (7,)), ([7, 9], (7, 9)), (None, ()), ([], ())])
def test_ends_of_text(given: object, ids: tuple[int, ...]) -> None:
    assert read(eos_token_id=given).eos_ids == ids


@pytest.mark.parametrize("eos_ids", [(), (0,), (5, 7)])
@pytest.mark.parametrize("tied", [False, True])
def test_round_trip(eos_ids: tuple[int, ...], tied: bool) -> None:
    config = dataclasses.replace(CONFIG, eos_ids=eos_ids, tied_embeddings=tied, rope_theta=5e5, norm_eps=3e-6)
    assert LlamaConfig.from_hf(config.to_hf()) == config


def test_a_scaled_rope_cannot_be_written() -> None:
    with pytest.raises(GlassLlamaError, match="rope_scaling: only an unscaled RoPE"):
        dataclasses.replace(CONFIG, rope_scaling=RopeScaling("linear", 2.0, 128)).to_hf()


@pytest.mark.parametrize("name", FIXED_FIELDS)
def test_fields_that_are_implemented_in_one_way_only(name: str) -> None:
    wrong: dict[str, Any] = {"hidden_act": "gelu", "sliding_window": 4096, "quantization_config": {"bits": 4}}
    wrong |= {"auto_map": {"AutoModel": "x"}, "no_rope_layers": [1], "partial_rotary_factor": 0.5}
    wrong |= {"num_local_experts": 8, "logit_scale": 0.5, "attention_multiplier": 0.1}
    value = wrong.get(name, 2 if name.endswith("multiplier") else True)
    error = refusal(**{name: value})
    assert str(error).startswith(f"config.json: {name} is {value!r}; expected ")
    assert error.params["field"] == name
    for accepted in FIXED_FIELDS[name]:
        assert read(**{name: accepted}) == CONFIG


@pytest.mark.parametrize("kind", ["mistral", "qwen2", "", None, 3, ["llama"], ...])
def test_another_model_type(kind: Any) -> None:
    assert refusal(model_type=kind).params["field"] == "model_type"


REQUIRED = ["num_hidden_layers", "hidden_size", "num_attention_heads", "intermediate_size", "vocab_size"]
COUNTS = [*REQUIRED, "num_key_value_heads", "head_dim", "max_position_embeddings"]


@pytest.mark.parametrize("name", REQUIRED)
@pytest.mark.parametrize("value", [None, ...])
def test_missing_fields(name: str, value: Any) -> None:
    assert str(refusal(**{name: value})) == f"config.json: {name} is missing."


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("value", [0, -1, 2.5, 8.0, True, "8", [8], float("nan")], ids=repr)
def test_counts_that_are_none(name: str, value: Any) -> None:
    assert str(refusal(**{name: value})) == f"config.json: {name} is {value!r}; expected a whole number of at least 1."


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *[("rms_norm_eps", value) for value in (0, -1e-5, True, "1e-5", None, float("nan"), float("inf"), 10**400)],
        *[("rope_theta", value) for value in (0, 1, -10.0, True, "1e4", None, float("nan"), float("inf"))],
        *[("tie_word_embeddings", value) for value in (1, "true", [])],
        *[("eos_token_id", value) for value in (-1, 1.5, True, "0", [0, "1"], [True], {})],
        *[("rope_scaling", value) for value in ("linear", [1], 5, True)],
    ],
)
def test_malformed_values_are_refused_by_name(field: str, value: Any) -> None:
    error = refusal(**{field: value})
    assert str(error).startswith(f"config.json: {field} is {shortly(value)}; expected ")


def test_heads_that_do_not_share_evenly() -> None:
    expected = r"^n_heads \(9\) is not a multiple of n_kv_heads \(2\)\.$"
    with pytest.raises(GlassLlamaError, match=expected):
        dataclasses.replace(CONFIG, n_heads=9)
    with pytest.raises(GlassLlamaError, match=expected):
        read(num_attention_heads=9, num_key_value_heads=2)


def test_head_dim() -> None:
    assert "head_dim is 7; expected even" in str(refusal(head_dim=7))
    assert "hidden_size (50) is no multiple of the heads (6)" in str(refusal(head_dim=None, hidden_size=50))
    assert read(head_dim=16, hidden_size=50).head_dim == 16  # its own field, never d_model / n_heads


@pytest.mark.parametrize(("newer", "older"), [("rope_parameters", "rope_scaling")])
@pytest.mark.parametrize("kind", ROPE_FIELDS)
def test_both_forms_of_rope_scaling_mean_the_same(newer: str, older: str, kind: str) -> None:
    fields = LLAMA3 if kind == "llama3" else {"rope_type": kind, "factor": 4.0}
    config = read(**{older: fields}, rope_theta=2e4)
    assert config == read(**{newer: fields | {"rope_theta": 2e4}}, rope_theta=...)
    assert config == read(
        **{older: {"type": kind} | {name: fields[name] for name in fields.keys() - {"rope_type"}}}, rope_theta=2e4
    )
    assert config.rope_theta == 2e4
    assert (config.rope_scaling and config.rope_scaling.kind) == (None if kind == "default" else kind)


def test_original_context() -> None:
    assert read(rope_scaling=LLAMA3).rope_scaling.original_max_context == 128
    assert read(rope_scaling=LLAMA3 | {ORIGINAL: 32}).rope_scaling.original_max_context == 32
    assert read(rope_scaling=LLAMA3 | {ORIGINAL: 32}, **{ORIGINAL: 64}).rope_scaling.original_max_context == 64


def test_context_limit_reaches_further_with_dynamic_scaling_alone() -> None:
    assert read(rope_scaling={"rope_type": "dynamic", "factor": 3.0}).context_limit == 384
    assert read(rope_scaling={"rope_type": "dynamic", "factor": 0.5}).context_limit == 128
    assert read(rope_scaling={"rope_type": "linear", "factor": 3.0}).context_limit == 128


@pytest.mark.parametrize("kind", ["longrope", "su", "proportional", "Linear", "", 5, ["linear"], {}])
def test_unknown_kinds_of_scaling(kind: Any) -> None:
    error = refusal(rope_scaling={"rope_type": kind, "factor": 2.0})
    assert f"rope_scaling.rope_type is {kind!r}; expected one of default, linear, dynamic, yarn, llama3" in str(error)


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind in ROPE_FIELDS for name in sorted(ROPE_FIELDS[kind][0])]
)
@pytest.mark.parametrize("value", [None, ...])
def test_missing_rope_fields(kind: str, name: str, value: Any) -> None:
    fields = dict.fromkeys(ROPE_FIELDS[kind][0], 2.0) | {"rope_type": kind, name: value}
    error = refusal(rope_scaling={field: given for field, given in fields.items() if given is not ...})
    assert str(error) == f"config.json: rope_scaling.{name} is missing."


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"rope_type": "linear", "factor": "2"}, "rope_scaling.factor"),
        ({"rope_type": "linear", "factor": 0}, "rope_scaling.factor"),
        ({"rope_type": "yarn", "factor": 2.0, "truncate": "no"}, "rope_scaling.truncate"),
        ({"rope_type": "yarn", "factor": 2.0, "beta_fast": [32]}, "rope_scaling.beta_fast"),
        ({"rope_type": "yarn", "factor": 2.0, "attention_factor": 0}, "rope_scaling.attention_factor"),
        ({"rope_type": "yarn", "factor": 2.0, ORIGINAL: 0.5}, ORIGINAL),
        ({"rope_type": "linear", "factor": 2.0, "beta_fast": 32}, "rope_scaling.beta_fast"),
        ({"rope_type": "linear", "factor": 2.0, "long_factor": [1.0]}, "rope_scaling.long_factor"),
        ({"rope_type": "default", "mrope_section": [4, 4]}, "rope_scaling.mrope_section"),
        ({"full_attention": {"rope_type": "default"}}, "rope_scaling.full_attention"),
        ({"rope_type": "default", "partial_rotary_factor": 0.5}, "partial_rotary_factor"),
        ({"rope_type": "default", "rope_theta": "x"}, "rope_theta"),
    ],
)  # fmt: skip
def test_rope_fields_with_other_values(fields: dict[str, Any], named: str) -> None:
    assert refusal(rope_parameters=fields).params["field"] == named


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.floats() | st.text("a1 漢", max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("a1", max_size=2), inner, max_size=2),
    max_leaves=3,
)
values = st.sampled_from([1, 2, 4, 6, 8, 64, 0.5, 1.0, 1e-5, 1e4, "silu", False, True, None]) | json_values
rope_names = sorted({name for needed, free in ROPE_FIELDS.values() for name in needed | free} | {"rope_theta", "type"})
rope_kinds = st.fixed_dictionaries({"rope_type": st.sampled_from([*ROPE_FIELDS]) | json_values})
rope_fields = st.dictionaries(st.sampled_from(rope_names), st.floats(0.01, 100) | values, max_size=4)
complete = st.sampled_from([{}, {name: 2.0 for name in LLAMA3 if name != "rope_type"}, {"factor": 8.0}])
ropes = st.builds(lambda kind, whole, fields: kind | whole | fields, rope_kinds, complete, rope_fields) | json_values
names = st.sampled_from([*SHAPE, *FIXED_FIELDS, ORIGINAL])
anything = st.builds(
    lambda fields, form, rope: fields | {form: rope},
    st.dictionaries(names, values, max_size=3),
    st.sampled_from(["rope_scaling", "rope_parameters"]),
    ropes,
)


@given(anything)
def test_garbage_is_refused_or_gives_a_config_that_works(fields: dict[str, Any]) -> None:
    try:
        config = LlamaConfig.from_hf(SHAPE | fields)
    except GlassLlamaError:
        return
    assert config.n_heads == config.group_size * config.n_kv_heads
    assert config.context_limit >= config.max_context
    assert all(math.isfinite(number) for number in (config.norm_eps, config.rope_theta))
    if config.head_dim <= 1024:  # the arithmetic that the fields feed does not fail
        frequencies = rope_frequencies(config, total_tokens=config.max_context + 5)
        assert frequencies.inv_freq.shape == (config.head_dim // 2,)
        assert isinstance(frequencies.attention_scaling, float)
        assert not torch.isnan(frequencies.inv_freq).any()
