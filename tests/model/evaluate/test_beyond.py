"""The loss by position, against transformers' own logits."""

from pathlib import Path

import pytest
import torch
from transformers import LlamaForCausalLM

import model
from model.evaluate.beyond import loss_by_position
from tests.standin import make_checkpoint


@torch.no_grad()
def test_each_stretch_has_the_mean_of_its_tokens(tmp_path: Path) -> None:
    place = make_checkpoint(tmp_path / "model")
    rows = torch.randint(0, 200, (2, 140), generator=torch.Generator().manual_seed(0))
    logs = LlamaForCausalLM.from_pretrained(place)(rows).logits.double().log_softmax(-1)
    found = loss_by_position(model.load(place, device="cpu"), rows)
    assert [(one.first, one.end) for one in found] == [(0, 128), (128, 140)]
    for first, end, loss in found:
        each = [-logs[row, at - 1, rows[row, at]] for row in range(2) for at in range(max(first, 1), end)]
        assert loss == pytest.approx(float(torch.stack(each).mean()), abs=1e-5)
