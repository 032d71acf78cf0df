"""What an engine does beyond the plain KV-cache formula, and which combinations make sense. Pure integers."""

import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Literal, get_args

from ..errors import shortly
from ..published.expected import any_of, expected
from ..published.spec import ModelSpec
from ..refusals import Refusals
from .formats import KvFormat

MAX_TOKENS = 10**8
MAX_BATCH = 10**6
MAX_RANKS = 10**4
_DECIMAL = re.compile(r"([0-9]{1,3}(?:\.[0-9]{0,6})?|\.[0-9]{1,6})( ?%)?")

WindowPolicy = Literal["ideal", "transformers", "vllm", "off"]
Layout = Literal["formula", "expanded_mla", "broadcast_heads"]
IndexerFormat = Literal["fp8", "dtype"]
StateFormat = Literal["own", "dtype", "fp32"]


@dataclass(frozen=True)
class KvOptions:
    """How the cache is kept. The defaults are the formula itself: one device, no paging, nothing reserved.

    - `encoder_tokens`: length of the encoder's input (encoder–decoder only); None takes it as long as `tokens`.
    - `window`: what sliding (W tokens) and chunked (C tokens) layers keep. "ideal": min(tokens, W or C).
      "transformers": min(tokens, W - 1), since the query's own token is not past. "vllm": what vLLM reserves for one
      sequence, from min(W - 1 + batched_tokens, tokens) and one block more for misalignment, or min(C + batched_tokens,
      tokens). "off": every token (vLLM without its hybrid allocator). A convolution keeps its kernel's width less 1
      inputs; under "transformers" one more, the newest token's. Tokens that wait for DeepSeek-V4's next compressed
      entry count as they are under "transformers", else at their most, one less than an entry takes.
    - `batched_tokens`: vLLM's max_num_batched_tokens; needed by window="vllm" and used by it alone.
    - `block_size`: tokens per page; each sequence takes whole blocks. 1: no paging. vLLM's default is 16.
      With compressed entries, a multiple of the tokens that an entry takes.
    - `shared_prefix`: first tokens that all sequences have in common. Their full blocks are stored once.
    - `shared_layers`: cross-layer sharing: this many of the last layers read an earlier layer's K and V and keep none
      (Gemma 3n; half of them in CLA2, arXiv 2405.12981). None: as many as the model's own config says.
    - `reserved_tokens`, `reserved_batch`: a static cache, allocated for so many tokens and sequences in any case.
    - `tp`: tensor-parallel ranks. K/V heads are split, and copied once tp > n_kv_heads; MLA's latent is whole on each.
    - `pp`: pipeline stages of consecutive layers; the (n_layers mod pp) stages before the last hold one layer more.
    - `layout`: "expanded_mla" caches full K and V per head instead of the latent (DeepSeek's attn_impl="naive",
      transformers 4.57); "broadcast_heads" caches each K/V head once per query head (Falcon-40B in transformers).
    - `indexer`: DeepSeek-V3.2's and V4's key as "fp8" with its scale (132 bytes), or in the cache's own "dtype"
      (transformers).
    - `dcp`: decode context parallelism (vLLM). Ranks that would hold copies of the same head or latent hold different
      tokens instead, ceil(tokens / dcp) each; a divisor of the copies. No more GPUs than tp × pp.
    - `state`: what linear (state-space) layers keep their state in: as the model's "own" code does (StateSpec.fp32), in
      the cache's "dtype" (16 bits where that is quantised), or in "fp32". Their convolution's inputs stay in 16 bits,
      or in fp32 with an fp32 cache.
    - `draft`: a smaller model (a ModelSpec, or a name in the catalogue) that drafts tokens; it caches every token too.
    - `mtp`: count the multi-token-prediction layers, which cache too when they draft tokens.
    - `prompt_tokens`: for hf_int4, how many of `tokens` were the prompt. The others fill a 16-bit tail, which is
      quantised at every 128th token; None counts the longest tail, 127.

    Raises GlassLlamaError for a value out of its range, naming the field.
    """

    encoder_tokens: int | None = None
    window: WindowPolicy = "ideal"
    batched_tokens: int | None = None
    block_size: int = 1
    shared_prefix: int = 0
    shared_layers: int | None = None
    reserved_tokens: int | None = None
    reserved_batch: int | None = None
    tp: int = 1
    pp: int = 1
    layout: Layout = "formula"
    indexer: IndexerFormat = "fp8"
    dcp: int = 1
    state: StateFormat = "own"
    draft: ModelSpec | str | None = None
    mtp: bool = False
    prompt_tokens: int | None = None

    def __post_init__(self) -> None:
        ranges = {
            "encoder_tokens": (1, MAX_TOKENS),
            "batched_tokens": (1, MAX_TOKENS),
            "block_size": (1, MAX_TOKENS),
            "shared_prefix": (0, MAX_TOKENS),
            "shared_layers": (0, MAX_RANKS),
            "reserved_tokens": (1, MAX_TOKENS),
            "reserved_batch": (1, MAX_BATCH),
            "tp": (1, MAX_RANKS),
            "pp": (1, MAX_RANKS),
            "dcp": (1, MAX_RANKS),
            "prompt_tokens": (1, MAX_TOKENS),
        }
        for name, (low, high) in ranges.items():
            value = getattr(self, name)
            if not (value is None and self.__dataclass_fields__[name].default is None):
                object.__setattr__(self, name, whole(name, value, low, high))
        words = (("window", WindowPolicy), ("layout", Layout), ("indexer", IndexerFormat), ("state", StateFormat))
        for name, choices in words:
            if getattr(self, name) not in get_args(choices):
                raise refusal(name, getattr(self, name), any_of(get_args(choices)))
        if not isinstance(self.mtp, bool):
            raise refusal("mtp", self.mtp, "True or False")
        if not isinstance(self.draft, ModelSpec | str | None):
            raise refusal("draft", self.draft, "a ModelSpec, a name in the catalogue, or None")


