"""Mixture of experts."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class MoeSpec:
    """A token goes to `top_k` of `n_experts` routed experts, and to all `shared_experts`, each `expert_ffn` wide.

    Which layers have experts: `expert_layers` names them. Where it is None, the first `first_dense_layers` layers have
    an ordinary feed-forward block, `dense_ffn` wide; of the others every `moe_every`-th has experts (layers
    moe_every - 1, 2 moe_every - 1, …).

    `router_bias`: one more weight for each routed expert, added to its score; in DeepSeek-V3 for the choice alone.
    `shared_gate`: d_model weights that scale the shared experts (Qwen 2 MoE). `n_group` and `topk_group` are those of
    DeepSeek's device-limited routing. `shared_ffn`: the width of a shared expert, where it is another.
    `expert_width`: what routed experts read in place of d_model, projected before and after (Nemotron 3 Super).
    """

    n_experts: int
    top_k: int
    shared_experts: int
    expert_ffn: int
    first_dense_layers: int = 0
    dense_ffn: int | None = None
    router: str = ""
    router_bias: bool = False
    n_group: int | None = None
    topk_group: int | None = None
    routed_scaling: float | None = None
    moe_every: int = 1
    shared_gate: bool = False
    expert_layers: tuple[int, ...] | None = None
    shared_ffn: int | None = None
    expert_width: int | None = None

    def routed_layers(self, layers: Iterable[int]) -> tuple[int, ...]:
        """Those of `layers` (indices from 0) that route their tokens to experts."""
        if self.expert_layers is not None:
            routed = frozenset(self.expert_layers)
            return tuple(layer for layer in layers if layer in routed)
        first, every = self.first_dense_layers, self.moe_every
        return tuple(layer for layer in layers if layer >= first and (layer + 1) % every == 0)
