"""GPUs that a model may be served on: memory as their driver reports it, else as their maker states it, and memory
bandwidth as their maker states it. Plain data.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType

from ..published.expected import any_of
from .beside import STEP_TOKENS, UBATCH_TOKENS
from .options import refusal, whole

GB = 10**9
GIB = 2**30
MAX_GB = 10**6


@dataclass(frozen=True)
class Gpu:
    """`memory` in bytes, `bandwidth` in bytes per second, or the user's own figures (`own`). The bandwidth is from the
    datasheet that `source` names, and so is `stated`, its memory, 0 for the user's own. `reported` is the memory in MiB
    as nvidia-smi or rocm-smi (`reporter`) has it on such a card, 0 where no report is known; `reported_in` names the
    report. `memory` is what is reported, else what is stated. `limit` is how many per cent of its memory the system
    lets a GPU take: where memory is shared with the CPU, not all of it. `bf16`: whether it computes in bf16, as
    NVIDIA's do from compute capability 8.0 on (vllm/platforms/cuda.py, supported_dtypes).

    A datasheet's GB is taken as 10⁹ bytes, an Apple chip's as 2³⁰; drivers report a little more. A program gets
    somewhat less than nvidia-smi has (A100 80 GB: 85,198,045,184 bytes by deviceQuery, which are 81,251 of 81,920 MiB).
    GDDR's bandwidth is also bus width × data rate: 384 bit × 18 Gb/s / 8 = 864 GB/s (L40S), 384 bit × 21 Gb/s / 8 =
    1,008 GB/s (RTX 4090). The L40S's datasheet and the Ada whitepaper were read in copies: the L40S's table at
    mullet.se (product 355414), the RTX 4090's figures at thefpsreview.com (GPU family specifications).

    DGX B200 and DGX B300 state eight GPUs together: 1,440 GB and 64 TB/s, 2.3 TB and 64 TB/s (8 × 288 = 2,304); a B200
    has 192 GB on the package, of which 180 can be used. MI300X: 8,192 bit × 5.2 Gb/s / 8; RTX 5090: 512 bit × 28 Gb/s
    / 8. The figures from the B200 on were checked against copies: B200 and B300 in NVIDIA's support matrix of NIM and
    at docs.vultr.com, MI300X and MI325X there too, RTX 5090 at libertify.com, M4 Max at notebookcheck.net, M3 Ultra at
    techpowerup.com, H20 at tweakers.net: NVIDIA shows no datasheet of the H20 in public. macOS lets the GPU take about
    three quarters of an Apple chip's memory (Metal's recommendedMaxWorkingSetSize: 73,728 MiB of 96 GB, which are
    75 per cent of 96 GiB) unless iogpu.wired_limit_mb says otherwise.
    """

    name: str
    memory: int
    bandwidth: int
    source: str = ""
    own: bool = False
    limit: int = 100
    reported: int = 0
    reported_in: str = ""
    stated: int = 0
    bf16: bool = True

    @property
    def interface(self) -> str:
        """What programs reach it by, whose context takes some of its memory; "" where its maker is not known."""
        makers = (("NVIDIA", "CUDA"), ("AMD", "ROCm"), ("Apple", "Metal"))
        return next((name for maker, name in makers if self.source.startswith(maker)), "")

    @property
    def step_tokens(self) -> int:
        """Tokens that a step reads at once by default, in the engine that is usual on it: vLLM, or llama.cpp."""
        return UBATCH_TOKENS if self.interface == "Metal" else STEP_TOKENS

    @property
    def reporter(self) -> str:
        """The program that reports its memory."""
        return "rocm-smi" if self.interface == "ROCm" else "nvidia-smi"

    @property
    def as_stated(self) -> "Gpu | None":
        """The same GPU with the memory of its datasheet; None where that is what counts."""
        return replace(self, memory=self.stated) if self.reported else None

    @property
    def read_in(self) -> str:
        """Where its figures were read."""
        if not self.reported:
            return self.source
        return f"memory: {self.reporter}, {self.reported:,} MiB, {self.reported_in}; {self.source}"

    def percent_of(self, asked: int | Fraction) -> int | Fraction:
        """How much of its memory may be taken where `asked` per cent are wanted."""
        return min(asked, self.limit)

    def usable(self, percent: int | Fraction) -> int:
        """Bytes of `percent` per cent of its memory, rounded down, or of what its system lets it take."""
        return int(self.memory * self.percent_of(percent) // 100)


_ALL = (
    Gpu("B300 288 GB", 288 * GB, 8_000 * GB, "NVIDIA DGX B300 datasheet, an eighth: 288 GB HBM3e, 8 TB/s"),
    Gpu("B200 180 GB", 180 * GB, 8_000 * GB, "NVIDIA DGX B200 datasheet, an eighth: 180 GB HBM3e, 8 TB/s"),
    Gpu("H200 141 GB", 141 * GB, 4_800 * GB, "NVIDIA H200 datasheet: 141 GB HBM3e, 4.8 TB/s"),
    Gpu("H20 96 GB", 96 * GB, 4_000 * GB, "NVIDIA H20 datasheet, as sellers show it: 96 GB HBM3, 4.0 TB/s"),
    Gpu("H100 80 GB", 80 * GB, 3_350 * GB, "NVIDIA H100 datasheet, SXM: 80 GB HBM3, 3.35 TB/s"),
    Gpu("A100 80 GB", 80 * GB, 2_039 * GB, "NVIDIA A100 datasheet, SXM: 80 GB HBM2e, 2,039 GB/s"),
    Gpu("A100 40 GB", 40 * GB, 1_555 * GB, "NVIDIA A100 datasheet: 40 GB HBM2, 1,555 GB/s"),
    Gpu("L40S 48 GB", 48 * GB, 864 * GB, "NVIDIA L40S datasheet: 48 GB GDDR6 with ECC, 864 GB/s"),
    Gpu(
        "RTX 5090 32 GB",
        32 * GB,
        1_792 * GB,
        "NVIDIA RTX Blackwell GPU architecture whitepaper: 32 GB GDDR7, 1,792 GB/s",
    ),
    Gpu(
        "RTX 4090 24 GB",
        24 * GB,
        1_008 * GB,
        "NVIDIA Ada GPU architecture whitepaper, table 2: 24 GB GDDR6X, 1,008 GB/s",
    ),
    Gpu(
        "T4 16 GB",
        16 * GB,
        320 * GB,
        "NVIDIA T4 product brief PB-09256, table 2: 16 GB GDDR6, up to 320 GB/s",
        bf16=False,
    ),
    Gpu("MI325X 256 GB", 256 * GB, 6_000 * GB, "AMD Instinct MI325X data sheet: 256 GB HBM3E, 6 TB/s"),
    Gpu("MI300X 192 GB", 192 * GB, 5_325 * GB, "AMD Instinct MI300X data sheet: 192 GB HBM3, 5.325 TB/s"),
    Gpu(
        "Apple M3 Ultra 512 GB",
        512 * GIB,
        819 * GB,
        "Apple Mac Studio (2025) specifications: up to 512 GB (GiB) shared with the CPU, 819 GB/s; macOS lets the GPU "
        "take about 75% of it (Metal's recommendedMaxWorkingSetSize: 73,728 MiB of 96 GB in ggml-org/llama.cpp #3213; "
        "newer systems may let it take more: 107.52 GiB of 128 in antirez/ds4 #893)",
        limit=75,
    ),
    Gpu(
        "Apple M4 Max 128 GB",
        128 * GIB,
        546 * GB,
        "Apple MacBook Pro (2024) specifications: up to 128 GB (GiB) shared with the CPU, 546 GB/s; macOS lets the GPU "
        "take about 75% of it (Metal's recommendedMaxWorkingSetSize: 73,728 MiB of 96 GB in ggml-org/llama.cpp #3213; "
        "newer systems may let it take more: 107.52 GiB of 128 in antirez/ds4 #893)",
        limit=75,
    ),
)
# Each as nvidia-smi printed it, in MiB, and where that can be read; rocm-smi 206,141,652,992 bytes of an MI300X.
_REPORTED: Mapping[str, tuple[int, str]] = MappingProxyType(
    {
        "B200 180 GB": (183_359, "NVIDIA/TensorRT-LLM #10278"),
        "H200 141 GB": (143_771, "NVIDIA/TensorRT-LLM #9554"),
        "H20 96 GB": (97_871, "NVIDIA/nvtrust #128"),
        "H100 80 GB": (81_559, "NVIDIA/nccl #1264"),
        "A100 80 GB": (81_920, "modal-labs/modal-client #2797"),
        "A100 40 GB": (40_960, "modal-labs/modal-client #2797"),
        "L40S 48 GB": (46_068, "modal-labs/modal-client #2797"),
        "T4 16 GB": (15_360, "modal-labs/modal-client #2797"),
        "RTX 5090 32 GB": (32_607, "noonghunna/club-3090 #1229"),
        "RTX 4090 24 GB": (24_564, "RLinf/RLinf #255"),
        "MI300X 192 GB": (196_592, "ROCm/legacy-rocm-build #4750"),
    }
)


def _with_report(gpu: Gpu) -> Gpu:
    mebibytes, where = _REPORTED.get(gpu.name, (0, ""))
    memory = mebibytes << 20 if mebibytes else gpu.memory
    return replace(gpu, memory=memory, stated=gpu.memory, reported=mebibytes, reported_in=where)


GPUS: Mapping[str, Gpu] = MappingProxyType({gpu.name: _with_report(gpu) for gpu in _ALL})


def find_gpu(gpu: Gpu | str) -> Gpu:
    """`gpu` itself, or the one in GPUS whose name holds the given one, such as "H100" or "A100 80".

    One that holds it as whole words comes first: "H20" is not the H200.

    Raises GlassLlamaError, which lists them all, where none or several do.
    """
    if isinstance(gpu, Gpu):
        return gpu
    if not isinstance(gpu, str):
        raise refusal("gpu", gpu, f"one of {', '.join(GPUS)}, or a Gpu")
    wanted = _plain(gpu[:40])
    close = [name for name in GPUS if wanted in _runs(name)]
    close = close or [name for name in GPUS if len(wanted) > 1 and wanted in _plain(name)]
    if len(close) != 1:
        raise refusal("gpu", gpu, any_of(GPUS, close[:3]))
    return GPUS[close[0]]


def own_gpu(memory_gb: int, bandwidth_gb_per_s: int, name: str = "Own GPU") -> Gpu:
    """A GPU of one's own: memory in GB (10⁹ bytes) and bandwidth in GB/s. Raises GlassLlamaError: 1 to 10⁶ each."""
    memory = whole("memory_gb", memory_gb, 1, MAX_GB)
    return Gpu(
        name, memory * GB, whole("bandwidth_gb_per_s", bandwidth_gb_per_s, 1, MAX_GB) * GB, "your own figures", True
    )


def _runs(name: str) -> set[str]:
    """Every run of whole words of a name, without blanks."""
    words = [_plain(word) for word in name.split()]
    return {"".join(words[i:j]) for i in range(len(words)) for j in range(i + 1, len(words) + 1)} - {"gb"}


def _plain(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())
