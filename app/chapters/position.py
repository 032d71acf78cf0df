"""The chapter on RoPE."""

from typing import Annotated

from model import GlassLlamaError
from visuals import position
from visuals.messages.position import RopeScalingsDetail

from ..engine import Engine
from ..fields import Request, among, read
from ..requests import Sent
from ..session import HeldRun


class Scaling(Request):
    """By how much the context grows."""

    factor: Annotated[int, among(position.FACTORS)]


ON_DEMAND = ("rope-scaling", "rope-layout")
PANELS = ("rope", "rope-score", *ON_DEMAND)


def rope_scalings(engine: Engine, held: HeldRun, data: Sent) -> RopeScalingsDetail:
    """{factor}: the model's frequencies under every scaling method. Raises GlassLlamaError where nothing is rotated."""
    if held.trace.network.rotary is None:
        raise GlassLlamaError("bad_request", f"{held.model} does not rotate its heads: there are no frequencies.")
    config, factor = engine.about(held.model).config, read(Scaling, data).factor
    return position.scalings_payload(position.scalings_info(config, factor), position.trained_context(config))


DETAILS = {"rope_scalings": rope_scalings}
