"""Two runs side by side: what a page may change in a run, and the run that it is compared with."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, cast

from model import GlassLlamaError
from model.interventions import Intervention, Patch
from model.replaced.parts import read_parts
from visuals.messages.run import Changes

from .fields import Request, Token, read
from .requests import Other, Place
from .session import OF_ENCODER, HeldRun, Runs, of_encoder


class Prefix(Request):
    """How many tokens all see each other."""

    prefix: Token


def intervention(changes: Changes, runs: Runs, model: str, tokens: int) -> Intervention:
    """The changes that a page asks for, as `changes_of` reads them; `source` is the held run whose stream the patches
    take. Raises GlassLlamaError where that is gone or does not have these places.
    """
    patches: list[Patch] = []
    prefix = changes.get("prefix") or [0]
    read(Prefix, {"prefix": prefix[0]}, tokens=tokens + 1)
    if pairs := changes.get("patches"):
        stream = second_run(runs, changes.get("source"), model).trace.residual
        for layer, token in pairs:
            limits = {"layers": len(stream), "tokens": min(tokens, stream.shape[1])}
            read(Place, {"layer": layer, "token": token}, **limits)
            patches.append(Patch(layer, token, tuple(stream[layer, token].tolist())))
    theirs = of_encoder(changes)
    encoder = _switched_off(theirs) if theirs else None
    parts = read_parts(changes.get("parts", ()))
    return replace(_switched_off(changes), patches=tuple(patches), prefix=prefix[0], encoder=encoder, parts=parts)


def changes_of_run(what: Intervention) -> Changes:
    """What `intervention` reads back: an intervention as a page asks for it.

    Raises GlassLlamaError for one that takes a token's stream from elsewhere: the page would name the run it is from.
    """
    if what.patches:
        raise GlassLlamaError("patches", "patches: the run has a stream of another one; expected a run without.")
    parts = [f"{part.name}:{value}" for part in fields(what.parts) if (value := getattr(what.parts, part.name))]
    in_encoder = _off_in(what.encoder or Intervention())
    off = _off_in(what) | {f"{OF_ENCODER}{name}": value for name, value in in_encoder.items()}
    found = off | {"prefix": [what.prefix] if what.prefix else [], "parts": parts}
    return cast(Changes, {name: value for name, value in found.items() if value})


def _off_in(what: Intervention) -> dict[str, list[Any]]:
    """What is off in one stack: `_switched_off` the other way."""
    pairs = {name: [list(pair) for pair in getattr(what, name)] for name in ("heads", "neurons", "cross")}
    return pairs | {"attention": list(what.attention), "ffn": list(what.ffn)}


def _switched_off(changes: Changes) -> Intervention:
    """What is off in one stack."""
    return Intervention(
        heads=_pairs(changes.get("heads", ())),
        neurons=_pairs(changes.get("neurons", ())),
        cross=_pairs(changes.get("cross", ())),
        attention=tuple(changes.get("attention", ())),
        ffn=tuple(changes.get("ffn", ())),
    )


def _pairs(given: Sequence[Sequence[int]]) -> tuple[tuple[int, int], ...]:
    return tuple((layer, index) for layer, index in given)


def second_run(runs: Runs, run_id: Any, model: str) -> HeldRun:
    """The run to compare with. Raises GlassLlamaError where it is gone, or of another model."""
    try:
        other = runs.get(read(Other, {"other": run_id}).other)
    except GlassLlamaError as error:  # not "run_expired", which has the page run its own prompt again
        raise GlassLlamaError("compare_gone", "The run kept as A is no longer held here.") from error
    if other.model != model:
        raise GlassLlamaError("compare_models", "The two runs are of different models.")
    return other
