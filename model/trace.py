"""The record of one run. It keeps small arrays of every layer, and recomputes the large ones of a layer on demand.

So a trace costs O(L·T·d) and not O(L·n_heads·T²), and a long prompt works.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from .checkpoint import LanguageModel
from .forward_pass import Pass
from .interventions import NOTHING, Intervention, intervened
from .layer_cache import LayerCache
from .layer_metadata import NetworkMetadata, network_metadata
from .network import Network, Writer
from .nonfinite import NonFinite, all_finite, first_nonfinite, not_finite_error
from .prompt import prompt_ids, target_ids
from .replaced.exchange import with_parts
from .shapes import SHAPES, array_taps, figures, shapes
from .taps import StackedValues, capture, capture_stacked
from .view import View, with_prefix_mask

__all__ = ["SHAPES", "LayerTrace", "Trace", "run_trace", "shapes"]

# Recomputed layers that a trace may hold at once; the newest always stays.
LAYER_CACHE_BYTES = 12 * 2**20


class LayerTrace:
    """Every value inside one layer of a run, as arrays whose dimensions `shapes` names: float32, ids int64.

    `q` and `k` are before RoPE, `q_rot` and `k_rot` after it. `scores` are q_rot·k_rot/√head_dim, with `position_bias`
    where there is one, before the mask; `attention` is their softmax after it. `gate` is before SiLU; `up` of a
    feed-forward without a gate is before its activation. `*_norm_rms` is what a norm divides by; a LayerNorm subtracts
    `*_norm_mean` first, and divides by the root mean square of the rest. With experts, `router_scores` are those of
    all, `experts` the chosen ones' numbers, best first, `expert_weight` what their outputs are multiplied by; `gate`
    and `up` are the chosen ones', in that order. Under MLA, `kv_latent` and `k_rope` (rotated) are what the cache holds
    of a token, and `k_rot` and `v` what each head's are rebuilt to. `cross_*` is a decoder's look at the source, whose
    stream before it is `resid_cross`.

    What the network does not have is absent: reading it raises AttributeError, and `arrays` does not list it.
    """

    resid_in: np.ndarray
    attn_norm_mean: np.ndarray
    attn_norm_rms: np.ndarray
    attn_normed: np.ndarray
    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    q_rot: np.ndarray
    k_rot: np.ndarray
    position_bias: np.ndarray
    resid_cross: np.ndarray
    cross_norm_rms: np.ndarray
    cross_normed: np.ndarray
    cross_q: np.ndarray
    cross_k: np.ndarray
    cross_v: np.ndarray
    cross_scores: np.ndarray
    cross_attention: np.ndarray
    cross_out: np.ndarray
    kv_latent: np.ndarray
    k_rope: np.ndarray
    router_scores: np.ndarray
    experts: np.ndarray
    expert_weight: np.ndarray
    shared_gate: np.ndarray
    shared_up: np.ndarray
    scores: np.ndarray
    attention: np.ndarray
    attn_out: np.ndarray
    resid_mid: np.ndarray
    ffn_norm_mean: np.ndarray
    ffn_norm_rms: np.ndarray
    ffn_normed: np.ndarray
    gate: np.ndarray
    up: np.ndarray
    ffn_out: np.ndarray
    resid_out: np.ndarray

    def __init__(self, arrays: dict[str, np.ndarray]):
        self.__dict__.update(arrays)

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that there are, by name."""
        return dict(vars(self))

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in vars(self).values())


