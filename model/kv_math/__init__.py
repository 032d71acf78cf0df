"""How many bytes a KV cache takes, exactly, with every multiplication shown. Pure integers: no torch, no floats.

The formula, per sequence (vLLM's AttentionSpec; DeepSeek-V2 report, arXiv 2405.04434, table 1):

    bytes = sum over layers of  tokens kept × n_kv_heads × (d_k + d_v) × bytes per element        MHA, GQA, MQA
    bytes = n_layers × tokens × (kv_lora_rank + qk_rope_head_dim) × bytes per element              MLA

Units: B is a byte, GiB 1024³ bytes, GB 10⁹ bytes; tokens are exact, so "8K" is 8192.
On the command line: python -m model.kv_math "Llama-3 8B" --tokens 8192
"""

from dataclasses import dataclass, field, replace
from types import MappingProxyType

from ..published.spec import TEXT_ALONE, AssumedHeads, ModelSpec
from .compressed import compressed_terms, mean_terms
from .factors import Factor
from .formats import FORMATS, KvFormat, kv_format
from .options import MAX_BATCH, MAX_TOKENS, KvOptions, caches_latents, caches_v, check, rank_copies, refusal, whole
from .spread import Share, Spread
from .stages import draft_setup, find_spec
from .terms import SELF, KvTerm, kv_terms, unquantised

__all__ = [
    "FORMATS",
    "Factor",
    "KvBreakdown",
    "KvNote",
    "KvOptions",
    "KvTerm",
    "kv_breakdown",
    "kv_bytes_per_token",
    "kv_cache_bytes",
    "kv_token_terms",
]


@dataclass(frozen=True)
class KvNote:
    """Something that a reader should know about a figure: a code for translation, English text, its particulars."""

    code: str
    text: str
    params: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class KvBreakdown:
    """A KV cache's bytes with the products that they are the sum of.

    `stage_bytes[s]` is what one GPU of pipeline stage s holds; all of its tensor-parallel ranks hold as much.
    """

    spec: ModelSpec
    tokens: int
    batch: int
    dtype: str
    options: KvOptions
    terms: tuple[KvTerm, ...]
    notes: tuple[KvNote, ...]

    @property
    def total_bytes(self) -> int:
        """Bytes of the whole cache: all layers, sequences, ranks and stages."""
        return sum(term.bytes for term in self.terms)

    @property
    def elements(self) -> int:
        """Numbers held, without scales, copies on further ranks included."""
        return sum(term.elements for term in self.terms)

    @property
    def stage_bytes(self) -> tuple[int, ...]:
        return self.in_stages(self.options.pp)

    def in_stages(self, pp: int) -> tuple[int, ...]:
        """What one GPU of each of `pp` stages holds of the same cache, whatever its options say."""
        each, drafting = self.rank_bytes
        shares = (Share(layers, count * len(layers)) for layers, count in each.items())
        return Spread(self.spec.n_layers, self.spec.mtp_layers, shares, 0, drafting).in_stages(pp)

    @property
    def rank_bytes(self) -> tuple[dict[tuple[int, ...], int], int]:
        """Bytes on one rank: in each layer, by the layers that keep as much; and of the model that drafts."""
        each: dict[tuple[int, ...], int] = {}
        drafting = 0
        for term in self.terms:
            count = term.bytes // len(term.layers) // self.options.tp
            if term.draft:
                drafting += count * len(term.layers)
            else:
                each[term.layers] = each.get(term.layers, 0) + count
        return each, drafting

    @property
    def per_gpu_bytes(self) -> int:
        """Bytes on the fullest GPU."""
        return max(self.stage_bytes)