def options_from(given: Mapping[str, Any]) -> KvOptions:
    """KvOptions from plain data, such as a request's; None leaves a default. Raises GlassLlamaError for other names."""
    known = KvOptions.__dataclass_fields__
    for name in given:
        if name not in known:
            raise refusal("options", name, any_of(known))
    return KvOptions(**{name: value for name, value in given.items() if value is not None})


def whole(field: str, value: Any, low: int, high: int) -> int:
    """`value` as an int within [low, high]. Raises GlassLlamaError, naming `field` and the range, for all else."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or not low <= number <= high:
        raise refusal(field, value, expected("whole", low=low, high=high))
    return number


def percentage(field: str, value: Any) -> int | Fraction:
    """`value` in per cent, exactly: an int or a Fraction from 1 to 100, or below 1 a share. A float or a text is a
    share such as vLLM's 0.9 up to 1.0, which is all of it, and per cent from 2 on, or with a sign ("1.5 %"); what lies
    between may be either. Raises GlassLlamaError, naming `field`, for that and for all else.

    A float counts as the decimal number that it is written as, so 0.29 is 29 per cent.
    """
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        percent = Fraction(value) * 100 if value < 1 else Fraction(value)
    else:
        percent = _percent_in(str(value) if isinstance(value, float | str) else "")
    if not 1 <= percent <= 100:
        raise refusal(field, value, expected("percent"))
    return int(percent) if percent.denominator == 1 else percent


def _percent_in(written: str) -> Fraction:
    """The per cent that is written, 0 where that is none, or may be a share as well."""
    told = _DECIMAL.fullmatch(written)
    number = Fraction(told[1]) if told else Fraction(0)
    if told and told[2]:
        return number
    return number * 100 if number <= 1 else number if number >= 2 else Fraction(0)


def plain_number(value: int | Fraction) -> int | float:
    """As a number that JSON has."""
    return value if isinstance(value, int) else float(value)


def _separated(value: object) -> str:
    """A value as the calculators write it: a count with separators."""
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else repr(value)


refusal = Refusals("kv_value", quote=partial(shortly, write=_separated)).wrong


def check(spec: ModelSpec, tokens: int, batch: int, fmt: KvFormat, options: KvOptions) -> None:
    """Raises GlassLlamaError where the options do not fit the model, the format or each other."""
    _check_model(spec, options)
    _check_ranks(spec, options)
    _check_format(spec, fmt, options)
    _check_storage(tokens, batch, fmt, options)


def caches_latents(spec: ModelSpec, options: KvOptions) -> bool:
    """Whether one latent for all heads is cached, rather than K and V per head."""
    return spec.mla is not None and options.layout != "expanded_mla"


def caches_v(spec: ModelSpec, options: KvOptions) -> bool:
    """Whether V is cached beside K: not where one latent or one entry stands for both, or K is V too."""
    return not (caches_latents(spec, options) or spec.attention.k_is_v or spec.compressed)


def has_indexer(spec: ModelSpec) -> bool:
    """Whether keys of an indexer are cached."""
    return spec.indexer is not None or any(branch.indexer for branch in spec.compressed)


def cached_heads(spec: ModelSpec, options: KvOptions, kind: str = "sliding") -> int:
    """K/V heads that a layer of `kind` caches: 1 latent under MLA, and every query head where an engine expands or
    broadcasts."""
    if caches_latents(spec, options):
        return 1
    return spec.kv_heads_of(kind)[0] if options.layout == "formula" else spec.n_heads


def own_layers(spec: ModelSpec, shared: int | None) -> Sequence[int]:
    """Indices of the layers that keep K and V of their own, if any; `shared` as KvOptions.shared_layers."""
    return spec.own_kv_layers if shared is None else range(spec.n_layers - shared)


def rank_copies(spec: ModelSpec, options: KvOptions) -> int:
    """Tensor-parallel ranks that keep the same K/V head, or the same latent: tp > n_kv_heads makes copies."""
    if caches_latents(spec, options):
        return options.tp
    return max(1, options.tp // max(1, cached_heads(spec, options)))


def _check_model(spec: ModelSpec, options: KvOptions) -> None:
    if options.layout == "expanded_mla" and spec.mla is None:
        raise refusal("layout", options.layout, expected("no_mla", kind=spec.attention.kind, model=spec.name))
    if options.layout == "broadcast_heads" and (spec.mla is not None or not spec.n_heads):
        raise refusal("layout", options.layout, expected("no_heads", model=spec.name))
    if options.layout != "formula" and spec.compressed:
        raise refusal("layout", options.layout, any_of(("formula",)))
    for branch in spec.compressed:
        if options.block_size > 1 and options.block_size % branch.rate:
            whole_entries = expected("multiple", name="compress_rates", value=branch.rate)
            raise refusal("block_size", options.block_size, whole_entries)
    if options.encoder_tokens is not None and not spec.is_encoder_decoder:
        raise refusal("encoder_tokens", options.encoder_tokens, expected("no_encoder", model=spec.name))
    if options.mtp and not spec.mtp_layers:
        raise refusal("mtp", options.mtp, expected("no_mtp", model=spec.name))
    if not own_layers(spec, options.shared_layers):
        raise refusal(
            "shared_layers", options.shared_layers, expected("at_most", name="n_layers - 1", value=spec.n_layers - 1)
        )
    if options.state != "own" and spec.state is None:
        raise refusal("state", options.state, expected("no_linear", model=spec.name))
    if options.indexer == "dtype" and not has_indexer(spec):
        raise refusal("indexer", options.indexer, expected("no_indexer", model=spec.name))


def _check_ranks(spec: ModelSpec, options: KvOptions) -> None:
    if spec.n_heads % options.tp:
        raise refusal("tp", options.tp, expected("divisor", name="n_heads", value=spec.n_heads))
    for kind in ("sliding", "full"):
        heads = cached_heads(spec, options, kind)
        if heads % options.tp and options.tp % heads:
            raise refusal("tp", options.tp, expected("divisor_or_multiple", name="n_kv_heads", value=heads))
    copies = rank_copies(spec, options)
    if copies % options.dcp:
        raise refusal("dcp", options.dcp, expected("divisor_of_copies", tp=options.tp, copies=copies))
    if options.dcp > 1 and (set(spec.attention.layer_cycle) != {"full"} or spec.is_encoder_decoder):
        raise refusal("dcp", options.dcp, expected("dcp_plain"))
    if spec.state and (spec.state.heads % options.tp or spec.state.conv_channels % options.tp):
        raise refusal(
            "tp", options.tp, expected("divisor_of_state", heads=spec.state.heads, channels=spec.state.conv_channels)
        )
    if options.pp > spec.n_layers:
        raise refusal("pp", options.pp, expected("at_most", name="n_layers", value=spec.n_layers))


def _check_format(spec: ModelSpec, fmt: KvFormat, options: KvOptions) -> None:
    latents = caches_latents(spec, options)
    if fmt.name == "fp8_ds_mla":
        widths = (spec.mla.kv_lora_rank, spec.mla.qk_rope_head_dim) if spec.mla and latents else None
        if widths != (512, 64):
            raise refusal("dtype", fmt.name, expected("latent_format"))
    elif fmt.engine == "vLLM" and latents:
        raise refusal("dtype", fmt.name, expected("head_format"))
    if fmt.name == "hf_int4":
        if set(spec.attention.layer_cycle) != {"full"} or spec.is_encoder_decoder or has_indexer(spec):
            raise refusal("dtype", fmt.name, expected("int4_plain"))
        if options.dcp > 1:
            raise refusal("dcp", options.dcp, expected("dcp_int4"))
    elif options.prompt_tokens is not None:
        raise refusal("prompt_tokens", options.prompt_tokens, expected("int4_only"))


def _check_storage(tokens: int, batch: int, fmt: KvFormat, options: KvOptions) -> None:
    paged = options.block_size > 1 or options.shared_prefix > 0
    reserved = options.reserved_tokens is not None or options.reserved_batch is not None
    for name, least in (("reserved_tokens", tokens), ("reserved_batch", batch)):
        value = getattr(options, name)
        if value is not None and value < least:
            raise refusal(name, value, expected("at_least_used", value=least))
    for name in ("shared_prefix", "prompt_tokens"):
        value = getattr(options, name)
        if value is not None and value > tokens:
            raise refusal(name, value, expected("at_most", name="tokens", value=tokens))
    if paged and reserved:
        raise refusal("reserved_tokens", options.reserved_tokens, expected("reserved_unpaged"))
    if fmt.name == "hf_int4" and (paged or reserved):
        raise refusal("dtype", fmt.name, expected("int4_alone"))
    if options.window == "transformers" and (paged or reserved):
        raise refusal("window", options.window, expected("ideal_paged"))
    if options.window == "vllm" and (options.shared_prefix or reserved):
        raise refusal("window", options.window, expected("ideal_shared"))
    if (options.window == "vllm") != (options.batched_tokens is not None):
        raise refusal("batched_tokens", options.batched_tokens, expected("batched_vllm"))
