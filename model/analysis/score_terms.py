"""What made a head look at a token: one attention score as an exact sum over all that wrote to q's and to k's stream.

The residual stream before a layer is the sum of what was written to it: the embedding, each head's W_O·(α·v) and each
feed-forward below. With what the layer's norm divides by held at its value in the run, q and k after RoPE are linear in
that sum, so the score q·k/√head_dim is bilinear: a term for every pair of a writer to the query's stream and a writer
to the key's (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits", QK circuit). Biases are writers,
too; a position bias is a term of its own.

Symbols: S sources, T tokens, d d_model.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from ..errors import GlassLlamaError, check_index
from ..norms import LayerNorm, Norm
from ..pieces import Work, in_pieces
from ..trace import Trace
from .stream_writes import Source, StreamWrites


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
def score_terms(
    trace: Trace, layer: int, head: int, query: int, key: int, writes: StreamWrites | None = None
) -> Work[ScoreTerms]:
    """The score of `head` of `layer` for query token `query` and key token `key`, taken apart, in float64.

    terms[i, j] = R(query)·W_Q(γ ⊙ wᵢ / RMS(query)) · R(key)·W_K(γ ⊙ wⱼ / RMS(key)) / √head_dim, with wᵢ what source i
    wrote at the query's token, wⱼ what source j wrote at the key's, and R RoPE's rotation (with its scaling). Where
    the network normalises otherwise, so do the terms, with all that is divided by held at its value in the run.
    `writes` are the run's, of who asks for several scores.

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
    sources, written = yield from (writes or StreamWrites(trace)).before(layer, [query, key])
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
