"""Words of the little world and what each can be: a name, a thing, a place, a form of a verb. Cuts sentences into them.

A word's key is its English base form in both languages, so that 厨房 and "kitchen" are one place.
"""

import re
from collections import defaultdict
from functools import cache
from itertools import chain, pairwise
from typing import NamedTuple

from model.corpus import lexicon
from model.corpus.lexicon import Language


class Sense(NamedTuple):
    """One thing that a word can be.

    `kind` is "name", "animal", "thing", "food", "people", "place", "furniture", "drink", "stuff", "noun" (any other),
    "adjective", "colour", "number", "verb" or "function". `form` is a name's gender, an English noun's number ("one" or
    "many"), a Chinese noun's measure word, or an English verb's form ("base", "third", "past" or "ing").
    """

    kind: str
    key: str
    form: str = ""


class Word(NamedTuple):
    """A word as it stands in a text, with all its senses; none for a word that the world does not have."""

    text: str
    senses: tuple[Sense, ...]

    def sense(self, *kinds: str) -> Sense | None:
        """The word's sense of the first of these kinds that it has."""
        return next((sense for kind in kinds for sense in self.senses if sense.kind == kind), None)


NOUNS = {
    "animal": lexicon.ANIMALS,
    "thing": lexicon.THINGS,
    "food": lexicon.FOODS,
    "people": lexicon.PEOPLE,
    "noun": [*lexicon.NATURE, *lexicon.OTHER],
}
# Words that have no entry of their own in the lexicon. What they may do in a sentence, the grammars say.
_ENGLISH_FUNCTION = """
a after also am an and are asleep at be because bed before behind but by can cannot cloudy course did dinner does do
down early for friends from good hands hello her here him his how I i in is it its last long lunch many me minus much my
named near next noon not now of old on or outside people please plus really she he so some soon sunny than thank that
the then there they to today together too under up very was warm we were what where which who windy with years you your
's
"""
_CHINESE_FUNCTION = """
的 了 在 里 上 下 旁边 下面 和 把 给 送给 向 对 为 让 跟着 得 着 过来 起来 下来 出来 来到 到 走 跑 坐 吃 喝 找 帮 请
吃饱 睡着 准备 拿起 地上 东西 一点 一直 一起 就 也 很 非常 太 快 很快 不 没有 可以 可是 因为 所以 然后 接着 最后 现在
今天 今年 吗 呢 谁 什么 哪 哪里 哪儿 几 岁 我 你 他 她 它 你好 当然 那 这 那里 外面 刮 阴天 晴朗 暖和 天气 天 两
早上 中午 下午 晚上 夜里 加 减 等于 星期天 星期一 星期六 有一天 放学后 晚饭前 午饭后 一大早
"""
_MORE_VERBS = [
    ("begin", "begins", "began", "beginning"),
    ("rain", "rains", "rained", "raining"),
    ("snow", "snows", "snowed", "snowing"),
]
PUNCTUATION = frozenset(".,!?;:'\"“”。，！？：；、")
_ENGLISH_WORD = re.compile(r"'s\b|[A-Za-z]+|\d|\S")


@cache
def senses(language: Language) -> dict[str, tuple[Sense, ...]]:
    """Every word of a language with its senses; in English names and days with a capital, all else in lower case."""
    table: defaultdict[str, set[Sense]] = defaultdict(set)
    english = language == "en"
    for word in _ENGLISH_FUNCTION.split() if english else [*_CHINESE_FUNCTION.split(), *measure_words()]:
        table[word].add(Sense("function", word))
    for kind, nouns in NOUNS.items():
        for noun in nouns:
            if english:
                table[noun.plural].add(Sense(kind, noun.en, "many"))
            table[noun.en if english else noun.zh].add(Sense(kind, noun.en, "one" if english else noun.measure))
    for kind, places in (("place", lexicon.PLACES), ("furniture", lexicon.FURNITURE)):
        for place in places:
            if english:
                table[lexicon.plural_of(place.en)].add(Sense(kind, place.en, "many"))
            table[place.en if english else place.zh].add(Sense(kind, place.en, "one" if english else place.measure))
    if not english:
        table["人"].add(Sense("people", "person", "个"))
    for name in lexicon.NAMES:
        table[name.en if english else name.zh].add(Sense("name", name.en, name.gender))
    for text, sense in chain(_plain(language), _verbs(language)):
        table[text].add(sense)
    return {text: tuple(sorted(found)) for text, found in table.items()}


