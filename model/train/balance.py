"""What keeps a network's experts in use while it learns: else a few that are better at first get all of the tokens.

Where a router has a number for each expert that is added for the choice alone (DeepSeek-V3, arXiv 2412.19437, section
2.1.2), that number goes up while the expert gets fewer tokens than the mean and down while it gets more; nothing is
added to the loss. Any other router gets the loss of the Switch Transformer (Fedus et al. 2021, arXiv 2101.03961, eq.
4 to 6), as Mixtral does.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from ..moe import BALANCE_LOSS, Experts
from ..taps import capture

LOSS = BALANCE_LOSS
SPEED = 1e-3  # of the bias, a step (DeepSeek-V3, section 4.2)

Seen = dict[str, Tensor]  # by name: of each layer's router its scores and the experts chosen


@contextmanager
def watched(net: nn.Module) -> Iterator[Seen]:
    """What the routers of this network do while the context is open; nothing where there is none."""
    if not _experts(net):
        yield {}
        return
    with capture(net, "*.router_scores", "*.experts", record=lambda value: value) as seen:
        yield seen


def loss(net: nn.Module, seen: Mapping[str, Tensor]) -> Float[Tensor, ""]:
    """What is added to the mean loss of a token: 0 where no router is kept in balance so."""
    parts = []
    for name, experts in _experts(net).items():
        if experts.balance is None:
            scores = seen[f"{name}.router_scores"].flatten(0, 1)
            share = _counts(seen, name, scores.shape[-1]) / len(scores)
            parts.append(scores.shape[-1] * (share * scores.mean(0)).sum())
    return LOSS * torch.stack(parts).mean() if parts else torch.zeros(())


@torch.no_grad()
def correct(net: nn.Module, runs: Sequence[Mapping[str, Tensor]]) -> None:
    """Move the numbers that are added for the choice, after what the routers did in the runs of one batch."""
    for name, experts in _experts(net).items():
        if experts.balance is not None:
            counts = torch.stack([_counts(seen, name, len(experts.balance)) for seen in runs]).sum(0)
            experts.balance.add_(SPEED * (counts.mean() - counts).sign())


@torch.inference_mode()
def loads(net: nn.Module, texts: Iterable[list[int]]) -> list[Float[Tensor, "experts"]]:
    """Of every layer with experts, the share of these texts' tokens that each expert got; a token goes to several."""
    counts = {name: torch.zeros(len(experts.expert)) for name, experts in _experts(net).items()}
    for ids in texts if counts else ():
        with watched(net) as seen:
            net(torch.tensor([ids]))
        for name, count in counts.items():
            count += _counts(seen, name, len(count))
    return [count / count.sum() for count in counts.values()]


def _experts(net: nn.Module) -> dict[str, Experts]:
    return {name: module for name, module in net.named_modules() if isinstance(module, Experts)}


def _counts(seen: Mapping[str, Tensor], name: str, n_experts: int) -> Float[Tensor, "experts"]:
    """How many tokens went to each expert."""
    return F.one_hot(seen[f"{name}.experts"].flatten(), n_experts).sum(0).float()
