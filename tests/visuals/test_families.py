"""The table of families: what it says of each, against facts that were read in the models' own sources."""

import json
from pathlib import Path

import pytest

from model import catalogue
from model.published.catalogue import parameter_count
from visuals.claims import CLAIMS
from visuals.families import (
    COLUMNS,
    CONFIGS,
    HISTORY_ROWS,
    REFERENCE,
    ROWS,
    VIEWS,
    families_message,
    group_of,
    sizes_of,
)

ROOT = Path(__file__).parents[1]
PUBLISHED = json.loads((ROOT / "model" / "published" / "hub_configs.json").read_text(encoding="utf-8"))
# By column: what its model's own code, configs and papers say (the sources are the catalogue's).
RMS_PRE = {"norm": ["rms_norm"], "place": ["norm_before"], "layer": ["in_turn"], "stack": ["decoder"]}
LLAMA = {**RMS_PRE, "position": ["rope"], "attention": ["gqa"], "mask": ["causal"], "ffn": ["swiglu"],
         "biases": ["no_biases"], "tied": ["untied"]}  # fmt: skip
FALCON = {**LLAMA, "norm": ["layer_norm"], "layer": ["side_by_side"], "ffn": ["gelu"], "tied": ["tied"],
          "biases": ["no_biases", "bias_norms"]}  # fmt: skip
MLA = {**LLAMA, "place": ["norm_before", "norm_latents"], "position": ["rope_part", "pairs_next", "stretched_yarn"],
       "attention": ["mla"]}  # fmt: skip
T5 = {**LLAMA, "stack": ["encoder_decoder"], "place": ["norm_before", "norm_cross"], "position": ["buckets"],
      "attention": ["mha", "cross", "unscaled"], "mask": ["causal", "encoder_sees_all"]}  # fmt: skip
FACTS = {
    "llama1": LLAMA | {"attention": ["mha"]},
    "llama2": LLAMA | {"attention": ["mha"]},
    "llama2_70b": LLAMA,
    "llama3": LLAMA,
    "qwen2": LLAMA | {"biases": ["bias_qkv"]},
    "qwen3": LLAMA | {"place": ["norm_before", "norm_q_k"]},
    "bloom": LLAMA
    | {
        "norm": ["layer_norm"],
        "place": ["norm_before", "norm_embedding"],
        "position": ["alibi"],
        "attention": ["mha"],
        "ffn": ["gelu_tanh"],
        "biases": ["bias_all", "bias_norms"],
        "tied": ["tied"],
    },
    "falcon": FALCON | {"place": ["norm_shared"], "attention": ["mqa"]},
    "falcon_40b": FALCON | {"place": ["norm_two_parallel"]},
    "mixtral": LLAMA | {"ffn": ["swiglu", "experts"]},
    "t5": T5 | {"ffn": ["relu"], "tied": ["tied"]},
    "t5_1_1": T5 | {"ffn": ["geglu"]},
    "deepseek2": MLA | {"ffn": ["swiglu", "experts", "shared_expert", "dense_first"]},
    "deepseek3": MLA | {"ffn": ["swiglu", "experts", "shared_expert", "dense_first", "balanced"]},
    "glm": LLAMA | {"position": ["rope_part", "pairs_next"], "biases": ["bias_qkv"], "mask": ["causal", "prefix"]},
    "gpt3": LLAMA
    | {
        "norm": ["layer_norm"],
        "position": ["learned"],
        "attention": ["mha"],
        "mask": ["causal", "banded"],
        "ffn": ["gelu_tanh"],
        "biases": ["bias_all", "bias_norms"],
        "tied": ["tied"],
    },
    "transformer": T5
    | {
        "norm": ["layer_norm"],
        "place": ["norm_after"],
        "position": ["sinusoidal"],
        "attention": ["mha", "cross"],
        "ffn": ["relu"],
        "biases": ["bias_ffn", "bias_norms"],
        "tied": ["tied"],
    },
}
# Numbers that a cell names, by column and code.
NUMBERS = {
    ("llama3", "gqa"): {"heads": 32, "kv": 8},
    ("llama3", "rope"): {"turned": 128, "width": 128, "theta": 500_000},
    ("falcon", "mqa"): {"heads": 71, "kv": 1},
    ("falcon_40b", "gqa"): {"heads": 128, "kv": 8},
    ("bloom", "mha"): {"heads": 112, "kv": 112},
    ("mixtral", "experts"): {"top_k": 2, "experts": 8},
    ("deepseek2", "experts"): {"top_k": 6, "experts": 64},
    ("deepseek3", "experts"): {"top_k": 8, "experts": 256},
    ("deepseek3", "dense_first"): {"layers": 3},
    ("deepseek3", "mla"): {"heads": 128, "kv": 128, "latent": 512, "rope": 64},
    ("deepseek3", "rope_part"): {"turned": 64, "width": 192, "theta": 10_000},
    ("deepseek3", "stretched_yarn"): {"factor": 40, "context": 4096},
    ("glm", "rope_part"): {"turned": 64, "width": 128, "theta": 10_000},
    ("glm", "gqa"): {"heads": 32, "kv": 2},
    ("t5", "buckets"): {"buckets": 32},
}
# Numbers that a token adds to the cache (facts of the reports; claims on MLA: 512 + 64 a layer), in two bytes each.
CACHED = {"llama3": 65_536, "llama1": 262_144, "qwen2": 28_672, "qwen3": 73_728, "falcon": 4_096, "falcon_40b": 61_440,
          "bloom": 2_007_040, "t5": 49_152, "glm": 14_336, "mixtral": 65_536, "deepseek2": 15_552, "deepseek3": 35_136,
          "gpt3": 2_359_296, "transformer": 6_144}  # fmt: skip
