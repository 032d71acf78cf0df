"""SwiGLU, the feed-forward of every LLaMA (Shazeer 2020, arXiv 2002.05202, eq. 6)."""

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from .module import Module
from .stacked import StackedLinear
from .taps import Tap


class SwiGLU(Module):
    """down( SiLU(gate(x)) ⊙ up(x) ), with `ffn_hidden` neurons and no biases.

    Taps: `gate` before SiLU, `up`; both (B, T, f).
    """

    def __init__(self, d_model: int, ffn_hidden: int):
        super().__init__()
        self.gate_up_proj = StackedLinear(d_model, ffn_hidden, ffn_hidden)  # W_gate, W_up
        self.down_proj = nn.Linear(ffn_hidden, d_model, bias=False)
        self.gate, self.up = Tap(), Tap()

    def forward(self, x: Float[Tensor, "B T d"]) -> Float[Tensor, "B T d"]:
        gate, up = self.gate_up_proj(x)
        return self.down_proj(F.silu(self.gate(gate)) * self.up(up))
