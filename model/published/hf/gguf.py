"""GGUF metadata as a config.json: what llama.cpp's loader logs, gguf-dump prints, or Hugging Face shows as JSON.

Keys are those of gguf-py (gguf/constants.py) as convert_hf_to_gguf.py writes them. Translated are the architectures
whose keys tell the whole shape; what llama.cpp's own code adds (Gemma's window pattern) the families' readers add, too.
Metadata says nothing of tied embeddings; a list of tensors does, by output.weight.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from ...errors import GlassLlamaError
from ..expected import expected
from .fields import MAX_COUNT, missing, refusal

_COMMON = {
    "num_hidden_layers": "block_count",
    "max_position_embeddings": "context_length",
    "hidden_size": "embedding_length",
    "intermediate_size": "feed_forward_length",
    "num_attention_heads": "attention.head_count",
    "num_key_value_heads": "attention.head_count_kv",
    "head_dim": "attention.key_length",
    "rope_theta": "rope.freq_base",
    "rms_norm_eps": "attention.layer_norm_rms_epsilon",
    "vocab_size": "vocab_size",
}
_WINDOW = {"sliding_window": "attention.sliding_window"}
_EXPERTS = {"num_experts": "expert_count", "num_experts_per_tok": "expert_used_count"}
_WIDTH = {"moe_intermediate_size": "expert_feed_forward_length"}
_SHARED = {"shared_expert_intermediate_size": "expert_shared_feed_forward_length"}
_DEEPSEEK = {
    "n_routed_experts": "expert_count",
    "num_experts_per_tok": "expert_used_count",
    "n_shared_experts": "expert_shared_count",
    "first_k_dense_replace": "leading_dense_block_count",
    "n_group": "expert_group_count",
    "topk_group": "expert_group_used_count",
    **_WIDTH,
}
_LATENTS = {"kv_lora_rank": "attention.kv_lora_rank", "q_lora_rank": "attention.q_lora_rank"}
_LATENTS |= {"qk_rope_head_dim": "rope.dimension_count"}
_LAYER_NORM = {"layer_norm_eps": "attention.layer_norm_epsilon"}


@dataclass(frozen=True)
class _Architecture:
    """The model_type that an architecture is, what it names besides _COMMON, and what its code takes for granted."""

    model_type: str
    names: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    tied: bool = False


_MROPE = {"rope_scaling": {"type": "mrope"}}
ARCHITECTURES: Mapping[str, _Architecture] = MappingProxyType(
    {
        "llama": _Architecture("llama"),  # with experts: Mixtral
        "qwen2": _Architecture("qwen2"),
        "qwen2moe": _Architecture("qwen2_moe", _EXPERTS | _WIDTH | _SHARED),
        "qwen2vl": _Architecture("qwen2_vl", fixed=_MROPE),
        "qwen3": _Architecture("qwen3"),
        "qwen3moe": _Architecture("qwen3_moe", _EXPERTS | _WIDTH | _SHARED),
        "qwen3vl": _Architecture("qwen3", fixed=_MROPE),
        "qwen3vlmoe": _Architecture("qwen3_moe", _EXPERTS | _WIDTH, _MROPE),
        "gemma": _Architecture("gemma", tied=True),
        "gemma2": _Architecture("gemma2", _WINDOW, tied=True),
        "gemma3": _Architecture("gemma3_text", _WINDOW, tied=True),
        "phi2": _Architecture("phi", _LAYER_NORM),
        "phi3": _Architecture("phi3", _WINDOW),
        "deepseek": _Architecture("deepseek", _DEEPSEEK),
        "deepseek2": _Architecture("deepseek_v2", _DEEPSEEK | _LATENTS),  # or V3, by its gating
        "gpt-oss": _Architecture("gpt_oss", _EXPERTS | _WINDOW),
        "granite": _Architecture("granite"),
        "olmo2": _Architecture("olmo2", _WINDOW),  # with a window: OLMo 3
        "olmoe": _Architecture("olmoe", _EXPERTS),
        "smollm3": _Architecture("smollm3"),
        "cohere2": _Architecture("cohere2", _LAYER_NORM | _WINDOW, tied=True),
        "internlm2": _Architecture("internlm2"),
        "minimax-m2": _Architecture("minimax_m2", _EXPERTS),
        "ernie4_5": _Architecture("ernie4_5"),
        "seed_oss": _Architecture("seed_oss"),
    }
)
# Keys that change neither the cache nor the count of weights, by how they begin.
_HARMLESS = (
    "rope.", "attention.layer_norm", "attention.value_length", "attention.scale", "attention.causal",
    "attention.key_length_mla", "attn_logit_softcapping", "final_logit_softcapping", "logit_scale", "residual_scale",
    "embedding_scale", "expert_weights", "expert_gating_func", "expert_feed_forward_length", "expert_group",
    "nextn_predict_layers", "n_deepstack_layers", "tensor_data_layout", "use_parallel_residual",
)  # fmt: skip
PLACE = "general.architecture"
_LINES = (
    re.compile(r"\bkv\s+\d+:\s+(?P<key>\S+)\s+(?:[uif]\d+|bool|str|arr\[\w+,\s*(?P<count>\d+)\])\s*=\s*(?P<value>.*)"),
    re.compile(r"^\s*\d+:\s+(?P<kind>\[?\w+\]?)\s*\|\s*(?P<count>\d+)\s*\|\s*(?P<key>\S+)\s*=\s*(?P<value>.*)"),
    re.compile(r"^\s*[\"']?(?P<key>[\w-]+(?:\.[\w-]+)+)[\"']?\s*(?:[:=]\s*|\s)(?P<value>\S.*?),?$"),
)
# Each is matched against one line, and reads it once from left to right: no text takes time that grows faster than it.
_TENSOR = re.compile(r"\s*\d+:.*\|\s*(?P<name>[\w.]+\.weight)\s*")
_OUTPUT = re.compile(r"(?<![\w.])output\.weight(?![\w.])")
MAX_LINES = 10_000  # a dump of the largest models has some 2,000: a line for each key and each tensor


def metadata_of(given: Mapping[str, Any]) -> dict[str, Any] | None:
    """The metadata in parsed JSON, as {key: value}: flat, or under "metadata", a value or {"value": …}; else None."""
    inner = given.get("metadata")
    flat = inner if isinstance(inner, Mapping) and PLACE in inner else given
    if PLACE not in flat:
        return None
    plain = {key: one.get("value") if isinstance(one, Mapping) else one for key, one in flat.items()}
    plain.pop("tensors", None)
    tensors = given.get("tensors", given.get("tensorInfos"))
    if isinstance(tensors, Mapping | list) and tensors:
        plain["tensors"] = [one.get("name") if isinstance(one, Mapping) else one for one in tensors]
    return plain


def metadata_in(text: str) -> dict[str, Any] | None:
    """The metadata in printed lines, as {key: value}; None where no line names an architecture.

    Raises GlassLlamaError for more than MAX_LINES lines.
    """
    lines = text.splitlines()
    if len(lines) > MAX_LINES:
        raise refusal("lines", len(lines), expected("at_most_lines", value=MAX_LINES))
    found: dict[str, Any] = {}
    for line in lines:
        match = next((match for pattern in _LINES if (match := pattern.search(line))), None)
        if match:
            parts = match.groupdict()
            listed = parts.get("count") and (parts.get("kind") is None or parts["kind"].startswith("["))
            found.setdefault(parts["key"], _Listed(int(parts["count"])) if listed else _value(parts["value"]))
    if PLACE not in found:
        return None
    if tensors := [match["name"] for match in map(_TENSOR.fullmatch, lines) if match]:
        found["tensors"] = tensors
    elif any(map(_OUTPUT.search, lines)):  # some list of tensors in another form: no end of it is known, but this is
        found["tensors"] = ["output.weight"]
    return found


def json_of(metadata: Mapping[str, Any]) -> str:
    """Metadata as JSON that is read as the same model, without what no reader takes; "" where a list of the shape is
    not printed whole."""
    name = metadata[PLACE]
    kept = {
        key: value for key, value in metadata.items() if key.startswith(f"{name}.") or key in (PLACE, "general.name")
    }
    if any(isinstance(value, _Listed) for value in kept.values()):
        return ""
    tokens = metadata.get("tokenizer.ggml.tokens")
    if f"{name}.vocab_size" not in kept and tokens is not None:
        kept[f"{name}.vocab_size"] = len(tokens) if isinstance(tokens, list) else getattr(tokens, "length", 0)
    if "tensors" in metadata:
        kept["tensors"] = [one for one in ("token_embd.weight", "output.weight") if one in metadata["tensors"]]
    return json.dumps(kept, ensure_ascii=False)


@dataclass(frozen=True)
class _Listed:
    """A list of which only the length is printed."""

    length: int


def _value(text: str) -> Any:
    text = text.strip()
    try:
        return json.loads(text.lower() if text.lower() in ("true", "false") else text)
    except (ValueError, RecursionError):
        return text.strip("'\"")


class Translated(NamedTuple):
    """Metadata as a config.json.

    `config`: what one of the same model would state. `keys`: by which key each of its fields stands in the metadata.
    `unread`: what is wrong with each key that changes the shape and is not read, by the key's name.
    """

    config: dict[str, Any]
    keys: dict[str, str]
    unread: list[GlassLlamaError]


def config_of(metadata: Mapping[str, Any]) -> Translated:
    """The metadata as a config.json. Its architecture is to be one of ARCHITECTURES.

    Raises GlassLlamaError for a width of V that is not K's, and for an MLA without widths.
    """
    name = metadata[PLACE]
    kind = ARCHITECTURES[name]
    names = _COMMON | dict(kind.names)
    if name == "llama" and _get(metadata, f"{name}.expert_count"):
        kind = _Architecture("mixtral", {"num_local_experts": "expert_count"})
        names |= {**kind.names, "num_experts_per_tok": "expert_used_count"}
    keys = {one: f"{name}.{key}" for one, key in names.items()}
    config = {"model_type": kind.model_type, **{field: _get(metadata, key) for field, key in keys.items()}}
    config |= kind.fixed
    unread = list(_unread(metadata, name, keys))
    if not config["vocab_size"]:
        tokens = metadata.get("tokenizer.ggml.tokens")
        config["vocab_size"] = len(tokens) if isinstance(tokens, list) else getattr(tokens, "length", None)
        keys["vocab_size"] = "tokenizer.ggml.tokens"
    config |= dict(_particular(metadata, name, config))
    eps = [field for field in config if field.endswith("_eps") and config[field] == 0]  # a log rounds them to 0
    # llama.cpp takes these two from the count of heads where they are missing, whatever transformers' class takes.
    kept = ("num_key_value_heads", "head_dim")
    stated = {f: value for f, value in config.items() if (value is not None or f in kept) and f not in eps}
    return Translated(stated, keys, unread)


def told_by_keys(error: GlassLlamaError, keys: Mapping[str, str]) -> tuple[str, str]:
    """What is wrong with a translated config, and the field that it is about, by the metadata's own `keys`."""
    field = str(error.params.get("field"))
    key = keys.get(field, field)
    return str(error).replace("config.json:", "GGUF:").replace(field, key), key


