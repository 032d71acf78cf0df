"""What each node of a circuit reads and writes, in the first of a pair's runs (nodes.py).

A head reads the token that most comes from: the largest α·|v|, its weight there times the size of the value vector
(Kobayashi et al. 2020, arXiv 2004.10102). The weight alone names sinks, whose values are small.

What a node writes at the last token goes straight into the logits: its write through the final norm, what that divides
by held, along an answer's row of the head (direct logit attribution; Elhage et al. 2021). What it writes elsewhere, or
in an encoder, reaches the answer through other nodes alone.

Symbols: d d_model, T tokens of a stack's text, S tokens that a head looks at.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from ..pieces import Work, in_pieces
from ..tiled import weight_rows
from ..trace import Trace, run_trace
from .nodes import AnyNode, Pair, Site, site_of
from .switching import stacks


class Role(NamedTuple):
    """A head reads token `reads` most, with weight `weight`; None of a feed-forward. `reads` of a head that looks at a
    source, or is an encoder's, is one of the source's.

    `to_answer` and `to_other` are what the node adds to the logits of the two answers; None where it writes to no
    logit.
    """

    reads: int | None
    weight: float | None
    to_answer: float | None
    to_other: float | None


@in_pieces
def node_roles(pair: Pair, nodes: Sequence[AnyNode]) -> Work[list[Role]]:
    """The role of each of these nodes, in their order. A layer that holds one is a piece of the work."""
    after = None if pair.written is None else pair.written[0, 1:].tolist() or None
    trace = run_trace(pair.lm, pair.ids[0].tolist(), target=after)
    yield
    read: dict[AnyNode, tuple[int, float]] = {}
    for run in stacks(trace):
        name = None if trace.source is None else "decoder" if run is trace else "encoder"
        heads = [node for node in nodes if node.stack == name and node.kind != "ffn"]
        for layer in sorted({node.layer for node in heads}):
            read |= {node: _most_from(run, node) for node in heads if node.layer == layer}
            yield
    with torch.inference_mode():
        direct = _direct(pair, nodes, float(trace.final_norm_rms[-1]))
    nothing = (None, None)
    return [Role(*read.get(node, nothing), *direct.get(node, nothing)) for node in nodes]


def _most_from(run: Trace, node: AnyNode) -> tuple[int, float]:
    """The token from which most comes to a head, and its weight there."""
    arrays, before = run.layer(node.layer).arrays, "cross_" if node.kind == "cross" else ""
    weights, values = (torch.from_numpy(arrays[f"{before}{name}"]) for name in ("attention", "v"))
    head = node.head or 0
    row: Float[Tensor, "S"] = weights[head, node.token]
    sizes: Float[Tensor, "S"] = values[head * len(values) // len(weights)].norm(dim=-1)
    key = int((row * sizes[: len(row)]).argmax())
    return key, float(row[key])


def written(pair: Pair, site: Site, values: Float[Tensor, "T n_heads width"]) -> Float[Tensor, "T n_heads d"]:
    """What the nodes of a site write to the stream where these are their values."""
    if site.kind == "ffn":
        return values
    net = next(stack.net for stack in pair.lm.net.stacks if stack.name == site.stack)
    block = net.block(site.layer)
    attn = getattr(block, block.attentions[site.kind])
    return torch.einsum("dhw,thw->thd", attn.o_proj.weight.unflatten(1, (attn.n_heads, -1)), values)


def _direct(pair: Pair, nodes: Sequence[AnyNode], divisor: float) -> dict[AnyNode, tuple[float, float]]:
    """What each node at the last token of what writes adds to the logits of the two answers."""
    net, last = pair.lm.net, pair.texts[-1].shape[1] - 1
    rows = weight_rows(net.head, [pair.answer, pair.other]).double() * net.head_scale
    directions = net.norm.fold_into(rows)[0] / divisor
    here = [node for node in nodes if node.stack != "encoder" and node.token == last]
    added: dict[AnyNode, Tensor] = {}
    for site in dict.fromkeys(map(site_of, here)):
        write = written(pair, site, pair.values[site][-1:]).double()[0]
        added |= {node: directions @ write[node.head or 0] for node in here if site_of(node) == site}
    return {node: (float(both[0]), float(both[1])) for node, both in added.items()}
