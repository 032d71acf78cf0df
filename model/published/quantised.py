"""How a checkpoint's weights are stored, as the quantization_config of its config.json says. Plain data, no torch.

What is not read is said by its name, never passed over (UnreadError). Layouts as in transformers 5.23 and in the
libraries that write the files: AutoGPTQ and GPTQModel (qweight, qzeros, scales, g_idx), AutoAWQ (without g_idx),
bitsandbytes 0.49 (QuantState, SCB), compressed-tensors 0.13, ModelOpt (weight_scale, weight_scale_2, input_scale), and
DeepSeek-V3's README_WEIGHTS.md (weight_scale_inv).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from ..errors import shortly
from .parameters import weight_parts
from .spec import ModelSpec, QuantSpec

MOST_ENTRIES = 20_000
# Modules that no method quantises here, by what their names hold: a file that excepts them says nothing new.
_NEVER = ("lm_head", "embed", "norm", "router", "visual", "vision", "audio", "multi_modal", "sinks", "rotary", "wte",
          "layernorm", "ln_", "head", "merger", "projector")  # fmt: skip
_ROUTERS = ("gate", "mlp.gate", "block_sparse_moe.gate", "shared_expert_gate", "mlp.shared_expert_gate")
_BLOCKS = ("layers", "h", "blocks", "block")


class UnreadError(Exception):
    """Why a quantization_config is not counted."""


@dataclass(frozen=True)
class _Raw:
    """One object of the file; each method reads a field and refuses a wrong value by its name."""

    fields: Mapping[str, Any]

    def count(self, name: str, default: int | None = None, low: int = 1, high: int = 2**20) -> int:
        value = self.fields.get(name, default)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise UnreadError(f"its {name} is {shortly(value)}")
        return value

    def flag(self, name: str, default: bool) -> bool:
        value = self.fields.get(name, default)
        if not isinstance(value, bool):
            raise UnreadError(f"its {name} is {shortly(value)}")
        return value

    def names(self, *fields: str) -> list[str]:
        """The first of these lists of module names that is there."""
        for name in fields:
            value = self.fields.get(name)
            if value is not None:
                if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
                    raise UnreadError(f"its {name} is no list of names")
                return value[:MOST_ENTRIES]
        return []

    def group(self, name: str = "group_size", default: int | None = None) -> int | None:
        """Inputs that share a scale; None for all of them."""
        return None if self.fields.get(name, default) in (-1, None) else self.count(name, default)


# Number types that a config.json may name, and what the calculators call them.
NUMBER_TYPES: Mapping[str, str] = MappingProxyType({"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"})


def number_type_of(config: Mapping[str, Any]) -> str:
    """The number type that the file names as dtype or, as before transformers 4.56, torch_dtype; "" where it names
    none of NUMBER_TYPES."""
    inner = config.get("text_config")
    for fields in (config, inner if isinstance(inner, Mapping) else {}):
        for name in ("dtype", "torch_dtype"):
            named = fields.get(name)
            if isinstance(named, str) and (plain := named.removeprefix("torch.")) in NUMBER_TYPES:
                return plain
    return ""


def quantised_of(config: Mapping[str, Any]) -> QuantSpec | None:
    """How the weights are stored; None where the file does not say. Raises UnreadError for what is not counted."""
    inner = config.get("text_config")
    given = config.get("quantization_config") or config.get("compression_config")
    if not given and isinstance(inner, Mapping):
        given = inner.get("quantization_config")
    if not given:
        return None
    if not isinstance(given, Mapping):
        raise UnreadError("it is no object")
    method = given.get("quant_method")
    if method is None and "quant_algo" in _of_modelopt(given):
        method = "modelopt"
    raw = _Raw(_of_modelopt(given) if method in _MODELOPT else given)
    if method is None and (given.get("load_in_4bit") or given.get("load_in_8bit")):
        method = "bitsandbytes"
    reader = _READERS.get(method) if isinstance(method, str) else None
    if reader is None:
        raise UnreadError(f"quant_method {shortly(method)} is none of {', '.join(_READERS)}")
    return reader(raw)


def cache_note(config: Mapping[str, Any]) -> str:
    """That the checkpoint asks for a cache in fewer bits, and which format of the calculator's that is; "" where it
    does not. app/remarks.py has the Chinese of it."""
    inner = config.get("text_config")
    places = (config, inner if isinstance(inner, Mapping) else {})
    given = next((one for place in places if isinstance(one := place.get("quantization_config"), Mapping)), {})
    scheme, algo = given.get("kv_cache_scheme"), _of_modelopt(given).get("kv_cache_quant_algo")
    if isinstance(algo, str) and algo.upper() in _CACHES:
        said, name = f"kv_cache_quant_algo {algo.upper()}", _CACHES[algo.upper()]
    elif isinstance(scheme, Mapping) and (scheme.get("num_bits"), scheme.get("type")) == (8, "float"):
        said, name = "kv_cache_scheme: float, 8 bits", "fp8"
    else:
        return ""
    return f"The checkpoint asks for a cache in {name} ({said}), which vLLM's auto takes: choose {name} as the format."


# What ModelOpt calls the cache's formats, and the calculator.
_CACHES: Mapping[str, str] = MappingProxyType({"FP8": "fp8", "NVFP4": "nvfp4"})
_MODELOPT = ("modelopt", "modelopt_fp4")


def _of_modelopt(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """ModelOpt's fields, which hf_quant_config.json has one level deeper than config.json."""
    inner = given.get("quantization")
    return inner if isinstance(inner, Mapping) else given


