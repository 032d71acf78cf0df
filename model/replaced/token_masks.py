"""Masks beside the causal one: which keys a query may look at. model/masks.py has the causal and the prefix mask.

- Bidirectional: BERT (Devlin et al. 2018, arXiv 1810.04805) and every encoder.
- Sliding window: Mistral 7B v0.1 (Jiang et al. 2023, arXiv 2310.06825), after Longformer (arXiv 2004.05150).
- Groups of tokens ("local" or "block-local" attention; Liu et al. 2018, arXiv 1801.10198, section 4.2.4): no token sees
  one of another group. GQA groups heads and hides no token.
- Blank infilling: GLM (Du et al. 2021, arXiv 2103.10360, section 2.1 and figure 2).
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ..masks import causal_mask, prefix_mask, window_mask

CPU = torch.device("cpu")


def bidirectional_mask(tokens: int, device: torch.device = CPU) -> Bool[Tensor, "T T"]:
    """Every token sees every token."""
    return torch.ones(tokens, tokens, dtype=torch.bool, device=device)


def sliding_mask(tokens: int, window: int, device: torch.device = CPU) -> Bool[Tensor, "T T"]:
    """Causal, and of the keys up to a query only the last `window`, the query's own among them.

    Raises ValueError for a window that holds no token.
    """
    return window_mask(0, tokens, window, device)


def group_sizes(tokens: int, groups: int) -> list[int]:
    """Sizes of so many groups of neighbours, as equal as they can be, larger ones first.

    Raises ValueError for a number of groups that is not from 1 to `tokens`.
    """
    if not 1 <= groups <= tokens:
        raise ValueError(f"groups is {groups}; expected from 1 to {tokens}, the number of tokens")
    least, more = divmod(tokens, groups)
    return [least + (i < more) for i in range(groups)]


def group_mask(tokens: int, groups: int, causal: bool = True, device: torch.device = CPU) -> Bool[Tensor, "T T"]:
    """Tokens see those of their own group alone; where `causal`, of these only the ones up to themselves."""
    sizes = torch.tensor(group_sizes(tokens, groups), device=device)
    group = torch.arange(groups, device=device).repeat_interleave(sizes)
    same = group[:, None] == group[None, :]
    return same & causal_mask(tokens, tokens, device) if causal else same


def encoder_decoder_masks(
    source: int, target: int, device: torch.device = CPU
) -> tuple[Bool[Tensor, "S S"], Bool[Tensor, "T T"], Bool[Tensor, "T S"]]:
    """The three masks of an encoder–decoder: all in the encoder, causal in the decoder, all from decoder to source."""
    cross = torch.ones(target, source, dtype=torch.bool, device=device)
    return bidirectional_mask(source, device), causal_mask(target, target, device), cross


class BlankInfilling(NamedTuple):
    """What GLM reads of a text with blanks: part A with [MASK] for each span, then part B: each span after [START].

    `token` (n,) counts in the text, MASK and START stand for the two signs. `position` (2, n): the place in part A (in
    part B that of the span's [MASK]), and the place within the span from 1 on (0 in part A). `target` (n,): what is to
    be predicted there, END after a span's last token, NONE in part A. Part A's tokens see all of part A; part B's see
    part A and of part B those up to themselves: `mask` (n, n).
    """

    token: Int[Tensor, "n"]
    position: Int[Tensor, "2 n"]
    target: Int[Tensor, "n"]
    mask: Bool[Tensor, "n n"]
    part_a: int


MASK, START, END, NONE = -1, -2, -3, -4


def blank_infilling(tokens: int, spans: Sequence[tuple[int, int]], order: Sequence[int]) -> BlankInfilling:
    """GLM's input for a text of so many tokens whose `spans` (first, end) are blanked; `order` is that of part B.

    Raises ValueError where the spans are empty, overlap, lie outside the text or are not in the text's order, and where
    `order` does not name each once.
    """
    ends = [0, *(end for _, end in spans)]
    if any(not before <= first < end <= tokens for before, (first, end) in zip(ends, spans, strict=False)):
        raise ValueError(f"spans are {list(spans)}; expected places (first, end) one after another in {tokens} tokens")
    if sorted(order) != list(range(len(spans))):
        raise ValueError(f"order is {list(order)}; expected each of 0 to {len(spans) - 1} once")
    token, blanks, at = [], [], 0
    for first, end in spans:
        token += range(at, first)
        blanks.append(len(token))
        token.append(MASK)
        at = end
    token += range(at, tokens)
    part_a = len(token)
    place, inner, target = list(range(part_a)), [0] * part_a, [NONE] * part_a
    for number in order:
        first, end = spans[number]
        token += [START, *range(first, end)]
        target += [*range(first, end), END]
        place += [blanks[number]] * (end - first + 1)
        inner += range(1, end - first + 2)
    mask = prefix_mask(len(token), len(token), part_a, CPU)
    return BlankInfilling(torch.tensor(token), torch.tensor([place, inner]), torch.tensor(target), mask, part_a)


def within(weights: Float[Tensor, "T T"], mask: Bool[Tensor, "T T"]) -> Float[Tensor, "T T"]:
    """A head's weights once a narrower mask hides more: what is left, divided by its sum.

    It is the softmax of the same scores under that mask, since a softmax over fewer keys keeps their ratios.
    """
    left = weights * mask
    return left / left.sum(-1, keepdim=True)
