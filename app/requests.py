"""Reading what a browser sent: each field checked by name before anything uses it."""

from typing import Any

from model import GlassLlamaError

from .session import HeldRun


def whole(data: Any, name: str, limit: int) -> int:
    """The field `name` of what a browser sent, as a whole number in 0 … limit - 1. Raises GlassLlamaError."""
    value = data.get(name) if isinstance(data, dict) else None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < limit:
        raise GlassLlamaError("bad_request", f"{name} is {value!r}; expected a whole number from 0 to {limit - 1}.")
    return value


def layer_of(held: HeldRun, data: Any) -> int:
    """The field `layer`, one of the run's. Raises GlassLlamaError."""
    return whole(data, "layer", held.trace.n_layers)


def leader_of(held: HeldRun, data: Any) -> HeldRun:
    """The run that says what is looked at: `other`, so that two runs can be asked about the same tokens or neurons, or
    this one. Raises GlassLlamaError where the two have different numbers of tokens."""
    leader = data.get("other", held)
    if len(leader.trace.token_ids) != len(held.trace.token_ids):
        raise GlassLlamaError("bad_request", "The two runs have different numbers of tokens.")
    return leader


def token_of(held: HeldRun, data: Any, name: str = "token") -> int:
    """A field that names one of the run's tokens by its position. Raises GlassLlamaError."""
    return whole(data, name, len(held.trace.token_ids))
