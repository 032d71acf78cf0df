"""What training reports on the way: against a network that knows, and one that knows nothing."""

import math
from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch
from torch import nn

import model.train.progress as progress_module
from model.checkpoint import BUNDLED
from model.corpus import MIX
from model.families import family_of
from model.llama import Llama
from model.tokenizer import Tokenizer
from model.train import zoo
from model.train.packing import END
from model.train.progress import heldout_answers, heldout_loss
from model.train.trainer import SHAPE


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(BUNDLED / "tokenizer.json")


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A quarter of the documents, for networks that answer each of them alike; stories without an answer among them."""
    monkeypatch.setattr(progress_module, "_LOSS_DOCUMENTS", 64)
    monkeypatch.setattr(progress_module, "_DOCUMENTS_A_KIND", 6)
    progress_module._samples.cache_clear()
    yield
    progress_module._samples.cache_clear()


class Knowing(nn.Module):
    """Gives each token's true successor nearly all of the probability, and at the end of what it knows, `END`."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(1, 1)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        following = torch.cat((ids[:, 1:], torch.full_like(ids[:, :1], END)), 1)
        return nn.functional.one_hot(following, SHAPE.vocab_size).float() * 50


@pytest.mark.usefixtures("few")
def test_a_network_without_weights_knows_nothing(tokenizer: Tokenizer) -> None:
    sizes = {"n_layers": 1, "d_model": 16, "n_heads": 2, "n_kv_heads": 1, "head_dim": 8, "ffn_hidden": 16}
    net = Llama(replace(SHAPE, **sizes)).requires_grad_(False)
    for weight in net.parameters():
        weight.zero_()
    assert heldout_loss(net, tokenizer) == pytest.approx(math.log(SHAPE.vocab_size), rel=1e-4)
    assert set(heldout_answers(net, tokenizer).values()) == {0.0}


def test_a_network_that_knows_every_text(tokenizer: Tokenizer) -> None:
    assert heldout_loss(Knowing(), tokenizer) == pytest.approx(0, abs=1e-3)  # type: ignore[arg-type]
    shares = heldout_answers(Knowing(), tokenizer)  # type: ignore[arg-type]
    assert shares == dict.fromkeys(MIX, 1.0)


@pytest.mark.thorough
@pytest.mark.usefixtures("few")
def test_a_network_with_an_encoder_is_asked_what_follows_the_first_answer(tokenizer: Tokenizer) -> None:
    t5 = replace(zoo.SHAPES["t5"], n_layers=1, encoder_layers=1)
    net = family_of(t5.to_hf()).build(t5).requires_grad_(False)
    for weight in net.parameters():
        weight.zero_()
    assert heldout_loss(net, tokenizer) == pytest.approx(math.log(t5.vocab_size), rel=1e-4)
    assert heldout_answers(net, tokenizer) == dict.fromkeys(MIX, 0.0)
