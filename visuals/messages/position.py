"""What the chapter on RoPE is sent."""

from typing_extensions import TypedDict

from .arrays import Packed


class ScaledFrequencies(TypedDict):
    """A model's frequencies under one method: `inv_freq` (pairs,) float32, radians per token, and what cos and sin are
    multiplied by."""

    name: str
    inv_freq: Packed
    attention_scaling: float


class RopeScalingsDetail(TypedDict):
    """The methods in order, the model's own first; `original` is the context that they stretch, in tokens."""

    original: int
    methods: list[ScaledFrequencies]


class HeadNormMessage(TypedDict):
    """Where a head's q and k are normalised (Qwen 3): both before that norm (T, head_dim), its factors (head_dim,), all
    float32, and its ε."""

    q: Packed
    k: Packed
    q_gamma: Packed
    k_gamma: Packed
    eps: float


class AddedMessage(TypedDict):
    """What sinusoidal positions add to a head's `q` and `k`, (T, head_dim) float32, before the `norm` where there is
    one."""

    q: Packed
    k: Packed
    norm: HeadNormMessage | None


class LearnedBiasMessage(TypedDict):
    """What the decoder of `model`, a T5, has learned to add to scores: `bias` (n_heads, T) float32 by the distance from
    query to key, and the `bucket` (T,) uint16 that each distance falls in."""

    model: str
    bias: Packed
    bucket: Packed


class PositionKindsDetail(TypedDict):
    """What positions of other kinds would do in a head of this run. `added` is null under MLA, where keys are rebuilt
    from a latent; `learned` where the network has learned biases itself, and where no T5 is on offer."""

    added: AddedMessage | None
    learned: LearnedBiasMessage | None
