"""The chapter on the KV cache: the live one, and the arithmetic of model/kv_math for any model.

A slider's places are asked for at once, so that nothing is asked while it moves. The page computes none of them: what
the server would answer at each of a hundred places is known before it is reached. The answers differ in few numbers, so
the first is sent whole and the others as what changes in it.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from time import thread_time
from typing import Any

from model import GlassLlamaError, catalogue
from model.analysis import cacheless
from model.kv_math import kv_breakdown
from model.kv_math.gpus import GPUS
from model.kv_math.memory import gpus_needed, largest_batch, largest_context, memory_use
from model.kv_math.speed import decode_bound
from visuals import kv, kv_charts
from visuals import kv_fit as fit
from visuals.messages.kv import (
    KvAnswer,
    KvChartAnswer,
    KvFitAnswer,
    KvGpusAnswer,
    KvModelsAnswer,
    KvNeedsAnswer,
    KvPlacesAnswer,
    KvRaceAnswer,
    LiveCacheDetail,
    PlaceData,
    PlaceNotice,
    RaceStep,
)
from visuals.payload import message_payload

from ..engine import Engine
from ..fields import Request, TokenId, read
from ..operations import CACHE_CONTENTS, CONFIG_SPEC, RACE
from ..prompts import MAX_TOKENS
from ..remarks import in_languages
from ..requests import Sent
from ..session import HeldRun
from .kv_fields import asked_options, choice_from, gpu_from, own_name, setup_from, size_from, spec_from


class Ids(Request):
    """The token ids of a race."""

    id: list[TokenId]


PANELS = ("kv-live", "kv-kinds", "kv-race", "kv-calculator", "kv-chart", "kv-fit", "kv-myth")
RACE_STEP = 8
MAX_COMPARED = 5
USERS, USER_TOKENS = 64, 32_768
MOST_PLACES = 200
PLACES_SECONDS = 0.7  # of one thread's processor time: all places of a published model take less


def kv_models(_engine: Engine, _data: Sent) -> KvModelsAnswer:
    """The catalogue's cards and the formats."""
    return kv.models_message(in_languages)


def kv_answer(_engine: Engine, data: Sent) -> KvAnswer:
    """A KV cache with every product, and the same shape under the four kinds of attention."""
    spec, size = spec_from(data), size_from(data)
    found = kv_breakdown(spec, options=asked_options(data), **size)
    kinds = kv.kinds_message(spec, **size, n_kv_heads=data.get("n_kv_heads"))
    card = kv.card_message(spec, in_languages)
    return {**kv.breakdown_message(found), "card": {**card, "called": own_name(data)}, "kinds": kinds}


def kv_chart(_engine: Engine, data: Sent) -> KvChartAnswer:
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


def kv_live(engine: Engine, held: HeldRun, _data: Sent) -> LiveCacheDetail:
    """What the cache holds after this run's tokens, measured on the machine that runs the model."""
    found = held.study(engine, CACHE_CONTENTS, held.trace.token_ids, held.trace.intervention)
    spec, dtype = held.study(engine, CONFIG_SPEC), kv.FORMAT_OF[engine.about(held.model).dtype]
    source = 0 if held.source is None else held.source.n_prompt
    return kv.live_message(spec, dtype, found.tokens, found.bytes, found.k_norm.numpy(), found.v_norm.numpy(), source)


def kv_race(engine: Engine, data: Sent) -> KvRaceAnswer:
    """A few tokens written with and without a cache after `ids`, the text so far: {model, ids}; the page asks on."""
    name = str(data.get("model"))
    config, ids = engine.about(name).config, data.get("ids")
    if engine.about(name).reads_source:
        raise GlassLlamaError("bad_request", f"{name} reads the prompt with an encoder; the race takes one text.")
    limit = min(2 * MAX_TOKENS, config.context_limit - 1)
    if not isinstance(ids, list) or not 0 < len(ids) <= limit:
        raise GlassLlamaError("kv_race_full", f"The text has {limit} tokens or more; no further one can be timed.")
    checked = read(Ids, {"id": ids}, vocabulary=config.vocab_size).id
    steps = engine.study(name, RACE, None, checked, RACE_STEP)
    return {"steps": [_race_step(one) for one in steps]}


def _race_step(one: cacheless.Race) -> RaceStep:
    return {
        "tokens": one.tokens,
        "token_id": one.token_id,
        "cached_seconds": one.cached_seconds,
        "full_seconds": one.full_seconds,
        "cached_work": one.cached_work,
        "full_work": one.full_work,
        "same": one.same,
    }


def kv_gpus(_engine: Engine, _data: Sent) -> KvGpusAnswer:
    """The GPUs and formats to choose from."""
    return fit.choices_message()


