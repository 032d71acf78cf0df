"""The weights that a log tells of, beside the sum of the model's own products."""

from ...errors import GlassLlamaError
from ...kv_math.weights import AS_CONFIG, weight_breakdown
from ...published.spec import ModelSpec
from ..facts import EngineLog
from ..weights import FORMATS
from .figures import CountedWeights
from .stages import short_stages


def counted_weights(log: EngineLog, spec: ModelSpec, tp: int, pp: int) -> CountedWeights | None:
    """What the log says of the weights beside their count for `spec`; None where it says nothing.

    In the format that the log states; where it states none, as the model's config does: the number type of computing is
    the weights' where their files are not quantised. A GPU's line is set beside the fullest GPU of `tp` × `pp`, whose
    layers are cut as the engine cuts them.
    """
    loaded = log.weights
    if loaded is None:
        return None
    told = loaded.stated or ("" if spec.quantised else loaded.computed)
    dtype = FORMATS.get(told) if told else None if loaded.whole else AS_CONFIG
    if dtype is None or spec.unstated:
        return CountedWeights(loaded, None, told, bool(told))
    try:
        found = weight_breakdown(spec, dtype) if loaded.whole else weight_breakdown(spec, dtype, tp=tp, pp=pp)
        counted = found.total_bytes if loaded.whole else max(found.in_stages(pp, short_stages(log)))
    except GlassLlamaError:  # a format whose blocks do not fit the model's rows
        return CountedWeights(loaded, None, told, bool(told))
    return CountedWeights(loaded, counted, found.dtype, bool(told))
