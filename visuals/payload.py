"""Trace -> the compact messages that the page draws from; visuals/static/decode.js reads them back.

A message is a plain dict that JSON can hold. An array is {"dtype", "shape", "data"}, data in base64, little endian.
Everything is O(T): attention is not sent, since the page computes it from q and k by the formula that it shows.
Symbols: T tokens, L n_layers, V vocabulary, f ffn_hidden, K how many are kept.
"""

import base64
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from model import LayerTrace, LlamaConfig, Step, Trace
from model.positions import rope_frequencies
from model.sampling import Candidates

Message = dict[str, Any]
Pieces = Callable[[Sequence[int]], list[str]]  # a tokenizer's: the text of each token id
DTYPES = {"f4": "<f4", "f2": "<f2", "u1": "u1", "u2": "<u2", "i4": "<i4"}
SHAPE_FIELDS = ("n_layers", "d_model", "n_heads", "n_kv_heads", "head_dim", "ffn_hidden", "vocab_size", "norm_eps")
SHAPE_FIELDS += ("max_context", "rope_theta")
TOP_NEURONS = 24


class About(NamedTuple):
    """A model as it really runs: `device` and `dtype` are the ones in use, as text ("CPU", "float32")."""

    name: str
    config: LlamaConfig
    n_parameters: int
    device: str
    dtype: str


class TopNeurons(NamedTuple):
    """The K neurons of each token with the largest |silu(gate)·up|, strongest first."""

    neuron: Int[np.ndarray, "T K"]
    gate: Float[np.ndarray, "T K"]
    up: Float[np.ndarray, "T K"]


def pack(array: Any, dtype: str) -> Message:
    """An array as a JSON object. Raises ValueError for values that the dtype cannot hold, KeyError for the dtype."""
    given = np.asarray(array)
    stored = np.ascontiguousarray(given, dtype=DTYPES[dtype])
    if np.issubdtype(stored.dtype, np.integer) and not np.array_equal(stored, given):
        raise ValueError(f"values from {given.min()} to {given.max()} do not fit into {dtype}")
    return {"dtype": dtype, "shape": list(given.shape), "data": base64.b64encode(stored.tobytes()).decode("ascii")}


def unpack(packed: Message) -> np.ndarray:
    """The array that `pack` was given, in the packed dtype."""
    data = base64.b64decode(packed["data"])
    return np.frombuffer(data, DTYPES[packed["dtype"]]).reshape(packed["shape"])


def top_neurons(gate: Float[np.ndarray, "T f"], up: Float[np.ndarray, "T f"], count: int = TOP_NEURONS) -> TopNeurons:
    """The neurons that a token's feed-forward output leans on most; ties go to the lower number."""
    wide = gate.astype(np.float64)
    strength = np.abs(wide / (1 + np.exp(-np.clip(wide, -500, 500))) * up)
    order = np.argsort(-strength, axis=-1, kind="stable")[:, :count]
    return TopNeurons(order, np.take_along_axis(gate, order, -1), np.take_along_axis(up, order, -1))


def next_payload(offered: Candidates, pieces: Sequence[str], vocab_size: int) -> Message:
    """The candidates for the next token, most probable first, each with its piece."""
    if len(pieces) != len(offered.ids):
        raise ValueError(f"{len(pieces)} pieces for {len(offered.ids)} candidates")
    return {
        "ids": [int(i) for i in offered.ids],
        "pieces": list(pieces),
        "logits": pack(offered.logits, "f4"),
        "log_z": offered.log_z,
        "vocab_size": vocab_size,
        "tail": offered.tail,
    }


def fewer(offered: Candidates, count: int) -> Candidates:
    """The first `count` candidates; the others join the tail."""
    kept = offered._replace(ids=offered.ids[:count], logits=offered.logits[:count])
    return kept._replace(tail=max(0.0, 1.0 - float(kept.probabilities.sum())))


