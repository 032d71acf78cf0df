"""Networks with other numbers of K/V heads, against transformers' with the same pooled weights."""

import copy
from pathlib import Path

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

import model
from model.replaced.pooled_heads import can_be_pooled, head_counts, pooled, with_kv_heads
from tests.standin import make_checkpoint

IDS = [5, 9, 17, 3, 200, 41, 8]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_checkpoint(tmp_path_factory.mktemp("pooled") / "model", num_key_value_heads=2)


def of_transformers(directory: Path, count: int) -> LlamaForCausalLM:
    """transformers' network whose W_K and W_V are means of the rows that each group of query heads reads."""
    whole = LlamaForCausalLM.from_pretrained(directory, attn_implementation="eager")
    config = LlamaConfig(**{**whole.config.to_dict(), "num_key_value_heads": count})
    weights, heads, given = (
        copy.deepcopy(whole.state_dict()),
        config.num_attention_heads,
        whole.config.num_key_value_heads,
    )
    for name, weight in weights.items():
        if "k_proj" in name or "v_proj" in name:
            rows = weight.view(given, config.head_dim, -1)
            read = [rows[head * given // heads] for head in range(heads)]
            parts = torch.stack(read).view(count, heads // count, config.head_dim, -1)
            weights[name] = parts.mean(1).reshape(count * config.head_dim, -1)
    made = LlamaForCausalLM(config).eval()
    made.load_state_dict(weights)
    return made


@pytest.mark.parametrize("count", [1, 2, 3, 6])
@torch.no_grad()
def test_logits_are_those_of_transformers(checkpoint: Path, count: int) -> None:
    lm = model.load(checkpoint, device="cpu")
    ids = torch.tensor([IDS])
    before = lm.net(ids)
    found = with_kv_heads(lm.net, count)(ids)
    truth = of_transformers(checkpoint, count)(ids).logits
    torch.testing.assert_close(found, truth, rtol=1e-5, atol=1e-5)
    assert torch.equal(lm.net(ids), before)  # the loaded network is as it was
    assert lm.net.block(0).attn.n_kv_heads == 2
    if count % 2 == 0:
        torch.testing.assert_close(found, before, rtol=1e-5, atol=1e-6)


def test_the_numbers_are_the_divisors() -> None:
    assert head_counts(12) == [1, 2, 3, 4, 6, 12]
    assert head_counts(1) == [1]


def test_what_does_not_divide_is_refused(checkpoint: Path) -> None:
    with pytest.raises(ValueError, match=r"n_heads \(6\) is not a multiple of the number of K/V heads \(4\)"):
        pooled(torch.zeros(2, 5), 6, 4)
    with pytest.raises(ValueError, match=r"n_heads \(6\) is not a multiple of the number of K/V heads \(5\)"):
        with_kv_heads(model.load(checkpoint, device="cpu").net, 5)


@pytest.mark.parametrize(
    ("name", "can"),
    [("llama", True), ("falcon", True), ("bloom", True), ("glm", True), ("deepseek", False), ("t5", False)],
)
def test_which_networks_can_be_pooled(name: str, can: bool) -> None:
    net = model.load(Path(model.__file__).parent / "zoo" / name, device="cpu").net
    assert can_be_pooled(net) == can
    if can:
        own, ids = net.block(0).attn.n_kv_heads, torch.tensor([IDS])
        with torch.no_grad():
            before = net(ids)
            largest = float(before.abs().max())  # processors add a product's terms in orders of their own
            torch.testing.assert_close(with_kv_heads(net, own)(ids), before, rtol=1e-5, atol=2e-6 * largest)
            assert with_kv_heads(net, 1)(ids).isfinite().all()
