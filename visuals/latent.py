"""What the panel on the latent asks of a run with MLA: what a layer keeps of each token, and a head's way to read it.

Symbols: T tokens; the widths are those of model.layer_metadata.LatentMetadata.
"""

from typing import NamedTuple, cast

import numpy as np
import torch
from jaxtyping import Float

from model import LanguageModel, LayerTrace
from model.mla import LatentAttention

from .messages.attend import LatentDetail
from .payload import pack


class LatentInfo(NamedTuple):
    """A layer's `latent` and rotated `key` of every token: what the cache holds. For one head the `nope` part of its
    keys and its `value`s, rebuilt from the latents, float64; and the queries brought to the latents: `absorbed` is
    W_UKᵀ·q of the part of q that is not rotated. What the head hands to W_O, two ways: `mixed`, its weighted values,
    and `mixed_latent`, W_UV of `mean_latent`, its weighted latents.
    """

    latent: Float[np.ndarray, "T rank"]
    key: Float[np.ndarray, "T rope"]
    nope: Float[np.ndarray, "T nope"]
    value: Float[np.ndarray, "T value"]
    absorbed: Float[np.ndarray, "T rank"]
    mean_latent: Float[np.ndarray, "T rank"]
    mixed: Float[np.ndarray, "T value"]
    mixed_latent: Float[np.ndarray, "T value"]


def latent_info(lm: LanguageModel, layer: LayerTrace, index: int, head: int) -> LatentInfo:
    """Of a recorded layer: layer `index` of the network, and one of its heads."""
    attn = cast(LatentAttention, lm.net.block(index).attn)
    w_uk, w_uv = (part[head].detach().double().cpu() for part in attn.up_by_head())
    latent = torch.from_numpy(layer.kv_latent).double()
    query = torch.from_numpy(layer.q[head, :, : attn.nope]).double()
    values, weights = latent @ w_uv.T, torch.from_numpy(layer.attention[head]).double()
    mean = weights @ latent
    rebuilt = (latent @ w_uk.T, values, query @ w_uk, mean, weights @ values, mean @ w_uv.T)
    return LatentInfo(layer.kv_latent, layer.k_rope, *(part.numpy() for part in rebuilt))


def latent_payload(found: LatentInfo) -> LatentDetail:
    """The vectors as arrays."""
    return {
        "latent": pack(found.latent, "f4"),
        "key": pack(found.key, "f4"),
        "nope": pack(found.nope, "f4"),
        "value": pack(found.value, "f4"),
        "absorbed": pack(found.absorbed, "f4"),
        "mean_latent": pack(found.mean_latent, "f4"),
        "mixed": pack(found.mixed, "f4"),
        "mixed_latent": pack(found.mixed_latent, "f4"),
    }
