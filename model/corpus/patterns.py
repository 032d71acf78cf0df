"""Texts whose continuation follows from a rule: repeats, recall, counting, sums, order, quotes, opposites."""

import random
from collections.abc import Callable

from model.corpus import lexicon
from model.corpus.lexicon import Language
from model.corpus.split import SplitName, is_held_out, pick
from model.corpus.writer import Document, capital, chinese, document, english, sentences

_EN_POOL = sorted({pair.en for pair in lexicon.all_pairs() if " " not in pair.en})
_ZH_POOL = sorted({pair.zh for pair in lexicon.all_pairs()})
_SUMS = [(a, b) for a in range(11) for b in range(11)]
_DIFFERENCES = [(a, b) for a, b in _SUMS if a >= b]
_MADE_UP_FROM = 0.35
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _language(rng: random.Random) -> Language:
    return "en" if rng.random() < 0.5 else "zh"


def _made_up(rng: random.Random) -> str:
    """A word of no language: syllables such as "bako" or letters such as "qzt"."""
    if rng.random() < 0.5:
        return "".join(rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in range(rng.randint(1, 3)))
    return "".join(rng.choice(_LETTERS) for _ in range(rng.randint(1, 4)))


def _sequence(rng: random.Random, split: SplitName, n: int, draw: Callable[[], str]) -> list[str]:
    """`n` distinct drawn words whose every pair of neighbours belongs to the split."""
    held_out = split == "heldout"
    sequence: list[str] = []
    for _ in range(400 * n):
        word = draw()
        if word in sequence or (sequence and is_held_out(sequence[-1], word) != held_out):
            continue
        sequence.append(word)
        if len(sequence) == n:
            return sequence
    raise ValueError(f"no sequence of {n} distinct words: the words drawn are too few")


def induction(rng: random.Random, split: SplitName) -> Document:
    """A random sequence, repeated two to four times; from the second time on every word is determined."""
    return _induction(rng, split, rng.random())


def made_up_induction(rng: random.Random, split: SplitName) -> Document:
    """The same with made-up words alone, each of several tokens."""
    return _induction(rng, split, _MADE_UP_FROM)


def _induction(rng: random.Random, split: SplitName, choice: float) -> Document:
    """Chinese for a `choice` below 0.35, made-up words below 0.55, else English."""
    language: Language = "en"
    pool = _EN_POOL
    if choice < _MADE_UP_FROM:
        language, pool = "zh", _ZH_POOL
    made_up = _MADE_UP_FROM <= choice < 0.55
    n = rng.choice((3, 3, 4, 4, 5, 6, 7, 8, 10, 12)) if rng.random() < 0.97 else rng.randint(16, 30)
    sequence = _sequence(rng, split, n, lambda: _made_up(rng) if made_up else pool[int(rng.random() * len(pool))])
    times = rng.randint(2, 4)
    separator = rng.choice((" ", " ", ", ")) if language == "en" else rng.choice(("", " ", " ， ", " 、 "))
    if language == "zh" and separator != " ":
        cut = chinese(separator)
        once = [part for word in sequence for part in (word, *cut)]
        again = once * (times - 1)
        return document("induction", [*once, "‹", *(again[:-1] if cut else again), "›"])
    shown = separator.join(sequence)
    comma = separator.rstrip()
    return document("induction", english(f"{shown}{comma}‹" + comma.join([f" {shown}"] * (times - 1)) + "›"))


def series(rng: random.Random, split: SplitName) -> Document:
    """Days, months or seasons listed in order, going round; ordinals and times of day, which do not.

    The lists are fixed, so both splits show them.
    """
    language = _language(rng)
    chosen = rng.choice(lexicon.SERIES)
    words = chosen[language]
    n = rng.randint(3, 9)
    if chosen["round"]:
        start = rng.randrange(len(words))
        shown = [words[(start + i) % len(words)] for i in range(n)]
    else:
        start = rng.randrange(len(words) - 2)
        shown = words[start : start + n]
    if language == "en":
        return document("series", english(", ".join(shown[:2]) + ",‹ " + ", ".join(shown[2:]) + "›."))
    return document("series", chinese(" 、 ".join(shown[:2]) + " 、 ‹" + " 、 ".join(shown[2:]) + "› 。"))


