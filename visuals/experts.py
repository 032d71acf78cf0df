"""What the panel on experts asks of a run: where the router of one layer sent each token, and what came of it.

Symbols: T tokens, E experts, k how many a token goes to.
"""

from typing import NamedTuple, cast

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from model import LanguageModel, LayerTrace
from model.moe import Experts

from .messages.ffn import RoutingDetail
from .payload import maybe, pack


class RoutingInfo(NamedTuple):
    """A layer's routing. `scores` of all experts after softmax or sigmoid; `chosen`, best first; `weight`, what the
    chosen ones' outputs are multiplied by; `balance`, what is added to the scores for the choice alone, where it is.

    `length` is that of what each chosen expert writes to the stream, weight included, `shared` that of the shared
    expert's, where there is one, and `whole` of all of them together.
    """

    scores: Float[np.ndarray, "T E"]
    chosen: Int[np.ndarray, "T k"]
    weight: Float[np.ndarray, "T k"]
    balance: Float[np.ndarray, "E"] | None
    length: Float[np.ndarray, "T k"]
    shared: Float[np.ndarray, "T"] | None
    whole: Float[np.ndarray, "T"]


def routing_info(lm: LanguageModel, layer: LayerTrace, index: int) -> RoutingInfo:
    """Of a recorded layer that has experts: layer `index` of the network."""
    ffn = cast(Experts, lm.net.block(index).ffn)
    inner = ffn.activate(torch.from_numpy(layer.gate), torch.from_numpy(layer.up))
    length = np.empty(layer.expert_weight.shape, np.float32)
    for expert in np.unique(layer.experts).tolist():
        row, slot = np.nonzero(layer.experts == expert)
        written = inner[row, slot] @ _matrix(ffn.get_expert(expert).down_proj.weight).T
        length[row, slot] = written.norm(dim=-1).numpy() * np.abs(layer.expert_weight[row, slot])
    shared = None
    if ffn.shared is not None:
        own = ffn.shared.activate(torch.from_numpy(layer.shared_gate), torch.from_numpy(layer.shared_up))
        shared = (own @ _matrix(ffn.shared.down_proj.weight).T).norm(dim=-1).numpy()
    balance = None if ffn.balance is None else _matrix(ffn.balance).numpy()
    whole = np.linalg.norm(layer.ffn_out, axis=-1)
    return RoutingInfo(layer.router_scores, layer.experts, layer.expert_weight, balance, length, shared, whole)


def _matrix(weight: Tensor) -> Tensor:
    return weight.detach().float().cpu()


def routing_payload(found: RoutingInfo) -> RoutingDetail:
    """The routing as arrays; null where there is none."""
    return {
        "scores": pack(found.scores, "f4"),
        "chosen": pack(found.chosen, "u2"),
        "weight": pack(found.weight, "f4"),
        "balance": maybe(found.balance, "f4"),
        "length": pack(found.length, "f4"),
        "shared": maybe(found.shared, "f4"),
        "whole": pack(found.whole, "f4"),
    }
