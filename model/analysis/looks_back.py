"""What a text's last token takes from an earlier token: what would come without a look at it, and which of the heads
that look back brings most of the answer.

As in knock_out.py the scores of one token are masked before the softmax, in all heads of all layers, so that the other
weights are renormalised. What a head brings is told from the run as it is: with weights and what the final norm divides
by held at its values, head h adds α[s]·(W_O[h]·v[s])·u to the answer's logit from token s, with u the direction along
which final norm and head read the stream for that answer (direct logit attribution; Elhage et al. 2021). Others may
bring the same, so the head is then switched off altogether, at every token.

The token that is missed most need not be the one that the answer is brought from: in "The Eiffel Tower is in the city
of" no head takes much of " Paris" from " city", which costs most where it is hidden; heads that look at "iffel" do.

Symbols: L n_layers, T tokens, S tokens that are told of, R rows of a pass, d d_model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float

from ..forward_pass import Pass
from ..pieces import Work, in_pieces
from ..shapes import figures
from ..taps import capture
from .head_losses import Head, ablated_run, log_p_without, switched_off
from .last_token import TextRead, last_token_logs
from .logit_terms import heads_along, read_along
from .why import NEEDED

CONSIDERED = 4  # tokens, of those that an answer needs
MUCH = 1 / 4  # of the most that one head adds from any of them: who looks at a token brings something from it
TRIED = 4  # heads, where the one that adds most is not missed


class LookingHead(NamedTuple):
    """A head, its attention `weight` there, what it `adds` from there to the target's logit, and the nats of
    log p(target) that are `missed` when it is switched off."""

    layer: int
    head: int
    weight: float
    adds: float
    missed: float


@dataclass(frozen=True)
class LooksBack:
    """The last token's looks back.

    `instead`, of probability `p_instead`, is the most probable next token without those at `token`; `from_token` is the
    most that one of the heads that look most at it, sinks apart, adds from there. `key` is the token that the answer is
    brought from, `looking` are the heads that look most at that one, the one that adds most first, and `together` is
    what they all add. `head` is the first of these if it is missed, else of TRIED the one that is missed most; the
    first again where none is. Where nobody looks there, it is the one of all heads that adds most.
    """

    token: int
    instead: int
    p_instead: float
    from_token: float
    key: int
    looking: tuple[Head, ...]
    together: float
    head: LookingHead


@in_pieces
def looks_back(
    read: TextRead,
    target: int,
    token: int,
    attention: Float[np.ndarray, "L n_heads T"],
    sinks: Sequence[int] = (),
    others: Sequence[int] = (),
) -> Work[LooksBack]:
    """What the last token's looks at an earlier `token` bring for the next token `target`.

    `attention` is the last token's (sinks.last_attention), and `sinks` are where heads park. `others` are further
    tokens that the target needs, those that it needs more first.
    """
    tokens = [token, *others][:CONSIDERED]
    apart = attention.copy()
    apart[..., list(sinks)] = -1
    seen = apart.argmax(-1)
    added = _added(read, target, tokens, attention[..., tokens])
    yield
    at = _brings(added, np.stack([seen == one for one in tokens]))
    key, adds, looking = tokens[at], added[at], seen == tokens[at]
    most_first = np.argsort(-adds, axis=None, kind="stable")
    order: list[Head] = [divmod(int(i), adds.shape[1]) for i in most_first]
    there = tuple(head for head in order if looking[head])
    off = torch.zeros(2, len(read.ids), dtype=torch.bool, device=read.lm.device)
    off[1, token] = True  # beside a row that sees all: there are two at least
    with torch.inference_mode():
        without = last_token_logs(read, 2, lambda _: off)[1]
    yield
    first, missed = yield from _missed_first(read, target, there[:TRIED] or order[:1])
    instead = int(without.argmax())
    return LooksBack(
        token,
        instead,
        float(without[instead].exp()),
        float(added[0][seen == token].max(initial=0.0)),
        key,
        there,
        float(adds[looking].sum()),
        LookingHead(*first, float(attention[(*first, key)]), float(adds[first]), missed),
    )


def _brings(added: Float[np.ndarray, "S L n_heads"], looking: Bool[np.ndarray, "S L n_heads"]) -> int:
    """Which of some tokens an answer is brought from: the first from which a head that looks there adds MUCH."""
    by_token = np.where(looking, added, 0).max((1, 2), initial=0.0)
    return int((by_token >= MUCH * by_token.max()).argmax())


def _missed_first(read: TextRead, target: int, heads: Sequence[Head]) -> Work[tuple[Head, float]]:
    """The first of some heads, if it is missed; else the one that is missed most, if any is; and by how many nats."""
    first, *others = heads
    [missed] = yield from _missed(read, target, [first])
    if missed >= NEEDED or not others:
        return first, missed
    losses = yield from _missed(read, target, others)
    most, head = max(zip(losses, others, strict=True), key=lambda one: one[0])
    return (head, most) if most >= NEEDED else (first, missed)


@in_pieces
def looking_head(
    read: TextRead, target: int, token: int, head: Head, attention: Float[np.ndarray, "L n_heads T"]
) -> Work[LookingHead]:
    """One head that looks at `token`, as looks_back tells of the first."""
    adds = _added(read, target, [token], attention[..., [token]])[0]
    yield
    [missed] = yield from _missed(read, target, [head])
    return LookingHead(*head, float(attention[(*head, token)]), float(adds[head]), missed)


def _added(
    read: TextRead, target: int, tokens: Sequence[int], weights: Float[np.ndarray, "L n_heads S"]
) -> Float[np.ndarray, "S L n_heads"]:
    """What each head adds to the target's logit from tokens to which it gives these weights; 0 of one that is off."""
    lm, added = read.lm, np.zeros((len(tokens), *weights.shape[:2]))
    direction, _ = read_along(lm.net, target)
    at = Pass(lm.net.positions(0, len(tokens)), eager=True)  # MLA rebuilds its values then
    with torch.inference_mode():
        along = direction / float(figures(lm.net.norm)["rms"](read.streams[-1, -1]))
        for layer, given in enumerate(weights):
            block = lm.net.block(layer)
            with capture(block.attn, "v") as seen:
                block.attn(block.attn_norm(read.streams[layer, list(tokens)][None]), at)
            values = seen["v"][0].double().cpu()
            added[:, layer] = heads_along(block.attn, torch.tensor(given).double(), values, along).T.numpy()
    for head in switched_off(read.changed, lm.config.n_heads):
        added[:, *head] = 0
    return added


def _missed(read: TextRead, target: int, heads: Sequence[Head]) -> Work[list[float]]:
    """What is lost without each head; nothing without one that the run has off."""
    off = switched_off(read.changed, read.lm.config.n_heads)
    on = [head for head in heads if head not in off]
    run = ablated_run(read, target, "zero", ())
    whole, *without = yield from log_p_without.pieces(run, [(), *((head,) for head in on)])
    lost = dict(zip(on, (whole - one for one in without), strict=True))
    return [lost.get(head, 0.0) for head in heads]
