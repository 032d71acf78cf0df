"""The catalogue of published models: that it is read-only and complete, and that shapes and parameter totals agree."""

import json
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from pathlib import Path

import pytest

import model
from model.errors import GlassLlamaError
from model.published.catalogue import UnknownModelError, active_parameter_count, catalogue, parameter_count
from model.published.spec import AttentionSpec, MlaSpec, ModelSpec

# Model, weights counted from the shapes by hand or read off a checkpoint, and how far the published total may be away,
# in parts per thousand (0: every digit is published). Wider ones: the totals of Gemma-3 and Scout include a vision
# tower, GPT-3's, GLM's, Kimi-K2's and Llama-3.1 70B's are round, Llama-3.2 1B's is rounded to three digits, LLaMA-1
# 7B's and gpt-oss-20b's to two.
TOTALS = [
    ("LLaMA-1 7B", 6_738_415_616, 6),
    ("LLaMA-1 13B", 13_015_864_320, 2),
    ("LLaMA-1 33B", 32_528_943_616, 1),
    ("LLaMA-1 65B", 65_285_660_672, 2),
    ("Llama-2 7B", 6_738_415_616, 1),
    ("Llama-2 13B", 13_015_864_320, 1),
    ("Llama-2 70B", 68_976_648_192, 1),
    ("Llama-3 8B", 8_030_261_248, 1),
    ("Llama-3 70B", 70_553_706_496, 1),
    ("Llama-3.1 8B", 8_030_261_248, 1),
    ("Llama-3.1 70B", 70_553_706_496, 8),
    ("Llama-3.1 405B", 405_853_388_800, 1),
    ("Llama-3.2 1B", 1_235_814_400, 5),
    ("Llama-3.2 3B", 3_212_749_824, 1),
    ("Llama-4 Scout 17B-16E (text)", 107_769_861_120, 12),
    ("SmolLM2-135M", 134_515_008, 0),
    ("SmolLM2-360M", 361_821_120, 0),
    ("TinyLlama-1.1B", 1_100_048_384, 0),
    ("llama2.c stories260K", 260_032, 0),
    ("llama2.c stories15M", 15_191_712, 0),
    ("llama2.c stories42M", 41_689_600, 0),
    ("llama2.c stories110M", 109_529_856, 0),
    ("Mistral-7B v0.1", 7_241_732_096, 1),
    ("Mixtral-8x7B v0.1", 46_702_792_704, 0),
    ("Qwen2.5-7B", 7_615_616_512, 1),
    ("Qwen3-0.6B", 596_049_920, 7),
    ("Qwen3-1.7B", 1_720_574_976, 13),
    ("Qwen3-4B", 4_022_468_096, 6),
    ("Qwen3-8B", 8_190_735_360, 1),
    ("Qwen3-14B", 14_768_307_200, 3),
    ("Qwen3-32B", 32_762_123_264, 2),
    ("Qwen3-30B-A3B", 30_532_122_624, 0),
    ("Qwen3-235B-A22B", 235_093_634_560, 1),
    ("Gemma-2 9B", 9_241_705_984, 0),
    ("Gemma-3 12B (text)", 11_766_034_176, 20),
    ("Gemma-3 27B (text)", 27_009_346_304, 1),
    ("Falcon-7B", 6_921_720_704, 0),
    ("Falcon-40B", 41_303_293_952, 1),
    ("BLOOM-176B", 176_247_271_424, 0),
    ("T5-11B (v1.0)", 11_307_321_344, 0),
    ("T5-large (v1.0)", 737_668_096, 0),
    ("ChatGLM3-6B", 6_243_584_000, 1),
    ("GLM-130B", 128_697_794_560, 11),
    ("DeepSeek LLM 7B", 6_910_365_696, 1),
    ("DeepSeek LLM 67B", 67_425_001_472, 1),
    ("DeepSeekMoE-16B", 16_375_728_128, 2),
    ("DeepSeek-V2", 235_741_434_880, 2),
    ("DeepSeek-V2-Lite", 15_706_484_224, 1),
    ("DeepSeek-V3", 671_026_419_200, 1),
    ("DeepSeek-V3.2-Exp", 671_877_944_064, 2),
    ("Kimi-K2", 1_026_408_232_448, 27),
    ("gpt-oss-20b", 20_914_757_184, 5),
    ("gpt-oss-120b", 116_829_156_672, 2),
    ("GPT-3 175B", 174_604_259_328, 3),
    ("GPT-2 (124M)", 124_439_808, 0),
]


