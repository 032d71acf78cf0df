"""How earlier mixtures of experts route a token, on a router's own logits.

Switch takes the best expert and multiplies its output by its probability (Fedus et al. 2021, arXiv 2101.03961, section
2.1). GShard takes the two best, with weights that sum to 1 (Lepikhin et al. 2020, arXiv 2006.16668, algorithm 1); in
training it draws the second by lot, which is left out here.
"""

from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor


def probabilities(scores: Float[Tensor, "T E"], scoring: Literal["softmax", "sigmoid"]) -> Float[Tensor, "T E"]:
    """Softmax of the router's logits, of which `scores` are the softmax or the sigmoid."""
    return scores if scoring == "softmax" else torch.logit(scores.double()).softmax(-1).to(scores.dtype)


def switch(p: Float[Tensor, "T E"]) -> tuple[Int[Tensor, "T 1"], Float[Tensor, "T 1"]]:
    """The best expert and its probability."""
    weight, chosen = p.topk(1)
    return chosen, weight


def gshard(p: Float[Tensor, "T E"]) -> tuple[Int[Tensor, "T 2"], Float[Tensor, "T 2"]]:
    """The two best experts, and their probabilities divided by their sum."""
    weight, chosen = p.topk(2)
    return chosen, weight / weight.sum(-1, keepdim=True)
