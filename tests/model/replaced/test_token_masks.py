"""Masks beside the causal one, against what transformers' own networks look at, torch's, and the papers' figures."""

from typing import Any

import pytest
import torch
from transformers import (
    BertConfig,
    BertModel,
    MistralConfig,
    MistralModel,
    T5Config,
    T5Model,
)

from model.masks import causal_mask, prefix_mask
from model.replaced import token_masks as masks

TOKENS, CPU = 11, torch.device("cpu")
IDS = torch.arange(TOKENS)[None] + 3
SMALL: dict[str, Any] = {
    "vocab_size": 32,
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "attn_implementation": "eager",
}


def seen(weights: torch.Tensor) -> torch.Tensor:
    """Where every head of a layer has a weight: eager attention gives exactly 0 to what its mask hides."""
    return (weights[0] > 0).all(0)


@torch.no_grad()
def test_the_networks_of_transformers_look_where_the_masks_say() -> None:
    bert = BertModel(BertConfig(**SMALL)).eval()(IDS, output_attentions=True)
    assert torch.equal(seen(bert.attentions[0]), masks.bidirectional_mask(TOKENS))
    for window in (1, 4, TOKENS):
        config = MistralConfig(**SMALL, num_key_value_heads=1, sliding_window=window)
        mistral = MistralModel(config).eval()(IDS, output_attentions=True)
        assert torch.equal(seen(mistral.attentions[0]), masks.sliding_mask(TOKENS, window)), window
    config = T5Config(
        vocab_size=32, d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2, attn_implementation="eager"
    )
    t5 = T5Model(config).eval()(input_ids=IDS, decoder_input_ids=IDS[:, :6], output_attentions=True)
    found = t5.encoder_attentions, t5.decoder_attentions, t5.cross_attentions
    for weights, mask in zip(found, masks.encoder_decoder_masks(TOKENS, 6), strict=True):
        assert torch.equal(seen(weights[0]), mask)


@pytest.mark.parametrize("groups", [1, 3, 4, TOKENS])
def test_groups_of_tokens_are_blocks(groups: int) -> None:
    sizes = [len(part) for part in torch.arange(TOKENS).tensor_split(groups)]
    assert masks.group_sizes(TOKENS, groups) == sizes
    blocks = torch.block_diag(*(torch.ones(size, size) for size in sizes)).bool()
    assert torch.equal(masks.group_mask(TOKENS, groups, causal=False), blocks)
    assert torch.equal(masks.group_mask(TOKENS, groups), blocks.tril())


def test_what_no_mask_can_be_made_of_is_refused() -> None:
    with pytest.raises(ValueError, match="window is 0; expected at least 1"):
        masks.sliding_mask(4, 0)
    for groups in (0, 5):
        with pytest.raises(ValueError, match=f"groups is {groups}; expected from 1 to 4"):
            masks.group_sizes(4, groups)
    for spans in ([(1, 1)], [(2, 4), (3, 5)], [(4, 7)], [(3, 4), (0, 1)]):
        with pytest.raises(ValueError, match=r"spans are .* in 6 tokens"):
            masks.blank_infilling(6, spans, range(len(spans)))
    with pytest.raises(ValueError, match=r"order is .*expected each of 0 to 1 once"):
        masks.blank_infilling(6, [(0, 1), (3, 4)], [0, 0])


def test_blank_infilling_is_the_papers_figure() -> None:
    """Figure 2 of arXiv 2103.10360: x1 … x6, of which x3 and x5 x6 are blanked, and part B begins with x5 x6."""
    found = masks.blank_infilling(6, [(2, 3), (4, 6)], [1, 0])
    m, s, e, none = masks.MASK, masks.START, masks.END, masks.NONE
    assert found.token.tolist() == [0, 1, m, 3, m, s, 4, 5, s, 2]
    assert (found.position[0] + 1).tolist() == [1, 2, 3, 4, 5, 5, 5, 5, 3, 3]  # the paper counts from 1
    assert found.position[1].tolist() == [0, 0, 0, 0, 0, 1, 2, 3, 1, 2]
    assert found.target.tolist() == [none] * 5 + [4, 5, e, 2, e]
    assert found.part_a == 5
    whole = torch.ones(10, 10).bool()
    expected = torch.cat([whole[:, :5], causal_mask(10, 10, CPU)[:, 5:]], 1)
    assert torch.equal(found.mask, expected)
    assert torch.equal(found.mask, prefix_mask(10, 10, 5, CPU))


def test_what_is_left_of_a_row_is_the_softmax_under_the_mask() -> None:
    scores = torch.randn(TOKENS, TOKENS, generator=torch.Generator().manual_seed(0)) * 3
    causal = scores.masked_fill(~causal_mask(TOKENS, TOKENS, CPU), float("-inf")).softmax(-1)
    for mask in (masks.sliding_mask(TOKENS, 3), masks.group_mask(TOKENS, 4)):
        direct = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        torch.testing.assert_close(masks.within(causal, mask), direct, rtol=1e-5, atol=1e-6)
