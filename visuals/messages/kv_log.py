"""What the comparison of an engine's log with the formula is sent. Exact numbers are decimal texts (see `sums`)."""

from typing import Literal

from typing_extensions import TypedDict

from model.engine_logs import Engine
from model.engine_logs.compared.chosen import By
from model.engine_logs.compared.own_model import Origin


class LogFact(TypedDict):
    """A value as the log has it, a code for what it is, and the number of its line, from 1."""

    code: str
    value: str
    line: int


class LogCut(TypedDict):
    """Where a log ends within a number, which is not read: the line, from 1, and how it ends."""

    line: int
    end: str


class LogCell(TypedDict):
    """A figure as a decimal text, and the arithmetic that it comes from, or how the log prints it; "" for neither.

    `worked_out`: it stands in the log's column, but on no line of it."""

    value: str
    how: str
    worked_out: bool


class LogRow(TypedDict):
    """A quantity by the formula, as the engine reserves it, and as the log has it; null where one of them has none.

    `differs`: the log's is not what the engine would print of what it reserves."""

    quantity: str
    formula: LogCell | None
    reserved: LogCell | None
    logged: LogCell | None
    differs: bool


class LogSource(TypedDict):
    """Where it was read what an engine does; `address` may be ""."""

    text: str
    address: str


class LogDifference(TypedDict):
    """One step from the formula to the log: `bytes` more, null for a remark. `of`: the pool, or one request."""

    code: str
    of: Literal["pool", "request"]
    bytes: str | None
    params: dict[str, object]
    source: LogSource | None


class LogConflict(TypedDict):
    """What line `line` says (`one`), and what contradicts it: line `other_line`, or the model that is compared, whose
    figure `other` then is, and whose parameters where `one` is a name with a "size"; of a "name" `other` is what the
    list calls it. "beyond": `one` is what the tokens of a line take by the model that is compared, more than the other
    line has for them. "row": `one` is the line's figure of `quantity`, `other` what the engine would print of the other
    lines. "format": the line names the format `one`, and the bytes are those of `other`. "part": the line's figure of K
    or of V is `one`, and `other` what it would be by the tokens."""

    code: Literal["lines", "model", "size", "name", "beyond", "row", "format", "part"]
    one: str
    line: int
    other: str
    other_line: int
    quantity: str


class LogWeights(TypedDict):
    """What line `line` says of the weights, and what is `counted` in `dtype`, null where no product counts that; all in
    bytes. `stated`: the log says the format. `computed` is the number type of computing that it says instead. `whole`:
    of the model's file, else of one GPU. `measured`: by the memory in use before and after. `slack`: half of the last
    digit that is printed; `more`: the log's less the count."""

    counted: str | None
    dtype: str
    stated: bool
    computed: str
    logged: str
    text: str
    slack: str
    more: str | None
    line: int
    whole: bool
    measured: bool


class KvLogAnswer(TypedDict):
    """An engine's log beside the formula, on one of `ranks` ranks.

    `model` is what the formula is of: the log's own, by the file's "metadata" or by what the engine "printed" of its
    shape; one of the catalogue that the log "named", `instead_of` the calculator's; or the calculator's ("chosen");
    `config` describes the log's own to the calculator, "" where it does not.
    `agrees`: the log's name, its layers or its bytes are that model's. `another` is a model of the catalogue that the
    log is rather of, `another_by` its "name" or its "bytes", of which `another_params` tells.
    `unread` says why metadata in the log could not be read. `named` is what the log calls its model, "" where it
    does not, `listed` what the catalogue calls that, "" for none; `alike`: its
    cache is the one of `model`.
    `dtype` is the format of K, `dtype_v` that of V. `dtype_from`: stated by the log; what the "engine" stores under the
    name `stated`; the calculator's, since
    the log states one that is not known ("unknown", in the engine's words `stated`); found as the one with which the
    sum is what the log prints ("fits"); or the calculator's. `fitting` are all with which it is. `weights` is what the
    log says of their size, `beside` are its buffers beside weights and cache.
    """

    engine: Engine
    model: str
    model_from: Origin
    config: str
    instead_of: str
    unread: str
    named: str
    listed: str
    alike: bool
    dtype: str
    dtype_v: str
    dtype_from: Literal["log", "engine", "unknown", "fits", "chosen"]
    stated: str
    fitting: list[str]
    ranks: int
    facts: list[LogFact]
    cut: LogCut | None
    agrees: bool
    another: str
    another_by: By
    another_params: dict[str, object]
    conflicts: list[LogConflict]
    rows: list[LogRow]
    differences: list[LogDifference]
    weights: LogWeights | None
    beside: list[LogFact]
