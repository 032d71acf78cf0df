"""RMSNorm with ε outside the root: x / (RMS(x) + ε), as the PyTorch code of its authors has it (bzhangGo/rmsnorm).

The paper's formula has no ε (arXiv 1910.07467, eq. 4). LLaMA, and the same authors' TensorFlow code, put it inside the
root (model/norms.py). The two part where RMS(x) is not much larger than √ε.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def rms_norm_outside(x: Float[Tensor, "*batch d"], eps: float) -> Float[Tensor, "*batch d"]:
    """x / (√mean(x²) + eps) in float32, γ left out."""
    wide = x.float()
    return wide / (torch.sqrt(wide.square().mean(-1, keepdim=True)) + eps)
