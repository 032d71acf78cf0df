"""A LLaMA, whole: embed the tokens, pass them through the blocks, normalise, and score every entry of the vocabulary.

Read this first. Each part is one file: norms.py, positions.py, attention.py, feedforward.py; the KV cache is cache.py.

Shapes: B batch, T tokens, d d_model, V vocabulary.
"""

from collections.abc import Callable

from jaxtyping import Float, Int
from torch import Tensor, nn

from .attention import Attention, Heads
from .cache import KVCache
from .config import NetworkConfig
from .feedforward import FeedForward, SwiGLU
from .forward_pass import Pass
from .masks import Start
from .network import Layer, Network
from .norms import Norm, RMSNorm
from .positions import PositionEncoding, rope
from .taps import Tap


class Block(Layer):
    """One layer: attention and feed-forward, each on a normalised copy of the residual stream, each added back to it.

    Taps, all (B, T, d): `resid_in`, `attn_normed`, `attn_out`, `resid_mid`, `ffn_normed`, `ffn_out`, `resid_out`.
    """

    def __init__(self, norm: Callable[[], Norm], attn: Heads, ffn: FeedForward):
        super().__init__()
        self.attn_norm = norm()
        self.attn = attn
        self.ffn_norm = norm()
        self.ffn = ffn
        self.resid_in, self.resid_mid, self.resid_out = Tap(), Tap(), Tap()
        self.attn_normed, self.ffn_normed = Tap(), Tap()
        self.attn_out, self.ffn_out = Tap(), Tap()

    def forward(self, x: Float[Tensor, "B T d"], at: Pass) -> Float[Tensor, "B T d"]:
        x = self.resid_in(x)
        normed = self.attn_normed(self.attn_norm(x))
        x = self.resid_mid(x + self.attn_out(self.attn(normed, at)))
        normed = self.ffn_normed(self.ffn_norm(x))
        return self.resid_out(x + self.ffn_out(self.ffn(normed)))


class Llama(Network):
    """The network. `net(ids)` gives the logits of every position; nothing in it remembers the last call."""

    def __init__(self, config: NetworkConfig):
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocab_size, config.d_model)
        self.layers = nn.ModuleList(self.make_block(i) for i in range(config.n_layers))
        self.norm = self.make_norm()
        self.head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        if config.tied_embeddings:
            self.head.weight = self.embed.weight
        self.final_resid, self.final_normed = Tap(), Tap()

    def forward(
        self,
        ids: Int[Tensor, "B T"],
        cache: KVCache | None = None,
        start: Start = 0,
        eager: bool = False,
        last_only: bool = False,
    ) -> Float[Tensor, "B scored V"]:
        """Logits of T tokens, the first of them at position `start`: after the `start` tokens that the cache holds.

        With Starts every sequence has a place of its own (model/batch.py).
        Scores all T tokens, or with `last_only` the last one. `eager` writes attention out, as Pass says.
        """
        positions = self.positions(start, ids.shape[1])
        x = self.embed_tokens(ids, start)
        for layer, block in enumerate(self.layers):
            x = block(x, Pass(positions, layer, cache, start, eager))
        x = self.final_resid(x)
        return self.head(self.final_normed(self.norm(x[:, -1:] if last_only else x)))

    def make_norm(self) -> Norm:
        """A norm of the stream, with weights that are still to be read."""
        return RMSNorm(self.config.d_model, self.config.norm_eps)

    def make_block(self, _layer: int) -> Layer:
        """One layer's block, with weights that are still to be read."""
        config = self.config
        return Block(self.make_norm, Attention(config), SwiGLU(config.d_model, config.ffn_hidden))

    def positions(self, start: Start, count: int) -> PositionEncoding:
        """RoPE's cos and sin for `count` tokens from `start` on, in the dtype and on the device of the weights."""
        return rope(self.config, start, count, self.embed.weight)


# Our name of each tensor -> Hugging Face's; several names are matrices one below the other in ours. {i} is the layer.
TENSORS: dict[str, tuple[str, ...]] = {
    "embed.weight": ("model.embed_tokens.weight",),
    "layers.{i}.attn_norm.weight": ("model.layers.{i}.input_layernorm.weight",),
    "layers.{i}.attn.qkv_proj.weight": (
        "model.layers.{i}.self_attn.q_proj.weight",
        "model.layers.{i}.self_attn.k_proj.weight",
        "model.layers.{i}.self_attn.v_proj.weight",
    ),
    "layers.{i}.attn.o_proj.weight": ("model.layers.{i}.self_attn.o_proj.weight",),
    "layers.{i}.ffn_norm.weight": ("model.layers.{i}.post_attention_layernorm.weight",),
    "layers.{i}.ffn.gate_up_proj.weight": (
        "model.layers.{i}.mlp.gate_proj.weight",
        "model.layers.{i}.mlp.up_proj.weight",
    ),
    "layers.{i}.ffn.down_proj.weight": ("model.layers.{i}.mlp.down_proj.weight",),
    "norm.weight": ("model.norm.weight",),
    "head.weight": ("lm_head.weight",),
}
