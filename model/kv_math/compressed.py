"""The products of compressed entries, which DeepSeek-V4's layers keep beside a sliding window. Pure integers.

As transformers 5.23 keeps them (models/deepseek_v4, DeepseekV4HCACache and DeepseekV4CSACache).
"""

from collections.abc import Iterator
from functools import lru_cache

from ..published.spec import CompressedSpec, ModelSpec
from .factors import Factor, how
from .formats import KvFormat
from .options import KvOptions, own_layers
from .stages import draft_setup
from .terms import KvTerm, Store, indexer_store, stored_term, token_slots, unquantised


def compressed_terms(spec: ModelSpec, tokens: int, batch: int, fmt: KvFormat, options: KvOptions) -> Iterator[KvTerm]:
    """What `spec.compressed` takes: entries, the indexer's keys, and the tokens that wait for the next entry."""
    total, sequences = options.reserved_tokens or tokens, options.reserved_batch or batch
    for branch, layers in _branches(spec, options):
        slots = _entry_slots(branch, total, sequences, options)
        if total >= branch.rate or options.block_size > 1:
            for store in _stores(spec, branch, fmt, options):
                yield stored_term(branch.kind, store.label, layers, slots, store, options)
        yield from _waiting_terms(spec, branch, layers, total, sequences, fmt, options)


def mean_terms(spec: ModelSpec, fmt: KvFormat, options: KvOptions) -> Iterator[KvTerm]:
    """What one token adds on average: its share of an entry, rounded up to a byte."""
    for branch, layers in _branches(spec, options):
        for store in _stores(spec, branch, fmt, options):
            entry = sum(f.vector_bytes(width) for width, f in zip(store.widths, store.formats, strict=True))
            came = f"{entry:,} / {branch.rate}" if entry % branch.rate == 0 else f"ceil({entry:,} / {branch.rate})"
            each = Factor(-(-entry // branch.rate), "bytes_per_token", came, {"format": store.formats[0].name})
            leading = (Factor(len(layers), "layers"), *store.head_factors(options.tp))
            elements = len(layers) * options.tp * -(-sum(store.widths) // branch.rate)
            yield KvTerm(branch.kind, store.label, layers, (*leading, each), elements)


def fullest_lengths(spec: ModelSpec, tokens: int, options: KvOptions) -> tuple[int, ...]:
    """The lengths up to `tokens` among which one takes the most.

    Bytes fall where waiting tokens become an entry, so the most may lie just before the last such length. Each rate is
    a multiple of those below it.
    """
    specs = [spec] if options.draft is None else [spec, draft_setup(options)[0]]
    rates = {branch.rate for one in specs for branch in one.compressed} if options.window == "transformers" else ()
    return (tokens, *(tokens - (tokens + 1) % rate for rate in rates))


def _branches(spec: ModelSpec, options: KvOptions) -> Iterator[tuple[CompressedSpec, tuple[int, ...]]]:
    """Each branch with those of its layers that keep a cache of their own."""
    for branch, layers in _keeping(spec, options.shared_layers):
        if layers:
            yield branch, layers


@lru_cache(maxsize=64)
def _keeping(spec: ModelSpec, shared: int | None) -> tuple[tuple[CompressedSpec, tuple[int, ...]], ...]:
    own = frozenset(own_layers(spec, shared))
    return tuple((branch, tuple(layer for layer in branch.layers if layer in own)) for branch in spec.compressed)


def _stores(spec: ModelSpec, branch: CompressedSpec, fmt: KvFormat, options: KvOptions) -> Iterator[Store]:
    """What an entry consists of."""
    yield Store("shared", 1, (spec.head_dim,), (fmt.of_k,), False, "head_dim")
    if branch.indexer:
        yield indexer_store(branch.indexer, fmt, options)


def _entry_slots(branch: CompressedSpec, tokens: int, sequences: int, options: KvOptions) -> tuple[Factor, ...]:
    """Entries over the batch: of whole blocks of tokens, or of the tokens that fill one."""
    rate, block = branch.rate, options.block_size
    if block > 1:
        slots = token_slots(tokens, 0, sequences, block, options.shared_prefix)
        return (*slots[:-1], Factor(block // rate, "entries_per_block", f"{block:,} / {rate}"))
    *leading, entries = token_slots(tokens // rate, 0, sequences, 1, options.shared_prefix // rate)
    return (*leading, Factor(entries.value, "entries", entries.how or f"{tokens:,} // {rate}"))


def _waiting_terms(
    spec: ModelSpec,
    branch: CompressedSpec,
    layers: tuple[int, ...],
    tokens: int,
    sequences: int,
    fmt: KvFormat,
    options: KvOptions,
) -> Iterator[KvTerm]:
    """Values and gates of tokens that fill no entry yet and, with overlap, of those that the next entry reads again."""
    rate, plain = branch.rate, unquantised(fmt)
    widths = (spec.head_dim, branch.indexer.head_dim) if branch.indexer else (spec.head_dim,)
    if options.window == "transformers":
        waiting = Factor(tokens % rate, "tokens", f"{tokens:,} mod {rate}")
    else:
        waiting = Factor(min(tokens, rate - 1), "tokens", how("longest_tail", least=f"min({tokens:,}, {rate} - 1)"))
    added = " + ".join(map(str, widths))
    single = Factor(sum(widths), "compressor_width", added if len(widths) > 1 else "")
    twofold = Factor(2 * sum(widths), "compressor_width", f"2 × ({added})" if len(widths) > 1 else f"2 × {added}")
    parts = [("buffer", waiting, twofold if branch.overlap else single)]
    if branch.overlap and tokens >= rate:
        parts.append(("overlap", Factor(rate, "tokens"), single))
    ranks = (Factor(options.tp, "ranks_each_with_all_of_it"),) if options.tp > 1 else ()
    for part, kept, width in parts:
        if kept.value:
            count = (Factor(len(layers), "layers"), Factor(sequences, "sequences"), *ranks, kept)
            count = (*count, Factor(2, "value_and_gate"), width)
            size = Factor(plain.block_bytes, "bytes", params={"format": plain.name})
            elements = 1
            for factor in count:
                elements *= factor.value
            yield KvTerm(branch.kind, part, layers, (*count, size), elements)
