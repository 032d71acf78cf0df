"""Why this word, where a network's tokens see those before them alone: what an answer rests on, and its heads.

Of other networks, and of a run whose stream was patched, visuals/glance.py tells what can be told.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Float

from model import LanguageModel, Trace
from model.analysis.form import FEW
from model.analysis.head_losses import (
    Ablation,
    Head,
    HeadLosses,
    ablated_run,
    further_losses,
    how_many,
    losses_before,
)
from model.analysis.knock_out import KnockedOut, Windows, part_knocked_out, windows_knocked_out
from model.analysis.last_token import TextRead, read_text
from model.analysis.looks_back import LookingHead, LooksBack, looking_head, looks_back
from model.analysis.matching import HeadMatching, plainest_match
from model.analysis.nodes import run_pair
from model.analysis.read_before import is_causal
from model.analysis.recall import Recalled, recalled
from model.analysis.why import Missed, Support, missed_heads, support
from model.errors import check_index
from model.pieces import Work, in_pieces

from .choice import CausalInfo
from .glance import Looks, looks, looks_payload, matching_message
from .messages.glance import (
    EffectMessage,
    FirstHead,
    HeadsMessage,
    KnockedDetail,
    LookingMessage,
    LooksBackDetail,
    MeasuredDetail,
    Nothing,
    RecalledDetail,
    RestsDetail,
    SightPlace,
    ToldApartDetail,
    WhyDetail,
    WindowsDetail,
)
from .payload import Pieces, pack

PARKED = 0.5  # the least share of its weight with which a head counts as parked on a sink
LISTED = 24  # heads that a page is told of one by one
COMPARED = 6  # heads, at most, of which one is sought that matches a word with itself
READ_KEPT = 64 << 20  # bytes of a text that was read; one that takes more is read anew for each question

# The text that was read last, for the questions that follow about the same run.
_read_last: WeakKeyDictionary[Trace, tuple[int, TextRead]] = WeakKeyDictionary()


class Rests(NamedTuple):
    """What token `target` after `position` rests on; `probability` is its own in the run."""

    target: int
    position: int
    probability: float
    found: Support


class Looked(NamedTuple):
    """The same, with the heads that it would miss."""

    rests: Rests
    ablation: Ablation
    missed: Missed


def measurable(trace: Trace) -> bool:
    """Whether a run can be told about here: its tokens see those before alone, and nothing was patched in."""
    return is_causal(trace.lm.net) and not trace.intervention.patches


@in_pieces
def rests(
    lm: LanguageModel, trace: Trace, target: int | None, position: int, so_far: KnockedOut | None = None
) -> Work[Rests | None]:
    """What `target` (null: the most probable token) after `position` rests on; None where that is not to be measured.
    `so_far` is what `knocked` gave for the same.

    Raises GlassLlamaError for a position that the run does not have and for an id outside the vocabulary.
    """
    if not measurable(trace):
        return None
    read = _read(trace, target, position)
    yield
    return (yield from _rests(read, target, position, so_far))


@in_pieces
def knocked(
    lm: LanguageModel, trace: Trace, target: int | None, position: int, so_far: KnockedOut | None = None
) -> Work[KnockedOut | None]:
    """A part more of the tokens that are knocked out one at a time, which is most of the work of `rests`; None where
    that is not to be measured. Raises as that."""
    if not measurable(trace):
        return None
    read = _read(trace, target, position)
    yield
    return (yield from part_knocked_out.pieces(read, read.answer if target is None else target, so_far))


@in_pieces
def windows(lm: LanguageModel, trace: Trace, target: int | None, position: int) -> Work[Windows | None]:
    """The same in windows of layers, one after the other; None where that is not to be measured. Raises as `rests`."""
    if not measurable(trace):
        return None
    read = _read(trace, target, position)
    yield
    return (yield from windows_knocked_out.pieces(read, read.answer if target is None else target))


@in_pieces
def back(lm: LanguageModel, trace: Trace, known: Rests) -> Work[LooksBack | None]:
    """The last token's looks back at the tokens that an answer needs; None where it needs none. `known` is what it
    rests on."""
    if not known.found.tokens:
        return None
    read = _read(trace, known.target, known.position)
    yield
    what, (first, *others) = known.found, known.found.tokens
    return (yield from looks_back.pieces(read, known.target, first, what.attention, what.sinks, others))


@in_pieces
def gathered(lm: LanguageModel, ids: Sequence[int], other: str, known: CausalInfo) -> Work[Recalled | None]:
    """Where what tells a text's answer from that to the `other` text is gathered, and when it comes to the last token;
    None where they differ in that alone. `known` are the two texts' causal maps. Raises as `run_pair` does."""
    pair = yield from run_pair.pieces(lm, ids, other)
    return (yield from recalled.pieces(pair, known.left))


class ToldApart(NamedTuple):
    """What a head compares, and what the answer takes from its look."""

    compared: HeadMatching
    head: LookingHead


