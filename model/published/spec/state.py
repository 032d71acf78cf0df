"""What state-space and linear-attention layers keep of a sequence, however long it is."""

from dataclasses import dataclass


@dataclass(frozen=True)
class StateSpec:
    """The last inputs of a convolution, `conv_channels` × `conv_past`, and a state, `heads` × `rows` × `columns`.

    `conv_past` is the convolution's kernel less 1. What the state's axes are:

    - Mamba-2: heads × head_dim × d_state.
    - Gated DeltaNet: value heads × key width × value width.
    - Mamba-1, which has no heads: channels × 1 × d_state.

    Either part may be missing: 0 channels (MiniMax-01), 0 heads (LFM2). `fp32`: the model's own code keeps the state in
    fp32, in whatever format it computes. `vllm_fp32`: so does vLLM where its --mamba-ssm-cache-dtype is "auto", the
    default, which else means the format that the model computes in (vllm-project/vllm #22928, #34489, #39032).
    """

    conv_channels: int
    conv_past: int
    heads: int
    rows: int
    columns: int
    fp32: bool = False
    vllm_fp32: bool = False
