"""The messages of the overview: sizes along the stream, and the vectors around one layer at one token."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from jaxtyping import Float, Int

from model import LayerTrace
from model.analysis.lens import LogitLens
from model.analysis.stream import SITES, StreamSizes

from .norm import Learned
from .payload import Message, maybe, pack

COLUMNS = 1024


def stream_payload(sizes: StreamSizes, final: LogitLens | None, pieces: Sequence[str]) -> Message:
    """Norms and cosines of all layers and tokens; `best` is each token's final choice, `pieces` their texts.

    Where nothing is chosen, `final` and so `best` are null.
    """
    measured = {name: pack(values, "f4") for name, values in sizes._asdict().items() if values is not None}
    if final is None:
        return {**measured, "best": None}
    best = {"ids": pack(final.ids[:, 0], "i4"), "pieces": list(pieces)}
    best |= {"logit": pack(final.logit, "f4"), "probability": pack(final.probability, "f4")}
    return {**measured, "best": best}


def learned_payload(learned: Mapping[str, Learned]) -> Message:
    """γ (NAME_gain) and β (NAME_bias, null where there is none) of norms by name."""
    gains = {f"{name}_gain": pack(one.gamma, "f4") for name, one in learned.items()}
    return gains | {f"{name}_bias": maybe(one.beta, "f4") for name, one in learned.items()}


def stage_payload(layer: LayerTrace, token: int, learned: Mapping[str, Learned]) -> Message:
    """One token's vector (d,) at every site that a layer has, and what the layer's norms have learned."""
    sites = [name for name in SITES if name in layer.arrays]
    return {**{name: pack(getattr(layer, name)[token], "f4") for name in sites}, **learned_payload(learned)}


def ends_payload(
    first: Float[np.ndarray, "d"],
    last: Float[np.ndarray, "d"],
    normed: Float[np.ndarray, "d"],
    learned: Learned,
    logits: Float[np.ndarray, "V"] | None,
    named: Float[np.ndarray, "V"] | None,
) -> Message:
    """One token's vector before the first layer, after the last and after the final norm, with its γ and β; its logits.

    Those are null where there are none.

    A large vocabulary's logits are sent for the highest of `named` in each of COLUMNS stretches of ids, with its id:
    `named` are these logits themselves, or another run's with which they are compared.
    """
    vectors = {"embedding": first, "final": last, "final_normed": normed}
    known = {name: pack(vector, "f4") for name, vector in vectors.items()} | learned_payload({"final": learned})
    if logits is None or named is None:
        return {**known, "logits": None}
    peaks = highest(named, COLUMNS)
    exact = logits.astype(np.float64)
    top = exact.max()
    return {
        **known,
        "logits": {"ids": pack(peaks, "i4"), "values": pack(logits[peaks], "f4")},
        "logits_norm": float(np.sqrt(np.square(exact).sum())),
        "log_z": float(top + np.log(np.exp(exact - top).sum())),
    }


def highest(values: Float[np.ndarray, "n"], columns: int) -> Int[np.ndarray, "columns"]:
    """The index of the highest value in each of `columns` equal stretches; every index where there are fewer."""
    edges = np.linspace(0, len(values), min(columns, len(values)) + 1).astype(int)
    return np.array([start + values[start:end].argmax() for start, end in pairwise(edges)])
