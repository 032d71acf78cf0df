"""What made a head look at a token: one attention score as an exact sum over all that wrote to q's and to k's stream.

The residual stream before a layer is the sum of what was written to it: the embedding, each head's W_O·(α·v) and each
feed-forward below. With what the layer's norm divides by held at its value in the run, q and k after RoPE are linear in
that sum, so the score q·k/√head_dim is bilinear: a term for every pair of a writer to the query's stream and a writer
to the key's (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits", QK circuit). Biases are writers,
too; a position bias is a term of its own.

Symbols: S sources, T tokens, d d_model.
"""

from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from ..attention import Heads
from ..errors import GlassLlamaError, check_index
from ..forward_pass import Pass
from ..interventions import intervened
from ..norms import LayerNorm, Norm
from ..pieces import Work, in_pieces
from ..taps import capture
from ..trace import Trace


class Source(NamedTuple):
    """One writer to the residual stream at a token: the embedding, head `head` of `layer`, or the FFN of `layer`.

    "cross" is a head that looks at a source text. "patch" is what an intervention put in the stream's place before
    `layer`, less what stood there. Where a network has them, "bias" is that of W_O in a layer below, and in the score's
    own layer what the biases of norm and projection add to q and k; "position" is a bias on the score itself, which
    stands on the diagonal.
    """

    kind: Literal["embedding", "head", "cross", "ffn", "patch", "bias", "position"]
    layer: int | None = None
    head: int | None = None

    def __str__(self) -> str:
        """`embedding`, `4.4` (layer.head), `ffn 0`, `patch 2`, `bias 1`, `position`, `cross 2.1`."""
        if self.head is not None:
            return f"{'' if self.kind == 'head' else f'{self.kind} '}{self.layer}.{self.head}"
        return self.kind if self.layer is None else f"{self.kind} {self.layer}"


class ScoreTerms(NamedTuple):
    """`terms` (S, S) float64: query's source by key's source; their sum is the score. `names` are `sources` as text.

    `score` is the score that the same layer gives in one piece, before mask and softmax.
    """

    terms: Float[Tensor, "S S"]
    sources: tuple[Source, ...]
    score: float

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(map(str, self.sources))


@in_pieces
def score_terms(trace: Trace, layer: int, head: int, query: int, key: int) -> Work[ScoreTerms]:
    """The score of `head` of `layer` for query token `query` and key token `key`, taken apart, in float64.

    terms[i, j] = R(query)·W_Q(γ ⊙ wᵢ / RMS(query)) · R(key)·W_K(γ ⊙ wⱼ / RMS(key)) / √head_dim, with wᵢ what source i
    wrote at the query's token, wⱼ what source j wrote at the key's, and R RoPE's rotation (with its scaling). Where
    the network normalises otherwise, so do the terms, with all that is divided by held at its value in the run.
    Raises GlassLlamaError for a layer, head or token that the run does not have, and for a key that the mask
    hides from the query.
    """
    lm, config, tokens = trace.lm, trace.lm.config, len(trace.token_ids)
    check_index("layer", layer, config.n_layers)
    check_index("head", head, config.n_heads)
    check_index("query", query, tokens)
    block = lm.net.block(layer)
    positions = lm.net.positions(0, tokens)
    sees = None if positions.mask is None else positions.mask[query]
    check_index("key", key, query + 1 if sees is None else int(sees.nonzero()[-1]) + 1)
    if sees is not None and not sees[key]:
        raise GlassLlamaError(
            "bad_request", f"key is {key}; expected one from {int(sees.nonzero()[0])} on: the window."
        )
    sources, written = yield from stream_writes.pieces(trace, layer, [query, key])
    with torch.inference_mode():
        scale = torch.from_numpy(trace.attn_norm_rms[layer, [query, key]])
        q, k = (
            block.attn.vectors(kind, _normed(block.attn_norm, parts, divisor), head, positions, at)
            for kind, parts, divisor, at in zip(("q", "k"), written, scale, (query, key), strict=True)
        )
        terms = q @ k.T * block.attn.score_scale
        if q[-1].any() or k[-1].any():
            sources = (*sources, Source("bias", layer))
        else:
            terms = terms[:-1, :-1]
    seen = trace.layer(layer)
    if "position_bias" in seen.arrays:
        sources = (*sources, Source("position"))
        terms = F.pad(terms, (0, 1, 0, 1))
        terms[-1, -1] = float(seen.position_bias[head, query, key])
    return ScoreTerms(terms, sources, float(seen.scores[head, query, key]))


def _normed(norm: Norm, parts: Float[Tensor, "S d"], divisor: Float[Tensor, ""]) -> Float[Tensor, "S1 d"]:
    """The parts of a normed vector, and last what the norm's own bias adds."""
    bias = norm.bias.detach().to(parts) if isinstance(norm, LayerNorm) else torch.zeros_like(parts[0])
    return torch.cat((norm.normalise_parts(parts, divisor), bias[None]))


@in_pieces
def stream_writes(
    trace: Trace, layer: int, tokens: list[int]
) -> Work[tuple[tuple[Source, ...], Float[Tensor, "tokens S d"]]]:
    """All that was written to the stream before `layer` at these tokens, float64; the sources sum to the stream.

    Layers are computed once more from their recorded inputs, with the run's own interventions: a piece of work each.
    """
    lm, net = trace.lm, trace.lm.net
    stream = torch.from_numpy(trace.residual[: layer + 1])[:, tokens].double()
    sources, written = [Source("embedding")], [stream[0]]
    positions = net.positions(0, len(trace.token_ids))
    for i in range(layer):
        block = net.block(i)
        x = torch.from_numpy(trace.residual[i]).to(lm.device, lm.dtype)[None]
        others = [f"{name}.mixed" for name in block.extra_sublayers]
        with (
            torch.inference_mode(),
            intervened(net, trace.intervention),
            capture(block, "attn.mixed", "attn_out", "ffn_out", "resid_out", *others) as seen,
        ):
            block(x, Pass(positions))
            heads = _head_writes(block.attn, seen["attn.mixed"][0, tokens])
            if i in trace.intervention.attention:
                heads = torch.zeros_like(heads)
            ffn, out = (seen[name][0, tokens].double().cpu() for name in ("ffn_out", "resid_out"))
        sources += [Source("head", i, h) for h in range(lm.config.n_heads)] + [Source("ffn", i)]
        written += [*heads.unbind(1), ffn]
        for name, mixed in zip(block.extra_sublayers, others, strict=True):
            sources += [Source("cross", i, h) for h in range(lm.config.n_heads)]
            written += _head_writes(getattr(block, name), seen[mixed][0, tokens]).unbind(1)
        bias = block.attn.o_proj.bias
        if bias is not None:
            sources.append(Source("bias", i))
            written.append(bias.double().cpu().expand_as(ffn) * (i not in trace.intervention.attention))
        if any(patch.layer == i + 1 for patch in trace.intervention.patches):
            sources.append(Source("patch", i + 1))
            written.append(stream[i + 1] - out)
        yield
    return tuple(sources), torch.stack(written, 1)


def _head_writes(attn: Heads, mixed: Float[Tensor, "t heads width"]) -> Float[Tensor, "t heads d"]:
    w_o = attn.o_proj.weight.double().cpu().unflatten(1, mixed.shape[1:])
    return torch.einsum("thw,dhw->thd", mixed.double().cpu(), w_o)
