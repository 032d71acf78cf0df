"""Sinks, form, heads and controls of an answer, against whole runs, transformers' own and small cases by hand."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import model
from model import GlassLlamaError, LanguageModel
from model.analysis.form import FEW, Fetched, answer_places, fetched
from model.analysis.head_losses import ablated_run, head_losses, integrated_gradients, log_p_without
from model.analysis.last_token import read_text
from model.analysis.nodes import swapped
from model.analysis.reference_mean import reference_mean
from model.analysis.sinks import SHORTEST, SPIKE, last_attention, sinks
from model.analysis.why import GROUP, N_RANDOM_CONTROLS, NEEDED
from model.interventions import Intervention
from tests.reference import reference, run_reference, sample_ids
from tests.standin import make_checkpoint

ZOO = Path(model.__file__).parent / "zoo"
DECODERS = sorted({path.parent.name for path in ZOO.glob("*/config.json")} - {"t5"})
IDS = [5, 77, 31, 200, 9, 120, 77, 31, 64]
WHERE = "Tom is in the kitchen. Lily is in the garden. Tom is in the"


@pytest.fixture(scope="module")
def bundled() -> LanguageModel:
    return model.load(device="cpu")


def log_p_off(lm: LanguageModel, heads: list[tuple[int, int]], answer: int) -> float:
    """By itself: the whole run with these heads writing nothing."""
    trace = model.run_trace(lm, IDS, Intervention(heads=tuple(heads)))
    return float(torch.from_numpy(trace.logits).log_softmax(-1)[answer])


def test_zero_ablation_is_each_head_switched_off(lm: LanguageModel) -> None:
    found = model.why(lm, IDS, ablation="zero")
    assert found.heads.shape == found.heads_measured.shape == (3, 6)
    assert found.heads_measured.all()
    whole = log_p_off(lm, [], found.answer)
    assert found.p == pytest.approx(np.exp(whole), rel=1e-4)
    for layer in range(3):
        for head in range(6):
            assert found.heads[layer, head] == pytest.approx(
                whole - log_p_off(lm, [(layer, head)], found.answer), abs=1e-4
            )
    assert found.heads.min() < 0 < found.heads.max()
    assert found.without == pytest.approx(np.exp(log_p_off(lm, list(found.group), found.answer)), rel=1e-3)


def test_mean_ablation_writes_what_a_head_writes_in_ordinary_text(checkpoint: Path, lm: LanguageModel) -> None:
    """transformers' run, with a head's columns before W_O set to the mean at all tokens."""
    found, mean, net = model.why(lm, IDS), reference_mean(lm), reference(checkpoint)
    width = lm.config.head_dim
    for layer, head in [(0, 1), (1, 4), (2, 0)]:

        def hook(_: Any, given: Any, layer: int = layer, head: int = head) -> Any:
            changed = given[0].clone()
            changed[..., head * width : (head + 1) * width] = mean[layer][head]
            return (changed,)

        handle = net.model.layers[layer].self_attn.o_proj.register_forward_pre_hook(hook)
        left = run_reference(net, torch.tensor([IDS])).logits[0, -1].log_softmax(-1)[found.answer]
        handle.remove()
        assert found.heads[layer, head] == pytest.approx(np.log(found.p) - float(left), abs=1e-4)


def test_sinks_keep_what_heads_write_there(lm: LanguageModel) -> None:
    with_sink = ablated_run(read_text(lm, IDS), 7, "mean", sinks=[0, 3])
    assert with_sink.at.tolist() == [False, True, True, False, True, True, True, True, True]
    assert ablated_run(read_text(lm, IDS), 7, "zero", sinks=[0, 3]).at.all()


def test_beyond_the_budget_the_largest_by_the_gradient_are_measured(lm: LanguageModel) -> None:
    every = model.why(lm, IDS)
    some = model.why(lm, IDS, heads_budget=5 * len(IDS) + 1)
    assert some.heads_measured.sum() == 5
    np.testing.assert_allclose(some.heads[some.heads_measured], every.heads[some.heads_measured], atol=1e-5)
    none = model.why(lm, IDS, heads_budget=0)
    assert not none.heads_measured.any()
    assert abs(none.heads[some.heads_measured]).min() >= abs(none.heads[~some.heads_measured]).max()
    assert none.by_chance


def test_integrated_gradients_add_up_to_what_all_heads_do(lm: LanguageModel) -> None:
    run = ablated_run(read := read_text(lm, IDS), read.answer, "mean", ())
    every = [(layer, head) for layer in range(3) for head in range(6)]
    whole, without = log_p_without(run, [(), every])
    assert integrated_gradients(run, points=24).sum() == pytest.approx(whole - without, abs=0.05)


@pytest.mark.parametrize("family", DECODERS)
def test_every_decoder_has_a_why(family: str) -> None:
    lm = model.load(ZOO / family, device="cpu")
    found = model.why(lm, WHERE, heads_budget=0)
    tokens = len(lm.tokenizer.encode(WHERE))
    np.testing.assert_allclose(found.knock_out, model.knock_out(lm, WHERE), atol=1e-5)
    assert found.heads.shape == (lm.config.n_layers, lm.config.n_heads)
    assert np.isfinite(found.heads).all()
    assert len(found.by_chance) == N_RANDOM_CONTROLS
    assert set(found.tokens).isdisjoint({*found.sinks, tokens - 1})


def test_the_encoder_of_another_network_is_refused() -> None:
    t5 = model.load(ZOO / "t5", device="cpu")
    for ask in (model.why, model.other_words):
        with pytest.raises(GlassLlamaError, match="encoder"):
            ask(t5, "The cat")


def test_another_ablation_is_refused(lm: LanguageModel) -> None:
    with pytest.raises(GlassLlamaError, match=r'ablation is .noise.; expected "mean" or "zero"'):
        model.why(lm, IDS, ablation="noise")  # type: ignore[arg-type]


def test_controls_are_other_heads_of_the_same_layers(lm: LanguageModel, tmp_path: Path) -> None:
    found, again = model.why(lm, IDS), model.why(lm, IDS)
    assert found.by_chance == again.by_chance != model.why(lm, IDS, seed=1).by_chance
    assert 1 <= len(found.group) <= GROUP
    losses = [found.heads[head] for head in found.group]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] == found.heads.max()
    lonely = make_checkpoint(
        tmp_path / "one", num_hidden_layers=1, num_attention_heads=1, num_key_value_heads=1, head_dim=8
    )
    alone = model.why(model.load(lonely, device="cpu"), IDS)
    assert alone.by_chance == pytest.approx([alone.p] * N_RANDOM_CONTROLS, rel=1e-4)  # no other head is there


def test_one_token_alone(lm: LanguageModel) -> None:
    found = model.why(lm, [5])
    assert np.isnan(found.knock_out).all()
    assert found.tokens == ()
    assert found.form == "habit"


def test_a_token_with_a_spike_is_a_sink_and_never_named(lm: LanguageModel) -> None:
    """A channel of one token's stream is made huge on its way into the second layer."""
    assert not sinks(read_text(lm, IDS))

    def spike(stream: torch.Tensor) -> torch.Tensor:
        changed = stream.clone()
        changed[:, (torch.arange(stream.shape[1]) == 2) & (stream.shape[1] == len(IDS)), 5] = 1000 * SPIKE
        return changed

    with swapped(lm.net, {"layers.1.resid_in": spike}):
        read = read_text(lm, IDS)
    assert read.spikes().tolist()[2] > SPIKE
    assert sinks(read) == (2,)


