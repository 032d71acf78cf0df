"""Weights and cache together on GPUs of one kind: how a model is served, and what each GPU holds. Pure integers."""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Literal

from ..published.spec import ModelSpec
from . import KvBreakdown
from .beside import CONTEXT_MIB, FRAGMENTATION_MIB, MAX_MIB, MIB, Beside, activations, lacking
from .gpus import Gpu
from .options import MAX_TOKENS, KvOptions, percentage, refusal, whole
from .spread import counts_before, in_stages
from .stages import find_spec
from .vllm_rule import DEFAULT_SHARE, GRAPHS, VllmRule, vllm_rule
from .weights import AS_CONFIG, MAX_BYTES, WeightBreakdown, weight_breakdown, weight_format

By = Literal["lines", "share", "vllm"]  # what decides what fits


@dataclass(frozen=True)
class Setup:
    """How a model is served: number formats of cache and weights, cache options, and how much of a GPU they may take.

    `weights` and `embeddings` as in `weight_breakdown`. Weights and cache may take the memory less its named lines: the
    activations of a step of `step_tokens` tokens (None: Gpu.step_tokens), CUDA's context and what fragmentation makes
    unusable, in MiB. With `usable_percent` (as `percentage` reads it) they may take that share instead, and the lines
    live in the rest; with `vllm` as well, activations, context and CUDA graphs come out of that share, by vLLM's own
    rule (kv_math/vllm_rule.py). `weight_bytes` are those of the model's files, where they are to stand in the place of
    the count. Raises GlassLlamaError for an unknown format, for a number out of its range and for `vllm` without a
    share, naming the field.
    """

    dtype: str = "bf16"
    weights: str = "bf16"
    embeddings: str | None = None
    options: KvOptions = field(default_factory=KvOptions)
    usable_percent: int | float | Fraction | str | None = None
    step_tokens: int | None = None
    context_mib: int = CONTEXT_MIB
    fragmentation_mib: int = FRAGMENTATION_MIB
    weight_bytes: int | None = None
    vllm: bool = False

    def __post_init__(self) -> None:
        if self.usable_percent is not None:
            object.__setattr__(self, "usable_percent", percentage("usable_percent", self.usable_percent))
        elif self.vllm:
            raise refusal("vllm", self.vllm, "usable_percent beside it, the share that the rule is about")
        if self.step_tokens is not None:
            whole("step_tokens", self.step_tokens, 1, MAX_TOKENS)
        for name in ("context_mib", "fragmentation_mib"):
            whole(name, getattr(self, name), 0, MAX_MIB)
        if self.weight_bytes is not None:
            whole("weight_bytes", self.weight_bytes, 1, MAX_BYTES)
        if self.weights != AS_CONFIG:
            weight_format("weights", self.weights)
        if self.embeddings is not None:
            weight_format("embeddings", self.embeddings)
        if not isinstance(self.options, KvOptions):
            raise refusal("options", self.options, "a KvOptions")

    @cached_property
    def percent(self) -> int | Fraction:
        """The share that is asked for, in per cent; 100 without one."""
        return 100 if self.usable_percent is None else percentage("usable_percent", self.usable_percent)

    @property
    def by(self) -> By:
        """What decides what fits: named lines, a share for weights and cache, or vLLM's rule for a share."""
        if self.usable_percent is None:
            return "lines"
        return "vllm" if self.vllm else "share"

    def weight_breakdowns(self, spec: ModelSpec) -> tuple[WeightBreakdown, ...]:
        """The model's weights, and the draft model's where there is one, which the last pipeline stage holds."""
        options = self.options
        formats = (self.weights, self.embeddings)
        own = weight_breakdown(spec, *formats, options.tp, options.pp, options.mtp, self.weight_bytes)
        if options.draft is None:
            return (own,)
        draft = find_spec(options.draft, "draft")
        return own, weight_breakdown(draft, self.weights, self.embeddings, options.tp)


