"""The KV-cache chapter's questions: what the page sent, checked, then the arithmetic of model/kv_math as messages."""

from dataclasses import fields, replace
from functools import lru_cache
from threading import BoundedSemaphore
from typing import Any

from model import GlassLlamaError, ModelSpec, catalogue
from model.analysis import cacheless
from model.errors import shortly
from model.kv_math import KvOptions, kv_breakdown
from model.kv_math.options import options_from
from model.published.hf_spec import spec_from_text
from visuals import kv, kv_charts
from visuals.payload import Message

from .engine import Engine
from .lookups import LOOKUPS
from .prompts import MAX_TOKENS
from .requests import whole
from .session import HeldRun

RACE_STEP = 8
RACES = BoundedSemaphore(4)  # at once: each holds the model for a third of a second at a time
MAX_COMPARED = 5
OWN_CONFIG, OWN_HUB = ":config", ":hub"
PASTED = "text:kv.pasted"  # what a pasted config is called: a key of the page's texts
OPTIONS = tuple(field.name for field in fields(KvOptions))


def spec_from(data: dict[str, Any]) -> ModelSpec:
    """The model of a question: a known name, or OWN_CONFIG with a pasted `config`, or OWN_HUB with an id in `hub`.

    Raises GlassLlamaError for what cannot be read or reached.
    """
    name = data.get("model")
    if name == OWN_CONFIG:
        return _pasted(words(data, "config"))
    return LOOKUPS.spec(words(data, "hub")) if name == OWN_HUB else catalogue()[str(name)]


def words(data: dict[str, Any], name: str) -> str:
    """The field `name`, a text; "", which its reader refuses, where it is none."""
    value = data.get(name)
    return value if isinstance(value, str) else ""


@lru_cache(maxsize=64)
def _pasted(text: str) -> ModelSpec:
    return replace(spec_from_text(text), name=PASTED)


def asked_options(data: dict[str, Any]) -> KvOptions:
    """The options of a question; what is absent or null keeps its default."""
    return options_from({name: data[name] for name in OPTIONS if name in data})


def size_from(data: dict[str, Any]) -> dict[str, Any]:
    """tokens, batch and dtype of a question, as they were sent."""
    return {"tokens": data.get("tokens", 8192), "batch": data.get("batch", 1), "dtype": data.get("dtype", "bf16")}


def kv_models(_engine: Engine, _data: dict[str, Any]) -> Message:
    """The catalogue's cards and the formats."""
    return kv.models_message()


def kv_answer(_engine: Engine, data: dict[str, Any]) -> Message:
    """A KV cache with every product, and the same shape under the four kinds of attention."""
    spec, size = spec_from(data), size_from(data)
    found = kv_breakdown(spec, options=asked_options(data), **size)
    kinds = kv.kinds_message(spec, **size, n_kv_heads=data.get("n_kv_heads"))
    return {**kv.breakdown_message(found), "card": kv.card_message(spec), "kinds": kinds}


def kv_chart(_engine: Engine, data: dict[str, Any]) -> Message:
    """Bytes against context, or what takes them: the model of the question and those that `compare` names.

    {view: "lines" or "stack", unit: "gib" or "gb", x, y: "log" or "linear", weights, few}; `excluded` are models that
    the format does not fit.
    """
    compared = data.get("compare") or []
    if not isinstance(compared, list):
        raise GlassLlamaError("kv_value", "compare: expected a list of models.", field="compare")
    others = [name for name in compared if name != data.get("model")][:MAX_COMPARED]
    specs = [spec_from(data), *(catalogue()[str(name)] for name in others)]
    asked = kv_charts.question(specs, options=asked_options(data), **size_from(data))
    unit = choice_from(data, "unit", ("gib", "gb"))
    if choice_from(data, "view", ("lines", "stack")) == "stack":
        figure, excluded = kv_charts.stack_figure(asked, unit, data.get("weights") is True, data.get("few") is True)
    else:
        logs = [choice_from(data, axis, ("log", "linear")) == "log" for axis in ("x", "y")]
        figure, excluded = kv_charts.lines_figure(asked, unit, *logs)
    return {"figure": figure, "excluded": excluded}


def choice_from(data: dict[str, Any], name: str, choices: tuple[str, ...]) -> str:
    """The field `name`, the first choice where it is absent. Raises GlassLlamaError for anything else."""
    value = data.get(name) or choices[0]
    if value not in choices:
        raise GlassLlamaError("kv_value", f"{name} is {shortly(value)}; expected {' or '.join(choices)}.", field=name)
    return value


def kv_live(engine: Engine, held: HeldRun, _data: dict[str, Any]) -> Message:
    """What the cache holds after this run's tokens, measured on the machine that runs the model."""
    found = engine.study(held.model, cacheless.cache_contents, held.trace.token_ids, held.trace.intervention)
    return kv.live_message(
        engine.about(held.model), found.tokens, found.bytes, found.k_norm.numpy(), found.v_norm.numpy()
    )


def kv_race(engine: Engine, data: dict[str, Any]) -> Message:
    """A few tokens written with and without a cache after `ids`, the text so far: {model, ids}; the page asks on."""
    name = str(data.get("model"))
    config, ids = engine.about(name).config, data.get("ids")
    limit = min(2 * MAX_TOKENS, config.context_limit - 1)
    if not isinstance(ids, list) or not 0 < len(ids) <= limit:
        raise GlassLlamaError("kv_race_full", f"The text has {limit} tokens or more; no further one can be timed.")
    checked = [whole({"id": i}, "id", config.vocab_size) for i in ids]
    if not RACES.acquire(blocking=False):
        raise GlassLlamaError("busy", "Too many races are being run; try again in a few seconds.")
    try:
        steps = engine.study(name, cacheless.race, checked, RACE_STEP, long=True)
    finally:
        RACES.release()
    return {"steps": [step._asdict() for step in steps]}