def test_a_token_that_takes_most_of_the_attention_is_a_sink(checkpoint: Path, lm: LanguageModel) -> None:
    read = read_text(lm, IDS)
    weights = torch.stack(run_reference(reference(checkpoint), torch.tensor([IDS])).attentions)[:, 0, :, -1]
    torch.testing.assert_close(last_attention(read), weights, atol=1e-5, rtol=1e-4)
    flat = {f"layers.{i}.attn.scores": lambda scores: (torch.arange(scores.shape[-1]) == 1) * 9.0 + 0 * scores
            for i in range(3)}  # fmt: skip
    long = (IDS * 2)[:SHORTEST]
    with swapped(lm.net, flat):
        assert sinks(read_text(lm, long)) == (1,)
        assert sinks(read_text(lm, long[:-1])) == ()


def test_a_bracket_that_waits_to_be_closed_is_no_sink(bundled: LanguageModel) -> None:
    assert sinks(read_text(bundled, "[cat (dog")) == ()


def test_what_is_fetched_late_is_that_of_whole_runs(lm: LanguageModel) -> None:
    ids = sample_ids(1, 12, seed=4)[0].tolist()
    answer = int(torch.from_numpy(model.run_trace(lm, ids).logits).argmax())
    ids[4] = answer
    read = read_text(lm, ids)
    if read.answer != answer:  # the changed text may go on otherwise: then its own answer is put there
        read = read_text(lm, [*ids[:4], read.answer, *ids[5:]])
    found = fetched(read, read.answer, sinks=[0])

    def lost(hidden: list[int], layers: Sequence[int] = (1, 2)) -> float:
        def hide(scores: torch.Tensor) -> torch.Tensor:
            changed = scores.clone()
            changed[..., -1, hidden] = float("-inf")
            return changed

        with torch.inference_mode(), swapped(lm.net, {f"layers.{layer}.attn.scores": hide for layer in layers}):
            logs = lm.net(torch.tensor([read.ids]), eager=True)[0, -1].log_softmax(-1)
        return float(read.log_p[read.answer] - logs[read.answer])

    every, places = list(range(1, 11)), list(found.places)
    assert found.from_all == pytest.approx(lost(every), abs=1e-4)
    shapley = (lost(places) + lost(every) - lost([t for t in every if t not in places])) / 2
    assert found.from_places == pytest.approx(shapley, abs=1e-4)
    assert found.from_hidden == pytest.approx(lost(places, (0, 1, 2)), abs=1e-4)


