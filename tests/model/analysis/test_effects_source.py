"""What a T5's heads are worth, those too that look at its source and those of its encoder, against transformers with
hooks that silence them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from torch import nn

import model
from model import GlassLlamaError
from model.analysis.effects import KEPT, MIN_ATTENTION, effects, promised
from model.analysis.logit_terms import logit_terms
from model.analysis.stream_writes import StreamWrites
from model.analysis.switching import Part, pulls_of, stacks, without
from model.interventions import Intervention, Patch
from model.pieces import finish
from tests.families import Pair, pair_of, sample, save
from tests.model.families.test_t5 import FIELDS

WRITTEN = 5
CONFIGS: dict[str, Any] = {
    "1.0": transformers.T5Config(**FIELDS | {"num_heads": 6}),
    "1.1": transformers.T5Config(
        **FIELDS | {"num_heads": 6}, feed_forward_proj="gated-gelu", tie_word_embeddings=False
    ),
}


@pytest.fixture(scope="module", params=CONFIGS)
def pair(request: pytest.FixtureRequest) -> Pair:
    return pair_of(save(CONFIGS[request.param], sharpness=1.1))


@pytest.fixture(scope="module")
def zoo_t5() -> Pair:
    return pair_of(Path(model.__file__).parent / "zoo" / "t5")


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

    hooks, width = [], pair.lm.config.head_dim
    start = pair.peer.config.decoder_start_token_id
    for kind, layer, number, encoder in off:
        own, *cross, ffn = (pair.peer.encoder if encoder else pair.peer.decoder).block[layer].layer
        head = slice(number * width, (number + 1) * width)
        if kind == "neuron":
            hooks.append(silence(ffn.DenseReluDense.wo, slice(number, number + 1)))
        else:
            outlet = own.SelfAttention.o if kind == "head" else cross[0].EncDecAttention.o
            hooks.append(silence(outlet, head))
    try:
        with torch.no_grad():
            return pair.peer(
                torch.tensor([source]),
                decoder_input_ids=torch.tensor([[start, *written]]),
                output_attentions=True,
                output_hidden_states=True,
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
    assert [len(found.of(kind, encoder=True)) for kind in ("head", "cross", "neuron")] == [12, 0, 5]
    whole = probability(theirs(pair, source, written), found.target, position)
    assert found.probability == pytest.approx(whole, rel=1e-5)
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
        last = [part for part, weight in zip(look.heads, look.weights, strict=True) if weight >= MIN_ATTENTION]
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
    found = promised(stacks(trace), pulls_of(stacks(trace), target, WRITTEN))
    peer, width = pair.peer.double(), pair.lm.config.head_dim

    def log_odds(part: Part, by: float) -> float:
        def weaken(_module: nn.Module, given: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
            value = given[0].clone()
            value[..., part.number * width : (part.number + 1) * width] *= 1 - by
            return (value,)

        layers = (peer.encoder if part.encoder else peer.decoder).block[part.layer].layer
        outlet = layers[0].SelfAttention.o if part.encoder else layers[1].EncDecAttention.o
        hook = outlet.register_forward_pre_hook(weaken)
        p = probability(theirs(pair, source, written), target)
        hook.remove()
        return float(torch.tensor([p, 1 - p], dtype=torch.float64).log() @ torch.tensor([1.0, -1.0]).double())

    try:
        for part in (Part("cross", 0, 0), Part("cross", 2, 5), Part("head", 0, 3, True), Part("head", 1, 4, True)):
            slope = (log_odds(part, -step) - log_odds(part, step)) / (2 * step)
            assert found[part] == pytest.approx(slope, rel=1e-2, abs=1e-5), part
    finally:
        pair.peer.float()


def test_a_run_without_a_cross_head_is_transformers_without_it(pair: Pair) -> None:
    source, written = both(4)
    off = [Part("cross", 1, 2), Part("cross", 1, 5), Part("cross", 0, 0), Part("head", 2, 1)]
    pairs = {kind: tuple((layer, n) for k, layer, n, _ in off if k == kind) for kind in ("head", "cross")}
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
    sources, writes = finish(StreamWrites(trace).before(2, [WRITTEN]))
    assert torch.allclose(writes.sum(1), torch.from_numpy(trace.residual[2, [WRITTEN]]).double(), atol=1e-5)
    assert not writes[:, sources.index(("cross", 1, 2))].any()
    parts = {one.part for one in effects(trace, heads=30, neurons=0, encoder=False).parts}
    assert not parts & set(off)
    assert len(parts) == 36 - len(off)


ENCODER_OFF = [
    Part("head", 0, 2, True),
    Part("head", 1, 0, True),
    Part("neuron", 1, 7, True),
    Part("neuron", 0, 3, True),
]
ENCODER = Intervention(heads=((0, 2), (1, 0)), neurons=((1, 7), (0, 3)))


def test_a_run_without_parts_of_the_encoder_is_transformers_without_them(pair: Pair) -> None:
    """All of it: both stacks' layers, what the parts that are left are worth, the logit's parts."""
    source, written = both(5)
    off = [*ENCODER_OFF, Part("cross", 1, 2)]
    trace = model.run_trace(pair.lm, source, Intervention(cross=((1, 2),), encoder=ENCODER), written)
    run, read = theirs(pair, source, written, off), trace.source
    assert read is not None
    assert (read.intervention, trace.intervention.encoder) == (ENCODER, ENCODER)
    np.testing.assert_allclose(trace.logits, run.logits[0, -1], atol=1e-5)
    assert np.abs(trace.logits - model.run_trace(pair.lm, source, target=written).logits).max() > 1e-2
    for i in range(2):
        np.testing.assert_allclose(read.residual[i], run.encoder_hidden_states[i][0], atol=1e-5)
        np.testing.assert_allclose(read.layer(i).attention, run.encoder_attentions[i][0], atol=1e-5)
        np.testing.assert_allclose(read.layer(i).resid_out, read.residual[i + 1], atol=1e-5)
    for i in range(3):
        np.testing.assert_allclose(trace.layer(i).cross_attention, run.cross_attentions[i][0], atol=1e-5)
    found = effects(trace, heads=4, neurons=4)
    assert found.probability == pytest.approx(probability(run, found.target), rel=1e-4)
    assert not {one.part for one in found.parts} & set(off)
    for part, left, _ in (*found.of("head", "neuron", encoder=True), *found.of("cross")):
        assert left == pytest.approx(probability(theirs(pair, source, written, [*off, part]), found.target), rel=1e-4)
    assert logit_terms(trace, found.target).total == pytest.approx(float(trace.logits[found.target]), abs=2e-5)


def test_sets_of_both_stacks_are_measured_in_several_passes(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    source, written = both(6)
    trace = model.run_trace(pair.lm, source, target=written)
    one, two = Part("head", 1, 3, True), Part("neuron", 0, 5, True)
    sets = [[Part("cross", 2, 0)], [one], [two, Part("head", 1, 1), one], [Part("neuron", 1, 2)], [two]]
    together = without(trace, sets, 7, 3)
    truth = [probability(theirs(pair, source, written, parts), 7, 3) for parts in sets]
    assert np.exp(together) == pytest.approx(truth, rel=1e-4)
    monkeypatch.setattr("model.analysis.switching.LARGEST", 1)
    assert without(trace, sets, 7, 3) == pytest.approx(together, abs=1e-5)


def test_what_is_written_under_a_changed_encoder(pair: Pair) -> None:
    """Token by token over the cache: each is transformers' own choice with the same parts silent."""
    source, _ = both(7)
    what = Intervention(cross=((1, 2),), encoder=ENCODER)
    chosen = [step.token_id for step in model.generate(pair.lm, source, max_new_tokens=12, intervention=what)]
    assert chosen != [step.token_id for step in model.generate(pair.lm, source, max_new_tokens=12)]
    assert (
        chosen == theirs(pair, source, chosen[:-1], [*ENCODER_OFF, Part("cross", 1, 2)]).logits[0].argmax(-1).tolist()
    )