def neurons_payload(run_id: str, index: int, token: int | None, layer: LayerTrace) -> Message:
    """Gate before SiLU, and up, of every neuron in layer `index`: (f,) each for one token, (T, f) for None: all."""
    rows = slice(None) if token is None else token
    arrays = {"gate": pack(layer.gate[rows], "f4"), "up": pack(layer.up[rows], "f4")}
    return {"kind": "neurons", "run": run_id, "layer": index, "token": token, **arrays}


def layer_payload(run_id: str, index: int, token: int, layer: LayerTrace) -> Message:
    """What the panels of one layer need: q and k before RoPE, every token's top neurons, all neurons of `token`."""
    top = top_neurons(layer.gate, layer.up)
    # A feed-forward layer of more than 65,536 neurons would need the wider integer.
    numbers = pack(top.neuron, "u2" if layer.gate.shape[-1] <= 1 << 16 else "i4")
    return {
        "kind": "layer",
        "run": run_id,
        "layer": index,
        "q": pack(layer.q, "f4"),
        "k": pack(layer.k, "f4"),
        "top": {"neuron": numbers, "gate": pack(top.gate, "f4"), "up": pack(top.up, "f4")},
        "neurons": neurons_payload(run_id, index, token, layer),
    }


def model_payload(about: About, tokens: int) -> Message:
    """The model's shape, and the RoPE frequencies that hold for a run of this many tokens."""
    config = about.config
    frequencies = rope_frequencies(config, tokens)
    scaling = config.rope_scaling
    return {
        "name": about.name,
        **{name: getattr(config, name) for name in SHAPE_FIELDS},
        "eos_ids": list(config.eos_ids),
        "n_parameters": about.n_parameters,
        "device": about.device,
        "dtype": about.dtype,
        "rope_scaling": None if scaling is None else {**vars(scaling)},
        "inv_freq": pack(frequencies.inv_freq.numpy(), "f4"),
        "attention_scaling": frequencies.attention_scaling,
    }


def step_payload(index: int, step: Step, piece: str, following: Message | None = None) -> Message:
    """One generated token; `following` is the next_payload of what it was chosen from, where that is wanted."""
    return {
        "index": index,
        "id": step.token_id,
        "piece": piece,
        "probability": step.probability,
        "drawn_probability": step.drawn_probability,
        "cache_bytes": step.cache_bytes,
        "cache_tokens": step.cache_tokens,
        "seconds": step.seconds,
        "stop": step.stop,
        "sampling": {**step.sampling._asdict(), "seed": step.seed, "draws": step.draws},
        "next": following,
    }


def steps_payload(run_id: str, steps: Sequence[Message]) -> Message:
    """The last tokens generated from the run's prompt (step_payload each), the newest last."""
    return {"kind": "step", "run": run_id, "steps": list(steps)}


def run_payload(
    run_id: str,
    prompt: str,
    n_prompt: int,
    about: About,
    trace: Trace,
    following: Message,
    layer: Message,
    steps: Sequence[Message] = (),
    seconds: float = 0.0,
    changes: Message | None = None,
) -> Message:
    """A whole run: what is small for all layers, and one layer's message; the other layers follow when asked for.

    `following` is the next_payload after the last token; `steps` the step_payloads of the tokens from n_prompt on;
    `changes` what the page asked to be changed in the run.
    """
    return {
        "kind": "run",
        "id": run_id,
        "prompt": prompt,
        "n_prompt": n_prompt,
        "model": model_payload(about, len(trace.token_ids)),
        "tokens": {"ids": [int(i) for i in trace.token_ids], "pieces": list(trace.pieces)},
        "rms": {
            "attn": pack(trace.attn_norm_rms, "f4"),
            "ffn": pack(trace.ffn_norm_rms, "f4"),
            "final": pack(trace.final_norm_rms, "f4"),
        },
        "next": following,
        "layer": layer,
        "steps": list(steps),
        "seconds": seconds,
        "changes": changes or {},
    }


def message_payload(code: str, level: str = "error", **params: Any) -> Message:
    """A message to the reader; the page says it in the reader's language, from the text "message.<code>"."""
    return {"kind": "message", "level": level, "code": code, "params": params}
