"""Trace -> the compact messages that the page draws from; visuals/static/decode.js reads them back.

A message is a plain dict that JSON can hold; visuals/messages says what is in each. Everything is O(T): attention is
not sent, since the page computes it from q and k by the formula that it shows.
Symbols: T tokens, L n_layers, V vocabulary, N neurons of a layer, K how many are kept.
"""

import base64
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int, Real
from numpy.typing import ArrayLike

from model import LayerTrace, LlamaConfig, Step, Trace
from model.analysis.neurons import Neurons, activations, neurons_of
from model.analysis.sinks import spiking
from model.config import RopeScaling
from model.layer_metadata import (
    BucketMetadata,
    FfnMetadata,
    LatentMetadata,
    NetworkMetadata,
    RotaryMetadata,
)
from model.sampling import Candidates
from model.weight_error import WeightError

from .messages.arrays import Dtype, Packed
from .messages.run import (
    BucketsMessage,
    Changes,
    CrossMessage,
    Ffn,
    Int8Message,
    LatentWidths,
    LayerMessage,
    Level,
    ModelMessage,
    NeuronArrays,
    NeuronsMessage,
    NextMessage,
    NormFigures,
    Notice,
    PartsMessage,
    RopeScalingMessage,
    RotaryMessage,
    RunMessage,
    SourceMessage,
    StepMessage,
    StepsMessage,
    TraceMessage,
)

Pieces = Callable[[Sequence[int]], list[str]]  # a tokenizer's: the text of each token id
DTYPES: dict[Dtype, str] = {"f4": "<f4", "f2": "<f2", "u1": "u1", "u2": "<u2", "i4": "<i4"}
TOP_NEURONS = 24


class About(NamedTuple):
    """A model as it really runs: `device` and `dtype` are the ones in use, as text ("CPU", "float32").

    `reads_source`: it reads the prompt with an encoder, and writes a text of its own.
    """

    name: str
    config: LlamaConfig
    n_parameters: int
    device: str
    dtype: str
    reads_source: bool = False


class TopNeurons(NamedTuple):
    """The K neurons of each token with the largest activations, strongest first; else as model/analysis/neurons.py."""

    neuron: Int[np.ndarray, "T K"]
    gate: Float[np.ndarray, "T K"] | None
    up: Float[np.ndarray, "T K"]
    weight: Float[np.ndarray, "T K"] | None


def pack(array: ArrayLike, dtype: Dtype) -> Packed:
    """An array as a JSON object. Raises ValueError for values that the dtype cannot hold, KeyError for the dtype."""
    given = np.asarray(array)
    stored = np.ascontiguousarray(given, dtype=DTYPES[dtype])
    if np.issubdtype(stored.dtype, np.integer) and not np.array_equal(stored, given):
        raise ValueError(f"values from {given.min()} to {given.max()} do not fit into {dtype}")
    return {"dtype": dtype, "shape": list(given.shape), "data": base64.b64encode(stored.tobytes()).decode("ascii")}


def unpack(packed: Packed) -> np.ndarray:
    """The array that `pack` was given, in the packed dtype."""
    data = base64.b64decode(packed["data"])
    return np.frombuffer(data, DTYPES[packed["dtype"]]).reshape(packed["shape"])


def top_neurons(neurons: Neurons, ffn: FfnMetadata, count: int = TOP_NEURONS) -> TopNeurons:
    """The neurons that a token's feed-forward output leans on most; ties go to the lower number."""
    size = np.abs(activations(neurons, ffn))
    size[np.isnan(size)] = -1.0  # numbers first
    order = largest(size, min(count, size.shape[-1]))
    return TopNeurons(order, *neurons.each(lambda part: np.take_along_axis(part, order, -1)))


def largest(values: Real[np.ndarray, "T N"], count: int) -> Int[np.ndarray, "T count"]:
    """The places of each row's `count` largest values, largest first; of equal ones the first places."""
    kept, found = (part.numpy() for part in torch.as_tensor(values).topk(count))
    places = np.take_along_axis(found, np.lexsort((found, -kept)), -1)
    # topk takes any of those that equal the last one that it keeps.
    tied = (values >= kept[:, -1:]).sum(-1) > count
    places[tied] = np.argsort(-values[tied], axis=-1, kind="stable")[:, :count]
    return places


def next_payload(offered: Candidates, pieces: Sequence[str], vocab_size: int) -> NextMessage:
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


def truncate_candidates(offered: Candidates, count: int) -> Candidates:
    """The first `count` candidates; the others join the tail."""
    kept = offered._replace(ids=offered.ids[:count], logits=offered.logits[:count])
    return kept._replace(tail=max(0.0, 1.0 - float(kept.probabilities.sum())))


