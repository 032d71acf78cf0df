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
from model.analysis.logit_terms import logit_terms
from model.analysis.looks_back import looking_head, looks_back
from model.analysis.nodes import swapped
from model.analysis.sinks import last_attention
from model.interventions import Intervention
from tests.peer import Peer
from tests.reference import reference, sample_ids
from tests.standin import make_checkpoint

ZOO = Path(model.__file__).parent / "zoo"
TOKENS = 9


def of_transformers(directory: Path, ids: list[int], token: int, target: int) -> tuple[torch.Tensor, torch.Tensor]:
    """(V,): log-probabilities where the last token may not look at `token` in any layer. (L, n_heads): what each head
    adds to the target's logit from there in the run as it is, through W_O, the final norm and the output head."""
    net = reference(directory)
    config, count = net.config, len(ids)
    values: list[torch.Tensor] = []
    streams: list[torch.Tensor] = []
    handles = [
        block.self_attn.v_proj.register_forward_hook(lambda _, __, out: values.append(out[0, token]))
        for block in net.model.layers
    ]
    handles.append(net.model.norm.register_forward_pre_hook(lambda _, given: streams.append(given[0][0, -1])))
    with torch.no_grad():
        run = net(torch.tensor([ids]), output_attentions=True)
        size = (streams[0].double().square().mean() + net.model.norm.variance_epsilon).sqrt()
        along = net.lm_head.weight[target].double() * net.model.norm.weight.double() / size
        adds = torch.zeros(config.num_hidden_layers, config.num_attention_heads, dtype=torch.float64)
        for layer, block in enumerate(net.model.layers):
            shared = config.num_attention_heads // config.num_key_value_heads
            kept = values[layer].double().unflatten(0, (config.num_key_value_heads, -1)).repeat_interleave(shared, 0)
            columns = block.self_attn.o_proj.weight.double().unflatten(1, (config.num_attention_heads, -1))
            written = torch.einsum("dhw,hw->hd", columns, kept)
            adds[layer] = run.attentions[layer][0, :, -1, token].double() * (written @ along)
    for handle in handles:
        handle.remove()
    mask = torch.full((count, count), float("-inf")).triu(1)
    mask[-1, token] = -torch.inf

    def masked(_: LlamaAttention, args: Any, given: dict[str, Any]) -> Any:
        return args, {**given, "attention_mask": mask.expand(1, config.num_attention_heads, -1, -1)}

    handles = [
        block.get_submodule("self_attn").register_forward_pre_hook(masked, with_kwargs=True)
        for block in net.model.layers
    ]
    with torch.no_grad():
        logs = net(torch.tensor([ids])).logits[0, -1].log_softmax(-1)
    for handle in handles:
        handle.remove()
    return logs, adds


@pytest.mark.parametrize("shape", [{}, {"num_key_value_heads": 6}], ids=["gqa", "mha"])
def test_as_transformers_has_it(tmp_path: Path, shape: dict[str, Any]) -> None:
    directory = make_checkpoint(tmp_path / "net", **shape)
    ids = sample_ids(1, TOKENS, seed=3)[0].tolist()
    read = read_text(model.load(directory, device="cpu"), ids)
    target, token = read.answer, 4
    attention = last_attention(read).numpy()
    found = looks_back(read, target, token, attention)
    logs, adds = of_transformers(directory, ids, token, target)
    assert found.instead == int(logs.argmax())
    assert found.p_instead == pytest.approx(float(logs.max().exp()), rel=1e-4)
    looking = {(int(layer), int(head)) for layer, head in np.argwhere(attention.argmax(-1) == token)}
    assert looking == set(found.looking)
    order = [float(adds[head]) for head in found.looking]
    assert order == sorted(order, reverse=True)
    assert found.together == pytest.approx(sum(order), rel=1e-4, abs=1e-6)
    assert found.key == token
    assert found.from_token == pytest.approx(max([0.0, *order]), rel=1e-4, abs=1e-6)
    of_all = [divmod(int(i), adds.shape[1]) for i in adds.flatten().argsort(descending=True)]
    first, *others = list(found.looking)[:4] or of_all[:1]
    missed = {head: lost_without(directory, ids, head, target) for head in (first, *others, (1, 2))}
    most = max(others, key=missed.__getitem__, default=first)
    expected = first if missed[first] >= 0.05 or missed[most] < 0.05 else most
    for one, head in ((found.head, expected), (looking_head(read, target, token, (1, 2), attention), (1, 2))):
        assert (one.layer, one.head) == head
        assert one.adds == pytest.approx(float(adds[head]), rel=1e-4, abs=1e-6)
        assert one.weight == pytest.approx(float(attention[(*head, token)]))
        assert one.missed == pytest.approx(missed[head], abs=1e-4)


