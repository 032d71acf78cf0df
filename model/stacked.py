"""Several linear maps of one input, done as one product: W_Q, W_K and W_V, or the gate and up of SwiGLU."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class StackedLinear(nn.Module):
    """Maps x to `rows[0]`, `rows[1]`, … numbers, with biases or without; the matrices are stacked in `weight`.

    Decoding reads every weight once a token, and one large product of a vector and a matrix costs less than several
    small ones. Checkpoints keep the matrices apart: checkpoint.py joins and parts them.
    """

    def __init__(self, d_in: int, *rows: int, bias: bool = False):
        super().__init__()
        self.rows = rows
        self.weight = nn.Parameter(torch.empty(sum(rows), d_in))
        nn.init.kaiming_uniform_(self.weight, a=5**0.5)  # as nn.Linear begins
        self.bias = nn.Parameter(torch.zeros(sum(rows))) if bias else None

    def forward(self, x: Float[Tensor, "*batch d_in"]) -> tuple[Float[Tensor, "*batch _"], ...]:
        return F.linear(x, self.weight, self.bias).split_with_sizes(self.rows, -1)
