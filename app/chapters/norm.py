"""The chapter on the norms."""

from model import GlassLlamaError
from model.errors import shortly
from visuals import norm
from visuals.messages.norm import NormDepthDetail, NormVectorsDetail

from ..engine import Engine
from ..requests import Sent, layer_of, token_of
from ..session import HeldRun

PANELS = ("rmsnorm", "norm-vector", "norm-scale")


def norm_vectors(engine: Engine, held: HeldRun, data: Sent) -> NormVectorsDetail:
    """{layer, norm, token}: what a norm reads, of every token where `token` is null; the final norm has no layer."""
    index, name = layer_of(held, data), data.get("norm")
    offered = norm.norms_of(held.trace.lm)
    if name not in offered:
        raise GlassLlamaError("bad_request", f"norm is {shortly(name)}; expected one of {', '.join(offered)}.")
    if name == "final":
        before = held.trace.residual[-1]
    else:
        before = norm.vectors_before(held.trace.lm, engine.layer(held.model, held.trace, index), name)
    if data.get("token") is not None:
        token = token_of(held, data)
        before = before[token : token + 1]
    return norm.norm_payload(before, held.study(engine, norm.learned_of, name, index))


def norm_depth(_engine: Engine, held: HeldRun, _data: Sent) -> NormDepthDetail:
    """{}: the largest channels of the residual stream through depth."""
    return norm.depth_payload(norm.depth_info(held.trace.residual))


DETAILS = {"norm_vectors": norm_vectors, "norm_depth": norm_depth}
