"""A mixture of experts in place of one feed-forward: a router sends each token to a few of many SwiGLUs.

Mixtral takes the two best of eight (arXiv 2401.04088); DeepSeek many small experts, in groups, and one that every token
passes (DeepSeekMoE, arXiv 2401.06066; V2, arXiv 2405.04434; V3, arXiv 2412.19437). No token is dropped.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, cast

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from .feedforward import FeedForward, SwiGLU
from .module import Module
from .stacked import StackedLinear
from .taps import Tap

# Weight in the loss of what keeps experts in balance: router_aux_loss_coef of Mixtral-8x7B's config.json.
BALANCE_LOSS = 0.02


@dataclass(frozen=True)
class Routing:
    """How a router chooses `top_k` experts from its scores, and what weights they get.

    `scoring` makes scores of the router's logits. With `groups`, only the experts of the `kept_groups` best groups can
    be chosen; a group counts as the sum of its `group_best` highest scores. `normalised`: the chosen experts' weights
    are divided by their sum; `scaling` multiplies them. `balanced`: a learned number for each expert is added to its
    score for the choice alone, not for its weight.
    """

    top_k: int
    scoring: Literal["softmax", "sigmoid"] = "softmax"
    normalised: bool = True
    scaling: float = 1.0
    groups: int = 1
    kept_groups: int = 1
    group_best: int = 1
    balanced: bool = False


class Expert(Module):
    """One SwiGLU among many, without taps of its own: what it computes for its tokens passes those of Experts."""

    def __init__(self, d_model: int, ffn_hidden: int):
        super().__init__()
        self.gate_up_proj = StackedLinear(d_model, ffn_hidden, ffn_hidden)
        self.down_proj = nn.Linear(ffn_hidden, d_model, bias=False)


class Experts(FeedForward):
    """Router and experts; with `shared_hidden`, one more SwiGLU of that width which every token passes.

    Taps: `router_scores` (B, T, E) after softmax or sigmoid; `experts` (B, T, k), the chosen ones' numbers, best first;
    `expert_weight` (B, T, k); `gate`, `up` and `active` of the chosen experts, (B, T, k, f); those of `shared`.
    """

    dimensions: ClassVar[dict[str, tuple[str, ...]]] = {"gate": ("T", "k", "f"), "up": ("T", "k", "f")}

    def __init__(self, d_model: int, ffn_hidden: int, n_experts: int, routing: Routing, shared_hidden: int = 0):
        super().__init__()
        self.routing, self.width = routing, ffn_hidden
        self.router = nn.Linear(d_model, n_experts, bias=False)
        # No gradient moves it: only the choice reads it. See model/train/balance.py.
        self.balance = nn.Parameter(torch.zeros(n_experts), requires_grad=False) if routing.balanced else None
        self.expert = nn.ModuleList(Expert(d_model, ffn_hidden) for _ in range(n_experts))
        self.shared = SwiGLU(d_model, shared_hidden) if shared_hidden else None
        self.router_scores, self.experts, self.expert_weight = Tap(), Tap(), Tap()
        self.gate, self.up, self.active = Tap(), Tap(), Tap()

    def forward(self, x: Float[Tensor, "B T d"]) -> Float[Tensor, "B T d"]:
        logits = self.router(x).float()
        scores = logits.softmax(-1) if self.routing.scoring == "softmax" else logits.sigmoid()
        scores = self.router_scores(scores)
        chosen = self.experts(self.choose(scores))
        weight = self.expert_weight(self.weights(scores, chosen)).to(x.dtype)
        if self.training:
            out = self.run_all(x, torch.zeros_like(scores).to(x.dtype).scatter(-1, chosen, weight))
        else:
            out = self.run_chosen(x, chosen, weight)
        return out if self.shared is None else out + self.shared(x)

    def run_chosen(
        self, x: Float[Tensor, "B T d"], chosen: Int[Tensor, "B T k"], weight: Float[Tensor, "B T k"]
    ) -> Float[Tensor, "B T d"]:
        """Each expert computes for the tokens that went to it."""
        tokens, shape = x.flatten(0, 1), (*chosen.shape, self.width)
        order, back, experts, counts = _by_expert(chosen.flatten())
        own = tokens[order // self.routing.top_k].split_with_sizes(counts)
        both = [self.get_expert(e).gate_up_proj(rows) for e, rows in zip(experts, own, strict=True)]
        gate, up = (torch.cat(parts).to(x.dtype)[back].view(shape) for parts in zip(*both, strict=True))
        inner = self.active(self.activate(self.gate(gate), self.up(up))).view(-1, self.width)
        own = inner[order].split_with_sizes(counts)
        out = torch.cat([self.get_expert(e).down_proj(rows) for e, rows in zip(experts, own, strict=True)])
        return (out[back].view(*chosen.shape, -1) * weight[..., None]).sum(-2)

    def run_all(self, x: Float[Tensor, "B T d"], weight: Float[Tensor, "B T E"]) -> Float[Tensor, "B T d"]:
        """The same sum, but every expert computes for every token; the weight of those not chosen is 0.

        Three large products in place of many small ones: the small networks trained here learn fastest with it.
        """
        experts = [self.get_expert(e) for e in range(len(self.expert))]
        both = F.linear(x, torch.cat([one.gate_up_proj.weight for one in experts]))
        gate, up = torch.unflatten(both, -1, (len(experts), 2, self.width)).unbind(-2)
        inner = (self.activate(gate, up) * weight[..., None]).flatten(-2)
        return F.linear(inner, torch.cat([one.down_proj.weight for one in experts], -1))

    def choose(self, scores: Float[Tensor, "B T E"]) -> Int[Tensor, "B T k"]:
        """The chosen experts' numbers, best first."""
        return best_experts(scores, self.routing, self.balance)

    def weights(self, scores: Float[Tensor, "B T E"], chosen: Int[Tensor, "B T k"]) -> Float[Tensor, "B T k"]:
        """What the chosen experts' outputs are multiplied by."""
        own = scores.gather(-1, chosen)
        if self.routing.normalised:
            own = own / own.sum(-1, keepdim=True)
        return own * self.routing.scaling

    def get_expert(self, number: int) -> Expert:
        """An expert by its number."""
        return cast(Expert, self.expert[number])

    @property
    def neurons(self) -> int:
        """How many neurons there are: those of all experts in turn, then the shared one's."""
        return len(self.expert) * self.width + (0 if self.shared is None else self.shared.neurons)

    @property
    def out_bias(self) -> Tensor | None:
        return None

    def output_columns(self, neurons: list[int]) -> Iterator[tuple[nn.Module, list[int]]]:
        columns: dict[int, list[int]] = defaultdict(list)
        for neuron in neurons:
            number = min(neuron // self.width, len(self.expert))
            columns[number].append(neuron - number * self.width)
        for number, own in columns.items():
            ffn = self.shared if number == len(self.expert) and self.shared is not None else self.get_expert(number)
            yield ffn.down_proj, own

    def neuron_activity(self, here: Mapping[str, Tensor]) -> tuple[Float[Tensor, "T *n"], Float[Tensor, "T *n"]]:
        """As a plain feed-forward's, of the chosen experts, weighted by the router, and of the shared one."""
        gate, inner = super().neuron_activity(here)
        found = gate.flatten(-2), (inner * here["expert_weight"].float()[..., None]).flatten(-2)
        if self.shared is None:
            return found
        own = self.shared.neuron_activity({"gate": here["shared_gate"], "up": here["shared_up"]})
        return torch.cat((found[0], own[0]), -1), torch.cat((found[1], own[1]), -1)

    def neuron_contributions(self, here: Mapping[str, Tensor], along: Float[Tensor, "d"]) -> Float[Tensor, "neurons"]:
        """As a plain feed-forward's; a neuron of an expert that the token did not go to adds nothing."""
        found = torch.zeros(self.neurons, dtype=torch.float64)
        inner = self.activate(here["gate"], here["up"]).double() * here["expert_weight"].double()[:, None]
        for chosen, activations in zip(here["experts"].unbind(), inner.unbind(), strict=True):
            number = int(chosen)
            columns = along @ self.get_expert(number).down_proj.weight.double().cpu()
            found[number * self.width : (number + 1) * self.width] = activations * columns
        if self.shared is not None:
            own = {"gate": here["shared_gate"], "up": here["shared_up"]}
            found[len(self.expert) * self.width :] = self.shared.neuron_contributions(own, along)
        return found


def best_experts(
    scores: Float[Tensor, "*batch E"], how: Routing, balance: Float[Tensor, "E"] | None
) -> Int[Tensor, "*batch k"]:
    """The chosen experts' numbers, best first; `balance` is added to the scores for the choice alone."""
    if balance is not None:
        scores = scores + balance
    if how.groups > 1:
        grouped = torch.unflatten(scores, -1, (how.groups, -1))
        best = grouped.topk(how.group_best).values.sum(-1).topk(how.kept_groups).indices
        kept = torch.zeros_like(grouped[..., 0], dtype=torch.bool).scatter(-1, best, True)
        scores = grouped.masked_fill(~kept[..., None], float("-inf")).flatten(-2)
    return scores.topk(how.top_k).indices


def _by_expert(chosen: Int[Tensor, "N"]) -> tuple[Int[Tensor, "N"], Int[Tensor, "N"], list[int], list[int]]:
    """(order, back, experts, counts) of N rows, each for one expert: `order` sorts the rows by expert, `back` undoes
    it; `experts` are those that have rows, and `counts` how many rows each has."""
    order, counts = chosen.argsort(), chosen.bincount().cpu().numpy()
    experts = counts.nonzero()[0]
    return order, order.argsort(), experts.tolist(), counts[experts].tolist()
