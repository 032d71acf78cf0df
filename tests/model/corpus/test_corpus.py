"""The corpus: the same seed gives the same text, stories stay true to their world, the splits do not meet."""

import random
import re
from itertools import islice

import pytest

from model.corpus import documents, lexicon
from model.corpus.facts import draw_facts
from model.corpus.narrator import Narrator
from model.corpus.scripts import make_story
from model.corpus.split import is_held_out, is_pair_held_out
from model.corpus.writer import Document, chinese, document, english

SAMPLE = 3000


@pytest.fixture(scope="module")
def sample() -> list[Document]:
    return list(islice(documents(7), SAMPLE))


def test_same_seed_same_text(sample):
    assert [d.text for d in islice(documents(7), 200)] == [d.text for d in sample[:200]]
    assert [d.text for d in islice(documents(8), 200)] != [d.text for d in sample[:200]]
    assert [d.text for d in islice(documents(7, "heldout"), 200)] != [d.text for d in sample[:200]]


def test_words_join_to_the_text_and_answers_lie_on_word_boundaries(sample):
    for d in sample:
        assert "".join(d.words) == d.text
        boundaries, at = {0}, 0
        for word in d.words:
            at += len(word)
            boundaries.add(at)
        for start, end in d.answers:
            assert start < end <= len(d.text)
            assert {start, end} <= boundaries, (d.text, d.text[start:end])


def test_no_mark_or_unfilled_slot_reaches_a_text(sample):
    for d in sample:
        assert not re.search(r"[‹›\x00\x1f]", d.text), d.text
        if d.kind != "brackets":
            assert not re.search(r"[{}\[\]]|  ", d.text), d.text


def test_every_kind_is_met_in_both_languages(sample):
    kinds = {d.kind for d in sample}
    assert {"story-en", "story-zh", "facts-en", "facts-zh", "pronouns-en", "pronouns-zh"} <= kinds
    assert {"induction", "recall", "counting", "sums", "brackets", "opposites", "agreement", "translation"} <= kinds
    induction = [d.text for d in sample if d.kind == "induction"]
    assert any(text.isascii() for text in induction)
    assert any(not text.isascii() for text in induction)


def test_words_are_cut_where_a_reader_cuts_them():
    assert chinese("猫 在 沙发 上 睡觉") == ["猫", "在", "沙发", "上", "睡觉"]
    assert english('Tom says, "It is 12."') == ["Tom", " says", ",", ' "', "It", " is", " ", "1", "2", ".", '"']


def test_an_answer_takes_the_space_before_it():
    d = document("x", english("Where is Tom? In the ‹kitchen›."))
    assert d.text == "Where is Tom? In the kitchen."
    assert [d.text[start:end] for start, end in d.answers] == [" kitchen"]


