"""What made this logit: one token's logit as an exact sum over the embedding, every head by source token, every neuron.

With attention weights, what the final norm divides by and SiLU(gate) held at the run's values all that is written to
the stream at a token adds up linearly, and final norm and head read it along one direction (direct logit attribution;
Elhage et al. 2021). Head h of a layer writes Σₛ α[t, s]·W_O[h]·v[s], neuron n SiLU(gate)·up·W_down[:, n].

Symbols: L n_layers, T tokens, d d_model, f ffn_hidden.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from ..attention import Heads
from ..errors import check_index
from ..network import Layer, Network
from ..pieces import Work, in_pieces
from ..shapes import array_taps
from ..tiled import weight_rows
from ..trace import LayerTrace, Trace


class LogitTerms(NamedTuple):
    """The parts of one logit at one token, float64; `total` is their sum.

    `heads` is by layer, head and source token, 0 after the query; `neurons` has a row a layer, numbered as an
    Intervention's, 0 beyond those of a layer with fewer; `biases` is what the biases of attention, feed-forward and
    final norm add (a LLaMA has none); `cross`, where layers look at a source, is by layer, head and source token, else
    None; `patched` is what an intervention put in the stream's place. `logit` is the network's own, from final norm and
    head.
    """

    embedding: float
    heads: Float[Tensor, "L n_heads T"]
    neurons: Float[Tensor, "L neurons"]
    biases: float
    patched: float
    logit: float
    cross: Float[Tensor, "L n_heads S"] | None = None

    @property
    def total(self) -> float:
        across = 0.0 if self.cross is None else float(self.cross.sum())
        inside = float(self.heads.sum() + self.neurons.sum())
        return self.embedding + self.biases + self.patched + across + inside


@in_pieces
def logit_terms(trace: Trace, token_id: int, against: int | None = None, position: int = -1) -> Work[LogitTerms]:
    """The logit of `token_id` after the token at `position`, taken apart; with `against`, less that token's logit.

    A layer is a piece of the work. Raises GlassLlamaError for a position that the run does not have and an id outside
    the vocabulary.
    """
    lm, net, count = trace.lm, trace.lm.net, len(trace.token_ids)
    at = position + count if position < 0 else position
    check_index("position", at, count)
    check_index("token_id", token_id, lm.config.vocab_size)
    with torch.inference_mode():
        direction, constant = read_along(net, token_id, against)
        direction = direction / float(trace.final_norm_rms[at])
        embedding = float(torch.from_numpy(trace.residual[0, at]).double() @ direction)
        logits = net.logits(torch.from_numpy(trace.residual[-1, at]).to(lm.device, lm.dtype)).float().cpu()
    logit = float(logits[token_id]) - (0.0 if against is None else float(logits[against]))
    layers: list[_LayerTerms] = []
    for i in range(trace.n_layers):
        layers.append(_layer_terms(trace, i, at, direction))
        yield
    changed = bool(trace.intervention.patches)  # without one the difference is rounding alone
    cross = [layer.cross for layer in layers if layer.cross is not None]
    return LogitTerms(
        embedding,
        torch.stack([layer.heads for layer in layers]),
        pad_sequence([layer.neurons for layer in layers], batch_first=True),
        sum((layer.biases for layer in layers), float(constant)),
        sum(layer.patched for layer in layers) if changed else 0.0,
        logit,
        torch.stack(cross) if cross else None,
    )


class _LayerTerms(NamedTuple):
    """What one layer adds, as LogitTerms has it of all."""

    heads: Float[Tensor, "n_heads T"]
    neurons: Float[Tensor, " neurons"]
    biases: float
    patched: float
    cross: Float[Tensor, "n_heads S"] | None


def _layer_terms(trace: Trace, i: int, at: int, direction: Float[Tensor, " d"]) -> _LayerTerms:
    """What layer `i` adds along a direction, after the token at `at`."""
    off, cross = trace.intervention, None
    with torch.inference_mode():
        layer, block = trace.layer(i), trace.lm.net.block(i)
        v, seen_at = (torch.from_numpy(values).double() for values in (layer.v, layer.attention[:, at]))
        heads = heads_along(block.attn, seen_at, v, direction) * (i not in off.attention)
        heads[[head for of, head in off.heads if of == i]] = 0
        for name in block.extra_sublayers:
            v, weights = (layer.arrays[f"{name}_{part}"] for part in ("v", "attention"))
            seen_at = torch.from_numpy(weights[:, at]).double()
            cross = heads_along(getattr(block, name), seen_at, torch.from_numpy(v).double(), direction)
            cross[[head for of, head in off.cross if of == i]] = 0
        inner = _neurons(block, layer, at, direction)
        inner[[n for of, n in off.neurons if of == i]] = 0
        biases = 0.0
        for bias, silent in ((block.attn.o_proj.bias, off.attention), (block.ffn.out_bias, off.ffn)):
            if bias is not None and i not in silent:
                biases += float(direction @ bias.double().cpu())
        stood = torch.from_numpy(trace.residual[i + 1, at]).double() - torch.from_numpy(layer.resid_out[at]).double()
        return _LayerTerms(heads, inner * (i not in off.ffn), biases, float(stood @ direction), cross)


def read_along(
    net: Network, token_id: int, against: int | None = None
) -> tuple[Float[Tensor, " d"], Float[Tensor, ""]]:
    """(direction, constant) in float64, on the CPU: with x the stream after the last layer, the logit of a token, less
    that of `against`, is x·direction / (what the final norm divides x by) + constant."""
    read = weight_rows(net.head, token_id).double()
    if against is not None:
        read = read - weight_rows(net.head, against).double()
    direction, constant = net.norm.fold_into(read * net.head_scale)
    return direction.cpu(), constant.cpu()


def _neurons(block: Layer, layer: LayerTrace, at: int, along: Float[Tensor, " d"]) -> Float[Tensor, " neurons"]:
    """What each neuron adds along a direction, after the token at `at`."""
    passed = [name for name, tap in array_taps(block).items() if tap.startswith("ffn.")]
    return block.ffn.neuron_contributions({name: torch.from_numpy(layer.arrays[name][at]) for name in passed}, along)


def heads_along(
    attn: Heads, weights: Float[Tensor, "n_heads S"], values: Float[Tensor, "n_kv_heads S v_dim"], along: Tensor
) -> Float[Tensor, "n_heads S"]:
    """What each head adds along a direction, by source token."""
    columns = attn.o_proj.weight.double().cpu().unflatten(1, (attn.n_heads, -1))
    read = torch.einsum("d,dhw->hw", along, columns)
    shared = values.repeat_interleave(attn.n_heads // attn.n_kv_heads, dim=0)
    return torch.einsum("hs,hsw,hw->hs", weights, shared, read)
