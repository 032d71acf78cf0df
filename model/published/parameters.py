"""How many weights a model has, counted from its shapes alone. Pure integers: no torch, no checkpoint."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import Literal, NamedTuple

from ..errors import GlassLlamaError
from .spec import ModelSpec

# What one decoding step reads of a part: all of it, the chosen experts, one row a token, or nothing.
Reading = Literal["all", "experts", "rows", "none"]


class Matrix(NamedTuple):
    """A linear layer's weights by its place in a layer (transformers' name), such as "self_attn.q_proj"."""

    module: str
    inputs: int
    outputs: int


@dataclass(frozen=True)
class WeightPart:
    """Weights of one kind: `each` of them in every one of `copies` (experts, else 1) of every layer of `layers`.

    `label` says what they are; `layers` is () for what stands outside the layers, and `how` is how `each` came about.
    `kind`: "matrix", "table" (embeddings) or "vector" (norms, biases, routers). Tensor parallelism splits a part into
    `units` (heads, columns, rows) and copies it where `units` is 1. `rows`: of a table that is read row by row. `last`:
    held by the last pipeline stage, not the first. `matrices` are the linear layers that `each` is the sum of; () where
    their shapes are not known.
    """

    label: str
    layers: tuple[int, ...]
    each: int
    how: str = ""
    copies: int = 1
    kind: Literal["matrix", "table", "vector"] = "matrix"
    units: int = 1
    reading: Reading = "all"
    rows: int = 0
    last: bool = False
    matrices: tuple[Matrix, ...] = ()

    @property
    def weights(self) -> int:
        return (len(self.layers) or 1) * self.copies * self.each


def parameter_count(spec: ModelSpec) -> int:
    """All weights of `spec`, in elements: embeddings, layers, norms and biases, every expert.

    Tied embeddings count once; where no source says whether they are tied (`tied_embeddings` None) they count as tied.
    Multi-token-prediction layers and vision towers are left out, as in the vendors' own totals for the language model.
    Raises GlassLlamaError for linear (state-space) layers whose weights `spec.extra` does not say.
    """
    return sum(part.weights for part in weight_parts(spec))


def active_parameter_count(spec: ModelSpec) -> int:
    """Weights that take part in one token's forward pass: as `parameter_count`, with only `top_k` routed experts."""
    top_k = spec.moe.top_k if spec.moe else 0
    return sum(p.weights // p.copies * top_k if p.reading == "experts" else p.weights for p in weight_parts(spec))


def weight_parts(spec: ModelSpec, mtp: bool = False) -> tuple[WeightPart, ...]:
    """Every weight of `spec`, part by part; with `mtp`, its multi-token-prediction layers too.

    Raises as above, and where the config does not state what they are counted from.
    """
    if spec.unstated:
        raise not_counted(spec)
    if spec.state is not None and not any(part.label.startswith("linear") for part in spec.extra):
        message = (
            f"{spec.name}: linear-attention or state-space layers; expected full, sliding or chunked ones, whose "
            "weights are known."
        )
        raise GlassLlamaError("spec", message, field="layer_cycle")
    extra = spec.mtp_layers if mtp else 0
    layers = tuple(range(spec.n_layers + extra))
    parts = [
        *_outside(spec),
        *_own_attention(spec, extra),
        *_vectors(spec, layers, extra),
        *_feed_forward(spec, layers),
        *_extra(spec),
    ]
    if extra:  # DeepSeek-V3 README_WEIGHTS.md: eh_proj, enorm, hnorm and the head's norm
        ahead, d = layers[spec.n_layers :], spec.d_model
        parts.append(WeightPart("mtp", ahead, 2 * d * d, f"2 × {d:,} × {d:,}"))
        parts.append(WeightPart("mtp.norms", ahead, 3 * d, f"3 × {d:,}", kind="vector"))
    return (*parts, *_encoder_decoder(spec))


def not_counted(spec: ModelSpec) -> GlassLlamaError:
    """Why there is no count of the weights of a model whose config lacks what they are counted from."""
    message = f"Weights, activations and what fits are not counted. {' '.join(map(str, spec.unstated))}"
    params = {"fields": ", ".join(str(one.params["field"]) for one in spec.unstated)}
    return GlassLlamaError("unstated", message, **params, faults=[one.params for one in spec.unstated])


def _outside(spec: ModelSpec) -> Iterator[WeightPart]:
    d, rows, norm = spec.d_model, spec.vocab_size, _norm(spec)
    tied = spec.tied_embeddings is not False
    table, how = rows * d, f"{rows:,} × {d:,}"
    reading: Reading = "all" if tied else "rows"
    yield WeightPart("embedding.tied" if tied else "embedding", (), table, how, 1, "table", rows, reading, rows)
    if not tied:
        yield WeightPart("unembedding", (), table, how, 1, "table", rows, last=True)
    if spec.unembedding_bias:
        yield WeightPart("biases.unembedding", (), rows, kind="vector", last=True)
    if spec.position.kind == "learned":
        positions = (spec.max_context or 0) + spec.position.unused_rows
        how = f"{positions:,} × {d:,}"
        yield WeightPart("positions", (), positions * d, how, 1, "table", reading="rows", rows=positions)
    if spec.norm.after_embedding:
        yield WeightPart("norms.embedding", (), norm, kind="vector")
    yield WeightPart("norms.final", (), norm, kind="vector", last=True)
    if spec.position.kind == "t5_bias":
        bias = (spec.position.buckets or 0) * spec.n_heads
        yield WeightPart("position_bias", (), bias, f"{spec.position.buckets} × {spec.n_heads}", kind="vector")


def _norm(spec: ModelSpec) -> int:
    return spec.d_model * spec.norm.learned


def _own_attention(spec: ModelSpec, extra: int) -> Iterator[WeightPart]:
    """Self-attention: of full layers apart where they have heads of their own, and without K and V where layers share
    another's. The `extra` layers are multi-token-prediction's."""
    if spec.compressed:  # all of it is in spec.extra
        return
    attending, full, own = (*spec.attention_layers, *_ahead(spec, extra)), spec.attention.full, set(spec.own_kv_layers)
    own |= set(_ahead(spec, extra))
    apart = spec.layers_of("full") if full else ()
    for layers in (without(attending, apart), apart):
        if layers:
            heads, width = spec.kv_heads_of("full" if layers is apart else "")
            keeping = tuple(layer for layer in layers if layer in own)
            one = bool(full and full.k_is_v and layers is apart)
            shaped = replace(spec, n_kv_heads=heads, head_dim=width)
            yield from _attention(shaped, "attention", layers, keeping=keeping, k_is_v=one)


def _ahead(spec: ModelSpec, extra: int) -> range:
    return range(spec.n_layers, spec.n_layers + extra)


def without(layers: Iterable[int], others: Iterable[int]) -> tuple[int, ...]:
    """Those of `layers` that are none of `others`."""
    left_out = frozenset(others)
    return tuple(layer for layer in layers if layer not in left_out)


def _extra(spec: ModelSpec) -> Iterator[WeightPart]:
    """What follows from no other field; a table is read row by row."""
    for part in spec.extra:
        first, *others = part.sizes
        how = " × ".join(f"{size:,}" for size in part.sizes) if others else ""
        reading, rows = ("rows", first) if part.kind == "table" else ("all", 0)
        each = first * prod(others)
        yield WeightPart(part.label, part.layers, each, how, 1, part.kind, part.units, reading, rows)


def _attention(
    spec: ModelSpec,
    label: str,
    layers: tuple[int, ...],
    kv_reading: Reading = "all",
    keeping: tuple[int, ...] | None = None,
    k_is_v: bool = False,
) -> Iterator[WeightPart]:
    """The matrices of attention; K and V of the layers `keeping` alone. A rank keeps whole heads, so K and V are copied
    once ranks outnumber their heads."""
    if spec.mla:
        yield from _mla(spec, layers)
        return
    d, heads, kv, width = spec.d_model, spec.n_heads, spec.n_kv_heads, spec.head_dim
    each = 1 if k_is_v else 2
    q_o, k_v = f"2 × {d:,} × {heads} × {width}", f"{each} × {d:,} × {kv} × {width}"
    reading: Reading = "none" if label == "encoder" else "all"
    both = (Matrix("self_attn.q_proj", d, heads * width), Matrix("self_attn.o_proj", heads * width, d))
    yield WeightPart(f"{label}.q_o", layers, 2 * d * heads * width, q_o, units=heads, reading=reading, matrices=both)
    if keeping := layers if keeping is None else keeping:
        both = tuple(Matrix(f"self_attn.{one}_proj", d, kv * width) for one in "kv"[:each])
        weights = each * d * kv * width
        yield WeightPart(f"{label}.k_v", keeping, weights, k_v, units=kv, reading=kv_reading, matrices=both)


def _mla(spec: ModelSpec, layers: tuple[int, ...]) -> Iterator[WeightPart]:
    """Down- and up-projections (DeepSeek-V2 report, eqs. 37 to 47), the latents' whole on each rank; the indexer."""
    mla, heads, d = spec.mla, spec.n_heads, spec.d_model
    assert mla is not None
    q_width, rank, latent = mla.qk_nope_head_dim + mla.qk_rope_head_dim, mla.q_lora_rank, mla.kv_lora_rank
    down = d * (latent + mla.qk_rope_head_dim) + (d * rank if rank else 0)
    how = f"{d:,} × ({latent} + {mla.qk_rope_head_dim}" + (f" + {rank})" if rank else ")")
    matrices = [Matrix("self_attn.kv_a_proj_with_mqa", d, latent + mla.qk_rope_head_dim)]
    matrices += [Matrix("self_attn.q_a_proj", d, rank)] if rank else []
    yield WeightPart("attention.latents", layers, down, how, matrices=tuple(matrices))
    expanded = mla.qk_nope_head_dim + mla.v_head_dim
    per_head = (rank or d) * q_width + latent * expanded + mla.v_head_dim * d
    how = f"{heads} × ({rank or d} × {q_width} + {latent} × {expanded} + {mla.v_head_dim} × {d:,})"
    q_name, q_inputs = ("self_attn.q_b_proj", rank) if rank else ("self_attn.q_proj", d)
    matrices = [
        Matrix(q_name, q_inputs, heads * q_width),
        Matrix("self_attn.kv_b_proj", latent, heads * expanded),
        Matrix("self_attn.o_proj", heads * mla.v_head_dim, d),
    ]
    yield WeightPart("attention.heads", layers, heads * per_head, how, units=heads, matrices=tuple(matrices))
    if spec.indexer:  # queries from the query latent, one key, one weight per indexer head
        width, count = spec.indexer.head_dim, spec.indexer.n_heads
        how = f"{rank or d} × {count} × {width} + {d:,} × {width} + {d:,} × {count}"
        matrices = [
            Matrix("self_attn.indexer.wq_b", rank or d, count * width),
            Matrix("self_attn.indexer.wk", d, width),
        ]
        matrices.append(Matrix("self_attn.indexer.weights_proj", d, count))
        weights = (rank or d) * count * width + d * width + d * count
        yield WeightPart("indexer", layers, weights, how, matrices=tuple(matrices))


def _vectors(spec: ModelSpec, layers: tuple[int, ...], extra: int) -> Iterator[WeightPart]:
    """Norms and biases, which every rank holds."""
    norms = spec.norm.per_layer * _norm(spec)
    yield WeightPart("norms", layers, norms, f"{spec.norm.per_layer} × {_norm(spec):,}", kind="vector")
    attending = (*spec.attention_layers, *_ahead(spec, extra))
    if not attending:
        return
    if spec.norm.qk == "rms_per_head":
        yield from _head_norms(spec, attending)
    if spec.norm.qk in ("rms_whole", "layer_per_head"):
        heads, width = spec.n_heads + spec.n_kv_heads, spec.head_dim
        how = f"({spec.n_heads} + {spec.n_kv_heads}) × {width}"
        yield WeightPart("norms.q_k", attending, heads * width, how, kind="vector")
    if spec.attention.sinks:
        yield WeightPart("sinks", attending, spec.n_heads, kind="vector")
    if spec.mla:
        ranks = (spec.mla.q_lora_rank or 0) + spec.mla.kv_lora_rank
        yield WeightPart("norms.latents", attending, ranks, kind="vector")
    if spec.indexer:
        yield WeightPart("norms.indexer", attending, 2 * spec.indexer.head_dim, kind="vector")
    if spec.bias != "none":
        qkv = (spec.n_heads + 2 * spec.n_kv_heads) * spec.head_dim
        output = spec.d_model if spec.bias in ("attention", "all") else 0
        yield WeightPart("biases.attention", attending, qkv + output, kind="vector")


def _head_norms(spec: ModelSpec, attending: tuple[int, ...]) -> Iterator[WeightPart]:
    """A weight per head dimension for q and k; the last layers that share K and V have q's alone."""
    sharing, full = spec.n_layers - spec.kv_shared_layers, frozenset(spec.layers_of("full"))
    for kind in ("full", ""):
        width = spec.kv_heads_of(kind)[1]
        of_kind = [i for i in attending if (kind == "full") == (i in full)]
        if layers := tuple(i for i in of_kind if i < sharing or i >= spec.n_layers):
            yield WeightPart("norms.q_k", layers, 2 * width, f"2 × {width}", kind="vector")
        if layers := tuple(i for i in of_kind if sharing <= i < spec.n_layers):
            yield WeightPart("norms.q_k", layers, width, kind="vector")


def _dense(
    spec: ModelSpec, label: str, layers: tuple[int, ...], hidden: int, copies: int = 1, reading: Reading = "all"
) -> Iterator[WeightPart]:
    inward = 2 if spec.ffn.gated else 1
    d, place = spec.d_model, f"mlp.{label}." if label in ("experts", "shared_experts") else "mlp."
    how = f"{inward + 1} × {d:,} × {hidden:,}"
    matrices = [Matrix(f"{place}{name}", d, hidden) for name in ("up_proj", "gate_proj")[:inward]]
    matrices.append(Matrix(f"{place}down_proj", hidden, d))
    weights = (inward + 1) * d * hidden
    yield WeightPart(label, layers, weights, how, copies, units=hidden, reading=reading, matrices=tuple(matrices))
    if spec.bias == "all":
        yield WeightPart(
            f"biases.{label}", layers, inward * hidden + spec.d_model, "", copies, "vector", reading=reading
        )


def _feed_forward(spec: ModelSpec, layers: Iterable[int]) -> Iterator[WeightPart]:
    moe, layers = spec.moe, tuple(layers)
    routed = moe.routed_layers(layers) if moe else ()
    yield from _plain_feed_forward(spec, without(layers, routed))
    if moe is None or not routed:
        return
    inner = replace(spec, d_model=moe.expert_width) if moe.expert_width else spec
    yield from _dense(inner, "experts", routed, moe.expert_ffn, moe.n_experts, "experts")
    if moe.shared_experts:
        yield from _dense(spec, "shared_experts", routed, moe.shared_ffn or moe.expert_ffn, moe.shared_experts)
    router = (spec.d_model + moe.router_bias) * moe.n_experts + moe.shared_gate * spec.d_model
    rows = f"({spec.d_model:,} + 1)" if moe.router_bias else f"{spec.d_model:,}"
    how = f"{rows} × {moe.n_experts}" + (f" + {spec.d_model:,}" if moe.shared_gate else "")
    yield WeightPart("router", routed, router, how, kind="vector")


def _plain_feed_forward(spec: ModelSpec, layers: tuple[int, ...]) -> Iterator[WeightPart]:
    """The feed-forward blocks of layers without experts, those of one width together."""
    dense = spec.moe.dense_ffn if spec.moe else None
    given = spec.ffn_widths
    widths = {layer: dense or (given[layer] if given and layer < len(given) else spec.ffn_hidden) for layer in layers}
    of_width: dict[int, list[int]] = {}
    for layer, width in widths.items():
        of_width.setdefault(width, []).append(layer)
    for width, equal in of_width.items():
        if width:
            yield from _dense(spec, "ffn", tuple(equal), width)


def _encoder_decoder(spec: ModelSpec) -> Iterator[WeightPart]:
    """Cross-attention with its norm, and the encoder. Decoding reads neither the encoder nor cross-attention's K and V,
    whose results are cached."""
    if not spec.is_encoder_decoder:
        return
    decoder, encoder, norm = tuple(range(spec.n_layers)), tuple(range(spec.encoder_layers)), _norm(spec)
    yield from _attention(spec, "cross", decoder, "none")
    yield WeightPart("norms.cross", decoder, norm, kind="vector")
    yield from _attention(spec, "encoder", encoder, "none")
    yield from _dense(spec, "encoder.ffn", encoder, spec.ffn_hidden, reading="none")
    yield WeightPart("encoder.norms", encoder, spec.norm.per_layer * norm, kind="vector", reading="none")
    yield WeightPart("encoder.final_norm", (), norm, kind="vector", reading="none")
    if spec.position.kind == "t5_bias":
        bias = (spec.position.buckets or 0) * spec.n_heads
        yield WeightPart("encoder.position_bias", (), bias, kind="vector", reading="none")
