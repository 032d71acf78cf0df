"""Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1): keys and values rebuilt from one latent.

Each token keeps a latent c of `kv_lora_rank` numbers and one small key k_rope for all heads, which alone is rotated.
Head h's key is [W_UK[h]·c, k_rope] and its value W_UV[h]·c.

*Expanded*, keys and values of all tokens are rebuilt and attention is the ordinary one. *Absorbed*, W_UK goes to the
query's side, since q·(W_UK·c) = (W_UKᵀ·q)·c, and W_UV behind the sum: heads then attend to the latents themselves, as
in multi-query attention. Both give the same; expanded costs less over many new tokens, absorbed over one.
"""

from typing import ClassVar, Literal, Protocol

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from .attention import Heads
from .forward_pass import Pass
from .masks import causal_mask, hidden
from .norms import RMSNorm
from .positions import PositionEncoding
from .stacked import StackedLinear
from .taps import Tap

NORM_EPS = 1e-6  # of the norms on the latents, whatever the config says of the others (transformers' modeling_deepseek)


class LatentShape(Protocol):
    """What LatentAttention asks of a config. `q_lora_rank` is None where queries have no latent of their own."""

    @property
    def d_model(self) -> int: ...
    @property
    def n_heads(self) -> int: ...
    @property
    def q_lora_rank(self) -> int | None: ...
    @property
    def kv_lora_rank(self) -> int: ...
    @property
    def qk_nope_head_dim(self) -> int: ...
    @property
    def qk_rope_head_dim(self) -> int: ...
    @property
    def v_head_dim(self) -> int: ...
    @property
    def score_scale(self) -> float: ...


