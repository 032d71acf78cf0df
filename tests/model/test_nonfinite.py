"""A run with a value that is not finite says where the first one arose; one without says nothing, at no cost."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import model
from model.interventions import Intervention, Patch
from model.nonfinite import NonFinite
from model.sampling import Sampling, choose

TEXT = "The cat sleeps on the sofa."
NAN, INF = float("nan"), float("inf")


@pytest.fixture
def own(checkpoint) -> model.LanguageModel:
    """The stand-in with weights of its own, that a test may spoil."""
    return model.load(checkpoint, device="cpu")


def first_of(lm: model.LanguageModel, **changed) -> NonFinite:
    trace = model.run_trace(lm, TEXT, **changed)
    assert trace.first_nonfinite is not None
    with pytest.raises(model.GlassLlamaError) as caught:
        trace.check_finite()
    assert caught.value.code == "not_finite"
    assert caught.value.params["piece"] == trace.pieces[trace.first_nonfinite.token]
    return trace.first_nonfinite


def test_a_finite_run_has_none(lm: model.LanguageModel) -> None:
    trace = model.run_trace(lm, TEXT)
    assert trace.first_nonfinite is None
    trace.check_finite()


PLACES = {
    "layers.1.ffn.down_proj": ("ffn", 1, "ffn_out"),
    "layers.1.ffn.gate_up_proj": ("ffn", 1, "ffn.gate"),
    "layers.0.attn.o_proj": ("attn", 0, "attn_out"),
    "layers.2.attn.qkv_proj": ("attn", 2, "attn.q"),
    "layers.2.attn_norm": ("attn_norm", 2, "attn_normed"),
    "layers.0.ffn_norm": ("ffn_norm", 0, "ffn_normed"),
    "norm": ("final_norm", None, "final_normed"),
    "head": ("head", None, "logits"),
}


@pytest.mark.parametrize("bad", [NAN, INF])
@pytest.mark.parametrize("name", PLACES)
def test_a_weight_is_found_by_its_part(own: model.LanguageModel, name: str, bad: float) -> None:
    weight = own.net.get_submodule(name).weight
    weight[(0,) * weight.dim()] = bad
    part, layer, value = PLACES[name]
    found = first_of(own)
    assert (found.part, found.layer, found.value) == (part, layer, value)
    if name == "head":
        assert found.token == len(own.tokenizer.encode(TEXT)) - 1
    elif bad != bad:
        assert (found.token, found.kind) == (0, "NaN")


def test_an_embedding_is_found_at_its_token(own: model.LanguageModel) -> None:
    ids = own.tokenizer.encode(TEXT)
    own.net.embed.weight[ids[4]] = NAN
    assert first_of(own) == NonFinite("embedding", None, "resid_in", ids.index(ids[4]), "NaN")


def test_one_token_that_overflows_is_named(own: model.LanguageModel) -> None:
    """In float32 one token's stream grows beyond what its square can be: the norm then gives zeros, without a NaN."""
    ids = own.tokenizer.encode(TEXT)
    own.net.embed.weight[ids[5]] *= 1e25
    found = first_of(own)
    assert found == NonFinite("attn_norm", 0, "attn_norm_rms", ids.index(ids[5]), "inf")
    assert np.isfinite(model.run_trace(own, TEXT).logits).all()  # which is why this goes unseen


@pytest.mark.parametrize(("dtype", "scale"), [("float32", 3e38), ("float16", 6e4)])
def test_an_overflow_of_a_sum_is_named_in_either_dtype(checkpoint, dtype: str, scale: float) -> None:
    lm = model.load(checkpoint, device="cpu", dtype=dtype)
    lm.net.get_submodule("layers.1.ffn.down_proj").weight.sign_().mul_(scale)
    found = first_of(lm)
    assert (found.part, found.layer) == ("ffn", 1)
    reference = model.run_trace(replace(lm, net=lm.net.double()), TEXT) if dtype == "float16" else None
    assert reference is None or reference.first_nonfinite is None  # wider, it is finite


def test_scores_that_overflow_belong_to_attention(own: model.LanguageModel) -> None:
    weight = own.net.get_submodule("layers.1.attn.qkv_proj").weight
    weight[:64] *= 1e25
    found = first_of(own)
    assert (found.part, found.layer, found.value) == ("attn", 1, "attn.mixed")