def test_forms() -> None:
    assert Fetched(0.1, 0.0, (), 0.1, 0.0).form == "habit"
    assert Fetched(4.0, 0.0, (), 0.1, 0.0).form == "recalled"
    assert Fetched(0.1, 0.0, (), 0.6, 0.0).form == "habit"
    assert Fetched(0.1, 0.0, (), 0.7, 0.0).form == "recalled"  # the last few alone leave less than half
    assert Fetched(4.0, 0.4, (3,), 4.0, 0.0).form == "recalled"
    assert Fetched(4.0, 0.6, (3,), 4.0, 0.0).form == "copied"
    assert Fetched(-1.0, 0.9, (3,), 0.0, 0.0).form == "copied"


@pytest.mark.parametrize("shape", [{}, {"num_key_value_heads": 6, "tie_word_embeddings": True}])
def test_the_last_few_alone_are_as_transformers_has_them_under_a_mask(tmp_path: Path, shape: dict[str, Any]) -> None:
    directory, ids, sink = make_checkpoint(tmp_path / "some", **shape), sample_ids(1, 12, seed=5)[0].tolist(), 1
    mask = torch.full((1, 1, 12, 12), float("-inf")).triu(1)
    mask[..., -FEW:, [token for token in range(12 - FEW) if token != sink]] = float("-inf")
    with torch.no_grad():
        logs = reference(directory)(torch.tensor([ids]), attention_mask=mask).logits[0, -1].log_softmax(-1)
    read = read_text(model.load(directory, device="cpu"), ids)
    before = [part.clone() for part in (read.streams, read.log_p)]
    found = fetched(read, 7, [sink])
    assert found.alone == pytest.approx(float(read.log_p[7] - logs[7]), abs=1e-4)
    assert abs(found.alone) > 0.01
    assert fetched(read, 7, [sink]) == found  # what was read is as it was
    assert all(torch.equal(*pair) for pair in zip((read.streams, read.log_p), before, strict=True))
    assert fetched(read_text(read.lm, ids[:FEW]), 7, ()).alone == 0  # they are the whole text


