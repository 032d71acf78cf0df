"""What llama.cpp prints of the model itself: `print_info: n_layer = 32`, until 2025 `llm_load_print_meta: …`.

Formats (ggml-org/llama.cpp): src/llama-model.cpp, llama_model::print_info. The loader prints the file's metadata before
it (`- kv 2: llama.block_count u32 = 32`), whose keys are named here beside the printed ones.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from .facts import Conflict
from .lines import Found, LogLines, pattern

_PRINTED = pattern(r"(?:print_info|llm_load_print_meta): (?P<name>[\w.]{2,24}) {0,20}= (?P<value>[^\n]{1,100})")
_METADATA = pattern(
    r"\bkv {1,4}\d{1,4}: {1,60}(?P<name>[\w-]{1,30}\.[\w.-]{1,60}) (?:u32|u64|i32|i64) {1,30}= (?P<value>\d{1,12})"
)
# The name that is printed, and the key of the metadata without the architecture before it.
KEYS: Mapping[str, str] = MappingProxyType(
    {
        "n_layer": "block_count",
        "n_head": "attention.head_count",
        "n_head_kv": "attention.head_count_kv",
        "n_embd_head_k": "attention.key_length",
        "n_embd_head_v": "attention.value_length",
        "n_embd_head_k_mla": "attention.key_length_mla",
        "n_embd_head_v_mla": "attention.value_length_mla",
        "n_embd": "embedding_length",
        "n_ctx_train": "context_length",
        "n_ff": "feed_forward_length",
        "n_vocab": "vocab_size",
        "n_rot": "rope.dimension_count",
        "n_swa": "attention.sliding_window",
        "n_expert": "expert_count",
        "n_expert_used": "expert_used_count",
        "n_expert_shared": "expert_shared_count",
        "n_ff_exp": "expert_feed_forward_length",
        "n_ff_shexp": "expert_shared_feed_forward_length",
        "n_layer_dense_lead": "leading_dense_block_count",
        "n_lora_q": "attention.q_lora_rank",
        "n_lora_kv": "attention.kv_lora_rank",
    }
)
# Both state these, and may not differ. A printed width of heads or experts may be one that the code worked out.
_SAME = ("n_layer", "n_head", "n_head_kv", "n_embd_head_k", "n_embd_head_v", "n_embd", "n_ctx_train")
_DRAFTING = "nextn_predict_layers"  # newer versions leave these layers out of n_layer


def printed_info(lines: LogLines) -> dict[str, Found]:
    """Each name that is printed with its first value: a second model, such as one that drafts, prints them again."""
    found: dict[str, Found] = {}
    for one in lines.all(_PRINTED):
        found.setdefault(one["name"], one)
    return found


def metadata_of(printed: Mapping[str, Found], architecture: str = "") -> dict[str, object]:
    """GGUF metadata that says the same, as far as it goes, of the architecture that is printed where none is given;
    {} without either, and of lines that break off before the K/V heads: as many as heads would be a guess."""
    name = architecture or (printed["arch"]["value"].strip() if "arch" in printed else "")
    if not name or ("n_head" in printed and "n_head_kv" not in printed):
        return {}
    found: dict[str, object] = {"general.architecture": name}
    for own, key in KEYS.items():
        if (one := printed.get(own)) and (value := one["value"].strip()).isdigit() and int(value):
            found[f"{name}.{key}"] = int(value)
    if "general.name" in printed:
        found["general.name"] = printed["general.name"]["value"].strip()
    return found


def contradictions(lines: LogLines, printed: Mapping[str, Found]) -> Iterator[Conflict]:
    """Where the file's metadata and what the loader prints of it are two models."""
    metadata: dict[str, Found] = {}
    for one in lines.all(_METADATA):
        metadata.setdefault(one["name"].partition(".")[2], one)
    drafting = int(metadata[_DRAFTING]["value"]) if _DRAFTING in metadata else 0
    for name in _SAME:
        one, other = printed.get(name), metadata.get(KEYS[name])
        if one is None or other is None or not one["value"].strip().isdigit():
            continue
        value, kept = int(one["value"]), int(other["value"])
        if value != kept and not (name == "n_layer" and value == kept - drafting):
            yield Conflict(f"{name} = {value:,}", one.line, f"{other['name']} = {kept:,}", other.line)
