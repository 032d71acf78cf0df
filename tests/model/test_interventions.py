"""Switched-off parts and patched streams, against transformers with the same parts of its weights set to zero."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import model
from model.interventions import Intervention, Patch, intervened
from tests.reference import reference, run_reference, sample_ids

IDS = sample_ids(1, 12)
WIDTH = 8  # head_dim of the stand-in
Net = Any  # transformers does not say what its layers are


def head_off(net: Net, layer: int, head: int) -> None:
    net.model.layers[layer].self_attn.o_proj.weight[:, head * WIDTH : (head + 1) * WIDTH] = 0


def neuron_off(net: Net, layer: int, neuron: int) -> None:
    net.model.layers[layer].mlp.down_proj.weight[:, neuron] = 0


def attention_off(net: Net, layer: int) -> None:
    net.model.layers[layer].self_attn.o_proj.weight.zero_()


def ffn_off(net: Net, layer: int) -> None:
    net.model.layers[layer].mlp.down_proj.weight.zero_()


def several_off(net: Net) -> None:
    head_off(net, 0, 1)
    head_off(net, 0, 4)
    neuron_off(net, 2, 7)
    attention_off(net, 1)


CASES: dict[str, tuple[Intervention, Callable[[Net], None]]] = {
    "head": (Intervention(heads=((1, 2),)), lambda net: head_off(net, 1, 2)),
    "neuron": (Intervention(neurons=((0, 5),)), lambda net: neuron_off(net, 0, 5)),
    "attention": (Intervention(attention=(2,)), lambda net: attention_off(net, 2)),
    "ffn": (Intervention(ffn=(0,)), lambda net: ffn_off(net, 0)),
    "several": (Intervention(heads=((0, 1), (0, 4)), neurons=((2, 7),), attention=(1,)), several_off),
}


@pytest.mark.parametrize("name", CASES)
def test_a_part_that_is_off_is_one_without_weights(lm: model.LanguageModel, checkpoint: Path, name: str) -> None:
    what, zero = CASES[name]
    peer: Net = reference(checkpoint)
    with torch.no_grad():
        zero(peer)
    theirs = run_reference(peer, IDS)
    trace = model.run_trace(lm, IDS[0].tolist(), what)
    np.testing.assert_allclose(trace.logits, theirs.logits[0, -1].numpy(), atol=1e-5)
    assert np.abs(trace.logits - model.run_trace(lm, IDS[0].tolist()).logits).max() > 1e-3
    for layer in range(trace.n_layers):  # layers are recomputed with the same changes
        np.testing.assert_allclose(trace.layer(layer).resid_in, theirs.hidden_states[layer][0].numpy(), atol=1e-5)
        np.testing.assert_allclose(trace.layer(layer).resid_out, trace.residual[layer + 1], atol=1e-5)


def test_a_text_is_written_on_with_what_is_off(lm: model.LanguageModel, checkpoint: Path) -> None:
    what, zero = CASES["several"]
    peer: Net = reference(checkpoint)
    with torch.no_grad():
        zero(peer)
    ids = IDS[0].tolist()
    steps = list(model.generate(lm, ids, 8, intervention=what))
    for i, step in enumerate(steps):
        logits = run_reference(peer, torch.tensor([ids + [step.token_id for step in steps[:i]]])).logits[0, -1]
        assert step.token_id == int(logits.argmax())
        assert step.probability == pytest.approx(float(logits.softmax(-1).max()), abs=1e-5)
    own = [step.probability for step in model.generate(lm, ids, 8)]
    assert own != pytest.approx([step.probability for step in steps], abs=1e-3)
    with pytest.raises(model.GlassLlamaError, match="head"):  # at the call, before the first step
        model.generate(lm, ids, 8, intervention=Intervention(heads=((0, 99),)))


def test_a_patch_changes_what_was_read_and_not_what_is_written(lm: model.LanguageModel) -> None:
    ids = IDS[0].tolist()
    other = model.run_trace(lm, sample_ids(1, 12, seed=3)[0].tolist())
    what = Intervention(patches=(Patch(1, 0, tuple(other.residual[1, 0].tolist())),))
    steps = list(model.generate(lm, ids, 6, intervention=what))
    for i, step in enumerate(steps):
        logits = model.run_trace(lm, ids + [step.token_id for step in steps[:i]], what).logits
        assert step.token_id == int(logits.argmax())
        assert step.probability == pytest.approx(float(torch.from_numpy(logits).softmax(-1).max()), abs=1e-5)


@pytest.mark.parametrize("layer", [0, 2, 3])
def test_a_patched_stream_goes_on_from_there(lm: model.LanguageModel, checkpoint: Path, layer: int) -> None:
    other = model.run_trace(lm, sample_ids(1, 12, seed=3)[0].tolist())
    value = other.residual[layer, 4]
    trace = model.run_trace(lm, IDS[0].tolist(), Intervention(patches=(Patch(layer, 4, tuple(value.tolist())),)))
    peer: Net = reference(checkpoint)

    def patch(_module: torch.nn.Module, args: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        stream = args[0].clone()
        stream[:, 4] = torch.from_numpy(value)
        return (stream, *args[1:])

    place = peer.model.norm if layer == trace.n_layers else peer.model.layers[layer]
    place.register_forward_pre_hook(patch)
    np.testing.assert_allclose(trace.logits, run_reference(peer, IDS).logits[0, -1].numpy(), atol=1e-5)
    np.testing.assert_array_equal(trace.residual[layer, 4], value)
    if layer < trace.n_layers:
        np.testing.assert_array_equal(trace.layer(layer).resid_in[4], value)


def test_a_patch_with_the_runs_own_stream_changes_nothing(lm: model.LanguageModel) -> None:
    plain = model.run_trace(lm, IDS[0].tolist())
    own = Patch(1, 3, tuple(plain.residual[1, 3].tolist()))
    np.testing.assert_array_equal(
        model.run_trace(lm, IDS[0].tolist(), Intervention(patches=(own,))).logits, plain.logits
    )


def test_hooks_come_off_after_an_error(lm: model.LanguageModel) -> None:
    with suppress(RuntimeError), intervened(lm.net, Intervention(heads=((0, 0), (2, 3)), ffn=(1,))):
        raise RuntimeError
    assert not any(module._forward_pre_hooks or module._forward_hooks for module in lm.net.modules())


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (Intervention(heads=((0, 6),)), "head 6 .* 0 to 5"),
        (Intervention(heads=((3, 0),)), "layer 3 .* 0 to 2"),
        (Intervention(neurons=((0, 80),)), "neuron 80"),
        (Intervention(attention=(-1,)), "layer -1"),
        (Intervention(patches=(Patch(4, 0, (0.0,) * 48),)), "layer 4 .* 0 to 3"),
    ],
)
def test_what_the_model_does_not_have_is_refused(lm: model.LanguageModel, what: Intervention, message: str) -> None:
    with pytest.raises(model.GlassLlamaError, match=message):
        model.run_trace(lm, IDS[0].tolist(), what)
    assert not any(module._forward_pre_hooks for module in lm.net.modules())