def recall(rng: random.Random, split: SplitName) -> Document:
    """Keys with values, then some of the keys again, each with its value."""
    held_out = split == "heldout"
    language = _language(rng)
    pool = _EN_POOL if language == "en" else _ZH_POOL
    keys = rng.sample(pool, rng.randint(2, 6))
    digits = rng.random() < 0.6
    values = [str(i) for i in range(100)] if digits else pool
    bound = {key: pick(rng, values, lambda v, key=key: v != key and is_held_out(key, v) == held_out) for key in keys}
    asked = [rng.choice(keys) for _ in range(rng.randint(2, 6))]
    if language == "en":
        sign = rng.choice((": ", " = ", " is "))
        shown = ", ".join(key + sign + bound[key] for key in keys)
        again = ", ".join(f"{key}{sign}‹{bound[key]}›" for key in asked)
        return document("recall", english(f"{shown}. {again}."))
    sign = rng.choice((" ： ", " = ", " 是 "))
    spaced = {key: " ".join(value) if digits else value for key, value in bound.items()}
    shown = " ， ".join(key + sign + spaced[key] for key in keys)
    again = " ， ".join(f"{key}{sign}‹{spaced[key]}›" for key in asked)
    return document("recall", chinese(f"{shown} 。 {again} 。"))


def reversal(rng: random.Random, split: SplitName) -> Document:
    """Pairs of words, then all but one of them the other way round: the last could be told by what is left over."""
    held_out = split == "heldout"
    language = _language(rng)
    pool = _EN_POOL if language == "en" else _ZH_POOL
    firsts = rng.sample(pool, rng.randint(2, 4))
    pairs: list[tuple[str, str]] = []
    for first in firsts:
        used = {*firsts, *(second for _, second in pairs)}
        pairs.append((first, pick(rng, pool, lambda w, a=first, u=used: w not in u and is_held_out(a, w) == held_out)))
    again = rng.sample(pairs, len(pairs) - 1)
    if language == "en":
        sign = rng.choice((": ", " "))
        shown = ", ".join(a + sign + b for a, b in pairs)
        return document("reversal", english(f"{shown}. " + ", ".join(f"{b}{sign}‹{a}›" for a, b in again) + "."))
    sign = rng.choice((" ： ", " "))
    shown = " ， ".join(a + sign + b for a, b in pairs)
    return document("reversal", chinese(f"{shown} 。 " + " ， ".join(f"{b}{sign}‹{a}›" for a, b in again) + " 。"))


def counting(rng: random.Random, split: SplitName) -> Document:
    """Counting up or down, in digits or in words."""
    return _counting(rng, split, rng.random() < 0.5)


def counting_in_words(rng: random.Random, split: SplitName) -> Document:
    """The same in words alone."""
    return _counting(rng, split, True)


def _counting(rng: random.Random, split: SplitName, in_words: bool) -> Document:
    held_out = split == "heldout"
    top, steps = (20, (1, 1, 1, 1, -1, -1, -1, 2, -2)) if in_words else (99, (1, 1, 1, 1, -1, -1, 2, -2, 5, 10))
    runs = [(start, step) for step in steps for start in range(top + 1) if 0 <= start + 3 * step <= top]
    start, step = pick(rng, runs, lambda run: is_held_out(str(run[0]), str(run[1]), str(in_words)) == held_out)
    n = rng.randint(4, 12)
    shown = [k for k in range(start, start + step * n, step) if 0 <= k <= top]
    if in_words and rng.random() < 0.5:
        words = [lexicon.NUMBERS[k].zh for k in shown]
        return document("counting", chinese(" ， ".join(words[:2]) + " ， ‹" + " ， ".join(words[2:]) + "› 。"))
    words = [lexicon.NUMBERS[k].en if in_words else str(k) for k in shown]
    separator = rng.choice((", ", " "))
    return document("counting", english(separator.join(words[:2]) + separator + "‹" + separator.join(words[2:]) + "›."))


def sums(rng: random.Random, split: SplitName) -> Document:
    """A few small additions and subtractions, in signs or in words."""
    held_out = split == "heldout"
    lines: list[str] = []
    language = _language(rng)
    in_words = rng.random() < 0.4
    for _ in range(rng.randint(2, 6)):
        minus = rng.random() < 0.4
        pairs = _DIFFERENCES if minus else _SUMS
        a, b = pick(rng, pairs, lambda pair, m=minus: is_held_out(str(pair[0]), str(pair[1]), str(m)) == held_out)
        result = a - b if minus else a + b
        if not in_words:
            lines.append(f"{a} {'-' if minus else '+'} {b} = ‹{result}›")
        elif language == "en":
            a_, b_, r_ = (lexicon.NUMBERS[k].en for k in (a, b, result))
            lines.append(capital(f"{a_} {'minus' if minus else 'plus'} {b_} is ‹{r_}›."))
        else:
            a_, b_, r_ = (lexicon.NUMBERS[k].zh for k in (a, b, result))
            lines.append(f"{a_} {'减' if minus else '加'} {b_} 等于 ‹{r_}› 。")
    if in_words:
        return document("sums", sentences(language, lines))
    return document("sums", english(rng.choice((", ", "\n", "; ")).join(lines)))


