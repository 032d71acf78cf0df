"""Whether the model that a log is compared with is the log's own: by its name, its layers, the bytes of a token."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from ...errors import GlassLlamaError
from ...published.catalogue import active_parameter_count, catalogue, parameter_count
from ...published.spec import ModelSpec
from ..facts import Conflict
from . import compare
from .figures import OTHER_LAYERS, Comparison, explained, product
from .own_model import listed, mismatches, same_cache

By = Literal["", "name", "bytes", "layers"]
ALIKE = 1.5  # a size in a name is a round one: this many times the parameters, or as little, is still the same model's
_BILLIONS = re.compile(r"(?<![a-z0-9.])(?:(\d{1,3})x)?(\d{1,4}(?:\.\d{1,3})?)b(?![a-z])")
_MILLIONS = re.compile(r"(?<![a-z0-9.])(\d{2,4})m(?![a-z])")
_LETTERS = re.compile(r"[a-z]{2,}")
GIB = 1 << 30


@dataclass(frozen=True)
class Chosen:
    """`agrees`: the log's name, layers or bytes are the model's. `another` is the model of the list that the log is
    rather of: the one that it names, or whose bytes it has (`by`), or whose layers and windows as well, "" for none;
    `params` are the bytes, or the layers. With both, it
    names one of the same cache. `size`, `name` and `beyond` are lines that do not go with the model: `name` one that
    names a model of the list with another cache, although the bytes are this one's."""

    agrees: bool
    another: str = ""
    by: By = ""
    params: Mapping[str, object] = field(default_factory=dict)
    size: Conflict | None = None
    beyond: Conflict | None = None
    name: Conflict | None = None


def judged(found: Comparison, stated: bool) -> Chosen:
    """What the log says against or for the model of `found`; `stated`: its format was not chosen so as to fit."""
    spec, named, told = found.spec, listed(found.log.model), _tells_bytes(found)
    if named and same_cache(spec, catalogue()[named]):
        other = named if spec.name in catalogue() and spec.name != named else ""
        return Chosen(True, other, "name" if other else "", beyond=_beyond(found))
    size = None if named else _size(found)
    if told and stated:
        return Chosen(True, size=size, name=_other_name(found, named))
    if named:
        return Chosen(False, named, "name")
    if told and not size:
        return Chosen(True)
    if not told and (fit := next(_fitting(found), None)):
        return Chosen(False, fit.spec.name, "bytes", _rates(found, fit), size)
    if not told and (layers := _layers_in(found)) and not _is_windowed(found):
        fit = next((one for one in _beside(found) if _is_windowed(one)), None)
        if fit:
            return Chosen(False, fit.spec.name, "layers", layers, size)
    return Chosen(not size and _has_layers(found), size=size, beyond=_beyond(found))


def _tells_bytes(found: Comparison) -> bool:
    """Whether the log's tokens and its bytes are those of the model: only where all tokens take the same."""
    spec, log = found.spec, found.log
    if set(spec.layer_kinds) != {"full"} or not (log.tokens or log.blocks):
        return False
    return explained(found.differences)


def _layers_in(found: Comparison) -> dict[str, object]:
    """How many layers the log counts in a cache of all tokens and in one of windows; {} where it does not say both."""
    pools = {pool.kind: pool.layers for pool in found.log.pools}
    full, window = pools.get("full"), pools.get("sliding")
    return {"full": full, "window": window} if full and window else {}


def _is_windowed(found: Comparison) -> bool:
    """Whether layers, cells and bytes of a log with two caches are those of the model."""
    return explained(found.differences) and all(one.code != "window_cells" for one in found.differences)


def _fitting(found: Comparison) -> Iterator[Comparison]:
    """The log beside each model of the list whose bytes of a token it has."""
    return (one for one in _beside(found) if _tells_bytes(one))


