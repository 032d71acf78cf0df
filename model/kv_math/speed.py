"""The least time of a decoding step: the bytes that it must read, over the memory bandwidth. Exact fractions."""

from dataclasses import dataclass, replace
from fractions import Fraction

from ..published.expected import expected
from ..published.spec import ModelSpec
from . import KvBreakdown, kv_breakdown
from .factors import Factor
from .gpus import Gpu
from .memory import MemoryUse, Setup, memory_use
from .options import refusal


@dataclass(frozen=True)
class DecodeBound:
    """No decoding step of the whole batch takes less than `seconds`; real ones take longer.

    A step adds one token to every sequence. With W bytes of weights and C bytes of cache read by one rank over all
    stages, n = `micro_batches` = min(pp, batch) and a GPU's bandwidth:

        seconds = (W + C / n) / bandwidth

    One stage (n = 1) reads everything once a step. Stages work at the same time on different micro-batches, and each
    re-reads its weights for each. Cut into m micro-batches, a step takes at least W + C / m, since a micro-batch passes
    all stages before its next token, and at least (m·W + C) / pp, since pp stages share the reading. The first falls
    with m, the second rises, and they meet at m = pp: no m is faster, however the layers are cut into stages. Fewer
    sequences than stages make at most `batch` micro-batches.

    W is the weights once, for MoE at least `top_k` experts a layer (a whole micro-batch might choose the same). C is
    every sequence's cache: of a window the tokens in it, of a chunk those from its beginning on; V3.2 reads its
    indexer's keys and `top_k` latents, V4 `top_k` compressed entries in place of them. Left out, so the truth is slower
    still: activations, writing, communication, arithmetic, imperfect bandwidth, stages that are not equally long. Where
    drafted tokens are accepted (a draft model, MTP), a step adds several tokens to a sequence; then `seconds` still
    bounds the step.

    `weight_bytes` (W) and `cache_bytes` (C) are summed over all GPUs; `weight_terms` (label, factors) and `cache.terms`
    are the products. `spread_…`: the same where a micro-batch's tokens choose as many different experts as they can.
    """

    use: MemoryUse
    cache: KvBreakdown
    weight_terms: tuple[tuple[str, tuple[Factor, ...]], ...]
    weight_bytes: int
    spread_weight_bytes: int
    cache_bytes: int
    micro_batches: int
    seconds: Fraction
    spread_seconds: Fraction

    @property
    def tokens_per_second(self) -> float:
        """At most so many tokens a second for one sequence, at one token a step."""
        return float(1 / self.seconds)

    @property
    def batch_tokens_per_second(self) -> float:
        """At most so many tokens a second for all sequences together, at one token a step."""
        return float(self.use.cache.batch / self.seconds)


def decode_bound(
    spec: ModelSpec | str, tokens: int = 8192, batch: int = 1, gpu: Gpu | str = "H100 80 GB", setup: Setup | None = None
) -> DecodeBound:
    """The bound for `batch` sequences that have `tokens` tokens each: the model's own reading, not that of drafting.

    Raises GlassLlamaError, naming the field, and where it does not fit: what is not in memory has no such bound.
    """
    setup = setup or Setup()
    if not (whole := memory_use(spec, tokens, batch, gpu, setup)).fits:
        raise refusal("gpu", whole.gpu.name, expected("roomier_gpus", bytes=-whole.free_bytes, gpus=whole.gpus))
    alone = replace(setup, options=replace(setup.options, mtp=False, draft=None))
    use = memory_use(spec, tokens, batch, gpu, alone)
    weights, spec, cache = use.weights, use.weights.spec, _read_cache(use)
    micro = min(weights.pp, batch)
    each = batch // micro  # the smallest micro-batch: rows of the embedding are all that more sequences would add
    least, spread = (sum(weights.read_bytes(each, spread=way)) for way in (False, True))
    read = [(t.label, t.read_factors(each, top_k=spec.moe.top_k if spec.moe else 1)) for t in weights.terms]
    share = Fraction(sum(cache.stage_bytes), micro)
    return DecodeBound(
        use=use,
        cache=cache,
        weight_terms=tuple((label, factors) for label, factors in read if factors),
        weight_bytes=least * weights.tp,
        spread_weight_bytes=spread * weights.tp,
        cache_bytes=cache.total_bytes,
        micro_batches=micro,
        seconds=(least + share) / use.gpu.bandwidth,
        spread_seconds=(spread + share) / use.gpu.bandwidth,
    )


def _read_cache(use: MemoryUse) -> KvBreakdown:
    """What a step reads of the cache: tokens, not pages or reservations; a layer that shares a cache reads it again."""
    kept = use.cache
    window = "ideal" if kept.options.window != "transformers" else "transformers"
    options = replace(
        kept.options,
        window=window,
        batched_tokens=None,
        block_size=1,
        shared_layers=0,
        reserved_tokens=None,
        reserved_batch=None,
    )
    read = kv_breakdown(kept.spec, kept.tokens, kept.batch, kept.dtype, options)
    if chunk := kept.spec.attention.chunk:  # the query's own chunk, from its first token on
        newest = (kept.tokens - 1) % chunk + 1
        read = _with_fewer(read, newest, "chunked", shared=options.shared_prefix - (kept.tokens - newest))
    indexer = kept.spec.indexer
    if indexer is not None and kept.tokens > indexer.top_k:
        read = _with_fewer(read, indexer.top_k, "full", shared=options.shared_prefix)
    for branch in kept.spec.compressed:  # the entries chosen; what waits to be compressed may be left alone
        waiting = {(branch.kind, "buffer"), (branch.kind, "overlap")}
        if branch.indexer is not None and kept.tokens > (most := branch.indexer.top_k * branch.rate):
            read = _with_fewer(read, most, branch.kind, shared=options.shared_prefix)
        read = replace(read, terms=tuple(term for term in read.terms if (term.place, term.part) not in waiting))
    return read


def _with_fewer(read: KvBreakdown, tokens: int, place: str, shared: int) -> KvBreakdown:
    """`read` with the products of layers of one kind for `tokens` tokens, but for the indexer's keys, all of which are
    read. Of these tokens up to `shared` are the same in all sequences."""
    options = replace(read.options, shared_prefix=min(max(shared, 0), tokens))
    fewer = kv_breakdown(read.spec, tokens, read.batch, read.dtype, options)
    fewer_of = {(term.place, term.part): term for term in fewer.terms if term.place == place and term.part != "indexer"}
    return replace(read, terms=tuple(fewer_of.get((term.place, term.part), term) for term in read.terms))
