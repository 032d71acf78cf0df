"""GPUs that a model may be served on: memory and memory bandwidth as their vendor states them. Plain data."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..expected import one_of
from .options import refusal, whole

GB = 10**9
MAX_GB = 10**6


@dataclass(frozen=True)
class Gpu:
    """`memory` in bytes, `bandwidth` in bytes per second, both from the datasheet that `source` names; or the user's
    own figures (`own`).

    A datasheet's GB is taken as 10⁹ bytes. Drivers report a little more (A100 80 GB: 85,198,045,184 bytes by
    deviceQuery; L40S: 48,305,799,168 by NVML with ECC on; RTX 4090: 24,564 MiB by nvidia-smi), so what fits here fits
    there. GDDR's bandwidth is also bus width × data rate: 384 bit × 18 Gb/s / 8 = 864 GB/s (L40S), 384 bit × 21 Gb/s
    / 8 = 1,008 GB/s (RTX 4090). The L40S's datasheet and the Ada whitepaper were read in copies: the L40S's table at
    mullet.se (product 355414), the RTX 4090's figures at thefpsreview.com (GPU family specifications).
    """

    name: str
    memory: int
    bandwidth: int
    source: str = ""
    own: bool = False


_ALL = (
    Gpu("H200 141 GB", 141 * GB, 4_800 * GB, "NVIDIA H200 datasheet: 141 GB HBM3e, 4.8 TB/s"),
    Gpu("H100 80 GB", 80 * GB, 3_350 * GB, "NVIDIA H100 datasheet, SXM: 80 GB HBM3, 3.35 TB/s"),
    Gpu("A100 80 GB", 80 * GB, 2_039 * GB, "NVIDIA A100 datasheet, SXM: 80 GB HBM2e, 2,039 GB/s"),
    Gpu("A100 40 GB", 40 * GB, 1_555 * GB, "NVIDIA A100 datasheet: 40 GB HBM2, 1,555 GB/s"),
    Gpu("L40S 48 GB", 48 * GB, 864 * GB, "NVIDIA L40S datasheet: 48 GB GDDR6 with ECC, 864 GB/s"),
    Gpu(
        "RTX 4090 24 GB",
        24 * GB,
        1_008 * GB,
        "NVIDIA Ada GPU architecture whitepaper, table 2: 24 GB GDDR6X, 1,008 GB/s",
    ),
    Gpu("T4 16 GB", 16 * GB, 320 * GB, "NVIDIA T4 product brief PB-09256, table 2: 16 GB GDDR6, up to 320 GB/s"),
)
GPUS: Mapping[str, Gpu] = MappingProxyType({gpu.name: gpu for gpu in _ALL})


def find_gpu(gpu: Gpu | str) -> Gpu:
    """`gpu` itself, or the one in GPUS whose name holds the given one, such as "H100" or "A100 80".

    Raises GlassLlamaError, which lists them all, where none or several do.
    """
    if isinstance(gpu, Gpu):
        return gpu
    if not isinstance(gpu, str):
        raise refusal("gpu", gpu, f"one of {', '.join(GPUS)}, or a Gpu")
    wanted = _plain(gpu[:40])
    close = [name for name in GPUS if len(wanted) > 1 and wanted in _plain(name)]
    if len(close) != 1:
        raise refusal("gpu", gpu, one_of(GPUS, close))
    return GPUS[close[0]]


def own_gpu(memory_gb: int, bandwidth_gb_per_s: int, name: str = "Own GPU") -> Gpu:
    """A GPU of one's own: memory in GB (10⁹ bytes) and bandwidth in GB/s. Raises GlassLlamaError: 1 to 10⁶ each."""
    memory = whole("memory_gb", memory_gb, 1, MAX_GB)
    return Gpu(
        name, memory * GB, whole("bandwidth_gb_per_s", bandwidth_gb_per_s, 1, MAX_GB) * GB, "your own figures", True
    )


def _plain(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())