def _beside(found: Comparison) -> Iterator[Comparison]:
    """The log beside each model of the list, those of the size in its name first."""
    log = replace(found.log, dtype=found.log.dtype or found.dtype)
    size = _size_in(log.model)
    for spec in sorted(catalogue().values(), key=lambda one: bool(size) and not _is_of(one, size)):
        try:
            yield compare(log, spec, found.dtype, found.tp, layout=log.layout)
        except GlassLlamaError:  # a model without such a cache
            continue


def _rates(found: Comparison, fit: Comparison) -> dict[str, object]:
    """The bytes of a token: of the model that is compared, and of the other one, which the log's bytes make."""
    logged = found.log.logged
    rows = {row.quantity: row for row in fit.rows}
    slots = rows["tokens"].logged or rows["tokens"].reserved
    own, each = (next(row.formula for row in one.rows if row.quantity == "token") for one in (found, fit))
    return {
        "logged": logged.text if logged else "",
        "tokens": int(slots.value) if slots else 0,
        "each": int(each.value) if each else 0,
        "mean": logged.bytes // int(slots.value) if logged and slots and slots.value else 0,
        "own": int(own.value) if own else 0,
    }


def _has_layers(found: Comparison) -> bool:
    """Whether the log says how many layers there are, and nothing that it says of the shape is another model's."""
    log = found.log
    counted = "n_layer" in log.printed or any(pool.layers for pool in log.pools)
    differs = any(one.code in OTHER_LAYERS for one in found.differences) or any(mismatches(log, found.spec))
    return counted and not differs


def _beyond(found: Comparison) -> Conflict | None:
    """vLLM's tokens where they would take more than the memory that it has for them."""
    log, each = found.log, next((row.formula for row in found.rows if row.quantity == "token"), None)
    if log.engine != "vLLM" or not (log.tokens and log.logged and each) or set(found.spec.layer_kinds) != {"full"}:
        return None
    needed = log.tokens * int(each.value)
    if needed <= log.logged.bytes + log.logged.slack:
        return None
    lines = {fact.code: fact.line for fact in log.facts}
    said = f"{product(log.tokens, int(each.value))} B = {needed / GIB:.2f} GiB"
    return Conflict(said, lines["pool_tokens"], log.logged.text, lines["available"])


def _size(found: Comparison) -> Conflict | None:
    """The name's size beside the model's parameters, where it is another."""
    size = _size_in(found.log.model)
    count = _count(found.spec)
    if not size or not count or _is_of(found.spec, size):
        return None
    return Conflict(found.log.model, _name_line(found), f"{count / 1e9:.3g}B", 0)


def _other_name(found: Comparison, named: str) -> Conflict | None:
    """The log's name, where it is that of `named`, and not of a model made from the one that is compared after it,
    as "DeepSeek-R1-Distill-Llama-8B" is."""
    last = found.log.model.rstrip("/").rpartition("/")[2]
    words, family = (_LETTERS.findall(name.lower()) for name in (last, found.spec.name))
    after = bool(family) and family[0] in words[1:] and words[0] != family[0]
    return (
        None
        if not named or (after and _is_of(found.spec, _size_in(last)))
        else Conflict(found.log.model, _name_line(found), named, 0)
    )


def _name_line(found: Comparison) -> int:
    return next(fact.line for fact in found.log.facts if fact.code in ("model", "file"))


def _size_in(name: str) -> float:
    """Parameters that a name such as "Foo-8x7B-Instruct" says, 0 where it says none."""
    last = name.rstrip("/").rpartition("/")[2].lower()
    if one := _BILLIONS.search(last):
        return float(one[1] or 1) * float(one[2]) * 1e9
    one = _MILLIONS.search(last)
    return float(one[1]) * 1e6 if one else 0.0


def _is_of(spec: ModelSpec, size: float) -> bool:
    """Whether a model may be said to be of this size: by all of its weights, or by those that a token passes."""
    count = _count(spec)
    return bool(count and size) and any(1 / ALIKE < one / size < ALIKE for one in (count, active_parameter_count(spec)))


def _count(spec: ModelSpec) -> int:
    """Parameters; 0 where they are not known."""
    try:
        return parameter_count(spec)
    except GlassLlamaError:
        return 0