@in_pieces
def told_apart(lm: LanguageModel, trace: Trace, known: Rests, looks: LooksBack) -> Work[ToldApart | None]:
    """How the first head that matches a word with itself, of those that look at the token that the answer is brought
    from, tells that from another answer in the text; None where none does. `looks` are the last token's."""
    heads = looks.looking[:COMPARED]
    compared = yield from plainest_match.pieces(trace, heads, known.position, looks.key)
    if compared is None:
        return None
    read = _read(trace, known.target, known.position)
    yield
    one = compared.layer, compared.head
    head = yield from looking_head.pieces(read, known.target, looks.key, one, known.found.attention)
    return ToldApart(compared, head)


class Measured(NamedTuple):
    """What is known of a run's heads while they are measured one after the other; `total` is how many will be."""

    losses: HeadLosses
    total: int


@in_pieces
def heads(
    lm: LanguageModel, trace: Trace, known: Rests, ablation: Ablation, start: int, so_far: HeadLosses | None = None
) -> Work[Measured]:
    """Heads measured until there are more than `start` of them, or all that are to be; `so_far` is what was measured
    for the same answer. `known` is what it rests on."""
    read = _read(trace, known.target, known.position)
    run = ablated_run(read, known.target, ablation, known.found.sinks)
    yield
    losses, total = so_far or (yield from losses_before.pieces(run)), how_many(run)
    while losses.measured.sum() <= start and losses.measured.sum() < total:
        losses = yield from further_losses.pieces(run, losses)
    return Measured(losses, total)


@in_pieces
def looked(
    lm: LanguageModel,
    trace: Trace,
    target: int | None,
    position: int,
    ablation: Ablation = "mean",
    known: Rests | None = None,
    so_far: HeadLosses | None = None,
) -> Work[Looked | Looks]:
    """The same with its heads, each ablated; of a run that is not `measurable` what visuals/glance.py tells.

    `known` is what `rests` gave for this target and position, and `so_far` what of the heads is measured with this
    ablation; the rest is worked out.
    """
    if not measurable(trace):
        return (yield from looks.pieces(lm, trace, target, position))
    read = _read(trace, target, position)
    yield
    found = known or (yield from _rests(read, target, position))
    missed = yield from missed_heads.pieces(read, found.target, found.found.sinks, ablation, so_far=so_far)
    return Looked(found, ablation, missed)


def _read(trace: Trace, target: int | None, position: int) -> TextRead:
    check_index("position", position, len(trace.token_ids))
    if target is not None:
        check_index("target", target, trace.lm.config.vocab_size)
    until, read = _read_last.get(trace, (None, None))
    if read is None or until != position:
        read = read_text(trace.lm, trace.token_ids[: position + 1], trace.intervention)
        _read_last.clear()
        if read.nbytes <= READ_KEPT:
            _read_last[trace] = position, read
    return read


def _rests(read: TextRead, target: int | None, position: int, so_far: KnockedOut | None = None) -> Work[Rests]:
    asked = read.answer if target is None else target
    found = yield from support.pieces(read, asked, so_far)
    return Rests(asked, position, float(read.log_p[asked].exp()), found)


def rests_payload(found: Rests | None, piece: str) -> RestsDetail | Nothing:
    """The message of Rests; `piece` is the target's. {} where nothing was measured."""
    if found is None:
        return {}
    what = found.found
    return {
        "target": found.target,
        "piece": piece,
        "position": found.position,
        "probability": found.probability,
        "lost": pack(what.knock_out, "f4"),
        "tokens": list(what.tokens),
        "sinks": list(what.sinks),
        "parked": [parked_on(what.attention, sink) for sink in what.sinks],
        "form": what.late.form,
        "fetched": what.late.from_all,
        "from_answer": what.late.from_places,
        "places": list(what.late.places),
        "from_hidden": what.late.from_hidden,
        "alone": what.late.alone,
        "few": FEW,
    }


def knocked_payload(found: KnockedOut | None, position: int) -> KnockedDetail | Nothing:
    """The message of what is knocked out by now, up to `position`. {} where nothing is measured."""
    return {} if found is None else {"done": len(found.lost), "total": position + 1}


def recalled_payload(found: Recalled | None, names: Sequence[str]) -> RecalledDetail | Nothing:
    """The message of Recalled; `names` are the two answers' pieces. {} where there is nothing to tell."""
    if found is None:
        return {}
    what, moved, brought = found.gathered, found.moved, found.brought
    return {
        "answer": names[0],
        "other": names[1],
        "token": found.token,
        "gathered": {
            "layers": {"first": what.layers.first, "last": what.layers.last},
            "all": what.all,
            "later": what.later,
            "above": what.above,
            "attention": what.attention,
            "elsewhere": what.elsewhere,
            "clear": what.clear,
        },
        "moved": {
            "layers": {"first": moved.layers.first, "last": moved.layers.last},
            "held": moved.held,
            "before": moved.before,
            "after": moved.after,
            "clear": moved.clear,
        },
        "brought": {
            "layer": brought.head[0],
            "head": brought.head[1],
            "lost": brought.lost,
            "following": brought.following,
            "clear": brought.clear,
        },
    }


