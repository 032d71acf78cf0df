"""How far two runs of one model lie apart: their residual streams, place by place."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from model import Trace

from .payload import Message, pack


class Difference(NamedTuple):
    """‖B - A‖ and ‖A‖ of the residual stream before each layer and after the last, at tokens that both runs have."""

    apart: Float[np.ndarray, "L_1 T"]
    first: Float[np.ndarray, "L_1 T"]


def difference_info(first: Trace, second: Trace) -> Difference:
    """B is `second`, A is `first`; tokens are compared by their position."""
    tokens = min(first.residual.shape[1], second.residual.shape[1])
    a, b = (trace.residual[:, :tokens].astype(np.float64) for trace in (first, second))
    return Difference(np.linalg.norm(b - a, axis=-1), np.linalg.norm(a, axis=-1))


def difference_payload(info: Difference) -> Message:
    """The two norms, float32."""
    return {"apart": pack(info.apart, "f4"), "first": pack(info.first, "f4")}