def test_whole_parts_and_a_stream_of_the_encoder(pair: Pair) -> None:
    source, written = both(8)
    every = [Part("head", 1, head, True) for head in range(6)] + [Part("neuron", 0, n, True) for n in range(80)]
    what = Intervention(encoder=Intervention(attention=(1,), ffn=(0,)))
    run = theirs(pair, source, written, every)
    np.testing.assert_allclose(model.run_trace(pair.lm, source, what, written).logits, run.logits[0, -1], atol=1e-5)
    other = model.run_trace(pair.lm, both(9)[0], target=written)
    assert other.source is not None
    patches = tuple(Patch(2, t, tuple(other.source.residual[2, t].tolist())) for t in range(len(source)))
    patched = model.run_trace(pair.lm, source, Intervention(encoder=Intervention(patches=patches)), written)
    np.testing.assert_allclose(patched.logits, other.logits, atol=1e-5)  # it reads another source then


def test_the_shipped_network(zoo_t5: Pair) -> None:
    pair = zoo_t5
    trace = model.run_trace(pair.lm, "Tom is in the kitchen. Lily is in the garden. Tom is in the")
    assert trace.source is not None
    source = trace.source.token_ids
    found = effects(trace, heads=5, neurons=3)
    assert len(found.of("head", encoder=True)) == 5
    for part, left, _ in found.of("head", "neuron", encoder=True):
        assert left == pytest.approx(probability(theirs(pair, source, [], [part]), found.target), rel=1e-3)


def test_what_another_network_does_not_have_is_refused(lm: model.LanguageModel, pair: Pair) -> None:
    with pytest.raises(GlassLlamaError, match="source"):
        model.run_trace(lm, [1, 2, 3], Intervention(cross=((0, 0),)))
    with pytest.raises(GlassLlamaError, match="encoder: no encoder of this network"):
        model.run_trace(lm, [1, 2, 3], Intervention(encoder=ENCODER))
    assert not Intervention(encoder=Intervention())
    cases = {
        "encoder.layer 2 .* 0 to 1": Intervention(heads=((2, 0),)),
        "encoder.head 6 .* 0 to 5": Intervention(heads=((0, 6),)),
        "encoder.neuron 80 .* 0 to 79": Intervention(neurons=((0, 80),)),
        "encoder.cross: no head": Intervention(cross=((0, 0),)),
        "encoder.prefix: all tokens": Intervention(prefix=2),
        "encoder.encoder: no encoder": Intervention(encoder=ENCODER),
    }
    for message, what in cases.items():
        with pytest.raises(GlassLlamaError, match=f"^{message}"):
            model.run_trace(pair.lm, [1, 2, 3], Intervention(encoder=what))
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in pair.lm.net.modules())
