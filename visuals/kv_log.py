"""An engine's log beside the formula, as a message: rows, differences with their sources, and what was read where."""

from decimal import Decimal
from fractions import Fraction
from typing import Literal

from model.engine_logs.compared import SOURCES, Cell, Comparison, Difference, Row
from model.engine_logs.compared.chosen import Chosen
from model.engine_logs.compared.figures import CountedWeights
from model.engine_logs.compared.own_model import OwnModel, listed, mismatches, same_cache
from model.engine_logs.facts import Conflict
from model.published.catalogue import catalogue

from .messages.kv_log import KvLogAnswer, LogCell, LogConflict, LogDifference, LogRow, LogWeights

DtypeFrom = Literal["log", "unknown", "fits", "chosen"]


def log_message(
    found: Comparison, own: OwnModel, dtype_from: DtypeFrom, chosen: Chosen, instead_of: str = ""
) -> KvLogAnswer:
    """The whole answer; `own` says whether the model is the log's, `chosen` whether it goes with the log. `instead_of`:
    the calculator's model, where the log names the one that is compared."""
    log = found.log
    return {
        "engine": log.engine,
        "model": found.spec.name,
        "model_from": own.origin,
        "config": own.config,
        "instead_of": instead_of,
        "unread": own.unread,
        "named": log.model,
        "listed": (known := listed(log.model)),
        "alike": bool(known) and same_cache(found.spec, catalogue()[known]),
        "dtype": found.dtype,
        "dtype_v": found.dtype_v,
        "dtype_from": "engine" if log.dtype and log.dtype != found.dtype else dtype_from,
        "stated": " / ".join(dict.fromkeys(log.stated or ())),
        "fitting": list(found.fitting),
        "ranks": found.tp * found.pp,
        "facts": [{"code": fact.code, "value": fact.value, "line": fact.line} for fact in log.facts],
        "cut": {"line": log.cut.line, "end": log.cut.end} if log.cut else None,
        "conflicts": conflict_messages(found, chosen),
        "agrees": chosen.agrees,
        "another": "" if chosen.agrees else chosen.another,
        "another_by": "" if chosen.agrees else chosen.by,
        "another_params": dict(chosen.params),
        "rows": [row_message(row) for row in found.rows],
        "differences": [difference_message(one) for one in found.differences],
        "weights": weights_message(found.weights),
        "beside": [{"code": fact.code, "value": fact.value, "line": fact.line} for fact in log.beside],
    }


def weights_message(found: CountedWeights | None) -> LogWeights | None:
    """The weights by the log beside their count."""
    if found is None:
        return None
    loaded = found.loaded
    return {
        "counted": None if found.counted is None else str(found.counted),
        "dtype": found.dtype,
        "stated": found.stated,
        "computed": "" if found.stated else loaded.computed,
        "logged": str(loaded.size.bytes),
        "text": loaded.size.text,
        "slack": str(loaded.size.slack),
        "more": None if found.more is None else str(found.more),
        "line": loaded.line,
        "whole": loaded.whole,
        "measured": loaded.measured,
    }


def conflict_messages(found: Comparison, chosen: Chosen) -> list[LogConflict]:
    """Lines that contradict each other, then those that contradict the model that is compared."""
    conflicts = [_conflict(one.code, one) for one in found.conflicts]
    if chosen.beyond:
        conflicts.append(_conflict("beyond", chosen.beyond))
    if chosen.name:
        conflicts.insert(0, _conflict("name", chosen.name))
    if chosen.size:
        conflicts.append(_conflict("size", chosen.size))
    for one in mismatches(found.log, found.spec):
        conflicts.append(_conflict("model", Conflict(one.said, one.line, f"{one.has:,}", 0)))
    return conflicts


def _conflict(
    code: Literal["lines", "row", "format", "part", "model", "size", "name", "beyond"], one: Conflict
) -> LogConflict:
    return {
        "code": code,
        "one": one.one,
        "line": one.line,
        "other": one.other,
        "other_line": one.other_line,
        "quantity": one.quantity,
    }


def row_message(row: Row) -> LogRow:
    """A row."""
    return {
        "quantity": row.quantity,
        "formula": cell_message(row.formula),
        "reserved": cell_message(row.reserved),
        "logged": cell_message(row.logged),
        "differs": row.differs,
    }


def cell_message(cell: Cell | None) -> LogCell | None:
    """A figure as a decimal text: whole numbers to the last digit, others to six digits."""
    return None if cell is None else {"value": number_text(cell.value), "how": cell.how, "worked_out": cell.worked_out}


def number_text(value: int | Decimal | Fraction) -> str:
    """Such as "4093640704" or "461.201"."""
    return str(value) if isinstance(value, int | Decimal) else f"{float(value):.6g}"


def difference_message(one: Difference) -> LogDifference:
    """A difference with its source."""
    source = SOURCES.get(one.source)
    return {
        "code": one.code,
        "of": one.of,
        "bytes": None if one.bytes is None else str(one.bytes),
        "params": dict(one.params),
        "source": source and {"text": source.text, "address": source.address},
    }
