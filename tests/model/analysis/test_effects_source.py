"""What a T5's heads are worth, those too that look at its source, against transformers with hooks that silence them."""

from collections.abc import Iterable
from typing import Any

import pytest
import torch
import transformers
from torch import nn

import model
from model import GlassLlamaError
from model.analysis.effects import KEPT, LOOKS, effects, promised
from model.analysis.logit_terms import logit_terms
from model.analysis.score_terms import stream_writes
from model.analysis.switching import Part, pulls_of
from model.interventions import Intervention
from tests.families import Pair, pair_of, sample, save
from tests.model.families.test_t5 import FIELDS

WIDTH, WRITTEN = 10, 5


@pytest.fixture(scope="module")
def pair() -> Pair:
    return pair_of(save(transformers.T5Config(**FIELDS | {"num_heads": 6}), sharpness=1.1))


def both(seed: int) -> tuple[list[int], list[int]]:
    """A source and what is written after the start token."""
    return sample(1, 11, seed=seed)[0].tolist(), sample(1, WRITTEN, seed=100 + seed)[0].tolist()


def theirs(pair: Pair, source: list[int], written: list[int], off: Iterable[Part] = ()) -> Any:
    """transformers' run in which these parts write nothing."""

    def silence(module: nn.Module, columns: slice) -> Any:
        def change(_module: nn.Module, given: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
            value = given[0].clone()
            value[..., columns] = 0
            return (value,)

        return module.register_forward_pre_hook(change)

    hooks = []
    for kind, layer, number in off:
        own, cross, ffn = pair.peer.decoder.block[layer].layer
        head = slice(number * WIDTH, (number + 1) * WIDTH)
        if kind == "neuron":
            hooks.append(silence(ffn.DenseReluDense.wo, slice(number, number + 1)))
        else:
            outlet = own.SelfAttention.o if kind == "head" else cross.EncDecAttention.o
            hooks.append(silence(outlet, head))
    try:
        with torch.no_grad():
            return pair.peer(
                torch.tensor([source]), decoder_input_ids=torch.tensor([[0, *written]]), output_attentions=True
            )
    finally:
        for hook in hooks:
            hook.remove()


def probability(run: Any, target: int, position: int = -1) -> float:
    return float(run.logits[0, position].double().softmax(-1)[target])


@pytest.mark.parametrize("position", [-1, 2])
def test_each_effect_is_that_of_transformers_without_the_part(pair: Pair, position: int) -> None:
    source, written = both(1)
    found = effects(model.run_trace(pair.lm, source, target=written), position=position, heads=30, neurons=5)
    assert [len(found.of(kind)) for kind in ("head", "cross", "neuron")] == [18, 18, 5]
    assert found.probability == pytest.approx(probability(theirs(pair, source, written), found.target, position))
    for part, left, _loss in found.parts:
        truth = probability(theirs(pair, source, written, [part]), found.target, position)
        assert left == pytest.approx(truth, rel=1e-4), part


def test_the_token_that_is_read_may_be_one_of_the_source(pair: Pair) -> None:
    kinds = []
    for seed in range(8):
        source, written = both(seed)
        found = effects(model.run_trace(pair.lm, source, target=written), neurons=0)
        look = found.look
        kinds.append(look.kind if look.heads else None)
        run = theirs(pair, source, written)
        of_layers = run.cross_attentions if look.kind == "cross" else run.decoder_attentions
        for part, weight in zip(look.heads, look.weights, strict=True):
            assert part.kind == look.kind
            assert weight == pytest.approx(float(of_layers[part.layer][0, part.number, -1, look.key]), abs=1e-5)
        if not look.heads:
            continue
        left = theirs(pair, source, written, look.heads)
        assert look.without == pytest.approx(probability(left, found.target), rel=1e-4)
        last = [part for part, weight in zip(look.heads, look.weights, strict=True) if weight >= LOOKS]
        if len(last) < len(look.heads):
            assert probability(theirs(pair, source, written, last), found.target) > KEPT * found.probability
        reading = [one.part for one in found.parts if one.part in last]
        assert found.first == reading[0]
    assert "cross" in kinds
    assert "head" in kinds


def test_a_promise_is_the_slope_of_the_log_odds(pair: Pair) -> None:
    """Against finite differences of transformers: what the head writes, a thousandth weaker and stronger."""
    source, written = both(3)
    trace = model.run_trace(pair.lm, source, target=written)
    target, step = 42, 1e-3
    found = promised(trace, pulls_of(trace, target, WRITTEN))
    peer = pair.peer.double()

    def log_odds(layer: int, head: int, by: float) -> float:
        def weaken(_module: nn.Module, given: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
            value = given[0].clone()
            value[..., head * WIDTH : (head + 1) * WIDTH] *= 1 - by
            return (value,)

        hook = peer.decoder.block[layer].layer[1].EncDecAttention.o.register_forward_pre_hook(weaken)
        p = probability(theirs(pair, source, written), target)
        hook.remove()
        return float(torch.tensor([p, 1 - p], dtype=torch.float64).log() @ torch.tensor([1.0, -1.0]).double())

    try:
        for layer, head in ((0, 0), (1, 4), (2, 5)):
            slope = (log_odds(layer, head, -step) - log_odds(layer, head, step)) / (2 * step)
            assert found[Part("cross", layer, head)] == pytest.approx(slope, rel=1e-2, abs=1e-5)
    finally:
        pair.peer.float()


def test_a_run_without_a_cross_head_is_transformers_without_it(pair: Pair) -> None:
    source, written = both(4)
    off = [Part("cross", 1, 2), Part("cross", 1, 5), Part("cross", 0, 0), Part("head", 2, 1)]
    pairs = {kind: tuple((layer, n) for k, layer, n in off if k == kind) for kind in ("head", "cross")}
    what = Intervention(heads=pairs["head"], cross=pairs["cross"])
    trace = model.run_trace(pair.lm, source, what, written)
    run = theirs(pair, source, written, off)
    assert torch.allclose(torch.from_numpy(trace.logits), run.logits[0, -1], atol=1e-5)
    for i in range(3):
        assert torch.allclose(torch.from_numpy(trace.layer(i).cross_attention), run.cross_attentions[i][0], atol=1e-5)
    target = int(trace.logits.argmax())
    terms = logit_terms(trace, target)
    assert terms.total == pytest.approx(float(run.logits[0, -1, target]), abs=2e-5)
    assert terms.cross is not None
    assert not terms.cross[1, [2, 5]].any()
    assert terms.cross[2].any()
    sources, writes = stream_writes(trace, 2, [WRITTEN])
    assert torch.allclose(writes.sum(1), torch.from_numpy(trace.residual[2, [WRITTEN]]).double(), atol=1e-5)
    assert not writes[:, sources.index(("cross", 1, 2))].any()
    parts = {one.part for one in effects(trace, heads=30, neurons=0).parts}
    assert not parts & set(off)
    assert len(parts) == 36 - len(off)


def test_no_head_of_another_network_looks_at_a_source(lm: model.LanguageModel) -> None:
    with pytest.raises(GlassLlamaError, match="source"):
        model.run_trace(lm, [1, 2, 3], Intervention(cross=((0, 0),)))
