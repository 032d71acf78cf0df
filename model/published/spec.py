"""What a published model looks like, as far as its cache and its weights depend on it. Plain data, no torch, no files.

Names follow the design's notation: `d_model` is the width of the residual stream, `n_kv_heads` counts K/V heads,
`group_size` is n_heads / n_kv_heads, and `head_dim` is a field of its own, never d_model / n_heads.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Literal

from ..errors import GlassLlamaError

LayerKind = Literal["full", "sliding", "chunked", "linear", "hybrid", "none"]
AttentionKind = Literal["MHA", "GQA", "MQA", "MLA", "none"]
Bias = Literal["none", "qkv", "attention", "all"]


@dataclass(frozen=True)
class FullHeads:
    """K/V heads of full layers where they are not those of sliding ones (Gemma 4). `k_is_v`: one matrix makes both K
    and V, which are cached apart all the same (V is neither scaled nor rotated).
    """

    n_kv_heads: int
    head_dim: int
    k_is_v: bool = False


@dataclass(frozen=True)
class AttentionSpec:
    """How the layers attend. `layer_cycle` repeats over the layers, beginning with layer 0.

    `window` (tokens, the query's own included) belongs to sliding layers, `chunk` (tokens) to chunked ones; "linear"
    layers keep a state of constant size (StateSpec) and no token, "hybrid" ones such a state beside K and V of every
    token (Falcon-H1), "none" nothing at all (Nemotron-H's feed-forward layers). The kind is "none" where no layer
    attends. `sinks`: one learned logit a head beside the scores (gpt-oss); it caches nothing. `k_is_v`: K is
    V as well, cached once (DeepSeek-V4).
    """

    kind: AttentionKind
    layer_cycle: tuple[LayerKind, ...] = ("full",)
    window: int | None = None
    chunk: int | None = None
    note: str = ""
    sinks: bool = False
    full: FullHeads | None = None
    k_is_v: bool = False


@dataclass(frozen=True)
class MlaSpec:
    """Widths of multi-head latent attention (DeepSeek-V2 report, arXiv 2405.04434, section 2.1).

    The report calls kv_lora_rank d_c, qk_rope_head_dim d_h^R, qk_nope_head_dim and v_head_dim d_h, q_lora_rank d_c'
    (None where queries are not compressed).
    """

    kv_lora_rank: int
    qk_rope_head_dim: int
    qk_nope_head_dim: int
    v_head_dim: int
    q_lora_rank: int | None = None


@dataclass(frozen=True)
class IndexerSpec:
    """DeepSeek-V3.2's lightning indexer: `n_heads` queries share one cached key; `top_k` tokens are then read."""

    n_heads: int
    head_dim: int
    top_k: int


@dataclass(frozen=True)
class CompressedSpec:
    """What the layers `layers` keep beside their sliding window in DeepSeek-V4: one entry of every `rate` tokens.

    An entry is as wide as the shared K/V head; "csa" is compressed sparse attention, "hca" heavily compressed. Tokens
    that fill no entry yet wait in a buffer, a value and a gate each. With `overlap` each token feeds two entries, its
    own and the next, so values and gates are twice as wide and half of those of the last full entry stay. The
    `indexer` compresses keys of its own in the same way, and `top_k` counts entries.
    """

    kind: Literal["csa", "hca"]
    rate: int
    layers: tuple[int, ...]
    overlap: bool = False
    indexer: IndexerSpec | None = None


@dataclass(frozen=True)
class StateSpec:
    """What a state-space or linear-attention layer keeps of a sequence, however long it is.

    A convolution's last inputs, `conv_channels` × `conv_past` (kernel - 1), and the state, `heads` × `rows` × `columns`
    (Mamba-2: heads × head_dim × d_state; gated DeltaNet: value heads × key width × value width; Mamba-1, which has no
    heads: channels × 1 × d_state). Either may be missing: 0 channels (MiniMax-01), 0 heads (LFM2). `fp32`: the model's
    own code keeps the state in fp32 whatever format it computes in.
    """

    conv_channels: int
    conv_past: int
    heads: int
    rows: int
    columns: int
    fp32: bool = False


@dataclass(frozen=True)
class MoeSpec:
    """Mixture of experts: `top_k` of `n_experts` routed experts, and all `shared_experts`, each `expert_ffn` wide.

    The first `first_dense_layers` layers have an ordinary feed-forward block, `dense_ffn` wide; of the others, every
    `moe_every`-th has experts (layers moe_every - 1, 2 moe_every - 1, …). `router_bias`: one more weight per routed
    expert, added to its score (for the selection alone in DeepSeek-V3). `shared_gate`: d_model weights that scale the
    shared experts (Qwen 2 MoE). The group fields are DeepSeek's device-limited routing. `expert_layers` names the
    layers with experts where no such rule does, `shared_ffn` is a shared expert's width where it is another;
    `expert_width` is what the routed ones read in place of d_model, projected before and after (Nemotron 3 Super).
    """

    n_experts: int
    top_k: int
    shared_experts: int
    expert_ffn: int
    first_dense_layers: int = 0
    dense_ffn: int | None = None
    router: str = ""
    router_bias: bool = False
    n_group: int | None = None
    topk_group: int | None = None
    routed_scaling: float | None = None
    moe_every: int = 1
    shared_gate: bool = False
    expert_layers: tuple[int, ...] | None = None
    shared_ffn: int | None = None
    expert_width: int | None = None

    def routed_layers(self, layers: Iterable[int]) -> tuple[int, ...]:
        """Those of `layers` (indices from 0) that route their tokens to experts."""
        if self.expert_layers is not None:
            routed = frozenset(self.expert_layers)
            return tuple(layer for layer in layers if layer in routed)
        first, every = self.first_dense_layers, self.moe_every
        return tuple(layer for layer in layers if layer >= first and (layer + 1) % every == 0)


@dataclass(frozen=True)
class NormSpec:
    """`per_layer` counts the norms over d_model in one decoder layer (cross-attention's own is counted apart).

    `qk` is what normalises q and k: a weight per head dimension, one per dimension of every head, over the heads
    together ("rms_whole") or each alone ("layer_per_head"), an L2 norm without weights, or nothing. `vectors` counts a
    norm's learned vectors where they are not the kind's own (RMSNorm a scale, LayerNorm a scale and a shift).
    """

    kind: Literal["RMSNorm", "LayerNorm"]
    placement: str
    eps: float | None = None
    per_layer: int = 2
    after_embedding: bool = False
    qk: Literal["none", "rms_per_head", "rms_whole", "layer_per_head", "l2"] = "none"
    vectors: int | None = None

    @property
    def learned(self) -> int:
        """Learned vectors of one norm."""
        return {"RMSNorm": 1, "LayerNorm": 2}[self.kind] if self.vectors is None else self.vectors


@dataclass(frozen=True)
class FfnSpec:
    """`gated`: three matrices (SwiGLU, GeGLU), not two. `parallel`: reads the same input as attention."""

    activation: str
    gated: bool
    parallel: bool = False


@dataclass(frozen=True)
class ScalingSpec:
    """How RoPE's frequencies are stretched; fields as in Hugging Face's config, None where the kind has none."""

    kind: str
    factor: float
    original_max_context: int | None = None
    low_freq_factor: float | None = None
    high_freq_factor: float | None = None
    beta_fast: float | None = None
    beta_slow: float | None = None
    mscale: float | None = None
    mscale_all_dim: float | None = None


@dataclass(frozen=True)
class PositionSpec:
    """How tokens learn their place. `rotary_dim` is the rotated part of head_dim, `buckets` is T5's.

    `unused_rows` stand in a learned table before its first position (OPT)."""

    kind: Literal["rope", "learned", "sinusoidal", "alibi", "t5_bias", "none"]
    theta: float | None = None
    local_theta: float | None = None
    rotary_dim: int | None = None
    layout: Literal["half", "interleaved"] = "half"
    scaling: ScalingSpec | None = None
    buckets: int | None = None
    note: str = ""
    unused_rows: int = 0


@dataclass(frozen=True)
class ExtraWeights:
    """Weights that follow from no other field: the product of `sizes` in each of `layers`, () for outside the layers.

    `label` as in kv_math.weights.WeightTerm, such as "linear.in". A "table" is read row by row. Tensor parallelism
    splits them into `units`.
    """

    label: str
    sizes: tuple[int, ...]
    layers: tuple[int, ...] = ()
    kind: Literal["matrix", "table", "vector"] = "matrix"
    units: int = 1


@dataclass(frozen=True)
class QuantSpec:
    """How a checkpoint stores the matrices of its linear layers: `bits` a weight, and what stands beside them.

    A scale of `scale_bytes` belongs to `group_in` inputs × `group_out` outputs (None: all of them), or to `flat`
    consecutive weights, whatever their place; `nested` of those scales share one fp32 of their own. `zero_bits`: a zero
    point a group. `order`: 32 bits an input say which group it belongs to. `each_bytes` stand beside each matrix.
    `kept` names modules that stay in 16 bits, (layer, module), layer -1 for every one; `only`, where given, those that
    do not. Embeddings, norms, routers and the output layer stay in 16 bits.
    """

    name: str
    bits: int
    group_in: int | None = None
    group_out: int | None = 1
    flat: int | None = None
    scale_bytes: int = 2
    nested: int = 0
    zero_bits: int = 0
    order: bool = False
    each_bytes: int = 0
    experts_alone: bool = False
    only: tuple[str, ...] = ()
    kept: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True)
class PublishedParameters:
    """Parameters as the vendor states them; `exact` where the source gives every digit."""

    total: int
    exact: bool
    active: int | None = None


@dataclass(frozen=True, kw_only=True)
class ModelSpec:
    """One published model. Widths are counts of elements, `max_context` of tokens.

    In an encoder–decoder, `n_layers` counts decoder layers and `encoder_layers` the encoder's. The last
    `kv_shared_layers` layers read an earlier layer's K and V and keep none; of every `kv_share_every` layers only the
    first keeps them (cross-layer attention). `ffn_widths` are those of each layer's feed-forward block, 0 where it has
    none; None: ffn_hidden in every layer. Without attention, n_heads, n_kv_heads and head_dim are 0. `mtp_layers` are
    extra layers that run only for speculative decoding. `tied_embeddings` is None where no source says, `max_context`
    where none limits it. For MLA, head_dim is that of q and k. `bias`: on q, k and v ("qkv"), on these and the output
    ("attention"), everywhere but on the logits, which have `unembedding_bias`.
    `quantised` is how a config.json says that the weights are stored, `quantised_unread` why that is not counted.
    `source` lists where the numbers were read, `not_verified` which of them were not.
    """

    name: str
    family: str = ""
    release: str = ""
    n_layers: int
    d_model: int
    n_heads: int
    n_kv_heads: int
    head_dim: int
    ffn_hidden: int
    vocab_size: int
    max_context: int | None
    tied_embeddings: bool | None
    attention: AttentionSpec
    norm: NormSpec
    ffn: FfnSpec
    position: PositionSpec
    parameters: PublishedParameters | None = None
    bias: Bias = "none"
    unembedding_bias: bool = False
    mla: MlaSpec | None = None
    indexer: IndexerSpec | None = None
    moe: MoeSpec | None = None
    state: StateSpec | None = None
    compressed: tuple[CompressedSpec, ...] = ()
    encoder_layers: int = 0
    kv_shared_layers: int = 0
    kv_share_every: int = 1
    ffn_widths: tuple[int, ...] | None = None
    extra: tuple[ExtraWeights, ...] = ()
    mtp_layers: int = 0
    quantised: QuantSpec | None = None
    quantised_unread: str = ""
    tokenizer: str = ""
    source: tuple[str, ...] = ()
    source_grade: str = ""
    verified: str = ""
    not_verified: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for field in ("n_layers", "d_model", "vocab_size"):
            self._need(field, getattr(self, field) >= 1, "at least 1")
        attends = self.attention.kind != "none"
        for field in ("n_heads", "n_kv_heads", "head_dim"):
            good = getattr(self, field) >= 1 if attends else getattr(self, field) == 0
            self._need(field, good, "at least 1" if attends else "0 without attention")
        self._need("ffn_hidden", self.ffn_hidden >= (1 if self.ffn_widths is None else 0), "at least 1")
        if attends:
            self._need("n_heads", self.n_heads % self.n_kv_heads == 0, f"a multiple of n_kv_heads ({self.n_kv_heads})")
        widths = self.ffn_widths
        self._need("ffn_widths", widths is None or len(widths) == self.n_layers, f"one of each layer ({self.n_layers})")
        self._need("kv_shared_layers", 0 <= self.kv_shared_layers < self.n_layers, f"0 to {self.n_layers - 1}")
        self._need("mla", (self.attention.kind == "MLA") == (self.mla is not None), "given for MLA, and only then")
        stateful = not {"linear", "hybrid"}.isdisjoint(self.attention.layer_cycle)
        self._need("state", stateful == (self.state is not None), "given with linear layers, and only then")
        for kind, width in (("sliding", "window"), ("chunked", "chunk")):
            size = getattr(self.attention, width)
            used = kind in self.attention.layer_cycle
            good = size is not None and size >= 2 if used else size is None
            self._need(width, good, f"2 or more with {kind} layers, None without")

    def _need(self, field: str, good: bool, expected: str) -> None:
        if not good:
            value = getattr(self, field, None) if hasattr(self, field) else getattr(self.attention, field)
            raise GlassLlamaError("spec", f"{self.name}: {field} is {value}; expected {expected}.", field=field)

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(getattr(self, field.name) for field in fields(self)))

    def __hash__(self) -> int:  # once: a spec of a thousand layers is the key of caches
        return self._hash

    @property
    def group_size(self) -> int:
        """Query heads that share one K/V head: 1 is MHA, n_heads is MQA, anything between is GQA."""
        return self.n_heads // max(1, self.n_kv_heads)

    @property
    def v_head_dim(self) -> int:
        """Width of one value head; differs from head_dim under MLA."""
        return self.mla.v_head_dim if self.mla else self.head_dim

    @property
    def is_encoder_decoder(self) -> bool:
        return self.encoder_layers > 0

    @cached_property  # these are asked for at every place of a slider
    def layer_kinds(self) -> tuple[LayerKind, ...]:
        """The kind of every (decoder) layer, first to last."""
        cycle = self.attention.layer_cycle
        return (cycle * -(-self.n_layers // len(cycle)))[: self.n_layers]

    @cached_property
    def _layers_by_kind(self) -> Mapping[LayerKind, tuple[int, ...]]:
        found: dict[LayerKind, list[int]] = {}
        for layer, kind in enumerate(self.layer_kinds):
            found.setdefault(kind, []).append(layer)
        return {kind: tuple(layers) for kind, layers in found.items()}  # a plain dict, which pickle takes

    def layers_of(self, *kinds: LayerKind) -> tuple[int, ...]:
        """Indices of the layers of these kinds."""
        lists = [self._layers_by_kind[kind] for kind in kinds if kind in self._layers_by_kind]
        return lists[0] if len(lists) == 1 else tuple(sorted(layer for layers in lists for layer in layers))

    @cached_property
    def attention_layers(self) -> tuple[int, ...]:
        """Indices of the layers that attend to tokens, those that share K and V included."""
        return self.layers_of("full", "sliding", "chunked", "hybrid")

    @cached_property
    def own_kv_layers(self) -> tuple[int, ...]:
        """Indices of the layers that do not read another layer's K and V."""
        return tuple(range(0, self.n_layers - self.kv_shared_layers, self.kv_share_every))

    def kv_heads_of(self, kind: str) -> tuple[int, int]:
        """K/V heads and their width in layers of `kind`."""
        if kind == "full" and self.attention.full:
            return self.attention.full.n_kv_heads, self.attention.full.head_dim
        return self.n_kv_heads, self.head_dim
