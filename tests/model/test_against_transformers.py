"""Logits, hidden states, attention and greedy text agree with transformers, for every shape and RoPE scaling."""

import itertools
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import GenerationConfig

import model
from model.taps import capture
from tests.reference import reference, run_reference, sample_ids
from tests.standin import make_checkpoint

TOLERANCE = 1e-5  # absolute, in float32
SHARPNESS = 1.2  # scores up to about 8: much sharper, and float32 itself is further than this from exact arithmetic
TOKENS = 24
SHAPES: dict[str, dict[str, Any]] = {
    "GQA": {},
    "MHA": {"num_key_value_heads": 6},
    "MQA": {"num_key_value_heads": 1},
    "MHA, neither K/V heads nor head_dim named": {"num_key_value_heads": None, "head_dim": None},
    "tied": {"tie_word_embeddings": True},
    "MQA, tied": {"num_key_value_heads": 1, "tie_word_embeddings": True},
    "heads wider than d_model": {"head_dim": 16},
    "one layer, one head": {"num_hidden_layers": 1, "num_attention_heads": 1, "num_key_value_heads": 1},
    "large eps": {"rms_norm_eps": 0.05},
    "high theta": {"rope_theta": 500_000.0},
}
# RoPE scalings as the config.json of transformers 4 states them: `rope_theta` beside `rope_scaling`.
YARN = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 40, "beta_fast": 8.0, "beta_slow": 0.5}
SCALINGS: dict[str, dict[str, Any]] = {
    "linear": {"rope_type": "linear", "factor": 4.0},
    "linear, older key": {"type": "linear", "factor": 3.0},
    "dynamic NTK": {"rope_type": "dynamic", "factor": 2.0},
    "YaRN": {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 32},
    "YaRN, betas": YARN,
    "YaRN, not truncated": YARN | {"truncate": False},
    "YaRN, attention factor": YARN | {"attention_factor": 0.75},
    "YaRN, mscale": YARN | {"mscale": 0.7, "mscale_all_dim": 1.2},
    "YaRN, mscale alone has no effect": YARN | {"mscale": 0.7, "factor": 6.0},
    "YaRN, original from max": {"rope_type": "yarn", "factor": 2.0},
    "llama3": {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64,
    },
}


def scaled(name: str, newer: bool) -> dict[str, Any]:
    """The stand-in's fields for a scaling, in the form of transformers 5 (`rope_parameters`) or of the ones before."""
    context = 16 if "dynamic" in name else 128  # dynamic NTK acts beyond max_position_embeddings alone
    common = {"head_dim": 16, "max_position_embeddings": context}
    if not newer:
        return common | {"rope_theta": 1000.0, "rope_scaling": SCALINGS[name]}
    fields = dict(SCALINGS[name])
    kind = fields.pop("type", None) or fields.pop("rope_type")
    return common | {"rope_theta": None, "rope_parameters": {"rope_theta": 1000.0, "rope_type": kind, **fields}}


CASES = SHAPES | {
    f"{name} ({'5' if newer else '4'})": scaled(name, newer) for name in SCALINGS for newer in (False, True)
}


@pytest.fixture(scope="module", params=CASES)
def directory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_checkpoint(tmp_path_factory.mktemp("case"), seed=3, sharpness=SHARPNESS, **CASES[request.param])


def test_logits_hidden_states_and_attention_weights_agree(directory: Path) -> None:
    lm, ids = model.load(directory, device="cpu"), sample_ids(2, TOKENS)
    theirs = run_reference(reference(directory), ids)
    with torch.inference_mode(), capture(lm.net, "*.resid_in", "final_normed", "*.attention") as seen:
        lm.net(ids, eager=True)
        logits = lm.net(ids)
    assert_close(logits, theirs.logits)
    for i in range(lm.config.n_layers):
        assert_close(seen[f"layers.{i}.resid_in"], theirs.hidden_states[i])
        assert_close(seen[f"layers.{i}.attn.attention"], theirs.attentions[i])
    assert_close(seen["final_normed"], theirs.hidden_states[-1])


def test_a_trace_agrees(directory: Path) -> None:
    lm, ids = model.load(directory, device="cpu"), sample_ids(1, TOKENS, seed=5)
    theirs = run_reference(reference(directory), ids)
    trace = model.run_trace(lm, ids[0].tolist())
    assert_close(torch.from_numpy(trace.logits), theirs.logits[0, -1])
    for i in range(lm.config.n_layers):
        layer = trace.layer(i)
        assert_close(torch.from_numpy(layer.resid_in), theirs.hidden_states[i][0])
        assert_close(torch.from_numpy(layer.attention), theirs.attentions[i][0])
    final = lm.net.norm(torch.from_numpy(trace.residual[-1]))
    assert_close(final, theirs.hidden_states[-1][0])


def assert_close(ours: torch.Tensor, theirs: torch.Tensor) -> None:
    assert ours.shape == theirs.shape
    assert (ours - theirs).abs().max().item() <= TOLERANCE


@cache
def reference_logits(directory: Path) -> torch.Tensor:
    return run_reference(reference(directory), sample_ids(1, TOKENS)).logits


def test_every_scaling_makes_a_difference_in_the_reference(tmp_path: Path) -> None:
    """Otherwise a scaling that both sides ignored would count as agreement."""
    cases = {name: scaled(name, newer=False) for name in SCALINGS} | {
        "none": {"head_dim": 16, "rope_theta": 1000.0},
        "none, other theta": {"head_dim": 16, "rope_theta": 2000.0},
    }
    logits = {
        name: reference_logits(make_checkpoint(tmp_path / str(i), seed=3, sharpness=SHARPNESS, **fields))
        for i, (name, fields) in enumerate(cases.items())
    }
    for one, other in itertools.combinations(logits, 2):
        assert (logits[one] - logits[other]).abs().max() > 100 * TOLERANCE, f"{one} equals {other}"


@pytest.mark.parametrize(
    "case", ["GQA", "MQA, tied", "heads wider than d_model", "dynamic NTK (4)", "YaRN (5)", "llama3 (4)"]
)
def test_greedy_text_is_the_same_token_for_token(case: str, tmp_path: Path) -> None:
    make_checkpoint(tmp_path, seed=4, **CASES[case])
    lm, prompt = model.load(tmp_path, device="cpu"), sample_ids(1, 9, seed=6)
    greedy = GenerationConfig(do_sample=False, max_new_tokens=20, eos_token_id=0, pad_token_id=0)
    theirs = reference(tmp_path).generate(prompt, generation_config=greedy)[0, 9:].tolist()
    ours = [step.token_id for step in model.generate(lm, prompt[0].tolist(), max_new_tokens=20)]
    assert len(theirs) > 1
    assert ours == theirs