def _modelopt(raw: _Raw) -> QuantSpec:
    """4 bits with an e4m3 scale for 16 inputs, or e4m3; two fp32 scales a matrix, of its weights and of its inputs."""
    algo, kept = raw.fields.get("quant_algo"), exceptions(raw.names("ignore", "exclude_modules"))
    alone = _experts_alone(kept)
    if algo not in ("NVFP4", "FP8"):
        raise UnreadError(f"its quant_algo is {shortly(algo)}")
    one = QuantSpec("fp8", 8, group_in=None, group_out=None, scale_bytes=4, each_bytes=4)
    if algo == "NVFP4":
        one = QuantSpec("nvfp4", 4, group_in=raw.count("group_size", 16), scale_bytes=1, each_bytes=8)
    return replace(one, experts_alone=alone, kept=() if alone else kept)


def _mxfp4(raw: _Raw) -> QuantSpec:
    """The experts alone: 32 weights share an 8-bit scale (transformers' Mxfp4GptOssExperts)."""
    kept = exceptions(raw.names("modules_to_not_convert"))
    return QuantSpec("mxfp4", 4, group_in=32, scale_bytes=1, experts_alone=True, kept=kept)


def _fp8(raw: _Raw) -> QuantSpec:
    """e4m3 with an fp32 scale for each block of outputs × inputs, or for each matrix."""
    kept, block = exceptions(raw.names("modules_to_not_convert", "ignored_layers")), raw.fields.get("weight_block_size")
    if block is None:
        activation = 4 if raw.fields.get("activation_scheme") == "static" else 0
        return QuantSpec("fp8", 8, group_in=None, group_out=None, scale_bytes=4, each_bytes=activation, kept=kept)
    good = isinstance(block, list) and len(block) == 2
    if not good or not all(isinstance(n, int) and not isinstance(n, bool) and n > 0 for n in block):
        raise UnreadError(f"its weight_block_size is {shortly(block)}")
    return QuantSpec(f"fp8 {block[0]}×{block[1]}", 8, group_in=block[1], group_out=block[0], scale_bytes=4, kept=kept)


def _gptq(raw: _Raw) -> QuantSpec:
    """Integers with a 16-bit scale and a zero point a group, and which group each input belongs to (g_idx, 32 bits)."""
    for name in ("lm_head", "dynamic"):
        if raw.fields.get(name):
            raise UnreadError(f"its {name} is set")
    bits, group = raw.count("bits", low=2, high=8), raw.group(default=128)
    wanted = raw.fields.get("modules_in_block_to_quantize") or []
    if not isinstance(wanted, list):
        raise UnreadError("its modules_in_block_to_quantize is no list")
    only = tuple(dict.fromkeys(str(name) for one in wanted for name in (one if isinstance(one, list) else [one])))
    kept = exceptions(raw.names("modules_to_not_convert"))
    return QuantSpec(_name("gptq", bits, group), bits, group, zero_bits=bits, order=True, only=only, kept=kept)


def _awq(raw: _Raw) -> QuantSpec:
    bits = raw.count("bits", raw.fields.get("w_bit", 4), low=2, high=8)
    group = raw.group("group_size", raw.fields.get("q_group_size", 128))
    zeros = bits if raw.flag("zero_point", True) else 0
    kept = exceptions(raw.names("modules_to_not_convert"))
    return QuantSpec(_name("awq", bits, group), bits, group, zero_bits=zeros, kept=kept)


