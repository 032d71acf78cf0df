"""The arrays that a layer's trace has, and their dimensions: read off the layer's taps, norms and parts."""

from collections.abc import Callable

from torch import Tensor

from .network import Layer, Network
from .norms import LayerNorm, Norm
from .taps import taps_of

# Every array of a LLaMA's LayerTrace and its dimensions: T tokens, d d_model, f ffn_hidden.
SHAPES: dict[str, tuple[str, ...]] = {
    "resid_in": ("T", "d"),
    "attn_norm_rms": ("T",),
    "attn_normed": ("T", "d"),
    "q": ("n_heads", "T", "head_dim"),
    "k": ("n_kv_heads", "T", "head_dim"),
    "v": ("n_kv_heads", "T", "head_dim"),
    "q_rot": ("n_heads", "T", "head_dim"),
    "k_rot": ("n_kv_heads", "T", "head_dim"),
    "scores": ("n_heads", "T", "T"),
    "attention": ("n_heads", "T", "T"),
    "attn_out": ("T", "d"),
    "resid_mid": ("T", "d"),
    "ffn_norm_rms": ("T",),
    "ffn_normed": ("T", "d"),
    "gate": ("T", "f"),
    "up": ("T", "f"),
    "ffn_out": ("T", "d"),
    "resid_out": ("T", "d"),
}
# Arrays of other families, besides these or in place of some: k experts for each token, S tokens of a source text.
EXTRA_SHAPES: dict[str, tuple[str, ...]] = {
    "attn_norm_mean": ("T",),
    "ffn_norm_mean": ("T",),
    "position_bias": ("n_heads", "T", "T"),
    "resid_cross": ("T", "d"),
    "cross_norm_rms": ("T",),
    "cross_normed": ("T", "d"),
    "cross_q": ("n_heads", "T", "head_dim"),
    "cross_k": ("n_heads", "S", "head_dim"),
    "cross_v": ("n_heads", "S", "head_dim"),
    "cross_scores": ("n_heads", "T", "S"),
    "cross_attention": ("n_heads", "T", "S"),
    "cross_out": ("T", "d"),
    "kv_latent": ("T", "kv_lora_rank"),
    "k_rope": ("T", "qk_rope_head_dim"),
    "router_scores": ("T", "n_experts"),
    "experts": ("T", "k"),
    "expert_weight": ("T", "k"),
    "shared_gate": ("T", "shared_f"),
    "shared_up": ("T", "shared_f"),
}


def shapes(net: Network, layer: int) -> dict[str, tuple[str, ...]]:
    """Every array that a LayerTrace of this layer has, and its dimensions as in SHAPES and EXTRA_SHAPES."""
    block = net.block(layer)
    every = SHAPES | EXTRA_SHAPES | block.attn.dimensions | block.ffn.dimensions
    figured = [f"{name}_{what}" for name in block.norms for what in figures(getattr(block, name))]
    return {name: every[name] for name in (*array_taps(block), *figured)}


def array_taps(block: Layer) -> dict[str, str]:
    """The arrays that pass a tap of this block: by name, the path of the tap."""
    taps: dict[str, str] = {}
    for path in taps_of(block):
        first, _, rest = path.partition(".")
        name = (rest if first in ("attn", "ffn") else path).replace(".", "_")
        if name in SHAPES | EXTRA_SHAPES:
            taps[name] = path
    return taps


def figures(norm: Norm) -> dict[str, Callable[[Tensor], Tensor]]:
    """A norm's own numbers for a vector that it reads: `rms`, what it divides by; `mean`, what it subtracts."""
    return {"rms": norm.divisor} | ({"mean": norm.mean} if isinstance(norm, LayerNorm) else {})
