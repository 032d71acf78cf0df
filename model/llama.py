"""A LLaMA, whole: embed the tokens, pass them through the blocks, normalise, and score every entry of the vocabulary.

Read this first. Each part is one file: norms.py, positions.py, attention.py, feedforward.py; the KV cache is cache.py.

Shapes: B batch, T tokens, d d_model, V vocabulary.
"""

from typing import cast

from jaxtyping import Float, Int
from torch import Tensor, nn

from .attention import Attention
from .cache import KVCache
from .config import LlamaConfig
from .feedforward import SwiGLU
from .module import Module
from .norms import RMSNorm
from .positions import Rotation, rope_frequencies, rotation
from .taps import Tap


class Block(Module):
    """One layer: attention and feed-forward, each on a normalised copy of the residual stream, each added back to it.

    Taps, all (B, T, d): `resid_in`, `attn_normed`, `attn_out`, `resid_mid`, `ffn_normed`, `ffn_out`, `resid_out`.
    """

    def __init__(self, config: LlamaConfig):
        super().__init__()
        self.attn_norm = RMSNorm(config.d_model, config.norm_eps)
        self.attn = Attention(config)
        self.ffn_norm = RMSNorm(config.d_model, config.norm_eps)
        self.ffn = SwiGLU(config.d_model, config.ffn_hidden)
        self.resid_in, self.resid_mid, self.resid_out = Tap(), Tap(), Tap()
        self.attn_normed, self.ffn_normed = Tap(), Tap()
        self.attn_out, self.ffn_out = Tap(), Tap()

    def forward(
        self,
        x: Float[Tensor, "B T d"],
        rope: Rotation,
        layer: int = 0,
        cache: KVCache | None = None,
        position: int = 0,
        eager: bool = False,
    ) -> Float[Tensor, "B T d"]:
        x = self.resid_in(x)
        normed = self.attn_normed(self.attn_norm(x))
        x = self.resid_mid(x + self.attn_out(self.attn(normed, rope, layer, cache, position, eager)))
        normed = self.ffn_normed(self.ffn_norm(x))
        return self.resid_out(x + self.ffn_out(self.ffn(normed)))


class Llama(Module):
    """The network. `net(ids)` gives the logits of every position; nothing in it remembers the last call."""

    def __init__(self, config: LlamaConfig):
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocab_size, config.d_model)
        self.layers = nn.ModuleList(Block(config) for _ in range(config.n_layers))
        self.norm = RMSNorm(config.d_model, config.norm_eps)
        self.head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        if config.tied_embeddings:
            self.head.weight = self.embed.weight
        self.final_resid, self.final_normed = Tap(), Tap()

    def forward(
        self,
        ids: Int[Tensor, "B T"],
        cache: KVCache | None = None,
        position: int = 0,
        eager: bool = False,
        last_only: bool = False,
    ) -> Float[Tensor, "B scored V"]:
        """Logits of T tokens that start at `position`; with a cache, after the `position` tokens that it holds.

        All T tokens are scored, with `last_only` the last one alone. `eager` writes attention out: see Attention.
        """
        rope = self.rotation(position, ids.shape[1])
        x = self.embed(ids)
        for i, block in enumerate(self.layers):
            x = block(x, rope, i, cache, position, eager)
        x = self.final_resid(x)
        return self.head(self.final_normed(self.norm(x[:, -1:] if last_only else x)))

    def block(self, layer: int) -> Block:
        """One layer's block."""
        return cast(Block, self.layers[layer])

    def rotation(self, position: int, count: int) -> Rotation:
        """RoPE's cos and sin for `count` tokens from `position` on, in the dtype and on the device of the weights."""
        weight = self.embed.weight
        return rotation(rope_frequencies(self.config, position + count, weight.device), position, count, weight.dtype)
