"""Why a model goes on with this word: the tokens that it rests on, the heads it would miss, how it comes by it.

All is measured by running the model with something taken away; nothing here is a gradient's promise, but for heads
beyond the budget, which are marked. Each part is a module of its own: knock_out.py, sinks.py, form.py, head_losses.py.

Symbols: T tokens, L n_layers.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from ..checkpoint import LanguageModel
from ..pieces import Work, in_pieces
from ..refusals import refusal
from .form import Form, fetched
from .head_losses import BUDGET, Ablation, Head, HeadLosses, ablated_run, head_losses, log_p_without
from .knock_out import knocked_out
from .last_token import read_text
from .sinks import sinks

GROUP = 8  # heads that are ablated together, at most
N_RANDOM_CONTROLS = 5  # draws of as many other heads
NEEDED = 0.05  # nats from which on a token counts as needed


@dataclass(frozen=True)
class Why:
    """What `answer` (a token id, the most probable next one, of probability `p`) rests on.

    `knock_out` (T,) is that of knock_out.py, in nats. `sinks` are positions where heads park. `tokens` are the other
    positions before the last that lose NEEDED nats or more when knocked out, most needed first; the last token's number
    is of its look at itself, not of its worth.

    `heads` (L, n_heads) is the log p(answer) that each head's `ablation` loses, negative where it works against the
    answer, and `heads_measured` which of these were run: the others are estimates (head_losses.py). `group` are the
    heads that are missed most, `without` the probability with all of these ablated, and `by_chance` the same for as
    many random heads of the same layers, draw by draw.

    `form` says how the model comes by the answer (form.py): of `fetched_late` nats that the last token fetches in the
    upper layers, `from_answer` come from `answer_places`, where the answer stands in the text.
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
    if ablation not in ("mean", "zero"):
        raise refusal("ablation", ablation, '"mean" or "zero"')
    read = read_text(lm, text)
    yield
    parked = sinks(read)
    lost = yield from knocked_out(read, read.answer)
    late = fetched(read, parked)
    yield
    run = ablated_run(lm, read.ids, read.answer, ablation, parked)
    losses = yield from head_losses.pieces(run, heads_budget)
    group = _group(losses)
    logs = yield from log_p_without.pieces(run, [group, *_drawn(losses, group, seed)])
    without, *by_chance = map(math.exp, logs)
    return Why(
        answer=read.answer,
        p=float(read.log_p[read.answer].exp()),
        knock_out=lost,
        sinks=parked,
        tokens=needed(lost, parked),
        form=late.form,
        fetched_late=late.from_all,
        from_answer=late.from_places,
        answer_places=late.places,
        ablation=ablation,
        heads=losses.lost,
        heads_measured=losses.measured,
        group=group,
        without=without,
        by_chance=tuple(by_chance),
    )


def needed(lost: Float[np.ndarray, "T"], parked: Sequence[int]) -> tuple[int, ...]:
    """Positions before the last that lose NEEDED or more, the most first; no sink is among them."""
    others = (token for token in range(len(lost) - 1) if token not in parked and lost[token] >= NEEDED)
    return tuple(sorted(others, key=lambda token: -lost[token]))


def _group(losses: HeadLosses) -> tuple[Head, ...]:
    """The heads that are missed most of those that were run: up to GROUP, at least one, at most half of all."""
    ran = losses.measured if losses.measured.any() else np.ones_like(losses.measured)
    heads: list[Head] = [(int(layer), int(head)) for layer, head in np.argwhere(ran)]
    best = sorted(heads, key=lambda head: -losses.lost[head])[: max(1, min(GROUP, losses.lost.size // 2))]
    return tuple(head for head in best if losses.lost[head] > 0) or tuple(best[:1])


def _drawn(losses: HeadLosses, group: Sequence[Head], seed: int) -> list[list[Head]]:
    """Draws of as many other heads, from the same layers as far as these have any, else from all."""
    chance, (layers, heads) = random.Random(seed), losses.lost.shape
    others = [(layer, head) for layer in range(layers) for head in range(heads) if (layer, head) not in group]
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
