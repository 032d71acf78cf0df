"""What makes a run's sinks: where the stream of a token spikes, what wrote that, what is lost without it.

Which tokens these are says model/analysis/sinks.py. Symbols: L n_layers, T tokens.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from model import LanguageModel, Trace
from model.analysis.last_token import LARGE
from model.analysis.sinks import SPIKE, spiking

from .messages.attend import SinkMessage, SinksDetail, SpikeWriter
from .payload import pack
from .why import Rests, parked_on

WRITES: dict[str, SpikeWriter] = {"attn_out": "attn", "cross_out": "cross", "ffn_out": "ffn"}


class Spike(NamedTuple):
    """The steepest rise of a token's largest |x|, in one `channel` from `before` to `after`, and who `wrote` most.

    `layer` is the writer's, None of the embedding, which rises from 0. The writer is a "patch" where the stream was
    taken over from another run.
    """

    token: int
    writer: SpikeWriter
    layer: int | None
    channel: int
    before: float
    after: float
    wrote: float


class SinksInfo(NamedTuple):
    """A run's stream before each layer and after the last: its root mean square and its largest |x| by token, and the
    median |x| of all tokens; and how each sink came to spike."""

    rms: Float[np.ndarray, "depths T"]
    largest: Float[np.ndarray, "depths T"]
    median: Float[np.ndarray, " depths"]
    spikes: tuple[Spike, ...]


def sinks_info(_lm: LanguageModel, trace: Trace) -> SinksInfo:
    """The stream's sizes, and what wrote the spike of each sink: its layer is computed once more."""
    residual = trace.residual
    size = np.abs(residual)
    return SinksInfo(
        np.sqrt(np.square(residual, dtype=np.float64).mean(-1)),
        size.max(-1),
        np.median(size.reshape(len(size), -1), axis=1),
        tuple(_spike(trace, token) for token in spiking(residual)),
    )


def _spike(trace: Trace, token: int) -> Spike:
    stream = trace.residual[:, token]
    rises = np.diff(np.abs(stream).max(-1), prepend=0)
    depth = int(rises.argmax())
    channel = int(np.abs(stream[depth]).argmax())
    after = float(stream[depth, channel])
    if depth == 0:
        return Spike(token, "embedding", None, channel, 0.0, after, after)
    before = float(stream[depth - 1, channel])
    layer = trace.layer(depth - 1).arrays
    wrote: dict[SpikeWriter, float] = {
        writer: float(layer[name][token, channel]) for name, writer in WRITES.items() if name in layer
    }
    if any((patch.layer, patch.token) == (depth, token) for patch in trace.intervention.patches):
        wrote["patch"] = after - before - sum(wrote.values())
    writer = max(wrote, key=lambda one: wrote[one] * np.sign(after))
    return Spike(token, writer, depth - 1, channel, before, after, wrote[writer])


def sinks_payload(info: SinksInfo, rests: Rests | None, piece: str | None) -> SinksDetail:
    """The message of SinksInfo; `rests` is what the word after the last token, `piece`, rests on."""
    return {
        "rms": pack(info.rms, "f4"),
        "largest": pack(info.largest, "f4"),
        "median": pack(info.median, "f4"),
        "large": LARGE,
        "times": SPIKE,
        "piece": piece,
        "sinks": [_sink(spike, rests) for spike in info.spikes],
    }


def _sink(spike: Spike, rests: Rests | None) -> SinkMessage:
    parked = lost = None
    if rests is not None:
        parked = parked_on(rests.found.attention, spike.token)
        lost = None if spike.token == rests.position else float(rests.found.knock_out[spike.token])
    return {
        "token": spike.token,
        "writer": spike.writer,
        "layer": spike.layer,
        "channel": spike.channel,
        "before": spike.before,
        "after": spike.after,
        "wrote": spike.wrote,
        "parked": parked,
        "lost": lost,
    }
