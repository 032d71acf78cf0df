"""A log beside the calculators' formula: what the cache needs, what the engine reserves, what it logs, and why they
differ. Exact: integers and fractions.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from ...errors import GlassLlamaError
from ...kv_math.formats import FORMATS
from ...kv_math.options import Layout
from ...published.spec import ModelSpec
from ..facts import Conflict, EngineLog
from . import llama_cpp, paged, vllm
from .figures import Cell, Comparison, Difference, Row, explained
from .layers import plain
from .loaded import counted_weights
from .sources import SOURCES, Source
from .stages import Part, parts_of, stage_step

__all__ = ["SOURCES", "Cell", "Comparison", "Difference", "Row", "Source", "compare", "states_format"]

# Formats that are tried where the log does not say one.
TRIED = ("bf16", "fp8", "fp8_ds_mla", "fp32", "nvfp4", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0")
# The line of a row that an engine prints, by the fact that it is noted as.
LINE_OF = {"tokens": "pool_tokens", "concurrency": "concurrency", "longest": "longest"}
ONE_PROCESS = ("llama.cpp", "Ollama")  # whose sums are of all its devices, whatever the calculator shares out


def compare(
    log: EngineLog, spec: ModelSpec, dtype: str, tp: int = 1, block: int = 1, layout: Layout = "formula"
) -> Comparison:
    """`log` beside the formula for `spec`.

    `dtype`, `tp`, `block` and `layout` are the calculator's, for what the log does not say. Raises GlassLlamaError
    for a model or a format that cannot be compared.
    """
    log = replace(log, layout=_layout(log, spec, layout))
    stages = log.pp or 1
    ranks = 1 if log.engine in ONE_PROCESS else log.tp or tp
    fitting = () if log.dtype or log.stated else tuple(_fitting(log, spec, ranks, block))
    dtype = log.dtype or dtype
    names = vllm.stored_formats(spec, dtype) if log.engine == "vLLM" and log.dtype else (dtype,)
    used, part, (rows, differences) = _likeliest(log, spec, names, ranks, block)
    log, differences = part.log, [*stage_step(part, spec, stages), *differences]
    k, v = llama_cpp.formats(log, used) if log.engine == "llama.cpp" else (plain(used).of_k, plain(used).of_v)
    conflicts = log.conflicts
    if log.engine == "vLLM":
        conflicts += tuple(vllm.contradictions(log, spec, used, ranks, block))
    conflicts += tuple(_odd_rows(log, rows, conflicts))
    if states_format(log) and not explained(differences):
        others = tuple(_other_format(log, spec, used, ranks, block))
        conflicts = others + conflicts
        differences = _unguessed(log, differences) if others else differences
    conflicts += tuple(paged.odd_parts(log, spec, used, ranks, part.stage))
    rows = _marked(rows, differences)
    found = Comparison(log, spec, k.name, v.name, ranks, stages, tuple(rows), tuple(differences), fitting, conflicts)
    return replace(found, weights=counted_weights(log, spec, ranks, stages))


def _layout(log: EngineLog, spec: ModelSpec, chosen: Layout) -> Layout:
    """Whether MLA's latents or K and V of every head are stored: by the width of K that llama.cpp prints, else as
    chosen."""
    if spec.mla is None:
        return "formula"
    one = log.printed.get("n_embd_head_k")
    width = int(one["value"]) if one and one["value"].strip().isdigit() else 0
    if width == spec.mla.kv_lora_rank + spec.mla.qk_rope_head_dim:
        return "formula"
    if width and width == spec.mla.qk_nope_head_dim + spec.mla.qk_rope_head_dim:
        return "expanded_mla"
    return chosen if chosen == "expanded_mla" else "formula"


def states_format(log: EngineLog) -> bool:
    """Whether the log states the formats of K and of V, and both are known here."""
    return log.dtype is not None or llama_cpp.stated(log) is not None


def _compared(part: Part, spec: ModelSpec, dtype: str, tp: int, block: int) -> tuple[list[Row], list[Difference]]:
    log = part.log
    if log.engine == "vLLM":
        return vllm.compare(log, spec, dtype, tp, block, part.stage)
    if log.engine == "llama.cpp":
        return llama_cpp.compare(log, spec, dtype, tp)
    return paged.compare(log, spec, dtype, tp, part.stage)


def _likeliest(
    log: EngineLog, spec: ModelSpec, names: Iterable[str], tp: int, block: int
) -> tuple[str, Part, tuple[list[Row], list[Difference]]]:
    """The comparison in one of the formats that the log's name for it may mean, and with one of the pipeline stages
    that it may be of: the first with which the sum is what the log prints, else the likeliest."""
    parts = list(parts_of(log, spec, log.pp or 1))
    tried = [(name, part, _compared(part, spec, name, tp, block)) for name in names for part in parts]
    return next((one for one in tried if explained(one[2][1])), tried[0])


def _odd_rows(log: EngineLog, rows: Iterable[Row], told: tuple[Conflict, ...]) -> Iterator[Conflict]:
    """Lines that do not go with the others, but for those of which that is told already."""
    lines = {fact.code: fact.line for fact in log.facts}
    for row in rows:
        line = lines.get(LINE_OF.get(row.quantity, ""), 0)
        if not (row.differs and row.logged and row.reserved and line):
            continue
        if all(line not in (one.line, one.other_line) for one in told):
            one, other = (_printed(cell.value) for cell in (row.logged, row.reserved))
            yield Conflict(one, line, other, 0, "row", row.quantity)


def _printed(value: int | Decimal | Fraction) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{float(value):.2f}"


def _other_format(log: EngineLog, spec: ModelSpec, used: str, tp: int, block: int) -> Iterator[Conflict]:
    """That the log names a format, and its bytes are those of another one of the engine."""
    said_by = ("stored_format", "cache_dtype", "cache", "layout", "weights_dtype")
    told = (fact for code in said_by for fact in log.facts if fact.code == code and fact.value != "auto")
    line = next((fact.line for fact in told), 0)
    stated = " / ".join(dict.fromkeys(log.stated or ()))
    own = [name for name in _fitting(log, spec, tp, block) if FORMATS[name].engine in ("", log.engine)]
    if log.engine != "llama.cpp":  # the others store no K and V in fp32 of a model that is computed in less
        own = [name for name in own if name != "fp32"]
    if line and own and used not in own:
        yield Conflict(stated, line, own[0], 0, "format")


def _unguessed(log: EngineLog, differences: Iterable[Difference]) -> list[Difference]:
    """Without a guess at how much another GPU has: the bytes are those of another format, which explains all of it."""
    params = {"slack": log.logged.slack if log.logged else 0}
    return [
        Difference("unexplained", one.bytes, "", params, one.of) if one.code == "least_rank" else one
        for one in differences
    ]


def _marked(rows: Iterable[Row], differences: Iterable[Difference]) -> list[Row]:
    """Rows of which that of the cache says so where its bytes are not explained."""
    odd = any(one.code == "unexplained" and one.of == "pool" for one in differences)
    return [replace(row, differs=True) if odd and row.quantity == "bytes" and row.logged else row for row in rows]


def _fitting(log: EngineLog, spec: ModelSpec, tp: int, block: int) -> list[str]:
    """The formats with which the sum is what the log prints."""
    found, silent = [], llama_cpp.without_formats(log)
    for dtype in TRIED:
        try:
            _, _, (_, differences) = _likeliest(silent, spec, (dtype,), tp, block)
        except GlassLlamaError:  # a format that does not fit this model
            continue
        if explained(differences):
            found.append(dtype)
    return found
