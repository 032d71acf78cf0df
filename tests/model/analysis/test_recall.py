"""Where a recalled answer is gathered and when it moves, against transformers' own runs with hooks; its rules by hand;
and what a real LLaMA's facts are."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import torch

import model
from model.analysis.causal_map import causal_map
from model.analysis.nodes import Pair, run_pair
from model.analysis.recall import Brought, Gathered, Layers, Moved, carrying, recalled
from model.smollm2 import WEIGHTS
from tests.reference import reference, run_reference, sample_ids
from tests.standin import make_checkpoint

TOKENS, CHANGED = 9, 3
Ffns = Iterable[tuple[int, int]]  # layer and token
Heads = Iterable[tuple[int, int, int]]  # and head


class Peer:
    """transformers' run of the first text, with parts' writes taken from its run of the second."""

    def __init__(self, net: Any, ids: torch.Tensor, answers: tuple[int, int], n_heads: int):
        self.net, self.ids, self.answers = net, ids, answers
        self.width = net.config.hidden_size // n_heads if not net.config.head_dim else net.config.head_dim
        self.theirs: dict[tuple[str, int], torch.Tensor] = {}
        handles = []
        for i, layer in enumerate(net.model.layers):
            handles.append(layer.mlp.register_forward_hook(self._keep("ffn", i)))
            handles.append(layer.self_attn.o_proj.register_forward_pre_hook(self._keep("heads", i)))
        self.second = self.difference(ids[1:])
        for handle in handles:
            handle.remove()
        self.first = self.difference(ids[:1])

    def _keep(self, kind: str, layer: int) -> Callable[..., None]:
        def keep(_: Any, given: Any, written: Any = None) -> None:
            self.theirs[kind, layer] = (given[0] if written is None else written).detach().clone()

        return keep

    def difference(self, ids: torch.Tensor) -> float:
        logits = run_reference(self.net, ids).logits[0, -1]
        return float(logits[self.answers[0]] - logits[self.answers[1]])

    def lost(self, ffns: Ffns = (), heads: Heads = ()) -> float:
        handles = []
        for layer, token in ffns:

            def written(_: Any, __: Any, own: Any, layer: int = layer, token: int = token) -> Any:
                changed = own.clone()
                changed[0, token] = self.theirs["ffn", layer][0, token]
                return changed

            handles.append(self.net.model.layers[layer].mlp.register_forward_hook(written))
        for layer, token, head in heads:

            def read(_: Any, given: Any, layer: int = layer, token: int = token, head: int = head) -> Any:
                changed, part = given[0].clone(), slice(head * self.width, (head + 1) * self.width)
                changed[0, token, part] = self.theirs["heads", layer][0, token, part]
                return (changed,)

            handles.append(self.net.model.layers[layer].self_attn.o_proj.register_forward_pre_hook(read))
        left = self.difference(self.ids[:1])
        for handle in handles:
            handle.remove()
        return 1 - (left - self.second) / (self.first - self.second)


@pytest.fixture(scope="module")
def stand(tmp_path_factory: pytest.TempPathFactory) -> tuple[Pair, Peer]:
    """A pair of two texts that differ in one token, and transformers' runs of them."""
    directory: Path = make_checkpoint(tmp_path_factory.mktemp("recall") / "gqa", num_hidden_layers=4)
    net, lm = reference(directory), model.load(directory, device="cpu")
    for seed in range(200):
        ids = sample_ids(1, TOKENS, seed=seed).repeat(2, 1)
        ids[1, CHANGED] = sample_ids(1, 1, seed=1000 + seed)[0, 0]
        first, second = run_reference(net, ids).logits[:, -1].argmax(-1).tolist()
        if first != second:
            pair = run_pair(lm, *ids.tolist())
            return pair, Peer(net, ids, (pair.answer, pair.other), lm.config.n_heads)
    raise AssertionError("no two texts with different answers")


