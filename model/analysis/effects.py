"""Which heads and neurons matter for one answer: those that it misses most when they are switched off.

A part is off when it writes nothing to the residual stream at any token, as `interventions.Intervention` has it. What
that does to the answer's probability is run, not estimated; a gradient only says which parts are worth a run. To first
order switching a part off lowers the answer's log-odds by Σ v·g, with v what the part writes and g the gradient there
(attribution patching towards zero: Nanda 2023; Molchanov et al. 2017, arXiv 1611.06440, for neurons). The gradient of
the log-odds, unlike that of the probability, does not vanish where the model is sure.

Symbols: L n_layers, T tokens, R parts measured, d d_model, V vocabulary.
"""

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from ..errors import check_index
from ..pieces import Work, in_pieces
from ..trace import Trace
from .switching import Kind, Part, Pull, head_taps, held_taps, neuron_pushes, pulls_of, stacks, without

ATTENDED: tuple[Kind, ...] = ("head", "cross")  # the kinds of heads
MIN_ATTENTION = 0.5  # the least weight with which a head counts as looking at a token
KEPT = 0.5  # the share of its probability with which an answer counts as kept
N_RANDOM_CONTROLS = 5  # draws of as many other heads
SHARE, TRIES = 0.5, 3  # which tokens may hold the answer


class Effect(NamedTuple):
    """`probability` is the answer's without the part, `loss` = log p - log `probability`, in nats: what it is worth."""

    part: Part
    probability: float
    loss: float


class Look(NamedTuple):
    """Where the answer was read: at token `key`, by `heads`, which put MIN_ATTENTION or more of their weight there.

    The heads are all of one `kind`. Those of kind "cross" look at a source text, and `key` is a token of that.

    They do so from the token after which the answer stands; where more than KEPT of its probability is left without
    them, those that do so from a token between are among them too, as what they read can be found on the way.

    `weights` are those from the last of these tokens, `without` is the answer's probability when all these heads are
    off at once, and `by_chance` what is left when as many other heads of that kind are, draw by draw. Where no head
    looks so, `heads` is empty and `without` the run's own probability.
    """

    key: int
    heads: tuple[Part, ...]
    weights: tuple[float, ...]
    without: float
    by_chance: tuple[float, ...]
    kind: Kind = "head"


@dataclass(frozen=True)
class Effects:
    """What the measured parts do for token `target` after the token at `position`; the largest loss first.

    `probability` is the target's in the run as it is. Parts that were not measured promised less than these.
    """

    target: int
    position: int
    probability: float
    parts: tuple[Effect, ...]
    look: Look

    def of(self, *kinds: Kind, encoder: bool = False) -> tuple[Effect, ...]:
        """The parts of these kinds alone: of the encoder, or of what writes."""
        return tuple(one for one in self.parts if one.part.kind in kinds and one.part.encoder == encoder)

    @property
    def first(self) -> Part | None:
        """The head to show first: of those that read the answer from `position` the one worth most, else of all."""
        heads = [one.part for one in self.of(*ATTENDED)]
        look = zip(self.look.heads, self.look.weights, strict=True)
        reading = {part for part, weight in look if weight >= MIN_ATTENTION}
        return next(iter([*(part for part in heads if part in reading), *heads]), None)


@in_pieces
def effects(
    trace: Trace,
    target: int | None = None,
    position: int = -1,
    heads: int = 24,
    neurons: int = 8,
    chances: int = N_RANDOM_CONTROLS,
    encoder: bool = True,
) -> Work[Effects]:
    """The `heads` heads of either kind and `neurons` neurons that promise most for `target`, each measured by switching
    it off; of the heads that read the answer `heads` are among them too. Where an encoder read a source, as many of its
    heads and neurons are as well, unless `encoder` is False.

    Without a `target` it is the most probable token. What the run's own intervention switched off is passed over.
    Raises GlassLlamaError for a position that the run does not have and for an id outside the vocabulary.
    """
    count = len(trace.token_ids)
    at = position + count if position < 0 else position
    check_index("position", at, count)
    own = _log_p(trace, at)
    target = int(own.argmax()) if target is None else target
    check_index("target", target, trace.lm.config.vocab_size)
    runs = stacks(trace) if encoder else [trace]
    promises = promised(runs, (yield from pulls_of.pieces(runs, target, at)))
    look = yield from _look(trace, (yield from _reading(trace, target, at)), target, at, chances)
    reading = sorted(look.heads, key=lambda part: -promises[part])[:heads]
    counts: dict[Kind, int] = {"head": heads, "cross": heads, "neuron": neurons}
    best = [
        part
        for run in runs
        for kind, most in counts.items()
        for part in _best(promises, kind, most, encoder=run is not trace)
    ]
    chosen = list(dict.fromkeys([*reading, *best]))
    base = float(own[target])
    left = yield from without.pieces(trace, [[part] for part in chosen], target, at)
    found = [Effect(part, math.exp(log_p), base - log_p) for part, log_p in zip(chosen, left, strict=True)]
    return Effects(target, at, math.exp(base), tuple(sorted(found, key=lambda one: -one.loss)), look)


