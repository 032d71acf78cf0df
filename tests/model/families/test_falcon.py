"""Falcon against transformers: 7B's one norm and one K/V head, 40B's groups and two norms, Falcon2's groups and one."""

import pytest
import transformers

import model
from tests.families import (
    SIZES,
    Pair,
    check_forward,
    check_generation,
    check_off,
    check_why,
    pair_of,
    refusal,
    sample,
    save,
)

GROUPS = {"new_decoder_architecture": True, "num_kv_heads": 2}
CONFIGS = {
    "7B": transformers.FalconConfig(**SIZES),
    "40B": transformers.FalconConfig(**SIZES, **GROUPS),
    "2-11B": transformers.FalconConfig(
        **SIZES, **GROUPS, num_ln_in_parallel_attn=1, bias=True, ffn_hidden_size=80, tie_word_embeddings=False
    ),
}


@pytest.fixture(scope="module", params=CONFIGS)
def pair(request: pytest.FixtureRequest) -> Pair:
    return pair_of(save(CONFIGS[request.param]))


def test_the_forward_pass_agrees(pair: Pair) -> None:
    check_forward(pair)


def test_generation_and_cache_agree(pair: Pair) -> None:
    check_generation(pair)


def test_why(pair: Pair) -> None:
    check_why(pair)


def test_parts_switched_off(pair: Pair) -> None:
    check_off(
        pair,
        lambda net, i: net.transformer.h[i].self_attention.dense,
        lambda net, i: net.transformer.h[i].mlp.dense_4h_to_h,
    )


def test_what_a_kind_has_no_place_for_is_absent(pair: Pair) -> None:
    trace = model.run_trace(pair.lm, sample(1, 5)[0].tolist())
    two = pair.lm.config.n_kv_heads == 2 and not hasattr(pair.lm.net.block(0).attn.o_proj.bias, "data")
    for where in (trace.layer(0).arrays, trace.figures):
        assert ("ffn_norm_rms" in where) == two
    assert hasattr(trace.layer(0), "ffn_normed") == two
    assert not hasattr(trace.layer(0), "resid_mid")
    assert not hasattr(trace.layer(0), "gate")


def test_what_is_not_implemented_is_refused(pair: Pair) -> None:
    wrong = {"alibi": True, "parallel_attn": False, "num_ln_in_parallel_attn": 3, "activation": "tanh"}
    for field, value in wrong.items():
        assert refusal(pair.directory, **{field: value}).startswith(f"config.json: {field} is ")
    message = refusal(pair.directory, new_decoder_architecture=False, multi_query=False)
    assert message.startswith("config.json: multi_query is False")
