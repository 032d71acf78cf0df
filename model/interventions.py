"""Changing a run on purpose: parts switched off, or a token's residual stream taken over from another run.

What a run does without a part tells what the part does (ablation); what it does with another run's stream at one place
tells what that place carries (activation patching: Meng et al. 2022, arXiv 2202.05262).
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor, nn

from .errors import GlassLlamaError, check_index
from .network import Network


@dataclass(frozen=True)
class Patch:
    """The residual stream that enters `layer` (L: the final norm) at token `token` is replaced by `value` (d,)."""

    layer: int
    token: int
    value: tuple[float, ...]


@dataclass(frozen=True)
class Intervention:
    """What is changed. Layers, heads, neurons and tokens count from 0.

    `heads` and `neurons` are (layer, index) pairs that write nothing, and so are `cross`, the heads that look at a
    source text; `attention` and `ffn` are layers whose own attention or feed-forward adds nothing to the stream.
    The first `prefix` tokens all see each other, in a network that has such a mask; 0 leaves it causal.
    """

    heads: tuple[tuple[int, int], ...] = ()
    neurons: tuple[tuple[int, int], ...] = ()
    attention: tuple[int, ...] = ()
    ffn: tuple[int, ...] = ()
    patches: tuple[Patch, ...] = ()
    cross: tuple[tuple[int, int], ...] = ()
    prefix: int = 0

    @property
    def lasting(self) -> "Intervention":
        """What of it also changes a pass that starts after token 0: all but the patches."""
        return replace(self, patches=())

    def __bool__(self) -> bool:
        return any((self.heads, self.neurons, self.attention, self.ffn, self.patches, self.cross, self.prefix))


NOTHING = Intervention()
Change = Callable[[Tensor], Tensor]


@contextmanager
def intervened(net: Network, what: Intervention) -> Iterator[None]:
    """While the context is open, the network runs with these changes; a tap shows what it was changed to.

    The changes come off when the context closes, also after an error. A patch belongs to a pass that starts at token 0.
    Raises GlassLlamaError for a layer, head or neuron that the network does not have, and for heads that look at a
    source where none does.
    """
    before, after = _changes(net, what)
    handles = []
    try:
        for module, change in before:
            handles.append(module.register_forward_pre_hook(lambda _, args, change=change: (change(args[0]),)))
        for module, change in after:
            handles.append(module.register_forward_hook(lambda _, __, value, change=change: change(value)))
        yield
    finally:
        for handle in handles:
            handle.remove()


def _changes(net: Network, what: Intervention) -> tuple[list[tuple[nn.Module, Change]], list[tuple[nn.Module, Change]]]:
    """What changes the input of a module, and what changes its output."""
    config = net.config
    counts = [config.n_heads] * config.n_layers
    heads = _by_layer(what.heads, config.n_layers, counts, "head")
    cross = _by_layer(what.cross, config.n_layers, counts, "head")
    if cross and "cross" not in net.block(0).further:
        raise GlassLlamaError("bad_request", "cross: no head of this network looks at a source text; expected none.")
    widths = [net.block(layer).ffn.neurons for layer in range(config.n_layers)]
    neurons = _by_layer(what.neurons, config.n_layers, widths, "neuron")
    for layer in (*what.attention, *what.ffn):
        check_index("layer", layer, config.n_layers)
    before: list[tuple[nn.Module, Change]] = []
    after: list[tuple[nn.Module, Change]] = []
    for module, of_layers in (("attn", heads), ("cross", cross)):
        for layer, off in of_layers.items():
            after.append((net.get_submodule(f"layers.{layer}.{module}.mixed"), _without(off, dim=-2)))
    for layer, off in neurons.items():
        outlets = net.block(layer).ffn.outlets(off)
        before += [(module, _without(columns, dim=-1)) for module, columns in outlets]
    for tap, off in (("attn_out", what.attention), ("ffn_out", what.ffn)):
        after += [(net.get_submodule(f"layers.{layer}.{tap}"), torch.zeros_like) for layer in off]
    for patch in what.patches:
        check_index("layer", patch.layer, config.n_layers + 1)
        name = "final_resid" if patch.layer == config.n_layers else f"layers.{patch.layer}.resid_in"
        after.append((net.get_submodule(name), _patched(patch)))
    return before, after


def _without(off: list[int], dim: int) -> Change:
    def change(value: Float[Tensor, "B T *width"]) -> Float[Tensor, "B T *width"]:
        return value.index_fill(dim, torch.tensor(off, device=value.device), 0)

    return change


def _patched(patch: Patch) -> Change:
    def change(stream: Float[Tensor, "B T d"]) -> Float[Tensor, "B T d"]:
        if patch.token >= stream.shape[1]:
            return stream
        changed = stream.clone()
        changed[:, patch.token] = torch.tensor(patch.value, dtype=stream.dtype, device=stream.device)
        return changed

    return change


def _by_layer(pairs: tuple[tuple[int, int], ...], layers: int, counts: list[int], what: str) -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for layer, index in pairs:
        check_index("layer", layer, layers)
        check_index(what, index, counts[layer])
        found[layer].append(index)
    return found
