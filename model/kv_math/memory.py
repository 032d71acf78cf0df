"""What fits on which GPUs: weights and cache together, the largest batch and context, and what a load needs.

Pure integers. Activations, CUDA's own context and fragmentation are not computed: they live in what `usable_percent`
leaves free.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache as cache_calls

from ..errors import GlassLlamaError
from ..published.expected import expected
from ..published.spec import ModelSpec
from . import KvBreakdown, kv_breakdown
from .compressed import fullest_lengths
from .gpus import GPUS, Gpu, find_gpu
from .options import MAX_BATCH, MAX_TOKENS, KvOptions, rank_copies, refusal, whole
from .stages import find_spec
from .weights import WeightBreakdown, weight_breakdown, weight_format

USABLE_PERCENT = 90  # vLLM's gpu_memory_utilization of 0.9
RANKS_PER_NODE = 8  # tensor parallelism stays within a server, eight GPUs at most


@dataclass(frozen=True)
class Setup:
    """How a model is served: number formats of cache and weights, cache options, usable percent of each GPU.

    `weights` and `embeddings` as in `weight_breakdown`. Raises GlassLlamaError for an unknown format and for a percent
    outside 1 to 100.
    """

    dtype: str = "bf16"
    weights: str = "bf16"
    embeddings: str | None = None
    options: KvOptions = field(default_factory=KvOptions)
    usable_percent: int = USABLE_PERCENT

    def __post_init__(self) -> None:
        whole("usable_percent", self.usable_percent, 1, 100)
        weight_format("weights", self.weights)
        if self.embeddings is not None:
            weight_format("embeddings", self.embeddings)
        if not isinstance(self.options, KvOptions):
            raise refusal("options", self.options, "a KvOptions")

    def weight_breakdowns(self, spec: ModelSpec) -> tuple[WeightBreakdown, ...]:
        """The model's weights, and the draft model's where there is one, which the last pipeline stage holds."""
        options = self.options
        own = weight_breakdown(spec, self.weights, self.embeddings, options.tp, options.pp, options.mtp)
        if options.draft is None:
            return (own,)
        draft = find_spec(options.draft, "draft")
        return own, weight_breakdown(draft, self.weights, self.embeddings, options.tp)


@dataclass(frozen=True)
class MemoryUse:
    """Weights and cache on `gpus` GPUs of one kind. Bytes per GPU are those of the fullest one."""

    gpu: Gpu
    usable_percent: int
    weights: WeightBreakdown
    draft_weights: WeightBreakdown | None
    cache: KvBreakdown

    @property
    def gpus(self) -> int:
        """tp × pp."""
        return self.weights.tp * self.weights.pp

    @property
    def percent(self) -> int:
        """How much of one GPU's memory weights and cache may take: usable_percent, or less where its system says so."""
        return min(self.usable_percent, self.gpu.limit)

    @property
    def usable_bytes(self) -> int:
        """Bytes of one GPU that weights and cache may take: memory × percent // 100."""
        return self.gpu.memory * self.percent // 100

    @property
    def stage_bytes(self) -> tuple[int, ...]:
        """Weights and cache on one GPU of each pipeline stage."""
        return self.in_stages(self.weights.pp)

    @property
    def weight_stage_bytes(self) -> tuple[int, ...]:
        """Weights on one GPU of each stage, the draft model's included."""
        return self._weights_in_stages(self.weights.pp)

    def in_stages(self, pp: int) -> tuple[int, ...]:
        """Weights and cache on one GPU of each of `pp` stages, were they spread over so many."""
        return tuple(map(sum, zip(self._weights_in_stages(pp), self.cache.in_stages(pp), strict=True)))

    def _weights_in_stages(self, pp: int) -> tuple[int, ...]:
        *first, last = self.weights.in_stages(pp)
        return (*first, last + (self.draft_weights.per_gpu_bytes if self.draft_weights else 0))

    @property
    def per_gpu_bytes(self) -> int:
        """Bytes on the fullest GPU."""
        return max(self.stage_bytes)

    @property
    def free_bytes(self) -> int:
        """What is left of `usable_bytes` on the fullest GPU; below 0, so much is lacking."""
        return self.usable_bytes - self.per_gpu_bytes

    @property
    def fits(self) -> bool:
        """Whether weights and cache are within the usable bytes of every GPU."""
        return self.free_bytes >= 0


@dataclass(frozen=True)
class Largest:
    """The largest batch or context that fits, `value`; 0 where not even the least does. `use` is the memory at `value`,
    or at the least where that does not fit.

    `unlimited`: memory does not limit it (a window's cache stops growing); `value` is then the calculator's own limit.
    `next_bytes` is what one more would take on the fullest GPU, None where unlimited or where nothing fits.
    """

    value: int
    unlimited: bool
    use: MemoryUse
    next_bytes: int | None


