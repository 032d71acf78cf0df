"""Heads and neurons switched off, and what the answer would miss of them to first order.

A head that looks at a source text is of kind "cross". A neuron of an expert, numbered expert by expert with the shared
one's last, writes at the tokens that go to its expert. What an encoder's parts do reaches the answer through all that
the decoder reads of the source.
Symbols: T tokens, R rows of a pass, f ffn_hidden, k how many experts a token goes to, V vocabulary.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from ..forward_pass import Pass
from ..interventions import intervened
from ..moe import Experts
from ..network import Network
from ..pieces import Work, in_pieces
from ..trace import Trace
from .nodes import Swap, swapped

ACTIVE, SHARED = "layers.{}.ffn.active", "layers.{}.ffn.shared.active"
CHOSEN = "layers.{}.ffn.experts"
LARGEST = 2048  # rows × tokens of one pass, so that a long run takes no more memory than a short one
Kind = Literal["head", "cross", "neuron"]


class Part(NamedTuple):
    """A head of either kind, or a neuron of a feed-forward, at all tokens; of the `encoder`, or of what writes."""

    kind: Kind
    layer: int
    number: int
    encoder: bool = False


class Pull(NamedTuple):
    """What a tap gives, (T, …), and the gradient of the answer's log-odds there."""

    value: Tensor
    slope: Tensor


def stacks(trace: Trace) -> list[Trace]:
    """The stacks of a run in the order in which they ran: its encoder's where there is one, and its own."""
    return [trace] if trace.source is None else [trace.source, trace]


