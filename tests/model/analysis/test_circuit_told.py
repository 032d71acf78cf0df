"""What a circuit says of itself: how many nodes it needs, what they read and write, what stronger controls recover, and
how far it holds on other pairs. Against transformers' own values and hooks."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
import torch

import model
from model.analysis.causal_map import Patched, causal_map
from model.analysis.circuit import COUNTS, ENOUGH, change_control, changed_most, circuit, held_out_shares
from model.analysis.held_out import held_out
from model.analysis.node_roles import node_roles
from model.analysis.nodes import Node, run_pair
from tests.model.analysis.test_why import TOKENS, Peer
from tests.reference import reference, run_reference, sample_ids
from tests.standin import make_checkpoint

NAMES = "Tom is in the {}. Lily is in the garden. Tom is in the"


@pytest.fixture(scope="module")
def stand(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any, torch.Tensor]:
    """Our model, transformers' and two prompts (2, T) that differ in two tokens and in the answer."""
    directory: Path = make_checkpoint(tmp_path_factory.mktemp("told") / "gqa")
    peer = reference(directory)
    for seed in range(50):
        ids = sample_ids(1, TOKENS, seed=seed).repeat(2, 1)
        ids[1, [3, 6]] = sample_ids(1, 2, seed=1000 + seed)
        first, second = run_reference(peer, ids).logits[:, -1].argmax(-1).tolist()
        if first != second:
            return model.load(directory, device="cpu"), peer, ids
    raise AssertionError("no two prompts with different answers")


@pytest.fixture(scope="module")
def bundled() -> model.LanguageModel:
    return model.load(device="cpu")


def test_as_many_nodes_as_are_needed_and_a_curve_that_transformers_gives(
    stand: tuple[Any, Any, torch.Tensor],
) -> None:
    lm, net, ids = stand
    found = circuit(lm, *ids.tolist())
    assert len(found.nodes) in COUNTS
    assert abs(found.recovered - 1) <= ENOUGH or len(found.nodes) == COUNTS[-1]
    peer = Peer(net, ids, (found.answer, found.other), lm.config.n_heads)
    curve = dict(found.curve)
    assert list(curve) == sorted({*COUNTS, len(found.nodes)})
    assert curve[len(found.nodes)] == pytest.approx(found.recovered, abs=1e-5)
    for count in (5, 10):
        assert curve[count] == pytest.approx(peer.share(found.nodes[:count]), abs=1e-4)


def test_the_largest_changes_are_those_of_transformers_writes(stand: tuple[Any, Any, torch.Tensor]) -> None:
    lm, net, ids = stand
    pair = run_pair(lm, *ids.tolist())
    peer = Peer(net, ids, (pair.answer, pair.other), lm.config.n_heads)
    own, theirs = peer.values(0), peer.values(1)
    sizes: dict[Node, float] = {}
    width = lm.config.head_dim
    for layer, block in enumerate(net.model.layers):
        weight = block.self_attn.o_proj.weight.detach()
        for token in range(TOKENS):
            heads = (own[f"heads {layer}"] - theirs[f"heads {layer}"])[0, token]
            for head in range(lm.config.n_heads):
                part = slice(head * width, (head + 1) * width)
                sizes[Node("head", layer, head, token)] = float((weight[:, part] @ heads[part]).norm())
            sizes[Node("ffn", layer, None, token)] = float(
                (own[f"ffn {layer}"] - theirs[f"ffn {layer}"])[0, token].norm()
            )
    largest = sorted(sizes, key=lambda node: -sizes[node])[:15]
    assert set(changed_most(pair, 15)) == set(largest)
    assert change_control(pair, 15) == pytest.approx(peer.share(largest), abs=1e-4)