@dataclass(frozen=True)
class GpuNeed:
    """How many GPUs of one kind a load needs.

    `at_least`: all bytes, each once, over one GPU's usable bytes, rounded up: no layout needs fewer. `use`: the fewest
    that really fit with whole layers and heads, as tensor-parallel ranks (up to 8) × pipeline stages, or None where no
    such layout does. Its tp, pp and dcp are in `use.cache.options`. `one_server`: the fewest without stages, or None.
    """

    gpu: Gpu
    at_least: int
    use: MemoryUse | None
    one_server: MemoryUse | None


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
    fullest = cache_calls(lambda index, pp: max(layouts[index].in_stages(pp)))  # the same on every GPU
    return replace(needs, gpus=tuple(_need(needs, kind, layouts, fullest) for kind in kinds))


def _use(gpu: Gpu, setup: Setup, weights: tuple[WeightBreakdown, ...], cache: KvBreakdown) -> MemoryUse:
    return MemoryUse(gpu, setup.usable_percent, weights[0], weights[1] if len(weights) > 1 else None, cache)


def _largest(
    use: Callable[[int], MemoryUse],
    least: int,
    limit: int,
    block: int = 1,
    lengths: Callable[[int], tuple[int, ...]] = lambda n: (n,),
) -> Largest:
    """The most that fits with all that is less, from `least` on, by bisection over the first tokens of blocks.

    More sequences or tokens never take fewer bytes, but for windows in blocks: a block is taken with its first token,
    and while it fills, the window leaves another one. So no token of a block takes more than its first, and first
    tokens take ever more. Where a shorter sequence may take more, `lengths` names those of n tokens at most that may
    take the most.
    """

    def fits(n: int) -> bool:
        return all(use(length).fits for length in lengths(n) if length >= least)

    def first_of(index: int) -> int:
        return max(least, least - (least - 1) % block + index * block)

    if not (first := use(least)).fits:
        return Largest(0, False, first, None)
    low, high = 0, (limit - 1) // block - (least - 1) // block  # which block from that of `least` on
    if fits(first_of(high)):
        return Largest(limit, True, use(limit), None)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(first_of(middle)) else (low, middle)
    return Largest(first_of(high) - 1, False, use(first_of(high) - 1), use(first_of(high)).per_gpu_bytes)


def _need(needs: Needs, gpu: Gpu, layouts: list[MemoryUse], fullest: Callable[[int, int], int]) -> GpuNeed:
    """From every tensor-parallel layout on one stage, the fewest GPUs: of equally many, more ranks and fewer stages.

    `fullest(index, pp)` is what the fullest GPU holds of that layout in pp stages.
    """
    usable, n_layers = replace(layouts[0], gpu=gpu).usable_bytes, needs.cache.spec.n_layers
    best: tuple[int, int, int] | None = None  # GPUs, layout, stages
    for index, one_stage in enumerate(layouts):
        if fullest(index, n_layers) > usable:  # not even one stage a layer would do
            continue
        # The fullest of pp stages holds at least the mean of what one stage would.
        for pp in range(-(-fullest(index, 1) // usable), n_layers + 1):
            if best is not None and one_stage.gpus * pp >= best[0]:
                break
            if fullest(index, pp) <= usable:
                best = (one_stage.gpus * pp, index, pp)
                break
    use = replace(_in_stages(layouts[best[1]], best[2]), gpu=gpu) if best else None
    fitting = [replace(one, gpu=gpu) for index, one in enumerate(layouts) if fullest(index, 1) <= usable]
    one_server = min(fitting, key=lambda one: one.gpus, default=None)
    return GpuNeed(gpu, -(-needs.total_bytes // usable), use, one_server)


def _in_stages(use: MemoryUse, pp: int) -> MemoryUse:
    """The same bytes over `pp` pipeline stages."""
    cache = replace(use.cache, options=replace(use.cache.options, pp=pp))
    return replace(use, weights=replace(use.weights, pp=pp), cache=cache)


def _rank_layouts(spec: ModelSpec, options: KvOptions) -> Iterator[KvOptions]:
    """Tensor-parallel layouts within a server, most ranks first; copies of heads or latents may split the tokens."""
    for tp in range(RANKS_PER_NODE, 0, -1):
        plain = replace(options, tp=tp)
        yield plain
        if (copies := rank_copies(spec, plain)) > 1:
            yield replace(plain, dcp=copies)
