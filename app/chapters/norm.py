"""The chapter on the norms."""

from typing import Annotated

import numpy as np
from jaxtyping import Float

from model import GlassLlamaError
from model.errors import shortly
from visuals import norm, norm_replaced
from visuals.messages.norm import (
    NormDepthDetail,
    NormKindsDetail,
    NormPlacementDetail,
    NormTimesDetail,
    NormVectorsDetail,
)

from ..engine import Engine
from ..fields import Request, Token, among, counted
from ..operations import NORM_BRANCH, NORM_INPUT, NORM_LEARNED, NORM_TIMES, NORMS, RUN_BRANCHES
from ..requests import ANY, Neurons, OfLayer, Sent, about_run
from ..session import HeldRun


class Vectors(Neurons):
    """A norm of a layer, and one of the run's tokens; every token where that is null."""

    norm: Annotated[norm.Norm, among(norm.NORMS)]


class OfNorm(OfLayer):
    """A norm of a layer; of the final one the layer is not asked for."""

    norm: Annotated[norm.Norm, among(norm.NORMS)]


class Stretch(Request):
    """So many of a run's tokens from `first` on; as many as there are, where `count` is more."""

    first: Token
    count: Annotated[int, counted(1, ANY)]


class Kinds(OfNorm, Stretch):
    """A norm of a layer, and tokens in a row."""


ON_DEMAND = ("rmsnorm", "norm-scale", "norm-kinds", "norm-placement")
PANELS = ("norm-vector", *ON_DEMAND)


def norm_vectors(engine: Engine, held: HeldRun, data: Sent) -> NormVectorsDetail:
    """{layer, norm, token}: what a norm reads, of every token where `token` is null; the final norm has no layer."""
    of = about_run(Vectors, engine, held, data)
    before = input_of(engine, held, of.layer, of.norm)
    if of.token is not None:
        before = before[of.token : of.token + 1]
    return norm.norm_payload(before, held.study(engine, NORM_LEARNED, of.norm, of.layer))


def input_of(engine: Engine, held: HeldRun, layer: int, name: norm.Norm) -> Float[np.ndarray, "T d"]:
    """The stream that a norm reads, at every token. Raises GlassLlamaError where the network has no such norm."""
    offered = held.study(engine, NORMS)
    if name not in offered:
        raise GlassLlamaError("bad_request", f"norm is {shortly(name)}; expected one of {', '.join(offered)}.")
    if name == "final":
        return held.trace.residual[-1]
    return held.study(engine, NORM_INPUT, engine.layer(held.model, held.trace, layer), name)


def norm_kinds(engine: Engine, held: HeldRun, data: Sent) -> NormKindsDetail:
    """{layer, norm, first, count}: what a norm reads, what other norms need, and the branch that reads it."""
    of = about_run(Kinds, engine, held, data)
    before, branch = input_of(engine, held, of.layer, of.norm), None
    if of.norm != "final":
        branch = held.study(engine, NORM_BRANCH, engine.layer(held.model, held.trace, of.layer), of.norm)
    stack, config = held.trace.network.stack, engine.about(held.model).config
    alpha = norm_replaced.deep_scales(stack, held.trace.n_layers, config).alpha
    return norm_replaced.kinds_payload(before, branch, alpha, of.first, of.count)


def norm_times(engine: Engine, held: HeldRun, data: Sent) -> NormTimesDetail:
    """{layer, norm}: how long LayerNorm and RMSNorm take on what a norm reads, measured now."""
    of = about_run(OfNorm, engine, held, data)
    before = input_of(engine, held, of.layer, of.norm)
    return norm_replaced.times_payload(held.study(engine, NORM_TIMES, before))


def norm_placement(engine: Engine, held: HeldRun, data: Sent) -> NormPlacementDetail:
    """{first, count}: what every sub-layer added to the stream, for norms in other places."""
    of = about_run(Stretch, engine, held, data)
    branches = held.study_and_keep(engine, RUN_BRANCHES, held.trace.residual, held.trace.intervention)
    encoder = held.trace.network.stack == "encoder"
    decoder_layers = engine.about(held.model).config.n_layers if encoder else None
    return norm_replaced.placement_payload(branches, decoder_layers, of.first, of.count)


def norm_depth(_engine: Engine, held: HeldRun, _data: Sent) -> NormDepthDetail:
    """{}: the largest channels of the residual stream through depth."""
    return norm.depth_payload(norm.depth_info(held.trace.residual))


DETAILS = {
    "norm_vectors": norm_vectors,
    "norm_depth": norm_depth,
    "norm_kinds": norm_kinds,
    "norm_times": norm_times,
    "norm_placement": norm_placement,
}
