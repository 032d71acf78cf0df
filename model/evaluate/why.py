"""How true the why is: 40 prompts of eight kinds, each with a form that was labelled by hand (why_prompts.json).

Rule and labels were made side by side, so their agreement is no blind test of the rule. Fifteen more English prompts of
the same kinds are one: they were labelled before any form was measured on them.

Words to change are proposed for these forty, and for further prompts (`words_…`). Of these, what a person would change
was written down before any proposal was measured.

For each prompt: whether the first token named is the one of the largest knock-out outside sinks, whether a sink is
named, the form measured beside the label, whether the answer has a control, which words the model proposes, and the
seconds that all of it took. The bundled model has prompts of its own world, in two languages. Of three prompts the
knock-out is held to transformers'.
"""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from model.analysis.form import Form, fetched
from model.analysis.last_token import read_text
from model.analysis.other_words import OtherWord, other_words
from model.analysis.outside import knows_corpus
from model.analysis.sinks import sinks
from model.analysis.why import Why, why
from model.checkpoint import LanguageModel
from model.evaluate.eager import report_eager

PROMPTS = Path(__file__).with_name("why_prompts.json")
WORDS = 6  # proposals that are printed
EAGER = 3  # prompts whose knock-out is held to transformers', one of each of the first kinds


class WhyCase(NamedTuple):
    """A prompt and the form of its answer, labelled by hand."""

    kind: str
    prompt: str
    form: str


class Judged(NamedTuple):
    """What was measured of a case; `seconds` for the why and for the words."""

    case: WhyCase
    found: Why
    words: list[OtherWord]
    seconds: tuple[float, float]

    @property
    def first_is_largest(self) -> bool:
        """Whether the first token named has the largest knock-out of all before the last, sinks apart; where none is
        named, that none has a large one."""
        others = [t for t in range(len(self.found.knock_out) - 1) if t not in self.found.sinks]
        largest = max(others, key=lambda t: self.found.knock_out[t], default=None)
        return self.found.tokens[:1] in ((), (largest,))

    @property
    def names_sink(self) -> bool:
        """Whether a sink is among the tokens named."""
        return bool(set(self.found.tokens) & set(self.found.sinks))


class WordsCase(NamedTuple):
    """A prompt, and the words of it that a person would change."""

    kind: str
    prompt: str
    change: list[str]


def cases_for(lm: LanguageModel) -> list[WhyCase]:
    """The prompts of the bundled model's world for itself, English ones for any other model."""
    return _cases("little_world" if knows_corpus(lm) else "english")


def held_out_for(lm: LanguageModel) -> list[WhyCase]:
    """English prompts that the rule was not made on; none for the bundled model."""
    return [] if knows_corpus(lm) else _cases("held_out")


def words_held_out_for(lm: LanguageModel) -> list[WordsCase]:
    """Prompts that the way of proposing words was not made on."""
    name = "words_little_world" if knows_corpus(lm) else "words_english"
    return [WordsCase(**row) for row in json.loads(PROMPTS.read_text(encoding="utf-8"))[name]]


def _cases(name: str) -> list[WhyCase]:
    rows = json.loads(PROMPTS.read_text(encoding="utf-8"))[name]
    return [WhyCase(row["kind"], row["prompt"], row["form"]) for row in rows]


def judge(lm: LanguageModel, case: WhyCase, heads_budget: int) -> Judged:
    """One case, measured."""
    start = time.perf_counter()
    found = why(lm, case.prompt, heads_budget=heads_budget)
    middle = time.perf_counter()
    words = other_words(lm, case.prompt)
    return Judged(case, found, words, (middle - start, time.perf_counter() - middle))


def report_why(lm: LanguageModel, heads_budget: int, where: str | Path) -> int:
    """Judge every case, print a line for each as it is done and the shares at the end; the exit status is 1 where a
    first token is not the largest, a sink is named, an answer has no control, a form in ten is wrong, or knock-out is
    not transformers' of the checkpoint `where`."""
    done: list[Judged] = []
    for case in cases_for(lm):
        done.append(judge(lm, case, heads_budget))
        print(line(lm, done[-1]), flush=True)
    print(summary(done))
    as_theirs = report_eager(lm, where, one_of_each_kind(cases_for(lm))[:EAGER])
    report_held_out(lm)
    report_words(lm)
    forms = sum(one.found.form == one.case.form for one in done)
    true = all(one.first_is_largest and not one.names_sink and one.found.by_chance for one in done)
    return int(not true or forms < 0.9 * len(done) or not as_theirs)


