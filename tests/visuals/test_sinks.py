"""What wrote a spike, against numpy over the layer's own arrays and a token's embedding that is scaled by hand."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch

import model
from model import LanguageModel
from model.analysis.nodes import Swap, swapped
from model.interventions import Intervention, Patch
from model.smollm2 import WEIGHTS
from visuals.payload import unpack
from visuals.sinks import sinks_info, sinks_payload
from visuals.why import rests

IDS = [5, 9, 11, 7, 6, 8, 3]
TOKEN, CHANNEL, HUGE = 2, 4, 3e4


def huge(at: str) -> dict[str, Swap]:
    """What makes a channel of one token huge at a tap."""

    def scaled(values: torch.Tensor) -> torch.Tensor:
        changed = values.clone()
        if values.shape[1] == len(IDS):
            changed[:, TOKEN, CHANNEL] = HUGE
        return changed

    return {at: scaled}


@pytest.fixture(params=["layers.0.resid_in", "layers.1.ffn_out", "layers.1.attn_out"])
def spiked(request: pytest.FixtureRequest, lm: LanguageModel) -> Iterator[tuple[str, LanguageModel]]:
    with swapped(lm.net, huge(request.param)):
        yield request.param, lm


def test_who_writes_the_spike(spiked: tuple[str, LanguageModel]) -> None:
    tap, lm = spiked
    trace = model.run_trace(lm, IDS)
    found = sinks_info(lm, trace)
    size = np.abs(trace.residual.astype(np.float64))
    np.testing.assert_allclose(found.largest, size.max(-1))
    np.testing.assert_allclose(found.rms, np.sqrt((size**2).mean(-1)), rtol=1e-6)
    np.testing.assert_allclose(found.median, np.median(size.reshape(len(size), -1), axis=1), rtol=1e-6)
    (spike,) = found.spikes
    assert (spike.token, spike.channel) == (TOKEN, CHANNEL)
    if tap == "layers.0.resid_in":
        assert (spike.writer, spike.layer, spike.before, spike.after) == ("embedding", None, 0, HUGE)
        return
    name = tap.split(".")[-1]
    assert (spike.writer, spike.layer, spike.wrote) == (name.removesuffix("_out"), 1, HUGE)
    before, after = trace.residual[1:3, TOKEN, CHANNEL]
    assert (spike.before, spike.after) == (before, after)
    others = {"attn_out", "ffn_out"} - {name}
    written = spike.wrote + sum(trace.layer(1).arrays[other][TOKEN, CHANNEL] for other in others)
    assert after - before == pytest.approx(written, rel=1e-5)


def test_a_stream_that_was_taken_over(lm: LanguageModel) -> None:
    with swapped(lm.net, huge("layers.1.ffn_out")):
        source = model.run_trace(lm, IDS)
    taken = Intervention(patches=(Patch(2, TOKEN, tuple(source.residual[2, TOKEN].tolist())),))
    (spike,) = sinks_info(lm, model.run_trace(lm, IDS, taken)).spikes
    assert (spike.token, spike.writer, spike.layer, spike.channel) == (TOKEN, "patch", 1, CHANNEL)


def test_what_the_page_is_told(lm: LanguageModel) -> None:
    plain = model.run_trace(lm, IDS)
    told = sinks_payload(sinks_info(lm, plain), None, None)
    assert told["sinks"] == []
    assert unpack(told["rms"]).shape == (lm.config.n_layers + 1, len(IDS))


@pytest.mark.thorough
@pytest.mark.skipif(not WEIGHTS.is_file(), reason="no weights: `make smollm2` fetches them")
def test_the_first_token_of_a_real_llama() -> None:
    lm = model.load(WEIGHTS, device="cpu")
    trace = model.run_trace(lm, "The capital of France is")
    info = sinks_info(lm, trace)
    (spike,) = info.spikes
    assert (spike.token, spike.writer, spike.layer, spike.channel) == (0, "ffn", 11, 507)
    assert spike.after == pytest.approx(22_552, abs=1)
    assert info.rms[12, 0] == pytest.approx(946.3, abs=0.1)
    found = rests(lm, trace, None, 4)
    assert found is not None
    (told,) = sinks_payload(info, found, " Paris")["sinks"]
    attention = np.stack([trace.layer(i).attention[:, -1, 0] for i in range(lm.config.n_layers)])
    assert told["parked"] == (attention >= 0.5).sum()
    assert told["lost"] == pytest.approx(model.knock_out(lm, "The capital of France is")[0])