@pytest.mark.parametrize("family", DECODERS)
def test_of_every_decoder_the_last_few_alone_are_those_of_a_whole_run(family: str) -> None:
    lm = model.load(ZOO / family, device="cpu")
    read = read_text(lm, WHERE)

    def hide(scores: torch.Tensor) -> torch.Tensor:
        changed = scores.clone()
        changed[..., -FEW:, 1:-FEW] = float("-inf")
        return changed

    taps = {f"layers.{layer}.attn.scores": hide for layer in range(lm.config.n_layers)}
    with torch.inference_mode(), swapped(lm.net, taps):
        logs = lm.net(torch.tensor([read.ids]), eager=True)[0, -1].float().log_softmax(-1)
    lost = float(read.log_p[read.answer] - logs[read.answer])
    assert fetched(read, read.answer, [0]).alone == pytest.approx(lost, abs=1e-4)


def test_a_blank_answer_stands_where_the_same_blank_does(bundled: LanguageModel) -> None:
    read = read_text(bundled, "cat: 猫; dog: 狗; fish:")
    pieces = bundled.tokenizer.pieces(read.ids)
    blank = next(t for t, piece in enumerate(pieces) if not piece.strip())
    assert answer_places(read, read.ids[blank], ()) == tuple(
        t for t, piece in enumerate(pieces) if piece == pieces[blank]
    )
    line = bundled.tokenizer.encode("\n")[0]
    assert answer_places(read, line, ()) == ()


@pytest.mark.parametrize(
    ("text", "answer", "form", "first"),
    [
        (WHERE, " kitchen", "copied", " kitchen"),
        ("cat dog bird fish cat dog", " bird", "copied", " bird"),
        ("猫: cat; 狗: dog; 鱼:", " fish", "recalled", "鱼"),
    ],
)
def test_what_the_bundled_model_rests_on(bundled: LanguageModel, text: str, answer: str, form: str, first: str) -> None:
    found, pieces = model.why(bundled, text, heads_budget=0), bundled.tokenizer.pieces
    shown = pieces(bundled.tokenizer.encode(text))
    assert pieces([found.answer]) == [answer]
    assert found.form == form
    assert shown[found.tokens[0]] == first
    assert found.sinks == ()
    assert [shown[t] for t in found.answer_places] == [answer] * (form == "copied")
    assert min(found.by_chance) > found.without


def test_the_answer_stands_where_its_word_does(bundled: LanguageModel) -> None:
    read = read_text(bundled, "cat dog bird fish cat dog")
    assert answer_places(read, read.answer, ()) == tuple(
        t for t, piece in enumerate(bundled.tokenizer.pieces(read.ids[:-1])) if piece.strip() == "bird"
    )
    assert answer_places(read, read.answer, range(len(read.ids))) == ()


def test_all_heads_are_measured_within_the_budget(bundled: LanguageModel) -> None:
    read = read_text(bundled, "cat dog bird fish cat dog")
    found = head_losses(ablated_run(read, read.answer, "mean", ()))
    assert found.measured.all()
    assert found.lost.max() > 1


def test_a_word_of_the_text_that_is_not_needed_there_costs_nothing_when_it_is_hidden(bundled: LanguageModel) -> None:
    """Exactly its places are hidden; of a word that is copied that costs what its place alone does."""
    needless = model.why(bundled, text := "Then the boy threw the ball to the dog. Then the boy threw the ball")
    hidden = fetched(read_text(bundled, text), needless.answer, needless.sinks).from_hidden
    assert needless.form == "copied"
    assert hidden < NEEDED
    copied = model.why(bundled, text := "Tom is in the kitchen. Lily is in the garden. Tom is in the")
    hidden = fetched(read_text(bundled, text), copied.answer, copied.sinks).from_hidden
    assert hidden == pytest.approx(copied.knock_out[list(copied.answer_places)].item(), abs=1e-4)
    assert hidden > NEEDED