def tied_of(metadata: Mapping[str, Any]) -> bool | None:
    """Whether the output reuses the embedding; None where neither the architecture nor a list of tensors says so."""
    if ARCHITECTURES[metadata[PLACE]].tied:
        return True
    return "output.weight" not in metadata["tensors"] if "tensors" in metadata else None


def _get(metadata: Mapping[str, Any], key: str) -> Any:
    """The key's value; in the place of a list of which only the length is printed words, which no reader takes."""
    value = metadata.get(key)
    return f"a list of {value.length}" if isinstance(value, _Listed) else value


def _whole(value: Any) -> int:
    """A count of things, and 0 for all else, which the family's reader then refuses by its name."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MAX_COUNT else 0


def _unread(metadata: Mapping[str, Any], name: str, keys: Mapping[str, str]) -> Iterator[GlassLlamaError]:
    known = set(keys.values())
    for key, value in metadata.items():
        own = key.removeprefix(f"{name}.")
        if own != key and key not in known and not own.startswith(_HARMLESS) and value not in (0, False, None):
            shown = f"a list of {value.length}" if isinstance(value, _Listed) else value
            yield refusal(key, shown, expected("gguf_absent", architecture=name))


def _particular(metadata: Mapping[str, Any], name: str, config: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What follows from several keys at once."""
    layers, ahead = _whole(config["num_hidden_layers"]), _whole(metadata.get(f"{name}.nextn_predict_layers"))
    if layers and ahead:  # llama.cpp counts the layers that draft among the blocks
        yield "num_hidden_layers", layers - ahead
    kind, rotated = _get(metadata, f"{name}.rope.scaling.type"), _get(metadata, f"{name}.rope.dimension_count")
    if kind not in (None, "none") and "rope_scaling" not in config:
        original = _get(metadata, f"{name}.rope.scaling.original_context_length")
        factor = _get(metadata, f"{name}.rope.scaling.factor")
        yield "rope_scaling", {"type": kind, "factor": factor, "original_max_position_embeddings": original}
    if name == "deepseek2":
        yield from _latents(metadata, name, rotated)
        return
    width = _whole(config["head_dim"]) or _whole(config["hidden_size"]) // (_whole(config["num_attention_heads"]) or 1)
    if width and (value := _get(metadata, f"{name}.attention.value_length")) not in (None, width):
        raise refusal(f"{name}.attention.value_length", value, expected("exactly", value=width))
    if 0 < _whole(rotated) < width:
        yield "partial_rotary_factor", rotated / width
    if name == "olmo2" and config["sliding_window"]:
        yield "model_type", "olmo3"
    if name in ("gpt-oss", "minimax-m2", "olmoe"):  # every layer has experts, as wide as this
        own = _get(metadata, f"{name}.expert_feed_forward_length")
        yield "intermediate_size", own or config["intermediate_size"]


def _latents(metadata: Mapping[str, Any], name: str, rotated: Any) -> Iterator[tuple[str, Any]]:
    """MLA's widths; newer files name those of the absorbed form key_length and value_length, and these ones "_mla"."""
    for part, mine in (("key", "qk_nope_head_dim"), ("value", "v_head_dim")):
        plain, mla = (f"{name}.attention.{part}_length{end}" for end in ("", "_mla"))
        width = _get(metadata, mla) or _get(metadata, plain)
        if not _whole(width):
            raise missing(plain, expected("whole", low=1, high=MAX_COUNT))
        yield mine, width - _whole(rotated) if part == "key" else width
    if _get(metadata, f"{name}.expert_gating_func") == 2:  # sigmoid
        yield "model_type", "deepseek_v3"
