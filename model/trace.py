"""One run, recorded: what is small is kept for every layer, what is large is recomputed for the layer asked for.

So a trace costs O(L·T·d) and not O(L·n_heads·T²), and a long prompt works.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, partial

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from .checkpoint import LanguageModel
from .interventions import NOTHING, Intervention, intervened
from .layer_cache import LayerCache
from .norms import rms
from .prompt import prompt_ids
from .taps import capture

# Every array of a LayerTrace and its dimensions: T tokens, d d_model, f ffn_hidden.
SHAPES: dict[str, tuple[str, ...]] = {
    "resid_in": ("T", "d"),
    "attn_norm_rms": ("T",),
    "attn_normed": ("T", "d"),
    "q": ("n_heads", "T", "head_dim"),
    "k": ("n_kv_heads", "T", "head_dim"),
    "v": ("n_kv_heads", "T", "head_dim"),
    "q_rot": ("n_heads", "T", "head_dim"),
    "k_rot": ("n_kv_heads", "T", "head_dim"),
    "scores": ("n_heads", "T", "T"),
    "attention": ("n_heads", "T", "T"),
    "attn_out": ("T", "d"),
    "resid_mid": ("T", "d"),
    "ffn_norm_rms": ("T",),
    "ffn_normed": ("T", "d"),
    "gate": ("T", "f"),
    "up": ("T", "f"),
    "ffn_out": ("T", "d"),
    "resid_out": ("T", "d"),
}
# Taps inside a block's sub-layers; all others belong to the block itself.
_INSIDE = dict.fromkeys(("q", "k", "v", "q_rot", "k_rot", "scores", "attention"), "attn") | {
    "gate": "ffn",
    "up": "ffn",
}
# Recomputed layers that a trace may hold at once; the newest always stays.
LAYER_CACHE_BYTES = 12 * 2**20


@dataclass(frozen=True, eq=False)
class LayerTrace:
    """Every value inside one layer of a run, as float32 arrays whose dimensions SHAPES names.

    `q` and `k` are before RoPE, `q_rot` and `k_rot` after it. `scores` are q_rot·k_rot/√head_dim before the causal
    mask; `attention` is their softmax after it. `gate` is before SiLU.
    """

    resid_in: np.ndarray
    attn_norm_rms: np.ndarray
    attn_normed: np.ndarray
    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    q_rot: np.ndarray
    k_rot: np.ndarray
    scores: np.ndarray
    attention: np.ndarray
    attn_out: np.ndarray
    resid_mid: np.ndarray
    ffn_norm_rms: np.ndarray
    ffn_normed: np.ndarray
    gate: np.ndarray
    up: np.ndarray
    ffn_out: np.ndarray
    resid_out: np.ndarray

    @property
    def nbytes(self) -> int:
        return sum(getattr(self, f.name).nbytes for f in fields(self))


@dataclass(frozen=True, eq=False)
class Trace:
    """What a run left behind. Arrays are float32.

    `residual` (L + 1, T, d) is the residual stream before each layer and after the last; `attn_norm_rms` and
    `ffn_norm_rms` (L, T) and `final_norm_rms` (T,) are the RMS that each norm divides by; `gate_open` (L, T) is the
    share of a layer's SwiGLU neurons whose gate is above 0; `logits` (V,) are the last position's. `intervention` is
    what was changed in this run, in its layers as well.
    """

    lm: LanguageModel
    token_ids: list[int]
    pieces: list[str]
    residual: np.ndarray
    attn_norm_rms: np.ndarray
    ffn_norm_rms: np.ndarray
    final_norm_rms: np.ndarray
    gate_open: np.ndarray
    logits: np.ndarray
    intervention: Intervention = NOTHING
    _layers: LayerCache[LayerTrace] = field(default_factory=lambda: LayerCache(LAYER_CACHE_BYTES), repr=False)

    @property
    def n_layers(self) -> int:
        return len(self.attn_norm_rms)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays held now, recomputed layers included."""
        return self._own_bytes + self._layers.nbytes

    @cached_property
    def _own_bytes(self) -> int:
        own = (getattr(self, f.name) for f in fields(self))
        return sum(array.nbytes for array in own if isinstance(array, np.ndarray))

    def watch(self, grew: Callable[[int], None] | None) -> int:
        """From now on tell `grew` by how many bytes this grew when a layer was recomputed; `nbytes` as of now.

        It is told in whatever thread recomputes, and a shrinking is a negative growth. None ends it.
        """
        return self._own_bytes + self._layers.watch(grew)

    def layer(self, i: int) -> LayerTrace:
        """Everything inside layer i, recomputed from its recorded input with the same modules, and cached.

        Raises IndexError for a layer that the model does not have.
        """
        if not 0 <= i < self.n_layers:
            raise IndexError(f"layer {i}: the model has layers 0 to {self.n_layers - 1}")
        return self._layers.get(i, partial(self._recomputed, i))

    def _recomputed(self, i: int) -> LayerTrace:
        with intervened(self.lm.net, self.intervention):
            return _recompute(self.lm, self.residual[i], i)