def maybe(array: ArrayLike | None, dtype: Dtype) -> Packed | None:
    """As `pack`; None of None."""
    return None if array is None else pack(array, dtype)


def pack_neurons(gate: ArrayLike | None, up: ArrayLike, weight: ArrayLike | None) -> NeuronArrays:
    """What neurons read and are multiplied by, as model/analysis/neurons.py says; null where there is none."""
    return {"gate": maybe(gate, "f4"), "up": pack(up, "f4"), "weight": maybe(weight, "f4")}


def neurons_payload(run_id: str, index: int, token: int | None, neurons: Neurons) -> NeuronsMessage:
    """What every neuron in layer `index` reads, before activation: (N,) each for one token, (T, N) for None: all."""
    rows = slice(None) if token is None else token
    arrays = pack_neurons(*neurons.each(lambda part: part[rows]))
    return {"kind": "neurons", "run": run_id, "layer": index, "token": token, **arrays}


def layer_payload(run_id: str, index: int, token: int, layer: LayerTrace, ffn: FfnMetadata) -> LayerMessage:
    """What the panels of one layer need: q and k before RoPE, every token's top neurons, all neurons of `token`.

    Where keys are rebuilt from a latent, `k` is null and `k_rot` holds them, in their places.
    """
    neurons = neurons_of(layer, ffn)
    top = top_neurons(neurons, ffn)
    # A feed-forward layer of more than 65,536 neurons would need the wider integer.
    numbers = pack(top.neuron, "u2" if ffn.neurons <= 1 << 16 else "i4")
    rebuilt = "k" not in layer.arrays
    return {
        "kind": "layer",
        "run": run_id,
        "layer": index,
        "q": pack(layer.q, "f4"),
        "k": None if rebuilt else pack(layer.k, "f4"),
        "k_rot": pack(layer.k_rot, "f4") if rebuilt else None,
        "cross": cross_payload(layer),
        "top": {"neuron": numbers, **pack_neurons(top.gate, top.up, top.weight)},
        "neurons": neurons_payload(run_id, index, token, neurons),
    }


def cross_payload(layer: LayerTrace) -> CrossMessage | None:
    """The queries and the source's keys of a decoder's second attention; None where there is none."""
    if "cross_q" not in layer.arrays:
        return None
    return {"q": pack(layer.cross_q, "f4"), "k": pack(layer.cross_k, "f4")}


def model_payload(about: About, made: NetworkMetadata) -> ModelMessage:
    """The model's shape, and what it is made of, as it is in a run: RoPE's frequencies may depend on its length."""
    config = made.config
    return {
        "name": about.name,
        "n_layers": config.n_layers,
        "d_model": config.d_model,
        "n_heads": config.n_heads,
        "n_kv_heads": config.n_kv_heads,
        "head_dim": config.head_dim,
        "ffn_hidden": config.ffn_hidden,
        "vocab_size": config.vocab_size,
        "norm_eps": config.norm_eps,
        "max_context": config.max_context,
        "rope_theta": getattr(config, "rope_theta", None),
        "eos_ids": list(config.eos_ids),
        "n_parameters": about.n_parameters,
        "device": about.device,
        "dtype": about.dtype,
        "int8": None if made.int8_error is None else int8_payload(made.int8_error),
        "rope_scaling": scaling_payload(getattr(config, "rope_scaling", None)),
        "parts": parts_payload(made),
    }


def int8_payload(error: WeightError) -> Int8Message:
    """What weights of 8 bits change in the answers."""
    return {
        "tokens": error.tokens,
        "logit_rms": error.logit_rms,
        "logit_max": error.logit_max,
        "kl": error.kl,
        "same": error.same,
    }


def scaling_payload(scaling: RopeScaling | None) -> RopeScalingMessage | None:
    """How RoPE is stretched; None where it is not."""
    if scaling is None:
        return None
    return {
        "kind": scaling.kind,
        "factor": scaling.factor,
        "original_max_context": scaling.original_max_context,
        "low_freq_factor": scaling.low_freq_factor,
        "high_freq_factor": scaling.high_freq_factor,
        "attention_factor": scaling.attention_factor,
        "beta_fast": scaling.beta_fast,
        "beta_slow": scaling.beta_slow,
        "mscale": scaling.mscale,
        "mscale_all_dim": scaling.mscale_all_dim,
        "truncate": scaling.truncate,
    }


def parts_payload(made: NetworkMetadata) -> PartsMessage:
    """What a network is made of, null where it has no such part."""
    return {
        "stack": made.stack,
        "causal": made.causal,
        "prefix": made.prefix,
        "window": made.window,
        "sinusoidal": made.sinusoidal,
        "norm_kind": made.norm_kind,
        "norms": made.norms,
        "embed_norm": made.embed_norm,
        "rotary": made.rotary and rotary_payload(made.rotary),
        "bias": maybe(made.bias, "f4"),
        "bias_after": maybe(made.bias_after, "f4"),
        "no_position": made.no_position,
        "buckets": made.buckets and buckets_payload(made.buckets),
        "scale": made.scale,
        "cross_scale": made.cross_scale,
        "latent": made.latent and latent_widths(made.latent),
        "ffn": [ffn_payload(one) for one in made.ffn],
    }


