"""The tokenizer trained on the corpus: its size, where it cuts, and that any text survives it."""

from itertools import islice

import pytest
from tokenizers import Tokenizer

from model.corpus import documents
from model.train import tokenizer as tokenizer_module
from model.train.tokenizer import END, train_tokenizer

pytestmark = pytest.mark.thorough  # it learns a vocabulary of its own


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return train_tokenizer(n_documents=10_000)  # a third of what the bundled one has seen, in a tenth of the time


def pieces(tokenizer: Tokenizer, text: str) -> list[str]:
    return [tokenizer.decode([token_id]) for token_id in tokenizer.encode(text).ids]


def test_vocabulary(tokenizer):
    assert tokenizer.get_vocab_size() == 4096
    assert tokenizer.token_to_id(END) == 0
    assert tokenizer.encode(f"Tom{END}").ids[-1] == 0


@pytest.fixture
def few(monkeypatch):
    """Each Chinese character is shown a few times alone and not 4000: nearly all of the time is theirs."""
    monkeypatch.setattr(tokenizer_module, "CHARACTER_WEIGHT", 40)


def test_too_few_documents_are_refused(few):
    with pytest.raises(ValueError, match="raise n_documents"):
        train_tokenizer(n_documents=5)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("猫在沙发上睡觉", ["猫", "在", "沙发", "上", "睡觉"]),
        ("狗在院子里玩", ["狗", "在", "院子", "里", "玩"]),
        ("汤姆在厨房里。", ["汤姆", "在", "厨房", "里", "。"]),
        ("The cat sleeps on the sofa", ["The", " cat", " sleeps", " on", " the", " sofa"]),
        ("Tom is in the kitchen.", ["Tom", " is", " in", " the", " kitchen", "."]),
        ("17 + 5", ["1", "7", " +", " ", "5"]),
    ],
)
def test_cuts_at_words(tokenizer, text, expected):
    assert pieces(tokenizer, text) == expected


@pytest.mark.parametrize("text", ["", " ", "a  b\n\tc", "🙂 مرحبا", "línea ﬁ", "１２３", "\x00\x1f", "猫cat猫 12"])
def test_any_text_survives(tokenizer, text):
    assert tokenizer.decode(tokenizer.encode(text).ids) == text


def test_tokens_rarely_cross_a_word(tokenizer):
    tokens = crossing = 0
    for document in islice(documents(11), 500):
        ends, at = set(), 0
        for word in document.words:
            at += len(word)
            ends.add(at)
        for start, end in tokenizer.encode(document.text).offsets:
            tokens += 1
            crossing += any(start < cut < end for cut in ends)
    assert crossing / tokens < 0.001


def test_same_seed_same_vocabulary(few):
    first, again = (train_tokenizer(700, seed=0, n_documents=400).to_str() for _ in range(2))
    assert again == first
    assert train_tokenizer(700, seed=1, n_documents=400).to_str() != first


def test_transformers_loads_the_file(tokenizer, tmp_path):
    transformers = pytest.importorskip("transformers")
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    loaded = transformers.PreTrainedTokenizerFast(tokenizer_file=str(tmp_path / "tokenizer.json"))
    text = "猫在沙发上睡觉 The cat"
    assert loaded.encode(text) == tokenizer.encode(text).ids
    assert loaded.decode(loaded.encode(text)) == text
