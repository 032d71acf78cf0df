"""Scores and logits taken apart, circuits, paths and the causal map, against transformers' own runs with hooks."""

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import torch

import model
from model import GlassLlamaError
from model.analysis.causal_map import causal_map
from model.analysis.circuit import circuit
from model.analysis.exchange import exchanged, gains
from model.analysis.logit_terms import logit_terms
from model.analysis.nodes import Node, all_nodes, keep, rank, run_pair
from model.analysis.paths import edges, possible_edges
from model.analysis.recovered import recovered
from model.analysis.score_terms import score_terms
from model.analysis.stream_writes import StreamWrites
from model.interventions import Intervention, Patch
from model.pieces import finish
from tests.reference import reference, run_reference, sample_ids
from tests.standin import make_checkpoint

SHAPES: dict[str, dict[str, Any]] = {
    "gqa": {},
    "mha": {"num_key_value_heads": 6, "tie_word_embeddings": True},
    "yarn": {
        "num_key_value_heads": 1,
        "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32},
    },
}
TOKENS = 11


@pytest.fixture(scope="module", params=SHAPES)
def stand(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any, torch.Tensor]:
    """Our model, transformers' and two prompts (2, T) that differ in two tokens and in the answer."""
    directory: Path = make_checkpoint(tmp_path_factory.mktemp("why") / request.param, **SHAPES[request.param])
    peer = reference(directory)
    for seed in range(50):
        ids = sample_ids(1, TOKENS, seed=seed).repeat(2, 1)
        ids[1, [3, 6]] = sample_ids(1, 2, seed=1000 + seed)
        first, second = run_reference(peer, ids).logits[:, -1].argmax(-1).tolist()
        if first != second:
            return model.load(directory, device="cpu"), peer, ids
    raise AssertionError("no two prompts with different answers")


def test_terms_sum_to_the_score_that_transformers_gives(stand: tuple[Any, Any, torch.Tensor]) -> None:
    lm, peer, ids = stand
    trace = model.run_trace(lm, ids[0].tolist())
    weights = run_reference(peer, ids[:1]).attentions
    for layer in range(lm.config.n_layers):
        for head in range(lm.config.n_heads):
            rows = [score_terms(trace, layer, head, TOKENS - 1, key) for key in (0, 6, TOKENS - 1)]
            sums = torch.tensor([float(row.terms.sum()) for row in rows])
            ours = torch.tensor([row.score for row in rows])
            assert torch.allclose(sums, ours, atol=1e-5, rtol=1e-5)
            theirs = weights[layer][0, head, -1, [0, 6, TOKENS - 1]].log()
            assert torch.allclose(sums - sums[0], theirs - theirs[0], atol=1e-4)
            assert len(rows[0].names) == 1 + layer * (lm.config.n_heads + 1)


def test_a_term_is_what_a_source_alone_would_score(stand: tuple[Any, Any, torch.Tensor]) -> None:
    """The embedding's term with itself, from transformers' own projections of the embedding alone."""
    lm, peer, ids = stand
    trace = model.run_trace(lm, ids[0].tolist())
    query, key, layer, head = 9, 4, 2, 3
    found = score_terms(trace, layer, head, query, key)
    block = peer.model.layers[layer]
    with torch.no_grad():
        stream = run_reference(peer, ids[:1]).hidden_states[layer][0]
        scale = (stream.square().mean(-1, keepdim=True) + peer.config.rms_norm_eps).sqrt()
        alone = peer.model.embed_tokens(ids[0]) / scale * block.input_layernorm.weight
        width = lm.config.head_dim
        q = block.self_attn.q_proj(alone).view(1, TOKENS, -1, width).transpose(1, 2)
        k = block.self_attn.k_proj(alone).view(1, TOKENS, -1, width).transpose(1, 2)
        from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

        q, k = apply_rotary_pos_emb(q, k, *peer.model.rotary_emb(alone[None], torch.arange(TOKENS)[None]))
        kv_head = head * lm.config.n_kv_heads // lm.config.n_heads
        term = float(q[0, head, query] @ k[0, kv_head, key]) * width**-0.5
    assert float(found.terms[0, 0]) == pytest.approx(term, rel=1e-4, abs=1e-5)


