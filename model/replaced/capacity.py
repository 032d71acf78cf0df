"""Room for so many tokens in an expert, and which tokens find none.

An expert on hardware that wants fixed shapes has so many slots, `capacity`. Switch, which takes one expert a token, has
tokens / experts · factor of them (Fedus et al. 2021, arXiv 2101.03961, eq. 3); code for top-k multiplies by k and
rounds up (DeepSpeed, sharded_moe.py). Tokens come in their order, all first choices before any second one (GShard,
arXiv 2006.16668, algorithm 1). Who comes too late is dropped: the residual stream alone carries that token on.
"""

import math

import torch.nn.functional as F
from jaxtyping import Bool, Int
from torch import Tensor


def capacity(tokens: int, experts: int, top_k: int, factor: float) -> int:
    """Slots of an expert, ⌈k · tokens / experts · factor⌉. Raises ValueError for a factor that is not above 0."""
    if not factor > 0:
        raise ValueError(f"factor is {factor}; expected a number above 0.")
    return math.ceil(top_k * tokens / experts * factor)


def fitting(chosen: Int[Tensor, "T k"], experts: int, slots: int) -> Bool[Tensor, "T k"]:
    """Whether each token finds a slot in each expert that it chose, best choice first."""
    queue = F.one_hot(chosen.T.flatten(), experts)
    place = (queue.cumsum(0) * queue).sum(-1)  # 1 for the first who comes
    return (place <= slots).view(chosen.shape[1], -1).T
