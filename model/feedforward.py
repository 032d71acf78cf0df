"""SwiGLU, the feed-forward of every LLaMA (Shazeer 2020, arXiv 2002.05202, eq. 6), and those of other families."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import ClassVar

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from .module import Module
from .stacked import StackedLinear
from .taps import Tap

Activation = Callable[[Tensor], Tensor]
# By their names in Hugging Face's configs. GELU (Hendrycks and Gimpel 2016, arXiv 1606.08415) is x·Φ(x), "new" by the
# tanh that comes close to it.
ACTIVATIONS: dict[str, Activation] = {
    "silu": F.silu,
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_new": partial(F.gelu, approximate="tanh"),
}


class FeedForward(Module):
    """What every feed-forward here has: neurons, each of which writes one column of `down_proj`.

    `activation_input` names the tap that a neuron's activation reads: above 0, the neuron is open. `dimensions` are
    those of a trace's arrays that differ from trace.SHAPES.
    """

    activation: str = "silu"  # of ACTIVATIONS
    activation_input: ClassVar[str] = "gate"
    dimensions: ClassVar[dict[str, tuple[str, ...]]] = {}

    down_proj: nn.Linear

    @property
    def neurons(self) -> int:
        """How many neurons there are."""
        return self.down_proj.in_features

    @property
    def out_bias(self) -> Tensor | None:
        """What is added to the neurons' sum, where there is a bias."""
        return self.down_proj.bias

    def output_columns(self, neurons: list[int]) -> Iterator[tuple[nn.Module, list[int]]]:
        """The linear maps through which these neurons write, each with the columns that are theirs."""
        yield self.down_proj, neurons

    @property
    def gated(self) -> bool:
        """Whether a neuron's `up` is multiplied by the activation of its `gate`; otherwise `up` itself is activated."""
        return self.activation_input == "gate"

    def activate(self, gate: Tensor | None, up: Tensor) -> Tensor:
        """What scales the neurons' columns of `down_proj`: activation(gate)·up, or activation(up) without a gate."""
        act = ACTIVATIONS[self.activation]
        return act(up) if gate is None else act(gate) * up

    def neuron_activity(self, here: Mapping[str, Tensor]) -> tuple[Float[Tensor, "T *n"], Float[Tensor, "T *n"]]:
        """(what the activation reads, what scales the columns) of the n neurons that compute for each token, float32.

        `here` holds the values of all tokens at the taps, by the tap's name.
        """
        gate, up = (here[name].float() if name in here else None for name in ("gate", "up"))
        assert up is not None
        return here[self.activation_input].float(), self.activate(gate, up)

    def neuron_contributions(self, here: Mapping[str, Tensor], along: Float[Tensor, "d"]) -> Float[Tensor, "neurons"]:
        """What each neuron adds along a direction, float64, at one token; `here` holds its values at the taps."""
        return self.activate(here.get("gate"), here["up"]).double() * (along @ self.down_proj.weight.double().cpu())


class SwiGLU(FeedForward):
    """down( SiLU(gate(x)) ⊙ up(x) ), with `ffn_hidden` neurons and no biases.

    Taps: `gate` before SiLU, `up`, and `active`, what W_down reads; all (B, T, f).
    """

    def __init__(self, d_model: int, ffn_hidden: int):
        super().__init__()
        self.gate_up_proj = StackedLinear(d_model, ffn_hidden, ffn_hidden)  # W_gate, W_up
        self.down_proj = nn.Linear(ffn_hidden, d_model, bias=False)
        self.gate, self.up, self.active = Tap(), Tap(), Tap()

    def forward(self, x: Float[Tensor, "B T d"]) -> Float[Tensor, "B T d"]:
        gate, up = self.gate_up_proj(x)
        return self.down_proj(self.active(F.silu(self.gate(gate)) * self.up(up)))


class GeGLU(SwiGLU):
    """down( GELU(gate(x)) ⊙ up(x) ), the GELU by its tanh: T5 1.1's (Shazeer 2020, eq. 6). Taps as SwiGLU's."""

    activation = "gelu_new"

    def forward(self, x: Float[Tensor, "B T d"]) -> Float[Tensor, "B T d"]:
        gate, up = self.gate_up_proj(x)
        return self.down_proj(self.active(self.activate(self.gate(gate), self.up(up))))


class Mlp(FeedForward):
    """down( activation( up(x) ) ): two matrices and no gate.

    Taps: `up`, before the activation, and `active`, after it; both (B, T, f).
    """

    activation_input = "up"

    def __init__(self, d_model: int, ffn_hidden: int, activation: str, bias: bool = False):
        super().__init__()
        self.up_proj = nn.Linear(d_model, ffn_hidden, bias=bias)
        self.down_proj = nn.Linear(ffn_hidden, d_model, bias=bias)
        self.activation = activation
        self.up, self.active = Tap(), Tap()

    def forward(self, x: Float[Tensor, "B T d"]) -> Float[Tensor, "B T d"]:
        return self.down_proj(self.active(self.activate(None, self.up(self.up_proj(x)))))
