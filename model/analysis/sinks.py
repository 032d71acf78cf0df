"""Sinks: tokens where heads park their attention, and which are no reason for an answer.

A softmax must spend its weight somewhere. Heads that have nothing to fetch look at a token whose residual stream is
huge in a few channels and whose values are small (attention sinks: Xiao et al. 2023, arXiv 2309.17453; massive
activations: Sun et al. 2024, arXiv 2402.17762). To knock such a token out says whether the weight can go elsewhere, and
nothing of words: in SmolLM2-135M it costs 11 nats at the only sink of "The capital of France is", and less than 0.1
where there is a second one.

A token is a sink where one of two things holds.

- Its stream spikes: a channel beyond LARGE (100) is more than SPIKE times the median |x| of its layer. In
  SmolLM2-135M the first token has some 10,000 times the median, and a later " the" or " " 270 to 1,040 times, with up
  to 17 % of all heads parked on it; no other token has more than 120. In the bundled model none has more than 80.
- It takes MOST of the last token's attention, in the mean over all heads and layers, in a text of at least SHORTEST
  tokens: in a shorter one a single token may do so for a good reason (the bundled model's "[cat (dog" looks at the
  bracket that is to be closed).
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from ..taps import capture
from .last_token import LARGE, TextRead, last_token_logs, spike

SPIKE = 250
MOST, SHORTEST = 0.5, 16


def sinks(read: TextRead, attention: Float[Tensor, "L n_heads T"] | None = None) -> tuple[int, ...]:
    """The positions of a text's sinks, in order; `attention` is `last_attention`, where that is known."""
    spiking = read.spikes() > SPIKE
    if len(read.ids) >= SHORTEST:
        spiking |= (last_attention(read) if attention is None else attention).mean((0, 1)) > MOST
    return tuple(spiking.nonzero()[:, 0].tolist())


def spiking(residual: Float[np.ndarray, "depths T d"]) -> tuple[int, ...]:
    """The positions of those sinks whose stream spikes, told from a run's recorded stream."""
    found = torch.zeros(residual.shape[1], dtype=torch.bool)
    for stream in map(torch.from_numpy, residual):
        size = stream.abs()
        most = torch.where(found, 0, size.amax(-1)).max()
        # A median takes long: it is not asked for where it is too large for every token that is left.
        if most > LARGE and 2 * (size <= most / SPIKE).sum() >= size.numel():
            found |= spike(stream) > SPIKE
    return tuple(found.nonzero()[:, 0].tolist())


def last_attention(read: TextRead) -> Float[Tensor, "L n_heads T"]:
    """The last token's attention to each token, by head."""
    nothing = torch.zeros(2, len(read.ids), dtype=torch.bool, device=read.lm.device)
    with seeing_last_attention(read) as seen, torch.inference_mode():
        last_token_logs(read, 2, lambda _: nothing, eager=True)
    return torch.stack([*seen.values()])


def seeing_last_attention(read: TextRead) -> AbstractContextManager[Mapping[str, Float[Tensor, "n_heads T"]]]:
    """A context in which the attention of an eager pass's first row is kept, layer by layer."""
    count = len(read.ids)
    return capture(read.lm.net, "layers.*.attn.attention", record=lambda weights: weights[0, :, 0, :count])
