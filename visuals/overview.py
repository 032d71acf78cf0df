"""The messages of the overview: sizes along the stream, and the vectors around one layer at one token."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from model import LayerTrace
from model.analysis.lens import LogitLens
from model.analysis.stream import SITES, StreamSizes

from .messages.overview import EndsDetail, FinalChoice, StageDetail, StreamDetail
from .norm import Learned
from .payload import maybe, pack

COLUMNS = 1024
# The norms inside a layer, and under which names their γ and β are sent.
Gain = Literal["attn_gain", "cross_gain", "ffn_gain"]
Bias = Literal["attn_bias", "cross_bias", "ffn_bias"]
LEARNED: tuple[tuple[str, Gain, Bias], ...] = (
    ("attn", "attn_gain", "attn_bias"),
    ("cross", "cross_gain", "cross_bias"),
    ("ffn", "ffn_gain", "ffn_bias"),
)


def stream_payload(sizes: StreamSizes, final: LogitLens | None, pieces: Sequence[str]) -> StreamDetail:
    """Norms and cosines of all layers and tokens; `best` is each token's final choice, `pieces` their texts.

    Where nothing is chosen, `final` and so `best` are null.
    """
    told: StreamDetail = {
        "resid": pack(sizes.resid, "f4"),
        "attn_normed": pack(sizes.attn_normed, "f4"),
        "attn_out": pack(sizes.attn_out, "f4"),
        "ffn_out": pack(sizes.ffn_out, "f4"),
        "final_normed": pack(sizes.final_normed, "f4"),
        "attn_cosine": pack(sizes.attn_cosine, "f4"),
        "ffn_cosine": pack(sizes.ffn_cosine, "f4"),
        "best": None if final is None else choice_payload(final, pieces),
    }
    if sizes.resid_mid is not None:
        told["resid_mid"] = pack(sizes.resid_mid, "f4")
    if sizes.ffn_normed is not None:
        told["ffn_normed"] = pack(sizes.ffn_normed, "f4")
    if sizes.resid_cross is not None:
        told["resid_cross"] = pack(sizes.resid_cross, "f4")
    if sizes.cross_normed is not None:
        told["cross_normed"] = pack(sizes.cross_normed, "f4")
    if sizes.cross_out is not None:
        told["cross_out"] = pack(sizes.cross_out, "f4")
    if sizes.cross_cosine is not None:
        told["cross_cosine"] = pack(sizes.cross_cosine, "f4")
    return told


def choice_payload(final: LogitLens, pieces: Sequence[str]) -> FinalChoice:
    """Each token's final choice."""
    return {
        "ids": pack(final.ids[:, 0], "i4"),
        "pieces": list(pieces),
        "logit": pack(final.logit, "f4"),
        "probability": pack(final.probability, "f4"),
    }


def stage_payload(layer: LayerTrace, token: int, learned: Mapping[str, Learned]) -> StageDetail:
    """One token's vector (d,) at every site that a layer has, and what the layer's norms have learned."""
    stage: StageDetail = {}
    for site in SITES:
        if site in layer.arrays:
            stage[site] = pack(getattr(layer, site)[token], "f4")
    for norm, gain, bias in LEARNED:
        if norm in learned:
            stage[gain] = pack(learned[norm].gamma, "f4")
            stage[bias] = maybe(learned[norm].beta, "f4")
    return stage


def ends_payload(
    first: Float[np.ndarray, "d"],
    last: Float[np.ndarray, "d"],
    normed: Float[np.ndarray, "d"],
    learned: Learned,
    logits: Float[np.ndarray, "V"] | None,
    named: Float[np.ndarray, "V"] | None,
) -> EndsDetail:
    """One token's vector before the first layer, after the last and after the final norm, with its γ and β; its logits.

    Those are null where there are none.

    A large vocabulary's logits are sent for the highest of `named` in each of COLUMNS stretches of ids, with its id:
    `named` are these logits themselves, or another run's with which they are compared.
    """
    known: EndsDetail = {
        "embedding": pack(first, "f4"),
        "final": pack(last, "f4"),
        "final_normed": pack(normed, "f4"),
        "final_gain": pack(learned.gamma, "f4"),
        "final_bias": maybe(learned.beta, "f4"),
        "logits": None,
    }
    if logits is None or named is None:
        return known
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