def test_it_holds_55_models_in_the_files_order():
    raw = json.loads((Path(model.__file__).parent / "published" / "catalogue.json").read_text(encoding="utf-8"))
    assert list(catalogue()) == list(raw["models"]) == [name for name, _, _ in TOTALS]
    assert len(catalogue()) == 55
    assert all(spec.name == name for name, spec in catalogue().items())


@pytest.mark.parametrize(("name", "counted", "per_mille"), TOTALS, ids=[row[0] for row in TOTALS])
def test_parameters_recomputed_from_the_shapes_meet_the_published_total(name, counted, per_mille):
    spec = catalogue()[name]
    published = spec.parameters
    assert parameter_count(spec) == counted
    assert published.exact == (per_mille == 0)
    assert abs(counted - published.total) * 1000 <= per_mille * published.total


@pytest.mark.parametrize(
    ("name", "active"),
    [
        ("Mixtral-8x7B v0.1", 12_879_925_248),
        ("Qwen3-30B-A3B", 3_353_032_704),
        ("Qwen3-235B-A22B", 22_190_763_520),
        ("Llama-4 Scout 17B-16E (text)", 17_172_894_720),
        ("DeepSeekMoE-16B", 2_828_650_496),
        ("DeepSeek-V2", 21_375_800_320),
        ("Llama-3 8B", 8_030_261_248),
    ],
)
def test_active_parameters_read_the_chosen_experts_only(name, active):
    spec = catalogue()[name]
    assert active_parameter_count(spec) == active
    if spec.parameters.active:
        assert active == pytest.approx(spec.parameters.active, rel=0.02)


@pytest.mark.parametrize("name", list(catalogue()))
def test_every_entry_says_where_it_comes_from(name):
    spec = catalogue()[name]
    assert spec.source
    assert all(isinstance(line, str) and line for line in spec.source)
    assert spec.source_grade in {"official", "official-snapshot", "secondary"}
    assert spec.verified.startswith("core dimensions")
    assert spec.family
    assert spec.release[:2] == "20"
    assert spec.tokenizer
    assert spec.max_context >= 256
    frozen = [spec] + [getattr(spec, f.name) for f in fields(spec)]
    assert all(type(part).__dataclass_params__.frozen for part in frozen if is_dataclass(part))
    hash(spec)  # nothing in it is mutable


READ, SECONDARY = "core dimensions, read in the listed sources", "core dimensions, by secondary sources only"


@pytest.mark.parametrize(
    ("name", "verified", "not_verified"),
    [
        ("Llama-3 8B", READ, ()),  # all of it stands in Meta's own files
        ("T5-large (v1.0)", READ, ("release", "max_context", "tokenizer")),
        (
            "GPT-3 175B",  # OpenAI published no configuration
            SECONDARY,
            (
                "norm_eps",
                "attention sparsity pattern",
                "tied_embeddings",
                "tokenizer",
                "bias",
                "max_context from paper",
            ),
        ),
    ],
)
def test_an_entry_says_what_was_read_and_what_was_not(name, verified, not_verified):
    assert (catalogue()[name].verified, catalogue()[name].not_verified) == (verified, not_verified)


def test_only_what_third_parties_alone_state_counts_as_secondary():
    for name, spec in catalogue().items():
        assert spec.verified == (SECONDARY if spec.source_grade == "secondary" else READ), name


def test_the_kinds_of_attention_are_those_of_the_head_counts():
    for name, spec in catalogue().items():
        kind = {spec.n_heads: "MHA", 1: "MQA"}.get(spec.n_kv_heads, "GQA")
        assert spec.attention.kind == ("MLA" if spec.mla else kind), name
        if spec.mla:
            assert spec.head_dim == spec.mla.qk_nope_head_dim + spec.mla.qk_rope_head_dim


