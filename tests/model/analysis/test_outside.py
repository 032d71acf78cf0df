"""The bundled model's world against prompts from outside of it, and its own held-out texts."""

from collections.abc import Iterator
from itertools import accumulate, islice

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import model
from app.examples import EXAMPLES, RULED_OUT
from model.analysis.outside import COMPARED, outside, usual_surprisal
from model.corpus import documents
from model.corpus.checker import check
from model.interventions import Intervention


@pytest.fixture(scope="module")
def lm() -> model.LanguageModel:
    return model.load(device="cpu")


def judged(lm: model.LanguageModel, text: str) -> bool:
    found = outside(lm, model.run_trace(lm, text), text)
    assert found
    return bool(found.places) or found.odd


def beginnings() -> Iterator[str]:
    """Held-out documents up to a word's end in the middle of their first answer or after it."""
    for document in islice(documents(29, "heldout"), 60):
        start, end = document.answers[0] if document.answers else (0, len(document.text))
        ends = accumulate(map(len, document.words))
        yield document.text[: next(place for place in ends if place >= (start + end) / 2)]


@pytest.mark.thorough
def test_nothing_is_said_of_the_examples_and_of_held_out_texts(lm: model.LanguageModel) -> None:
    own = [*EXAMPLES["en"], *EXAMPLES["zh"], *beginnings()]
    assert [text for text in own if judged(lm, text)] == []


def test_it_is_said_of_prompts_from_elsewhere(lm: model.LanguageModel) -> None:
    prompts = ["The capital of France is", "def main():", "量子力学的基本假设是", "Shakespeare wrote", "hola que tal"]
    assert [text for text in prompts if not judged(lm, text)] == []


def test_the_surprise_is_the_cross_entropy_of_this_run(lm: model.LanguageModel) -> None:
    for text in ("The capital of France is", "Tom is in the spaceship. " * 6):
        trace = model.run_trace(lm, text)
        found = outside(lm, trace, text)
        assert found
        assert found.usual
        assert found.surprisal
        ids = torch.tensor(lm.tokenizer.encode(text)[:COMPARED])
        with torch.inference_mode():
            logits = lm.net(ids[None])[0]
        assert found.tokens == len(ids)
        assert found.surprisal == pytest.approx(F.cross_entropy(logits[:-1], ids[1:]).item(), rel=1e-4)
        first, end = found.places[0]
        assert any(word in "".join(trace.pieces[first:end]) for word in ("capital", "spaceship"))
    assert found.surprisal < found.usual.most  # one strange word in a text of the world


def test_an_answer_that_the_text_rules_out_is_told_of_any_model(lm: model.LanguageModel, checkpoint: str) -> None:
    """By the checker of the little world: nobody is in another place without going there."""
    for text, place in RULED_OUT.items():
        end, language = ("里。", "zh") if text in EXAMPLES["zh"] else (".", "en")
        joined = text + (" " if language == "en" else "") + place + end
        assert [fault.kind for fault in check(joined, language)] == ["place"]
    text, place = EXAMPLES["en"][1], "kitchen"
    for network in (lm, model.load(checkpoint, device="cpu")):
        trace = model.run_trace(network, text)
        trace.logits[network.tokenizer.encode(f"Tom is in the {place}")[-1]] = 99
        answer = network.tokenizer.decode([int(trace.logits.argmax())]).strip()
        told = outside(network, trace, text, answer)
        assert told
        assert told.misplaced
        assert told.doubt is None
        if network is not lm:
            assert outside(network, trace, text, "garden") is None


def test_an_answer_with_less_than_all_others_together_is_in_doubt(lm: model.LanguageModel) -> None:
    for text in ("我的狗叫小白。我的猫叫小黑。我的狗叫", EXAMPLES["zh"][0]):
        trace = model.run_trace(lm, text)
        found = outside(lm, trace, text)
        p = float(torch.tensor(trace.logits).double().softmax(-1).max())
        assert found
        assert found.doubt == (pytest.approx(p, rel=1e-6) if p < 1 - p else None)
        assert found.unsure is (found.doubt is not None)


@pytest.mark.parametrize("text", ["我家有一只小猫", "我的狗叫小白。我的猫叫小黑。我的狗叫", "def main():"])
def test_no_change_in_a_run_and_nothing_written_makes_a_doubt_less(lm: model.LanguageModel, text: str) -> None:
    plain = outside(lm, model.run_trace(lm, text), text)
    assert plain
    ids = lm.tokenizer.encode(text)
    every_head = tuple((layer, head) for layer in range(4) for head in range(lm.config.n_heads))
    written = [*ids, *lm.tokenizer.encode("。" if text > "z" else " a")]
    for run in (model.run_trace(lm, ids, Intervention(heads=every_head)), model.run_trace(lm, written)):
        found = outside(lm, run, text)
        assert found
        assert found._replace(unsure=plain.unsure) == plain
        assert found.unsure >= plain.unsure


def test_the_answer_of_a_changed_run_can_be_unsure_where_that_of_the_prompt_is_not(lm: model.LanguageModel) -> None:
    text = EXAMPLES["zh"][0]
    every_head = tuple((layer, head) for layer in range(lm.config.n_layers) for head in range(lm.config.n_heads))
    found = outside(lm, model.run_trace(lm, text, Intervention(heads=every_head)), text)
    assert found
    assert found.doubt is None
    assert found.unsure


def test_what_is_usual_is_measured_on_as_many_tokens(lm: model.LanguageModel) -> None:
    ids = [lm.tokenizer.encode(document.text) for document in islice(documents(5, "heldout"), 128)]
    with torch.inference_mode():
        own = [F.cross_entropy(lm.net(torch.tensor([i[:6]]))[0, :-1], torch.tensor(i[1:6])) for i in ids if len(i) > 5]
    usual = usual_surprisal(lm, 6)
    assert usual.documents == len(own)
    assert usual.middle == pytest.approx(np.median(own), rel=1e-4)
    assert usual.most == pytest.approx(max(own).item(), rel=1e-4)


def test_nothing_is_said_of_another_model_or_of_other_tokens(lm: model.LanguageModel, checkpoint: str) -> None:
    other = model.load(checkpoint, device="cpu")
    text = "The capital of France is"
    assert outside(other, model.run_trace(other, text), text) is None
    assert outside(lm, model.run_trace(lm, "The cat"), text) is None
    assert outside(lm, model.run_trace(lm, "T"), "T") is not None
    off = model.run_trace(lm, "cat dog", Intervention(attention=tuple(range(8))))
    found = outside(lm, off, "cat dog")
    assert found
    assert not found.odd