def test_what_is_lost_is_what_transformers_loses(stand: tuple[Pair, Peer]) -> None:
    pair, peer = stand
    layers, n_heads, last = pair.lm.config.n_layers, pair.lm.config.n_heads, TOKENS - 1
    left = causal_map(pair)
    found = recalled(pair, left)
    assert found is not None
    assert CHANGED <= found.token < last
    token, what, moved = found.token, found.gathered, found.moved
    nested = [peer.lost([(i, token) for i in range(k, layers)]) for k in range(layers)]
    assert what.layers == carrying(nested)
    first, end = what.layers.first, what.layers.last + 1
    nested.append(0.0)
    assert (what.all, what.later, what.above) == pytest.approx((nested[0], nested[first + 1], nested[end]), abs=1e-4)
    every = [(i, token, head) for i in range(layers) for head in range(n_heads)]
    assert what.attention == pytest.approx(peer.lost(heads=every), abs=1e-4)
    assert what.elsewhere == pytest.approx(peer.lost([(i, last) for i in range(first, end)]), abs=1e-4)
    heads = [(i, h) for i in range(moved.layers.first, moved.layers.last + 1) for h in range(n_heads)]
    lost = {(i, h): peer.lost(heads=[(i, last, h)]) for i, h in heads}
    best = sorted(lost.values(), reverse=True)
    assert lost[found.brought.head] == pytest.approx(best[0], abs=1e-4)
    assert (found.brought.lost, found.brought.following) == pytest.approx(best[:2], abs=1e-4)
    assert moved.before == pytest.approx(float(1 - left[moved.layers.first, last]), abs=1e-6)
    assert moved.after == pytest.approx(float(1 - left[moved.layers.last + 1, last]), abs=1e-6)
    assert moved.held == pytest.approx(float(1 - left[moved.layers.first, token]), abs=1e-6)


def test_nothing_moves_where_the_last_token_is_the_one_that_differs(stand: tuple[Pair, Peer]) -> None:
    pair, _ = stand
    ids = pair.ids[0].tolist()
    for token in range(1, 300):
        other = [*ids[:-1], token]
        if int(model.run_trace(pair.lm, other).logits.argmax()) != pair.answer:
            alone = run_pair(pair.lm, ids, other)
            assert recalled(alone, causal_map(alone)) is None
            return
    raise AssertionError("no other last token with another answer")


@pytest.mark.parametrize(
    ("nested", "layers"),
    [
        ([1.0, 0.44, 0.3, 0.09, 0.02], Layers(0, 2)),
        ([1.0, 0.95, 0.92, 0.5, 0.05], Layers(2, 3)),
        ([1.0, 0.05, 0.04, 0.03, 0.01], Layers(0, 0)),
        ([1.0, 1.0, 1.0, 1.0, 1.0], Layers(4, 4)),
    ],
)
def test_the_layers_that_carry_it(nested: list[float], layers: Layers) -> None:
    assert carrying(nested) == layers


def test_what_is_not_clear_is_said_to_be() -> None:
    told = Gathered(Layers(0, 5), 0.9, 0.5, 0.05, 0.1, 0.1)
    assert told.clear
    assert not told._replace(all=0.4).clear
    assert not told._replace(attention=0.5).clear
    assert not told._replace(elsewhere=0.5).clear
    moved = Moved(Layers(9, 11), 0.8, 0.2, 0.9, 30)
    assert moved.clear
    assert not moved._replace(held=0.4).clear
    assert not moved._replace(layers=Layers(4, 11)).clear
    assert not moved._replace(before=0.3).clear
    assert Brought((23, 4), 0.5, 0.1).clear
    assert not Brought((23, 4), 0.2, 0.0).clear
    assert not Brought((23, 4), 0.5, 0.3).clear


@pytest.mark.skipif(not WEIGHTS.is_file(), reason="no weights: `make smollm2` fetches them")
@pytest.mark.parametrize(
    ("text", "place", "other"),
    [
        ("The capital of France is", " France", "The capital of Germany is"),
        ("The capital of Japan is the city of", " Japan", "The capital of Italy is the city of"),
    ],
)
def test_a_fact_of_a_real_llama(text: str, place: str, other: str) -> None:
    lm = model.load(WEIGHTS, device="cpu")
    pair = run_pair(lm, text, other)
    found = recalled(pair, causal_map(pair))
    assert found is not None
    assert lm.tokenizer.pieces(pair.ids[0].tolist())[found.token] == place
    assert found.gathered.clear
    assert found.gathered.layers.first == 0
    assert 8 <= found.gathered.layers.last <= 15
    assert found.moved.clear
    assert found.moved.layers.first == 23
    assert found.brought.clear
    assert found.brought.head == (23, 4)
