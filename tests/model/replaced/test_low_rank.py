"""Latents in place of K/V heads, against transformers' network with weights of that rank."""

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import LlamaForCausalLM

import model
from model.replaced.low_rank import joint_directions, with_latents
from tests.standin import make_checkpoint
from visuals.attention_kinds import AttentionKinds, attention_kinds_info, ranks_of

IDS = [5, 9, 17, 3, 200, 41, 8]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_checkpoint(tmp_path_factory.mktemp("latents") / "model", num_key_value_heads=2)


@torch.no_grad()
def of_low_rank(directory: Path, ids: list[int], rank: int) -> LlamaForCausalLM:
    """transformers' network with W_K and W_V, one below the other, brought to the best fit of [K; V] by numpy."""
    net = LlamaForCausalLM.from_pretrained(directory, attn_implementation="eager")
    seen = {}
    for name, module in net.named_modules():
        if name.endswith(("k_proj", "v_proj")):
            module.register_forward_hook(lambda _, __, out, name=name: seen.update({name: out[0].double().numpy()}))
    net(torch.tensor([ids]))
    for layer in net.model.layers:
        attn, of = layer.self_attn, f"model.layers.{layer.self_attn.layer_idx}.self_attn."
        u = np.linalg.svd(np.hstack([seen[f"{of}k_proj"], seen[f"{of}v_proj"]]))[2][:rank]
        both = torch.cat((attn.k_proj.weight, attn.v_proj.weight)).double()
        fitted = (torch.from_numpy(u.T @ u) @ both).float()
        attn.k_proj.weight.copy_(fitted[: len(attn.k_proj.weight)])
        attn.v_proj.weight.copy_(fitted[len(attn.k_proj.weight) :])
    return net


@torch.no_grad()
def test_logits_are_those_of_transformers(checkpoint: Path) -> None:
    """Ranks side by side in one batch; with as many as tokens nothing is lost."""
    lm = model.load(checkpoint, device="cpu")
    trace, ids, ranks = model.run_trace(lm, IDS), torch.tensor([IDS]), [1, 3, 7]
    before = lm.net(ids)
    directions = joint_directions(lm, trace.residual)
    found = with_latents(lm.net, directions, ranks)(ids.expand(3, -1))
    for rank, logits in zip(ranks, found, strict=True):
        torch.testing.assert_close(logits, of_low_rank(checkpoint, IDS, rank)(ids).logits[0], rtol=1e-5, atol=2e-5)
    torch.testing.assert_close(found[2:], before, rtol=1e-5, atol=2e-5)
    assert torch.equal(lm.net(ids), before)  # the loaded network is as it was


@torch.no_grad()
def test_every_kind_comes_in_parts(checkpoint: Path) -> None:
    """The first is read off the run; each further one measures more, until all are there; KL against transformers."""
    lm = model.load(checkpoint, device="cpu")
    trace = model.run_trace(lm, IDS)
    parts: list[AttentionKinds] = [attention_kinds_info(lm, trace)]
    assert {count for count, one in parts[0].heads.items() if one} == {2, 6}
    while parts[-1].done < parts[-1].total:
        parts.append(attention_kinds_info(lm, trace, parts[-1]))
        assert parts[-1].done > parts[-2].done
    last = parts[-1]
    assert list(last.latents) == ranks_of(7, 1000) == [1, 2, 4, 7]
    own = LlamaForCausalLM.from_pretrained(checkpoint)(torch.tensor([IDS])).logits[0, -1].double().log_softmax(-1)
    for rank, found in last.latents.items():
        logs = of_low_rank(checkpoint, IDS, rank)(torch.tensor([IDS])).logits[0, -1].double().log_softmax(-1)
        assert found
        assert found.kl == pytest.approx(float((own.exp() * (own - logs)).sum()), abs=1e-5)
        assert found.p_answer == pytest.approx(float(logs[own.argmax()].exp()), abs=1e-5)


def test_ranks() -> None:
    assert ranks_of(1, 64) == [1]
    assert ranks_of(8, 64) == [1, 2, 4, 8]
    assert ranks_of(300, 64) == [1, 2, 4, 8, 16, 32, 64]