def test_shapes_that_are_often_taken_wrong():
    c = catalogue()
    assert [c[name].n_kv_heads for name in ("Llama-2 7B", "Llama-2 13B", "Llama-2 70B")] == [32, 40, 8]
    assert [c[name].head_dim for name in ("Qwen3-30B-A3B", "Gemma-2 9B", "T5-11B (v1.0)")] == [128, 256, 128]
    assert c["Falcon-7B"].norm.kind == "LayerNorm"
    assert c["ChatGLM3-6B"].norm.kind == "RMSNorm"
    assert c["ChatGLM3-6B"].n_kv_heads == 2
    assert c["Falcon-40B"].group_size == 16
    assert c["DeepSeek LLM 67B"].n_kv_heads == 8


def test_which_layers_slide_or_chunk():
    c = catalogue()
    assert c["Gemma-2 9B"].layer_kinds[:3] == ("sliding", "full", "sliding")
    gemma3, scout = c["Gemma-3 12B (text)"], c["Llama-4 Scout 17B-16E (text)"]
    assert [i for i, kind in enumerate(gemma3.layer_kinds) if kind == "full"] == list(range(5, 48, 6))
    larger = c["Gemma-3 27B (text)"].layer_kinds  # 62 layers are no multiple of the pattern's six
    assert [i for i, kind in enumerate(larger) if kind == "full"] == list(range(5, 62, 6))
    assert [i for i, kind in enumerate(scout.layer_kinds) if kind == "full"] == list(range(3, 48, 4))
    assert scout.layer_kinds.count("chunked") == 36
    assert set(c["Mistral-7B v0.1"].layer_kinds) == {"sliding"}
    assert (gemma3.attention.window, scout.attention.chunk) == (1024, 8192)


def test_it_is_a_read_only_mapping_read_once():
    c = catalogue()
    assert isinstance(c, Mapping)
    assert catalogue() is c
    assert "Llama-3 8B" in c
    assert 5 not in c
    assert c.get("Llama-9") is None
    with pytest.raises(TypeError):
        c["mine"] = c["Llama-3 8B"]
    with pytest.raises(TypeError):
        del c["Llama-3 8B"]
    with pytest.raises(FrozenInstanceError):
        c["Llama-3 8B"].n_layers = 1


@pytest.mark.parametrize(
    ("asked", "suggested"),
    [
        ("llama 3 8b", ["Llama-3 8B"]),
        ("Llama3-8B", ["Llama-3 8B"]),
        ("DeepSeek V3", ["DeepSeek-V3"]),
        ("mixtral", ["Mixtral-8x7B v0.1"]),
        ("TinyLama-1.1B", ["TinyLlama-1.1B"]),
    ],
)
def test_an_unknown_name_is_answered_with_close_ones(asked, suggested):
    with pytest.raises(UnknownModelError) as caught:
        catalogue()[asked]
    assert isinstance(caught.value, KeyError)
    assert isinstance(caught.value, GlassLlamaError)
    assert caught.value.params["close"][: len(suggested)] == suggested
    assert str(caught.value).startswith(f"model {asked!r} is not in the catalogue; did you mean {suggested[0]!r}")


@pytest.mark.parametrize("asked", ["", "zzzzzzzz", "x" * 100_000, None, 5, ["Llama-3 8B"], 10**5000], ids=range(7))
def test_nonsense_names_get_a_short_message(asked):
    with pytest.raises(KeyError) as caught:
        catalogue()[asked]
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_layers": 0}, "n_layers is 0; expected at least 1"),
        ({"n_kv_heads": 5}, r"n_heads is 32; expected a multiple of n_kv_heads \(5\)"),
        ({"kv_shared_layers": 32}, "kv_shared_layers is 32; expected 0 to 31"),
        ({"mla": MlaSpec(512, 64, 128, 128)}, "mla is .*expected given for MLA"),
        ({"attention": AttentionSpec("GQA", ("sliding",))}, "window is None; expected 2 or more with sliding layers"),
        ({"attention": AttentionSpec("GQA", chunk=64)}, "chunk is 64; expected 2 or more with chunked layers, None"),
    ],
)
def test_a_spec_of_ones_own_must_make_sense(changes, message):
    with pytest.raises(GlassLlamaError, match=message):
        replace(catalogue()["Llama-3 8B"], **changes)


def test_the_spec_has_the_designs_field_names():
    names = {f.name for f in fields(ModelSpec)}
    assert {"n_layers", "d_model", "n_heads", "n_kv_heads", "head_dim", "ffn_hidden", "vocab_size"} <= names
    assert {"max_context", "tied_embeddings", "source"} <= names
