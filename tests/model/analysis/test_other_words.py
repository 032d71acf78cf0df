"""Words to change, against runs of the changed text; and what counts as a word."""

import math

import pytest
import torch

import model
from model import LanguageModel
from model.analysis.content_words import Shape, content_words, shape_of, sign_shape_of, whole_words
from model.analysis.last_token import read_text
from model.analysis.longer_words import longer_words
from model.analysis.other_words import as_swap, word_swaps
from model.pieces import finish
from model.smollm2 import WEIGHTS

WHERE = "Tom is in the kitchen. Lily is in the garden. Tom is in the"


@pytest.fixture(scope="module")
def bundled() -> LanguageModel:
    return model.load(device="cpu")


def next_tokens(lm: LanguageModel, ids: list[int]) -> torch.Tensor:
    """Their probabilities, of a run of its own."""
    return torch.from_numpy(model.run_trace(lm, ids).logits).softmax(-1)


def begin_with_letters(lm: LanguageModel) -> torch.Tensor:
    pieces = lm.tokenizer.pieces(range(lm.config.vocab_size))
    return torch.tensor([piece[:1].isascii() and piece[:1].isalpha() for piece in pieces])


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


def test_a_word_of_several_tokens_is_changed_as_a_whole_for_as_many(bundled: LanguageModel) -> None:
    text = "The toy of Rizu is in the kitchen. The toy of Bako is in the garden. The toy of Rizu is in the"
    ids, pieces = bundled.tokenizer.encode(text), bundled.tokenizer.pieces
    last = next(at for at in reversed(whole_words(pieces(ids))) if len(at) > 1)
    assert pieces(ids[last.start : last.stop]) == [" R", "i", "zu"]
    found = [one for one in model.other_words(bundled, ids, count=20) if one.position == last.start]
    assert found
    for one in found:
        changed = [*ids[: last.start], *one.token_ids, *ids[last.stop :]]
        assert (one.word, one.text) == (" Rizu", "".join(pieces(one.token_ids)))
        assert (len(one.token_ids), one.token_id) == (3, one.token_ids[0])
        assert shape_of(one.text) == shape_of(one.word)
        probabilities = torch.from_numpy(model.run_trace(bundled, changed).logits).softmax(-1)
        assert (int(probabilities.argmax()), float(probabilities.max())) == (one.answer, pytest.approx(one.p, abs=1e-4))
        swap = as_swap(bundled, ids, one)
        assert swap is not None
        assert (swap.start, swap.word, swap.other) == (text.rindex("Rizu"), "Rizu", one.text.strip())
        assert swap.text == f"{swap.other} is in the".join(text.rsplit("Rizu is in the", 1))


def test_a_word_that_is_spelled_is_one_that_the_model_expects(bundled: LanguageModel) -> None:
    """Against whole runs: each piece after the first at 0.1 or more, and then twice as probably an end as not."""
    text = "Bako is in the kitchen. Rizu is in the garden. Bako is in the"
    ids, letters = bundled.tokenizer.encode(text), begin_with_letters(bundled)
    (at,) = [at for at in whole_words(bundled.tokenizer.pieces(ids)) if at.start and len(at) == 3][:1]
    words = finish(longer_words(read_text(bundled, ids), at))
    assert " November" in ["".join(bundled.tokenizer.pieces(word.tokens)) for word in words]
    for word in words:
        spelled = list[tuple[float, float, float]]()
        for sign in (" and", ","):
            read, p = [*ids[: at.stop], *bundled.tokenizer.encode(sign)], list[float]()
            for token in word.tokens:
                p.append(float(next_tokens(bundled, read)[token]))
                read.append(token)
            spelled.append((math.log(math.prod(p)), min(p[1:]), float(next_tokens(bundled, read)[letters].sum())))
        assert any(
            log_p == pytest.approx(word.log_p, abs=1e-3) and least >= 0.1 and goes_on < 1 / 3
            for log_p, least, goes_on in spelled
        )


