"""The chapter on RoPE."""

from typing import Any

from model import GlassLlamaError
from model.errors import shortly
from visuals import position
from visuals.payload import Message

from ..engine import Engine
from ..operations import ROTATES
from ..session import HeldRun

PANELS = ("rope", "rope-score", "rope-scaling", "rope-layout")


def rope_scalings(engine: Engine, held: HeldRun, data: dict[str, Any]) -> Message:
    """{factor}: the model's frequencies under every scaling method. Raises GlassLlamaError where nothing is rotated."""
    if not held.study(engine, ROTATES):
        raise GlassLlamaError("bad_request", f"{held.model} does not rotate its heads: there are no frequencies.")
    factor = data.get("factor")
    if isinstance(factor, bool) or factor not in position.FACTORS:
        expected = ", ".join(map(str, position.FACTORS))
        raise GlassLlamaError("bad_request", f"factor is {shortly(factor)}; expected one of {expected}.")
    config = engine.about(held.model).config
    return position.scalings_payload(position.scalings_info(config, factor), position.trained_context(config))


DETAILS = {"rope_scalings": rope_scalings}
