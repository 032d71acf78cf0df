"""What the panel on the kinds of positions asks: what sinusoidal ones would add to a head, and a T5's learned biases.

The other kinds need nothing but q and k, which the page has: it computes them by their formulas.

Symbols: T tokens.
"""

from typing import NamedTuple, cast

import torch
from jaxtyping import Float, Int

from model import LanguageModel, LayerTrace
from model.attention import Attention
from model.families.t5 import T5, T5Config
from model.positions import buckets
from model.replaced.position_in_heads import AddedPositions, added_positions
from model.replaced.sinusoidal import sinusoidal_positions

from .messages.position import AddedMessage, HeadNormMessage, LearnedBiasMessage, PositionKindsDetail
from .payload import pack


class LearnedBias(NamedTuple):
    """What the heads of a T5's decoder have learned to add to a score, by the distance from query to key, and the
    number of the bucket that each distance falls in."""

    bias: Float[torch.Tensor, "n_heads T"]
    bucket: Int[torch.Tensor, "T"]


def added_info(lm: LanguageModel, layer: LayerTrace, index: int, head: int) -> AddedPositions:
    """What sinusoidal positions add to q and k of a head of layer `index`, if they are added to what W_Q and W_K read.

    The layer's attention has projections of its own: under MLA keys are rebuilt from a latent.
    """
    normed = torch.from_numpy(layer.attn_normed)
    attn = cast(Attention, lm.net.block(index).attn)
    return added_positions(attn, head, normed, sinusoidal_positions(*normed.shape))


def learned_bias_info(lm: LanguageModel, tokens: int) -> LearnedBias:
    """The biases of a T5's decoder at distances 0 … `tokens` − 1."""
    config, net = cast(T5Config, lm.config), cast(T5, lm.net)
    device = net.relative.weight.device
    bucket = buckets(tokens - 1, 1, config.buckets, config.max_distance, False, device)[0].flip(-1)
    return LearnedBias(net.relative(bucket).detach().T.float().cpu(), bucket.cpu())


def added_payload(added: AddedPositions) -> AddedMessage:
    """The message of AddedPositions, float32."""
    norm: HeadNormMessage | None = None
    if added.norm is not None:
        q, k, q_gamma, k_gamma, eps = added.norm
        norm = {
            "q": pack(q, "f4"),
            "k": pack(k, "f4"),
            "q_gamma": pack(q_gamma, "f4"),
            "k_gamma": pack(k_gamma, "f4"),
            "eps": eps,
        }
    return {"q": pack(added.q, "f4"), "k": pack(added.k, "f4"), "norm": norm}


def learned_payload(model: str, learned: LearnedBias) -> LearnedBiasMessage:
    """The message of a LearnedBias of this model."""
    return {"model": model, "bias": pack(learned.bias, "f4"), "bucket": pack(learned.bucket, "u2")}


def position_kinds_payload(
    added: AddedPositions | None, model: str | None, learned: LearnedBias | None
) -> PositionKindsDetail:
    """What sinusoidal positions add, where the layer has projections to add them before; and what `model`, a T5, has
    learned, where one is on offer and the network has no such numbers itself."""
    return {
        "added": None if added is None else added_payload(added),
        "learned": None if model is None or learned is None else learned_payload(model, learned),
    }