def kv_fit(_engine: Engine, data: Sent) -> KvFitAnswer:
    """Weights and cache of a question on its GPU, the largest batch and context there, and the bound on decoding."""
    spec, size, gpu, setup = spec_from(data), size_from(data), gpu_from(data), setup_from(data)
    tokens, batch = size["tokens"], size["batch"]
    use = memory_use(spec, tokens, batch, gpu, setup)
    return {
        "use": fit.use_message(use, in_languages),
        "batch": fit.message_or_reason(partial(largest_batch, spec, tokens, gpu, setup), fit.largest_message),
        "context": fit.message_or_reason(partial(largest_context, spec, batch, gpu, setup), fit.largest_message),
        "bound": fit.message_or_reason(partial(decode_bound, spec, tokens, batch, gpu, setup), fit.bound_message),
    }


def kv_needs(_engine: Engine, data: Sent) -> KvNeedsAnswer:
    """What `users` with `user_tokens` tokens each need of every kind of GPU, however many share the work."""
    spec, gpu, setup = spec_from(data), gpu_from(data), setup_from(data)
    alone = replace(setup, options=replace(setup.options, tp=1, pp=1, dcp=1))
    kinds = [*GPUS.values(), *([gpu] if gpu.own else [])]
    users, tokens = data.get("users", USERS), data.get("user_tokens", USER_TOKENS)
    return fit.needs_message(gpus_needed(spec, users, tokens, kinds, alone))


SIZE, LOAD = ("tokens", "batch"), ("users", "user_tokens")
Answered = Callable[[Engine, Sent], Mapping[str, object]]
# Each question, and the settings that a slider moves for it.
ANSWERS: dict[str, tuple[Answered, tuple[str, str]]] = {
    "kv": (kv_answer, SIZE),
    "kv_chart": (kv_chart, SIZE),
    "kv_fit": (kv_fit, SIZE),
    "kv_needs": (kv_needs, LOAD),
}


def kv_places(engine: Engine, data: Sent) -> KvPlacesAnswer:
    """What `asked`, a name in ANSWERS, answers where the setting `along`, one of its own, is each of `values`.

    {first, changes}: an answer is {data} or {message}; answer i is `first` with changes[i] put in (see `changes`).
    There are fewer changes than values where they would take longer than PLACES_SECONDS of processor: the page asks
    for a place that it was not told when the slider comes there.
    Raises GlassLlamaError, naming the field, where it cannot be asked so or the model cannot be had.
    """
    calculator, moved = ANSWERS[choice_from(data, "asked", tuple(ANSWERS))]
    along = choice_from(data, "along", moved)
    values = data.get("values")
    if not isinstance(values, list) or not 0 < len(values) <= MOST_PLACES:
        raise GlassLlamaError("kv_value", f"values: expected 1 to {MOST_PLACES} numbers.", field="values")
    spec_from(data)  # a model that cannot be had is one refusal, not one for each place
    answers, end = [], thread_time() + PLACES_SECONDS
    for value in values:
        answers.append(_answer(calculator, engine, {**data, along: value}))
        if thread_time() > end:
            break
    return {"first": answers[0], "changes": [changes(answers[0], answer) for answer in answers]}


def _answer(calculator: Answered, engine: Engine, data: Sent) -> PlaceData | PlaceNotice:
    try:
        return {"data": calculator(engine, data)}
    except GlassLlamaError as error:  # one place of many: the others still stand
        return {"message": message_payload(error.code, **{"detail": str(error), **error.params})}


def changes(first: object, other: object) -> object:
    """What makes `other` of `first`: None where they are equal, [value] to replace it, else {key or index: changes}."""
    if first == other:
        return None
    pairs: list[tuple[str, Any, Any]] = []
    if isinstance(first, dict) and isinstance(other, dict) and first.keys() == other.keys():
        pairs = [(key, first[key], other[key]) for key in first]
    elif isinstance(first, list) and isinstance(other, list) and len(first) == len(other):
        pairs = [(str(i), one, two) for i, (one, two) in enumerate(zip(first, other, strict=True))]
        if not any(isinstance(one, dict | list) for one in first):
            pairs = []  # a column of numbers is shorter whole
    found = {key: change for key, one, two in pairs if (change := changes(one, two)) is not None}
    return found or [other]


DETAILS = {"kv_live": kv_live}
CALCULATORS = {
    **{name: answer for name, (answer, _) in ANSWERS.items()},
    "kv_gpus": kv_gpus,
    "kv_models": kv_models,
    "kv_places": kv_places,
    "kv_race": kv_race,
}