def _plain(language: Language) -> list[tuple[str, Sense]]:
    """Words with one form."""
    rows = [(drink, Sense("drink", drink.en, "" if language == "en" else drink.measure)) for drink in lexicon.DRINKS]
    rows += [(pair, Sense("stuff", pair.en)) for pair in [*lexicon.STUFF, lexicon.Pair("food", "食物")]]
    rows += [(pair, Sense("colour", pair.en)) for pair in lexicon.COLOURS]
    rows += [(pair, Sense("number", pair.en)) for pair in lexicon.NUMBERS]
    adjectives = chain(lexicon.QUALITIES, lexicon.FEELINGS, *lexicon.OPPOSITES)
    rows += [(pair, Sense("adjective", pair.en)) for pair in adjectives]
    plain = [(getattr(word, language), sense) for word, sense in rows]
    series = [word for row in lexicon.SERIES for word in row[language]]
    return plain + [(word, Sense("noun", word, "one" if language == "en" else "")) for word in series]


def _verbs(language: Language) -> list[tuple[str, Sense]]:
    verbs = [*lexicon.ACTIVITIES, *lexicon.VERBS]
    if language == "zh":
        return [(verb.zh, Sense("verb", verb.base)) for verb in verbs]
    spelt = [(verb.base, verb.third, verb.past, verb.ing) for verb in verbs] + _MORE_VERBS
    names = ("base", "third", "past", "ing")
    return [
        (form, Sense("verb", forms[0], name))
        for forms in spelt
        for name, form in zip(names, forms, strict=True)
        if form
    ]


@cache
def measure_words() -> frozenset[str]:
    """Every Chinese measure word."""
    nouns = chain(*NOUNS.values(), lexicon.DRINKS, lexicon.PLACES, lexicon.FURNITURE)
    return frozenset(noun.measure for noun in nouns)


def cut(text: str, language: Language) -> list[Word]:
    """The words of a text, punctuation among them: spaces part them in English, the fewest known words in Chinese."""
    return _cut_english(text) if language == "en" else _cut_chinese(text)


def _cut_english(text: str) -> list[Word]:
    known = senses("en")
    parts = _ENGLISH_WORD.findall(text)
    words: list[Word] = []
    start = True  # of a sentence, where any word may have a capital
    while parts:
        pair = " ".join(parts[:2])
        shown = pair if pair.lower() in known else parts[0]
        del parts[: 2 if shown == pair else 1]
        found = known.get(shown, ())
        if start and shown != shown.lower():
            found += known.get(shown.lower(), ())
        words.append(Word(shown, found))
        start = shown in '.!?“"\n' or (start and not shown[0].isalnum())
    return words


def _cut_chinese(text: str) -> list[Word]:
    known = senses("zh")
    longest = max(map(len, known))
    # best[i]: the least cost of the first i characters and where their last word starts; an unknown one costs 10 words.
    best: list[tuple[int, int]] = [(0, 0)]
    for end in range(1, len(text) + 1):
        costs = []
        for start in range(max(0, end - longest), end):
            if text[start:end] in known or end - start == 1:
                costs.append((best[start][0] + (1 if text[start:end] in known else 10), start))
        best.append(min(costs))
    cuts, end = [len(text)], len(text)
    while end:
        end = best[end][1]
        cuts.append(end)
    cuts.reverse()
    parts = [text[a:b] for a, b in pairwise(cuts)]
    return [Word(part, known.get(part, ())) for part in parts if not part.isspace()]
