"""Byte-pair encoding, replayed merge by merge from a tokenizer.json (Sennrich et al. 2016, arXiv 1508.07909).

`tokenizers` gives a word's tokens but not how it came to them. Here the same merges run again, in plain Python, and
each is kept: which two symbols, of which rank, into what. Knows nothing about the network.
"""

import json
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from ..tokenizer import Tokenizer


class Merge(NamedTuple):
    """One step: the symbols at places `at` and `at + 1` become one. `left`, `right` and `into` are token ids.

    `rank` is the merge's line in tokenizer.json, from 0; of all pairs in a word the one of lowest rank merges first.
    """

    at: int
    rank: int
    left: int
    right: int
    into: int


class Replay(NamedTuple):
    """How a word became tokens: its single symbols, the merges in order, and what is left when no pair merges."""

    base: list[int]
    merges: list[Merge]
    tokens: list[int]


class Split(NamedTuple):
    """A character whose bytes lie in several tokens: those at positions `first` to `last`."""

    character: str
    first: int
    last: int


class BytePairs:
    """The vocabulary and merges of a BPE model, as tokenizer.json's "model" holds them."""

    def __init__(self, spec: dict[str, Any]):
        self.vocab: dict[str, int] = spec["vocab"]
        self.whole_words = bool(spec.get("ignore_merges"))  # a word of the vocabulary is taken as it is (Llama 3)
        self._prefix = spec.get("continuing_subword_prefix") or ""
        self._suffix = spec.get("end_of_word_suffix") or ""
        self._byte_fallback = bool(spec.get("byte_fallback"))
        self._unknown = self.vocab.get(spec.get("unk_token") or "")
        self._fuse = bool(spec.get("fuse_unk"))
        self._ranks: dict[tuple[int, int], tuple[int, int]] = {}
        for rank, pair in enumerate(spec["merges"]):
            left, right = pair if isinstance(pair, list) else pair.split(" ")
            into = self.vocab[left + right[len(self._prefix) :]]
            self._ranks[self.vocab[left], self.vocab[right]] = (rank, into)
        self.count = len(spec["merges"])

    def encode(self, word: str) -> list[int]:
        """The tokens of a word as the pre-tokenizer cuts it, in the vocabulary's own symbols (Ġ or ▁ for a space)."""
        if self.whole_words and word in self.vocab:
            return [self.vocab[word]]
        return self.replay(word).tokens

    def replay(self, word: str) -> Replay:
        """Every merge of a word, in order: always the pair of lowest rank, of equal ones the leftmost."""
        base = self._symbols(word)
        tokens, merges = list(base), []
        while True:
            found = [(self._ranks[pair][0], at) for at, pair in enumerate(pairwise(tokens)) if pair in self._ranks]
            if not found:
                return Replay(base, merges, tokens)
            rank, at = min(found)
            left, right = tokens[at : at + 2]
            into = self._ranks[left, right][1]
            merges.append(Merge(at, rank, left, right, into))
            tokens[at : at + 2] = [into]

    def _symbols(self, word: str) -> list[int]:
        """A word's single characters as ids; one that the vocabulary lacks as its bytes, else as the unknown token."""
        ids: list[int] = []
        for i, character in enumerate(word):
            symbol = (self._prefix if i else "") + character + (self._suffix if i == len(word) - 1 else "")
            bytes_of = [self.vocab.get(f"<0x{byte:02X}>") for byte in symbol.encode()]
            if symbol in self.vocab:
                ids.append(self.vocab[symbol])
            elif self._byte_fallback and None not in bytes_of:
                ids += [byte for byte in bytes_of if byte is not None]
            elif self._unknown is not None and not (self._fuse and ids and ids[-1] == self._unknown):
                ids.append(self._unknown)
        return ids


def model_type(tokenizer: Tokenizer) -> str:
    """What tokenizer.json calls its model: "BPE", "Unigram", "WordPiece" or "WordLevel"."""
    return _spec(tokenizer)["type"]


@lru_cache(maxsize=4)
def byte_pairs(tokenizer: Tokenizer) -> BytePairs | None:
    """The merges of a tokenizer; None where it has none, since it is no BPE."""
    spec = _spec(tokenizer)
    return BytePairs(spec) if spec["type"] == "BPE" else None


@lru_cache(maxsize=4)
def _spec(tokenizer: Tokenizer) -> dict[str, Any]:
    return json.loads(tokenizer.back_end.to_str())["model"]


def split_characters(parts: list[bytes | None]) -> list[Split]:
    """The characters that lie across tokens, from each token's bytes; a token without bytes (None) parts the text."""
    found: list[Split] = []
    held, places = b"", []
    for position, part in enumerate([*parts, None]):
        if part is None:
            found += _across(held, places)
            held, places = b"", []
        else:
            held += part
            places += [position] * len(part)
    return found


def _across(text: bytes, places: list[int]) -> list[Split]:
    """Characters of `text` whose bytes belong to more than one of `places`; bytes of no character are left out."""
    found, at = [], 0
    for character in text.decode("utf-8", errors="surrogateescape"):
        wide = len(character.encode("utf-8", errors="surrogateescape"))
        if places[at] != places[at + wide - 1]:
            found.append(Split(character, places[at], places[at + wide - 1]))
        at += wide
    return found