def rotary_payload(made: RotaryMetadata) -> RotaryMessage:
    """How RoPE turns a query or key."""
    inv_freq, attention_scaling = made.frequencies
    return {
        "inv_freq": pack(inv_freq.cpu().numpy(), "f4"),
        "attention_scaling": attention_scaling,
        "first": made.first,
        "interleaved": made.interleaved,
    }


def buckets_payload(made: BucketMetadata) -> BucketsMessage:
    """Which learned number each distance gets."""
    return {"before": pack(made.before, "u2"), "after": maybe(made.after, "u2")}


def latent_widths(made: LatentMetadata) -> LatentWidths:
    """The widths under MLA."""
    return {"rank": made.rank, "nope": made.nope, "rope": made.rope, "value": made.value}


def ffn_payload(made: FfnMetadata) -> Ffn:
    """What one layer's feed-forward is made of."""
    return {
        "activation": made.activation,
        "gated": made.gated,
        "neurons": made.neurons,
        "width": made.width,
        "experts": made.experts,
        "top_k": made.top_k,
        "shared": made.shared,
        "scoring": made.scoring,
        "normalised": made.normalised,
        "scaling": made.scaling,
        "groups": made.groups,
        "kept_groups": made.kept_groups,
        "group_best": made.group_best,
        "balanced": made.balanced,
    }


def step_payload(
    index: int, step: Step, piece: str, following: NextMessage | None = None, own: bool = True
) -> StepMessage:
    """One generated token; `following` is the next_payload of what it was chosen from, where that is wanted.

    `own`: it was chosen with the changes of the run that it is of, and not by one with others.
    """
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
        "sampling": {
            "temperature": step.sampling.temperature,
            "top_k": step.sampling.top_k,
            "top_p": step.sampling.top_p,
            "seed": step.seed,
            "draws": step.draws,
        },
        "next": following,
        "own": own,
    }


def steps_payload(run_id: str, steps: Sequence[StepMessage]) -> StepsMessage:
    """The last tokens generated from the run's prompt (step_payload each), the newest last."""
    return {"kind": "step", "run": run_id, "steps": list(steps)}


def run_payload(
    run_id: str,
    prompt: str,
    n_prompt: int,
    about: About,
    trace: Trace,
    following: NextMessage,
    layer: LayerMessage,
    steps: Sequence[StepMessage] = (),
    seconds: float = 0.0,
    changes: Changes | None = None,
    source: SourceMessage | None = None,
) -> RunMessage:
    """A whole run: what is small for all layers, and one layer's message; the other layers follow when asked for.

    `following` is the next_payload after the last token; `steps` the step_payloads of the tokens from n_prompt on;
    `changes` what the page asked to be changed in the run; `source` the source_payload of what an encoder read.
    """
    return {
        "kind": "run",
        "id": run_id,
        "prompt": prompt,
        "n_prompt": n_prompt,
        **trace_payload(about, trace),
        "encoder": source,
        "next": following,
        "layer": layer,
        "steps": list(steps),
        "seconds": seconds,
        "sinks": list(spiking(trace.residual)),
        "changes": changes or {},
    }


def trace_payload(about: About, trace: Trace) -> TraceMessage:
    """What ran, its tokens, and what its norms subtract and divide by."""
    return {
        "model": model_payload(about, trace.network),
        "tokens": {"ids": [int(i) for i in trace.token_ids], "pieces": list(trace.pieces)},
        "rms": norm_figures(trace, "rms"),
        "mean": norm_figures(trace, "mean"),
    }


def norm_figures(trace: Trace, what: Literal["rms", "mean"]) -> NormFigures:
    """What every norm of a run divides by, or subtracts."""

    def figure(norm: str) -> Packed | None:
        return maybe(trace.figures.get(f"{norm}_norm_{what}"), "f4")

    return {"attn": figure("attn"), "cross": figure("cross"), "ffn": figure("ffn"), "final": figure("final")}


def source_payload(run_id: str, about: About, trace: Trace, changes: Changes) -> SourceMessage:
    """What an encoder made of a run's prompt, as a run without a choice: nothing is written after it."""
    return {"id": run_id, **trace_payload(about, trace), "changes": changes}


def message_payload(code: str, level: Level = "error", **params: object) -> Notice:
    """A message to the reader; the page says it in the reader's language, from the text "message.<code>"."""
    return {"kind": "message", "level": level, "code": code, "params": params}
