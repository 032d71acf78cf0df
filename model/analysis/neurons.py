"""What single SwiGLU neurons do: how few of them carry a layer's output, and what each of them writes.

Neuron n of a layer adds silu(gate)·up · W_down[:, n] to the residual stream. Shapes: L n_layers, T tokens, d d_model,
f ffn_hidden, V vocabulary, K neurons asked about.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from ..checkpoint import LanguageModel
from ..interventions import NOTHING, Intervention
from .stream import each_layer

TOP_SHARE = 0.05
MASS = 0.9


class Firing(NamedTuple):
    """How sparsely each layer fires for each token, as shares in 0…1; "mass" is the sum of |silu(gate)·up|.

    `open` the share of neurons whose gate is above 0; `top` the share of the mass that the strongest TOP_SHARE of the
    neurons have (their count rounded up); `needed` the least share of neurons that together have MASS of it.
    """

    open: Float[np.ndarray, "L T"]
    top: Float[np.ndarray, "L T"]
    needed: Float[np.ndarray, "L T"]


class Written(NamedTuple):
    """What K neurons of one layer wrote at one token, float32.

    `norm` is the length of the vector that a neuron adds to the residual stream, `column` that of its column of W_down,
    which the inner vector scales. `raised` and `lowered` are the tokens
    whose logit it raises and lowers most, most first, with what it adds to that logit on the direct path: past all
    later layers, through γ of the final norm, divided by the RMS that this norm had for the token. `rest` is the length
    of what all other neurons of the layer wrote, `whole` of all of them together.
    """

    norm: Float[Tensor, "K"]
    column: Float[Tensor, "K"]
    raised: Int[Tensor, "K n"]
    raised_by: Float[Tensor, "K n"]
    lowered: Int[Tensor, "K n"]
    lowered_by: Float[Tensor, "K n"]
    rest: float
    whole: float


def product(gate: Float[Tensor, "*batch f"], up: Float[Tensor, "*batch f"]) -> Float[Tensor, "*batch f"]:
    """SwiGLU's inner vector, silu(gate) ⊙ up, in float32."""
    return F.silu(gate.float()) * up.float()


def sparsity(inner: Float[np.ndarray, "*batch f"]) -> tuple[Float[np.ndarray, "*batch"], Float[np.ndarray, "*batch"]]:
    """`top` and `needed` of Firing for inner vectors; 0 for a vector that is all zeros."""
    strength = np.sort(np.abs(inner), axis=-1)[..., ::-1]  # several times faster than torch's on a CPU
    count = inner.shape[-1]
    mass = strength.cumsum(-1, dtype=np.float64)
    total = mass[..., -1]
    spoken = total > 0
    some = np.where(spoken, total, 1.0)
    top = mass[..., math.ceil(TOP_SHARE * count) - 1] / some
    needed = np.where(spoken, (mass < MASS * total[..., None]).sum(-1) + 1, 0) / count
    return top.astype(np.float32), needed.astype(np.float32)


def firing(lm: LanguageModel, residual: Float[np.ndarray, "L1 T d"], what: Intervention = NOTHING) -> Firing:
    """How sparsely a recorded run's layers fire: each layer runs once more on its recorded input, one at a time.

    `what` is the run's intervention.
    """
    rows: list[tuple[np.ndarray, ...]] = []
    ffn = lm.net.block(0).ffn
    for seen in each_layer(lm, residual, what, *dict.fromkeys((f"ffn.{ffn.opens}", "ffn.up"))):
        opened = (seen[f"ffn.{ffn.opens}"] > 0).flatten(1).float().mean(-1).cpu().numpy()
        gate, up = (None if values is None else values.float() for values in map(seen.get, ("ffn.gate", "ffn.up")))
        assert up is not None
        rows.append((opened, *sparsity(ffn.inner(gate, up).flatten(1).cpu().numpy())))
    return Firing(*(np.stack(part) for part in zip(*rows, strict=True)))


def written(
    lm: LanguageModel,
    layer: int,
    inner: Float[Tensor, "f"],
    final_rms: float,
    neurons: Sequence[int],
    count: int,
    like: Written | None = None,
) -> Written:
    """What these neurons of a layer wrote at the token whose inner vector is `inner`, and `count` tokens each way.

    `final_rms` is the RMS that the final norm divided that token's vector by. With `like`, what they wrote in another
    run, the tokens are the ones named there, so that the two can be compared.
    """
    with torch.inference_mode():
        weight = lm.net.get_parameter(f"layers.{layer}.ffn.down_proj.weight")
        here = inner.to(lm.device, torch.float32)
        plain = weight[:, list(neurons)].float().T
        columns = plain * here[list(neurons), None]
        whole = weight.float() @ here
        direct = lm.net.norm.apart(columns, torch.tensor(final_rms))
        logits = lm.net.unembed(direct.to(lm.dtype)).float()
        most = min(count, logits.shape[-1])
        raised, lowered = logits.topk(most).indices, logits.topk(most, largest=False).indices
        if like is not None:
            raised, lowered = like.raised.to(lm.device), like.lowered.to(lm.device)
    return Written(
        columns.norm(dim=-1).cpu(),
        plain.norm(dim=-1).cpu(),
        raised.cpu(),
        logits.gather(1, raised).cpu(),
        lowered.cpu(),
        logits.gather(1, lowered).cpu(),
        float((whole - columns.sum(0)).norm()),
        float(whole.norm()),
    )
