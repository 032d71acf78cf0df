"""The multiplications that make up a KV cache: which layers, how many token slots, which vectors. Pure integers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from types import MappingProxyType
from typing import Literal, NamedTuple

from ..published.spec import IndexerSpec, LayerKind, ModelSpec
from .factors import Factor, how
from .formats import FORMATS, INDEXER_FP8, SIXTEEN_BIT, KvFormat
from .options import KvOptions, cached_heads, caches_latents, own_layers

# transformers quantises the 16-bit tail of hf_int4 whenever it reaches this many tokens.
HF_TAIL = 128
# What a product's layers attend to: all tokens, a window or a chunk of them, the encoder's, DeepSeek-V4's compressed
# entries; linear layers keep a state.
Place = Literal["full", "sliding", "chunked", "cross", "state", "csa", "hca"]
SelfPlace = Literal["full", "sliding", "chunked"]
SELF: tuple[SelfPlace, ...] = ("full", "sliding", "chunked")
# What each kind of layer that attends keeps: hybrid ones have K and V of every token beside their state.
PLACE_OF: Mapping[LayerKind, SelfPlace] = MappingProxyType(
    {"full": "full", "hybrid": "full", "sliding": "sliding", "chunked": "chunked"}
)


@dataclass(frozen=True)
class KvTerm:
    """One product: `bytes` is that of all factor values. `layers` are the indices of the layers that it covers.

    `part` is what is stored: "kv", "shared" (K that is V too), "latent", "indexer", "tail", "conv", "recurrent",
    "buffer" or "overlap". `draft` marks a draft model's, all of which the last pipeline stage holds. `elements` counts
    numbers, without scales.
    """

    place: Place
    part: str
    layers: tuple[int, ...]
    factors: tuple[Factor, ...]
    elements: int
    draft: bool = False

    @property
    def label(self) -> str:
        """Place and part as one name, such as "self.full.kv", "cross.kv" or "draft.self.sliding.kv"."""
        own = f"self.{self.place}" if self.place in SELF else self.place
        return f"{'draft.' if self.draft else ''}{own}.{self.part}"

    @property
    def bytes(self) -> int:
        return prod(factor.value for factor in self.factors)

    def __str__(self) -> str:
        return " × ".join(map(str, self.factors)) + f" = {self.bytes:,} B"


@dataclass(frozen=True)
class Store:
    """What one layer keeps of one token: `heads` vectors of each of `widths`, in `fmt`, or each width in its own."""

    label: str
    heads: int
    widths: tuple[int, ...]
    formats: tuple[KvFormat, ...]
    per_head: bool  # split over tensor-parallel ranks; otherwise every rank holds it whole
    width_code: str

    def head_factors(self, tp: int, dcp: int = 1) -> tuple[Factor, ...]:
        """Ranks and heads. More ranks than heads means copies: each rank holds at least one head."""
        if not self.per_head:
            code = "ranks_each_with_its_share" if dcp > 1 else "ranks_each_with_all_of_it"
            return (Factor(tp, code),) if tp > 1 else ()
        if tp == 1:
            return (Factor(self.heads, "k_v_heads"),)
        each = Factor(max(1, self.heads // tp), "k_v_heads_per_rank", f"max(1, {self.heads} // {tp})")
        return Factor(tp, "ranks"), each

    def byte_factors(self) -> tuple[Factor, ...]:
        """Bytes of one head's vectors: elements × bytes where the format has no blocks or scales, else its own sum."""
        fmt, widths = self.formats[0], self.widths
        if len(set(self.formats)) == 1 and fmt.block == 1 and not fmt.vector_extra:
            size = Factor(fmt.block_bytes, "bytes", params={"format": fmt.name})
            if len(set(widths)) == 1 and len(widths) == 2:
                return Factor(2, "k_and_v"), Factor(widths[0], self.width_code), size
            formula = " + ".join(map(str, widths)) if len(widths) > 1 else ""
            return Factor(sum(widths), self.width_code, formula), size
        if len(set(zip(widths, self.formats, strict=True))) == 1 and len(widths) == 2:
            size, formula = fmt.vector_bytes(widths[0]), fmt.vector_formula(widths[0])
            return Factor(2, "k_and_v"), Factor(size, "bytes_per_vector", formula, {"format": fmt.name})
        pairs = list(zip(widths, self.formats, strict=True))
        formula = " + ".join(f.vector_formula(width) for width, f in pairs)
        unit = "bytes_per_k_v_head" if self.per_head else "bytes_per_token"
        return (Factor(sum(f.vector_bytes(width) for width, f in pairs), unit, formula, {"format": fmt.name}),)


