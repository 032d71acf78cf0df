"""Multi-head latent attention (MLA): one small vector for each token, from which every head's K and V are rebuilt."""

from dataclasses import dataclass


@dataclass(frozen=True)
class MlaSpec:
    """The widths of MLA (DeepSeek-V2 report, arXiv 2405.04434, section 2.1).

    The report calls kv_lora_rank d_c, qk_rope_head_dim d_h^R, and both qk_nope_head_dim and v_head_dim d_h. It calls
    q_lora_rank d_c'; None: queries are not compressed.
    """

    kv_lora_rank: int
    qk_rope_head_dim: int
    qk_nope_head_dim: int
    v_head_dim: int
    q_lora_rank: int | None = None
