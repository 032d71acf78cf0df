"""Whole words that could stand for a word of several tokens, of as many tokens. The model proposes them.

A word's place says little of a name that it has yet to spell: before "iffel" a model expects hardly any word more than
another. So it is asked for another word of the kind: the text is read up to the word's end, and after "and" and a
comma the most expected words are written on, piece by piece (BEAM of them are followed). What the model does not expect
on a beginning is not written ("les" on "daff"): it mostly makes no word. A word is whole where the model hardly goes on
with it. It is worth its log p there.

Symbols: V vocabulary, B beams, n tokens of the word.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from ..checkpoint import LanguageModel
from ..pieces import Work
from .content_words import is_function_word, is_letter, shape_of
from .last_token import TextRead
from .read_before import ReadBefore

AFTER = (" and", ",")
BEAM = 24  # beginnings that are followed
BRANCHES = 4  # of each, a piece later
GOES_ON = 0.5  # of the probability after a piece, from which on the word is not at its end
ENDS = 1 / 3  # below it a word that is spelled here is at its end: twice as probable as that it goes on
EXPECTED = math.log(0.1)  # the least log p of a piece after the first
LONGEST = 6  # tokens of a word


class Longer(NamedTuple):
    """A word of several tokens, and its log p as another of the kind."""

    tokens: tuple[int, ...]
    log_p: float


class _Pieces(NamedTuple):
    """Which tokens can begin a word, by its letters, and which can go on with it: those of any letters, and such as are
    all small or all capital."""

    begin: dict[str, Bool[Tensor, "V"]]
    letters: Bool[Tensor, "V"]
    on: dict[str, Bool[Tensor, "V"]]


_kinds: WeakKeyDictionary[nn.Module, _Pieces] = WeakKeyDictionary()


def tokens_run(count: int) -> int:
    """About how many tokens are run for a word of so many."""
    return len(AFTER) * BEAM * sum(range(2, count + 2)) if count <= LONGEST else 0


def longer_words(read: TextRead, at: range) -> Work[list[Longer]]:
    """Words of as many tokens and the same letters as the one at these tokens, the most expected first."""
    lm, pieces = read.lm, read.lm.tokenizer.pieces
    own = "".join(pieces(read.ids[at.start : at.stop]))
    shape = shape_of(own)
    if shape is None or shape.letters not in ("lower", "title", "upper") or len(at) > LONGEST:
        return []
    found: dict[str, Longer] = {}
    for sign in AFTER:
        for tokens, log_p in (yield from _written(read, at, lm.tokenizer.encode(sign), shape.letters)):
            word = "".join(pieces(tokens))
            if not shape.spaced:
                word = word.removeprefix(" ")
                tokens = lm.tokenizer.encode(word)
            new, known = shape_of(word), found.get(word)
            fits = new == shape and len(tokens) == len(at) and word != own and not is_function_word(word)
            if fits and (known is None or known.log_p < log_p):
                found[word] = Longer(tuple(tokens), log_p)
    return sorted(found.values(), key=lambda one: -one.log_p)


def _written(read: TextRead, at: range, sign: Sequence[int], letters: str) -> Work[list[tuple[list[int], float]]]:
    """Words that are expected after the word and a sign, and their log p."""
    kinds = _kinds_of(read.lm)
    begin, on = kinds.begin[letters], kinds.on["upper" if letters == "upper" else "lower"]
    beams: list[tuple[list[int], float]] = [([], 0.0)]
    for count in range(len(at)):
        logs = _after(read, at.stop, [[*sign, *tokens] for tokens, _ in beams])
        best = logs.masked_fill(~(on if count else begin), -torch.inf).topk(BRANCHES if count else BEAM)
        least = EXPECTED if count else -torch.inf
        further = [
            ([*tokens, token], log_p + more)
            for (tokens, log_p), some, mores in zip(beams, best.indices.tolist(), best.values.tolist(), strict=True)
            for token, more in zip(some, mores, strict=True)
            if more > least
        ]
        beams = sorted(further, key=lambda one: -one[1])[:BEAM]
        yield
        if not beams:
            return []
    left = going_on(read.lm, _after(read, at.stop, [[*sign, *tokens] for tokens, _ in beams]))
    yield
    return [one for one, more in zip(beams, left, strict=True) if more < ENDS]


def going_on(lm: LanguageModel, logs: Float[Tensor, "B V"]) -> list[float]:
    """How probable it is that a word goes on, by log p of the next token."""
    return logs.exp().masked_fill(~_kinds_of(lm).letters, 0).sum(-1).tolist()


def _after(read: TextRead, stop: int, texts: list[list[int]]) -> Float[Tensor, "B V"]:
    """Log p of what follows on the text up to a token and each of these."""
    rows = torch.tensor(texts, device=read.lm.device)
    with torch.inference_mode():
        return read.lm.net(rows, ReadBefore(read.cache, stop), stop, last_only=True)[:, -1].float().log_softmax(-1)


def _kinds_of(lm: LanguageModel) -> _Pieces:
    """Of the vocabulary, read once."""
    key = lm.net.embed
    if key not in _kinds:
        pieces = lm.tokenizer.pieces(list(range(lm.config.vocab_size)))
        shapes = [shape_of(piece) for piece in pieces]

        def those(tests: list[bool]) -> Bool[Tensor, "V"]:
            return torch.tensor(tests, device=lm.device)

        letters = [is_letter(piece[:1]) for piece in pieces]
        small = [a and piece.isalpha() and piece.islower() for a, piece in zip(letters, pieces, strict=True)]
        large = [a and piece.isalpha() and piece.isupper() for a, piece in zip(letters, pieces, strict=True)]
        begin = {
            kind: those([s is not None and s.spaced and s.letters in allowed for s in shapes])
            for kind, allowed in (("lower", ["lower"]), ("title", ["title"]), ("upper", ["upper", "title"]))
        }
        _kinds[key] = _Pieces(begin, those(letters), {"lower": those(small), "upper": those(large)})
    return _kinds[key]
