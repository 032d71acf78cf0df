"""The chapter on RoPE."""

from typing import Annotated

from model import GlassLlamaError
from model.families.t5 import T5Config
from visuals import position
from visuals.messages.position import PositionKindsDetail, RopeScalingsDetail
from visuals.position_kinds import position_kinds_payload

from ..engine import Engine
from ..fields import Request, among, read
from ..operations import ADDED_POSITIONS, LEARNED_BIAS
from ..requests import OfHead, Sent, about_run
from ..session import HeldRun


class Scaling(Request):
    """By how much the context grows."""

    factor: Annotated[int, among(position.FACTORS)]


ON_DEMAND = ("position-kinds", "rope-derivation", "rope-scaling", "rope-layout")
PANELS = ("rope", "rope-score", *ON_DEMAND)


def rope_scalings(engine: Engine, held: HeldRun, data: Sent) -> RopeScalingsDetail:
    """{factor}: the model's frequencies under every scaling method. Raises GlassLlamaError where nothing is rotated."""
    if held.trace.network.rotary is None:
        raise GlassLlamaError("bad_request", f"{held.model} does not rotate its heads: there are no frequencies.")
    config, factor = engine.about(held.model).config, read(Scaling, data).factor
    return position.scalings_payload(position.scalings_info(config, factor), position.trained_context(config))


def _learns_bias(engine: Engine, name: str) -> bool:
    """Whether it is a T5, whose biases by distance are learned."""
    config: object = engine.about(name).config
    return isinstance(config, T5Config)


def position_kinds(engine: Engine, held: HeldRun, data: Sent) -> PositionKindsDetail:
    """{layer, head}: what positions of other kinds would add to this head's q and k, and to its scores."""
    of = about_run(OfHead, engine, held, data)
    seen = engine.layer(held.model, held.trace, of.layer)
    latent = "kv_latent" in seen.arrays
    added = None if latent else held.study(engine, ADDED_POSITIONS, seen, of.layer, of.head)
    own = _learns_bias(engine, held.model)
    other = None if own else next((name for name in engine.names if _learns_bias(engine, name)), None)
    tokens = len(held.trace.token_ids)
    learned = None if other is None else engine.study(other, LEARNED_BIAS, None, tokens)
    return position_kinds_payload(added, other, learned)


DETAILS = {"position_kinds": position_kinds, "rope_scalings": rope_scalings}
