"""What the chapter on SwiGLU asks of a run: which neurons fire where, how sparsely, and what the strongest write.

Symbols: T tokens, L n_layers, f ffn_hidden, N neurons of a layer, K of them.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int

from model import LanguageModel, LayerTrace
from model.analysis.neurons import Firing, Neurons, Written, activations, neurons_of, raising, written
from model.interventions import Intervention
from model.layer_metadata import FfnMetadata

from .messages.ffn import FiringDetail, MovedToken, NeuronMapDetail, NeuronWrites, NeuronWritesDetail
from .payload import pack, pack_neurons

MAP_NEURONS = 48
WRITING_NEURONS = 12
TOKENS_EACH_WAY = 5


class NeuronMap(NamedTuple):
    """K neurons of a layer, as a rule `strongest_anywhere`: those that reach the largest activation at any token, in
    the order of that token. Absent and NaN as in model/analysis/neurons.py."""

    neuron: Int[np.ndarray, "K"]
    gate: Float[np.ndarray, "K T"] | None
    up: Float[np.ndarray, "K T"]
    weight: Float[np.ndarray, "K T"] | None


def strongest_anywhere(layer: LayerTrace, ffn: FfnMetadata, count: int = MAP_NEURONS) -> Int[np.ndarray, "K"]:
    """The strongest neurons of a layer, in the order of the token at which they are; ties go to the lower number."""
    strength = np.abs(activations(neurons_of(layer, ffn), ffn))
    chosen = np.argsort(-strength.max(axis=0), kind="stable")[:count]
    return chosen[np.lexsort((chosen, strength[:, chosen].argmax(axis=0)))]


def map_info(layer: LayerTrace, ffn: FfnMetadata, chosen: Int[np.ndarray, "K"]) -> NeuronMap:
    """These neurons of a layer at every token."""
    return NeuronMap(chosen, *neurons_of(layer, ffn).each(lambda part: part[:, chosen].T))


def map_payload(found: NeuronMap) -> NeuronMapDetail:
    """The map's neurons and what they read at every token."""
    return {"neurons": found.neuron.tolist(), **pack_neurons(found.gate, found.up, found.weight)}


def written_inner(layer: LayerTrace, ffn: FfnMetadata, index: int, what: Intervention) -> Float[np.ndarray, "T N"]:
    """What scales W_down's columns in layer `index`: 0 where the run's intervention switched neurons off."""
    values = activations(neurons_of(layer, ffn), ffn).astype(np.float32)
    values[:, [neuron for at, neuron in what.neurons if at == index]] = 0
    return values * (index not in what.ffn)


def firing_payload(found: Firing) -> FiringDetail:
    """Shares by layer and token, each as model/analysis/neurons.py defines it."""
    return {"open": pack(found.open, "f4"), "top": pack(found.top, "f4"), "needed": pack(found.needed, "f4")}


def strongest(row: Float[np.ndarray, "f"], count: int = WRITING_NEURONS) -> list[int]:
    """The neurons with the largest magnitude in a token's inner vector, largest first; ties go to the lower number."""
    return np.argsort(-np.abs(row), kind="stable")[:count].tolist()


def written_by(
    lm: LanguageModel,
    index: int,
    inner_row: Float[np.ndarray, "f"],
    final_rms: float,
    neurons: Sequence[int],
    like: Written | None = None,
) -> Written:
    """What neurons of layer `index` wrote at a token; with `like`, to the tokens named there."""
    return written(lm, index, torch.from_numpy(inner_row), final_rms, neurons, TOKENS_EACH_WAY, like)


def raised_by(
    lm: LanguageModel, index: int, inner_row: Float[np.ndarray, "f"], final_rms: float, target: int
) -> Float[np.ndarray, "f"]:
    """What each neuron of layer `index` adds to the logit of `target` at a token."""
    return raising(lm, index, torch.from_numpy(inner_row), final_rms, target).numpy()


def written_payload(
    found: Written,
    neurons: Sequence[int],
    pieces: dict[int, str],
    read: Neurons,
    adds: Float[np.ndarray, "f"] | None = None,
) -> NeuronWritesDetail:
    """What each neuron wrote, and the pieces of the tokens named; `pieces` by token id, `read` and `adds` by neuron."""

    def tokens(ids: torch.Tensor, by: torch.Tensor) -> list[MovedToken]:
        return [{"id": i, "piece": pieces[i], "by": value} for i, value in zip(ids.tolist(), by.tolist(), strict=True)]

    def number(of: np.ndarray | None, neuron: int) -> float | None:
        return None if of is None or np.isnan(of[neuron]) else float(of[neuron])

    rows: list[NeuronWrites] = [
        {
            "neuron": int(neuron),
            "gate": number(read.gate, neuron),
            "up": number(read.up, neuron),
            "adds": number(adds, neuron),
            "norm": float(found.norm[i]),
            "column": float(found.column[i]),
            "raised": tokens(found.raised[i], found.raised_by[i]),
            "lowered": tokens(found.lowered[i], found.lowered_by[i]),
        }
        for i, neuron in enumerate(neurons)
    ]
    return {"rows": rows, "rest": found.rest, "whole": found.whole}
