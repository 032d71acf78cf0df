"""What other activations would make of a layer's neurons: zeros, slopes, and the change of what the layer writes.

Symbols: T tokens, K kinds (model/replaced/activations.py), N neurons of a layer, d d_model.
"""

from typing import NamedTuple, cast

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from model import LanguageModel, LayerTrace
from model.analysis.neurons import neurons_of
from model.feedforward import FeedForward
from model.interventions import Intervention
from model.layer_metadata import FfnMetadata
from model.replaced.activations import SLOPES, Kind, is_zero, kind_of, kinds_for

from .messages.ffn import ActivationKindsDetail
from .payload import pack

APPROXIMATIONS = ("gelu_new", "gelu_sigmoid")  # of "gelu"


class KindsInfo(NamedTuple):
    """A layer with each kind of feed-forward in turn, on the same gate and up values and through the same W_down.

    `neurons` compute for each token; of them `zeros` would scale their column by exactly 0, and `slope` is the mean of
    f'(what the activation reads) over them. `length` is that of what the layer would write, and `change` ‖that − what
    it writes‖ / ‖what it writes‖; NaN where it writes nothing. `apart` is the change from exact GELU, in a unit with
    the gate that the network has, to its two APPROXIMATIONS.
    """

    kinds: tuple[Kind, ...]
    own: Kind
    neurons: int
    zeros: Int[np.ndarray, "K T"]
    slope: Float[np.ndarray, "K T"]
    length: Float[np.ndarray, "K T"]
    change: Float[np.ndarray, "K T"]
    apart: Float[np.ndarray, "2 T"]


@torch.inference_mode()
def kinds_info(lm: LanguageModel, layer: LayerTrace, index: int, made: FfnMetadata, what: Intervention) -> KindsInfo:
    """Of a recorded layer: layer `index` of the network, made so; neurons that the run has off stay off."""
    ffn = lm.net.block(index).ffn
    read = neurons_of(layer, made)
    gate, up = (torch.from_numpy(part).double() for part in (read.up if read.gate is None else read.gate, read.up))
    here = ~gate.isnan()
    weight = here.double() if read.weight is None else torch.from_numpy(read.weight).double()
    weight[:, [neuron for at, neuron in what.neurons if at == index]] = 0
    weight *= index not in what.ffn
    kinds, own = kinds_for(made.gated), kind_of(made.activation, made.gated)
    wrote: dict[str, Tensor] = {}
    zeros, slopes = [], []
    for kind in kinds:
        factor = kind.factor(gate, up)
        zeros.append((is_zero(kind.function, gate) & here).sum(-1))
        slopes.append((SLOPES[kind.function](gate) * here).nansum(-1) / here.sum(-1))
        wrote[kind.name] = _written(ffn, (factor * weight).nan_to_num(0.0), lm, index not in what.ffn)
    exact = next(kind for kind in kinds if (kind.function, kind.gated) == ("gelu", made.gated))
    near = [kind for kind in kinds if kind.gated == made.gated and kind.function in APPROXIMATIONS]
    return KindsInfo(
        kinds,
        own,
        int(here.sum(-1)[0]),
        torch.stack(zeros).numpy(),
        torch.stack(slopes).float().numpy(),
        torch.stack([wrote[kind.name].norm(dim=-1) for kind in kinds]).numpy(),
        torch.stack([_change(wrote[own.name], wrote[kind.name]) for kind in kinds]).numpy(),
        torch.stack([_change(wrote[exact.name], wrote[kind.name]) for kind in near]).numpy(),
    )


def _written(ffn: FeedForward, factor: Float[Tensor, "T N"], lm: LanguageModel, writes: bool) -> Float[Tensor, "T d"]:
    """What the layer writes where its neurons' columns are scaled so, float32."""
    given = factor.to(lm.device, torch.float32)
    found, start = torch.zeros(len(given), lm.config.d_model, device=lm.device), 0
    for outlet, own in ffn.output_columns(list(range(ffn.neurons))):
        matrix = cast(nn.Linear, outlet).weight.float()
        found += given[:, start : start + len(own)] @ matrix.T
        start += len(own)
    bias = ffn.out_bias
    return (found if bias is None or not writes else found + bias.float()).cpu()


def _change(before: Float[Tensor, "T d"], after: Float[Tensor, "T d"]) -> Float[Tensor, "T"]:
    """‖after − before‖ / ‖before‖; NaN where there was nothing."""
    return (after - before).norm(dim=-1) / before.norm(dim=-1).where(before.norm(dim=-1) > 0, torch.nan)


def kinds_payload(found: KindsInfo) -> ActivationKindsDetail:
    """The kinds by name, and their numbers as arrays."""
    return {
        "kinds": [kind.name for kind in found.kinds],
        "functions": [kind.function for kind in found.kinds],
        "own": found.own.name,
        "neurons": found.neurons,
        "zeros": pack(found.zeros, "i4"),
        "slope": pack(found.slope, "f4"),
        "length": pack(found.length, "f4"),
        "change": pack(found.change, "f4"),
        "apart": pack(found.apart, "f4"),
    }
