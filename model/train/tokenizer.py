"""Trains the bundled tokenizer: byte-level BPE whose merges never cross a word of the corpus.

The generator knows where a Chinese word ends, which no regular expression does. So training sees text with a separator
at every word boundary, and learns 沙发 and 睡觉 but never 发上. In use there is no separator: the merges alone find the
words. `python -m model.train.tokenizer` writes `model/bundled/tokenizer.json`.
"""

import argparse
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from model.checkpoint import BUNDLED
from model.corpus import documents

END = "<|end|>"
SEPARATOR = "\x1f"
# How often each Chinese character is shown alone, besides its words: enough for the merges that build a character from
# its bytes to come first, so that none joins the last byte of one character to the first byte of the next.
CHARACTER_WEIGHT = 4000
DIGITS = pre_tokenizers.Digits(individual_digits=True)


def _texts(seed: int, n_documents: int) -> Iterator[str]:
    """The corpus cut at word boundaries, then every character beyond ASCII on its own."""
    characters: set[str] = set()
    for document in islice(documents(seed, "train"), n_documents):
        characters.update(document.text)
        yield SEPARATOR.join(document.words)
    for character in sorted(characters):
        if not character.isascii():
            yield (character + SEPARATOR) * CHARACTER_WEIGHT


def train_tokenizer(vocab_size: int = 4096, seed: int = 0, n_documents: int = 30_000) -> Tokenizer:
    """A byte-level BPE tokenizer with exactly `vocab_size` entries, `<|end|>` first.

    Any string survives encode and decode: all 256 bytes are in the vocabulary. ValueError when the corpus sample is too
    small to fill the vocabulary.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SEPARATOR), "removed"),
            DIGITS,
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=[END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_texts(seed, n_documents), trainer)
    if tokenizer.get_vocab_size() != vocab_size:
        raise ValueError(
            f"{n_documents} documents gave {tokenizer.get_vocab_size()} entries, not {vocab_size}: raise n_documents"
        )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [DIGITS, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def main() -> None:
    """Trains the tokenizer and writes it as `tokenizer.json`."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--out", type=Path, default=BUNDLED / "tokenizer.json")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    train_tokenizer(seed=arguments.seed).save(str(arguments.out))
    print(f"wrote {arguments.out}")


if __name__ == "__main__":
    main()
