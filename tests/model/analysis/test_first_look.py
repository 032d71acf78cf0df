"""The head and the token that a page opens on, against all terms of the answer's logit, added up by hand in numpy."""

from pathlib import Path

import numpy as np
import pytest
import torch

import model
from model import LanguageModel
from model.analysis.first_look import TRIED, first_look
from model.analysis.nodes import swapped
from model.analysis.sinks import SPIKE, spiking
from model.interventions import Intervention
from model.norms import LayerNorm

ZOO = Path(model.__file__).parent / "zoo"
FAMILIES = sorted(path.parent.name for path in ZOO.glob("*/config.json"))
IDS = [5, 77, 31, 200, 9, 120, 77, 31, 64]
Head = tuple[str, int, int]


def terms_by_hand(trace: model.Trace) -> dict[Head, np.ndarray]:
    """α[s]·(W_O·v[s])·u of every head that is on, by token; from the layers' arrays."""
    net, state, off = trace.lm.net, trace.lm.net.state_dict(), trace.intervention
    along = state["head.weight"][int(trace.logits.argmax())].double().numpy() * net.head_scale
    along = along * net.norm.weight.double().numpy()
    if isinstance(net.norm, LayerNorm):
        along = along - along.mean()
    found: dict[Head, np.ndarray] = {}
    for i in range(trace.n_layers):
        arrays = trace.layer(i).arrays
        for kind, name in net.block(i).attentions.items():
            before = "cross_" if kind == "cross" else ""
            alpha, v = arrays[f"{before}attention"][:, -1], arrays[f"{before}v"].astype(float)
            columns = state[f"layers.{i}.{name}.o_proj.weight"].double().numpy().reshape(len(along), len(alpha), -1)
            for head, weights in enumerate(alpha):
                values = v[head * len(v) // len(alpha)] @ columns[:, head].T
                found[kind, i, head] = weights * (values @ along) / trace.final_norm_rms[-1]
    silent = {("head", *one) for one in off.heads} | {("cross", *one) for one in off.cross}
    return {one: terms for one, terms in found.items() if one not in silent and one[1] not in off.attention}


def check(trace: model.Trace, left_out: list[int]) -> None:
    """The largest term of the four heads that add most."""
    terms = terms_by_hand(trace)
    best = sorted(terms, key=lambda one: -terms[one].sum())[:TRIED]
    counted = {
        (*one, key): value
        for one in best
        for key, value in enumerate(terms[one])
        if one[0] == "cross" or key not in (*left_out, len(trace.token_ids) - 1)
    }
    found, expected = first_look(trace), max(counted, key=counted.__getitem__)
    assert found is not None
    assert found[:4] == expected
    assert found.logit == pytest.approx(counted[expected], rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_it_is_the_largest_term_of_the_answers_logit_in_every_family(family: str) -> None:
    lm = model.load(ZOO / family, device="cpu")
    for seed in range(3):
        ids = torch.randint(3, 90, (9,), generator=torch.Generator().manual_seed(seed)).tolist()
        check(model.run_trace(lm, ids), [])


def test_what_is_switched_off_brings_nothing(lm: LanguageModel) -> None:
    whole = first_look(model.run_trace(lm, IDS))
    assert whole is not None
    for off in (Intervention(heads=((whole.layer, whole.head),)), Intervention(attention=(whole.layer,))):
        trace = model.run_trace(lm, IDS, off)
        check(trace, [])
        found = first_look(trace)
        assert found is not None
        assert found[:3] != whole[:3]
    assert first_look(model.run_trace(lm, IDS, Intervention(attention=(0, 1, 2)))) is None


def test_one_token_brings_nothing_from_another() -> None:
    for family in FAMILIES:
        found = first_look(model.run_trace(model.load(ZOO / family, device="cpu"), [5]))
        assert found is None or found.kind == "cross"


def test_a_sink_is_never_opened(lm: LanguageModel) -> None:
    """A channel of one token's stream is made huge before the second layer, at the token that would be looked at."""
    usual = first_look(model.run_trace(lm, IDS))
    assert usual is not None

    def spike(stream: torch.Tensor) -> torch.Tensor:
        changed = stream.clone()
        changed[:, usual.key, 5] = 1000 * SPIKE
        return changed

    with swapped(lm.net, {"layers.1.resid_in": spike}):
        trace = model.run_trace(lm, IDS)
        assert spiking(trace.residual) == (usual.key,)
        found = first_look(trace)
    assert found is not None
    assert found.key != usual.key
    assert first_look(model.run_trace(lm, IDS)) == usual
