"""A log beside the calculators' formula: what the cache needs, what the engine reserves, what it logs, and why they
differ. Exact: integers and fractions.
"""

from dataclasses import replace

from ...errors import GlassLlamaError
from ...published.spec import ModelSpec
from ..facts import EngineLog
from . import llama_cpp, paged, vllm
from .figures import Cell, Comparison, Difference, Row, explained
from .layers import plain
from .loaded import counted_weights
from .sources import SOURCES, Source

__all__ = ["SOURCES", "Cell", "Comparison", "Difference", "Row", "Source", "compare", "states_format"]

# Formats that are tried where the log does not say one.
TRIED = ("bf16", "fp8", "fp32", "nvfp4", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0")
ONE_PROCESS = ("llama.cpp", "Ollama")  # whose sums are of all its devices, whatever the calculator shares out


def compare(log: EngineLog, spec: ModelSpec, dtype: str, tp: int = 1, block: int = 1) -> Comparison:
    """`log` beside the formula for `spec`.

    `dtype`, `tp` and `block` are the calculator's, for what the log does not say. Raises GlassLlamaError for a model or
    a format that cannot be compared.
    """
    used, stages = log.dtype or dtype, log.pp or 1
    ranks = 1 if log.engine in ONE_PROCESS else log.tp or tp
    rows, differences = _compared(log, spec, used, ranks, block)
    fitting = () if log.dtype or log.stated else tuple(_fitting(log, spec, ranks, block))
    k, v = llama_cpp.formats(log, used) if log.engine == "llama.cpp" else (plain(used).of_k, plain(used).of_v)
    conflicts = log.conflicts
    if log.engine == "vLLM":
        conflicts += tuple(vllm.contradictions(log, spec, used, ranks, block))
    found = Comparison(log, spec, k.name, v.name, ranks, stages, tuple(rows), tuple(differences), fitting, conflicts)
    return replace(found, weights=counted_weights(log, spec, ranks, stages))


def states_format(log: EngineLog) -> bool:
    """Whether the log states the formats of K and of V, and both are known here."""
    return log.dtype is not None or llama_cpp.stated(log) is not None


def _compared(log: EngineLog, spec: ModelSpec, dtype: str, tp: int, block: int) -> tuple[list[Row], list[Difference]]:
    if log.engine == "vLLM":
        return vllm.compare(log, spec, dtype, tp, block)
    if log.engine == "llama.cpp":
        return llama_cpp.compare(log, spec, dtype, tp)
    return paged.compare(log, spec, dtype, tp)


def _fitting(log: EngineLog, spec: ModelSpec, tp: int, block: int) -> list[str]:
    """The formats with which the sum is what the log prints."""
    found = []
    for dtype in TRIED:
        try:
            _, differences = _compared(replace(log, dtype=None), spec, dtype, tp, block)
        except GlassLlamaError:  # a format that does not fit this model
            continue
        if explained(differences):
            found.append(dtype)
    return found
