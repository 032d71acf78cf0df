"""A trace's layers are what a full capture saw, their names and shapes are fixed, and bad prompts are refused."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from torch import nn

import model
from model.taps import Tap, capture, capture_stacked
from model.trace import SHAPES, shapes

TEXT = "The cat sleeps, 猫在沙发上睡觉。"
T, D, F, H, KV, HEAD = "T", "d", "f", "n_heads", "n_kv_heads", "head_dim"
# Written out a second time on purpose: outside programs rely on these names and dimensions.
PINNED = {
    "resid_in": (T, D),
    "resid_mid": (T, D),
    "resid_out": (T, D),
    "attn_norm_rms": (T,),
    "ffn_norm_rms": (T,),
    "attn_normed": (T, D),
    "ffn_normed": (T, D),
    "q": (H, T, HEAD),
    "q_rot": (H, T, HEAD),
    "k": (KV, T, HEAD),
    "k_rot": (KV, T, HEAD),
    "v": (KV, T, HEAD),
    "scores": (H, T, T),
    "attention": (H, T, T),
    "attn_out": (T, D),
    "ffn_out": (T, D),
    "gate": (T, F),
    "up": (T, F),
}
PINNED_TAPS = {
    *("resid_in", "attn_normed", "attn_out", "resid_mid", "ffn_normed", "ffn_out", "resid_out"),
    *("attn.q", "attn.k", "attn.v", "attn.q_rot", "attn.k_rot", "attn.scores", "attn.attention"),
    "attn.mixed",
    *("ffn.gate", "ffn.up", "ffn.active"),
}


@pytest.fixture(scope="module")
def trace(lm: model.LanguageModel) -> model.Trace:
    return model.run_trace(lm, TEXT)


def test_names_and_dimensions_are_pinned(lm: model.LanguageModel, trace: model.Trace) -> None:
    assert SHAPES == PINNED
    assert shapes(lm.net, 1) == PINNED
    assert trace.layer(1).arrays.keys() == PINNED.keys()


def test_tap_names_are_pinned(lm: model.LanguageModel) -> None:
    taps = {name for name, module in lm.net.named_modules() if isinstance(module, Tap)}
    assert taps == {f"layers.{i}.{name}" for i in range(3) for name in PINNED_TAPS} | {"final_resid", "final_normed"}


def test_every_array_of_a_layer_is_float32_and_has_its_shape(trace: model.Trace) -> None:
    sizes = {T: len(trace.token_ids), D: 48, F: 80, H: 6, KV: 2, HEAD: 8}
    assert len(set(sizes.values())) == len(sizes)  # or two dimensions could be swapped unseen
    for i in range(3):
        for name, dimensions in PINNED.items():
            array = getattr(trace.layer(i), name)
            assert isinstance(array, np.ndarray)
            assert array.dtype == np.float32, name
            assert array.shape == tuple(sizes[dimension] for dimension in dimensions), name


def test_what_a_trace_keeps_for_every_layer(trace: model.Trace) -> None:
    tokens = len(trace.token_ids)
    shapes = {
        "residual": (4, tokens, 48),
        "attn_norm_rms": (3, tokens),
        "ffn_norm_rms": (3, tokens),
        "final_norm_rms": (tokens,),
        "gate_open": (3, tokens),
        "logits": (320,),
    }
    for name, shape in shapes.items():
        assert getattr(trace, name).dtype == np.float32, name
        assert getattr(trace, name).shape == shape, name
    assert trace.n_layers == 3


def test_a_layer_equals_what_a_full_capture_saw(lm: model.LanguageModel, trace: model.Trace) -> None:
    with torch.inference_mode(), capture(lm.net, "*") as seen:
        logits = lm.net(torch.tensor([trace.token_ids]), eager=True)
    for i in range(3):
        for tap in PINNED_TAPS - {"attn.mixed", "ffn.active"}:
            ours, captured = getattr(trace.layer(i), tap.split(".")[-1]), seen[f"layers.{i}.{tap}"][0].numpy()
            np.testing.assert_allclose(ours, captured, rtol=0, atol=1e-5, err_msg=f"layer {i} {tap}")
        read = trace.layer(i).gate / (1 + np.exp(-trace.layer(i).gate)) * trace.layer(i).up
        np.testing.assert_allclose(read, seen[f"layers.{i}.ffn.active"][0].numpy(), rtol=0, atol=1e-5)
        values = trace.layer(i).v.repeat(lm.config.group_size, axis=0)
        mixed = (trace.layer(i).attention @ values).swapaxes(0, 1)
        np.testing.assert_allclose(mixed, seen[f"layers.{i}.attn.mixed"][0].numpy(), rtol=0, atol=1e-5)
    np.testing.assert_allclose(trace.residual[-1], seen["final_resid"][0].numpy(), rtol=0, atol=1e-5)
    np.testing.assert_allclose(trace.logits, logits[0, -1].numpy(), rtol=0, atol=2e-5)


def test_values_that_are_stacked_are_those_that_pass_the_taps(lm: model.LanguageModel) -> None:
    ids = torch.tensor([[1, 2, 3, 4]])
    taps = "*.resid_in", "final_resid"
    with (
        torch.inference_mode(),
        capture(lm.net, *taps) as seen,
        capture_stacked(lm.net, *taps, record=lambda value: value[0]) as stacked,
    ):
        assert stacked.values.shape == (0,)
        lm.net(ids)
    names = ["layers.0.resid_in", "layers.1.resid_in", "layers.2.resid_in", "final_resid"]
    torch.testing.assert_close(stacked.values, torch.cat([seen[name] for name in names]), rtol=0, atol=0)
    with pytest.raises(KeyError, match="no tap matches"), capture_stacked(lm.net, "*.resid_inn"):
        pass


def test_runs_in_several_threads_record_their_own(lm: model.LanguageModel) -> None:
    texts = [[1, 2, 3], [4, 5, 6, 7], [8, 9]]
    alone = [model.run_trace(lm, text) for text in texts]
    with ThreadPoolExecutor(len(texts)) as threads:
        for _ in range(20):
            for found, wanted in zip(threads.map(lambda text: model.run_trace(lm, text), texts), alone, strict=True):
                np.testing.assert_array_equal(found.residual, wanted.residual)
                np.testing.assert_array_equal(found.ffn_norm_rms, wanted.ffn_norm_rms)


def test_the_fused_path_equals_the_eager_softmax(lm: model.LanguageModel, trace: model.Trace) -> None:
    ids = torch.tensor([trace.token_ids] * 2)
    with torch.inference_mode(), capture(lm.net, "*.attn_out") as fused:
        lm.net(ids)
    with torch.inference_mode(), capture(lm.net, "*.attn_out") as eager:
        lm.net(ids, eager=True)
    assert fused.keys() == eager.keys()
    assert len(fused) == 3
    for name, value in fused.items():
        torch.testing.assert_close(value, eager[name], rtol=0, atol=1e-5)


def test_the_residual_stream_is_one_chain_of_sums(trace: model.Trace) -> None:
    for i in range(3):
        layer = trace.layer(i)
        np.testing.assert_array_equal(layer.resid_in, trace.residual[i])
        np.testing.assert_allclose(layer.resid_in + layer.attn_out, layer.resid_mid, atol=1e-6)
        np.testing.assert_allclose(layer.resid_mid + layer.ffn_out, layer.resid_out, atol=1e-6)
        np.testing.assert_allclose(layer.resid_out, trace.residual[i + 1], atol=1e-5)
        if i < 2:
            np.testing.assert_allclose(layer.resid_out, trace.layer(i + 1).resid_in, atol=1e-5)


def test_attention_is_causal_and_each_row_sums_to_one(trace: model.Trace) -> None:
    future = np.triu(np.ones((len(trace.token_ids),) * 2, dtype=bool), 1)
    for i in range(3):
        layer = trace.layer(i)
        np.testing.assert_allclose(layer.attention.sum(-1), 1, atol=1e-6)
        assert (layer.attention[:, future] == 0).all()
        assert (layer.scores[:, future] != 0).all()  # scores are from before the mask
        weights = np.exp(np.where(future, -np.inf, layer.scores.astype(np.float64)))
        np.testing.assert_allclose(layer.attention, weights / weights.sum(-1, keepdims=True), atol=1e-6)


def test_ids_and_their_text_give_the_same_trace(lm: model.LanguageModel, trace: model.Trace) -> None:
    again = model.run_trace(lm, list(trace.token_ids))
    assert again.token_ids == trace.token_ids == lm.tokenizer.encode(TEXT)
    assert again.pieces == trace.pieces == lm.tokenizer.pieces(trace.token_ids)
    np.testing.assert_array_equal(again.logits, trace.logits)
    np.testing.assert_array_equal(again.layer(1).attention, trace.layer(1).attention)


def test_one_token_and_a_full_context(lm: model.LanguageModel) -> None:
    assert model.run_trace(lm, [7]).layer(2).attention.tolist() == [[[1.0]]] * 6
    assert model.run_trace(lm, [7] * 128).layer(0).scores.shape == (6, 128, 128)


@pytest.mark.parametrize("i", [-1, 3, 100])
def test_a_layer_that_is_not_there(trace: model.Trace, i: int) -> None:
    with pytest.raises(IndexError, match=f"layer {i}: the model has layers 0 to 2"):
        trace.layer(i)


def test_recomputed_layers_are_kept_within_a_bound(lm: model.LanguageModel) -> None:
    trace = model.run_trace(lm, TEXT)
    without = trace.nbytes
    first = trace.layer(0)
    assert trace.layer(0) is first
    assert trace.nbytes == without + first.nbytes
    trace._layers.max_bytes = 2 * first.nbytes
    trace.layer(1)
    trace.layer(0)  # now layer 1 is the oldest
    trace.layer(2)
    assert trace.nbytes == without + 2 * first.nbytes
    assert trace.layer(0) is first
    trace._layers.max_bytes = 0
    newest = trace.layer(1)
    assert trace.layer(1) is newest  # one always stays
    assert trace.nbytes == without + newest.nbytes


def hooks(net: nn.Module) -> int:
    return sum(len(module._forward_hooks) for module in net.modules())


def test_hooks_come_off_after_a_run_and_after_an_error(lm: model.LanguageModel) -> None:
    model.run_trace(lm, TEXT).layer(0)
    assert hooks(lm.net) == 0
    with capture(lm.net, "*.attn.q", "final_resid") as seen:
        assert hooks(lm.net) == 4
        assert seen == {}
    with pytest.raises(ZeroDivisionError), capture(lm.net, "*"):
        raise ZeroDivisionError
    with pytest.raises(IndexError), capture(lm.net, "*"):
        lm.net(torch.tensor([[100_000]]))
    with pytest.raises(KeyError, match=r"no tap matches '\*\.attn\.typo'"), capture(lm.net, "*.q", "*.attn.typo"):
        pass
    assert hooks(lm.net) == 0


PROMPTS = {
    "": ("prompt_empty", "empty"),
    "x" * 100_000: ("prompt_too_long", "at most 128"),
    "broken \ud83d half": ("surrogate", "character 8"),
    "\udc00": ("surrogate", "character 1"),
}


@pytest.mark.parametrize(("prompt", "refusal"), PROMPTS.items(), ids=lambda value: ascii(value)[:20])
def test_texts_that_are_refused(lm: model.LanguageModel, prompt: str, refusal: tuple[str, str]) -> None:
    with pytest.raises(model.GlassLlamaError, match=rf"^prompt: .*{refusal[1]}") as caught:
        model.run_trace(lm, prompt)
    assert caught.value.code == refusal[0]


@pytest.mark.parametrize(
    ("ids", "code"),
    [([], "prompt_empty"), ([1] * 129, "prompt_too_long"), ([5, 320], "token_id"), ([5, -1], "token_id")],
    ids=["none", "129", "320", "-1"],
)
def test_ids_that_are_refused(lm: model.LanguageModel, ids: list[int], code: str) -> None:
    with pytest.raises(model.GlassLlamaError, match=r"^prompt: ") as caught:
        model.run_trace(lm, ids)
    assert caught.value.code == code
    if code == "token_id":
        assert f"token id {ids[1]} is outside the vocabulary (0 to 319)" in str(caught.value)


ODD = ["   ", "\n\t\x00\x07\x1b[31m", "🦙👩\u200d👩\u200d👧", "שלום عالم", "<script>alert(1)</script>", "\ufeff"]


@pytest.mark.parametrize("prompt", ODD, ids=ascii)
def test_odd_texts_that_are_run(lm: model.LanguageModel, prompt: str) -> None:
    trace = model.run_trace(lm, prompt)
    assert lm.tokenizer.decode(trace.token_ids) == prompt
    assert np.isfinite(trace.logits).all()


def test_a_trace_holds_no_more_than_its_arrays(lm: model.LanguageModel) -> None:
    """O(L·T·d), and nothing that grows with the square of the length."""
    short, long = (model.run_trace(lm, [5] * tokens).nbytes for tokens in (32, 128))
    fixed = 320 * 4 + 3 * 6 * lm.config.head_dim * 4  # the last token's logits, and what its heads mixed
    assert long - fixed == 4 * (short - fixed)