def _bitsandbytes(raw: _Raw) -> QuantSpec:
    """4 bits with a scale for 64 weights, itself in 8 bits under double quantisation; or int8 with one an output."""
    kept = exceptions(raw.names("llm_int8_skip_modules"))
    if raw.flag("load_in_4bit", False):
        nested, kind = raw.flag("bnb_4bit_use_double_quant", False), raw.fields.get("bnb_4bit_quant_type", "fp4")
        if kind not in ("nf4", "fp4"):
            raise UnreadError(f"its bnb_4bit_quant_type is {shortly(kind)}")
        scale, share = (1, 256) if nested else (4, 0)
        # 16 values that the codes stand for, in fp32; with double quantisation the 256 of the scales, and their mean.
        tables = 64 + (1024 + 4 if nested else 0)
        name = f"bitsandbytes {kind}" + (" + double quant" if nested else "")
        return QuantSpec(name, 4, flat=64, scale_bytes=scale, nested=share, each_bytes=tables, kept=kept)
    if not raw.flag("load_in_8bit", False):
        raise UnreadError("it names neither load_in_4bit nor load_in_8bit")
    return QuantSpec("bitsandbytes int8", 8, group_in=None, scale_bytes=4, kept=kept)


def _compressed(raw: _Raw) -> QuantSpec:
    """One scheme for all linear layers."""
    groups = raw.fields.get("config_groups")
    if not isinstance(groups, Mapping) or len(groups) != 1:
        raise UnreadError(
            f"it has {len(groups) if isinstance(groups, Mapping) else 'no'} config_groups, and one is read"
        )
    group = next(iter(groups.values()))
    weights = group.get("weights") if isinstance(group, Mapping) else None
    if not isinstance(weights, Mapping):
        raise UnreadError("its config_groups quantise no weights")
    if group.get("targets") != ["Linear"]:
        raise UnreadError(f"its targets are {shortly(group.get('targets'))}, and all Linear ones are read")
    one, kind, strategy = _Raw(weights), weights.get("type", "int"), weights.get("strategy")
    bits, form = one.count("num_bits", low=2, high=8), str(group.get("format") or raw.fields.get("format"))
    packed = form.startswith("pack-quantized")
    zeros = 0 if kind == "float" or one.flag("symmetric", True) else (bits if packed else 8)
    kept = exceptions(raw.names("ignore"))
    alone = _experts_alone(kept)
    spec = QuantSpec(f"{kind}{bits}", bits if packed or kind == "float" else 8, zero_bits=zeros, experts_alone=alone,
                     each_bytes=16 if packed else 0, kept=() if alone else kept)  # fmt: skip
    if strategy == "tensor_group" and bits == 4:
        return replace(spec, name="nvfp4", group_in=one.count("group_size"), scale_bytes=1, each_bytes=4)
    if strategy == "group":
        mx = "mxfp4" in form
        return replace(spec, name=_name("mxfp" if mx else kind, bits, one.group()), group_in=one.group(),
                       scale_bytes=1 if mx else 2)  # fmt: skip
    if strategy == "channel":
        return replace(spec, name=f"{spec.name} a channel", group_in=None)
    if strategy == "tensor":
        return replace(spec, name=f"{spec.name} a tensor", group_in=None, group_out=None)
    block = weights.get("block_structure")
    if strategy == "block" and isinstance(block, list) and len(block) == 2:
        rows, columns = (_Raw({"block_structure": n}).count("block_structure") for n in block)
        return replace(spec, name=f"{spec.name} {rows}×{columns}", group_in=columns, group_out=rows)
    raise UnreadError(f"its strategy is {shortly(strategy)}")


def _name(kind: str, bits: int, group: int | None) -> str:
    return f"{kind} {bits} bits, " + (f"groups of {group}" if group else "one group a column")


_READERS = {
    "mxfp4": _mxfp4,
    "fp8": _fp8,
    "gptq": _gptq,
    "awq": _awq,
    "bitsandbytes": _bitsandbytes,
    "compressed-tensors": _compressed,
    **dict.fromkeys(_MODELOPT, _modelopt),
}


