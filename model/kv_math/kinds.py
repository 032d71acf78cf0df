"""One model's shape under each kind of attention, so that MHA, MQA, GQA and MLA can be compared. Pure integers."""

from dataclasses import replace

from ..published.expected import expected
from ..published.spec import AttentionKind, MlaSpec, ModelSpec
from .options import refusal, whole


def attention_kinds(spec: ModelSpec, n_kv_heads: int | None = None) -> dict[AttentionKind, ModelSpec]:
    """`spec` as MHA, GQA, MQA and MLA: the same layers, width and query heads, different K and V.

    One of the four is the model's own; the others are hypothetical. GQA gets the model's own K/V heads, or
    `n_kv_heads`, or the largest divisor of n_heads up to 8; it is left out where n_heads has none (71, Falcon-7B). MLA
    gets the model's own widths, or the DeepSeek-V2 report's proportions (section 2.1.4): a latent of 4 head_dim and a
    RoPE key of head_dim / 2. For a model with MLA, a head of the others is as wide as its value heads.
    Full layers with heads of their own (Gemma 4) get as many, or keep theirs where the kind is the model's own. In
    kinds other than DeepSeek-V4's own, layers that compress keep K and V of every token. A model without attention has
    no kinds. Raises GlassLlamaError for an n_kv_heads that does not divide n_heads.
    """
    if spec.attention.kind == "none":
        return {}
    width = spec.v_head_dim
    own, spec = spec, _uncompressed(spec)
    plain = replace(spec, mla=None, indexer=None, head_dim=width, attention=replace(spec.attention, kind="MHA"))
    kinds: dict[AttentionKind, ModelSpec] = {"MHA": _with_heads(plain, "MHA", spec.n_heads)}
    grouped = _grouped_heads(spec, n_kv_heads)
    if grouped:
        kinds["GQA"] = _with_heads(plain, "GQA", grouped, keep=grouped == spec.n_kv_heads)
    kinds["MQA"] = _with_heads(plain, "MQA", 1, keep=spec.n_kv_heads == 1)
    kinds["MLA"] = spec if spec.mla else _as_mla(spec)
    if own.compressed:
        kinds[own.attention.kind] = own
    return kinds


def _uncompressed(spec: ModelSpec) -> ModelSpec:
    """`spec` with layers that keep K and V of every token in place of compressed entries (DeepSeek-V4)."""
    if not spec.compressed:
        return spec
    entries = {layer for branch in spec.compressed for layer in branch.layers}
    cycle = tuple("full" if i in entries else kind for i, kind in enumerate(spec.layer_kinds))
    window = spec.attention.window if "sliding" in cycle else None
    attention = replace(spec.attention, layer_cycle=cycle, window=window, k_is_v=False)
    weights = tuple(part for part in spec.extra if not part.label.startswith(("attention", "compressor")))
    return replace(spec, compressed=(), attention=attention, extra=weights)


def _with_heads(plain: ModelSpec, kind: AttentionKind, n_kv_heads: int, keep: bool = False) -> ModelSpec:
    full = plain.attention.full
    if full and not keep:
        full = replace(full, n_kv_heads=n_kv_heads)
    return replace(plain, n_kv_heads=n_kv_heads, attention=replace(plain.attention, kind=kind, full=full))


def _grouped_heads(spec: ModelSpec, n_kv_heads: int | None) -> int | None:
    if n_kv_heads is not None:
        n_kv_heads = whole("n_kv_heads", n_kv_heads, 1, spec.n_heads)
        if spec.n_heads % n_kv_heads:
            raise refusal("n_kv_heads", n_kv_heads, expected("divisor", name="n_heads", value=spec.n_heads))
        return n_kv_heads
    if 1 < spec.n_kv_heads < spec.n_heads:
        return spec.n_kv_heads
    return max((n for n in range(2, 9) if spec.n_heads % n == 0 and n < spec.n_heads), default=None)


def _as_mla(spec: ModelSpec) -> ModelSpec:
    if spec.head_dim % 2:
        raise refusal("head_dim", spec.head_dim, expected("even"))
    mla = MlaSpec(4 * spec.head_dim, spec.head_dim // 2, spec.head_dim, spec.head_dim)
    return replace(
        spec,
        n_kv_heads=spec.n_heads,
        head_dim=spec.head_dim + spec.head_dim // 2,
        mla=mla,
        attention=replace(spec.attention, kind="MLA", full=None),
    )
