"""The parts of a config.json that most families state alike: heads, kinds of layers, RoPE, tied embeddings."""

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ...errors import GlassLlamaError
from ..expected import expected
from ..spec import AttentionSpec, LayerKind, PositionSpec, ScalingSpec
from ..unstated import Unstated
from .class_heads import KNOWN
from .fields import Fields, refusal
from .sizes import Heads, rope_base, rope_part, rope_share

_LAYER_TYPES: Mapping[str, LayerKind] = MappingProxyType(
    {"full_attention": "full", "sliding_attention": "sliding", "chunked_attention": "chunked"}
)
# As kv_heads, n_kv_head, num_key_value_head, numKeyValueHeads, and names of other families, without what parts words.
_COUNTS_KV_HEADS = re.compile(
    r"(num|n)?(of)?(attention|attn)?(kv|keyvalues?)(attention|attn)?(num|n)?heads?(num|count)?"
    r"|n?heads?kv|(num|n)?(query|kv|attention)groups|multiquerygroupnum|(num|n)(key|value)s?heads?"
)
# How near a misspelling is to num_key_value_heads, as num_key_vaule_heads. Nearest of the fields that files do have is
# swa_num_key_value_heads, with 0.91.
_MISSPELT = 0.92
# As headDim, head_dims, attention_head_dim, head_size, dim_head.
_WIDTH_OF_A_HEAD = re.compile(
    r"(attention|attn|per)?heads?(dims?|dimensions?|size|width)|(dim|size)(per)?heads?|dheads?"
)
# A head's width by the names of other classes. A misspelt head_dim is asked after in any case.
_OTHER_CLASSES = ("head_size", "attention_head_dim")
# "su" is the early name of "longrope"; "mrope" gives text the positions of plain RoPE (Qwen2-VL, arXiv 2409.12191).
_SCALINGS = ("default", "linear", "dynamic", "yarn", "llama3", "longrope", "su", "mrope")


def checked_heads(f: Fields, heads: Heads) -> dict[str, int]:
    """n_heads, n_kv_heads and head_dim, which is hidden_size / heads where the file does not state it."""
    n_heads, n_kv_heads, head_dim = heads.n_heads, heads.n_kv_heads, heads.head_dim
    if key := kv_heads_by_another_name(f):
        right = expected("meant", name="num_key_value_heads", value=f.raw[key])
        n_kv_heads = f.fault(f.wrong(key, f.get(key), right))
    if (key := head_dim_by_another_name(f)) and not passed_over(f, key):
        head_dim = f.fault(f.wrong(key, f.get(key), expected("meant", name="head_dim", value=f.raw[key])))
    if n_heads % n_kv_heads:
        n_kv_heads = f.fault(_no_divisor(f, n_heads, n_kv_heads))
    if head_dim is None:
        d_model = f.count("hidden_size")
        if d_model % n_heads:
            d_model = f.fault(f.absent("head_dim", expected("head_dim_given", width=d_model, heads=n_heads)))
        head_dim = d_model // n_heads
    return {"n_heads": n_heads, "n_kv_heads": n_kv_heads, "head_dim": head_dim}


def kv_heads_by_another_name(f: Fields) -> str:
    """A key of a file without num_key_value_heads that counts K/V heads by its name, misspelt or of another family; ""
    for none. Read as nothing, it would make the cache that of as many as heads without a word."""
    if "num_key_value_heads" in f.raw:
        return ""
    return next((key for key in f.raw if _counts_kv_heads(_letters(key))), "")


def _counts_kv_heads(letters: str) -> bool:
    near = difflib.get_close_matches(letters, ["numkeyvalueheads"], cutoff=_MISSPELT)
    return bool(near or _COUNTS_KV_HEADS.fullmatch(letters))


def head_dim_by_another_name(f: Fields) -> str:
    """A key of a file without head_dim that is a head's width by its name; "" for none. Read as nothing, it would make
    that width the class's own, or hidden_size / heads, without a word."""
    if "head_dim" in f.raw:
        return ""
    return next((key for key in f.raw if f.raw[key] is not None and _WIDTH_OF_A_HEAD.fullmatch(_letters(key))), "")


def passed_over(f: Fields, key: str) -> bool:
    """Whether `key` is another class's name for a head's width, which the file's own class in transformers does not
    read: it then takes its own width."""
    return key in _OTHER_CLASSES and f.raw.get("model_type") in KNOWN


def _letters(key: object) -> str:
    """A field's name without what parts its words."""
    return re.sub(r"[\W_]", "", str(key)[:60]).lower()


def _no_divisor(f: Fields, n_heads: int, n_kv_heads: int) -> GlassLlamaError:
    """Of K/V heads that the file counts, or that transformers' class takes, but that do not divide the heads."""
    name, heads = "num_key_value_heads", "num_attention_heads"
    if f.path + name in f.assumed:
        return f.absent(name, expected("divisor_not_class", name=heads, value=n_heads, taken=n_kv_heads))
    return f.wrong(name, n_kv_heads, expected("divisor", name=heads, value=n_heads))


def layer_cycle(f: Fields, n_layers: int, *implied: str) -> tuple[str, ...]:
    """The shortest run of kinds that repeats over the layers: as layer_types lists them, else as `implied`."""
    given = f.strings("layer_types", n_layers)
    unknown = next((kind for kind in given or () if kind not in _LAYER_TYPES), None)
    if unknown is not None:
        given = None
        f.fault(f.wrong("layer_types", unknown, expected("each_one_of", names=", ".join(_LAYER_TYPES))))
    kinds: tuple[str, ...] = tuple(_LAYER_TYPES[kind] for kind in given or ())
    kinds = kinds or tuple(implied[i % len(implied)] for i in range(n_layers))
    return shortest(kinds)


