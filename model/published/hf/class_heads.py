"""How many K/V heads, and how wide a head, transformers' classes take where a file does not say.

The numbers are the classes' own fields (configuration_<model_type>.py of transformers 5.23). Vendors' classes that
transformers does not have are in none of these tables.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ..expected import any_of
from ..spec import AssumedHeads, HeadsOrigin
from .fields import Fields, refusal

# A number of K/V heads, also where the file counts other query heads than the class.
KV_HEADS = MappingProxyType(
    {
        "mistral": 8, "mixtral": 8, "qwen2": 32, "qwen2_moe": 16, "qwen3": 32, "qwen3_moe": 4, "gemma": 16, "gemma2": 4,
        "gemma3_text": 4, "gemma3n_text": 2, "gemma4_text": 4, "llama4_text": 8, "ministral": 8, "ministral3": 8,
        "smollm3": 4, "starcoder2": 2, "glm": 2, "glm4": 2, "seed_oss": 8, "exaone4": 32, "ernie4_5": 2,
        "internlm3": 2, "gpt_oss": 8, "glm4_moe": 8, "minimax_m2": 8, "ernie4_5_moe": 4, "phimoe": 8, "jamba": 8,
        "nemotron_h": 8, "falcon_h1": 8, "minimax": 8, "lfm2": 8, "lfm2_moe": 8, "qwen3_next": 2, "qwen3_5_text": 4,
        "qwen3_5_moe_text": 2, "qwen2_vl_text": 8, "qwen2_5_vl_text": 8, "qwen3_vl_text": 32, "qwen3_vl_moe_text": 16,
        "qwen2_vl": 8, "qwen2_5_vl": 8,  # with the text model's fields beside vision_config
    }
)  # fmt: skip
# As many as heads.
AS_HEADS = frozenset(
    {"llama", "granite", "granitemoehybrid", "phi", "phi3", "olmo", "olmo2", "olmo3", "olmoe", "cohere", "cohere2"}
    | {"hunyuan_v1_dense", "hunyuan_v1_moe"}
)
# Every head has K and V of its own, and no field says so.
EACH_OWN = frozenset({"baichuan", "gpt_neox"})
# Elsewhere a head is as wide as hidden_size / heads.
HEAD_DIM = MappingProxyType(
    {
        "gemma": 256, "gemma2": 256, "gemma3_text": 256, "gemma3n_text": 256, "gemma4_text": 256, "llama4_text": 128,
        "ministral3": 128, "qwen3": 128, "qwen3_vl_text": 128, "glm": 128, "glm4": 128, "seed_oss": 128,
        "ernie4_5": 128, "internlm3": 128, "gpt_oss": 64, "minimax_m2": 128, "nemotron_h": 128, "qwen3_next": 256,
        "qwen3_5_text": 256, "qwen3_5_moe_text": 256,
    }
)  # fmt: skip


# The classes that are known: they read a head's width from head_dim alone.
KNOWN = frozenset({*KV_HEADS, *AS_HEADS, *HEAD_DIM})


def class_heads(kind: str) -> dict[str, Any]:
    """What the class of a model_type takes for fields that a file leaves out, by the field's name."""
    tables = {"num_key_value_heads": KV_HEADS, "head_dim": HEAD_DIM}
    return {field: table[kind] for field, table in tables.items() if kind in table}


def assumed_heads(f: Fields, kind: str) -> AssumedHeads | None:
    """Where the K/V heads come from, None where the file counts them or where they follow from `kind`."""
    name = "num_key_value_heads"
    if f.path + name not in f.assumed or kind in EACH_OWN:
        return None
    origin: HeadsOrigin = "unknown"
    if name in f.raw:
        origin = "null"
    elif kind in KV_HEADS:
        origin = "class"
    elif kind in AS_HEADS:
        origin = "as_heads"
    return AssumedHeads(f.path + name, origin, kind)


def assumed_width(f: Fields, kind: str) -> AssumedHeads | None:
    """That a head is as wide as the class of `kind` has it, None where the file states it."""
    return AssumedHeads(f.path + "head_dim", "class", kind) if f.path + "head_dim" in f.assumed else None


def text_part(f: Fields, *kinds: str, defaults: Mapping[str, Any] = MappingProxyType({})) -> Fields:
    """The text model under text_config, which is one of `kinds`, the first where it does not say.

    What it leaves out is what the class of its own model_type takes, and what `defaults` say besides.
    """
    text = f.part("text_config")
    kind = text.get("model_type", default=kinds[0])
    if kind not in kinds:
        raise refusal(f"{text.path}model_type", kind, any_of(kinds))
    return f.inner({**text.raw, "model_type": kind}, "text_config", {**class_heads(kind), **defaults})