def stores(spec: ModelSpec, fmt: KvFormat, options: KvOptions, kind: Place = "full") -> Iterable[Store]:
    """What each self-attention layer of `kind` keeps of a token, in format `fmt`."""
    heads, mla = cached_heads(spec, options, kind), spec.mla
    if spec.attention.k_is_v:
        yield Store("shared", heads, (spec.kv_heads_of(kind)[1],), (fmt.of_k,), True, "head_dim")
    elif mla is None:
        yield Store("kv", heads, (spec.kv_heads_of(kind)[1],) * 2, (fmt, fmt.of_v), True, "head_dim")
    elif caches_latents(spec, options):
        rope = SIXTEEN_BIT if fmt.name == "fp8_ds_mla" else fmt.of_k
        widths = (mla.kv_lora_rank, mla.qk_rope_head_dim)
        yield Store("latent", heads, widths, (fmt.of_k, rope), False, "latent_rope_key")
    else:
        widths = (mla.qk_nope_head_dim + mla.qk_rope_head_dim, mla.v_head_dim)
        yield Store("kv", heads, widths, (fmt, fmt.of_v), True, "widths_of_k_v")
    if spec.indexer:
        yield indexer_store(spec.indexer, fmt, options)


def indexer_store(indexer: IndexerSpec, fmt: KvFormat, options: KvOptions) -> Store:
    """The one key that an indexer keeps."""
    own = SIXTEEN_BIT if fmt.name == "fp8_ds_mla" else fmt.of_k
    key_format = INDEXER_FP8 if options.indexer == "fp8" else own
    return Store("indexer", 1, (indexer.head_dim,), (key_format,), False, "indexer_key")


def kv_terms(spec: ModelSpec, tokens: int, batch: int, fmt: KvFormat, options: KvOptions) -> tuple[KvTerm, ...]:
    """Every product that the cache consists of; their sum is the whole, over all ranks and stages.

    `tokens` and `batch` as used; the options may reserve more. Raises GlassLlamaError where `fmt` does not fit a width.
    """
    terms: list[KvTerm] = []
    for kind, indices in _keeping(spec, options.shared_layers, options.mtp):
        for part, part_format, slots in _parts(spec, kind, tokens, batch, fmt, options):
            for store in stores(spec, part_format, options, kind):
                terms.append(stored_term(kind, part or store.label, indices, slots, store, options))
    terms += _state_terms(spec, options.reserved_batch or batch, fmt, options)
    if spec.is_encoder_decoder:
        encoder_tokens, sequences = options.encoder_tokens or tokens, options.reserved_batch or batch
        slots = token_slots(encoder_tokens, 0, sequences, options.block_size, 0)
        for store in stores(spec, fmt, options):
            terms.append(stored_term("cross", "kv", tuple(range(spec.n_layers)), slots, store, options))
    return tuple(terms)


@lru_cache(maxsize=64)  # asked for at every place of a slider, and at every step of a search
def _keeping(spec: ModelSpec, shared: int | None, mtp: bool) -> tuple[tuple[SelfPlace, tuple[int, ...]], ...]:
    """The layers of each kind that keep K and V of their own, kinds without any left out."""
    kinds = spec.layer_kinds
    kind_of: dict[int, LayerKind] = {index: kinds[index] for index in own_layers(spec, shared)}
    for ahead in range(spec.mtp_layers if mtp else 0):
        kind_of[spec.n_layers + ahead] = "full"
    of_kind: dict[SelfPlace, tuple[int, ...]] = {
        kind: tuple(i for i, one in kind_of.items() if PLACE_OF.get(one) == kind) for kind in SELF
    }
    return tuple((kind, indices) for kind, indices in of_kind.items() if indices)


def _state_terms(spec: ModelSpec, sequences: int, fmt: KvFormat, options: KvOptions) -> Iterable[KvTerm]:
    """The constant state of linear layers (vLLM's MambaSpec: a convolution's last inputs and the state itself)."""
    state, indices = spec.state, spec.layers_of("linear", "hybrid")
    if state is None or not indices:
        return
    plain = unquantised(fmt)
    exact = options.state == "fp32" or (options.state == "own" and state.fp32)
    leading = (Factor(len(indices), "layers"), Factor(sequences, "sequences"))
    newest = 1 if options.window == "transformers" else 0
    past = Factor(state.conv_past + newest, "past_inputs", f"{state.conv_past} + 1" if newest else "")
    conv = (Factor(state.conv_channels, "channels"), past)
    recurrent = (Factor(state.heads, "heads"), Factor(state.rows, "rows"), Factor(state.columns, "columns"))
    if state.rows == 1:  # Mamba-1 has channels in place of heads
        recurrent = (Factor(state.heads, "channels"), Factor(state.columns, "columns"))
    for part, sizes, stored in (("conv", conv, plain), ("recurrent", recurrent, FORMATS["fp32"] if exact else plain)):
        if sizes[0].value:
            factors = (*leading, *sizes)
            size = Factor(stored.block_bytes, "bytes", params={"format": stored.name})
            yield KvTerm("state", part, indices, (*factors, size), prod(factor.value for factor in factors))


def unquantised(fmt: KvFormat) -> KvFormat:
    """The format of what no engine quantises."""
    return fmt.of_k if fmt.of_k.name in ("fp32", "fp16", "bf16") else SIXTEEN_BIT