class LatentAttention(Heads):
    """Causal MLA. Taps, beside those of Heads: `q`, `q_rot` (B, n_heads, T, head_dim), of whose channels the last
    qk_rope_head_dim are rotated; `kv_latent` (B, T, kv_lora_rank), normalised, and `k_rope` (B, T, qk_rope_head_dim),
    rotated: what the cache holds; and in the expanded form the rebuilt `k_rot` (B, n_heads, T, head_dim) and `v`
    (B, n_heads, T, v_head_dim) of all tokens so far.

    `absorbed` chooses the form; None takes the absorbed one for a single new token.
    """

    dimensions: ClassVar[dict[str, tuple[str, ...]]] = {
        "k_rot": ("n_heads", "T", "head_dim"),
        "v": ("n_heads", "T", "v_head_dim"),
    }

    def __init__(self, config: LatentShape):
        nope, rope = config.qk_nope_head_dim, config.qk_rope_head_dim
        super().__init__(config.n_heads, config.n_heads, nope + rope, config.score_scale)
        d, rank, q_rank = config.d_model, config.kv_lora_rank, config.q_lora_rank
        self.nope, self.rank, self.v_dim = nope, rank, config.v_head_dim
        self.absorbed: bool | None = None
        self.q_down = None if q_rank is None else nn.Linear(d, q_rank, bias=False)
        self.q_norm = None if q_rank is None else RMSNorm(q_rank, NORM_EPS)
        self.q_up = nn.Linear(d if q_rank is None else q_rank, config.n_heads * (nope + rope), bias=False)
        self.kv_down = StackedLinear(d, rank, rope)  # the latent, and the shared key
        self.kv_norm = RMSNorm(rank, NORM_EPS)
        self.kv_up = nn.Linear(rank, config.n_heads * (nope + config.v_head_dim), bias=False)  # W_UK, W_UV by head
        self.o_proj = nn.Linear(config.n_heads * config.v_head_dim, d, bias=False)
        self.q, self.q_rot, self.kv_latent, self.k_rope = Tap(), Tap(), Tap(), Tap()
        self.k_rot, self.v = Tap(), Tap()

    def forward(self, x: Float[Tensor, "B T d"], at: Pass) -> Float[Tensor, "B T d"]:
        """Attend from these T tokens to themselves, and to the tokens before them whose latents the cache holds."""
        q = x if self.q_down is None or self.q_norm is None else self.q_norm(self.q_down(x))
        q = self.q(self.heads(self.q_up(q), self.n_heads))
        q = self.q_rot(torch.cat((q[..., : self.nope], at.positions.rotate(q[..., self.nope :])), -1))
        latent, k_rope = self.kv_down(x)
        latent, k_rope = self.kv_latent(self.kv_norm(latent)), self.k_rope(at.positions.rotate(k_rope[:, None])[:, 0])
        if at.cache is not None:
            kept = at.cache.write(at.layer, at.start, latent[:, None], k_rope[:, None])
            latent, k_rope = (part[:, 0] for part in kept)
        absorbed = q.shape[2] == 1 and not at.eager if self.absorbed is None else self.absorbed
        if absorbed:
            mixed = self._absorbed(q, latent, k_rope, at.positions.mask)
            return self.o_proj(self.mixed(mixed.transpose(1, 2)).flatten(2))
        k, v = self.expanded(latent, k_rope)
        k, v = self.k_rot(k), self.v(v)
        return self.o_proj(self.mix(q, k, v, at.positions.bias, at.positions.mask, at.eager).flatten(2))

    def _fused(
        self, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, mask: Tensor | None
    ) -> Float[Tensor, "B n_heads T v_dim"]:
        # the fused kernel for the CPU asks for values as wide as queries and keys
        wide = F.pad(v, (0, max(0, self.qk_dim - self.v_dim)))
        return super()._fused(q, k, wide, bias, mask)[..., : self.v_dim]

    def expanded(
        self, latent: Float[Tensor, "B S rank"], k_rope: Float[Tensor, "B S rope"]
    ) -> tuple[Float[Tensor, "B n_heads S head_dim"], Float[Tensor, "B n_heads S v_dim"]]:
        """Every head's keys and values, rebuilt from the latents."""
        both = self.heads(self.kv_up(latent), self.n_heads)
        k, v = both.split_with_sizes((self.nope, self.v_dim), -1)
        return torch.cat((k, k_rope[:, None].expand(-1, self.n_heads, -1, -1)), -1), v

    def _absorbed(
        self, q: Tensor, latent: Tensor, k_rope: Tensor, mask: Tensor | None
    ) -> Float[Tensor, "B n_heads T v_dim"]:
        """Heads on the latents themselves: no key and no value of any head is ever made."""
        w_uk, w_uv = self.up_by_head()
        q = torch.cat((q[..., : self.nope] @ w_uk, q[..., self.nope :]), -1)
        keys = torch.cat((latent, k_rope), -1)
        rows = q.shape[1:3]  # all heads look at the same keys: their queries stand as rows of one product
        scores = torch.unflatten(q.flatten(1, 2) @ keys.transpose(1, 2), 1, rows)
        scores = self.scores(scores * self.score_scale).float()
        if mask is None and rows[1] > 1:  # one new token sees every key
            mask = causal_mask(rows[1], keys.shape[1], q.device)
        scores = scores if mask is None else hidden(scores, mask)
        weights = self.attention(scores.softmax(-1)).to(latent.dtype)
        return torch.unflatten(weights.flatten(1, 2) @ latent, 1, rows) @ w_uv.transpose(1, 2)

    def up_by_head(self) -> tuple[Float[Tensor, "n_heads nope rank"], Float[Tensor, "n_heads v_dim rank"]]:
        """W_UK and W_UV of every head."""
        by_head = torch.unflatten(self.kv_up.weight, 0, (self.n_heads, -1))
        w_uk, w_uv = by_head.split_with_sizes((self.nope, self.v_dim), 1)
        return w_uk, w_uv

    def vectors(
        self,
        kind: Literal["q", "k"],
        normed: Float[Tensor, "parts d"],
        head: int,
        positions: PositionEncoding,
        position: int,
    ) -> Float[Tensor, "parts qk_dim"]:
        if kind == "q":
            if self.q_down is not None and self.q_norm is not None:
                normed = normed @ self.q_down.weight.to(normed).T
                normed = self.q_norm.normalise_parts(normed, self.q_norm.divisor(normed.sum(0)))
            both = normed @ torch.unflatten(self.q_up.weight, 0, (self.n_heads, -1))[head].to(normed).T
            plain, turned = both[:, : self.nope], both[:, self.nope :]
        else:
            latent, turned = (normed @ self.kv_down.weight.to(normed).T).split_with_sizes(self.kv_down.rows, -1)
            latent = self.kv_norm.normalise_parts(latent, self.kv_norm.divisor(latent.sum(0)))
            plain = latent @ self.up_by_head()[0][head].to(normed).T
        return torch.cat((plain, positions.at(position).rotate(turned[None, :, None])[0, :, 0]), -1)
