"""What the page asks of an engine's log: it is set beside the formula for the calculator's model, or for its own."""

from model import ModelSpec, catalogue
from model.engine_logs import read_log
from model.engine_logs.compared import Comparison, compare, states_format
from model.engine_logs.compared.chosen import Chosen, judged
from model.engine_logs.compared.own_model import OwnModel, own_model
from model.engine_logs.facts import EngineLog
from visuals.kv_log import DtypeFrom, log_message
from visuals.messages.kv_log import KvLogAnswer

from ..engine import Engine
from ..fields import Flag, Text, read
from ..requests import Sent
from .kv_requests import OfCache


class Log(OfCache):
    """A pasted log, and the calculator's settings for what it does not say. `as_chosen`: with the calculator's model,
    also where the log names another of the catalogue."""

    log: Text
    as_chosen: Flag = False


def kv_log(_engine: Engine, data: Sent) -> KvLogAnswer:
    """A pasted log beside the formula: {log, and the calculator's settings}. The log is not kept.

    Raises GlassLlamaError where no engine's lines are in it, and where its model cannot be compared.
    """
    asked = read(Log, data)
    log = read_log(asked.log)
    own, instead_of = own_model(log, asked.log), ""
    found, origin = _compared(log, own.spec or asked.spec(), asked)
    chosen = Chosen(True) if own.spec else judged(found, origin != "fits")  # its own shape needs no judge
    if chosen.by == "name" and not asked.as_chosen:
        own, instead_of = OwnModel(catalogue()[chosen.another], "named", own.unread), found.spec.name
        found, origin = _compared(log, catalogue()[chosen.another], asked)
        chosen = judged(found, origin != "fits")
    return log_message(found, own, origin, chosen, instead_of)


def _compared(log: EngineLog, spec: ModelSpec, asked: Log) -> tuple[Comparison, DtypeFrom]:
    """The log beside a model, and where its number format comes from: of those with which the sum is what the log
    prints the first, where the log states none and the calculator's is none of them."""
    options = asked.options
    found = compare(log, spec, asked.dtype, options.tp, options.block_size, options.layout)
    origin: DtypeFrom = "log" if states_format(log) else "unknown" if log.stated else "chosen"
    if origin == "chosen" and found.fitting and asked.dtype not in found.fitting:
        return compare(log, spec, found.fitting[0], options.tp, options.block_size, options.layout), "fits"
    return found, origin