def test_writes_sum_to_the_stream_also_where_parts_are_off(stand: tuple[Any, Any, torch.Tensor]) -> None:
    lm, _, ids = stand
    patch = Patch(1, 5, tuple(float(i % 3) for i in range(lm.config.d_model)))
    what = Intervention(heads=((0, 2), (1, 1)), neurons=((0, 4),), attention=(1,), patches=(patch,))
    trace = model.run_trace(lm, ids[0].tolist(), what)
    sources, written = finish(StreamWrites(trace).before(2, [5, 7]))
    assert torch.allclose(written.sum(1), torch.from_numpy(trace.residual[2, [5, 7]]).double(), atol=1e-5)
    assert [str(source) for source in sources if source.kind == "patch"] == ["patch 1"]
    assert float(written[:, sources.index(("head", 0, 2))].abs().max()) == 0
    terms = logit_terms(trace, 7, position=5)
    assert terms.total == pytest.approx(terms.logit, abs=1e-5)
    assert float(terms.heads[0, 2].abs().max()) == 0


def test_logit_terms_sum_to_transformers_logit(stand: tuple[Any, Any, torch.Tensor]) -> None:
    lm, peer, ids = stand
    trace = model.run_trace(lm, ids[0].tolist())
    logits = run_reference(peer, ids[:1]).logits[0]
    for position in (0, 4, -1):
        best, second = logits[position].topk(2).indices.tolist()
        alone, less = logit_terms(trace, best, position=position), logit_terms(trace, best, second, position)
        assert alone.total == pytest.approx(float(logits[position, best]), abs=2e-5)
        assert less.total == pytest.approx(float(logits[position, best] - logits[position, second]), abs=2e-5)
        after = position % TOKENS + 1
        assert not alone.heads[:, :, after:].any()


class Peer:
    """transformers' run in which some nodes have given values; the answer's logit less the other's."""

    def __init__(self, net: Any, ids: torch.Tensor, answers: tuple[int, int], heads: int):
        self.net, self.ids, self.answers, self.heads = net, ids, answers, heads

    def values(self, row: int) -> dict[str, torch.Tensor]:
        seen: dict[str, torch.Tensor] = {}
        self._run(row, lambda name, value: seen.setdefault(name, value.clone()))
        return seen

    def _run(self, row: int, change: Any) -> torch.Tensor:
        handles = []
        for i, block in enumerate(self.net.model.layers):
            handles += [
                block.self_attn.o_proj.register_forward_pre_hook(
                    lambda _, given, i=i: (change(f"heads {i}", given[0]),)
                ),
                block.mlp.register_forward_hook(lambda _, __, value, i=i: change(f"ffn {i}", value)),
            ]
        with torch.no_grad():
            logits = self.net(self.ids[row : row + 1]).logits[0, -1]
        for handle in handles:
            handle.remove()
        return logits

    def share(self, nodes: Iterable[Node], amounts: dict[Node, float] | None = None) -> float:
        """What is recovered with these nodes kept, and of those in `amounts` as much."""
        theirs = self.values(1)
        every = dict.fromkeys(nodes, 1.0) | (amounts or {})
        live = {(node.layer, node.head, node.token): amount for node, amount in every.items()}

        def mixed(own: torch.Tensor, other: torch.Tensor, *place: int | None) -> torch.Tensor:
            amount = live.get(place, 0.0)
            return own if amount == 1 else other + amount * (own - other)

        def change(name: str, value: torch.Tensor) -> torch.Tensor:
            kind, layer = name.split()
            value = value.clone()
            for token in range(value.shape[1]):
                own, other = value[0, token], theirs[name][0, token]
                if kind == "ffn":
                    value[0, token] = mixed(own, other, int(layer), None, token)
                for head in range(self.heads) if kind == "heads" else ():
                    width = value.shape[-1] // self.heads
                    part = slice(head * width, (head + 1) * width)
                    own[part] = mixed(own[part], other[part], int(layer), head, token)
            return value

        run, first, second = (
            self.difference(self._run(0, change)),
            *(self.difference(self._run(row, lambda _, value: value)) for row in (0, 1)),
        )
        return (run - first) / (first - second) + 1

    def difference(self, logits: torch.Tensor) -> float:
        return float(logits[self.answers[0]] - logits[self.answers[1]])


