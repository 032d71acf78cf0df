"""What the page asks of an engine's log: it is set beside the formula for the calculator's model, or for its own."""

from model.engine_logs import read_log
from model.engine_logs.compared import compare, states_format
from model.engine_logs.compared.chosen import Chosen, judged
from model.engine_logs.compared.own_model import own_model
from visuals.kv_log import DtypeFrom, log_message
from visuals.messages.kv_log import KvLogAnswer

from ..engine import Engine
from ..fields import Text, read
from ..requests import Sent
from .kv_requests import OfCache


class Log(OfCache):
    """A pasted log, and the calculator's settings for what it does not say."""

    log: Text


def kv_log(_engine: Engine, data: Sent) -> KvLogAnswer:
    """A pasted log beside the formula: {log, and the calculator's settings}. The log is not kept.

    Raises GlassLlamaError where no engine's lines are in it, and where its model cannot be compared.
    """
    asked = read(Log, data)
    log = read_log(asked.log)
    own = own_model(log, asked.log)
    spec = own.spec or asked.spec()
    options = asked.options
    found = compare(log, spec, asked.dtype, options.tp, options.block_size)
    origin: DtypeFrom = "log" if states_format(log) else "unknown" if log.stated else "chosen"
    if origin == "chosen" and found.fitting and asked.dtype not in found.fitting:
        found, origin = compare(log, spec, found.fitting[0], options.tp, options.block_size), "fits"
    chosen = Chosen(True) if own.spec else judged(found, origin != "fits")
    return log_message(found, own, origin, chosen)
