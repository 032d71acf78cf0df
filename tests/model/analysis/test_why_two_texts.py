"""Circuits, paths and causal maps of a network that reads one text and writes another, against transformers' own runs
with hooks on both stacks: tiny T5s with random weights, and the trained one."""

import random
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import model
from model import GlassLlamaError
from model.analysis.causal_map import causal_map
from model.analysis.circuit import circuit
from model.analysis.exchange import gains
from model.analysis.nodes import Pair, all_nodes, keep, rank, run_pair, site_of
from model.analysis.paths import Ends, Paths, edges, possible_edges
from model.analysis.recovered import recovered
from model.analysis.swaps import swaps
from tests.families import pair_of, sample, save
from tests.model.analysis.two_stacks import Peer, fed
from tests.model.families.test_t5 import CONFIGS

ZOO = Path(__file__).parents[3] / "model" / "zoo" / "t5"
PROMPT = "Tom is in the {}. Lily is in the garden. Tom is in the"


def two(seed: int) -> Tensor:
    """Two sources of nine tokens that differ in two."""
    ids = sample(1, 9, seed=seed).repeat(2, 1)
    ids[1, [2, 5]] = sample(1, 2, seed=1000 + seed)
    return ids


@pytest.fixture(scope="module", params=[*CONFIGS, "trained"])
def peer(request: pytest.FixtureRequest) -> Peer:
    if request.param == "trained":
        lm, net, _ = pair_of(ZOO)
        found = run_pair(lm, PROMPT.format("kitchen"), PROMPT.format("bedroom"))
        assert lm.tokenizer.pieces([found.answer, found.other]) == [" kitchen", " bedroom"]
        return Peer(net.requires_grad_(False), found)
    lm, net, _ = pair_of(save(CONFIGS[request.param], sharpness=0.8))
    found = [pair for ids in map(two, range(12)) if (pair := differing(lm, ids))]
    return Peer(net.requires_grad_(False), max(found, key=lambda pair: pair.first - pair.second))


def differing(lm: model.LanguageModel, ids: Tensor) -> Pair | None:
    """The pair of two sources after the same three tokens; None where they have the same answer."""
    try:
        return run_pair(lm, *ids.tolist(), target=sample(1, 3, seed=9)[0].tolist())
    except GlassLlamaError:
        return None


def test_the_answers_and_nodes_are_those_of_both_stacks(peer: Peer) -> None:
    pair = peer.pair
    assert [pair.answer, pair.other] == [int(peer.run(ids).argmax()) for ids in (pair.ids, pair.other_ids)]
    config, (source, written) = pair.lm.config, (text.shape[1] for text in pair.texts)
    heads, encoder = config.n_heads, pair.lm.net.encoder.config.n_layers
    nodes = all_nodes(pair)
    assert len({*nodes}) == len(nodes)
    counts = {
        kind: sum((node.stack, node.kind) == kind for node in nodes) for kind in {(n.stack, n.kind) for n in nodes}
    }
    assert counts == {
        ("encoder", "head"): encoder * source * heads,
        ("encoder", "ffn"): encoder * source,
        ("decoder", "head"): config.n_layers * written * heads,
        ("decoder", "cross"): config.n_layers * written * heads,
        ("decoder", "ffn"): config.n_layers * written,
    }
    values = peer.values(pair.ids)
    for site, value in pair.values.items():
        assert torch.allclose(value, values[site], atol=1e-5), site


def test_what_a_circuit_recovers_is_what_transformers_gives(peer: Peer) -> None:
    pair = peer.pair
    target = peer.written[0, 1:].tolist() or None
    found = circuit(pair.lm, pair.ids[0].tolist(), pair.other_ids[0].tolist(), nodes=20, target=target)
    assert (found.answer, found.other) == (pair.answer, pair.other)
    assert found.recovered == pytest.approx(peer.recovered(found.nodes), abs=1e-4)
    others = [node for node in all_nodes(pair) if node not in found.nodes]
    assert found.without == pytest.approx(peer.recovered(others), abs=1e-4)
    drawn = random.Random(3).sample(all_nodes(pair), 40)
    every, none, some = recovered(pair, keep(pair, [all_nodes(pair), [], drawn]))
    assert every == pytest.approx(1, abs=1e-4)
    assert none == pytest.approx(peer.recovered([]), abs=1e-4)
    assert some == pytest.approx(peer.recovered(drawn), abs=1e-4)


def test_gains_are_the_slopes_of_what_transformers_recovers(peer: Peer) -> None:
    pair, step = peer.pair, 0.02
    ranked, scores = rank(pair)
    assert {*ranked} == {*all_nodes(pair)}
    assert [abs(score) for score in scores] == sorted(map(abs, scores), reverse=True)
    circle = ranked[:12]
    found = gains(pair, circle)
    for node in [*circle[:3], *ranked[12:15]]:
        amount = float(node in circle)
        more, less = (peer.recovered(circle, {node: amount + way * step}) for way in (1, -1))
        assert found[node] == pytest.approx((more - less) / (2 * step), rel=0.03, abs=2e-3)


