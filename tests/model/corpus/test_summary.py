"""What the rest of the model is told of the corpus is what the corpus says."""

import json

from model.corpus.summary import summary
from model.little_world import FILE, little_world


def test_the_file_holds_what_the_corpus_says() -> None:
    said = json.loads(FILE.read_text(encoding="utf-8"))
    assert said == json.loads(json.dumps(summary())), "write it afresh with `python -m model.corpus`"


def test_the_file_is_read_whole() -> None:
    said, read = summary(), little_world()
    assert {language: sorted(words) for language, words in read.known_words.items()} == said["known_words"]
    assert [list(words) for words in read.kinds] == said["kinds"]
    assert list(read.held_out) == said["held_out"]