# What the model cards and papers say of training: tokens, context, entries of the vocabulary.
TOLD = {
    "llama3": ("15T+", 8192, 128_256), "llama2": ("2.0T", 4096, 32_000), "llama2_70b": ("2.0T", 4096, 32_000),
    "llama1": ("1.0T", 2048, 32_000), "gpt3": ("300B", 2048, 50_257), "deepseek3": ("14.8T", 131_072, 129_280),
    "bloom": ("366B", 2048, 250_880), "falcon": ("1.5T", 2048, 65_024), "t5": ("1T", 512, 32_128),
}  # fmt: skip


@pytest.fixture(scope="module")
def columns() -> dict[str, dict]:
    return {column["id"]: column for column in families_message()["columns"]}


def test_each_cell_says_what_the_models_sources_say(columns: dict[str, dict]) -> None:
    assert columns.keys() == FACTS.keys()
    for name, column in columns.items():
        for row in ROWS:
            assert [line["code"] for line in column["cells"][row]["lines"]] == FACTS[name][row], (name, row)
    for (name, code), numbers in NUMBERS.items():
        lines = [line for cell in columns[name]["cells"].values() for line in cell["lines"]]
        assert next(line["params"] for line in lines if line["code"] == code) == numbers, (name, code)


def test_what_llama_has_not_is_marked(columns: dict[str, dict]) -> None:
    for name, column in columns.items():
        assert not any(column["cells"][row]["differs"] for row in HISTORY_ROWS if row != "goal")
        goal = column["cells"]["goal"]
        assert goal["lines"][0]["differs"] == (name in {"t5", "t5_1_1", "transformer"}), name
        assert goal["differs"] == any(line["differs"] for line in goal["lines"])
        assert goal["differs"] == (name in {"t5", "t5_1_1", "transformer", "deepseek3"}), name
        for row in ROWS:
            cell = column["cells"][row]
            own = [code for code in FACTS[name][row] if code != "pairs_next"]  # Meta's own order of the pairs
            other = [code for code in own if code not in FACTS[REFERENCE][row]]
            assert [line["code"] for line in cell["lines"] if line["differs"]] == other, (name, row)
            assert cell["differs"] == (own != FACTS[REFERENCE][row])
    assert sum(cell["differs"] for cell in columns["qwen3"]["cells"].values()) == 1


def test_a_goal_is_its_makers_own_or_said_to_be_anothers(columns: dict[str, dict]) -> None:
    """DeepSeek-V3 was trained to predict two tokens (arXiv 2412.19437, section 2.2), V2-Lite one."""
    codes = {name: [line["code"] for line in column["cells"]["goal"]["lines"]] for name, column in columns.items()}
    assert codes["deepseek3"] == ["goal_next", "goal_mtp"]
    assert codes["deepseek2"] == codes["llama3"] == ["goal_next"]
    assert codes["glm"] == ["goal_unsaid", "goal_kin_glm"]


