"""What a chapter asks that needs no run: one entry a question, answered as a plain message from the settings sent.

As app/details.py, without a held run. The page asks by `glass.calculate(name, settings)`; a bad setting is a
GlassLlamaError that names the field.
"""

from collections.abc import Callable
from typing import Any

from visuals.payload import Message
from visuals.tensors import tensors_payload

from .engine import Engine
from .kv import kv_answer, kv_chart, kv_models, kv_race
from .kv_fit import kv_fit, kv_gpus, kv_needs
from .sliding import kv_places

Calculator = Callable[[Engine, dict[str, Any]], Message]


def tensors(_engine: Engine, _data: dict[str, Any]) -> Message:
    """The captured tensors: their dimensions, and the lines of `model/` that make them."""
    return tensors_payload()


CALCULATORS: dict[str, Calculator] = {
    "tensors": tensors,
    "kv": kv_answer,
    "kv_chart": kv_chart,
    "kv_fit": kv_fit,
    "kv_gpus": kv_gpus,
    "kv_needs": kv_needs,
    "kv_models": kv_models,
    "kv_places": kv_places,
    "kv_race": kv_race,
}
