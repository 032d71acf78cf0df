"""The network as a whole: what is tied, that it is causal, and that neither rows nor calls touch each other."""

import torch

import model
from model.config import LlamaConfig
from model.llama import Llama
from tests.reference import sample_ids

SHAPE = {"n_layers": 2, "d_model": 12, "n_heads": 4, "n_kv_heads": 2, "head_dim": 4, "ffn_hidden": 20, "vocab_size": 30}


def test_parameters_are_those_of_the_shape_and_a_tied_head_counts_once() -> None:
    block = 12 * 16 + 2 * 12 * 8 + 16 * 12 + 3 * 12 * 20 + 2 * 12  # q, k and v, o, SwiGLU, norms
    tied, untied = (Llama(LlamaConfig(**SHAPE, tied_embeddings=tied)) for tied in (True, False))
    assert sum(p.numel() for p in tied.parameters()) == 30 * 12 + 2 * block + 12
    assert sum(p.numel() for p in untied.parameters()) == 2 * 30 * 12 + 2 * block + 12
    assert tied.head.weight is tied.embed.weight


@torch.inference_mode()
def test_a_later_token_changes_nothing_before_it(lm: model.LanguageModel) -> None:
    ids = sample_ids(1, 16)
    other = ids.clone()
    other[0, 9:] = sample_ids(1, 7, seed=1)
    for eager in (False, True):
        one, two = lm.net(ids, eager=eager), lm.net(other, eager=eager)
        torch.testing.assert_close(one[:, :9], two[:, :9], rtol=0, atol=1e-5)
        assert not torch.allclose(one[:, 9:], two[:, 9:], atol=1e-2)


@torch.inference_mode()
def test_rows_of_a_batch_are_separate_and_nothing_is_remembered(lm: model.LanguageModel) -> None:
    ids = sample_ids(3, 11)
    together = lm.net(ids)
    for row in (2, 0, 1):
        torch.testing.assert_close(lm.net(ids[row : row + 1])[0], together[row], rtol=0, atol=2e-5)
    assert torch.equal(lm.net(ids), together)


@torch.inference_mode()
def test_order_counts(lm: model.LanguageModel) -> None:
    """Without RoPE the last token could not tell in which order the others came."""
    ids = sample_ids(1, 8)
    swapped = ids[:, [1, 0, *range(2, 8)]]
    assert (lm.net(ids)[0, -1] - lm.net(swapped)[0, -1]).abs().max() > 1e-2
