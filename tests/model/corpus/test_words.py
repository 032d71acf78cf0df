"""Whether the words worked out from the lists are those that the documents say."""

from itertools import islice

from model.analysis.strangers import strangers
from model.corpus import MIX, documents
from model.corpus.words import known_words

EVERY_KIND = {kind: share or 2 for kind, share in MIX.items()}


def strange(text: str) -> list[str]:
    return [text[start:end] for start, end in strangers(text).places]


def test_no_document_holds_a_word_that_is_not_known() -> None:
    for split in ("train", "heldout"):
        for document in islice(documents(17, split, EVERY_KIND), 1200):
            assert strange(document.text) == [], document


def test_hardly_a_word_is_known_that_the_documents_do_not_say() -> None:
    said = " ".join(document.text for document in islice(documents(18, "train", EVERY_KIND), 4000)).lower()
    for language in ("en", "zh"):
        words = known_words(language)
        assert sum(word in said for word in words) > 0.95 * len(words)


def test_what_lies_outside_is_found_where_it_stands() -> None:
    assert strange("The capital of France is") == ["capital", "France"]
    assert strange("def main():") == ["def", "main"]
    assert strange("Zürich, the café") == ["Zürich", "café"]
    assert strange("Shakespeare wrote") == ["Shakespeare"]
    assert strange("量子力学的基本假设是")[0] == "量子力学"
    assert strange("汤姆在宇宙飞船里。") == ["宇宙"]
    assert strange("I ❤ you @ Привет") == ["❤", "@", "Привет"]
    assert strange("TOM is IN the Garden's shed\n\t2 + 2 = 4") == ["shed"]
    assert strangers("Tom is in the spaceship.").words == 5
    assert strangers("") == ([], 0)


def test_made_up_words_are_at_home_where_they_are_repeated_and_nothing_else_stands() -> None:
    assert strange("bako, qzt, bako,") == []
    assert strange("hola que tal") == ["hola", "que", "tal"]
    assert strange("def main(): def") == ["def", "main", "def"]
