"""Why a model goes on with this word: the tokens that it rests on, the heads it would miss, how it comes by it.

All is measured by running the model with something taken away; nothing here is a gradient's promise, but for heads
beyond the budget, which are marked. Each part is a module of its own: knock_out.py, sinks.py, form.py, head_losses.py.

Symbols: T tokens, L n_layers.
"""

import math
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from ..checkpoint import LanguageModel
from ..pieces import Work, in_pieces
from ..refusals import refusal
from .form import Fetched, Form, fetched
from .head_losses import (
    BUDGET,
    Ablation,
    Head,
    HeadLosses,
    ablated_run,
    head_losses,
    log_p_without,
    switched_off,
)
from .knock_out import KnockedOut, knocked_out_and_seen
from .last_token import TextRead, read_text
from .sinks import sinks

GROUP = 8  # heads that are switched off together, at most
N_RANDOM_CONTROLS = 5  # draws of as many other heads
NEEDED = 0.05  # nats from which on a token counts as needed


class Support(NamedTuple):
    """What a next token rests on in a text.

    `knock_out` (T,) is that of knock_out.py, in nats, and `attention` (L, n_heads, T) the last token's. `sinks` are
    positions where heads park, `tokens` those that are needed (`needed`), and `late` what is fetched in the upper
    layers, which tells the form (form.py).
    """

    knock_out: Float[np.ndarray, "T"]
    attention: Float[np.ndarray, "L n_heads T"]
    sinks: tuple[int, ...]
    tokens: tuple[int, ...]
    late: Fetched


class Missed(NamedTuple):
    """The heads that a next token would miss: each by its ablation, and the `group` that is missed most.

    `without` is the token's probability with the group switched off: these heads write nothing, at any token, as
    interventions.Intervention has it. `by_chance` is the same for as many random heads of the same layers, draw by
    draw.
    """

    losses: HeadLosses
    group: tuple[Head, ...]
    without: float
    by_chance: tuple[float, ...]


@dataclass(frozen=True)
class Why:
    """What `answer` (a token id, the most probable next one, of probability `p`) rests on.

    `knock_out` (T,) is that of knock_out.py, in nats. `sinks` are positions where heads park. `tokens` are the other
    positions before the last that lose NEEDED nats or more when knocked out, most needed first; the last token's number
    is of its look at itself, not of its worth.

    `heads` (L, n_heads) is the log p(answer) that each head's `ablation` loses, negative where it works against the
    answer, and `heads_measured` which of these were run: the others are estimates (head_losses.py). `group` are the
    heads that are missed most, `without` the probability with all of these switched off (they write nothing), and
    `by_chance` the same for as many random heads of the same layers, draw by draw.

    `form` says how the model comes by the answer (form.py): of `fetched_late` nats that the last token fetches in the
    upper layers, `from_answer` come from `answer_places`, where the answer stands in the text. `alone` nats are lost
    where the last few tokens see each other and the sinks alone.
    """

    answer: int
    p: float
    knock_out: Float[np.ndarray, "T"]
    sinks: tuple[int, ...]
    tokens: tuple[int, ...]
    form: Form
    fetched_late: float
    from_answer: float
    answer_places: tuple[int, ...]
    alone: float
    ablation: Ablation
    heads: Float[np.ndarray, "L n_heads"]
    heads_measured: Bool[np.ndarray, "L n_heads"]
    group: tuple[Head, ...]
    without: float
    by_chance: tuple[float, ...]


@in_pieces
def why(
    lm: LanguageModel,
    text: str | Sequence[int],
    ablation: Ablation = "mean",
    heads_budget: int = BUDGET,
    seed: int = 0,
) -> Work[Why]:
    """What the next token rests on, measured.

    Heads are ablated one at a time where their runs take at most `heads_budget` rows × tokens; of a longer text as many
    as that allows, chosen by integrated gradients. `seed` is of the random heads. Raises GlassLlamaError for a network
    whose tokens see those after them, for another ablation than "mean" and "zero", and as `prompt_ids` does.
    """
    check_ablation(ablation)
    read = read_text(lm, text)
    yield
    rests = yield from support.pieces(read, read.answer)
    missed = yield from missed_heads.pieces(read, read.answer, rests.sinks, ablation, heads_budget, seed)
    return Why(
        answer=read.answer,
        p=float(read.log_p[read.answer].exp()),
        knock_out=rests.knock_out,
        sinks=rests.sinks,
        tokens=rests.tokens,
        form=rests.late.form,
        fetched_late=rests.late.from_all,
        from_answer=rests.late.from_places,
        answer_places=rests.late.places,
        alone=rests.late.alone,
        ablation=ablation,
        heads=missed.losses.lost,
        heads_measured=missed.losses.measured,
        group=missed.group,
        without=missed.without,
        by_chance=missed.by_chance,
    )


