"""How an engine cuts a model's layers into pipeline stages, and of which stage a log's figures may be.

vLLM leaves the last stage short (vllm/distributed/utils.py, get_pp_indices), SGLang gives the last stages what is left
over (python/sglang/srt/distributed/utils.py, get_pp_indices). Both take another share from the environment, of which
vLLM's is read here (VLLM_PP_LAYER_PARTITION).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from ...kv_math.spread import in_stages
from ...published.spec import ModelSpec
from ..facts import EngineLog
from ..lines import trouble
from .figures import Difference

_SHORT, _SHORT_IN_SGLANG = 1, 0  # how many of the last stages get none of the layers that are left over


@dataclass(frozen=True)
class Part:
    """What of a log is compared with which layers: those of one pipeline stage, None where there is one alone."""

    log: EngineLog
    stage: range | None = None


def short_stages(log: EngineLog) -> int:
    """How many of the last stages this engine leaves short, where the layers do not share out evenly."""
    return _SHORT_IN_SGLANG if log.engine == "SGLang" else _SHORT


def stages_of(log: EngineLog, spec: ModelSpec, pp: int) -> list[range]:
    """The layers of each of `pp` stages. Raises GlassLlamaError where there are more stages than layers."""
    if pp > spec.n_layers:
        said = f"The log has {pp:,} pipeline stages; {spec.name} has {spec.n_layers:,} layers."
        raise trouble("stages", said, stages=pp, layers=spec.n_layers, model=spec.name)
    counts: Sequence[int] = log.partition
    if len(counts) != pp or sum(counts) != spec.n_layers:  # set for another start, or not at all
        counts = in_stages(range(spec.n_layers + 1), spec.n_layers, pp, short_stages(log))
    return [range(end - count, end) for end, count in zip(accumulate(counts), counts, strict=True)]


def parts_of(log: EngineLog, spec: ModelSpec, pp: int) -> Iterator[Part]:
    """What may be compared, the likeliest first: the stage with the most layers and the rank with the least memory.

    All ranks of vLLM get as many blocks as the one that can hold the fewest. That is the fullest stage's, unless the
    tables leave another one so much less. Which rank prints which memory older versions do not say.
    """
    if pp == 1:
        yield Part(log)
        return
    stages = stages_of(log, spec, pp)
    if log.stage is not None and log.stage < pp:
        yield Part(log, stages[log.stage])
        return
    shapes = {tuple(sorted(map(spec.layer_kinds.__getitem__, stage))): stage for stage in stages}
    for stage in sorted(shapes.values(), key=len, reverse=True):
        yield from (Part(replace(log, logged=room), stage) for room in log.rooms or (log.logged,))


def stage_step(part: Part, spec: ModelSpec, pp: int) -> list[Difference]:
    """That the figures are of one stage's layers."""
    if part.stage is None:
        return []
    source = "sglang_stages" if part.log.engine == "SGLang" else "vllm_stages"
    params = {"stages": pp, "layers": spec.n_layers, "held": len(part.stage)}
    return [Difference("stage", None, source, params)]
