"""Two runs side by side: what a page may change in a run, and how far two runs lie apart."""

from typing import Any

from model import GlassLlamaError
from model.interventions import Intervention, Patch
from visuals.difference import difference_info, difference_payload
from visuals.payload import Message

from .engine import Engine
from .requests import whole
from .session import HeldRun, Runs

MOST = 256  # changes of each kind in one run
ANY = 1 << 30  # the model itself refuses, by name, what it does not have


def intervention(changes: dict[str, Any], runs: Runs, model: str, tokens: int) -> Intervention:
    """The changes that a page asks for.

    {heads: [[layer, head]], neurons: [[layer, neuron]], attention: [layer], ffn: [layer], patches: [[layer, token]],
    source: the id of the held run whose stream the patches take}. Raises GlassLlamaError for anything else.
    """
    patches: list[Patch] = []
    if pairs := _pairs(changes, "patches"):
        stream = second_run(runs, changes.get("source"), model).trace.residual
        for layer, token in pairs:
            place = {"layer": layer, "token": token}
            whole(place, "layer", len(stream))
            whole(place, "token", min(tokens, stream.shape[1]))
            patches.append(Patch(layer, token, tuple(stream[layer, token].tolist())))
    return Intervention(
        heads=_pairs(changes, "heads"),
        neurons=_pairs(changes, "neurons"),
        attention=_layers(changes, "attention"),
        ffn=_layers(changes, "ffn"),
        patches=tuple(patches),
    )


def difference(_engine: Engine, held: HeldRun, asked: dict[str, Any]) -> Message:
    """{other}: how far this run's residual stream lies from another held run's of the same model."""
    return difference_payload(difference_info(asked["other"].trace, held.trace))


def second_run(runs: Runs, run_id: Any, model: str) -> HeldRun:
    """The run to compare with. Raises GlassLlamaError where it is gone, or of another model."""
    try:
        other = runs.get(str(run_id))
    except GlassLlamaError as error:  # not "run_expired", which has the page run its own prompt again
        raise GlassLlamaError("compare_gone", "The run kept as A is no longer held here.") from error
    if other.model != model:
        raise GlassLlamaError("compare_models", "The two runs are of different models.")
    return other


def _listed(changes: dict[str, Any], name: str) -> list[Any]:
    value = changes.get(name) or []
    if not isinstance(value, list) or len(value) > MOST:
        raise GlassLlamaError("bad_request", f"{name} is not a list of up to {MOST}.")
    return value


def _pairs(changes: dict[str, Any], name: str) -> tuple[tuple[int, int], ...]:
    pairs = _listed(changes, name)
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise GlassLlamaError("bad_request", f"{name}: expected pairs of whole numbers.")
    return tuple((whole({name: a}, name, ANY), whole({name: b}, name, ANY)) for a, b in pairs)


def _layers(changes: dict[str, Any], name: str) -> tuple[int, ...]:
    return tuple(whole({name: layer}, name, ANY) for layer in _listed(changes, name))
