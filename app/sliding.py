"""A calculator's answers at every place of a slider, sent at once, so that nothing is asked while the slider moves.

The page computes none of them: a slider has a hundred places, and what the server would answer at each is known before
it is reached. The answers differ in few numbers, so the first is sent whole and the others as what changes in it.
"""

from collections.abc import Callable
from typing import Any

from model import GlassLlamaError
from visuals.payload import Message, message_payload

from .engine import Engine
from .kv import choice_from, kv_answer, kv_chart, spec_from
from .kv_fit import kv_fit, kv_needs

MOST_PLACES = 200
SIZE, LOAD = ("tokens", "batch"), ("users", "user_tokens")
# Each question, and the settings that a slider moves for it.
ANSWERS: dict[str, tuple[Callable[[Engine, dict[str, Any]], Message], tuple[str, str]]] = {
    "kv": (kv_answer, SIZE),
    "kv_chart": (kv_chart, SIZE),
    "kv_fit": (kv_fit, SIZE),
    "kv_needs": (kv_needs, LOAD),
}


def kv_places(engine: Engine, data: dict[str, Any]) -> Message:
    """What `asked`, a name in ANSWERS, answers where the setting `along`, one of its own, is each of `values`.

    {first, changes}: an answer is {data} or {message}; answer i is `first` with changes[i] put in (see `changes`).
    Raises GlassLlamaError, naming the field, where it cannot be asked so or the model cannot be had.
    """
    calculator, moved = ANSWERS[choice_from(data, "asked", tuple(ANSWERS))]
    along = choice_from(data, "along", moved)
    values = data.get("values")
    if not isinstance(values, list) or not 0 < len(values) <= MOST_PLACES:
        raise GlassLlamaError("kv_value", f"values: expected 1 to {MOST_PLACES} numbers.", field="values")
    spec_from(data)  # a model that cannot be had is one refusal, not one for each place
    answers = [_answer(calculator, engine, {**data, along: value}) for value in values]
    return {"first": answers[0], "changes": [changes(answers[0], answer) for answer in answers]}


def _answer(calculator: Callable[[Engine, dict[str, Any]], Message], engine: Engine, data: dict[str, Any]) -> Message:
    try:
        return {"data": calculator(engine, data)}
    except GlassLlamaError as error:  # one place of many: the others still stand
        return {"message": message_payload(error.code, **{"detail": str(error), **error.params})}


def changes(first: Any, other: Any) -> Any:
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