def test_nodes_read_and_write_what_transformers_run_says(stand: tuple[Any, Any, torch.Tensor]) -> None:
    lm, net, ids = stand
    pair = run_pair(lm, *ids.tolist())
    nodes = circuit(lm, *ids.tolist(), nodes=30).nodes
    peer = Peer(net, ids, (pair.answer, pair.other), lm.config.n_heads)
    run, written, width = run_reference(net, ids[:1]), peer.values(0), lm.config.head_dim
    streams: list[torch.Tensor] = []
    values: list[torch.Tensor] = []
    hooks = [net.model.norm.register_forward_pre_hook(lambda _, given: streams.append(given[0][0, -1]))]
    for block in net.model.layers:
        hooks.append(block.self_attn.v_proj.register_forward_hook(lambda _, __, out: values.append(out[0])))
    with torch.no_grad():
        net(ids[:1])
    for hook in hooks:
        hook.remove()
    rms = (streams[0].square().mean() + net.config.rms_norm_eps).sqrt()
    gain, rows = net.model.norm.weight.detach(), net.lm_head.weight.detach()[[pair.answer, pair.other]]
    told = node_roles(pair, nodes)
    assert any(node.token == TOKENS - 1 for node in nodes)
    for node, role in zip(nodes, told, strict=True):
        if node.kind == "ffn":
            assert role[:2] == (None, None)
            out = written[f"ffn {node.layer}"][0, node.token]
        else:
            head = node.head or 0
            kv = head * lm.config.n_kv_heads // lm.config.n_heads
            weights = run.attentions[node.layer][0, head, node.token]
            sizes = values[node.layer].view(TOKENS, -1, width)[:, kv].norm(dim=-1)
            assert role.reads == int((weights * sizes).argmax())
            assert role.weight == pytest.approx(float(weights[role.reads]), abs=1e-5)
            part = slice(head * width, (head + 1) * width)
            weight = net.model.layers[node.layer].self_attn.o_proj.weight.detach()
            out = weight[:, part] @ written[f"heads {node.layer}"][0, node.token, part]
        if node.token < TOKENS - 1:
            assert role[2:] == (None, None)
        else:
            assert role[2:] == pytest.approx((rows @ (out / rms * gain)).tolist(), abs=1e-4)


def test_pairs_of_the_same_kind_exchange_the_words_in_which_two_prompts_differ(bundled: model.LanguageModel) -> None:
    one, other = NAMES.format("kitchen"), NAMES.format("bedroom")
    found = circuit(bundled, one, other)
    made = held_out(found.pair)
    assert made
    pieces, differ = bundled.tokenizer.pieces, (found.pair.ids != found.pair.other_ids)[0]
    seen: set[tuple[int, ...]] = set()
    for pair in made:
        for ids, own in ((pair.ids, found.pair.ids), (pair.other_ids, found.pair.other_ids)):
            assert ((ids != own)[0] >= differ).all()  # other words where the two differ
            assert seen.isdisjoint({tuple(ids[0].tolist())})
            seen.add(tuple(ids[0].tolist()))
        assert int(bundled.net(pair.ids)[0, -1].argmax()) == pair.answer
        assert int(bundled.net(pair.other_ids)[0, -1].argmax()) == pair.other
        told = [pieces(ids[differ[None]].tolist()) for ids in (pair.ids, pair.other_ids)]
        assert [pieces([pair.answer]), pieces([pair.other])] == told  # what was told is what is answered
    tried = held_out_shares(found.pair, found.nodes)
    assert [one.pair.ids.tolist() for one in tried] == [pair.ids.tolist() for pair in made]
    assert max(one.share for one in tried) > 0.5
    far = held_out(run_pair(bundled, one, "Lily is in the garden. Tom is in the bedroom. Lily is in the"))
    assert far == []  # the two differ in more than words


@pytest.mark.parametrize("what", ["attention", "ffn"])
def test_what_a_part_loses_alone_is_that_of_transformers_hooks(stand: tuple[Any, Any, torch.Tensor], what: str) -> None:
    """Both ways in which a map is worked out: joining at the place, and as a network with two stacks has it."""
    lm, net, ids = stand
    pair = run_pair(lm, *ids.tolist())
    peer = Peer(net, ids, (pair.answer, pair.other), lm.config.n_heads)
    modules = [block.self_attn if what == "attention" else block.mlp for block in net.model.layers]

    def lead(row: int) -> float:
        with torch.no_grad():
            return peer.difference(net(ids[row : row + 1]).logits[0, -1])

    first, second = lead(0), lead(1)
    ours = causal_map(pair, rows=5, what=cast(Patched, what))
    assert torch.allclose(ours, causal_map(replace(pair, before=None), what=cast(Patched, what)), atol=1e-5)
    assert ours.shape == (lm.config.n_layers, TOKENS)
    for layer, module in enumerate(modules):
        theirs: list[torch.Tensor] = []

        def keep_it(_: Any, __: Any, out: Any, theirs: list[torch.Tensor] = theirs) -> None:
            theirs.append((out[0] if isinstance(out, tuple) else out).clone())

        hook = module.register_forward_hook(keep_it)
        lead(1)
        hook.remove()
        for token in range(TOKENS):

            def place(_: Any, __: Any, out: Any, token: int = token, theirs: torch.Tensor = theirs[0]) -> Any:
                changed = (out[0] if isinstance(out, tuple) else out).clone()
                changed[0, token] = theirs[0, token]
                return (changed, *out[1:]) if isinstance(out, tuple) else changed

            hook = module.register_forward_hook(place)
            share = (lead(0) - second) / (first - second)
            hook.remove()
            assert float(ours[layer, token]) == pytest.approx(share, abs=1e-4)
