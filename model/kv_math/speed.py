"""An upper bound on decoding speed: the bytes that a step must read, over the memory bandwidth. Exact fractions."""

from dataclasses import dataclass, replace
from fractions import Fraction

from ..expected import expected
from ..spec import ModelSpec
from . import KvBreakdown, kv_breakdown
from .factors import Factor
from .gpus import Gpu
from .memory import MemoryUse, Setup, memory_use
from .options import refusal


@dataclass(frozen=True)
class DecodeBound:
    """No decoding step of the whole batch is faster than `seconds`; real ones are slower.

    Each step adds one token to every sequence. It reads the weights once, for MoE at least `top_k` experts a layer (the
    whole batch might choose the same), and every sequence's cache; V3.2 reads its indexer's keys and `top_k` latents.
    Left out, so the truth is slower still: activations, writing, communication, arithmetic, imperfect bandwidth.

    `weight_bytes` and `cache_bytes` are read per step over all GPUs; `weight_terms` (label, factors) and `cache.terms`
    are the products. `spread_…`: the same where the batch's tokens choose as many different experts as they can.
    """

    use: MemoryUse
    cache: KvBreakdown
    weight_terms: tuple[tuple[str, tuple[Factor, ...]], ...]
    weight_bytes: int
    spread_weight_bytes: int
    cache_bytes: int
    seconds: Fraction
    spread_seconds: Fraction

    @property
    def bytes(self) -> int:
        """Bytes read per step, over all GPUs."""
        return self.weight_bytes + self.cache_bytes

    @property
    def tokens_per_second(self) -> float:
        """At most so many tokens a second for one sequence."""
        return float(1 / self.seconds)

    @property
    def batch_tokens_per_second(self) -> float:
        """At most so many tokens a second for all sequences together."""
        return float(self.use.cache.batch / self.seconds)


def decode_bound(
    spec: ModelSpec | str, tokens: int = 8192, batch: int = 1, gpu: Gpu | str = "H100 80 GB", setup: Setup | None = None
) -> DecodeBound:
    """The bound for `batch` sequences that have `tokens` tokens each; of the model alone, without MTP or a draft model.

    Tensor-parallel ranks read their shares at the same time, pipeline stages one after the other. Raises
    GlassLlamaError, naming the field, and where the model does not fit: what is not in memory has no such bound.
    """
    setup = setup or Setup()
    alone = replace(setup, options=replace(setup.options, mtp=False, draft=None))
    use = memory_use(spec, tokens, batch, gpu, alone)
    if not use.fits:
        raise refusal("gpu", use.gpu.name, expected("roomier_gpus", bytes=-use.free_bytes, gpus=use.gpus))
    tp, bandwidth = use.weights.tp, use.gpu.bandwidth
    cache = _read_cache(use)
    least, spread = use.weights.read_bytes(batch), use.weights.read_bytes(batch, spread=True)
    spec = use.weights.spec
    read = [(t.label, t.read_factors(batch, top_k=spec.moe.top_k if spec.moe else 1)) for t in use.weights.terms]
    return DecodeBound(
        use=use,
        cache=cache,
        weight_terms=tuple((label, factors) for label, factors in read if factors),
        weight_bytes=sum(least) * tp,
        spread_weight_bytes=sum(spread) * tp,
        cache_bytes=cache.total_bytes,
        seconds=Fraction(sum(least) + sum(cache.stage_bytes), bandwidth),
        spread_seconds=Fraction(sum(spread) + sum(cache.stage_bytes), bandwidth),
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
    whole = kv_breakdown(kept.spec, kept.tokens, kept.batch, kept.dtype, options)
    indexer = kept.spec.indexer
    if indexer is None or kept.tokens <= indexer.top_k:
        return whole
    fewer = replace(options, shared_prefix=min(options.shared_prefix, indexer.top_k))
    chosen = kv_breakdown(kept.spec, indexer.top_k, kept.batch, kept.dtype, fewer)
    terms = [term for term in chosen.terms if term.part != "indexer"]
    return replace(whole, terms=(*terms, *(term for term in whole.terms if term.part == "indexer")))