def windows_payload(found: Windows | None) -> WindowsDetail | Nothing:
    """The message of Windows. {} where nothing was measured."""
    if found is None:
        return {}
    return {"width": found.width, "starts": list(found.starts), "lost": pack(found.lost, "f4")}


def parked_on(attention: Float[np.ndarray, "L n_heads T"], sink: int) -> int:
    """How many heads give a token at least PARKED of the last token's weight."""
    return int((attention[..., sink] >= PARKED).sum())


def target_of(found: Looked | Looks) -> int:
    """The token that was asked about."""
    return found.found.target if isinstance(found, Looks) else found.rests.target


def looked_payload(looked: Looked | Looks, piece: str) -> WhyDetail:
    """The message of Looked, in the form of that of other networks; `piece` is the target's."""
    if isinstance(looked, Looks):
        return looks_payload(looked, piece)
    rests, missed = looked.rests, looked.missed
    attention, sinks = rests.found.attention, rests.found.sinks
    sights = {head: _sight(attention, head, sinks, rests.position) for head in _heads(missed)}
    key = rests.found.tokens[0] if rests.found.tokens else rests.position
    first = first_of(missed, sights, key) if missed.group else None
    return {
        "target": rests.target,
        "piece": piece,
        "position": rests.position,
        "probability": rests.probability,
        "first": _first(first, sights[first]) if first else None,
        "look": {
            "kind": "head",
            "key": key,
            "heads": [
                {"layer": layer, "head": head, "weight": float(attention[layer, head, key])}
                for layer, head in missed.group
            ],
            "without": missed.without,
            "by_chance": sorted(missed.by_chance),
        },
        "parts": [_effect(rests.probability, missed, sights[head]) for head in _listed(missed, first)],
        "grid": _grid(missed.losses, looked.ablation),
    }


def first_of(missed: Missed, sights: Mapping[Head, SightPlace], key: int) -> Head | None:
    """The head to show first: of those that look most at `key`, where the answer is read, the one that is missed most;
    where none does, the one that is missed most of all."""
    reading = [head for head in sights if sights[head]["key"] == key and missed.losses.measured[head]]
    return max(reading or missed.group, key=lambda head: missed.losses.lost[head], default=None)


def _heads(missed: Missed) -> list[Head]:
    """Every head."""
    return [(int(layer), int(head)) for layer, head in np.ndindex(*missed.losses.lost.shape)]


def _listed(missed: Missed, first: Head | None) -> list[Head]:
    """The heads that a page is told of, those that were run, the one that is missed most first."""
    lost, measured = missed.losses
    best = sorted((head for head in _heads(missed) if measured[head]), key=lambda head: -lost[head])
    wanted = {*best[:LISTED], *missed.group, *([first] if first else [])}
    return [head for head in best if head in wanted]


def _sight(attention: Float[np.ndarray, "L n_heads T"], head: Head, sinks: Sequence[int], query: int) -> SightPlace:
    """What a head looks at most from the last token, sinks apart."""
    weights = attention[head].copy()
    weights[list(sinks)] = -1
    key = int(weights.argmax())
    return {
        "layer": head[0],
        "head": head[1],
        "query": query,
        "key": key,
        "weight": float(attention[(*head, key)]),
    }


def _first(head: Head, sight: SightPlace) -> FirstHead:
    return {"kind": "head", **sight}


def _effect(probability: float, missed: Missed, sight: SightPlace) -> EffectMessage:
    loss = float(missed.losses.lost[sight["layer"], sight["head"]])
    without = min(1.0, probability * math.exp(-loss))
    return {"kind": "head", "index": sight["head"], "without": without, "loss": loss, **sight}


def back_payload(found: LooksBack | None, piece: str) -> LooksBackDetail | Nothing:
    """The message of LooksBack; `piece` is that of the token that would come instead. {} where there is none."""
    if found is None:
        return {}
    return {
        "token": found.token,
        "instead": {"id": found.instead, "piece": piece, "probability": found.p_instead},
        "from_token": found.from_token,
        "key": found.key,
        "looking": list(found.looking),
        "together": found.together,
        "head": _looking(found.head),
    }


def told_apart_payload(found: ToldApart | None, key: int, pieces: Pieces) -> ToldApartDetail | Nothing:
    """What the head compared that matches a word with itself; {} where none does."""
    if found is None:
        return {}
    return {**matching_message(found.compared.found, pieces), **_looking(found.head), "key": key}


def _looking(head: LookingHead) -> LookingMessage:
    return {
        "layer": head.layer,
        "head": head.head,
        "weight": head.weight,
        "adds": head.adds,
        "missed": head.missed,
    }


def heads_payload(found: Measured, ablation: Ablation) -> MeasuredDetail:
    """The message of Measured."""
    losses, total = found
    return {"grid": _grid(losses, ablation), "done": int(losses.measured.sum()), "total": total}


def _grid(losses: HeadLosses, ablation: Ablation) -> HeadsMessage:
    return {"ablation": ablation, "lost": pack(losses.lost, "f4"), "measured": pack(losses.measured, "u1")}
