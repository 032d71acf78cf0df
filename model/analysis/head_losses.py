"""What an answer loses without each head, measured by running without it; where that is too much, by a gradient.

A head is ablated at all tokens. With "zero" it writes nothing (as interventions.Intervention has it); with "mean" it
writes its mean over ordinary text (reference_mean.py), except at sinks, where nothing is read from it. A negative loss
is a head that works against the answer.

The gradient is that of a mask m on every head, mean + m (own - mean), averaged over POINTS places of the way on which
all masks go from 0 to 1 together: integrated gradients (Sundararajan et al. 2017, arXiv 1703.01365), which add up to
the difference of log p(answer) between the two ends. It says which heads are worth a run.

Symbols: L n_layers, T tokens, R rows of a pass, V vocabulary, d d_model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ..checkpoint import LanguageModel
from ..forward_pass import Pass
from ..interventions import Intervention, intervened
from ..pieces import Work, in_pieces, rows_of_a_piece
from .last_token import TextRead
from .nodes import Swap, swapped
from .reference_mean import reference_mean

Ablation = Literal["mean", "zero"]
Head = tuple[int, int]  # layer, number
BUDGET = 8192  # rows × tokens that are run for one text
LARGEST = 512  # rows × tokens of one pass
POINTS = 8


@dataclass(frozen=True)
class Ablated:
    """A text and what its heads write when they are ablated.

    `streams` (L + 1, T, d) are before each layer of the run as it is and after the last, with the network `changed`.
    `instead` is by layer what each head writes, at the tokens that `at` (T,) marks.
    """

    lm: LanguageModel
    target: int
    changed: Intervention
    streams: Float[Tensor, "depths T d"]
    instead: dict[int, Float[Tensor, "n_heads width"]]
    at: Bool[Tensor, "T"]


class HeadLosses(NamedTuple):
    """(L, n_heads): nats of log p lost by head, and which of them were run; the others are the gradient's estimates."""

    lost: Float[np.ndarray, "L n_heads"]
    measured: Bool[np.ndarray, "L n_heads"]


def ablated_run(read: TextRead, target: int, how: Ablation, sinks: Sequence[int]) -> Ablated:
    """What is needed to run a text that was read without some of its heads."""
    lm = read.lm
    at = torch.ones(len(read.ids), dtype=torch.bool, device=lm.device)
    if how == "zero":
        nothing = torch.zeros(lm.config.n_heads, 1, device=lm.device)  # of any width
        return Ablated(lm, target, read.changed, read.streams, dict.fromkeys(range(lm.config.n_layers), nothing), at)
    at[list(sinks)] = False
    return Ablated(lm, target, read.changed, read.streams, reference_mean(lm), at)


def switched_off(changed: Intervention, n_heads: int) -> set[Head]:
    """The heads that write nothing in a run so changed."""
    return {*changed.heads, *((layer, head) for layer in changed.attention for head in range(n_heads))}


@in_pieces
def head_losses(run: Ablated, budget: int = BUDGET, so_far: HeadLosses | None = None) -> Work[HeadLosses]:
    """Every head's loss: all measured where rows × tokens are within `budget`, else as many as are, the largest first
    in size by the gradient, which stands for the others. A head that the run has off loses nothing. What is measured
    `so_far` is not measured again."""
    found = so_far or (yield from losses_before.pieces(run, budget))
    while found.measured.sum() < how_many(run, budget):
        found = yield from further_losses.pieces(run, found, budget)
    return found


