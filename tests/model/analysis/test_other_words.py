"""Words to change, against runs of the changed text; and what counts as a word."""

import pytest
import torch

import model
from model import LanguageModel
from model.analysis.content_words import Shape, content_words, shape_of, sign_shape_of
from model.analysis.other_words import as_swap, word_swaps

WHERE = "Tom is in the kitchen. Lily is in the garden. Tom is in the"


@pytest.fixture(scope="module")
def bundled() -> LanguageModel:
    return model.load(device="cpu")


def test_each_proposal_is_what_the_changed_text_gives(bundled: LanguageModel) -> None:
    ids, pieces = bundled.tokenizer.encode(WHERE), bundled.tokenizer.pieces
    own = int(model.run_trace(bundled, ids).logits.argmax())
    found = model.other_words(bundled, WHERE, count=5)
    assert 2 <= len(found) <= 5
    for one in found:
        changed = [*ids[: one.position], one.token_id, *ids[one.position + 1 :]]
        probabilities = torch.from_numpy(model.run_trace(bundled, changed).logits).softmax(-1)
        assert int(probabilities.argmax()) == one.answer != own
        assert float(probabilities[one.answer]) == pytest.approx(one.p, abs=1e-4)
        assert [one.word, one.text] == pieces([ids[one.position], one.token_id])
        assert shape_of(one.word) == shape_of(one.text)
        assert bundled.tokenizer.encode(bundled.tokenizer.decode(changed)) == changed
    assert any((one.word, one.text, pieces([one.answer])[0]) == (" Tom", " Lily", " garden") for one in found)


def test_what_the_answer_needs_is_a_place_whatever_it_is(bundled: LanguageModel) -> None:
    """Without a look at it most is lost: here the sign that is to be closed, and a pronoun."""
    signs = model.other_words(bundled, "[cat (dog")
    assert {one.word for one in signs} == {" ("}
    assert (" {", " }") in [(one.text, bundled.tokenizer.pieces([one.answer])[0]) for one in signs]
    pronouns = model.other_words(bundled, "Tom is in the kitchen. Lily is in the garden. She is in the")
    assert any((one.word, one.text) == (" She", " He") for one in pronouns)


def test_words_that_change_places_name_something(bundled: LanguageModel) -> None:
    """With "under" for "the" the answer changes, too, as it does in any text that is broken."""
    prompt = "The red ball is on the table. The blue box is under the bed. The red ball is on the"
    found = word_swaps(bundled, prompt, 6)
    assert ("ball", "box") in [(one.word, one.other) for one in found]
    assert not {"the", "The", "under"} & {word for one in found for word in (one.word, one.other)}


def test_of_a_longer_word_a_part_is_changed_and_the_page_is_told_the_whole(bundled: LanguageModel) -> None:
    ids = bundled.tokenizer.encode("bako rizu bako")
    assert bundled.tokenizer.pieces(ids) == ["b", "ak", "o", " ri", "zu", " bak", "o"]
    part = next(one for one in model.other_words(bundled, ids) if one.position == 3)
    swap = as_swap(bundled, ids, part)
    assert swap is not None
    assert (swap.start, swap.word, swap.other) == (5, "rizu", part.text.strip() + "zu")
    assert swap.text == f"bako {swap.other} bako"


def test_a_text_of_no_such_word_has_no_proposal(bundled: LanguageModel) -> None:
    assert model.other_words(bundled, "in the") == []
    assert model.other_words(bundled, "(") == []


@pytest.mark.parametrize(
    ("piece", "shape"),
    [
        (" France", Shape(True, "title", 0)),
        ("keys", Shape(False, "lower", 0)),
        (" USA", Shape(True, "upper", 0)),
        (" I", Shape(True, "title", 0)),
        (" iPhone", Shape(True, "mixed", 0)),
        ("17", Shape(False, "digits", 2)),
        ("莉莉", Shape(False, "chinese", 2)),
        (".", None),
        (" ", None),
        ("", None),
        ("a1", None),
        ("⟨E7⟩", None),
    ],
)
def test_shapes(piece: str, shape: Shape | None) -> None:
    assert shape_of(piece) == shape


@pytest.mark.parametrize(
    ("piece", "shape"),
    [(" [", Shape(True, "sign", 1)), ("):", Shape(False, "sign", 2)), ("a)", None), ("\n", None), (" ", None)],
)
def test_shapes_of_signs(piece: str, shape: Shape | None) -> None:
    assert sign_shape_of(piece) == shape


def test_whole_words_that_name_something() -> None:
    pieces = ["The", " E", "iffel", " Tower", " is", " in", " Paris", ",", " not", " 1", "7", ".", "Tom"]
    assert [pieces[at] for at in content_words(pieces)] == [" Tower", " Paris", " 1", "7", "Tom"]
    chinese = ["汤姆", "在", "厨房", "里", "。", "莉莉"]
    assert [chinese[at] for at in content_words(chinese)] == ["汤姆", "厨房", "莉莉"]
