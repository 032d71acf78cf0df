"""The chapter on the norms."""

from typing import Annotated

from model import GlassLlamaError
from model.errors import shortly
from visuals import norm
from visuals.messages.norm import NormDepthDetail, NormVectorsDetail

from ..engine import Engine
from ..fields import among
from ..operations import NORM_INPUT, NORM_LEARNED, NORMS
from ..requests import Neurons, Sent, about_run
from ..session import HeldRun


class Vectors(Neurons):
    """A norm of a layer, and one of the run's tokens; every token where that is null."""

    norm: Annotated[norm.Norm, among(norm.NORMS)]


ON_DEMAND = ("rmsnorm", "norm-scale")
PANELS = ("norm-vector", *ON_DEMAND)


def norm_vectors(engine: Engine, held: HeldRun, data: Sent) -> NormVectorsDetail:
    """{layer, norm, token}: what a norm reads, of every token where `token` is null; the final norm has no layer."""
    of = about_run(Vectors, engine, held, data)
    index, name = of.layer, of.norm
    offered = held.study(engine, NORMS)
    if name not in offered:
        raise GlassLlamaError("bad_request", f"norm is {shortly(name)}; expected one of {', '.join(offered)}.")
    if name == "final":
        before = held.trace.residual[-1]
    else:
        before = held.study(engine, NORM_INPUT, engine.layer(held.model, held.trace, index), name)
    if of.token is not None:
        before = before[of.token : of.token + 1]
    return norm.norm_payload(before, held.study(engine, NORM_LEARNED, name, index))


def norm_depth(_engine: Engine, held: HeldRun, _data: Sent) -> NormDepthDetail:
    """{}: the largest channels of the residual stream through depth."""
    return norm.depth_payload(norm.depth_info(held.trace.residual))


DETAILS = {"norm_vectors": norm_vectors, "norm_depth": norm_depth}
