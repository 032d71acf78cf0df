"""Messages hold what the trace holds, in the form that the page reads."""

import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import model
from model.analysis.neurons import Neurons
from model.analysis.nodes import swapped
from model.layer_metadata import FfnMetadata, ffn_metadata, network_metadata
from model.sampling import Candidates, candidates
from visuals.messages.run import RunMessage
from visuals.payload import (
    About,
    largest,
    layer_payload,
    message_payload,
    model_payload,
    next_payload,
    pack,
    run_payload,
    top_neurons,
    truncate_candidates,
    unpack,
)


@given(st.lists(st.floats(width=32, allow_nan=False), max_size=40))
def test_float32_survives_unchanged(values: list[float]) -> None:
    array = np.array(values, np.float32)
    np.testing.assert_array_equal(unpack(json.loads(json.dumps(pack(array, "f4")))), array)


SWIGLU = FfnMetadata("silu", True, 80, 80)


def test_shapes_and_little_endian() -> None:
    packed = pack(np.array([[1, 2, 3]], ">u2"), "u2")
    assert packed == {"dtype": "u2", "shape": [1, 3], "data": "AQACAAMA"}
    assert pack(np.zeros((0, 4)), "f4")["shape"] == [0, 4]


@pytest.mark.parametrize(("value", "dtype"), [(256, "u1"), (-1, "u2"), (70_000, "u2"), (0.5, "i4")])
def test_what_does_not_fit_is_an_error(value: float, dtype: str) -> None:
    with pytest.raises(ValueError, match="do not fit"):
        pack([value], dtype)


def test_top_neurons_are_the_strongest() -> None:
    random = np.random.default_rng(0)
    gate, up = random.normal(size=(2, 5, 80)).astype(np.float32) * 3
    top = top_neurons(Neurons(gate, up, None), SWIGLU, 24)
    strength = np.abs(gate / (1 + np.exp(-gate)) * up)
    for token in range(5):
        kept = strength[token, top.neuron[token]]
        assert (np.diff(kept) <= 0).all()
        assert kept[-1] >= np.delete(strength[token], top.neuron[token]).max()
        np.testing.assert_array_equal(top.gate[token], gate[token, top.neuron[token]])
        np.testing.assert_array_equal(top.up[token], up[token, top.neuron[token]])


@given(st.lists(st.lists(st.integers(0, 3), min_size=7, max_size=7), min_size=1, max_size=5), st.integers(1, 7))
def test_of_equal_values_the_first_are_among_the_largest(rows: list[list[int]], count: int) -> None:
    by_hand = [sorted(range(7), key=lambda i: (-row[i], i))[:count] for row in rows]
    np.testing.assert_array_equal(largest(np.array(rows, float), count), by_hand)


def test_top_neurons_are_numbers_before_nan() -> None:
    top = top_neurons(Neurons(None, np.array([[np.nan, 1.0, np.nan, -2.0]]), None), FfnMetadata("relu", False, 4, 4), 3)
    assert top.neuron.tolist() == [[1, 3, 0]]


def test_top_neurons_of_large_gates_and_few_neurons() -> None:
    top = top_neurons(Neurons(np.array([[-1000.0, 1000.0]]), np.array([[1.0, 2.0]]), None), SWIGLU)
    assert top.neuron.tolist() == [[1, 0]]


def test_candidates_and_tail_add_up_to_one() -> None:
    logits = torch.randn(500, generator=torch.Generator().manual_seed(1)) * 3
    offered = truncate_candidates(candidates(logits, 64), 20)
    shares = np.exp(offered.logits.astype(np.float64) - offered.log_z)
    assert len(offered.ids) == 20
    assert shares.sum() + offered.tail == pytest.approx(1, abs=1e-12)
    assert offered.log_z == pytest.approx(float(logits.double().logsumexp(0)))


def test_every_candidate_needs_its_piece() -> None:
    offered = Candidates(np.array([1, 2]), np.array([3.0, 2.0], np.float32), 4.0, 0.1)
    assert next_payload(offered, ["a", "b"], 9)["ids"] == [1, 2]
    with pytest.raises(ValueError, match="1 pieces for 2"):
        next_payload(offered, ["a"], 9)


def about(lm: model.LanguageModel) -> About:
    return About("stand-in", lm.config, lm.n_parameters, "CPU", "float32")


def message_of(lm: model.LanguageModel, trace: model.Trace) -> RunMessage:
    tokens = len(trace.token_ids)
    layer = layer_payload("id", 1, tokens - 1, trace.layer(1), ffn_metadata(lm.net.block(1).ffn))
    offered = candidates(torch.from_numpy(trace.logits))
    following = next_payload(offered, lm.tokenizer.pieces(offered.ids.tolist()), lm.config.vocab_size)
    return run_payload("id", "prompt", tokens, about(lm), trace, following, layer)


def test_a_run_says_which_of_its_tokens_spike(lm: model.LanguageModel) -> None:
    assert message_of(lm, model.run_trace(lm, [5, 6, 7, 8]))["sinks"] == []

    def spike(stream: torch.Tensor) -> torch.Tensor:
        changed = stream.clone()
        changed[:, 2, 3] = 1e5
        return changed

    with swapped(lm.net, {"layers.1.resid_in": spike}):
        trace = model.run_trace(lm, [5, 6, 7, 8])
    size = np.abs(trace.residual.astype(np.float64))
    median = np.median(size.reshape(len(size), -1), axis=1)
    spikes = (size.max(-1) > 100) & (size.max(-1) > 250 * median[:, None])
    assert message_of(lm, trace)["sinks"] == [2] == np.flatnonzero(spikes.any(0)).tolist()


def test_a_whole_run_is_json_and_grows_with_tokens_alone(lm: model.LanguageModel) -> None:
    def size(tokens: int) -> int:
        return len(json.dumps(message_of(lm, model.run_trace(lm, list(range(1, tokens + 1))))))

    small, middle, large = size(16), size(32), size(64)
    assert large - middle == pytest.approx(2 * (middle - small), rel=0.05)  # linear, not quadratic


def test_a_wide_layer_gets_wider_numbers() -> None:
    gate = np.zeros((1, 70_000), np.float32)
    gate[0, 69_999] = 5
    arrays = {"q": np.zeros((1, 1, 2)), "k": np.zeros((1, 1, 2)), "gate": gate, "up": np.ones_like(gate)}
    wide = SWIGLU._replace(neurons=70_000, width=70_000)
    numbers = layer_payload("id", 0, 0, model.LayerTrace(arrays), wide)["top"]["neuron"]
    assert numbers["dtype"] == "i4"
    assert unpack(numbers)[0, 0] == 69_999


def test_the_model_as_it_is(lm: model.LanguageModel) -> None:
    told = model_payload(about(lm), network_metadata(lm.net, 5))
    assert (told["n_layers"], told["n_kv_heads"], told["head_dim"]) == (3, 2, 8)
    expected = 10_000.0 ** (-np.arange(0, 8, 2) / 8)
    np.testing.assert_allclose(unpack(told["parts"]["rotary"]["inv_freq"]), expected, rtol=1e-6)
    assert told["parts"]["rotary"]["attention_scaling"] == 1.0
    json.dumps(told)


def test_messages_carry_their_particulars() -> None:
    told = message_payload("prompt_too_long", tokens=600, limit=512)
    assert told == {
        "kind": "message",
        "level": "error",
        "code": "prompt_too_long",
        "params": {"tokens": 600, "limit": 512},
    }