def test_what_is_changed_in_the_run_is_changed_where_it_is_looked_for(own: model.LanguageModel) -> None:
    own.net.get_submodule("layers.1.ffn.down_proj").weight[0, 0] = NAN
    assert model.run_trace(own, TEXT, Intervention(neurons=((1, 0),))).first_nonfinite is not None  # 0 · NaN
    assert model.run_trace(own, TEXT, Intervention(ffn=(1,))).first_nonfinite is None
    patch = Patch(2, 3, (NAN,) * 48)
    found = first_of(own, intervention=Intervention(ffn=(1,), patches=(patch,)))
    assert found == NonFinite("stream", 2, "resid_in", 3, "NaN")


def test_the_message_says_all_that_a_reader_needs(own: model.LanguageModel) -> None:
    own.net.get_submodule("layers.1.ffn.down_proj").weight[0, 0] = NAN
    with pytest.raises(model.GlassLlamaError) as caught:
        model.run_trace(own, TEXT).check_finite()
    assert str(caught.value) == (
        "The first value that is not finite (NaN) arose in layer 1, the feed-forward (ffn_out), at token 0, 'The'. "
        "The values are too large for float32, or the weights are damaged: fetch the checkpoint again."
    )
    where = {"part": "ffn", "layer": 1, "value": "ffn_out", "token": 0}
    assert caught.value.params == where | {"kind": "NaN", "piece": "The", "dtype": "float32"}


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_generation_says_the_same(own: model.LanguageModel, temperature: float) -> None:
    own.net.get_submodule("layers.2.attn.o_proj").weight[0, 0] = NAN
    with pytest.raises(model.GlassLlamaError, match=r" arose in layer 2, attention \(attn_out\), ") as caught:
        list(model.generate(own, TEXT, temperature=temperature))
    assert caught.value.code == "not_finite"


def test_generation_stops_at_the_token_that_spoils_it(own: model.LanguageModel) -> None:
    steps = list(model.generate(own, TEXT, max_new_tokens=6))
    ids = own.tokenizer.encode(TEXT)
    fourth = steps[3].token_id
    assert fourth not in ids + [step.token_id for step in steps[:3]]
    own.net.embed.weight[fourth] = NAN
    written: list[int] = []
    with pytest.raises(model.GlassLlamaError, match=rf" arose in the embedding .+ at token {len(ids) + 3}, ") as caught:  # noqa: PT012
        for step in model.generate(own, TEXT, max_new_tokens=6):
            written.append(step.token_id)
    assert written == [step.token_id for step in steps[:4]]
    assert caught.value.params["token"] == len(ids) + 3


def test_generation_that_overflows_in_a_norm_is_not_taken_for_a_choice(own: model.LanguageModel) -> None:
    """Its logits are all 0, which is finite: every token would be as probable as any."""
    own.net.get_submodule("layers.2.ffn.down_proj").weight.mul_(1e30)
    with pytest.raises(model.GlassLlamaError, match=r" arose in the final norm \(final_norm_rms\), "):
        list(model.generate(own, TEXT))


def test_equal_logits_alone_are_no_fault(own: model.LanguageModel) -> None:
    own.net.head.weight.zero_()
    assert next(model.generate(own, TEXT)).probability == pytest.approx(1 / 320)


@pytest.mark.parametrize("bad", [NAN, INF])
@pytest.mark.parametrize("how", [Sampling(), Sampling(1.0), Sampling(0.7, top_k=5), Sampling(1.0, top_p=0.5)])
def test_no_token_is_chosen_of_logits_that_are_not_finite(how: Sampling, bad: float) -> None:
    logits = torch.linspace(-1, 1, 50)
    logits[7] = bad
    with pytest.raises(model.GlassLlamaError, match=f"^logits: token id 7 has {bad}; expected finite numbers"):
        choose(logits, how, torch.Generator())


def test_tokens_may_be_left_out_of_a_choice(lm: model.LanguageModel) -> None:
    logits = torch.full((50,), -INF)
    logits[9] = 1.0
    assert choose(logits, Sampling(1.0), torch.Generator()) == (9, 1.0)
    with pytest.raises(model.GlassLlamaError, match=r"^logits: .*expected finite numbers"):
        choose(torch.full((50,), -INF), Sampling(1.0), torch.Generator())