@in_pieces
def without(trace: Trace, sets: Sequence[Sequence[Part]], target: int, position: int) -> Work[list[float]]:
    """log p of `target` after `position` with the parts of each set off, in the order of `sets`; none may be empty.

    One pass has a row for each of several sets, which joins it at the first layer it changes: all before is the run's.
    A set with parts of the encoder joins the encoder's pass, and then the decoder's from its first layer on. A layer is
    a piece of the work.
    """
    reads = [any(part.encoder for part in parts) for parts in sets]
    begins = [_begin(parts, encoder=read) for parts, read in zip(sets, reads, strict=True)]
    left = [0.0] * len(sets)
    for of_source in sorted(set(reads)):
        rows = max(1, LARGEST // max(len(one.token_ids) for one in (stacks(trace) if of_source else [trace])))
        order = sorted((i for i, read in enumerate(reads) if read == of_source), key=begins.__getitem__)
        for start in range(0, len(order), rows):
            some = order[start : start + rows]
            logs = yield from _pass(trace, [sets[i] for i in some], position, of_source)
            for i, log_p in zip(some, logs[:, target].tolist(), strict=True):
                left[i] = log_p
    return left


@in_pieces
def pulls_of(runs: Sequence[Trace], target: int, position: int, held: bool = False) -> Work[list[dict[str, Pull]]]:
    """What heads and neurons write and how the log-odds of `target` follow it, by tap, in each of a run's stacks.

    `runs` are `stacks(trace)`, or of these the last alone: then the encoder's are left out. With `held` attention
    weights are held, so that only what is carried counts, and not where it makes a later head look; the weights, of
    slope 0, and the heads' values are then told too.

    Each layer runs once more on its recorded input, the last one first, and takes the gradient back by the chain rule:
    so a layer is a piece of the work, and no more than one is held for it.
    """
    found: list[dict[str, Pull]] = [{} for _ in runs]
    memory = _memory(runs[0]) if len(runs) > 1 else None
    slope = _slope_of_odds(runs[-1], target, position)
    yield
    for run, pulls in zip(reversed(runs), reversed(found), strict=True):
        for i in reversed(range(run.n_layers)):
            part, slope = _layer_back(run, i, slope, held, None if run is not runs[-1] else memory)
            pulls |= part
            yield
        if memory is not None and run is runs[-1]:  # what the decoder remembers follows what the encoder writes
            slope = _slope_of_memory(runs[0], memory)
    return found


def _stream_before(run: Trace, layer: int) -> Float[Tensor, "1 T d"]:
    """The recorded stream before a layer (L: after the last), as the start of a gradient."""
    recorded = torch.from_numpy(run.residual[layer]).to(run.lm.device, run.lm.dtype)
    return recorded[None].clone().requires_grad_()


def _slope_of_odds(run: Trace, target: int, position: int) -> Float[Tensor, "1 T d"]:
    """How the log-odds of `target` after `position` follow the stream after the last layer."""
    net = run.lm.net
    with torch.inference_mode(False), torch.enable_grad(), intervened(net, run.intervention):
        x = _stream_before(run, run.n_layers)
        stream = net.final_resid(x)[0, position]
        log_p = net.unembed(net.final_normed(net.norm(stream))).float().log_softmax(-1)
        is_other = torch.arange(len(log_p), device=log_p.device) != target
        (log_p[target] - log_p[is_other].logsumexp(-1)).backward()
    return _grad(x)


def _memory(source: Trace) -> Float[Tensor, "1 S d"]:
    """What a decoder remembers of the source, as the start of a gradient."""
    net = source.lm.net
    with torch.inference_mode(False), torch.no_grad(), intervened(net, source.intervention):
        return net.apply_final_norm(_stream_before(source, source.n_layers)).detach().requires_grad_()


def _slope_of_memory(source: Trace, memory: Float[Tensor, "1 S d"]) -> Float[Tensor, "1 S d"]:
    """How the log-odds follow the encoder's stream after its last layer, the gradient of the memory being known."""
    net = source.lm.net
    with torch.inference_mode(False), torch.enable_grad(), intervened(net, source.intervention):
        x = _stream_before(source, source.n_layers)
        net.apply_final_norm(x).backward(_grad(memory))
    return _grad(x)


def _layer_back(
    run: Trace, layer: int, slope: Float[Tensor, "1 T d"], held: bool, memory: Float[Tensor, "1 S d"] | None
) -> tuple[dict[str, Pull], Float[Tensor, "1 T d"]]:
    """What a layer's heads and neurons write and the gradient there, and the gradient before the layer, from `slope`,
    that after it. A `memory` gathers its own."""
    net, seen = run.lm.net, {}
    with (
        torch.inference_mode(False),
        torch.enable_grad(),
        intervened(net, run.intervention),
        swapped(net, _nudges(net, layer, seen, held)),
    ):
        if memory is not None:
            assert net.source_ids is not None
            net = net.with_memory(net.source_ids, memory)
        x = _stream_before(run, layer)
        after = net.block(layer)(x, Pass(net.positions(0, len(run.token_ids)), eager=held))
        after.backward(slope)
    return {name: _pull(*pair) for name, pair in seen.items()}, _grad(x)


def _grad(x: Tensor) -> Tensor:
    """The gradient; nothing where nothing follows."""
    return torch.zeros_like(x) if x.grad is None else x.grad


def _nudges(net: Network, layer: int, seen: dict[str, tuple[Tensor, Tensor]], held: bool) -> dict[str, Swap]:
    """A zero added to what every head and neuron of a layer writes, kept in `seen` with what it is added to."""

    def nudging(name: str) -> Swap:
        def add(value: Tensor) -> Tensor:
            seen[name] = value.detach(), torch.zeros_like(value, requires_grad=True)
            return value + seen[name][1]

        return add

    def holding(name: str) -> Swap:
        def hold(value: Tensor) -> Tensor:
            seen[name] = value.detach(), torch.zeros(())
            return value.detach()

        return hold

    nudges = {name: nudging(name) for name in (*head_taps(net, layer).values(), *_neuron_taps(net, layer))}
    if held:
        reads = held_taps(net, layer)
        nudges |= {name: holding(name) for name, _ in reads.values()}
        nudges |= {name: nudging(name) for _, name in reads.values()}
    return nudges


def _pull(value: Tensor, nudge: Tensor) -> Pull:
    slope = torch.zeros_like(value) if nudge.grad is None else nudge.grad
    return Pull(value[0].float(), slope[0].float())


def neuron_pushes(trace: Trace, pulls: dict[str, Pull], layer: int) -> Float[Tensor, "neurons"]:
    """Σ over the tokens of v·g of every neuron of a layer, in the order of their numbers."""
    ffn = trace.lm.net.block(layer).ffn
    pushes = [(pulls[name].value * pulls[name].slope) for name in _neuron_taps(trace.lm.net, layer)]
    if not isinstance(ffn, Experts):
        return pushes[0].sum(0)
    chosen = torch.from_numpy(trace.layer(layer).experts).flatten().to(pushes[0].device)
    routed = pushes[0].new_zeros(len(ffn.expert), ffn.width).index_add(0, chosen, pushes[0].flatten(0, 1)).flatten()
    return torch.cat([routed, *(part.sum(0) for part in pushes[1:])])


def _begin(parts: Sequence[Part], encoder: bool) -> int:
    """The first layer of a stack that is changed: in a decoder that reads what has changed already, its first."""
    return min(part.layer if part.encoder == encoder else 0 for part in parts)


def _pass(trace: Trace, sets: Sequence[Sequence[Part]], position: int, of_source: bool) -> Work[Float[Tensor, "R V"]]:
    """Log-probabilities at `position`, a row for each set, in the order of the first layers changed; `of_source`: each
    changes the encoder."""
    net = trace.lm.net
    if of_source:
        assert trace.source is not None
        reader = trace.source.lm.net
        stream = yield from _stream(trace.source, reader, sets, encoder=True)
        with torch.inference_mode(), intervened(net, trace.intervention):
            memory = reader.apply_final_norm(stream)
            net = net.with_memory(torch.tensor([trace.source.token_ids] * len(sets), device=memory.device), memory)
    stream = yield from _stream(trace, net, sets)
    with torch.inference_mode(), intervened(net, trace.intervention):
        x = net.final_resid(stream)
        return net.unembed(net.final_normed(net.norm(x[:, position]))).float().log_softmax(-1)


def _stream(
    trace: Trace, net: Network, sets: Sequence[Sequence[Part]], encoder: bool = False
) -> Work[Float[Tensor, "R T d"]]:
    """The stream after a stack's last layer, a row for each set."""
    lm = trace.lm
    begins = [_begin(parts, encoder) for parts in sets]
    x = torch.empty(0, len(trace.token_ids), lm.config.d_model, device=lm.device, dtype=lm.dtype)
    for i in range(begins[0], trace.n_layers):
        own = torch.from_numpy(trace.residual[i]).to(lm.device, lm.dtype)
        x = torch.cat([x, own.expand(begins.count(i), -1, -1)])
        off: dict[Kind, list[tuple[int, int]]] = defaultdict(list)
        for row, parts in enumerate(sets[: len(x)]):
            for part in parts:
                if (part.layer, part.encoder) == (i, encoder):
                    off[part.kind].append((row, part.number))
        silent = {name: _silent(off[kind]) for kind, name in head_taps(net, i).items()}
        with (
            torch.inference_mode(),
            intervened(net, trace.intervention),
            swapped(net, silent | _silent_neurons(net, i, off["neuron"])),
        ):
            x = net.block(i)(x, Pass(net.positions(0, len(trace.token_ids))))
        yield
    return x


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
    return {kind: f"layers.{layer}.{tap}" for kind, tap in net.block(layer).writes.items() if kind != "ffn"}


def held_taps(net: Network, layer: int) -> dict[Kind, tuple[str, str]]:
    """The taps of a layer's attention weights and of the values that they weigh, by the kind of its heads."""
    mixed = head_taps(net, layer).items()
    return {kind: (name.replace(".mixed", ".attention"), name.replace(".mixed", ".v")) for kind, name in mixed}


def _neuron_taps(net: Network, layer: int) -> list[str]:
    """The taps that a layer's neurons pass: first those that are chosen where there are experts, then the shared."""
    ffn = net.block(layer).ffn
    shared = isinstance(ffn, Experts) and ffn.shared is not None
    return [ACTIVE.format(layer), *([SHARED.format(layer)] if shared else [])]
