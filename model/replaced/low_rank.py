"""The same network with one latent a token in place of its K/V heads: K and V of all heads fitted at low rank.

DeepSeek-V2's MLA (arXiv 2405.04434, section 2.1.2) makes keys and values of all heads from one latent c of d_c numbers.
A trained network comes near that by the best fit of rank d_c to [K; V] of one run, all heads side by side: the first
d_c right singular vectors U of that matrix, by layer. Then c = Uᵀ[k; v], and U·c is what the heads read (Eckart and
Young 1936: no matrix of that rank is nearer). A real MLA is trained so, and keeps the position in a small key beside
the latent; here RoPE turns the rebuilt keys.

Symbols: T tokens, W = 2 · n_kv_heads · head_dim, R the most directions that are held, B ranks that run side by side.
"""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..attention import Attention
from ..checkpoint import LanguageModel
from ..module import apart
from ..network import Layer, Network
from ..pieces import Work, in_pieces
from ..stacked import StackedLinear


class Latents(nn.Module):
    """W_Q, W_K and W_V with a bottleneck: row b of a batch gets [k; v] rebuilt from its first `ranks[b]` directions."""

    def __init__(self, given: StackedLinear, directions: Float[Tensor, "W R"], ranks: Sequence[int]):
        super().__init__()
        self.given, self.directions = given, directions
        self.kept = torch.arange(directions.shape[1]) < torch.tensor(ranks)[:, None]  # (B, R)

    def forward(self, x: Float[Tensor, "B T d"]) -> tuple[Tensor, Tensor, Tensor]:
        q, k, v = self.given(x)
        latent = torch.cat((k, v), -1) @ self.directions * self.kept[:, None].to(x)
        rebuilt = latent @ self.directions.T
        return q, rebuilt[..., : k.shape[-1]], rebuilt[..., k.shape[-1] :]


@in_pieces
def joint_directions(lm: LanguageModel, stream: Float[np.ndarray, "depths T d"]) -> Work[list[Tensor]]:
    """By layer, the right singular vectors (W, R) of [K; V] of a run, most important first; R = min(T, W).

    `stream` is the run's residual. A layer is a piece of the work.
    """
    found = []
    for layer, before in enumerate(stream[:-1]):
        block = lm.net.block(layer)
        attn = block.attn
        assert isinstance(attn, Attention)
        with torch.inference_mode():
            normed = block.attn_norm(torch.from_numpy(before).to(lm.device, lm.dtype))
            _, k, v = attn.qkv_proj(normed)
            found.append(torch.linalg.svd(torch.cat((k, v), -1).double(), full_matrices=False).Vh.T)
        yield
    return found


def with_latents(net: Network, directions: Sequence[Float[Tensor, "W R"]], ranks: Sequence[int]) -> Network:
    """A network that reads a batch of as many rows as there are `ranks`, each with latents of that many numbers.

    It shares the weights of `net`, whose heads are ordinary ones (pooled_heads.can_be_pooled), and leaves it as it is.
    """
    made = apart(net)
    made.layers = nn.ModuleList(_layer(net.block(i), directions[i], ranks) for i in range(net.config.n_layers))
    return made


def _layer(block: Layer, directions: Tensor, ranks: Sequence[int]) -> Layer:
    made = apart(block)
    assert isinstance(block.attn, Attention)
    made.attn = attn = apart(block.attn)
    weight = attn.qkv_proj.weight
    attn.qkv_proj = Latents(attn.qkv_proj, directions.to(weight), ranks)  # pyright: ignore[reportAttributeAccessIssue]
    return made