def promised(runs: Sequence[Trace], pulls: Sequence[dict[str, Pull]]) -> dict[Part, float]:
    """By how much each head and neuron that is on would lower the log-odds of the answer, to first order; see above.

    `runs` are the stacks of a run, and `pulls` what `pulls_of` gives of them.
    """
    found: dict[Part, float] = {}
    for run, of_stack in zip(runs, pulls, strict=True):
        found |= _promised_in(run, of_stack, encoder=run is not runs[-1])
    return found


def _promised_in(trace: Trace, pulls: dict[str, Pull], encoder: bool) -> dict[Part, float]:
    off = trace.intervention
    found: dict[Part, float] = {}
    for i in range(trace.n_layers):
        pushes: dict[Kind, Tensor] = {}
        for kind, tap in head_taps(trace.lm.net, i).items():
            if kind == "cross" or i not in off.attention:
                value, slope = pulls[tap]
                pushes[kind] = (value * slope).sum((0, 2))
        if i not in off.ffn:
            pushes["neuron"] = neuron_pushes(trace, pulls, i)
        for kind, of_kind in pushes.items():
            found |= {Part(kind, i, n, encoder): push for n, push in enumerate(of_kind.tolist())}
    taken = _taken(trace, encoder)
    return {part: push for part, push in found.items() if part not in taken}


def _taken(trace: Trace, encoder: bool = False) -> set[Part]:
    """What the run's own intervention switches off head by head and neuron by neuron."""
    off = trace.intervention
    pairs: dict[Kind, tuple[tuple[int, int], ...]] = {"head": off.heads, "cross": off.cross, "neuron": off.neurons}
    return {Part(kind, *one, encoder) for kind, some in pairs.items() for one in some}


class _Reading(NamedTuple):
    """From where heads bring an answer.

    `tried` holds places, each a kind of head and a token, that of most first. `readers` holds, by place, the heads that
    put MIN_ATTENTION or more of their weight there, where there are any; `weights` those of each head that is on.
    """

    tried: list[tuple[Kind, int]]
    readers: dict[tuple[Kind, int], list[Part]]
    weights: dict[Part, Float[Tensor, "S"]]


def _reading(trace: Trace, target: int, position: int) -> Work[_Reading]:
    """Of the tokens from which heads bring the answer to `position` those that bring SHARE of the most.

    What comes from a token is Σ α·v·g over the heads, with g where attention weights are held: a head that only makes
    another one look at the right token brings nothing.
    """
    (held,) = yield from pulls_of.pieces([trace], target, position, held=True)
    brought, weights = _brought(trace, held, position)
    least = max(SHARE * max(float(of_kind.max()) for of_kind in brought.values()), 1e-9)
    size: dict[tuple[Kind, int], float] = {
        (kind, key): value for kind, some in brought.items() for key, value in enumerate(some.tolist())
    }
    tried = sorted((place for place, value in size.items() if value >= least), key=lambda place: -size[place])[:TRIES]
    readers: dict[tuple[Kind, int], list[Part]] = {
        (kind, key): [part for part, row in weights.items() if part.kind == kind and row[key] >= MIN_ATTENTION]
        for kind, key in tried
    }
    return _Reading(tried, {place: parts for place, parts in readers.items() if parts}, weights)