def run_trace(lm: LanguageModel, prompt: str | Sequence[int], intervention: Intervention = NOTHING) -> Trace:
    """Run the model once on a text or on token ids, with parts of it changed if so wished, and record it.

    Raises GlassLlamaError for a prompt that is empty, longer than the model's context, or not of its vocabulary.
    """
    ids = prompt_ids(lm, prompt)
    root = partial(rms, eps=lm.config.norm_eps)
    # The changes go on before the hooks that record, which so see what the rest of the network sees. Of what is large
    # its figure is taken at once, while the processor still has the values at hand.
    with (
        torch.inference_mode(),
        intervened(lm.net, intervention),
        capture(lm.net, "layers.*.resid_in", "final_resid") as stream,
        capture(lm.net, "layers.*.resid_mid", record=root) as middle,
        capture(lm.net, "layers.*.ffn.gate", record=_share_above_0) as gates,
    ):
        logits = lm.net(torch.tensor([ids], device=lm.device), last_only=True)[0, -1]
        # Values come in the order in which the network computed them: layer by layer.
        residual = torch.cat(list(stream.values()))
        into, into_ffn, gate_open = root(residual), torch.cat(list(middle.values())), torch.cat(list(gates.values()))
    return Trace(
        lm=lm,
        token_ids=ids,
        pieces=lm.tokenizer.pieces(ids),
        residual=_array(residual),
        attn_norm_rms=_array(into[:-1]),
        ffn_norm_rms=_array(into_ffn),
        final_norm_rms=_array(into[-1]),
        gate_open=_array(gate_open),
        logits=_array(logits),
        intervention=intervention,
    )


def _recompute(lm: LanguageModel, resid_in: Float[np.ndarray, "T d"], i: int) -> LayerTrace:
    block = lm.net.layers[i]
    names = {
        name: f"{_INSIDE[name]}.{name}" if name in _INSIDE else name for name in SHAPES if not name.endswith("rms")
    }
    x = torch.from_numpy(resid_in).to(lm.device, lm.dtype)[None]
    with torch.inference_mode(), capture(block, *names.values()) as seen:
        block(x, lm.net.rotation(0, len(resid_in)), eager=True)
        arrays = {name: _array(seen[tap][0]) for name, tap in names.items()}
        for norm, source in (("attn_norm_rms", "resid_in"), ("ffn_norm_rms", "resid_mid")):
            arrays[norm] = _array(rms(seen[source][0], lm.config.norm_eps))
    return LayerTrace(**arrays)


def _share_above_0(gate: Float[Tensor, "B T f"]) -> Float[Tensor, "B T"]:
    # Signs rather than a comparison: on a CPU, making booleans of a part of a wider array takes five times as long.
    return gate.sign().clamp(min=0).float().mean(-1)


def _array(values: Tensor) -> np.ndarray:
    return values.float().cpu().numpy()
