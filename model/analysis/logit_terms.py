"""What made this logit: one token's logit as an exact sum over the embedding, every head by source token, every neuron.

With attention weights, the final norm's RMS and SiLU(gate) held at the run's values all that is written to the stream
at a token adds up linearly, and final norm and head read it along one direction (direct logit attribution; Elhage et
al. 2021). Head h of a layer writes Σₛ α[t, s]·W_O[h]·v[s], neuron n SiLU(gate)·up·W_down[:, n].

Symbols: L n_layers, T tokens, d d_model, f ffn_hidden.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from ..errors import check_index
from ..trace import Trace
from .neurons import product


class LogitTerms(NamedTuple):
    """The parts of one logit at one token, float64; `total` is their sum.

    `heads` is by layer, head and source token, 0 after the query; `patched` is what an intervention put in the stream's
    place. `logit` is the network's own, from final norm and head.
    """

    embedding: float
    heads: Float[Tensor, "L n_heads T"]
    neurons: Float[Tensor, "L f"]
    patched: float
    logit: float

    @property
    def total(self) -> float:
        return self.embedding + self.patched + float(self.heads.sum() + self.neurons.sum())


def logit_terms(trace: Trace, token_id: int, against: int | None = None, position: int = -1) -> LogitTerms:
    """The logit of `token_id` after the token at `position`, taken apart; with `against`, less that token's logit.

    Raises GlassLlamaError for a position that the run does not have and an id outside the vocabulary.
    """
    lm, net, count = trace.lm, trace.lm.net, len(trace.token_ids)
    at = position + count if position < 0 else position
    check_index("position", at, count)
    check_index("token_id", token_id, lm.config.vocab_size)
    off = trace.intervention
    with torch.inference_mode():
        rows = net.head.weight.double().cpu()
        read = rows[token_id] - (0 if against is None else rows[against])
        direction = read * net.norm.weight.double().cpu() / float(trace.final_norm_rms[at])
        stream = torch.from_numpy(trace.residual[:, at]).double()
        heads, neurons, patched = [], [], 0.0
        for i in range(trace.n_layers):
            layer = trace.layer(i)
            heads.append(_heads(trace, i, at, direction) * (i not in off.attention))
            inner = product(*(torch.from_numpy(values[at]) for values in (layer.gate, layer.up))).double()
            inner[[n for of, n in off.neurons if of == i]] = 0
            down = direction @ net.block(i).ffn.down_proj.weight.double().cpu()
            neurons.append(inner * down * (i not in off.ffn))
            patched += float((stream[i + 1] - torch.from_numpy(layer.resid_out[at]).double()) @ direction)
        logits = net.head(net.norm(torch.from_numpy(trace.residual[-1, at]).to(lm.device, lm.dtype))).float().cpu()
    logit = float(logits[token_id]) - (0.0 if against is None else float(logits[against]))
    changed = bool(off.patches)  # without one the difference is rounding alone
    return LogitTerms(
        float(stream[0] @ direction), torch.stack(heads), torch.stack(neurons), patched if changed else 0.0, logit
    )


def _heads(trace: Trace, i: int, at: int, direction: Float[Tensor, "d"]) -> Float[Tensor, "n_heads T"]:
    """What each head of layer i adds, by source token."""
    layer, config = trace.layer(i), trace.lm.config
    columns = trace.lm.net.block(i).attn.o_proj.weight.double().cpu().unflatten(1, (config.n_heads, config.head_dim))
    values = torch.from_numpy(layer.v).double().repeat_interleave(config.group_size, dim=0)
    read = torch.einsum("d,dhw->hw", direction, columns)
    added = torch.einsum("hs,hsw,hw->hs", torch.from_numpy(layer.attention[:, at]).double(), values, read)
    added[[head for of, head in trace.intervention.heads if of == i]] = 0
    return added