@dataclass(frozen=True, eq=False)
class Trace:
    """What a run left behind. Arrays are float32.

    `residual` (L + 1, T, d) is the residual stream before each layer and after the last; `figures` are the statistics
    of every layer, which are attributes as well; `logits` (V,) are the last position's. `intervention` is what was
    changed in this run, in its layers as well. `network` says what ran, as plain data; `lm` is what ran, which only
    `layer` asks for. Where it read a source text first, `source` is its encoder's run, which has no logits (0,)
    and for `intervention` what was changed in the encoder. `first_nonfinite` is where its first value arose that is NaN
    or infinite, None where all are finite (`check_finite`).
    """

    lm: LanguageModel
    token_ids: list[int]
    pieces: list[str]
    residual: np.ndarray
    figures: dict[str, np.ndarray]
    logits: np.ndarray
    network: NetworkMetadata
    intervention: Intervention = NOTHING
    source: "Trace | None" = None
    first_nonfinite: NonFinite | None = None
    _mixed: dict[Writer, np.ndarray] = field(default_factory=dict[Writer, np.ndarray], repr=False)
    _layers: LayerCache[LayerTrace] = field(default_factory=lambda: LayerCache(LAYER_CACHE_BYTES), repr=False)

    @property
    def n_layers(self) -> int:
        return len(self.residual) - 1

    @property
    def attn_norm_rms(self) -> np.ndarray:
        """(L, T): what each layer's norm before attention divides by."""
        return self._figure("attn_norm_rms")

    @property
    def ffn_norm_rms(self) -> np.ndarray:
        """(L, T): what each layer's norm before the feed-forward divides by; absent where there is no such norm."""
        return self._figure("ffn_norm_rms")

    @property
    def final_norm_rms(self) -> np.ndarray:
        """(T,): what the final norm divides by."""
        return self._figure("final_norm_rms")

    @property
    def gate_open(self) -> np.ndarray:
        """(L, T): the share of a layer's neurons whose activation reads a number above 0: a SwiGLU's gate.

        With experts, of the neurons of the routed ones that the token goes to.
        """
        return self._figure("gate_open")

    @property
    def last_mixed(self) -> dict[Writer, np.ndarray]:
        """By kind of heads (L, n_heads, width): what each has mixed of its values for the last token, before W_O.

        A run that grew by written tokens has none of it: then the network runs once more.
        """
        if not self._mixed:
            self._mixed.update(_mixed_again(self))
        return self._mixed

    def _figure(self, name: str) -> np.ndarray:
        if name not in self.figures:
            raise AttributeError(f"this network has no {name}; it has {', '.join(self.figures)}")
        return self.figures[name]

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays held now, recomputed layers included."""
        return self._own_bytes + self._layers.nbytes + (0 if self.source is None else self.source.nbytes)

    @cached_property
    def _own_bytes(self) -> int:
        arrays = (self.residual, self.logits, *self.figures.values(), *self._mixed.values())
        return sum(held.nbytes for held in (self.network, *arrays))

    def watch(self, grew: Callable[[int], None] | None) -> int:
        """From now on tell `grew` by how many bytes this grew when a layer was recomputed; `nbytes` as of now.

        It is told in whatever thread recomputes, and a shrinking is a negative growth. None ends it.
        """
        return self._own_bytes + self._layers.watch(grew) + (0 if self.source is None else self.source.watch(grew))

    def check_finite(self) -> None:
        """Raises GlassLlamaError("not_finite") where a value of the run is NaN or infinite, and says which came first.

        Of an encoder's run the code is "not_finite_encoder". What such a run computed is still here to be looked at.
        """
        if self.source is not None:
            self.source.check_finite()
        if self.first_nonfinite is not None:
            of_encoder = not len(self.logits)
            raise not_finite_error(self.first_nonfinite, self.network.dtype, self.pieces, of_encoder)

    def layer(self, i: int) -> LayerTrace:
        """Everything inside layer i, recomputed from its recorded input with the same modules, and cached.

        Raises IndexError for a layer that the model does not have.
        """
        self.check_layer(i)
        return self._layers.get(i, partial(self._recomputed, i))

    def check_layer(self, i: int) -> None:
        """Raises IndexError for a layer that the model does not have."""
        if not 0 <= i < self.n_layers:
            raise IndexError(f"layer {i}: the model has layers 0 to {self.n_layers - 1}")

    def _recomputed(self, i: int) -> LayerTrace:
        with intervened(self.lm.net, self.intervention):
            return _recompute(self.lm, self.residual[i], i)


def run_trace(
    lm: LanguageModel,
    prompt: str | Sequence[int],
    intervention: Intervention = NOTHING,
    target: str | Sequence[int] | None = None,
) -> Trace:
    """Run the model once on a text or on token ids, with parts of it changed if so wished, and record it.

    A network with an encoder reads the prompt, and what is recorded is its decoder on the start token and `target`
    (none). Raises GlassLlamaError for a prompt or target that is empty, longer than the model's context, or not of its
    vocabulary, and for a target where there is no encoder.
    """
    written = target_ids(lm, target)
    lm = with_prefix_mask(with_parts(lm, intervention.parts), intervention.prefix)
    given = prompt_ids(lm, prompt)
    with intervened(lm.net, intervention):
        net, ids = lm.net.start_decoding(given)
    if net.source_ids is None:
        return _recorded(lm, ids, intervention)
    # Both runs ask for the network again when somebody looks into them: a kept run holds no weights.
    read = View.of(lm, lambda net: net.encoder, net.encoder.config)
    source = _recorded(read, _array(net.source_ids[0]).tolist(), intervention.encoder or NOTHING)
    read_by = View.of(lm, _with_memory_of(net), lm.config)
    return replace(_recorded(read_by, ids + written, intervention), source=source)


def _with_memory_of(reader: Network) -> Callable[[Network], Network]:
    """A function that gives a network the source that `reader` has read."""
    ids, memory = reader.source_ids, reader.memory
    assert ids is not None
    assert memory is not None
    return lambda net: net.with_memory(ids, memory)


def _recorded(lm: LanguageModel, ids: list[int], intervention: Intervention) -> Trace:
    block = lm.net.block(0)  # norms and neurons are of one kind in all layers
    inside = {name: reads for name, reads in block.norms.items() if reads != "resid_in"}
    # The changes go on before the hooks that record, which so see what the rest of the network sees. Of what is large
    # its figure is taken at once, while the processor still has the values at hand.
    with (
        torch.inference_mode(),
        intervened(lm.net, intervention),
        capture_stacked(lm.net, "layers.*.resid_in", "final_resid", record=_of_one) as stream,
        ExitStack() as recording,
    ):
        seen = {
            f"{name}_{what}": recording.enter_context(capture_stacked(lm.net, f"layers.*.{reads}", record=figure))
            for name, reads in inside.items()
            for what, figure in figures(getattr(block, name)).items()
        }
        gates = recording.enter_context(
            capture_stacked(lm.net, f"layers.*.ffn.{block.ffn.activation_input}", record=share_above_0)
        )
        mixed = recording.enter_context(_capture_mixed(lm.net))
        logits = lm.net(torch.tensor([ids], device=lm.device), last_only=True)[0, -1]
        residual = stream.values
        kept = {name: rows.values[:, 0] for name, rows in (seen | {"gate_open": gates}).items()}
        for name in block.norms.keys() - inside:
            for what, figure in figures(getattr(block, name)).items():
                kept[f"{name}_{what}"] = torch.stack([figure(state) for state in residual[:-1]])
        kept |= {f"final_norm_{what}": figure(residual[-1]) for what, figure in figures(lm.net.norm).items()}
    recorded = _array(residual), {name: _array(values) for name, values in kept.items()}, _array(logits)
    return Trace(
        lm,
        ids,
        lm.tokenizer.pieces(ids),
        *recorded,
        network=network_metadata(lm.net, len(ids)),
        _mixed=_mixed_arrays(mixed),
        intervention=intervention,
        first_nonfinite=_first_nonfinite(lm, intervention, *recorded),
    )


@contextmanager
def _capture_mixed(net: Network) -> Generator[dict[Writer, StackedValues]]:
    with ExitStack() as opened:
        yield {
            kind: opened.enter_context(capture_stacked(net, f"layers.*.{name}.mixed", record=_last))
            for kind, name in net.block(0).attentions.items()
        }


def _mixed_arrays(seen: dict[Writer, StackedValues]) -> dict[Writer, np.ndarray]:
    return {kind: _array(rows.values) for kind, rows in seen.items()}


def _mixed_again(trace: Trace) -> dict[Writer, np.ndarray]:
    net = trace.lm.net
    with torch.inference_mode(), intervened(net, trace.intervention), _capture_mixed(net) as seen:
        net(torch.tensor([trace.token_ids], device=trace.lm.device), last_only=True)
        return _mixed_arrays(seen)


def _first_nonfinite(
    lm: LanguageModel,
    intervention: Intervention,
    residual: Float[np.ndarray, "layers T d"],
    figures: dict[str, np.ndarray],
    logits: Float[np.ndarray, "V"],
) -> NonFinite | None:
    if all_finite(figures, logits):
        return None
    with intervened(lm.net, intervention):
        return first_nonfinite(lm.net, residual, figures, logits)


def _recompute(lm: LanguageModel, resid_in: Float[np.ndarray, "T d"], i: int) -> LayerTrace:
    block = lm.net.block(i)
    taps = array_taps(block)
    x = torch.as_tensor(resid_in, dtype=lm.dtype, device=lm.device)[None]
    with torch.inference_mode(), capture(block, *taps.values()) as seen:
        block(x, Pass(lm.net.positions(0, len(resid_in)), eager=True))
        arrays = {name: _array(seen[tap][0]) for name, tap in taps.items()}
        for norm, source in block.norms.items():
            for what, figure in figures(getattr(block, norm)).items():
                arrays[f"{norm}_{what}"] = _array(figure(seen[source][0]))
    return LayerTrace(arrays)


def _of_one(values: Float[Tensor, "1 T d"]) -> Float[Tensor, "T d"]:
    return values[0]


def _last(values: Float[Tensor, "1 T *width"]) -> Float[Tensor, "*width"]:
    return values[0, -1]


def share_above_0(gate: Float[Tensor, "B T *f"]) -> Float[Tensor, "B T"]:
    """The share of a token's neurons whose activation reads a number above 0."""
    # Signs rather than a comparison: on a CPU, making booleans of a part of a wider array takes five times as long.
    return gate.flatten(2).sign().clamp_(min=0).float().mean(-1)


def _array(values: Tensor) -> np.ndarray:
    return (values.float() if values.is_floating_point() else values).cpu().numpy()