def test_repeats_are_exact(sample):
    for d in sample:
        if d.kind != "induction":
            continue
        ((start, end),) = d.answers
        words = [word for word in re.split(r"[ ,，、]+", d.text) if word]
        n = len([word for word in re.split(r"[ ,，、]+", d.text[:start]) if word])
        if n > 1:
            assert words == words[:n] * (len(words) // n), d.text
        else:
            assert d.text == d.text[:start] * (len(d.text) // start), d.text
        assert end == len(d.text)


def test_sums_are_right(sample):
    for d in sample:
        for a, sign, b, result in re.findall(r"(\d+) ([+-]) (\d+) = (\d+)", d.text) if d.kind == "sums" else ():
            assert int(result) == (int(a) + int(b) if sign == "+" else int(a) - int(b))


def test_brackets_close_in_order(sample):
    partner = {")": "(", "]": "[", "}": "{", ">": "<", "”": "“"}
    for d in sample:
        if d.kind == "brackets":
            opened: list[str] = []
            for character in d.text:
                if character in partner.values():
                    opened.append(character)
                elif character in partner:
                    assert opened.pop() == partner[character], d.text
            assert not opened, d.text


def test_facts_answer_with_the_place_that_was_stated(sample):
    """Read from the text alone, without the generator's own record of what it said."""
    stated = re.compile(r"(\b[A-Z][a-z]+) is (?:in|on|at) (?:the )?([a-z ]+?)(?: now)?[.]")
    names = {name.en for name in lexicon.NAMES}
    checked = 0
    for d in sample:
        if d.kind == "facts-en":
            place_of: dict[str, str] = {}
            for name, place in stated.findall(d.text):
                if name in names:
                    assert place_of.setdefault(name, place) == place, d.text
                    checked += 1
    assert checked > 200


def test_story_events_follow_from_the_state():
    """Replays the events with a record of its own: who gives has the thing, and the two are at the same place."""
    for seed in range(300):
        world = make_story(random.Random(seed), "train")
        place, holder = {}, {}
        for event in world.events:
            if event.kind in ("be_at", "once_at", "go", "come"):
                place[event.s] = event.at
            elif event.kind == "together":
                place.update(dict.fromkeys(event.s, event.at))
            elif event.kind in ("have", "take", "buy", "make", "find", "cold", "gift"):
                holder[id(event.o)] = event.s
            elif event.kind in ("give", "throw"):
                assert holder[id(event.o)] is event.s, seed
                assert place.get(event.s) is place.get(event.r) or None in (place.get(event.s), place.get(event.r))
                holder[id(event.o)] = event.r
            elif event.kind == "borrow":
                assert holder[id(event.o)] is event.r, seed
                holder[id(event.o)] = event.s
            elif event.kind == "put":
                assert holder.pop(id(event.o)) is event.s, seed
            elif event.kind == "act" and event.s in place:
                assert place[event.s] is event.at, seed
        for being, last in place.items():
            assert being.place is last, seed
        for thing in world.things:
            if thing.holder is not None:
                assert holder[id(thing)] is thing.holder, seed


@pytest.mark.parametrize(
    ("language", "pronouns"), [("en", {"He": "m", "She": "f", "It": "n"}), ("zh", {"他": "m", "她": "f", "它": "n"})]
)
def test_a_pronoun_means_the_subject_before_it(language, pronouns):
    met = set()
    for seed in range(300):
        world = make_story(random.Random(seed), "train")
        narrator = Narrator(random.Random(seed), language)
        before = None
        for event in world.events:
            text = narrator.tell(event)
            pronoun = re.split(r"[ ']", text)[0]
            if pronoun in pronouns and event.kind not in ("weather", "late", "birthday"):
                met.add(pronoun)
                assert event.s is before.s
                assert event.s.gender == pronouns[pronoun]
                others = [part for part in (before.o, before.r) if part is not None]
                assert all(getattr(other, "gender", "n") != pronouns[pronoun] for other in others), text
            before = event
    assert met == set(pronouns)


def test_train_and_heldout_share_no_combination():
    for split, held_out in (("train", False), ("heldout", True)):
        rng = random.Random(3)
        for fact in draw_facts(rng, "at", "en", split, 4) + draw_facts(rng, "at", "en", split, 4):
            place = re.search("‹(.*)›", fact.value["v"])[1]
            assert is_held_out(fact.subject["s"], place) == held_out
        for seed in range(100):
            first, second = make_story(random.Random(seed), split).people[:2]
            assert is_pair_held_out(first.word.en, second.word.en) == held_out


def test_a_training_story_puts_nobody_at_a_held_out_place():
    for seed in range(300):
        for event in make_story(random.Random(seed), "train").events:
            if event.kind in ("be_at", "once_at", "go") and isinstance(event.s.word, lexicon.Name):
                assert not is_held_out(event.s.word.en, event.at.en)


def test_lexicon_is_as_large_as_promised():
    nouns = {noun.en for noun in lexicon.COUNTABLE} | {place.en for place in [*lexicon.PLACES, *lexicon.FURNITURE]}
    adjectives = {pair.en for both in lexicon.OPPOSITES for pair in both}
    adjectives |= {pair.en for pair in [*lexicon.COLOURS, *lexicon.QUALITIES, *lexicon.FEELINGS]}
    assert len(nouns) >= 300
    assert len({name.en for name in lexicon.NAMES}) >= 80
    assert len({name.zh for name in lexicon.NAMES}) >= 80
    assert len(lexicon.VERB_FORMS) >= 60
    assert len(adjectives) >= 40


@pytest.mark.parametrize(
    ("phrase", "article"), [("apple", "an apple"), ("old ball", "an old ball"), ("umbrella", "an umbrella")]
)
def test_article(phrase, article):
    assert lexicon.with_article(phrase) == article


@pytest.mark.parametrize(
    ("one", "many"), [("box", "boxes"), ("puppy", "puppies"), ("toy", "toys"), ("brush", "brushes")]
)
def test_plural(one, many):
    assert lexicon.plural_of(one) == many


def test_some_documents_are_shown_in_some_stages_only():
    def shown(kind: str) -> list[Document]:
        return list(islice(documents(0, "train", {kind: 1}), 60))

    known = {pair.en for pair in lexicon.all_pairs()}
    made_up = [word for d in shown("made-up") for word in re.split(r"[ ,]+", d.text)]
    assert sum(word in known for word in made_up) < len(made_up) / 50  # a made-up "to" is a word by chance
    assert not any(re.search(r"\d", d.text) for d in shown("counting-words"))
    for kind in ("asked-en", "asked-zh"):
        asked = shown(kind)
        assert all(re.search("[?？]", d.text) for d in asked)
        usual = shown(kind.replace("asked", "story"))
        count, fewer = (sum(len(re.findall("[?？]", d.text)) for d in stories) for stories in (asked, usual))
        assert count > 1.5 * fewer
