"""How long LayerNorm and RMSNorm take on this machine, on the vectors of a run.

Each is timed as torch offers it, and written out operation by operation, so that the two formulas compare where no
fused kernel stands behind one of them. The rounds of all four alternate, so that a busy machine slows all alike.
Symbols: T tokens, d d_model.
"""

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

ROUNDS, LEAST, BUDGET = 40, 5, 0.06  # of each; the least; seconds after which no further round begins
TARGET = 1e-4  # seconds that a round takes at least, in which calls are repeated


class Timing(NamedTuple):
    """Seconds of one call: the median of the rounds, and the quarters that lie below and above these."""

    median: float
    low: float
    high: float


class NormTimes(NamedTuple):
    """`fused`: torch's own functions; `written`: the formula, an operation at a time. `rounds` of each were timed.

    `bytes_layer` and `bytes_rms`: what must be read and written at the least: the vectors once each way, and γ (and β).
    """

    layer_fused: Timing
    rms_fused: Timing
    layer_written: Timing
    rms_written: Timing
    rounds: int
    threads: int
    bytes_layer: int
    bytes_rms: int


def layer_norm_written(
    x: Float[Tensor, "T d"], gamma: Float[Tensor, "d"], beta: Float[Tensor, "d"], eps: float
) -> Float[Tensor, "T d"]:
    """(x − mean) / √(variance + eps) ⊙ γ + β: two means, a subtraction and an addition that RMSNorm has not."""
    centred = x - x.mean(-1, keepdim=True)
    return centred * torch.rsqrt(centred.square().mean(-1, keepdim=True) + eps) * gamma + beta


def rms_norm_written(x: Float[Tensor, "T d"], gamma: Float[Tensor, "d"], eps: float) -> Float[Tensor, "T d"]:
    """x / √(mean(x²) + eps) ⊙ γ."""
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * gamma


def norm_times(x: Float[Tensor, "T d"], eps: float) -> NormTimes:
    """Time both norms on these vectors, where and in which dtype they are."""
    size = x.shape[-1:]
    gamma, beta = torch.ones(size, dtype=x.dtype, device=x.device), torch.zeros(size, dtype=x.dtype, device=x.device)
    with torch.inference_mode():
        (layer, rms, layer_written, rms_written), rounds = _timed(
            [
                lambda: F.layer_norm(x, size, gamma, beta, eps),
                lambda: F.rms_norm(x, size, gamma, eps),
                lambda: layer_norm_written(x, gamma, beta, eps),
                lambda: rms_norm_written(x, gamma, eps),
            ],
            _waits(x.device),
        )
    vectors, learned = 2 * x.numel() * x.element_size(), gamma.numel() * gamma.element_size()
    counted = rounds, torch.get_num_threads(), vectors + 2 * learned, vectors + learned
    return NormTimes(layer, rms, layer_written, rms_written, *counted)


def _timed(calls: list[Callable[[], Tensor]], wait: Callable[[], None]) -> tuple[list[Timing], int]:
    """Each call's timing, and how many rounds there were."""
    repeats = [max(1, round(TARGET / _seconds(call, 3, wait))) for call in calls]
    seconds: list[list[float]] = [[] for _ in calls]
    start = time.perf_counter()
    for done in range(ROUNDS):
        if done >= LEAST and time.perf_counter() - start > BUDGET:
            break
        for call, times, each in zip(calls, repeats, seconds, strict=True):
            each.append(_seconds(call, times, wait))
    return [_timing(each) for each in seconds], len(seconds[0])


def _seconds(call: Callable[[], Tensor], times: int, wait: Callable[[], None]) -> float:
    """What one call takes, on average over so many in a row."""
    wait()
    start = time.perf_counter()
    for _ in range(times):
        call()
    wait()
    return (time.perf_counter() - start) / times


def _timing(seconds: list[float]) -> Timing:
    low, median, high = statistics.quantiles(seconds, n=4)
    return Timing(median, low, high)


def _waits(device: torch.device) -> Callable[[], None]:
    """What waits until the device has done what it was told."""
    if device.type == "cuda":
        return lambda: torch.cuda.synchronize(device)
    return lambda: None
