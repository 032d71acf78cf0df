"""One published model: its widths, its parts, and where they were read."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property

from ...errors import GlassLlamaError
from .attention import AssumedHeads, AttentionSpec, LayerKind
from .experts import MoeSpec
from .feedforward import FfnSpec
from .latent import MlaSpec
from .norm import NormSpec
from .position import PositionSpec
from .sparse import CompressedSpec, IndexerSpec
from .state import StateSpec
from .weights import Bias, ExtraWeights, PublishedParameters, QuantSpec

TEXT_ALONE = "The text model alone"  # how a note begins on a file that has a tower beside it


@dataclass(frozen=True, kw_only=True)
class ModelSpec:
    """One published model. Widths are counts of elements, `max_context` of tokens.

    - `n_layers`: decoder layers, in an encoder–decoder too; `encoder_layers` counts the encoder's.
    - `n_heads`, `n_kv_heads`, `head_dim`: 0 without attention. For MLA, `head_dim` is the width of q and k.
    - `max_context`: None where nothing limits it. `tied_embeddings`: None where no source says.
    - `ffn_widths`: the width of each layer's feed-forward block, 0 where it has none; None: `ffn_hidden` everywhere.
    - `kv_shared_layers`: so many of the last layers read an earlier layer's K and V, and keep none.
    - `kv_share_every`: of so many layers only the first keeps K and V (cross-layer attention).
    - `mtp_layers`: extra layers that run only for speculative decoding.
    - `bias`: on q, k and v ("qkv"), on these and the output ("attention"), or everywhere but on the logits ("all"),
      which have `unembedding_bias`.
    - `also`: later models with a network of this shape.
    - `unstated`: what is missing or wrong in the config that the weights depend on and the cache does not.
    - `number_type`: which of NUMBER_TYPES config.json names for numbers that are not quantised, "" where it names none.
    - `quantised`: how config.json says that the weights are stored; `quantised_unread`: why that is not counted.
    - `kv_heads_assumed`: where `n_kv_heads` comes from if the file does not count them, else None.
    - `head_dim_assumed`: the same of `head_dim`, where transformers' class has a width of its own.
    - `head_dim_passed_over`: (key, model_type) of keys that are a head's width by another class's name, which
      transformers' class for the file's own model_type does not read.
    - `source`: where the numbers were read; `not_verified`: which of them were not.

    Raises GlassLlamaError ("spec"), naming the field, for numbers that do not fit each other.
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
    kv_heads_assumed: AssumedHeads | None = None
    head_dim_assumed: AssumedHeads | None = None
    head_dim_passed_over: tuple[tuple[str, str], ...] = ()
    unstated: tuple[GlassLlamaError, ...] = ()
    number_type: str = ""
    quantised: QuantSpec | None = None
    quantised_unread: str = ""
    also: tuple[str, ...] = ()
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