def _look(trace: Trace, reading: _Reading, target: int, position: int, chances: int) -> Work[Look]:
    """Of the places that were tried the one whose readers are missed most."""
    tried, readers, weights = reading
    own = float(_log_p(trace, position)[target])
    if not readers:
        kind, key = tried[0] if tried else ("head", position)
        return Look(key, (), (), math.exp(own), (), kind)
    logs = yield from without.pieces(trace, [*readers.values()], target, position)
    left = dict(zip(readers, logs, strict=True))
    place = min(left, key=left.__getitem__)
    (kind, key), heads, kept = place, readers[place], left[place]
    alike = [part for part in weights if part.kind == kind]
    if kept > own + math.log(KEPT) and len(wider := (yield from _readers(trace, alike, key, position))) > len(heads):
        heads, (kept,) = wider, (yield from without.pieces(trace, [wider], target, position))
    others, chance = [part for part in alike if part not in heads], random.Random(0)
    draws = [chance.sample(others, len(heads)) for _ in range(chances)] if len(heads) <= len(others) else []
    by_chance = (yield from without.pieces(trace, draws, target, position)) if draws else []
    looking = tuple(float(weights[part][key]) for part in heads)
    return Look(key, tuple(heads), looking, math.exp(kept), tuple(map(math.exp, by_chance)), kind)


def _readers(trace: Trace, heads: Sequence[Part], key: int, position: int) -> Work[list[Part]]:
    """Those of these heads that put MIN_ATTENTION or more of their weight on `key`, from `position` or a token between.

    A source is all there from the start, so its heads may do so from any token up to `position`.
    """
    first = {"head": min(key + 1, position), "cross": 0}
    found: list[Part] = []
    for part in heads:
        if seen_by(trace, part)[first[part.kind] : position + 1, key].max() >= MIN_ATTENTION:
            found.append(part)
        yield
    return found


def seen_by(trace: Trace, head: Part) -> Float[np.ndarray, "T S"]:
    """The weights of a head, of whichever kind and stack."""
    run = stacks(trace)[0] if head.encoder else trace
    return _array(run, "attention", head.kind, head.layer)[head.number]


def _array(trace: Trace, name: str, kind: Kind, layer: int) -> np.ndarray:
    return trace.layer(layer).arrays[f"cross_{name}" if kind == "cross" else name]


def _brought(
    trace: Trace, pulls: dict[str, Pull], position: int
) -> tuple[dict[Kind, Float[Tensor, "S"]], dict[Part, Float[Tensor, "S"]]]:
    """By kind of head and token, what heads bring of the answer from there to `position`; and the weights of each head
    that is on."""
    brought: dict[Kind, Tensor] = {}
    weights: dict[Part, Tensor] = {}
    taken = _taken(trace)
    for i in range(trace.n_layers):
        for kind, tap in head_taps(trace.lm.net, i).items():
            slope = pulls[tap].slope[position].double().cpu()
            weighed, values = (pulls[name].value for name in held_taps(trace.lm.net, i)[kind])
            alpha, values = weighed[:, position].double().cpu(), values.double().cpu()
            silent = kind == "head" and i in trace.intervention.attention
            on = [head for head in range(len(slope)) if not silent and Part(kind, i, head) not in taken]
            values = values.repeat_interleave(len(slope) // len(values), dim=0)
            brought[kind] = brought.get(kind, 0) + torch.einsum("hs,hsw,hw->s", alpha[on], values[on], slope[on])
            weights |= {Part(kind, i, head): alpha[head] for head in on}
    return brought, weights


def _best(promises: dict[Part, float], kind: Kind, count: int, encoder: bool) -> Iterable[Part]:
    own = [part for part in promises if (part.kind, part.encoder) == (kind, encoder)]
    return sorted(own, key=lambda part: -promises[part])[:count]


def _log_p(trace: Trace, position: int) -> Float[Tensor, "V"]:
    """Log-probabilities of the run itself at one position: final norm and head on the recorded stream.

    In float64, as the page works out its own from the same logits: so one probability is written alike everywhere.
    """
    lm = trace.lm
    if position == len(trace.token_ids) - 1:
        return torch.from_numpy(trace.logits).double().log_softmax(-1)
    with torch.inference_mode():
        x = torch.from_numpy(trace.residual[-1, position]).to(lm.device, lm.dtype)
        return lm.net.logits(x).double().cpu().log_softmax(-1)