def lost_without(directory: Path, ids: list[int], head: tuple[int, int], target: int) -> float:
    """Nats that a target loses where transformers' own network has a head's part of W_O's input at zero."""
    whole, without = (Peer(directory, ids, off).run.logits[0, -1].double().log_softmax(-1) for off in ([], [head]))
    return float(whole[target] - without[target])


@pytest.mark.parametrize("seed", range(3))
def test_the_answer_is_brought_from_the_first_token_needed_from_which_a_head_adds_much(
    tmp_path: Path, seed: int
) -> None:
    directory = make_checkpoint(tmp_path / "net")
    ids = sample_ids(1, TOKENS, seed=seed)[0].tolist()
    read = read_text(model.load(directory, device="cpu"), ids)
    attention = last_attention(read).numpy()
    tokens = [*range(1, TOKENS - 1)][:4]
    most = []
    for token in tokens:
        adds = of_transformers(directory, ids, token, read.answer)[1]
        most.append(max([0.0, *(float(adds[tuple(head)]) for head in np.argwhere(attention.argmax(-1) == token))]))
    for order in (tokens, tokens[::-1]):
        first, *others = order
        found = looks_back(read, read.answer, first, attention, others=others)
        enough = [token for token in order if most[tokens.index(token)] >= max(most) / 4]
        assert found.key == enough[0]
        assert found.from_token == pytest.approx(most[tokens.index(first)], rel=1e-4, abs=1e-6)
        assert found.instead == looks_back(read, read.answer, first, attention).instead


def test_a_head_that_the_run_has_off_adds_nothing_and_is_missed_by_nobody(tmp_path: Path) -> None:
    lm = model.load(make_checkpoint(tmp_path / "net"), device="cpu")
    off = Intervention(heads=tuple((layer, head) for layer in range(3) for head in range(6)))
    read = read_text(lm, sample_ids(1, TOKENS, seed=3)[0].tolist(), off)
    found = looks_back(read, read.answer, 4, last_attention(read).numpy())
    assert (found.head.adds, found.head.missed) == (0, 0)


def of_whole_runs(lm: LanguageModel, ids: list[int], token: int) -> torch.Tensor:
    """Log-probabilities of the whole text by itself, where the last token's score of the token is -inf everywhere."""

    def hide(scores: torch.Tensor) -> torch.Tensor:
        changed = scores.clone()
        changed[:, :, -1, token] = float("-inf")
        return changed

    swaps = {f"layers.{layer}.attn.scores": hide for layer in range(lm.config.n_layers)}
    with torch.inference_mode(), swapped(lm.net, swaps):
        return lm.net(torch.tensor([ids]), eager=True)[0, -1].float().log_softmax(-1)


@pytest.mark.parametrize("family", ["bloom", "deepseek", "falcon", "mixtral"])
def test_in_other_families_as_in_whole_runs(family: str) -> None:
    lm = model.load(ZOO / family, device="cpu")
    read = read_text(lm, "The cat is on the sofa. The dog is")
    attention = last_attention(read).numpy()
    found = looks_back(read, read.answer, 1, attention)
    without = of_whole_runs(lm, read.ids, 1)
    assert found.p_instead == pytest.approx(float(without.max().exp()), rel=1e-4)
    one, terms = found.head, logit_terms(model.run_trace(lm, read.ids), read.answer)
    assert one.adds == pytest.approx(float(terms.heads[one.layer, one.head, 1]), rel=1e-4, abs=1e-6)
    assert terms.total == pytest.approx(terms.logit, abs=1e-3)  # of which it is a part
