"""What moves the weights: Muon for the matrices inside the blocks, AdamW for tables, norms and biases.

Muon (Jordan et al. 2024; Liu et al. 2025, arXiv 2502.16982) makes each step of a matrix orthogonal, so that all of its
directions move alike. What it learns of this corpus beside AdamW: docs/decisions/training-by-answers.md.
"""

import copy
from collections.abc import Iterable
from typing import Any

import torch
from torch import nn

# How many times the learning rate moves the numbers that a network adds to its scores by distance (T5). Each is a part
# of a score by itself, and comes to several units before a head looks at a place for its distance; the numbers of a
# vector reach as much together.
SCORE_STEP = 10.0


def tables(net: nn.Module) -> set[int]:
    """The ids of the matrices that map no vector to another: a row is a token's, or a distance's (T5's biases)."""
    embeddings = [module for module in net.modules() if isinstance(module, nn.Embedding)]
    return {id(net.get_parameter("head.weight")), *(id(one.weight) for one in embeddings)}


def optimisers(net: nn.Module, weight_decay: float, parts: int = 1) -> list[torch.optim.Optimizer]:
    """AdamW, then `parts` of Muon with the matrices dealt round-robin, so that they can step at once.

    Norms and biases do not decay, nor what is added to scores, which moves SCORE_STEP times as far. What no gradient
    moves (`requires_grad` False) is in none.
    """
    matrices, tokens, vectors, added = [], [], [], []
    rows = tables(net)
    for name, weight in net.named_parameters():
        if weight.requires_grad:
            by_distance = name.endswith("relative.weight")
            kind = added if by_distance else vectors if weight.dim() < 2 else tokens if id(weight) in rows else matrices
            kind.append(weight)
    free = {"weight_decay": 0.0}
    groups = [{"params": tokens, "weight_decay": weight_decay}, {"params": vectors} | free]
    adamw = torch.optim.AdamW(
        groups + ([{"params": added, "times": SCORE_STEP} | free] if added else []),
        betas=(0.9, 0.95),
        fused=True,
    )
    shares = [matrices[part::parts] for part in range(parts)]
    # RMS of a step as AdamW's, so that one learning rate serves both (arXiv 2502.16982, section 2.2)
    muons = [
        torch.optim.Muon(share, weight_decay=weight_decay, adjust_lr_fn="match_rms_adamw") for share in shares if share
    ]
    return [adamw, *muons]


def set_lr(given: Iterable[torch.optim.Optimizer], lr: float) -> None:
    for optimiser in given:
        for group in optimiser.param_groups:
            group["lr"] = lr * group.get("times", 1.0)


class Average:
    """An exponential moving average of a network's weights, `net`, itself a network: each step keeps `decay` of it.

    The first steps keep less, as what they begin with is random.
    """

    def __init__(self, net: Any, decay: float):
        self.net = copy.deepcopy(net).requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def update(self, net: nn.Module, step: int) -> None:
        """Take in the weights after `step` steps."""
        kept = min(self.decay, step / (step + 10))
        for own, weight in zip(self.net.parameters(), net.parameters(), strict=True):
            own.lerp_(weight, 1 - kept)