def one_of_each_kind(cases: Sequence[WhyCase]) -> list[str]:
    """The first prompt of each kind."""
    return list({case.kind: case.prompt for case in reversed(cases)}.values())[::-1]


def report_held_out(lm: LanguageModel) -> None:
    """The form of each held-out prompt beside its label, and how many agree."""
    cases = held_out_for(lm)
    found = [_form(lm, case.prompt) for case in cases]
    for case, form in zip(cases, found, strict=True):
        print(
            f"held out, {case.kind}: {case.prompt!r}: {form}{'' if form == case.form else f' (by hand: {case.form})'}"
        )
    if cases:
        agree = sum(form == case.form for case, form in zip(cases, found, strict=True))
        print(f"{agree} of {len(cases)}: the form of a held-out prompt is that of the label")


def report_words(lm: LanguageModel) -> None:
    """What is proposed for each prompt of `words_held_out_for`, and for how many of them a word that a person would
    change."""
    cases, met = words_held_out_for(lm), 0
    for case in cases:
        words = other_words(lm, case.prompt)
        changed = any(word.word.strip() in case.change for word in words)
        met += changed
        aside = "" if changed else f" (a person would change {', '.join(case.change)})"
        print(f"words, {case.kind}: {case.prompt!r}: {_told(lm, words) or 'none'}{aside}", flush=True)
    print(f"{met} of {len(cases)}: a word that a person would change is proposed")


def _told(lm: LanguageModel, words: Sequence[OtherWord]) -> str:
    pieces = lm.tokenizer.pieces
    return ", ".join(f"{word.word}→{word.text}:{pieces([word.answer])[0]!r} {word.p:.2f}" for word in words[:WORDS])


def _form(lm: LanguageModel, prompt: str) -> Form:
    read = read_text(lm, prompt)
    return fetched(read, read.answer, sinks(read)).form


def line(lm: LanguageModel, one: Judged) -> str:
    """What was found for one prompt, in words of its own tokens."""
    ids, pieces = lm.tokenizer.encode(one.case.prompt), lm.tokenizer.pieces
    shown, found = pieces(ids), one.found
    tokens = ", ".join(f"{shown[t]!r} {found.knock_out[t]:.1f}" for t in found.tokens[:3])
    parked = ", ".join(repr(shown[t]) for t in found.sinks)
    form = found.form if found.form == one.case.form else f"{found.form} (by hand: {one.case.form})"
    late = f"{found.fetched_late:.1f}, {found.from_answer:.1f} of it from the answer's places; alone: {found.alone:.1f}"
    chance = f"{found.without:.3f} without {len(found.group)} heads, {min(found.by_chance):.3f} at least by chance"
    return (
        f"{one.case.kind}: {one.case.prompt!r} → {pieces([found.answer])[0]!r} {found.p:.2f}\n"
        f"  {form} (fetched late: {late}); tokens: {tokens or 'none'}; sinks: {parked or 'none'}\n"
        f"  heads: {chance}; {found.heads_measured.sum()} of {found.heads_measured.size} measured\n"
        f"  words: {_told(lm, one.words) or 'none'}; {one.seconds[0]:.1f} s and {one.seconds[1]:.1f} s"
    )


def summary(done: Sequence[Judged]) -> str:
    """How many prompts meet each bar."""
    shares = {
        "the first token named has the largest knock-out outside sinks": [one.first_is_largest for one in done],
        "no sink is named": [not one.names_sink for one in done],
        "the form is that of the label": [one.found.form == one.case.form for one in done],
        "a word is proposed": [bool(one.words) for one in done],
        "the answer has a control": [bool(one.found.by_chance) for one in done],
    }
    lines = [f"{sum(met)} of {len(met)}: {what}" for what, met in shares.items()]
    middle = [sorted(one.seconds[i] for one in done)[len(done) // 2] for i in (0, 1)]
    return "\n".join([*lines, f"median: {middle[0]:.1f} s for the why, {middle[1]:.1f} s for the words"])
