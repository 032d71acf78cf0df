"""The chapter that compares two runs."""

from model import GlassLlamaError
from visuals.compare import cost_payload, difference_info, difference_payload, loss_payload
from visuals.messages.compare import CostDetail, DifferenceDetail, LossDetail, PartsDetail

from ..engine import Engine
from ..operations import LOSS, NETWORK_COST, PARTS
from ..requests import Sent
from ..session import HeldRun

ON_DEMAND = ("stream-change", "head-change")
PANELS = ("compare", "read-by-two", *ON_DEMAND)


def difference(_engine: Engine, held: HeldRun, asked: Sent) -> DifferenceDetail:
    """{other}: how far this run's residual stream lies from another held run's of the same model."""
    if "other" not in asked:
        raise GlassLlamaError("bad_request", "other is missing; expected the id of a run.")
    return difference_payload(difference_info(asked["other"].trace, held.trace))


def cost(engine: Engine, held: HeldRun, _asked: Sent) -> CostDetail:
    """What the network of this run costs: parameters, weights read for a token, and bytes kept of one."""
    return cost_payload(held.study(engine, NETWORK_COST))


def parts(engine: Engine, held: HeldRun, _asked: Sent) -> PartsDetail:
    """What the model of this run could have in place of its own parts (model/replaced)."""
    return {"offered": engine.study(held.model, PARTS, None)}


def loss(engine: Engine, held: HeldRun, _asked: Sent) -> LossDetail:
    """How well the run's network foretells the run's own text."""
    return loss_payload(held.study_and_keep(engine, LOSS))


DETAILS = {"difference": difference, "cost": cost, "parts": parts, "loss": loss}