def test_what_a_circuit_recovers_is_what_transformers_gives(stand: tuple[Any, Any, torch.Tensor]) -> None:
    lm, net, ids = stand
    found = circuit(lm, ids[0].tolist(), ids[1].tolist(), nodes=12)
    answers = run_reference(net, ids).logits[:, -1].argmax(-1).tolist()
    assert [found.answer, found.other] == answers
    peer = Peer(net, ids, (answers[0], answers[1]), lm.config.n_heads)
    assert found.recovered == pytest.approx(peer.share(list(found.nodes)), abs=1e-4)
    others = [node for node in all_nodes(found.pair) if node not in found.nodes]
    assert found.without == pytest.approx(peer.share(others), abs=1e-4)
    every, none = recovered(found.pair, keep(found.pair, [all_nodes(found.pair), []]))
    assert every == pytest.approx(1, abs=1e-5)
    assert none == pytest.approx(peer.share([]), abs=1e-4)


def test_gains_are_the_slopes_of_what_transformers_recovers(stand: tuple[Any, Any, torch.Tensor]) -> None:
    """Of each node, inside the circuit and outside, a little more and a little less is kept."""
    lm, net, ids = stand
    pair = run_pair(lm, *ids.tolist())
    ranked, _ = rank(pair)
    circle = ranked[:12]
    found = gains(pair, circle)
    peer, step = Peer(net, ids, (pair.answer, pair.other), lm.config.n_heads), 0.05
    assert set(found) == set(ranked)
    for node in [*circle[:4], *ranked[12:18], ranked[-1]]:
        amount = float(node in circle)
        more, less = (peer.share(circle, {node: amount + way * step}) for way in (1, -1))
        assert found[node] == pytest.approx((more - less) / (2 * step), rel=0.02, abs=1e-3)


def test_an_exchange_brings_a_circuit_nearer_to_the_whole_difference(stand: tuple[Any, Any, torch.Tensor]) -> None:
    lm, net, ids = stand
    pair = run_pair(lm, *ids.tolist())
    every = all_nodes(pair)
    peer = Peer(net, ids, (pair.answer, pair.other), lm.config.n_heads)
    ranked, _ = rank(pair)
    nearer = 0
    for start in (ranked[:6], ranked[:12], ranked[:30], ranked[10:22], random.Random(1).sample(every, 12)):
        found = exchanged(pair, start)
        assert len(set(found)) == len(start)
        assert found == exchanged(pair, start[::-1])
        before, after = (abs(peer.share(some) - 1) for some in (start, found))
        assert after <= before + 1e-4
        nearer += after < before - 1e-3
    assert nearer >= 2
    assert exchanged(pair, every) == every


def test_attributions_approach_what_the_nodes_together_do(stand: tuple[Any, Any, torch.Tensor]) -> None:
    """Along the way between the embeddings the nodes of the first layer are the whole path but the embedding's own, and
    a gradient by finite differences agrees with the one that ranks."""
    lm, _, ids = stand
    pair = run_pair(lm, ids[0].tolist(), ids[1].tolist())
    ranked, scores = rank(pair, points=4)
    assert sorted(ranked, key=str) == sorted(all_nodes(pair), key=str)
    assert [abs(score) for score in scores] == sorted((abs(score) for score in scores), reverse=True)
    differ = {3, 6}
    first = min(differ)
    quiet = [score for node, score in zip(ranked, scores, strict=True) if node.token < first]
    assert max(map(abs, quiet), default=0.0) == pytest.approx(0, abs=1e-6)  # nothing differs before the first change