@pytest.mark.parametrize(
    "text", ["bako rizu bako", "bako rizu bako rizu bak", "Zorbix met Tom. Zorbix saw the dog. Zor"]
)
def test_no_proposal_changes_a_part_of_a_word(bundled: LanguageModel, text: str) -> None:
    ids, pieces = bundled.tokenizer.encode(text), bundled.tokenizer.pieces
    words = whole_words(pieces(ids))
    assert any(len(at) > 1 for at in words)
    found = model.other_words(bundled, ids, count=40)
    for one in found:
        assert range(one.position, one.position + len(one.token_ids)) in words
        changed = [*ids[: one.position], *one.token_ids, *ids[one.position + len(one.token_ids) :]]
        assert bundled.tokenizer.encode(bundled.tokenizer.decode(changed)) == changed


@pytest.mark.parametrize("text", ["dog = moon, cat = lamp. dog =", "[cat (dog"])
def test_no_proposal_is_the_beginning_of_a_longer_word(bundled: LanguageModel, text: str) -> None:
    """As the model itself has it: "nj" is none, on which letters follow at 0.61. On a bracket they may."""
    ids, letters = bundled.tokenizer.encode(text), begin_with_letters(bundled)
    found = model.other_words(bundled, ids, count=40)
    assert found
    for one in found:
        goes_on = float(next_tokens(bundled, [*ids[: one.position], *one.token_ids])[letters].sum())
        assert goes_on < 0.5 or not one.text.strip().isalpha(), one.text


def test_a_name_of_the_text_of_as_many_tokens_is_proposed(bundled: LanguageModel) -> None:
    """The model knows neither name: the text alone has them."""
    text = "The toy of Rizu is in the kitchen. The toy of Bako is in the garden. The toy of Rizu is in the"
    found = model.other_words(bundled, text, count=20)
    exchanged = [one for one in found if (one.word, one.text) == (" Rizu", " Bako")]
    assert exchanged
    assert {len(one.token_ids) for one in exchanged} == {3}


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("I was late this morning because I missed the", {" miss", " late", " misses", " missing"}),
        ("The largest planet in our solar system is", {" larger", " large", " exoplanets"}),
        ("The keys to the cabinet", {" key"}),
    ],
)
def test_another_form_of_a_word_comes_after_other_words(text: str, forms: set[str]) -> None:
    """On natural sentences it changes the answer too, and says little."""
    if not WEIGHTS.exists():
        pytest.skip(f"{WEIGHTS} is not there")
    found = model.other_words(model.load(WEIGHTS, device="cpu"), text, count=20)
    are = [one.text in forms for one in found]
    assert any(are)
    assert are == sorted(are)


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
    [
        (" [", Shape(True, "sign", 1)),
        ("):", Shape(False, "sign", 2)),
        ("。", Shape(False, "sign", 1)),
        ("a)", None),
        ("\n", None),
        (" ", None),
        ("\x19", None),
        (" \x7f", None),
    ],
)
def test_shapes_of_signs(piece: str, shape: Shape | None) -> None:
    assert sign_shape_of(piece) == shape


def test_whole_words_that_name_something() -> None:
    pieces = ["The", " E", "iffel", " Tower", " is", " in", " Paris", ",", " not", " 1", "7", ".", "Tom"]
    assert [pieces[at] for at in content_words(pieces)] == [" Tower", " Paris", " 1", "7", "Tom"]
    whole = ["".join(pieces[at.start : at.stop]) for at in whole_words(pieces)]
    assert whole == ["The", " Eiffel", " Tower", " is", " in", " Paris", " not", " 1", "7", "Tom"]
    mixed = ["1", "7", "th", " x1", " y", "2", " a", "汤姆", "b", " 3"]
    assert whole_words(mixed) == [range(1), range(6, 7), range(7, 8), range(8, 9), range(9, 10)]
    chinese = ["汤姆", "在", "厨房", "里", "。", "莉莉"]
    assert [chinese[at] for at in content_words(chinese)] == ["汤姆", "厨房", "莉莉"]
