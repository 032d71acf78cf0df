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
    W_UKᵀ·q of the part of q that is not rotated.
    """

    latent: Float[np.ndarray, "T rank"]
    key: Float[np.ndarray, "T rope"]
    nope: Float[np.ndarray, "T nope"]
    value: Float[np.ndarray, "T value"]
    absorbed: Float[np.ndarray, "T rank"]


def latent_info(lm: LanguageModel, layer: LayerTrace, index: int, head: int) -> LatentInfo:
    """Of a recorded layer: layer `index` of the network, and one of its heads."""
    attn = cast(LatentAttention, lm.net.block(index).attn)
    w_uk, w_uv = (part[head].detach().double().cpu() for part in attn.up_by_head())
    latent = torch.from_numpy(layer.kv_latent).double()
    query = torch.from_numpy(layer.q[head, :, : attn.nope]).double()
    rebuilt = (latent @ w_uk.T, latent @ w_uv.T, query @ w_uk)
    return LatentInfo(layer.kv_latent, layer.k_rope, *(part.numpy() for part in rebuilt))


def latent_payload(found: LatentInfo) -> LatentDetail:
    """The vectors as arrays."""
    return {
        "latent": pack(found.latent, "f4"),
        "key": pack(found.key, "f4"),
        "nope": pack(found.nope, "f4"),
        "value": pack(found.value, "f4"),
        "absorbed": pack(found.absorbed, "f4"),
    }