def exceptions(names: list[str]) -> tuple[tuple[int, str], ...]:
    """Which modules stay in 16 bits: (layer, module), layer -1 for every one.

    Raises UnreadError for a pattern that is no name: a visitor's regular expression is never run.

    A name counts from the beginning or to the end of a module's own, as in transformers' should_convert_module; of
    regular expressions those are read that are a name after “.*”, or with \\d+ or .* for the number of a layer, or with
    one choice between words, (gate|up).
    """
    found = {}
    for entry in (one for name in names for one in _choices(name)):
        name = entry.removeprefix("re:").strip("^$").replace("\\d+", "*").replace("[0-9]+", "*").replace("\\", "")
        name = name.removeprefix(".*").strip("*.")
        layer, rest = -1, name.split(".")
        at = next((i for i, word in enumerate(rest) if word in _BLOCKS), None)
        if at is not None and at + 1 < len(rest):
            number, rest = rest[at + 1], rest[at + 2 :]
            layer = int(number) if number.isascii() and number.isdigit() and len(number) < 6 else -1
            if layer < 0 and number != "*":
                raise UnreadError(f"it excepts {shortly(entry)}, and no pattern but a layer's number is read")
        module = ".".join(rest)
        if any(mark in module for mark in "*()[]{}|+?") or (not module and layer < 0):
            raise UnreadError(f"it excepts {shortly(entry)}, and no pattern but a layer's number is read")
        if module not in _ROUTERS and not any(word in module for word in _NEVER):
            found[layer, module] = None
    return tuple(found)


def _choices(pattern: str) -> list[str]:
    """A regular expression with one choice between words, (gate|up), as one for each; any other as it is."""
    before, opened, rest = pattern.partition("(")
    words, closed, after = rest.partition(")")
    chosen = words.split("|")
    plain = all(word.replace("_", "").isalnum() for word in chosen)
    if not (opened and closed and plain) or after.startswith(("+", "*", "?", "{")):
        return [pattern]
    return [f"{before}{word}{after}" for word in chosen]


def _experts_alone(kept: tuple[tuple[int, str], ...]) -> bool:
    """Whether attention, shared experts and the ordinary feed-forward of every layer are excepted: what is left are
    the routed experts (Kimi K3)."""
    names = {module for layer, module in kept if layer < 0}
    return {"self_attn", "shared_experts", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"} <= names


def quantised_note(spec: ModelSpec) -> str:
    """What a reader of the weights should know of how a config.json says that they are stored; "" where it says none.

    app/remarks.py has the Chinese of it.
    """
    if spec.quantised_unread:
        return (
            "The checkpoint is quantised, in a way that is not counted (quantization_config): "
            f"{spec.quantised_unread}. The weights count in the format chosen, else in bf16."
        )
    if spec.quantised is None:
        return ""
    kept = "all but the experts" if spec.quantised.experts_alone else "embeddings, norms, routers and output layer"
    return (
        f"The checkpoint is quantised (quantization_config): {spec.quantised.name}; {kept} in 16 bits. "
        "The weights count so unless another format is chosen."
    )


def stored_note(spec: ModelSpec) -> str:
    """As `quantised_note`; where nothing is quantised, which number type config.json names."""
    if (note := quantised_note(spec)) or not spec.number_type:
        return note
    return f"config.json names {spec.number_type}. The weights count so unless another format is chosen."


def check_counted(spec: ModelSpec, quant: QuantSpec) -> None:
    """Raises UnreadError where the shapes of a matrix that is quantised are not known, or a module that is named is."""
    parts = weight_parts(spec, mtp=True)
    unknown = [part.label for part in parts if part.kind == "matrix" and not part.matrices and part.label != "mtp"]
    if unknown and not quant.experts_alone:
        raise UnreadError(f"the shapes of {', '.join(dict.fromkeys(unknown))} are not known matrix by matrix")
    modules = {matrix.module for part in parts for matrix in part.matrices}
    for name in dict.fromkeys([*quant.only, *(name for _, name in quant.kept)]):
        if not any(names_module(name, module) for module in modules):
            raise UnreadError(f"it names {shortly(name)}, which is no module that is counted")


def names_module(given: str, module: str) -> bool:
    """Whether `given` names the module, one that holds it, or its end."""
    inside = not given or module == given or module.startswith(f"{given}.")
    return inside or module.endswith(f".{given}") or f".{given}." in f".{module}."


def ceil_of(number: int, share: int | None) -> int:
    """How many groups of `share` there are; one where `share` is None."""
    return 1 if share is None else -(-number // share)
