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
from model.kv_math.stages import options_beside
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
from ..fields import read
from ..operations import CACHE_CONTENTS, CONFIG_SPEC, RACE
from ..prompts import MAX_TOKENS
from ..remarks import in_languages
from ..requests import Sent, model_of
from ..session import HeldRun
from .kv_log import kv_log
from .kv_requests import Breakdown, Chart, Fit, Load, Places, Race
from .kv_weights import kv_weights

ON_DEMAND = ("kv-kinds", "kv-race", "kv-chart", "kv-fit", "kv-log", "kv-myth")
PANELS = ("kv-live", "kv-calculator", *ON_DEMAND)
RACE_STEP = 8
MAX_COMPARED = 5
PLACES_SECONDS = 0.7  # of one thread's processor time: all places of a published model take less


def kv_models(_engine: Engine, _data: Sent) -> KvModelsAnswer:
    """The catalogue's cards and the formats."""
    return kv.models_message(in_languages)


def kv_answer(_engine: Engine, data: Sent) -> KvAnswer:
    """A KV cache with every product, and the same shape under the four kinds of attention."""
    asked = read(Breakdown, data)
    spec, tokens, batch, dtype = asked.spec(), asked.tokens, asked.batch, asked.dtype
    options = options_beside(spec, asked.options) if asked.compared else asked.options
    found = kv_breakdown(spec, tokens, batch, dtype, options)
    kinds = kv.kinds_message(spec, tokens, batch, dtype, asked.n_kv_heads)
    card = kv.card_message(spec, in_languages)
    return {**kv.breakdown_message(found), "card": {**card, "called": asked.own_name()}, "kinds": kinds}


def kv_chart(_engine: Engine, data: Sent) -> KvChartAnswer:
    """A chart of the model of the question and of those that `compare` names; `excluded` are those that the settings
    do not fit."""
    asked = read(Chart, data)
    others = [name for name in asked.compare if name != asked.model][:MAX_COMPARED]
    specs = [asked.spec(), *(catalogue()[name] for name in others)]
    question = kv_charts.question(specs, asked.tokens, asked.batch, asked.dtype, asked.options)
    if asked.view == "stack":
        figure, excluded = kv_charts.stack_figure(question, asked.unit, asked.weights, asked.few)
    else:
        figure, excluded = kv_charts.lines_figure(question, asked.unit, asked.x == "log", asked.y == "log")
    return {
        "figure": figure,
        "excluded": excluded,
        "batch": question.batch,
        "dtype": question.dtype,
        "tp": question.options.tp,
        "pp": question.options.pp,
        "dcp": question.options.dcp,
    }


def kv_live(engine: Engine, held: HeldRun, _data: Sent) -> LiveCacheDetail:
    """What the cache holds after this run's tokens, measured on the machine that runs the model."""
    found = held.study(engine, CACHE_CONTENTS, held.trace.token_ids, held.trace.intervention)
    spec, dtype = held.study(engine, CONFIG_SPEC), kv.FORMAT_OF[engine.about(held.model).dtype]
    source = 0 if held.source is None else held.source.n_prompt
    return kv.live_message(spec, dtype, found.tokens, found.bytes, found.k_norm.numpy(), found.v_norm.numpy(), source)


def kv_race(engine: Engine, data: Sent) -> KvRaceAnswer:
    """A few tokens written with and without a cache after `ids`, the text so far: {model, ids}; the page asks on."""
    about = engine.about(model_of(engine, data))
    if about.reads_source:
        raise GlassLlamaError("bad_request", f"{about.name} reads the prompt with an encoder; the race takes one text.")
    limit = min(2 * MAX_TOKENS, about.config.context_limit - 1)
    ids = read(Race, data, vocabulary=about.config.vocab_size).ids
    if not 0 < len(ids) <= limit:
        raise GlassLlamaError("kv_race_full", f"The text has {limit} tokens or more; no further one can be timed.")
    steps = engine.study(about.name, RACE, None, ids, RACE_STEP)
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
    asked = read(Fit, data)
    spec, tokens, batch, gpu, setup = asked.spec(), asked.tokens, asked.batch, asked.device(), asked.setup()
    use = memory_use(spec, tokens, batch, gpu, setup)
    return {
        "use": fit.use_message(use, in_languages),
        "beside": fit.beside_message(use),
        "batch": fit.message_or_reason(partial(largest_batch, spec, tokens, gpu, setup), fit.largest_message),
        "context": fit.message_or_reason(partial(largest_context, spec, batch, gpu, setup), fit.largest_message),
        "bound": fit.message_or_reason(partial(decode_bound, spec, tokens, batch, gpu, setup), fit.bound_message),
    }


def kv_needs(_engine: Engine, data: Sent) -> KvNeedsAnswer:
    """What `users` with `user_tokens` tokens each need of every kind of GPU, however many share the work."""
    asked = read(Load, data)
    spec, gpu, setup = asked.spec(), asked.device(), asked.setup()
    alone = replace(setup, options=replace(setup.options, tp=1, pp=1, dcp=1))
    kinds = [*GPUS.values(), *([gpu] if gpu.own else [])]
    return fit.needs_message(gpus_needed(spec, asked.users, asked.user_tokens, kinds, alone), alone, in_languages)


Answered = Callable[[Engine, Sent], Mapping[str, object]]
# Each question that has sliders.
ANSWERS: dict[str, Answered] = {"kv": kv_answer, "kv_chart": kv_chart, "kv_fit": kv_fit, "kv_needs": kv_needs}


def kv_places(engine: Engine, data: Sent) -> KvPlacesAnswer:
    """What `asked`, a name in ANSWERS, answers where the setting `along`, one of its own, is each of `values`.

    {first, changes}: an answer is {data} or {message}; answer i is `first` with changes[i] put in (see `changes`).
    There are fewer changes than values where they would take longer than PLACES_SECONDS of processor: the page asks
    for a place that it was not told when the slider comes there.
    Raises GlassLlamaError, naming the field, where it cannot be asked so or the model cannot be had.
    """
    asked = read(Places, data)
    asked.spec()  # a model that cannot be had is one refusal, not one for each place
    answers, end = [], thread_time() + PLACES_SECONDS
    for value in asked.values:
        answers.append(_answer(ANSWERS[asked.asked], engine, {**data, asked.along: value}))
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
    **ANSWERS,
    "kv_gpus": kv_gpus,
    "kv_log": kv_log,
    "kv_models": kv_models,
    "kv_places": kv_places,
    "kv_race": kv_race,
    "kv_weights": kv_weights,
}
