"""Linear maps. A map of one vector, which is most of decoding, goes to NumPy's product on a CPU in float32.

Decoding reads every weight once a token, so that a product takes as long as its matrix takes to come from memory.
NumPy's library (OpenBLAS) reads a matrix that lies column by column with all cores, and PyTorch's with one:
docs/decisions/weights-by-column.md. The two add up in another order, so that results may differ in the last bit.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class Linear(nn.Linear):
    """x Wᵀ + b, as torch.nn.Linear."""

    def forward(self, input: Float[Tensor, "*batch d_in"]) -> Float[Tensor, "*batch d_out"]:
        return linear(input, self.weight, self.bias)


def linear(
    x: Float[Tensor, "*batch d_in"], weight: Float[Tensor, "d_out d_in"], bias: Float[Tensor, "d_out"] | None = None
) -> Float[Tensor, "*batch d_out"]:
    """x Wᵀ + b, as torch.nn.functional.linear."""
    if x.numel() == x.shape[-1] and _in_numpy(x) and _in_numpy(weight):
        product = torch.from_numpy(x.numpy() @ weight.numpy().T)
        return product if bias is None else product + bias
    return F.linear(x, weight, bias)


def _in_numpy(values: Tensor) -> bool:
    """Whether NumPy can read these numbers where they lie, and nobody asks for their gradient."""
    return values.dtype == torch.float32 and values.device.type == "cpu" and not values.requires_grad