def stored_term(
    place: Place, part: str, layers: tuple[int, ...], slots: tuple[Factor, ...], store: Store, options: KvOptions
) -> KvTerm:
    """The product of what `layers` keep in `slots` each."""
    leading = (Factor(len(layers), "layers"), *slots, *store.head_factors(options.tp, options.dcp))
    elements = prod(factor.value for factor in leading) * sum(store.widths)
    return KvTerm(place, part, layers, leading + store.byte_factors(), elements)


def _parts(
    spec: ModelSpec, kind: SelfPlace, tokens: int, batch: int, fmt: KvFormat, options: KvOptions
) -> Iterable[tuple[str, KvFormat, tuple[Factor, ...]]]:
    """(special name, format, token slots) of what a layer keeps: one part, or two where the newest tokens are apart."""
    if fmt.name != "hf_int4":
        yield "", fmt, _layer_slots(spec, kind, tokens, batch, options)
        return
    if options.prompt_tokens is None:
        tail = min(tokens - 1, HF_TAIL - 1)
        came = how("longest_tail", least=f"min({tokens:,} - 1, {HF_TAIL - 1})")
    else:
        tail = (tokens - options.prompt_tokens) % HF_TAIL
        came = f"({tokens:,} - {options.prompt_tokens:,}) mod {HF_TAIL}"
    quantised = Factor(tokens - tail, "tokens", f"{tokens:,} - {tail}" if tail else "")
    yield "", fmt, (Factor(batch, "sequences"), quantised)
    if tail:
        yield "tail", SIXTEEN_BIT, (Factor(batch, "sequences"), Factor(tail, "tokens", came))


def _layer_slots(spec: ModelSpec, kind: SelfPlace, tokens: int, batch: int, options: KvOptions) -> tuple[Factor, ...]:
    """Token slots that one layer of `kind` takes, over the batch, after reservation, window, paging and sharing."""
    total, sequences = options.reserved_tokens or tokens, options.reserved_batch or batch
    if (
        options.dcp > 1
    ):  # one rank's tokens; its blocks hold every dcp-th token, so dcp × block_size tokens fill one each
        each = -(-total // options.dcp)
        share = f"ceil({total:,} / {options.dcp})"
        return token_slots(each, 0, sequences, options.block_size, options.shared_prefix // options.dcp, share)
    window = window_slots(spec, kind, options)
    if window is None:
        return token_slots(total, 0, sequences, options.block_size, options.shared_prefix)
    if options.window == "vllm":
        return _vllm_slots(kind, window, total, sequences, options)
    kept = min(total, window.tokens)
    least = f"min({total:,}, {window.how})"
    return token_slots(total, total - kept, sequences, options.block_size, options.shared_prefix, least)


class Window(NamedTuple):
    """The most tokens of a sequence that a layer keeps, and how that number comes about."""

    tokens: int
    how: str


def window_slots(spec: ModelSpec, kind: Place, options: KvOptions) -> Window | None:
    """The most tokens that a layer of `kind` keeps under `options.window`, before paging; None where it keeps all."""
    size = {"sliding": spec.attention.window, "chunked": spec.attention.chunk}.get(kind)
    if size is None or options.window == "off" or options.dcp > 1:
        return None
    if options.window == "transformers":
        return Window(size - 1, f"{size:,} - 1")
    if options.window == "vllm":
        past, batched = size - 1 if kind == "sliding" else size, options.batched_tokens or 0
        return Window(past + batched, f"{past:,} + {batched:,}")
    return Window(size, f"{size:,}")


def token_slots(
    tokens: int, dropped: int, sequences: int, block: int, shared_prefix: int, came: str = ""
) -> tuple[Factor, ...]:
    """Slots for tokens `dropped` … `tokens` - 1 of each sequence, in whole blocks that begin at multiples of `block`.

    The full blocks of the first `shared_prefix` tokens are stored once for all sequences; a block that a prefix ends
    within is each sequence's own.
    """
    first, end = dropped // block, -(-tokens // block)
    per_block = (Factor(block, "tokens_per_block"),) if block > 1 else ()
    unit = "blocks" if block > 1 else "tokens"
    if shared_prefix:
        common = max(0, shared_prefix // block - first)
        own = end - first - common
        words = how("shared", shared=common, sequences=sequences, each=own)
        return Factor(common + sequences * own, unit, words), *per_block
    if block > 1:
        whole = f"({came})" if came and not dropped else f"{tokens:,}"
        came = f"ceil({whole} / {block})" + (f" - {dropped:,} // {block}" if dropped else "")
    return Factor(sequences, "sequences"), Factor(end - first, unit, came), *per_block


def _vllm_slots(kind: SelfPlace, window: Window, tokens: int, sequences: int, options: KvOptions) -> tuple[Factor, ...]:
    """vLLM's reservation for one sequence (SlidingWindowSpec, ChunkedLocalAttentionSpec), in blocks."""
    block, extra = options.block_size, 1 if kind == "sliding" else 0
    blocks = -(-min(window.tokens, tokens) // block) + extra
    came = f"ceil(min({window.how}, {tokens:,}) / {block})" + (" + 1" if extra else "")
    return Factor(sequences, "sequences"), Factor(blocks, "blocks", came), Factor(block, "tokens_per_block")
