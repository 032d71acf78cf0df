"""What single neurons do: how few of them carry a layer's output, and what each of them writes.

Neuron n of a layer adds its activation, in a SwiGLU silu(gate)·up, times W_down[:, n] to the residual stream; one of an
expert, times the expert's weight too. Shapes: L n_layers, T tokens, d d_model, f ffn_hidden, N neurons of a layer (f,
or those of all experts), V vocabulary, K neurons asked about.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, cast

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ..checkpoint import LanguageModel
from ..feedforward import ACTIVATIONS, FeedForward
from ..interventions import NOTHING, Intervention
from ..layer_metadata import FfnMetadata
from ..pieces import Work, in_pieces
from ..tiled import weight_rows
from ..trace import LayerTrace
from .stream import each_layer

TOP_SHARE = 0.05
MASS = 0.9


class Firing(NamedTuple):
    """How sparsely each layer fires for each token, as shares in 0…1; "mass" is the sum of |silu(gate)·up|.

    With experts, the neurons are those that compute for the token: of the experts that it goes to, each weighted by
    the router's weight in the mass, and of the shared one.

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


class Neurons(NamedTuple):
    """What every neuron of a layer read at every token: `gate` (None where it has none) and `up`, before activation.

    With experts, `weight` is what the neuron's output is multiplied by; all three are NaN where the token did not go to
    the neuron's expert.
    """

    gate: np.ndarray | None
    up: np.ndarray
    weight: np.ndarray | None

    def each(self, pick: Callable[[np.ndarray], np.ndarray]) -> "Neurons":
        """What `pick` takes of each of the arrays."""
        gate, weight = (None if part is None else pick(part) for part in (self.gate, self.weight))
        return Neurons(gate, pick(self.up), weight)


def neurons_of(layer: LayerTrace, ffn: FfnMetadata) -> Neurons:
    """The neurons of a recorded layer, expert by expert where there are experts, and the shared one's last."""
    if not ffn.experts:
        return Neurons(layer.gate if ffn.gated else None, layer.up, None)
    tokens = len(layer.experts)
    gate, up, weight = (np.full((tokens, ffn.neurons), np.nan, np.float32) for _ in range(3))
    routed = ffn.experts * ffn.width
    for whole, part in ((gate, layer.gate), (up, layer.up), (weight, layer.expert_weight[..., None])):
        by_expert = whole[:, :routed].reshape(tokens, ffn.experts, ffn.width)  # a view
        by_expert[np.arange(tokens)[:, None], layer.experts] = part
    if ffn.shared:
        gate[:, routed:], up[:, routed:], weight[:, routed:] = layer.shared_gate, layer.shared_up, 1
    return Neurons(gate, up, weight)


def activations(neurons: Neurons, ffn: FfnMetadata) -> Float[np.ndarray, "T N"]:
    """What scales each neuron's column of W_down, float64; 0 where a token does not go to the neuron's expert."""
    act, up = ACTIVATIONS[ffn.activation], torch.from_numpy(neurons.up).double()
    found = act(up) if neurons.gate is None else act(torch.from_numpy(neurons.gate).double()) * up
    return found.numpy() if neurons.weight is None else np.nan_to_num(found.numpy() * neurons.weight)


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


@in_pieces
def firing(lm: LanguageModel, residual: Float[np.ndarray, "L1 T d"], what: Intervention = NOTHING) -> Work[Firing]:
    """How sparsely a recorded run's layers fire: each layer runs once more on its recorded input, one at a time.

    `what` is the run's intervention.
    """
    rows: list[tuple[np.ndarray, ...]] = []
    for i, seen in enumerate(each_layer(lm, residual, what, "ffn.*")):
        here = {name.removeprefix("ffn.").replace(".", "_"): values for name, values in seen.items()}
        opens, inner = lm.net.block(i).ffn.neuron_activity(here)
        rows.append(((opens > 0).float().mean(-1).cpu().numpy(), *sparsity(inner.cpu().numpy())))
        yield
    return Firing(*(np.stack(part) for part in zip(*rows, strict=True)))


def _columns(ffn: FeedForward, neurons: list[int]) -> Iterator[Float[Tensor, "d K"]]:
    """The columns of W_down of neurons in ascending order, a matrix for each expert."""
    for outlet, own in ffn.output_columns(neurons):
        yield cast(nn.Linear, outlet).weight[:, own].float()


def raising(
    lm: LanguageModel, layer: int, inner: Float[Tensor, "f"], final_rms: float, target: int
) -> Float[Tensor, "f"]:
    """What each neuron of a layer adds to the logit of the token `target`; `inner` and `final_rms` as in `written`.

    float64; as in lens.contributions, the final norm's divisor stays what it was in the run.
    """
    with torch.inference_mode():
        net, here = lm.net, inner.to(lm.device, torch.float64)
        direction, _ = net.norm.fold_into(weight_rows(net.head, target).double() * net.head_scale)
        adds, start = torch.zeros_like(here), 0
        writing = here.nonzero().flatten()
        for some in _columns(net.block(layer).ffn, writing.tolist()):
            chosen = writing[start : start + some.shape[1]]
            adds[chosen] = here[chosen] * (direction / final_rms @ some.double())
            start += some.shape[1]
    return adds.cpu()


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
        ffn, here = lm.net.block(layer).ffn, inner.to(lm.device, torch.float32)
        plain = torch.stack([next(_columns(ffn, [neuron]))[:, 0] for neuron in neurons])
        columns = plain * here[list(neurons), None]
        writing = here.nonzero().flatten().tolist()
        whole, start = torch.zeros_like(plain[0]), 0
        for some in _columns(ffn, writing):
            whole += some @ here[writing[start : start + some.shape[1]]]
            start += some.shape[1]
        direct = lm.net.norm.normalise_parts(columns, torch.tensor(final_rms))
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
