"""A layer's tokens routed in other ways, on its own router's logits and through its own experts.

Symbols: T tokens, E experts, k how many a token goes to, d d_model.
"""

from typing import NamedTuple, cast

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from model import LanguageModel, LayerTrace
from model.moe import BALANCE_LOSS, Expert, Experts, best_experts
from model.replaced.routing import gshard, probabilities, switch

from .messages.ffn import RoutingScheme, RoutingSchemesDetail
from .payload import pack


class Scheme(NamedTuple):
    """One way to route: the `chosen` experts, best first, and the weights that multiply their outputs.

    `gram` holds the products of what the chosen experts of a token write, weights included: what a token loses with
    some of them has the length √(Σ gram of these). `length` is that of all that the layer writes then, a shared expert
    with it unless the scheme has `shared` False; `change` how far that is from what the layer writes, relative to it.
    """

    name: str
    chosen: Int[np.ndarray, "T k"]
    weight: Float[np.ndarray, "T k"]
    gram: Float[np.ndarray, "T k k"]
    length: Float[np.ndarray, "T"]
    change: Float[np.ndarray, "T"]
    shared: bool


class SchemesInfo(NamedTuple):
    """The network's own way first; `probabilities` is the softmax of the router's logits."""

    schemes: list[Scheme]
    probabilities: Float[np.ndarray, "T E"]


@torch.inference_mode()
def schemes_info(lm: LanguageModel, layer: LayerTrace, index: int) -> SchemesInfo:
    """Of a recorded layer that has experts: layer `index` of the network. What is off in the run counts as on."""
    ffn = cast(Experts, lm.net.block(index).ffn)
    how = ffn.routing
    x = torch.from_numpy(layer.ffn_normed).to(lm.device, lm.dtype)
    made = torch.stack([_written(ffn.get_expert(number), ffn, x) for number in range(len(ffn.expert))])
    shared = None if ffn.shared is None else ffn.shared(x[None])[0].float().cpu()
    scores = torch.from_numpy(layer.router_scores)
    p = probabilities(scores, how.scoring)
    own = torch.from_numpy(layer.experts).long(), torch.from_numpy(layer.expert_weight)
    ways = {"own": own, "switch": switch(p)}
    if p.shape[-1] > 1:
        ways["gshard"] = gshard(p)
    if ffn.balance is not None:
        chosen = best_experts(scores, how, None)
        ways["no_balance"] = chosen, ffn.weights(scores[None], chosen[None])[0]
    whole = _output(made, *own, shared)
    schemes = [_scheme(name, made, chosen, weight, shared, whole) for name, (chosen, weight) in ways.items()]
    if shared is not None:
        schemes.append(_scheme("no_shared", made, *own, None, whole))
    return SchemesInfo(schemes, p.numpy())


def _written(expert: Expert, ffn: Experts, x: Float[Tensor, "T d"]) -> Float[Tensor, "T d"]:
    """What one expert writes for every token, without a weight."""
    gate, up = expert.gate_up_proj(x)
    return expert.down_proj(ffn.activate(gate, up)).float().cpu()


def _output(
    made: Float[Tensor, "E T d"], chosen: Int[Tensor, "T k"], weight: Float[Tensor, "T k"], shared: Tensor | None
) -> Float[Tensor, "T d"]:
    out = _parts(made, chosen, weight).sum(1)
    return out if shared is None else out + shared


def _parts(
    made: Float[Tensor, "E T d"], chosen: Int[Tensor, "T k"], weight: Float[Tensor, "T k"]
) -> Float[Tensor, "T k d"]:
    return made[chosen, torch.arange(len(chosen))[:, None]] * weight[..., None]


def _scheme(
    name: str,
    made: Float[Tensor, "E T d"],
    chosen: Int[Tensor, "T k"],
    weight: Float[Tensor, "T k"],
    shared: Tensor | None,
    whole: Float[Tensor, "T d"],
) -> Scheme:
    parts, out = _parts(made, chosen, weight), _output(made, chosen, weight, shared)
    gram, change = parts @ parts.mT, (out - whole).norm(dim=-1) / whole.norm(dim=-1)
    numbers = chosen.numpy(), weight.numpy(), gram.numpy(), out.norm(dim=-1).numpy(), change.numpy()
    return Scheme(name, *numbers, shared is not None)


def schemes_payload(found: SchemesInfo) -> RoutingSchemesDetail:
    """The schemes by name, each with its arrays."""

    def of(one: Scheme) -> RoutingScheme:
        return {
            "name": one.name,
            "shared": one.shared,
            "chosen": pack(one.chosen, "u2"),
            "weight": pack(one.weight, "f4"),
            "gram": pack(one.gram, "f4"),
            "length": pack(one.length, "f4"),
            "change": pack(one.change, "f4"),
        }

    probability = pack(found.probabilities, "f4")
    return {"schemes": [of(one) for one in found.schemes], "probabilities": probability, "alpha": BALANCE_LOSS}