def alphabet(rng: random.Random, split: SplitName) -> Document:
    """Letters in order, or words sorted by the alphabet."""
    if rng.random() < 0.4:
        start, n = rng.randint(0, 18), rng.randint(5, 14)
        letters = " ".join(_LETTERS[start : start + n])
        return document("alphabet", english(letters[:3] + "‹" + letters[3:] + "›"))
    words = _sequence(rng, split, rng.randint(4, 7), lambda: rng.choice(_EN_POOL))
    by_letter = list({word[0].lower(): word for word in words}.values())
    return document("alphabet", english(f"{', '.join(by_letter)} -> ‹{', '.join(sorted(by_letter, key=str.lower))}›"))


_BRACKETS = ("()", "[]", "{}", "<>", "“”")


def brackets(rng: random.Random, split: SplitName) -> Document:
    """Nested brackets and quotes around words, each closed by its partner."""
    pool = _EN_POOL if rng.random() < 0.6 else _ZH_POOL
    words = iter(_sequence(rng, split, 24, lambda: rng.choice(pool)))
    parts: list[str] = []

    def group(depth: int) -> None:
        opening, closing = rng.choice(_BRACKETS)
        parts.append(opening)
        parts.append(next(words))
        for _ in range(rng.choice((0, 1, 1)) if depth < 3 else 0):
            group(depth + 1)
        if rng.random() < 0.3:
            parts.append(next(words))
        parts.append(f"‹{closing}›")

    for _ in range(rng.randint(1, 3)):
        group(0)
    return document("brackets", english(" ".join(parts)))


def opposites(rng: random.Random, split: SplitName) -> Document:
    """A few opposites in one language."""
    language = _language(rng)
    lines = []
    for both in rng.sample(lexicon.OPPOSITES, rng.randint(2, 6)):
        a, b = (pair.en if language == "en" else pair.zh for pair in rng.sample(both, 2))
        lines.append(f"the opposite of {a} is ‹{b}›." if language == "en" else f"{a} 的 反义词 是 ‹{b}› 。")
    if rng.random() < 0.4:
        lines = [
            line.replace("the opposite of ", "").replace(" is ", " - ").replace(" 的 反义词 是 ", " - ")
            for line in lines
        ]
    return document("opposites", sentences(language, [capital(line) if language == "en" else line for line in lines]))


def agreement(rng: random.Random, split: SplitName) -> Document:
    """Subjects and their verbs with a phrase between them: "The keys on the table are red." """
    lines = []
    nouns = _sequence(rng, split, 6, lambda: rng.choice(lexicon.THINGS).en)
    by_name = {noun.en: noun for noun in lexicon.THINGS}
    for subject, other in zip(nouns[::2], nouns[1::2], strict=True):
        plural = rng.random() < 0.5
        head = by_name[subject].plural if plural else subject
        near = by_name[other].plural if rng.random() < 0.5 else other
        link = rng.choice(("near", "next to", "behind", "under", "with"))
        spot = rng.choice(lexicon.FURNITURE).en_at
        phrase = rng.choice((f" {link} the {near}", f" {spot}", f" {link} the {near} {spot}", ""))
        tense = rng.random() < 0.7
        verb = ("are" if plural else "is") if tense else ("were" if plural else "was")
        quality = rng.choice([*lexicon.COLOURS, *lexicon.QUALITIES]).en
        lines.append(f"The {head}{phrase} ‹{verb}› {quality}.")
    return document("agreement", sentences("en", lines))


def copying(rng: random.Random, split: SplitName) -> Document:
    """A sentence of random words said once and then quoted again."""
    language = _language(rng)
    pool = _EN_POOL if language == "en" else _ZH_POOL
    words = _sequence(rng, split, rng.randint(2, 6), lambda: rng.choice(pool))
    name = rng.choice(lexicon.NAMES)
    other = rng.choice([other for other in lexicon.NAMES if other is not name])
    if language == "en":
        said = " ".join(words)
        return document("copying", english(f'{name.en} says, "{said}." {other.en} says, "‹{said}›."'))
    said = " ".join(words)
    return document("copying", chinese(f"{name.zh} 说 ： “ {said} 。 ” {other.zh} 也 说 ： “ ‹{said}› 。 ”"))
