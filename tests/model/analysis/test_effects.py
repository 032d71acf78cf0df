"""What heads and neurons are worth, against runs in which one after another is switched off."""

from typing import Any

import pytest
import torch

import model
from model import GlassLlamaError, LanguageModel
from model.analysis.effects import KEPT, MIN_ATTENTION, effects, promised
from model.analysis.nodes import swapped
from model.analysis.switching import Part, head_taps, pulls_of, without
from model.interventions import Intervention, Patch

IDS = [5, 77, 31, 200, 9, 120, 77, 31, 64]
CHANGED = Intervention(heads=((0, 1),), neurons=((1, 3),), ffn=(2,), patches=(Patch(1, 2, (0.1,) * 48),))


def off(trace: model.Trace, parts: list[Part]) -> Intervention:
    """The run's own changes, and these parts off as well."""
    pairs = {
        kind: tuple((part.layer, part.number) for part in parts if part.kind == kind) for kind in ("head", "neuron")
    }
    own = trace.intervention
    return Intervention(own.heads + pairs["head"], own.neurons + pairs["neuron"], own.attention, own.ffn, own.patches)


def log_p(lm: LanguageModel, trace: model.Trace, parts: list[Part], target: int, position: int) -> float:
    """By itself: the whole run once more with these parts off."""
    if position == len(IDS) - 1:
        return float(torch.tensor(model.run_trace(lm, IDS, off(trace, parts)).logits).log_softmax(-1)[target])
    stream = torch.from_numpy(model.run_trace(lm, IDS, off(trace, parts)).residual[-1, position])
    with torch.inference_mode():
        return float(lm.net.head(lm.net.norm(stream)).log_softmax(-1)[target])


@pytest.mark.parametrize(("what", "position"), [(Intervention(), -1), (CHANGED, -1), (CHANGED, 5)])
def test_each_effect_is_that_of_switching_off_one_at_a_time(
    lm: LanguageModel, what: Intervention, position: int
) -> None:
    trace = model.run_trace(lm, IDS, what)
    found = effects(trace, position=position, heads=30, neurons=12)
    at = position % len(IDS)
    whole = log_p(lm, trace, [], found.target, at)
    assert found.probability == pytest.approx(torch.tensor(whole).exp().item(), rel=1e-5)
    if position == -1:  # in float64, as the page works it out from the same logits: a digit that differs confuses
        exact = torch.tensor(trace.logits).double().softmax(-1)[found.target].item()
        assert found.probability == pytest.approx(exact, rel=1e-12)
    assert len(found.of("neuron")) == 12
    assert len(found.of("head")) == lm.config.n_layers * lm.config.n_heads - len(what.heads)
    for part, probability, loss in found.parts:
        left = log_p(lm, trace, [part], found.target, at)
        assert loss == pytest.approx(whole - left, abs=1e-5)
        assert probability == pytest.approx(torch.tensor(left).exp().item(), rel=1e-4)
    losses = [one.loss for one in found.parts]
    assert losses == sorted(losses, reverse=True)
    assert not {Part("head", *one) for one in what.heads} & {one.part for one in found.parts}


def test_those_who_look_at_the_answer_are_switched_off_together(lm: LanguageModel) -> None:
    looked = 0
    for seed in range(6):
        ids = torch.randint(1, 300, (9,), generator=torch.Generator().manual_seed(seed)).tolist()
        trace = model.run_trace(lm, ids)
        found = effects(trace, neurons=2)
        look = found.look
        for part, weight in zip(look.heads, look.weights, strict=True):
            assert weight == pytest.approx(
                float(trace.layer(part.layer).attention[part.number, -1, look.key]), abs=1e-6
            )
        last = [part for part, weight in zip(look.heads, look.weights, strict=True) if weight >= MIN_ATTENTION]
        early = [part for part in look.heads if part not in last]
        assert bool(last) == bool(look.heads)
        for part in early:
            assert trace.layer(part.layer).attention[part.number, look.key + 1 :, look.key].max() >= MIN_ATTENTION
        if early:  # the answer stayed without those that look from the last token
            alone = Intervention(heads=tuple((part.layer, part.number) for part in last))
            kept = torch.tensor(model.run_trace(lm, ids, alone).logits).softmax(-1)[found.target]
            assert kept > KEPT * found.probability
        what = Intervention(heads=tuple((part.layer, part.number) for part in look.heads))
        left = torch.tensor(model.run_trace(lm, ids, what).logits).softmax(-1)[found.target]
        assert look.without == pytest.approx(float(left), rel=1e-4)
        reading = [one.part for one in found.of("head") if one.part in last]
        assert found.first == (reading[0] if reading else found.of("head")[0].part)
        looked += bool(look.heads)
    assert looked > 2


def test_a_promise_is_the_slope_of_the_log_odds(lm: LanguageModel) -> None:
    """Against finite differences: the head written a thousandth weaker."""
    trace = model.run_trace(lm, IDS)
    target, step = 42, 1e-3
    found = promised([trace], pulls_of([trace], target, len(IDS) - 1))

    def log_odds(layer: int, head: int, by: float) -> float:
        def weaken(value: torch.Tensor) -> torch.Tensor:
            changed = value.clone()
            changed[:, :, head] *= 1 - by
            return changed

        with torch.inference_mode(), swapped(net, {head_taps(net, layer)["head"]: weaken}):
            p = net(torch.tensor([IDS]))[0, -1].softmax(-1)[target]
        return float(p.log() - (1 - p).log())

    net: Any = lm.net.double()
    try:
        for layer, head in ((0, 0), (1, 4), (2, 5)):
            slope = (log_odds(layer, head, -step) - log_odds(layer, head, step)) / (2 * step)
            assert found[Part("head", layer, head)] == pytest.approx(slope, rel=1e-2, abs=1e-5)
    finally:
        lm.net.float()


def test_many_sets_are_measured_in_several_passes(lm: LanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = model.run_trace(lm, IDS)
    sets = [[Part("head", 2, 0)], [Part("head", 0, 1), Part("neuron", 2, 7)], [Part("neuron", 0, 3)]]
    together = without(trace, sets, 7, 8)
    monkeypatch.setattr("model.analysis.switching.LARGEST", 1)
    assert without(trace, sets, 7, 8) == pytest.approx(together, abs=1e-6)
    assert together == pytest.approx([log_p(lm, trace, parts, 7, 8) for parts in sets], abs=1e-5)


def test_nothing_is_left_to_measure_where_all_is_off(lm: LanguageModel) -> None:
    every = tuple(range(lm.config.n_layers))
    trace = model.run_trace(lm, IDS, Intervention(attention=every, ffn=every))
    found = effects(trace)
    assert found.parts == ()
    assert found.first is None
    assert found.look.heads == ()


def test_what_the_run_does_not_have_is_refused_by_name(lm: LanguageModel) -> None:
    trace = model.run_trace(lm, IDS)
    for ask in (lambda: effects(trace, position=9), lambda: effects(trace, target=lm.config.vocab_size)):
        with pytest.raises(GlassLlamaError) as caught:
            ask()
        assert caught.value.code == "field"
