"""Which tokens of a text are whole words that name something, and what shape a word has. Knows no network.

Words of function (function_words.json: English and Chinese) and signs name nothing. In other languages every word of
letters counts as naming something.
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

_CHINESE = range(0x4E00, 0xA000)


class Shape(NamedTuple):
    """Whether a space stands before a word, and its letters: "lower", "title", "upper", "mixed", "digits" or "chinese";
    of digits, Chinese and signs ("sign") also how many there are."""

    spaced: bool
    letters: str
    length: int


def shape_of(piece: str) -> Shape | None:
    """The shape of a token's text; None where it is no word: signs, spaces, letters and digits mixed."""
    word = piece.removeprefix(" ")
    spaced = word != piece
    if word.isascii() and word.isdigit():
        return Shape(spaced, "digits", len(word))
    if not word.isalpha():
        return None
    if all(ord(letter) in _CHINESE for letter in word):
        return Shape(spaced, "chinese", len(word))
    cases = {"lower": word.islower(), "title": word.istitle(), "upper": word.isupper() and len(word) > 1}
    return Shape(spaced, next((name for name, has in cases.items() if has), "mixed"), 0)


def sign_shape_of(piece: str) -> Shape | None:
    """The shape of signs, "sign" and how many there are; None for a token that holds a letter, a digit, a blank or what
    nobody can see, such as a control character: no reader could type that in a sign's place."""
    signs = piece.removeprefix(" ")
    if not signs or not signs.isprintable() or any(sign.isalnum() or sign.isspace() for sign in signs):
        return None
    return Shape(signs != piece, "sign", len(signs))


def content_words(pieces: Sequence[str]) -> list[int]:
    """The positions of tokens that are whole words and name something.

    A word of letters is whole where the token after it begins with no letter, and it begins with a space, the text or
    after a sign. Chinese has no spaces: each token is a word. A digit is one even within a number.
    """
    found: list[int] = []
    for at, piece in enumerate(pieces):
        shape = shape_of(piece)
        if shape is None or is_function_word(piece):
            continue
        if shape.letters in ("digits", "chinese") or (_begins(pieces, at) and _ends(pieces, at)):
            found.append(at)
    return found


def whole_words(pieces: Sequence[str]) -> list[range]:
    """The tokens of each whole word, which may be several. A digit and a Chinese token are one by themselves. What
    letters and digits make together ("7th", "x1") is none, and no part of it is."""
    found: list[range] = []
    at = 0
    while at < len(pieces):
        shape, stop = shape_of(pieces[at]), at + 1
        by_itself = shape is not None and shape.letters in ("digits", "chinese")
        while shape is not None and not by_itself and stop < len(pieces) and is_letter(pieces[stop][:1]):
            stop += 1
        joined = is_letter if by_itself else _is_of_word
        before = "" if at == 0 or pieces[at].startswith(" ") else pieces[at - 1][-1:]
        after = "" if stop == len(pieces) else pieces[stop][:1]
        alone = (shape is not None and shape.letters == "chinese") or not (joined(before) or joined(after))
        if alone and shape_of("".join(pieces[at:stop])) is not None:
            found.append(range(at, stop))
        at = stop
    return found


def _is_of_word(character: str) -> bool:
    return is_letter(character) or character.isdigit()


def is_function_word(piece: str) -> bool:
    """Whether a token's text is a word of function, in either language."""
    return piece.strip().lower() in _function_words()


def is_letter(character: str) -> bool:
    """Whether a character is a letter of a script that writes spaces between words; not of none."""
    return character.isalpha() and ord(character) not in _CHINESE


def _begins(pieces: Sequence[str], at: int) -> bool:
    return pieces[at].startswith(" ") or at == 0 or not is_letter(pieces[at - 1][-1:])


def _ends(pieces: Sequence[str], at: int) -> bool:
    return at + 1 == len(pieces) or not is_letter(pieces[at + 1][:1])


@cache
def _function_words() -> frozenset[str]:
    table = json.loads(Path(__file__).with_name("function_words.json").read_text(encoding="utf-8"))
    return frozenset((table["en"] + " " + table["zh"]).split())
