"""Heads and neurons switched off, and what the answer would miss of them to first order.

A head that looks at a source text is of kind "cross". A neuron of an expert, numbered expert by expert with the shared
one's last, writes at the tokens that go to its expert.
Symbols: T tokens, R rows of a pass, f ffn_hidden, k how many experts a token goes to, V vocabulary.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from ..interventions import intervened
from ..moe import Experts
from ..network import Network
from ..trace import Trace
from .nodes import HEADS, Swap, swapped

ACTIVE, SHARED = "layers.{}.ffn.active", "layers.{}.ffn.shared.active"
CHOSEN, CROSS = "layers.{}.ffn.experts", "layers.{}.cross.mixed"
LARGEST = 2048  # rows × tokens of one pass, so that a long run takes no more memory than a short one
Kind = Literal["head", "cross", "neuron"]


class Part(NamedTuple):
    """A head of either kind, or a neuron of a feed-forward, at all tokens."""

    kind: Kind
    layer: int
    number: int


class Pull(NamedTuple):
    """What a tap gives, (T, …), and the gradient of the answer's log-odds there."""

    value: Tensor
    slope: Tensor


def without(trace: Trace, sets: Sequence[Sequence[Part]], target: int, position: int) -> list[float]:
    """log p of `target` after `position` with the parts of each set off, in the order of `sets`; none may be empty.

    One pass has a row for each of several sets, which joins it at the first layer it changes: all before is the run's.
    """
    rows = max(1, LARGEST // len(trace.token_ids))
    begins = [min(part.layer for part in parts) for parts in sets]
    order = sorted(range(len(sets)), key=begins.__getitem__)
    left = [0.0] * len(sets)
    for start in range(0, len(order), rows):
        some = order[start : start + rows]
        logs = _pass(trace, [(begins[i], sets[i]) for i in some], position)[:, target].tolist()
        for i, log_p in zip(some, logs, strict=True):
            left[i] = log_p
    return left


def pulls_of(trace: Trace, target: int, position: int, held: bool = False) -> dict[str, Pull]:
    """What heads and neurons write and how the log-odds of `target` follow it, by tap.

    With `held` attention weights are, so that only what is carried counts, and not where it makes a later head look.
    """
    net = trace.lm.net
    seen: dict[str, tuple[Tensor, Tensor]] = {}

    def nudging(name: str) -> Swap:
        def add(value: Tensor) -> Tensor:
            seen[name] = value.detach(), torch.zeros_like(value, requires_grad=True)
            return value + seen[name][1]

        return add

    every = range(trace.n_layers)
    nudges = {name: nudging(name) for i in every for name in (*head_taps(net, i).values(), *_neuron_taps(net, i))}
    if held:
        weights = [name.replace(".mixed", ".attention") for i in every for name in head_taps(net, i).values()]
        nudges |= dict.fromkeys(weights, Tensor.detach)
    with torch.inference_mode(False), torch.enable_grad():
        ids = torch.tensor([trace.token_ids], device=trace.lm.device)
        with intervened(net, trace.intervention), swapped(net, nudges):
            log_p = net(ids, eager=held)[0, position].float().log_softmax(-1)
            is_other = torch.arange(len(log_p), device=log_p.device) != target
            odds = log_p[target] - log_p[is_other].logsumexp(-1)
            if odds.requires_grad:  # not where everything is off
                odds.backward()
    none = {name: torch.zeros_like(value) for name, (value, _) in seen.items()}
    return {
        name: Pull(value[0].float(), (none[name] if nudge.grad is None else nudge.grad)[0].float())
        for name, (value, nudge) in seen.items()
    }


def neuron_pushes(trace: Trace, pulls: dict[str, Pull], layer: int) -> Float[Tensor, "neurons"]:
    """Σ over the tokens of v·g of every neuron of a layer, in the order of their numbers."""
    ffn = trace.lm.net.block(layer).ffn
    pushes = [(pulls[name].value * pulls[name].slope) for name in _neuron_taps(trace.lm.net, layer)]
    if not isinstance(ffn, Experts):
        return pushes[0].sum(0)
    chosen = torch.from_numpy(trace.layer(layer).experts).flatten().to(pushes[0].device)
    routed = pushes[0].new_zeros(len(ffn.expert), ffn.width).index_add(0, chosen, pushes[0].flatten(0, 1)).flatten()
    return torch.cat([routed, *(part.sum(0) for part in pushes[1:])])


def _pass(trace: Trace, rows: Sequence[tuple[int, Sequence[Part]]], position: int) -> Float[Tensor, "R V"]:
    """Log-probabilities at `position`, a row for each (first layer changed, parts), in the order of those layers."""
    lm, net = trace.lm, trace.lm.net
    places = net.places(0, len(trace.token_ids))
    with torch.inference_mode(), intervened(net, trace.intervention):
        x = torch.empty(0, len(trace.token_ids), lm.config.d_model, device=lm.device, dtype=lm.dtype)
        for i in range(rows[0][0], trace.n_layers):
            own = torch.from_numpy(trace.residual[i]).to(lm.device, lm.dtype)
            x = torch.cat([x, own.expand(sum(begin == i for begin, _ in rows), -1, -1)])
            off: dict[Kind, list[tuple[int, int]]] = defaultdict(list)
            for row, (_, parts) in enumerate(rows[: len(x)]):
                for part in parts:
                    if part.layer == i:
                        off[part.kind].append((row, part.number))
            silent = {name: _silent(off[kind]) for kind, name in head_taps(net, i).items()}
            with swapped(net, silent | _silent_neurons(net, i, off["neuron"])):
                x = net.block(i)(x, places)
        x = net.final_resid(x)
        return net.unembed(net.final_normed(net.norm(x[:, position]))).float().log_softmax(-1)


def _silent(places: list[tuple[int, int]]) -> Swap:
    """Nothing is written in these rows by these heads, (R, T, n_heads, head_dim), or neurons, (R, T, f)."""

    def change(value: Tensor) -> Tensor:
        if not places:
            return value
        changed = value.clone()
        rows, indices = (list(column) for column in zip(*places, strict=True))
        changed[rows, :, indices] = 0
        return changed

    return change


def _silent_neurons(net: Network, layer: int, places: list[tuple[int, int]]) -> dict[str, Swap]:
    """Nothing is written in these rows by these neurons of a layer, whichever expert's they are."""
    ffn = net.block(layer).ffn
    if not isinstance(ffn, Experts):
        return {ACTIVE.format(layer): _silent(places)}
    routed = len(ffn.expert) * ffn.width
    chosen: list[Tensor] = []  # of the pass that is under way, (R, T, k)

    def look(experts: Tensor) -> Tensor:
        chosen[:] = [experts]
        return experts

    def change(value: Float[Tensor, "R T k f"]) -> Float[Tensor, "R T k f"]:
        changed = value.clone()
        for row, neuron in places:
            if neuron < routed:
                here = chosen[0][row] == neuron // ffn.width
                changed[row, :, :, neuron % ffn.width] *= ~here
        return changed

    shared = [(row, neuron - routed) for row, neuron in places if neuron >= routed]
    swaps = {CHOSEN.format(layer): look, ACTIVE.format(layer): change}
    return swaps | ({SHARED.format(layer): _silent(shared)} if shared else {})


def head_taps(net: Network, layer: int) -> dict[Kind, str]:
    """The taps of what a layer's heads write, by their kind."""
    kinds: tuple[Kind, ...] = ("head", "cross") if "cross" in net.block(layer).further else ("head",)
    return {kind: (HEADS if kind == "head" else CROSS).format(layer) for kind in kinds}


def _neuron_taps(net: Network, layer: int) -> list[str]:
    """The taps that a layer's neurons pass: first those that are chosen where there are experts, then the shared."""
    ffn = net.block(layer).ffn
    shared = isinstance(ffn, Experts) and ffn.shared is not None
    return [ACTIVE.format(layer), *([SHARED.format(layer)] if shared else [])]