def kv_cache_bytes(
    spec: ModelSpec | str, tokens: int = 8192, batch: int = 1, dtype: str = "bf16", options: KvOptions | None = None
) -> int:
    """Bytes of the KV cache of `batch` sequences of `tokens` tokens each, over all GPUs.

    `spec` is a ModelSpec or a name in the catalogue, `dtype` a name in FORMATS, or two of llama.cpp's as "K/V", such as
    "q8_0/q4_0". In an encoder–decoder, `tokens` counts the decoder's and the cross-attention cache is included; see
    KvOptions.encoder_tokens.
    Raises GlassLlamaError, naming the field and what it may be: tokens 1 to 10⁸, batch 1 to 10⁶.
    """
    return kv_breakdown(spec, tokens, batch, dtype, options).total_bytes


def kv_bytes_per_token(spec: ModelSpec | str, dtype: str = "bf16", options: KvOptions | None = None) -> int:
    """Bytes that one token of one sequence takes while every layer keeps it: before windows drop it, without paging.

    Summed over all tensor-parallel ranks and pipeline stages. In an encoder–decoder this is the decoder's own token,
    without the encoder's (cross-attention) part; under hf_int4, a quantised one; under dcp, on those of the ranks alone
    that hold this token. A draft model's token counts, a linear layer's constant state does not. Of an entry that is
    compressed from several tokens each counts its share, rounded up to a byte. Raises as `kv_cache_bytes`.
    """
    return sum(term.bytes for term in kv_token_terms(spec, dtype, options))


def kv_token_terms(spec: ModelSpec | str, dtype: str = "bf16", options: KvOptions | None = None) -> tuple[KvTerm, ...]:
    """The products that `kv_bytes_per_token` is the sum of."""
    given = options or KvOptions()
    plain = KvOptions(
        shared_layers=given.shared_layers,
        tp=given.tp,
        pp=given.pp,
        dcp=given.dcp,
        layout=given.layout,
        indexer=given.indexer,
        draft=given.draft,
        mtp=given.mtp,
    )
    found = kv_breakdown(spec, 1, 1, dtype, plain)
    means = list(mean_terms(found.spec, kv_format(dtype), plain))
    if plain.draft is not None:
        draft, kept = draft_setup(plain)
        means += [replace(term, draft=True) for term in mean_terms(draft, kv_format(dtype), kept)]
    terms = (*(term for term in found.terms if term.place in SELF), *means)
    return tuple(_on_ranks_of_one_token(term, given) for term in terms) if given.dcp > 1 else terms