def check_ablation(ablation: str) -> None:
    """Raises GlassLlamaError for another than "mean" and "zero"."""
    if ablation not in ("mean", "zero"):
        raise refusal("ablation", ablation, '"mean" or "zero"')


@in_pieces
def support(read: TextRead, target: int, so_far: KnockedOut | None = None) -> Work[Support]:
    """What the next token `target` rests on in a text that was read; `so_far` is what is knocked out already."""
    lost, attention = yield from knocked_out_and_seen.pieces(read, target, so_far)
    parked = sinks(read, attention.to(read.lm.device))
    late = fetched(read, target, parked)
    yield
    return Support(lost, attention.float().numpy(), parked, needed(lost, parked), late)


@in_pieces
def missed_heads(
    read: TextRead,
    target: int,
    sinks: Sequence[int],
    ablation: Ablation = "mean",
    budget: int = BUDGET,
    seed: int = 0,
    so_far: HeadLosses | None = None,
) -> Work[Missed]:
    """The heads that the next token `target` would miss in a text that was read; what the run has switched off is left
    out, and where that is every head, `group` is empty. `so_far` is what of the losses is measured already."""
    losses = yield from head_losses.pieces(ablated_run(read, target, ablation, sinks), budget, so_far)
    off = switched_off(read.changed, read.lm.config.n_heads)
    group = _group(losses, off)
    if not group:
        own = float(read.log_p[target].exp())
        return Missed(losses, (), own, (own,) * N_RANDOM_CONTROLS)
    nothing = ablated_run(read, target, "zero", sinks)
    logs = yield from log_p_without.pieces(nothing, [group, *_drawn(losses, group, off, seed)])
    without, *by_chance = map(math.exp, logs)
    return Missed(losses, group, without, tuple(by_chance))


def needed(lost: Float[np.ndarray, "T"], parked: Sequence[int]) -> tuple[int, ...]:
    """Positions before the last that lose NEEDED or more, the most first; no sink is among them."""
    others = (token for token in range(len(lost) - 1) if token not in parked and lost[token] >= NEEDED)
    return tuple(sorted(others, key=lambda token: -lost[token]))


def _group(losses: HeadLosses, off: Collection[Head]) -> tuple[Head, ...]:
    """The heads that are missed most of those that were run: up to GROUP, at least one, at most half of all."""
    ran = losses.measured if losses.measured.any() else np.ones_like(losses.measured)
    heads: list[Head] = [(int(layer), int(head)) for layer, head in np.argwhere(ran)]
    on = [head for head in heads if head not in off]
    best = sorted(on, key=lambda head: -losses.lost[head])[: max(1, min(GROUP, losses.lost.size // 2))]
    return tuple(head for head in best if losses.lost[head] > 0) or tuple(best[:1])


def _drawn(losses: HeadLosses, group: Sequence[Head], off: Collection[Head], seed: int) -> list[list[Head]]:
    """Draws of as many other heads, from the same layers as far as these have any, else from all."""
    chance, (layers, heads) = random.Random(seed), losses.lost.shape
    every = [(layer, head) for layer in range(layers) for head in range(heads)]
    others = [head for head in every if head not in group and head not in off]
    draws: list[list[Head]] = []
    for _ in range(N_RANDOM_CONTROLS):
        drawn: list[Head] = []
        for layer, _ in group:
            left = [head for head in others if head not in drawn]
            alike = [head for head in left if head[0] == layer]
            if left:
                drawn.append(chance.choice(alike or left))
        draws.append(drawn)
    return draws
