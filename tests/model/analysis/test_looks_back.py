"""Looks at one token, taken from one head at a time, and heads that are switched off, against transformers' own."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers.models.llama.modeling_llama import LlamaAttention

import model
from model import LanguageModel
from model.analysis.last_token import read_text
from model.analysis.looks_back import SWITCHED_OFF, looks_back
from model.analysis.nodes import swapped
from model.analysis.sinks import last_attention
from model.interventions import Intervention
from tests.peer import Peer
from tests.reference import reference, sample_ids
from tests.standin import make_checkpoint

ZOO = Path(model.__file__).parent / "zoo"
TOKENS = 9


def of_transformers(directory: Path, ids: list[int], token: int, heads: list[tuple[int, int]]) -> torch.Tensor:
    """(1 + len(heads), V): log-probabilities where the last token may not look at `token` in any layer, and where one
    head alone may not."""
    net = reference(directory)
    config, count = net.config, len(ids)
    causal = torch.full((count, count), float("-inf")).triu(1)
    rows = []
    for off in [None, *heads]:
        handles = []
        for layer, block in enumerate(net.model.layers):
            mask = causal.expand(1, config.num_attention_heads, -1, -1).clone()
            mask[0, slice(None) if off is None else [head for at, head in [off] if at == layer], -1, token] = -torch.inf

            def masked(_: LlamaAttention, args: Any, given: dict[str, Any], mask: torch.Tensor = mask) -> Any:
                return args, {**given, "attention_mask": mask}

            attn = block.get_submodule("self_attn")
            handles.append(attn.register_forward_pre_hook(masked, with_kwargs=True))
        with torch.no_grad():
            rows.append(net(torch.tensor([ids])).logits[0, -1].log_softmax(-1))
        for handle in handles:
            handle.remove()
    return torch.stack(rows)


@pytest.mark.parametrize("shape", [{}, {"num_key_value_heads": 6}], ids=["gqa", "mha"])
def test_as_transformers_has_it_under_a_mask_by_head(tmp_path: Path, shape: dict[str, Any]) -> None:
    directory = make_checkpoint(tmp_path / "net", **shape)
    ids = sample_ids(1, TOKENS, seed=3)[0].tolist()
    read = read_text(model.load(directory, device="cpu"), ids)
    target, token = read.answer, 4
    attention = last_attention(read).numpy()
    found = looks_back(read, target, token, attention)
    heads = [(one.layer, one.head) for one in found.heads]
    looking = {(int(layer), int(head)) for layer, head in np.argwhere(attention.argmax(-1) == token)}
    assert found.count == len(looking)
    assert len(set(heads)) == min(SWITCHED_OFF, len(looking) or 18)
    assert looking.issuperset(heads) or not looking
    logs = of_transformers(directory, ids, token, heads)
    assert found.instead == int(logs[0].argmax())
    assert found.p_instead == pytest.approx(float(logs[0].max().exp()), rel=1e-4)
    lost = (read.log_p[target] - logs[1:, target]).numpy()
    np.testing.assert_allclose([one.lost for one in found.heads], lost, atol=1e-4)
    assert np.abs(lost).max() > 0.01
    for one in found.heads:
        assert one.weight == pytest.approx(float(attention[one.layer, one.head, token]))
        without = Peer(directory, ids, [(one.layer, one.head)]).run.logits[0, -1].double().log_softmax(-1)
        assert one.missed == pytest.approx(float(read.log_p[target] - without[target]), abs=1e-4)
    assert [one.missed for one in found.heads] == sorted((one.missed for one in found.heads), reverse=True)


def test_a_head_that_the_run_has_off_is_missed_by_nobody(tmp_path: Path) -> None:
    lm = model.load(make_checkpoint(tmp_path / "net"), device="cpu")
    off = Intervention(heads=tuple((layer, head) for layer in range(2) for head in range(6)))
    read = read_text(lm, sample_ids(1, TOKENS, seed=3)[0].tolist(), off)
    found = looks_back(read, read.answer, 4, last_attention(read).numpy())
    missed = {(one.layer, one.head): one.missed for one in found.heads}
    assert any(head in off.heads for head in missed)
    assert all((missed[head] == 0) == (head in off.heads) for head in missed)


def of_whole_runs(lm: LanguageModel, ids: list[int], token: int, heads: list[tuple[int, int]]) -> torch.Tensor:
    """The same by itself: the whole text in a row for each head, with its own score of the token -inf."""
    swaps = {}
    for layer in range(lm.config.n_layers):
        off = [(row, head) for row, (at, head) in enumerate(heads, start=1) if at == layer]

        def hide(scores: torch.Tensor, off: list[tuple[int, int]] = off) -> torch.Tensor:
            changed = scores.clone()
            changed[0, :, -1, token] = float("-inf")
            for row, head in off:
                changed[row, head, -1, token] = float("-inf")
            return changed

        swaps[f"layers.{layer}.attn.scores"] = hide
    with torch.inference_mode(), swapped(lm.net, swaps):
        return lm.net(torch.tensor([ids] * (1 + len(heads))), eager=True)[:, -1].float().log_softmax(-1)


@pytest.mark.parametrize("family", ["bloom", "deepseek", "falcon", "mixtral"])
def test_in_other_families_as_in_whole_runs_with_changed_scores(family: str) -> None:
    lm = model.load(ZOO / family, device="cpu")
    read = read_text(lm, "The cat is on the sofa. The dog is")
    attention = last_attention(read).numpy()
    found = looks_back(read, read.answer, 1, attention)
    heads = [(one.layer, one.head) for one in found.heads]
    assert heads
    logs = of_whole_runs(lm, read.ids, 1, heads)
    assert found.p_instead == pytest.approx(float(logs[0].max().exp()), rel=1e-4)
    lost = (read.log_p[read.answer] - logs[1:, read.answer]).numpy()
    np.testing.assert_allclose([one.lost for one in found.heads], lost, atol=1e-4)