def shortest(kinds: tuple[str, ...]) -> tuple[str, ...]:
    """The shortest run that repeats over all of `kinds`, the last time perhaps not to its end.

    It is as long as what is left of `kinds` without their longest border, a beginning that is their end as well. Each
    beginning's border follows from the one before it (Knuth, Morris and Pratt, 1977), in time that grows with the
    layers, not with their square.
    """
    borders = [0] * len(kinds)
    for end in range(1, len(kinds)):
        length = borders[end - 1]
        while length and kinds[length] != kinds[end]:
            length = borders[length - 1]
        borders[end] = length + (kinds[length] == kinds[end])
    return kinds[: len(kinds) - borders[-1]] if kinds else kinds


def attention(
    f: Fields,
    sizes: Mapping[str, int],
    cycle: tuple[str, ...] = ("full",),
    window: int | None = None,
    chunk: int | None = None,
) -> AttentionSpec:
    """MHA, GQA or MQA by the head counts. Sliding layers without a window are a fault of the field that gives none."""
    kind = {sizes["n_heads"]: "MHA", 1: "MQA"}.get(sizes["n_kv_heads"], "GQA")
    if "sliding" in cycle and (window is None or window < 2):
        window = _no_window(f, "sliding_window", "sliding", window)
    if "chunked" in cycle and (chunk is None or chunk < 2):
        chunk = _no_window(f, "attention_chunk_size", "chunked", chunk)
    return AttentionSpec(kind, cycle, window, chunk)  # type: ignore[arg-type]


def _no_window(f: Fields, name: str, kind: LayerKind, size: int | None) -> int:
    """What stands for a window that layers of this `kind` need and that the file does not give, or not as the family
    reads it."""
    given, switch = f.raw.get(name), "use_sliding_window"
    if given is not None and not f.has_read(name):
        return Unstated(f.path + name)  # whoever finishes the shape refuses the field that nobody read
    if given and size is None and f.has_read(switch):
        return f.fault(f.wrong(switch, bool(f.raw.get(switch)), expected("window_used", kind=kind)))
    return f.fault(f.wrong(name, size, expected("window_size", kind=kind)))


def rope(
    f: Fields,
    head_dim: int,
    local: bool = False,
    layout: Any = "half",
    base: Sequence[str] = ("rope_theta",),
    share: Sequence[str] = ("partial_rotary_factor",),
) -> PositionSpec:
    """RoPE from rope_parameters (transformers 5) or rope_theta and rope_scaling; 10,000 where no base is given.

    `local`: sliding layers have a base of their own (Gemma 3). `base` and `share` are the family's names for the base
    and the rotated share of a head.
    """
    return turned(f, lambda strict: _rope(strict, head_dim, local, layout, base, share))


def turned(f: Fields, read: Callable[[Fields], PositionSpec]) -> PositionSpec:
    """What `read` finds about RoPE. Neither the cache nor the weights depend on it, so a fault is noted aside."""
    try:
        return read(f.strict())
    except GlassLlamaError as error:
        f.aside(error)
        return PositionSpec("rope")


def _rope(
    f: Fields, head_dim: int, local: bool, layout: Any, base: Sequence[str], share: Sequence[str]
) -> PositionSpec:
    r = rope_part(f)
    given, name = r.raw, r.path
    local_theta = None
    inner = given.get("sliding_attention")
    if isinstance(inner, Mapping):  # each kind of layer has its own (transformers 5)
        local, local_theta = True, Fields(inner, f"{name}sliding_attention.").number("rope_theta", default=10_000.0)
        given, name = given.get("full_attention") or {}, f"{name}full_attention."
        if not isinstance(given, Mapping):
            raise refusal(name.rstrip("."), given, expected("object"))
    elif local:
        local_theta = f.number("rope_local_base_freq", default=10_000.0)
    r = Fields(given, name)
    theta = rope_base(f, r, *base)
    part = rope_share(f, r, *share)
    note = "theta and scaling are those of the full layers; sliding layers use local_theta, unscaled." if local else ""
    return PositionSpec("rope", theta, local_theta, int(head_dim * part), layout, _scaling(f, r), note=note)


def _scaling(f: Fields, r: Fields) -> ScalingSpec | None:
    kind = r.word("rope_type", "type", among=_SCALINGS, default="default")
    if kind in ("default", "mrope"):
        return None
    original = "original_max_position_embeddings"
    optional = ("low_freq_factor", "high_freq_factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim")
    numbers = {name: r.number(name) for name in optional if r.get(name) is not None}
    if kind == "llama3":
        for name in ("low_freq_factor", "high_freq_factor"):
            if name not in numbers:
                raise r.absent(name, expected("above_zero"))
    limit = r.count(original, default=None) or f.count(original, default=None)
    if kind in ("longrope", "su"):  # lists of factors, one a frequency; the context grows from one limit to the other
        if limit is None:
            raise r.absent(original, expected("whole_from", low=1))
        factor = r.number("factor", default=f.count("max_position_embeddings") / limit)
        return ScalingSpec("longrope", factor, limit, **numbers)
    return ScalingSpec(kind, r.number("factor"), limit, **numbers)
