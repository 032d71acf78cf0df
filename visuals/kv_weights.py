"""What a model's own files hold, as a message. Bytes travel as decimal texts, as in visuals/kv.py."""

from model.kv_math.from_files import FileWeights, TensorGroup
from model.kv_math.weights import WeightBreakdown

from .kv import factor_message
from .messages.kv_weights import DtypeMessage, KvWeightsAnswer


def weights_message(found: FileWeights, counted: WeightBreakdown | None) -> KvWeightsAnswer:
    """The files' bytes by format, and why they are not what is counted; None: the config does not say enough for it."""
    return {
        "bytes": str(found.bytes),
        "tensors": sum(group.count for group in found.groups),
        "counted": str(counted.counted_bytes) if counted else None,
        "weights_in": counted.dtype if counted else "",
        "output": found.has_output,
        "dtypes": [_dtype_message(dtype, groups) for dtype, groups in found.by_dtype.items()],
        "differences": [
            {"code": one.code, "bytes": str(one.bytes), "dtypes": list(one.dtypes)}
            for one in (found.differences(counted) if counted else ())
        ],
    }


def _dtype_message(dtype: str, groups: tuple[TensorGroup, ...]) -> DtypeMessage:
    heaviest = sorted(groups, key=lambda group: -group.bytes)
    return {
        "dtype": dtype,
        "bytes": str(sum(group.bytes for group in groups)),
        "tensors": sum(group.count for group in groups),
        "products": [
            {"label": one.name, "factors": [factor_message(f) for f in one.factors], "bytes": str(one.bytes)}
            for one in heaviest
        ],
    }
