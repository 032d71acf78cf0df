"""Scores of what an attention head does, each between 0 and 1 unless its definition says otherwise.

Shapes: L n_layers, H n_heads, T tokens, V vocabulary. `attention` is always (L, H, T, T): row t holds the weights with
which token t looks at each token.
"""

from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from ..checkpoint import LanguageModel
from ..taps import capture
from ..tiled import weight_rows

Attention = Float[Tensor, "L H T T"]
Scores = Float[Tensor, "L H"]

DEFINITIONS = {
    "previous_token": "Mean attention from each token, from the third on, to the token just before it.",
    "first_token": "Mean attention from each token, from the third on, to the first token of the text (an attention "
    "sink: by the usual explanation, where a head looks that finds nothing to read).",
    "induction": "Prefix matching (Olsson et al. 2022, arXiv 2209.11895, head activation evaluators): 25 random "
    "tokens, the most and the least common left out, four times in a row after a start token; attention from a token "
    "of the later repeats to the tokens that followed the same token earlier, summed over these and averaged over the "
    "tokens. Mean of 10 sequences.",
    "copying": "Copying (the same source): on 25 random tokens, the head's output taken through the final norm's "
    "weight and the unembedding, less its mean over the vocabulary, negatives cut off; how much it raises the tokens "
    "attended to (weighted by attention), as a share r of that and of what it raises all 25 together, scaled to "
    "4r - 1: 1 when it raises only what it looks at, -1 when it raises only others. Mean of 10 sequences.",
    "duplicate_token": "Duplicate token (Wang et al. 2022, arXiv 2211.00593): the same repeated random tokens; "
    "attention from a token of the later repeats to the same token earlier, summed over these and averaged over the "
    "tokens. Mean of 10 sequences.",
    "ov_copying": "What the OV circuit makes of a token: on 25 random tokens, each one's value through the head's part "
    "of W_O, the final norm's weight and the unembedding; the share of the other 24 whose logits that raises less than "
    "the token's own, averaged over the tokens, scaled to 2 x share - 1: 1 when a token that is looked at is always "
    "raised most, 0 by chance, -1 when it is always lowered most. Mean of 10 sequences (after Elhage et al. 2021, "
    "transformer-circuits.pub/2021/framework, and the copy score of Wang et al. 2022, arXiv 2211.00593).",
    "same_entity": "Mean attention from the last token of a person, animal, thing or place that was named before to "
    "all tokens of its earlier mentions.",
    "answer_to_place": "At the token before a place that answers a question or completes a restatement: the attention "
    "to earlier mentions of that place, less the attention to all other places named (from -1 to 1; a head that looks "
    "at places without telling them apart is at 0 or below).",
}


@torch.inference_mode()
def attention_of(lm: LanguageModel, ids: Sequence[int]) -> Attention:
    """Every head's attention weights on one text, float32 on the CPU."""
    with capture(lm.net, "layers.*.attn.attention") as seen:
        lm.net(torch.tensor([list(ids)], device=lm.device), eager=True, last_only=True)
    return torch.stack([seen[f"layers.{i}.attn.attention"][0].float().cpu() for i in range(lm.config.n_layers)])


def previous_token(attention: Attention) -> Scores:
    """Definition "previous_token"; needs three tokens."""
    return attention.diagonal(-1, 2, 3)[..., 1:].mean(-1)


def first_token(attention: Attention) -> Scores:
    """Definition "first_token"; needs three tokens."""
    return attention[..., 2:, 0].mean(-1)


def prefix_matching(attention: Attention, ids: Sequence[int]) -> Scores | None:
    """Mean attention from a token to those that followed the same token earlier; None where none is repeated."""
    entries = [(t, s + 1) for t in range(len(ids)) for s in range(t - 1) if ids[s] == ids[t]]
    return mean_entries(attention, entries)


def duplicate_token(attention: Attention, ids: Sequence[int]) -> Scores | None:
    """Mean attention from a token to the same token earlier; None where none is repeated."""
    return mean_entries(attention, [(t, s) for t in range(len(ids)) for s in range(t) if ids[s] == ids[t]])


def mean_entries(attention: Attention, entries: Sequence[tuple[int, int]]) -> Scores | None:
    """For each query among (query, key) entries the sum of its weights, then the mean over queries; None for none."""
    if not entries:
        return None
    queries, keys = zip(*entries, strict=True)
    return attention[..., list(queries), list(keys)].sum(-1) / len(set(queries))


@torch.inference_mode()
def copying(lm: LanguageModel, ids: Sequence[int]) -> Scores:
    """Definition "copying" on one sequence of different tokens."""
    with capture(lm.net, "layers.*.attn.attention", "layers.*.attn.v") as seen:
        lm.net(torch.tensor([list(ids)], device=lm.device), eager=True, last_only=True)
    # Of all logits only those of the text's tokens are needed, less the mean of all: the mean of the matrix's rows.
    rows_of_text = weight_rows(lm.net.head, ids) - lm.net.head.weight.mean(0)
    unembed = rows_of_text * lm.net.norm.weight
    rows = []
    for i in range(lm.config.n_layers):
        attention = seen[f"layers.{i}.attn.attention"][0].to(lm.dtype)
        v = seen[f"layers.{i}.attn.v"][0].repeat_interleave(lm.config.n_heads // lm.config.n_kv_heads, dim=0)
        out = lm.net.block(i).attn.o_proj.weight.unflatten(1, (lm.config.n_heads, -1))  # (d, H, head_dim)
        written = torch.einsum("htk,dhk->htd", attention @ v, out)
        raised = (written @ unembed.T).float().relu()  # (H, T, T): of each token of the text
        attended = (attention.float() * raised).sum(-1)
        share = attended / (attended + raised.sum(-1)).clamp_min(1e-12)
        rows.append((4 * share - 1).mean(-1).cpu())
    return torch.stack(rows)


@torch.inference_mode()
def ov_copying(lm: LanguageModel, ids: Sequence[int]) -> Scores:
    """Definition "ov_copying" on one sequence of different tokens."""
    with capture(lm.net, "layers.*.attn.v") as seen:
        lm.net(torch.tensor([list(ids)], device=lm.device), last_only=True)
    unembed = (weight_rows(lm.net.head, ids) * lm.net.norm.weight).float()
    rows = []
    for i in range(lm.config.n_layers):
        v = seen[f"layers.{i}.attn.v"][0].repeat_interleave(lm.config.n_heads // lm.config.n_kv_heads, dim=0)
        out = lm.net.block(i).attn.o_proj.weight.unflatten(1, (lm.config.n_heads, -1)).float()
        raised = torch.einsum("htk,dhk,jd->htj", v.float(), out, unembed)  # by token t, of token j
        own = raised.diagonal(dim1=1, dim2=2)[..., None]
        less = (raised < own).float().sum(-1) / (len(ids) - 1)
        rows.append((2 * less - 1).mean(-1).cpu())
    return torch.stack(rows)


def mean_scores(scores: Iterable[Scores | None]) -> Scores:
    """The mean over texts that have a score."""
    return torch.stack([score for score in scores if score is not None]).mean(0)
