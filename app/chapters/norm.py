"""The chapter on the norms."""

from typing import Any

from model import GlassLlamaError
from model.errors import shortly
from visuals import norm
from visuals.payload import Message

from ..engine import Engine
from ..operations import NORM_INPUT, NORM_LEARNED, NORMS
from ..requests import layer_of, token_of
from ..session import HeldRun

PANELS = ("rmsnorm", "norm-vector", "norm-scale")


def norm_vectors(engine: Engine, held: HeldRun, data: dict[str, Any]) -> Message:
    """{layer, norm, token}: what a norm reads, of every token where `token` is null; the final norm has no layer."""
    index, name = layer_of(held, data), data.get("norm")
    offered = held.study(engine, NORMS)
    if name not in offered:
        raise GlassLlamaError("bad_request", f"norm is {shortly(name)}; expected one of {', '.join(offered)}.")
    if name == "final":
        before = held.trace.residual[-1]
    else:
        before = held.study(engine, NORM_INPUT, engine.layer(held.model, held.trace, index), name)
    if data.get("token") is not None:
        token = token_of(held, data)
        before = before[token : token + 1]
    return norm.norm_payload(before, held.study(engine, NORM_LEARNED, name, index))


def norm_depth(_engine: Engine, held: HeldRun, _data: dict[str, Any]) -> Message:
    """{}: the largest channels of the residual stream through depth."""
    return norm.depth_payload(norm.depth_info(held.trace.residual))


DETAILS = {"norm_vectors": norm_vectors, "norm_depth": norm_depth}
