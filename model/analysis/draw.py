"""The draw of one token, opened up: what chance gave each candidate, and why the winner won.

torch.multinomial throws an exponentially distributed number E for every token and takes the largest p / E, so that
each token wins with its probability p. With the same seed the throws can be made again and shown.
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from ..sampling import Sampling, choose, filtered_logits


class Draw(NamedTuple):
    """A drawn token and its probability after the filters (1 where there was no choice).

    `probabilities` and `throws` (V,) are float64: after temperature, top-k and top-p, and the E of every token, of
    which only those that the filters keep matter. `throws` is None at temperature 0, and where this version of
    PyTorch draws in another way.
    """

    token: int
    probability: float
    probabilities: np.ndarray
    throws: np.ndarray | None


def draw(logits: Float[Tensor, "V"], how: Sampling, seed: int, draws: int = 0) -> Draw:
    """What `generate` draws from these logits with this seed, after `draws` tokens that it drew with it before."""
    how.check()
    token, probability = choose(logits, how, _thrown(seed, draws, len(logits)))
    if how.temperature == 0:
        certain = np.zeros(len(logits))
        certain[token] = 1.0
        return Draw(token, probability, certain, None)
    probabilities = filtered_logits(logits, how).softmax(-1).cpu()
    throws = torch.empty_like(probabilities).exponential_(generator=_thrown(seed, draws, len(logits)))
    same = int((probabilities / throws).argmax()) == token
    return Draw(token, probability, probabilities.numpy(), throws.numpy() if same else None)


def _thrown(seed: int, draws: int, vocab_size: int) -> torch.Generator:
    """The generator of a seed after it has thrown for so many tokens: each draw throws once for all the vocabulary."""
    random = torch.Generator().manual_seed(seed)
    spent = torch.empty(vocab_size, dtype=torch.float64)
    for _ in range(draws):
        spent.exponential_(generator=random)
    return random
