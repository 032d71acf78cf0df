"""What a chapter asks that needs no run: one entry a question, answered as a plain message from the settings sent.

As app/details.py, without a held run. The page asks by `glass.calculate(name, settings)`; a bad setting is a
GlassLlamaError that names the field.
"""

from collections.abc import Callable
from typing import Any

from visuals.payload import Message

from .engine import Engine
from .kv import kv_answer, kv_chart, kv_models, kv_race
from .kv_fit import kv_fit, kv_gpus, kv_needs

Calculator = Callable[[Engine, dict[str, Any]], Message]

CALCULATORS: dict[str, Calculator] = {
    "kv": kv_answer,
    "kv_chart": kv_chart,
    "kv_fit": kv_fit,
    "kv_gpus": kv_gpus,
    "kv_needs": kv_needs,
    "kv_models": kv_models,
    "kv_race": kv_race,
}
