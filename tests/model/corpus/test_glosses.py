"""Every Chinese token that the bundled model reads has a meaning in English, which is that of the word."""

import re

import model
from model.corpus.glosses import glosses

HAN = re.compile("[\u4e00-\u9fff]")
# Said by hand: words of the lexicon, words of grammar, and what is only a part of words.
BY_HAND = {"猫": "cat", "厨房": "kitchen", "睡觉": "sleep", "汤姆": "Tom", "它": "it", "找": "look for",
           "早上": "morning", "的": "of, ’s", "条": "measure word"}  # fmt: skip
PARTS = {"厨": "cook", "办公": "office", "莓": "strawberry"}


def test_every_chinese_token_has_its_meaning() -> None:
    lm = model.load(device="cpu")
    words, parts = glosses()
    chinese = [piece for piece in lm.tokenizer.pieces(list(range(lm.config.vocab_size))) if HAN.search(piece)]
    assert len(chinese) == 1450
    assert [piece for piece in chinese if piece not in words and piece not in parts] == []
    assert {word: words[word] for word in BY_HAND} == BY_HAND
    assert {part: parts[part] for part in PARTS} == PARTS
    assert not words.keys() & parts.keys()
    for part, meaning in parts.items():
        assert any(part in word for word, english in words.items() if english == meaning), part