def test_paths_lose_what_they_lose_in_transformers(peer: Peer) -> None:
    pair = peer.pair
    nodes = rank(pair)[0][:14]
    paths = Paths(pair, nodes)
    kinds: dict[tuple[Any, ...], Ends] = {}
    for ends in paths.possible:
        source, target = ends
        kinds.setdefault((source.stack, source.kind, target.stack, target.kind), ends)
    crossing = [(source, target) for source, target in kinds.values() if source.stack != target.stack]
    assert crossing
    for edge in paths.measure(list(kinds.values())):
        theirs = peer.lost(nodes, (edge.source, edge.target))
        assert edge.effect == pytest.approx(theirs, abs=2e-4), edge
    rest = [edge for part in edges(pair, nodes, rows=5) for edge in part]
    assert [(edge.source, edge.target) for edge in rest] == paths.possible


def test_every_path_between_kinds_is_measured_and_none_leads_back(peer: Peer) -> None:
    """Of a circuit that has nodes of every kind at every layer, one path of each form, also those through q."""
    pair = peer.pair
    chance = random.Random(0)
    nodes = [chance.choice([node for node in all_nodes(pair) if site_of(node) == site]) for site in pair.values]
    last = pair.texts[1].shape[1] - 1
    nodes = [node._replace(token=last) if node.stack == "decoder" else node for node in nodes]
    every = possible_edges(pair, nodes)
    assert len({*every}) == len(every)
    order = {"head": 0, "cross": 1, "ffn": 2}
    forms: dict[tuple[Any, ...], Ends] = {}
    for source, target in every:
        forms.setdefault((source.stack, source.kind, target.kind, source.layer == target.layer), (source, target))
        if source.stack != target.stack:
            assert (source.stack, target.kind) == ("encoder", "cross")
            continue
        assert (source.layer, order.get(source.kind, -1)) < (target.layer, order.get(target.kind, 3))
        if target.stack == "decoder" and target.kind == "head":
            assert source.token <= target.token
        elif target.kind != "head":
            assert source.token == target.token
    assert {("decoder", "head", "cross", True), ("decoder", "cross", "ffn", True)} <= set(forms)
    assert ("encoder", "ffn", "cross", False) in forms or ("encoder", "ffn", "cross", True) in forms
    for edge in Paths(pair, nodes).measure(list(forms.values())):
        assert edge.effect == pytest.approx(peer.lost(nodes, (edge.source, edge.target)), abs=2e-4), edge


def test_both_causal_maps_are_those_of_transformers_hooks(peer: Peer) -> None:
    pair, chance = peer.pair, random.Random(1)
    for stack, ids in zip(("encoder", "decoder"), pair.texts, strict=True):
        layers = getattr(peer.net, stack).block
        ours = causal_map(pair, rows=7, stack=stack)
        assert ours.shape == (len(layers) + 1, ids.shape[1])
        places = [(depth, token) for depth in range(len(layers) + 1) for token in range(ids.shape[1])]
        for depth, token in chance.sample(places, min(len(places), 24)):
            module = getattr(peer.net, stack).final_layer_norm if depth == len(layers) else layers[depth]
            streams: list[Tensor] = []
            with fed(module, lambda stream, seen=streams: seen.append(stream) or stream):
                peer.run(pair.other_ids)

            def place(stream: Tensor, token: int = token, theirs: Tensor = streams[0]) -> Tensor:
                changed = stream.clone()
                changed[0, token] = theirs[0, token]
                return changed

            with fed(module, place):
                share = peer.share(peer.run(pair.ids))
            assert float(ours[depth, token]) == pytest.approx(share, abs=1e-4)
    assert torch.equal(causal_map(pair), causal_map(pair, stack="decoder"))
    assert ours[0].tolist() == pytest.approx([1.0] * ids.shape[1], abs=1e-4)  # what is written is the same in both


def test_words_of_the_source_are_offered_that_change_what_is_written() -> None:
    lm, net, _ = pair_of(ZOO)
    prompt = PROMPT.format("kitchen")
    for target in (None, " kitchen."):
        written = [] if target is None else lm.tokenizer.encode(target)
        found = swaps(lm, prompt, target=target)
        assert found or target
        for one in found:
            assert one.text == prompt[: one.start] + one.other + prompt[one.start + len(one.word) :]
            ids = lm.tokenizer.encode(one.text)
            assert len(ids) == len(lm.tokenizer.encode(prompt))
            with torch.no_grad():
                source, begun = torch.tensor([ids]), torch.tensor([[lm.net.config.start_id, *written]])
                best = net(source, decoder_input_ids=begun).logits[0, -1].softmax(-1).max(-1)
            assert (one.answer, one.probability) == (int(best.indices), pytest.approx(float(best.values), abs=1e-5))


def test_what_cannot_be_asked_is_refused_by_name(peer: Peer) -> None:
    pair, target = peer.pair, peer.written[0, 1:].tolist() or None
    lm, one, two = pair.lm, pair.ids[0].tolist(), pair.other_ids[0].tolist()
    llama = model.load(ZOO.parent / "llama", device="cpu")
    for code, ask in (
        ("circuit_tokens", lambda: circuit(lm, one, two[:-1])),
        ("circuit_answer", lambda: circuit(lm, one, one)),
        ("field", lambda: circuit(lm, one, two, nodes=len(all_nodes(pair)) + 1, target=target)),
        ("prompt_empty", lambda: circuit(lm, one, two, target=[])),
        ("target", lambda: circuit(llama, "Tom is", "Tom has", target="in")),
    ):
        with pytest.raises(GlassLlamaError) as caught:
            ask()
        assert caught.value.code == code