def how_many(run: Ablated, budget: int = BUDGET) -> int:
    """How many heads are measured."""
    config = run.lm.config
    on = config.n_layers * config.n_heads - len(switched_off(run.changed, config.n_heads))
    return min(on, budget // run.streams.shape[1])


@in_pieces
def losses_before(run: Ablated, budget: int = BUDGET) -> Work[HeadLosses]:
    """What stands for the heads before any is measured: 0 where all will be, else the gradient's estimates."""
    layers, heads = run.lm.config.n_layers, run.lm.config.n_heads
    off = switched_off(run.changed, heads)
    lost = np.zeros((layers, heads))
    if how_many(run, budget) < lost.size - len(off):
        lost = yield from integrated_gradients.pieces(run)
        for head in off:
            lost[head] = 0
    return HeadLosses(lost, np.zeros((layers, heads), dtype=bool))


@in_pieces
def further_losses(run: Ablated, so_far: HeadLosses, budget: int = BUDGET) -> Work[HeadLosses]:
    """The same with one pass of heads more: those of the largest estimates, and without any the lowest layers."""
    off = switched_off(run.changed, run.lm.config.n_heads)
    left: list[Head] = [(int(at), int(head)) for at, head in np.argwhere(~so_far.measured)]
    best = sorted((head for head in left if head not in off), key=lambda head: -abs(so_far.lost[head]))
    count = min(how_many(run, budget) - int(so_far.measured.sum()), heads_of_a_pass(run.streams.shape[1]))
    some, lost, measured = best[:count], so_far.lost.copy(), so_far.measured.copy()
    (whole, *without) = yield from log_p_without.pieces(run, [(), *((head,) for head in some)])
    for head, log_p in zip(some, without, strict=True):
        lost[head], measured[head] = whole - log_p, True
    return HeadLosses(lost, measured)


def heads_of_a_pass(tokens: int) -> int:
    """How many heads of a text of so many tokens are measured in one pass."""
    return max(1, LARGEST // tokens)


@in_pieces
def log_p_without(run: Ablated, sets: Sequence[Sequence[Head]]) -> Work[list[float]]:
    """log p(target) with the heads of each set ablated, in the order of `sets`. A row joins at its first layer."""
    first = [min((layer for layer, _ in heads), default=run.lm.config.n_layers - 1) for heads in sets]
    order = sorted(range(len(sets)), key=first.__getitem__)
    tokens = run.streams.shape[1]
    rows = max(1, LARGEST // tokens)
    left = [0.0] * len(sets)
    for start in range(0, len(order), rows):
        some = order[start : start + rows]
        logs = yield from _pass(run, [sets[i] for i in some], [first[i] for i in some])
        for i, log_p in zip(some, logs, strict=True):
            left[i] = log_p
        yield
    return left


def _pass(run: Ablated, sets: Sequence[Sequence[Head]], first: Sequence[int]) -> Work[list[float]]:
    net, tokens = run.lm.net, run.streams.shape[1]
    layers_of_a_piece = max(1, rows_of_a_piece(run.lm, tokens) * net.config.n_layers // len(sets))
    x = run.streams[:0]
    for layer in range(first[0], net.config.n_layers):
        x = torch.cat([x, run.streams[layer].expand(first.count(layer), -1, -1)])
        off = [(row, head) for row, heads in enumerate(sets[: len(x)]) for at, head in heads if at == layer]
        with torch.inference_mode(), intervened(net, run.changed), swapped(net, _ablating(run, layer, off)):
            x = net.block(layer)(x, Pass(net.positions(0, tokens)))
        if layer % layers_of_a_piece == 0:
            yield
    with torch.inference_mode(), intervened(net, run.changed):
        logs = net.unembed(net.apply_final_norm(x[:, -1:]))[:, 0].float().log_softmax(-1)
    return logs[:, run.target].tolist()


def _ablating(run: Ablated, layer: int, off: Sequence[tuple[int, int]]) -> dict[str, Swap]:
    """These heads of these rows write what they write when ablated."""

    def change(mixed: Float[Tensor, "R T n_heads width"]) -> Float[Tensor, "R T n_heads width"]:
        changed = mixed.clone()
        for row, head in off:
            changed[row, run.at, head] = run.instead[layer][head]
        return changed

    return {f"layers.{layer}.attn.mixed": change} if off else {}


@in_pieces
def integrated_gradients(run: Ablated, points: int = POINTS) -> Work[Float[np.ndarray, "L n_heads"]]:
    """(L, n_heads): what each head adds to log p(target) on the way from all heads ablated to none; see above."""
    total = np.zeros((run.lm.config.n_layers, run.lm.config.n_heads))
    for point in range(points):
        total += yield from _gradient(run, (point + 0.5) / points)
    return total / points


def _gradient(run: Ablated, share: float) -> Work[Float[np.ndarray, "L n_heads"]]:
    """How log p(target) follows each head's mask where all masks are `share`. One layer at a time is held for it."""
    net, n_layers = run.lm.net, run.lm.config.n_layers
    masks = [
        torch.full((run.lm.config.n_heads,), share, device=run.lm.device, requires_grad=True) for _ in range(n_layers)
    ]
    streams = [run.streams[:1].clone()]
    with torch.inference_mode(False), torch.no_grad():
        for layer in range(n_layers):
            streams.append(_masked_layer(run, layer, streams[-1], masks[layer]))
    yield
    with torch.inference_mode(False), torch.enable_grad(), intervened(net, run.changed):
        x = streams.pop().requires_grad_()
        net.unembed(net.apply_final_norm(x[:, -1:]))[0, 0].float().log_softmax(-1)[run.target].backward()
        slope = x.grad
    with torch.inference_mode(False), torch.enable_grad():
        for layer in reversed(range(n_layers)):
            x = streams.pop().requires_grad_()
            _masked_layer(run, layer, x, masks[layer]).backward(slope)
            slope = x.grad
    yield
    return np.array([(torch.zeros_like(mask) if mask.grad is None else mask.grad).tolist() for mask in masks])


def _masked_layer(
    run: Ablated, layer: int, x: Float[Tensor, "1 T d"], mask: Float[Tensor, "n_heads"]
) -> Float[Tensor, "1 T d"]:
    """The stream after a layer whose heads write mean + m (own - mean)."""
    instead = run.instead[layer].clone()  # made in inference mode, it could not be kept for a gradient

    def blend(mixed: Float[Tensor, "1 T n_heads width"]) -> Float[Tensor, "1 T n_heads width"]:
        return torch.where(run.at[:, None, None], instead + mask[:, None].to(mixed) * (mixed - instead), mixed)

    with intervened(run.lm.net, run.changed), swapped(run.lm.net, {f"layers.{layer}.attn.mixed": blend}):
        return run.lm.net.block(layer)(x, Pass(run.lm.net.positions(0, x.shape[1])))