def test_the_causal_map_is_that_of_transformers_hooks(stand: tuple[Any, Any, torch.Tensor]) -> None:
    lm, net, ids = stand
    pair = run_pair(lm, ids[0].tolist(), ids[1].tolist())
    ours = causal_map(pair, rows=7)
    theirs = run_reference(net, ids[1:]).hidden_states  # the last one is after the final norm
    runs = run_reference(net, ids).logits[:, -1]
    first, second = (float(row[pair.answer] - row[pair.other]) for row in runs)
    for layer in range(lm.config.n_layers):
        for token in range(TOKENS):

            def place(_: Any, given: Any, layer: int = layer, token: int = token) -> Any:
                stream = given[0].clone()
                stream[0, token] = theirs[layer][0, token]
                return (stream, *given[1:])

            handle = net.model.layers[layer].register_forward_pre_hook(place)
            logits = run_reference(net, ids[:1]).logits[0, -1]
            handle.remove()
            share = (float(logits[pair.answer] - logits[pair.other]) - second) / (first - second)
            assert float(ours[layer, token]) == pytest.approx(share, abs=1e-4)
    assert ours[-1].tolist() == pytest.approx([1.0] * (TOKENS - 1) + [0.0], abs=1e-4)


def test_an_edge_into_the_logits_is_the_direct_effect(stand: tuple[Any, Any, torch.Tensor]) -> None:
    """A path to the logits alone changes the last stream by what the source wrote: done by hand with transformers."""
    lm, net, ids = stand
    found = circuit(lm, ids[0].tolist(), ids[1].tolist(), nodes=len(all_nodes(run_pair(lm, *ids.tolist()))))
    direct = [
        ends
        for ends in possible_edges(found.pair, found.nodes)
        if ends[1].kind == "logits" and ends[0].kind != "embedding"
    ]
    measured = [edge for part in edges(found.pair, found.nodes, direct) for edge in part]
    assert measured
    peer = Peer(net, ids, (found.answer, found.other), lm.config.n_heads)
    own, theirs = peer.values(0), peer.values(1)
    with torch.no_grad():
        stream: list[torch.Tensor] = []
        handle = net.model.norm.register_forward_pre_hook(lambda _, given: stream.append(given[0][0, -1]))
        for row in (0, 1):
            net(ids[row : row + 1])
        handle.remove()
        first, second = (peer.difference(net.lm_head(net.model.norm(x))) for x in stream)
        for edge in measured:
            if edge.source.kind == "ffn":
                name = f"ffn {edge.source.layer}"
                delta = (theirs[name] - own[name])[0, -1]
            else:
                name, width = f"heads {edge.source.layer}", lm.config.head_dim
                delta_z = torch.zeros_like(own[name][0, -1])
                part = slice((edge.source.head or 0) * width, ((edge.source.head or 0) + 1) * width)
                delta_z[part] = (theirs[name] - own[name])[0, -1, part]
                delta = net.model.layers[edge.source.layer].self_attn.o_proj(delta_z)
            left = (peer.difference(net.lm_head(net.model.norm(stream[0] + delta))) - second) / (first - second)
            assert edge.effect == pytest.approx(1 - left, abs=2e-4)


def test_edges_lead_forward_and_name_each_path_once(stand: tuple[Any, Any, torch.Tensor]) -> None:
    lm, _, ids = stand
    found = circuit(lm, ids[0].tolist(), ids[1].tolist(), nodes=15)
    every = possible_edges(found.pair, found.nodes)
    assert len(set(every)) == len(every)
    for source, target in every:
        assert source.token <= target.token
        assert (source.layer, source.kind == "ffn") < (
            target.layer,
            target.kind == "ffn",
        ) or source.layer < target.layer
    assert [(edge.source, edge.target) for part in edges(found.pair, found.nodes, rows=4) for edge in part] == every


def test_what_cannot_be_asked_is_refused_by_name(stand: tuple[Any, Any, torch.Tensor]) -> None:
    lm, _, ids = stand
    one, two = ids.tolist()
    for code, ask in (
        ("circuit_tokens", lambda: circuit(lm, one, two[:-1])),
        ("circuit_answer", lambda: circuit(lm, one, one)),
        ("field", lambda: circuit(lm, one, two, nodes=0)),
        ("field", lambda: score_terms(model.run_trace(lm, one), 0, 0, 3, 4)),
        ("field", lambda: score_terms(model.run_trace(lm, one), 9, 0, 3, 3)),
        ("field", lambda: logit_terms(model.run_trace(lm, one), 5, position=TOKENS)),
    ):
        with pytest.raises(GlassLlamaError) as caught:
            ask()
        assert caught.value.code == code
