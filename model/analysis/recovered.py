"""How far a circuit carries an answer: the run in which its nodes alone keep their values (nodes.py).

Symbols: C circuits measured at once, S tokens that run, d d_model.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from ..network import Network
from ..pieces import Work, in_pieces
from .nodes import NodeMask, Pair, Swap, others_swapped, rows_of_a_pass, share_of, swapped, tokens_of_a_row


@in_pieces
def recovered(pair: Pair, kept: NodeMask) -> Work[list[float]]:
    """The share of the logit difference that each circuit brings about: (Δ - Δ') / (Δ₁ - Δ').

    Δ is the logit of the answer less that of the other one with the circuit's nodes computed from the first prompt and
    all other nodes set to the other run's values; Δ₁ and Δ' are those of the two runs.
    """
    weights = _tokens_that_run(pair, kept)
    found: list[float] = []
    while len(found) < len(weights):
        rows = _as_many_as_fit(weights[len(found) :], rows_of_a_pass(pair) * tokens_of_a_row(pair))
        part = {site: mask[len(found) : len(found) + rows] for site, mask in kept.items()}
        with torch.inference_mode(), kept_alone(pair, part):
            found += share_of(pair, pair.lead(rows)).tolist()
        yield
    return found


def _tokens_that_run(pair: Pair, kept: NodeMask) -> list[float]:
    """For each circuit, about how many tokens through the whole network its run is worth (kept_alone)."""
    count = tokens_of_a_row(pair)
    if pair.before is None:
        return [count] * len(next(iter(kept.values())))
    ffn = torch.stack([mask.flatten(1).sum(1) for site, mask in kept.items() if site.kind == "ffn"])
    heads = torch.stack([mask.flatten(1).any(1) for site, mask in kept.items() if site.kind == "head"])
    worth = (ffn.sum(0) + count * heads.sum(0)) / (2 * len(heads))
    return worth.clamp(1, count).tolist()


def _as_many_as_fit(sizes: Sequence[float], most: float) -> int:
    """How many of these add up to no more than `most`; at least one."""
    total, count = 0.0, 0
    for size in sizes:
        total += size
        if count and total > most:
            break
        count += 1
    return count


@contextmanager
def kept_alone(pair: Pair, kept: NodeMask) -> Iterator[None]:
    """While the context is open, every node outside of C circuits has the other run's value, in a pass of C rows.

    In a causal network no more is computed than what is kept: of a feed-forward the tokens at which it is, of attention
    the rows in which a head is. A part of which nothing is kept does not run, so that its weights are not even read.
    """
    swaps, narrow, standing = others_swapped(pair, kept), dict[str, Swap](), dict[str, Tensor]()
    net = pair.lm.net
    for site, mask in kept.items() if pair.before is not None else ():
        block, mask = net.block(site.layer), mask[:, pair.start :]
        theirs = pair.other_values[site][pair.start :]
        if mask.all():
            continue
        tap, name = f"layers.{site.layer}.{block.writes[site.kind]}", block.attentions.get(site.kind, "ffn")
        module = f"layers.{site.layer}.{name}"
        write = theirs[:, 0] if site.kind == "ffn" else getattr(block, name).o_proj(theirs.flatten(1))
        every = write.expand(len(mask), -1, -1)
        if not mask.any():
            del swaps[tap]
            standing[module] = every
        elif site.kind == "ffn":
            places = mask[..., 0].nonzero(as_tuple=True)
            del swaps[tap]
            swaps[module], narrow[module] = _spread(every, places), _at_places(places)
        else:
            rows = mask.flatten(1).any(1).nonzero()[:, 0]
            swaps[tap] = _unless_in(rows, mask[..., None], theirs)
            swaps[module], narrow[module] = _in_rows(rows, every), _of_rows(rows)
    with swapped(net, swaps), fed(net, narrow), stood_in_for(net, standing):
        yield


def _at_places(places: tuple[Tensor, ...]) -> Swap:
    """(C, S, d) to (1, n, d): these tokens alone."""
    return lambda x: x[places][None]


def _spread(theirs: Float[Tensor, "C S d"], places: tuple[Tensor, ...]) -> Swap:
    """Back to all tokens, the others having `theirs`."""

    def spread(found: Float[Tensor, "1 n d"]) -> Float[Tensor, "C S d"]:
        every = theirs.clone()
        every[places] = found[0]
        return every

    return spread


def _of_rows(rows: Int[Tensor, "n"]) -> Swap:
    """These rows alone."""
    return lambda x: x[rows]


def _unless_in(
    rows: Int[Tensor, "n"], kept: Bool[Tensor, "C S n_heads 1"], theirs: Float[Tensor, "S n_heads width"]
) -> Swap:
    """Of these rows, nodes that are not kept have `theirs`."""
    return lambda found: torch.where(kept[rows], found, theirs)


def _in_rows(rows: Int[Tensor, "n"], theirs: Float[Tensor, "C S d"]) -> Swap:
    """Back to all rows, the others having `theirs`."""

    def spread(found: Float[Tensor, "_ S d"]) -> Float[Tensor, "C S d"]:
        every = theirs.clone()
        every[rows] = found
        return every

    return spread


@contextmanager
def fed(net: Network, changes: dict[str, Swap]) -> Iterator[None]:
    """While the context is open, these modules read what `changes` make of their first argument."""
    handles = []
    try:
        for name, change in changes.items():

            def feed(_module: nn.Module, given: tuple[Any, ...], change: Swap = change) -> tuple[Any, ...]:
                return change(given[0]), *given[1:]

            handles.append(net.get_submodule(name).register_forward_pre_hook(feed))
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def stood_in_for(net: Network, values: dict[str, Tensor]) -> Iterator[None]:
    """While the context is open, these modules do not run: they give these values."""
    modules = [net.get_submodule(name) for name in values]
    try:
        for module, value in zip(modules, values.values(), strict=True):
            module.forward = lambda *_, value=value, **__: value
        yield
    finally:
        for module in modules:
            module.__dict__.pop("forward", None)