def test_each_claim_leads_to_a_cell(columns: dict[str, dict]) -> None:
    counted = {"parameters", "cache"}
    for claim in CLAIMS:
        assert claim["row"] in columns[claim["column"]]["cells"].keys() | counted, claim
        assert any(claim["column"] in view for view in VIEWS.values()), claim
    assert len({claim["name"] for claim in CLAIMS}) == len(CLAIMS)


def test_training_context_and_vocabulary_are_as_their_makers_say(columns: dict[str, dict]) -> None:
    for name, (tokens, context, entries) in TOLD.items():
        cells = {row: [line["params"] for line in columns[name]["cells"][row]["lines"]] for row in HISTORY_ROWS}
        assert (cells["data"][0], cells["context"]) == ({"tokens": tokens}, [{"tokens": context}])
        assert cells["vocabulary"][0]["entries"] == entries
    # Llama 3 8B: two tables of 128,256 × 4,096 in 8,030,261,248 parameters. GPT-3: one of 50,257 × 12,288, and
    # 2,048 rows of positions.
    share = {name: float(columns[name]["cells"]["vocabulary"]["lines"][0]["params"]["percent"]) for name in TOLD}
    assert share["llama3"] == round(100 * 2 * 128_256 * 4096 / 8_030_261_248, 1)
    assert share["gpt3"] == round(100 * (50_257 + 2048) * 12_288 / 174.6e9, 1)
    assert columns["transformer"]["cells"]["context"]["lines"][0]["code"] == "context_open"


def test_sizes_are_the_catalogues_and_sums_of_their_products(columns: dict[str, dict]) -> None:
    for name, column in columns.items():
        found, spec = column["parameters"], sizes_of(COLUMNS[name])
        if name in CACHED:
            assert column["cache"]["bytes"] == 2 * CACHED[name], name
        if name == "transformer":
            assert (found["total"], found["published"]["total"]) == (None, 65_000_000)
            continue
        parts = [part for group in found["groups"] for part in group["parts"]]
        assert found["total"] == parameter_count(spec) == sum(part["weights"] for part in parts)
        for part in parts:
            assert max(1, part["layers"]) * part["copies"] * part["each"] == part["weights"]
            if part["how"]:
                written = part["how"].replace("×", "*").replace(",", "")
                assert eval(written, {"__builtins__": {}}) == part["each"], part  # our own sums, digits and signs
        published = found["published"]
        if published and published["exact"]:
            assert published["total"] == found["total"]
    assert columns["mixtral"]["parameters"]["active"] == 12_879_925_248


def test_the_feed_forward_holds_more_than_half_but_in_the_smallest(columns: dict[str, dict]) -> None:
    """As the panel's first line says."""
    least = []
    for name, column in columns.items():
        if column["parameters"]["total"] is None:
            continue
        of = {group["group"]: group["weights"] for group in column["parameters"]["groups"]}
        inside = sum(of.get(group, 0) for group in ("ffn", "experts", "shared_experts"))
        assert inside > of["attention"]
        if 2 * inside <= column["parameters"]["total"]:
            least.append(name)
    totals = {name: column["parameters"]["total"] or 10**12 for name, column in columns.items()}
    assert least == ["t5_1_1"] == [min(totals, key=totals.__getitem__)]


def test_the_configs_are_the_published_ones() -> None:
    for name, config in CONFIGS.items():
        if name in PUBLISHED:
            assert {field: PUBLISHED[name][field] for field in config} == config, name
    assert {column.name for column in COLUMNS.values()} == {*CONFIGS, "GPT-3 175B", "Transformer (2017)"}
    assert {name for name in CONFIGS if name not in catalogue()} == {"Flan-T5-small (1.1)"}


def test_every_view_begins_with_llama_and_every_column_is_in_one() -> None:
    assert all(view[0] == REFERENCE for view in VIEWS.values())
    assert {name for view in VIEWS.values() for name in view} == COLUMNS.keys()
    assert len({COLUMNS[name].family for name in VIEWS["eight"]}) == 8


def test_what_belongs_to_which_part() -> None:
    known = {"embedding.tied": "embedding", "unembedding": "embedding", "encoder.q_o": "attention", "cross.k_v":
             "attention", "encoder.ffn": "ffn", "biases.ffn": "rest", "router": "rest", "norms.cross": "rest",
             "attention.latents": "attention", "encoder.norms": "rest", "experts": "experts"}  # fmt: skip
    assert {label: group_of(label) for label in known} == known