@dataclass(frozen=True)
class MemoryUse:
    """Weights and cache on `gpus` GPUs of one kind. Bytes per GPU are those of the fullest one."""

    gpu: Gpu
    setup: Setup
    weights: WeightBreakdown
    draft_weights: WeightBreakdown | None
    cache: KvBreakdown

    @property
    def gpus(self) -> int:
        """tp × pp."""
        return self.weights.tp * self.weights.pp

    @property
    def by(self) -> By:
        """What decides what fits."""
        return self.setup.by

    @property
    def percent(self) -> int | Fraction:
        """The percentage of one GPU's memory to begin with: 100 or the share that was set, or its system's limit."""
        return self.gpu.percent_of(self.setup.percent)

    @property
    def share_bytes(self) -> int:
        """Bytes of `percent`: memory × percent // 100."""
        return self.gpu.usable(self.setup.percent)

    @property
    def usable_bytes(self) -> int:
        """Bytes of one GPU that weights and cache may take: the share, less the lines that come out of it; then it may
        be below 0."""
        return self.share_bytes - self._lines_bytes

    def usable_on(self, gpu: Gpu) -> int:
        """The same on a GPU of another kind."""
        return gpu.usable(self.setup.percent) - replace(self, gpu=gpu)._lines_bytes

    @property
    def _lines_bytes(self) -> int:
        """The lines beside weights and cache that come out of the share: by vLLM's rule without fragmentation."""
        beside = self.beside
        return {"lines": beside.bytes, "share": 0, "vllm": beside.activation_bytes + beside.context + GRAPHS}[self.by]

    @cached_property
    def vllm(self) -> VllmRule:
        """What vLLM's own rule leaves of the share."""
        return vllm_rule(self)

    @property
    def vllm_by_default(self) -> VllmRule | None:
        """What vLLM's rule leaves of its default share; None on a GPU that shares its memory with a CPU."""
        if self.gpu.limit < 100:
            return None
        return replace(self, setup=replace(self.setup, usable_percent=DEFAULT_SHARE, vllm=True)).vllm

    @property
    def without_mtp_bytes(self) -> int | None:
        """What the model's multi-token-prediction layers take, where it has any that are not counted; else None."""
        weights, setup = self.weights, self.setup
        if not weights.spec.mtp_layers or weights.mtp or not weights.terms or weights.measured is not None:
            return None
        whole_model = weight_breakdown(weights.spec, setup.weights, setup.embeddings, mtp=True)
        return whole_model.counted_bytes - weights.counted_bytes

    @property
    def lacks_bf16(self) -> bool:
        """Whether K and V are to be in bf16 on a GPU that does not compute in it."""
        return not self.gpu.bf16 and "bf16" in self.cache.dtype.split("/")

    @property
    def format_unknown(self) -> bool:
        """Whether the weights are to count as the model's files store them, where neither their bytes are given nor
        any source says how: bf16 stands in."""
        spec = self.weights.spec
        named = spec.quantised or spec.quantised_unread or spec.number_type
        told = named or self.weights.measured or not self.weights.terms
        return self.setup.weights == AS_CONFIG and not told

    @property
    def step_tokens(self) -> int:
        """Tokens that a step reads at once."""
        return self.gpu.step_tokens if self.setup.step_tokens is None else self.setup.step_tokens

    @cached_property
    def beside(self) -> Beside:
        """What stands beside weights and cache on each GPU."""
        setup = self.setup
        terms = activations(self.cache.spec, self.step_tokens, self.cache.batch, self.weights.tp)
        fields = lacking(self.cache.spec)
        return Beside(terms, setup.context_mib * MIB, setup.fragmentation_mib * MIB, fields)

    @property
    def kept_back(self) -> int:
        """Bytes of one GPU that weights and cache may not take."""
        return self.gpu.memory - self.usable_bytes

    @property
    def left_bytes(self) -> int:
        """What is left of a share's rest for fragmentation after activations and context; below 0, so much is lacking.
        By lines it is the fragmentation's own line; by vLLM's rule all that is outside the share."""
        if self.by == "lines":
            return self.beside.fragmentation
        if self.by == "vllm":
            return self.gpu.memory - self.share_bytes
        return self.kept_back - self.beside.activation_bytes - self.beside.context

    @property
    def taken_bytes(self) -> int:
        """What counts against the share on the fullest GPU: weights, cache and the lines that come out of it; of vLLM's
        whole blocks, where they decide, those that are needed and the one that is never handed out."""
        if self.by == "vllm" and (blocks := self.vllm.blocks):
            return self.share_bytes - self.vllm.room + blocks.taken
        return self.per_gpu_bytes + self._lines_bytes

    @property
    def shown_stage(self) -> int:
        """The stage on one GPU of which it is decided what fits: the fullest, by vLLM's rule the one that holds the
        fewest blocks."""
        return self.vllm.stage if self.by == "vllm" else self.stage_bytes.index(self.per_gpu_bytes)

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

    def fullest(self, pp: int) -> int:
        """Bytes on the fullest GPU, were the same spread over `pp` stages: max(in_stages(pp)), from as many stages as
        differ in the layers that they keep a cache of."""
        each, drafting = self.cache.rank_bytes
        drafting += self.draft_weights.per_gpu_bytes if self.draft_weights else 0
        found = 0
        for weights, layers, last in self.weights.heaviest(pp, tuple(each)):
            held = weights + sum(count * one for count, one in zip(layers, each.values(), strict=True))
            found = max(found, held + (drafting if last else 0))
        return found

    def fullest_at_least(self, pp: int) -> int:
        """Bytes that the fullest of `pp` stages takes at least, from running sums: less than `fullest` by some bytes,
        where a layer's share of the weights is no whole number of them; found sooner."""
        if pp not in self._at_least:
            stages = in_stages(self._before, self.weights.spec.n_layers, pp)
            spread = self.weights.spread
            stages[0] += spread.first + spread.both
            stages[-1] += spread.last + (spread.both if pp > 1 else 0)
            self._at_least[pp] = max(stages)
        return self._at_least[pp]

    @cached_property
    def _before(self) -> list[int]:
        """Bytes of weights and cache on one rank of the layers before 0, 1, …, at least."""
        spread, sums = self.weights.spread, self.weights.spread.least_before
        for layers, each in self.cache.rank_bytes[0].items():
            sums = [one + each * n for one, n in zip(sums, counts_before(layers, spread.end), strict=True)]
        return list(sums)

    @cached_property
    def _at_least(self) -> dict[int, int]:
        return {}

    @cached_property
    def per_gpu_bytes(self) -> int:
        """Bytes on the fullest GPU."""
        return self.fullest(self.weights.pp)

    @property
    def free_bytes(self) -> int:
        """What is left of `usable_bytes` on the fullest GPU, by vLLM's rule in whole blocks where it counts them; below
        0, so much is lacking."""
        return self.vllm.free if self.by == "vllm" else self.usable_bytes - self.per_gpu_bytes

    @property
    def stated_free_bytes(self) -> int | None:
        """The same of the memory that the GPU's datasheet states; None where that is what counts."""
        stated = self.gpu.as_stated
        return None if stated is None else replace(self, gpu=stated).free_bytes

    @property
    def fits(self) -> bool:
        """Whether weights and cache are within the usable bytes of every GPU."""
        return self.free_bytes >= 0
