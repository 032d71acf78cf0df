"""What made a head look at a token: one attention score as an exact sum over all that wrote to q's and to k's stream.

The residual stream before a layer is the sum of what was written to it: the embedding, each head's W_O·(α·v) and each
feed-forward below. With the RMS that the layer's norm divides by held at its value in the run, q and k after RoPE are
linear in that sum, so the score q·k/√head_dim is bilinear: a term for every pair of a writer to the query's stream and
a writer to the key's (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits", QK circuit).

Symbols: S sources, T tokens, d d_model.
"""

from typing import Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from ..attention import Attention
from ..checkpoint import LanguageModel
from ..errors import check_index
from ..interventions import intervened
from ..positions import Rotation, rotate
from ..taps import capture
from ..trace import Trace


class Source(NamedTuple):
    """One writer to the residual stream at a token: the embedding, head `head` of `layer`, or the FFN of `layer`.

    "patch" is what an intervention put in the stream's place before `layer`, less what stood there.
    """

    kind: Literal["embedding", "head", "ffn", "patch"]
    layer: int | None = None
    head: int | None = None

    def __str__(self) -> str:
        """`embedding`, `4.4` (layer.head), `ffn 0`, `patch 2`."""
        if self.kind == "head":
            return f"{self.layer}.{self.head}"
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


def score_terms(trace: Trace, layer: int, head: int, query: int, key: int) -> ScoreTerms:
    """The score of `head` of `layer` for query token `query` and key token `key`, taken apart, in float64.

    terms[i, j] = R(query)·W_Q(γ ⊙ wᵢ / RMS(query)) · R(key)·W_K(γ ⊙ wⱼ / RMS(key)) / √head_dim, with wᵢ what source i
    wrote at the query's token, wⱼ what source j wrote at the key's, and R RoPE's rotation (with its scaling).
    Raises GlassLlamaError for a layer, head or token that the run does not have, and for a key after the query.
    """
    lm, config, tokens = trace.lm, trace.lm.config, len(trace.token_ids)
    check_index("layer", layer, config.n_layers)
    check_index("head", head, config.n_heads)
    check_index("query", query, tokens)
    check_index("key", key, query + 1)
    sources, written = stream_writes(trace, layer, [query, key])
    block = lm.net.block(layer)
    with torch.inference_mode():
        scale = torch.from_numpy(trace.attn_norm_rms[layer, [query, key]]).double()
        normed = written * block.attn_norm.weight.double().cpu() / scale[:, None, None]
        w_q, w_k = head_rows(block.attn, head)
        turn = lm.net.rotation(0, tokens)
        q = _turned(normed[0] @ w_q.T, turn, query)
        k = _turned(normed[1] @ w_k.T, turn, key)
        terms = q @ k.T * config.head_dim**-0.5
    score = float(trace.layer(layer).scores[head, query, key])
    return ScoreTerms(terms, sources, score)


def stream_writes(
    trace: Trace, layer: int, tokens: list[int]
) -> tuple[tuple[Source, ...], Float[Tensor, "tokens S d"]]:
    """All that was written to the stream before `layer` at these tokens, float64; the sources sum to the stream.

    Layers are computed once more from their recorded inputs, with the run's own interventions.
    """
    lm, net = trace.lm, trace.lm.net
    stream = torch.from_numpy(trace.residual[: layer + 1])[:, tokens].double()
    sources, written = [Source("embedding")], [stream[0]]
    turn = net.rotation(0, len(trace.token_ids))
    for i in range(layer):
        block = net.block(i)
        x = torch.from_numpy(trace.residual[i]).to(lm.device, lm.dtype)[None]
        with (
            torch.inference_mode(),
            intervened(net, trace.intervention),
            capture(block, "attn.mixed", "attn_out", "ffn_out", "resid_out") as seen,
        ):
            block(x, turn)
            heads = _head_writes(lm, i, seen["attn.mixed"][0, tokens])
            if i in trace.intervention.attention:
                heads = torch.zeros_like(heads)
            ffn, out = (seen[name][0, tokens].double().cpu() for name in ("ffn_out", "resid_out"))
        sources += [Source("head", i, h) for h in range(lm.config.n_heads)] + [Source("ffn", i)]
        written += [*heads.unbind(1), ffn]
        if any(patch.layer == i + 1 for patch in trace.intervention.patches):
            sources.append(Source("patch", i + 1))
            written.append(stream[i + 1] - out)
    return tuple(sources), torch.stack(written, 1)


def head_rows(attn: Attention, head: int) -> tuple[Float[Tensor, "head_dim d"], Float[Tensor, "head_dim d"]]:
    """The rows of W_Q of one head and of W_K of the K/V head that it reads, float64 on the CPU."""
    w_q, w_k, _ = attn.qkv_proj.weight.split(attn.qkv_proj.rows)
    kv_head = head * attn.n_kv_heads // attn.n_heads
    rows_q, rows_k = (
        weight.detach().double().cpu().unflatten(0, (-1, attn.head_dim))[i]
        for weight, i in ((w_q, head), (w_k, kv_head))
    )
    return rows_q, rows_k


def _head_writes(lm: LanguageModel, layer: int, mixed: Float[Tensor, "t heads width"]) -> Float[Tensor, "t heads d"]:
    w_o = lm.net.block(layer).attn.o_proj.weight.double().cpu().unflatten(1, mixed.shape[1:])
    return torch.einsum("thw,dhw->thd", mixed.double().cpu(), w_o)


def _turned(x: Float[Tensor, "S head_dim"], turn: Rotation, at: int) -> Float[Tensor, "S head_dim"]:
    here = Rotation(*(part[at : at + 1].double().cpu() for part in turn))
    return rotate(x[None, :, None], here)[0, :, 0]
