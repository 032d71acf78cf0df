"""What fits on which GPUs: weights and cache together, the largest batch and context, and what a load needs.

Pure integers. Activations, CUDA's own context and fragmentation are lines of their own (kv_math/beside.py), unless a
share of the memory is set: then they live in the rest of it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache as cache_calls
from functools import lru_cache, partial

from ..errors import GlassLlamaError
from ..published.expected import expected
from ..published.spec import ModelSpec
from . import KvBreakdown, kv_breakdown
from .compressed import fullest_lengths
from .gpus import GPUS, Gpu, find_gpu
from .options import MAX_BATCH, MAX_TOKENS, KvOptions, rank_copies, refusal, whole
from .stages import find_spec
from .use import MemoryUse, Setup
from .weights import WeightBreakdown

__all__ = ["GpuNeed", "Largest", "MemoryUse", "Needs", "Setup", "gpus_needed", "largest_batch",
           "largest_context", "memory_use"]  # fmt: skip

FEW = 4  # numbers of stages that are tried before a bound rules out the others
RANKS_PER_NODE = 8  # tensor parallelism stays within a server, eight GPUs at most


@dataclass(frozen=True)
class Largest:
    """The largest batch or context that fits, `value`; 0 where not even the least does. `use` is the memory at `value`,
    or at the least where that does not fit.

    `unlimited`: memory does not limit it (a window's cache stops growing); `value` is then the calculator's own limit.
    `next_use` is the memory with one more, None where unlimited or where nothing fits.
    """

    value: int
    unlimited: bool
    use: MemoryUse
    next_use: MemoryUse | None

    @property
    def next_bytes(self) -> int | None:
        """Weights and cache with one more on the fullest GPU."""
        return self.next_use and self.next_use.per_gpu_bytes


@dataclass(frozen=True)
class GpuNeed:
    """How many GPUs of one kind a load needs.

    `at_least`: all bytes, each once, over one GPU's usable bytes, rounded up: no layout needs fewer; None where no GPU
    has any, since the lines beside weights and cache take more than its memory. `room`: those usable bytes, 0 where
    there are none, of one of `room_tp` ranks: the layout that leaves the most, since ranks share the activations.
    `use`: the fewest that really fit with whole layers and heads, as tensor-parallel ranks (up to 8) × pipeline stages,
    or None where no such layout does. Its tp, pp and dcp are in `use.cache.options`. `one_server`: the fewest without
    stages, or None.
    `alone`: the bytes of one that has no other beside it, which weights and cache may take.
    """

    gpu: Gpu
    room: int
    at_least: int | None
    use: MemoryUse | None
    one_server: MemoryUse | None
    alone: int
    room_tp: int = 1


@dataclass(frozen=True)
class Needs:
    """What a load takes: bytes of the weights and of the cache, each once, and the GPUs of each kind."""

    weights: WeightBreakdown
    draft_weights: WeightBreakdown | None
    cache: KvBreakdown
    gpus: tuple[GpuNeed, ...]

    @property
    def total_bytes(self) -> int:
        """Weights and cache."""
        draft = self.draft_weights.total_bytes if self.draft_weights else 0
        return self.weights.total_bytes + draft + self.cache.total_bytes


def memory_use(
    spec: ModelSpec | str, tokens: int = 8192, batch: int = 1, gpu: Gpu | str = "H100 80 GB", setup: Setup | None = None
) -> MemoryUse:
    """Weights and cache of `batch` sequences of `tokens` tokens on tp × pp GPUs (setup.options).

    Raises GlassLlamaError, naming the field and its range.
    """
    spec, gpu, setup = find_spec(spec), find_gpu(gpu), setup or Setup()
    weights = setup.weight_breakdowns(spec)
    return _use(gpu, setup, weights, kv_breakdown(spec, tokens, batch, setup.dtype, setup.options))


def largest_batch(
    spec: ModelSpec | str, tokens: int = 8192, gpu: Gpu | str = "H100 80 GB", setup: Setup | None = None
) -> Largest:
    """The most sequences of `tokens` tokens that fit. Raises GlassLlamaError as `memory_use` does."""
    spec, gpu, setup = find_spec(spec), find_gpu(gpu), setup or Setup()
    if setup.options.reserved_batch is not None:
        raise refusal("reserved_batch", setup.options.reserved_batch, expected("batch_sought"))
    weights = setup.weight_breakdowns(spec)
    return _largest(
        lambda n: _use(gpu, setup, weights, kv_breakdown(spec, tokens, n, setup.dtype, setup.options)), 1, MAX_BATCH
    )


def largest_context(
    spec: ModelSpec | str, batch: int = 1, gpu: Gpu | str = "H100 80 GB", setup: Setup | None = None
) -> Largest:
    """The most tokens that each of `batch` sequences can grow to, whatever the model was trained for.

    Every length up to it fits: a window in blocks of tokens may take a block less at some greater length.
    Where encoder_tokens is None, the encoder's input grows as well. Raises GlassLlamaError as `memory_use` does.
    """
    spec, gpu, setup = find_spec(spec), find_gpu(gpu), setup or Setup()
    for name in ("reserved_tokens", "prompt_tokens"):
        if (value := getattr(setup.options, name)) is not None:
            raise refusal(name, value, expected("tokens_sought"))
    weights, least = setup.weight_breakdowns(spec), max(1, setup.options.shared_prefix)
    return _largest(
        lambda n: _use(gpu, setup, weights, kv_breakdown(spec, n, batch, setup.dtype, setup.options)),
        least,
        MAX_TOKENS,
        setup.options.block_size,
        lambda n: fullest_lengths(spec, n, setup.options),
    )


def gpus_needed(
    spec: ModelSpec | str,
    users: int = 64,
    tokens: int = 32_768,
    gpus: Iterable[Gpu | str] = tuple(GPUS),
    setup: Setup | None = None,
) -> Needs:
    """What `users` sequences of `tokens` tokens need at once, on GPUs of each kind; tp, pp and dcp are found here.

    Raises GlassLlamaError as `memory_use` does, and for a setup whose options give tp, pp or dcp.
    """
    spec, setup, users = find_spec(spec), setup or Setup(), whole("users", users, 1, MAX_BATCH)
    for name in ("tp", "pp", "dcp"):
        if (value := getattr(setup.options, name)) != 1:
            raise refusal(name, value, expected("gpus_sought"))
    weights = setup.weight_breakdowns(spec)
    cache = kv_breakdown(spec, tokens, users, setup.dtype, setup.options)
    needs = Needs(weights[0], weights[1] if len(weights) > 1 else None, cache, ())
    if not (kinds := [find_gpu(gpu) for gpu in gpus]):
        raise refusal("gpus", gpus, "at least one GPU")
    layouts = []
    for options in _rank_layouts(spec, setup.options):
        try:
            layouts.append(memory_use(spec, tokens, users, kinds[0], replace(setup, options=options)))
        except GlassLlamaError:  # one GPU was accepted above; so many ranks do not suit the format or the draft model
            continue
    fullest = cache_calls(lambda index, pp: layouts[index].fullest(pp))  # the same on every GPU
    return replace(needs, gpus=tuple(_need(needs, kind, layouts, fullest) for kind in kinds))


def _use(gpu: Gpu, setup: Setup, weights: tuple[WeightBreakdown, ...], cache: KvBreakdown) -> MemoryUse:
    return MemoryUse(gpu, setup, weights[0], weights[1] if len(weights) > 1 else None, cache)


def _largest(
    use: Callable[[int], MemoryUse],
    least: int,
    limit: int,
    block: int = 1,
    lengths: Callable[[int], tuple[int, ...]] = lambda n: (n,),
) -> Largest:
    """The most that fits with all that is less, from `least` on, sought over the first tokens of blocks.

    More sequences or tokens never take fewer bytes, but for windows in blocks: a block is taken with its first token,
    and while it fills, the window leaves another one. So no token of a block takes more than its first, and first
    tokens take ever more. Where a shorter sequence may take more, `lengths` names those of n tokens at most that may
    take the most.
    """

    def first_of(index: int) -> int:
        return max(least, least - (least - 1) % block + index * block)

    def left(index: int) -> int:
        return min(use(length).free_bytes for length in lengths(first_of(index)) if length >= least)

    if not (first := use(least)).fits:
        return Largest(0, False, first, None)
    most = (limit - 1) // block - (least - 1) // block  # which block from that of `least` on
    if (over := left(most)) >= 0:
        return Largest(limit, True, use(limit), None)
    beyond = first_of(_first_below_zero(left, 0, first.free_bytes, most, over))
    return Largest(beyond - 1, False, use(beyond - 1), use(beyond))


def _first_below_zero(left: Callable[[int], int], low: int, of_low: int, high: int, of_high: int) -> int:
    """The first place after `low` at which `left`, which never rises, is below 0; `of_low` is not, `of_high` is.

    Bytes grow in proportion to tokens and sequences, so the place is mostly where a straight line between the two
    reaches 0; every other step halves what is left, for where they do not.
    """
    halve = False
    while high - low > 1:
        straight = low + of_low * (high - low) // (of_low - of_high)
        place = (low + high) // 2 if halve else min(max(straight, low + 1), high - 1)
        if (found := left(place)) >= 0:
            low, of_low = place, found
        else:
            high, of_high = place, found
        halve = not halve
    return high


def _need(needs: Needs, gpu: Gpu, layouts: list[MemoryUse], fullest: Callable[[int, int], int]) -> GpuNeed:
    """From every tensor-parallel layout on one stage, the fewest GPUs: of equally many, more ranks and fewer stages.

    `fullest(index, pp)` is what the fullest GPU holds of that layout in pp stages.
    """
    usable, n_layers = [one.usable_on(gpu) for one in layouts], needs.cache.spec.n_layers
    best: tuple[int, int, int] | None = None  # GPUs, layout, stages
    fitting: list[MemoryUse] = []
    for index, one_stage in enumerate(layouts):
        if alone := fullest(index, 1) <= usable[index] and _in_blocks(one_stage, gpu):
            fitting.append(one_stage)
        if fullest(index, n_layers) > usable[index]:  # not even one stage a layer would do
            continue
        most = n_layers if best is None else (best[0] - 1) // one_stage.gpus
        if pp := _stages_in_blocks(one_stage, gpu, usable[index], most, partial(fullest, index), 1 if alone else 2):
            best = (one_stage.gpus * pp, index, pp)
    use = replace(_in_stages(layouts[best[1]], best[2]), gpu=gpu) if best else None
    fewest = min(fitting, key=lambda one: one.gpus, default=None)
    one_server = replace(fewest, gpu=gpu) if fewest else None
    room = max(0, *usable)
    room_tp = min(one.gpus for bytes_, one in zip(usable, layouts, strict=True) if bytes_ == max(usable))
    at_least = -(-needs.total_bytes // room) if room else None
    by_itself = max(0, *(bytes_ for bytes_, one in zip(usable, layouts, strict=True) if one.gpus == 1))
    return GpuNeed(gpu, room, at_least, use, one_server, by_itself, room_tp)


def _in_blocks(use: MemoryUse, gpu: Gpu) -> bool:
    """Whether what fits by its bytes fits in vLLM's whole blocks, where these decide."""
    return use.by != "vllm" or replace(use, gpu=gpu).fits


def _stages_in_blocks(
    use: MemoryUse, gpu: Gpu, usable: int, most: int, fullest: Callable[[int], int], least: int
) -> int | None:
    """As `fewest_stages`, in vLLM's whole blocks where these decide."""
    pp = fewest_stages(use, usable, most, fullest, least)
    while pp and not _in_blocks(_in_stages(use, pp), gpu):
        pp = fewest_stages(use, usable, most, fullest, pp + 1)
    return pp


def fewest_stages(use: MemoryUse, usable: int, most: int, fullest: Callable[[int], int], least: int = 1) -> int | None:
    """The fewest pipeline stages, from `least` up to `most`, of which none takes more than `usable` bytes a GPU; None
    where none do.

    `fullest(pp)` is what the fullest of pp stages takes.
    """
    # The fullest of pp stages holds at least the mean of what one stage would.
    for tried, pp in enumerate(range(max(least, -(-fullest(1) // usable)), min(most, use.weights.spec.n_layers) + 1)):
        if tried >= FEW and use.fullest_at_least(pp) > usable:  # so most are ruled out where the search is long
            continue
        if fullest(pp) <= usable:
            return pp
    return None


def _in_stages(use: MemoryUse, pp: int) -> MemoryUse:
    """The same bytes over `pp` pipeline stages."""
    cache = replace(use.cache, options=replace(use.cache.options, pp=pp))
    return replace(use, weights=replace(use.weights, pp=pp), cache=cache)


@lru_cache(maxsize=64)
def _rank_layouts(spec: ModelSpec, options: KvOptions) -> tuple[KvOptions, ...]:
    """Tensor-parallel layouts within a server, most ranks first; copies of heads or latents may split the tokens."""
    layouts = []
    for tp in range(RANKS_PER_NODE, 0, -1):
        layouts.append(plain := replace(options, tp=tp))
        if (copies := rank_copies(spec, plain)) > 1:
            layouts.append(replace(plain, dcp=copies))
    return tuple(layouts)
