"""Changing a run on purpose: parts switched off, or a token's residual stream taken from another run.

A run without a part shows what the part does (ablation). A run with another run's stream at one place shows what that
place carries (activation patching: Meng et al. 2022, arXiv 2202.05262).
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
from .replaced.parts import OWN, Parts


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
    The first `prefix` tokens all see each other, in a network without a bias by distance; 0 leaves it causal. `encoder`
    is what is changed in the encoder, where the network reads a source text with one; all else is of the decoder then.
    `parts` stand in place of the network's own.
    """

    heads: tuple[tuple[int, int], ...] = ()
    neurons: tuple[tuple[int, int], ...] = ()
    attention: tuple[int, ...] = ()
    ffn: tuple[int, ...] = ()
    patches: tuple[Patch, ...] = ()
    cross: tuple[tuple[int, int], ...] = ()
    prefix: int = 0
    encoder: "Intervention | None" = None
    parts: Parts = OWN

    @property
    def lasting(self) -> "Intervention":
        """The part that also changes later passes, those that start after token 0.

        Patches do not, and neither do changes in the encoder, which has read its source by then.
        """
        return replace(self, patches=(), encoder=None)

    def __bool__(self) -> bool:
        return any(vars(self).values())


NOTHING = Intervention()
Change = Callable[[Tensor], Tensor]


@contextmanager
def intervened(net: Network, what: Intervention) -> Iterator[None]:
    """While the context is open, the network runs with these changes; a tap shows what it was changed to.

    The changes come off when the context closes, also after an error. A patch belongs to a pass that starts at token 0.
    Those of the encoder change what it reads from now on, not what a network already remembers of a source.
    Raises GlassLlamaError for a layer, head or neuron that the network does not have, for heads that look at a source
    where none does, and for an encoder's changes where there is none.
    """
    if not what:
        yield
        return
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


def check(net: Network, what: Intervention) -> None:
    """Raises as `intervened` does, and puts nothing on the network: others may be running it."""
    if what:
        _changes(net, what)


Hooks = tuple[list[tuple[nn.Module, Change]], list[tuple[nn.Module, Change]]]


def _changes(net: Network, what: Intervention, within: str = "") -> Hooks:
    """What changes the input of a module, and what changes its output; `within` goes before the names of fields."""
    config = net.config
    counts = [config.n_heads] * config.n_layers
    heads = _by_layer(what.heads, config.n_layers, counts, "head", within)
    cross = _by_layer(what.cross, config.n_layers, counts, "head", within)
    if cross and "cross" not in net.block(0).extra_sublayers:
        raise _absent(within, "cross", "no head of this network looks at a source text")
    widths = [net.block(layer).ffn.neurons for layer in range(config.n_layers)]
    neurons = _by_layer(what.neurons, config.n_layers, widths, "neuron", within)
    for layer in (*what.attention, *what.ffn):
        check_index(f"{within}layer", layer, config.n_layers)
    before, after = _of_encoder(net, what.encoder, within)
    for module, of_layers in (("attn", heads), ("cross", cross)):
        for layer, off in of_layers.items():
            after.append((net.get_submodule(f"layers.{layer}.{module}.mixed"), _without(off, dim=-2)))
    for layer, off in neurons.items():
        outlets = net.block(layer).ffn.output_columns(off)
        before += [(module, _without(columns, dim=-1)) for module, columns in outlets]
    for tap, off in (("attn_out", what.attention), ("ffn_out", what.ffn)):
        after += [(net.get_submodule(f"layers.{layer}.{tap}"), torch.zeros_like) for layer in off]
    for patch in what.patches:
        check_index(f"{within}layer", patch.layer, config.n_layers + 1)
        name = "final_resid" if patch.layer == config.n_layers else f"layers.{patch.layer}.resid_in"
        after.append((net.get_submodule(name), _patched(patch)))
    return before, after


def _of_encoder(net: Network, what: Intervention | None, within: str) -> Hooks:
    if not what:
        return [], []
    if not hasattr(net, "encoder"):
        raise _absent(within, "encoder", "no encoder of this network reads a source text")
    if what.prefix:
        raise _absent(f"{within}encoder.", "prefix", "all tokens of a source see each other")
    return _changes(net.encoder, what, f"{within}encoder.")


def _absent(within: str, field: str, reason: str) -> GlassLlamaError:
    return GlassLlamaError("bad_request", f"{within}{field}: {reason}; expected none.")


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


def _by_layer(
    pairs: tuple[tuple[int, int], ...], layers: int, counts: list[int], what: str, within: str
) -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for layer, index in pairs:
        check_index(f"{within}layer", layer, layers)
        check_index(f"{within}{what}", index, counts[layer])
        found[layer].append(index)
    return found