def _on_ranks_of_one_token(term: KvTerm, options: KvOptions) -> KvTerm:
    """What a token takes under dcp: of every dcp ranks that would each hold a copy of it, one does."""
    held = f"{options.tp} / {options.dcp}"

    def holding(factor: Factor) -> Factor:
        if not factor.code.startswith("ranks"):
            return factor
        code = "ranks_each_with_all_of_it" if factor.code == "ranks_each_with_its_share" else factor.code
        return replace(factor, code=code, value=factor.value // options.dcp, how=held)

    factors = tuple(map(holding, term.factors))
    return replace(term, factors=factors, elements=term.elements // options.dcp)


def kv_breakdown(
    spec: ModelSpec | str, tokens: int = 8192, batch: int = 1, dtype: str = "bf16", options: KvOptions | None = None
) -> KvBreakdown:
    """As `kv_cache_bytes`, with every multiplication, the bytes per GPU and notes. Raises the same errors."""
    options = KvOptions() if options is None else options
    spec = find_spec(spec)
    if not isinstance(options, KvOptions):
        raise refusal("options", options, "a KvOptions")
    tokens, batch = whole("tokens", tokens, 1, MAX_TOKENS), whole("batch", batch, 1, MAX_BATCH)
    fmt = kv_format(dtype)
    check(spec, tokens, batch, fmt, options)
    terms = _own_terms(spec, tokens, batch, fmt, options)
    if options.draft is not None:
        terms += _draft_terms(tokens, batch, fmt, options)
    notes = (*_notes(spec, tokens, fmt, options), *_state_notes(spec, fmt, options, terms))
    return KvBreakdown(spec, tokens, batch, fmt.name, options, terms, notes)


def _draft_terms(tokens: int, batch: int, fmt: KvFormat, options: KvOptions) -> tuple[KvTerm, ...]:
    """The cache of the model that drafts."""
    draft, kept = draft_setup(options)
    check(draft, tokens, batch, fmt, kept)
    return tuple(replace(term, draft=True) for term in _own_terms(draft, tokens, batch, fmt, kept))


def _own_terms(spec: ModelSpec, tokens: int, batch: int, fmt: KvFormat, options: KvOptions) -> tuple[KvTerm, ...]:
    """The cache of one model."""
    entries = compressed_terms(spec, tokens, batch, fmt, options)
    return (*kv_terms(spec, tokens, batch, fmt, options), *entries)


def _notes(spec: ModelSpec, tokens: int, fmt: KvFormat, options: KvOptions) -> list[KvNote]:
    notes = []
    if spec.max_context is not None and tokens > spec.max_context:
        text = f"{tokens:,} tokens are more than the model's context of {spec.max_context:,}."
        notes.append(KvNote("beyond_context", text, {"tokens": tokens, "max_context": spec.max_context}))
    if spec.is_encoder_decoder and options.encoder_tokens is None:
        counted = f"{tokens:,} token{'' if tokens == 1 else 's'}"
        text = f"No encoder_tokens given: the encoder's input counts as {counted}, like the decoder's."
        notes.append(KvNote("encoder_tokens", text, {"tokens": tokens}))
    if any(note.startswith(TEXT_ALONE) for note in spec.notes):
        text = "The text part only, as “(text)” in the list: the file's vision or audio tower is not counted."
        notes.append(KvNote("text_alone", text, {}))
    if spec.kv_heads_assumed:
        notes.append(_assumed_note(spec.kv_heads_assumed, spec.n_kv_heads))
    if width := spec.head_dim_assumed:
        text = (
            f"{width.field} is not in the file: {spec.head_dim:,}, as transformers' class for {width.kind} then has it."
        )
        params = {"field": width.field, "kind": width.kind, "width": spec.head_dim}
        notes.append(KvNote("assumed_head_dim", text, params))
    notes += [_passed_over_note(spec, key, kind) for key, kind in spec.head_dim_passed_over]
    if spec.unstated:
        fields = [str(one.params["field"]) for one in spec.unstated]
        text = (
            f"Missing or wrong in the file: {', '.join(fields)}. The cache does not need it; weights and activations "
            "do, and are left out. What fits then needs the bytes of the model's files."
        )
        notes.append(KvNote("unstated", text, {"fields": fields}))
    copies = rank_copies(spec, options) // options.dcp
    if copies > 1:
        text = f"A rank keeps whole K/V heads, or the whole latent: {options.tp} ranks hold {copies} copies of each."
        notes.append(KvNote("replication", text, {"tp": options.tp, "copies": copies}))
    if options.layout != "formula":
        plain = replace(options, layout="formula")
        ratio = _elements_per_token(spec, options) / _elements_per_token(spec, plain)
        text = f"More than the formula: this engine caches {ratio:.1f} times the elements that are needed."
        notes.append(KvNote("inflated", text, {"layout": options.layout, "ratio": ratio}))
    return notes + _format_notes(spec, fmt, options)


_ASSUMED = MappingProxyType(
    {
        "class": "{field} is not in the file: {heads}, as transformers' class for {kind} then takes it.",
        "as_heads": "{field} is not in the file: {heads}, as many as heads, as transformers' class for {kind} "
        "then does.",
        "null": "{field} is null in the file, which means as many as heads: {heads}.",
        "unknown": "{field} is not in the file, and transformers has no class for {kind} that says what it is then: "
        "{heads} is assumed, as many as heads.",
        "gguf": "{field} is not in the metadata: {heads}, as many as heads, as llama.cpp then takes it.",
    }
)


def _assumed_note(assumed: AssumedHeads, heads: int) -> KvNote:
    """Where K/V heads come from that a file does not count."""
    params = {"field": assumed.field, "kind": assumed.kind, "heads": heads}
    text = _ASSUMED[assumed.origin].format(**{**params, "heads": f"{heads:,}"})
    return KvNote(f"assumed_heads_{assumed.origin}", text, params)


def _passed_over_note(spec: ModelSpec, key: str, kind: str) -> KvNote:
    """What is counted in the place of a head's width that the file gives by another class's name."""
    params = {"field": key, "kind": kind, "width": spec.head_dim}
    code, counted = "passed_over", f"{spec.head_dim:,}"
    if not spec.head_dim_assumed and spec.d_model == spec.n_heads * spec.head_dim:
        code, params = "passed_over_quotient", {**params, "stream": spec.d_model, "heads": spec.n_heads}
        counted = f"{spec.d_model:,} / {spec.n_heads:,} = {counted}"
    said = f"{key} is not read by transformers' class for {kind}; head_dim {counted} is counted. Was head_dim meant?"
    return KvNote(code, said, params)


def _format_notes(spec: ModelSpec, fmt: KvFormat, options: KvOptions) -> list[KvNote]:
    """On a format that one engine alone has; and what llama.cpp asks for where K and V have two (ggml's fattn.cu)."""
    names = {"k": fmt.of_k.name, "v": fmt.of_v.name}
    if fmt.v and caches_v(spec, options):
        text = (
            "K in {k} and V in {v}, as llama.cpp's -ctk and -ctv set them. A quantised V needs flash attention; two "
            "formats need, on CUDA, a build with GGML_CUDA_FA_ALL_QUANTS, or attention runs on the CPU."
        )
        return [KvNote("pair", text.format(**names), dict(names))]
    notes = []
    if fmt.v:
        text = "{v} is not used: the model caches no V of its own, and what it caches is stored in {k}."
        notes.append(KvNote("no_v", text.format(**names), dict(names)))
    kept = fmt.of_k
    if kept.name == "fp8" and spec.indexer and caches_latents(spec, options):
        params: dict[str, object] = {
            name: sum(term.bytes for term in kv_terms(spec, 1, 1, FORMATS[name], KvOptions()))
            for name in ("fp8", "fp8_ds_mla")
        }
        text = (
            "{fp8_ds_mla:,} B a token, not {fp8:,}: with FlashMLA's kernels vLLM stores fp8_ds_mla for this model "
            "under the name fp8. With FlashInfer's it stores plain fp8."
        )
        notes.append(KvNote("stored_fp8", text.format(**params), params))
    if kept.engine:
        notes.append(KvNote("format", f"{kept.name}, a format of {kept.engine}: {kept.about}.", {"dtype": kept.name}))
    return notes


def _state_notes(spec: ModelSpec, fmt: KvFormat, options: KvOptions, terms: tuple[KvTerm, ...]) -> list[KvNote]:
    """Whose fp32 a state's is, where vLLM's default is another format."""
    plain = unquantised(fmt)
    if spec.state is None or options.state != "own" or not spec.state.fp32 or spec.state.vllm_fp32:
        return []
    params = [
        {"own": term.bytes, "auto": term.elements * plain.block_bytes, "format": plain.name}
        for term in terms
        if term.label == "state.recurrent" and plain.name != "fp32"
    ]
    text = (
        "The state is in fp32, as the model's own code keeps it: {own:,} B. vLLM's default, --mamba-ssm-cache-dtype "
        "auto, keeps it in {format}: {auto:,} B."
    )
    return [KvNote("state_fp32", text.format(**one), one) for one in params]


def _elements_per_token(spec: ModelSpec, options: KvOptions) -> int:
    plain = replace(options, tp=1, dcp=1)
    return sum(t.elements for t in kv_terms(spec, 1, 1, FORMATS["bf16"], plain) if t.place in SELF)
