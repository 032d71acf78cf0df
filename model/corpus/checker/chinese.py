"""Chinese form: a grammar of the simple sentences of the little world, and the measure word that each noun takes.

The grammar is wider than what the corpus says: it knows where a subject, an adverb, a place with its 里 or 上, a verb
and its objects go, and which words 把, 在, 给 need after them.
"""

from model.corpus.checker.grammar import Grammar
from model.corpus.checker.sentences import QUOTE, Fault, Sentence
from model.corpus.checker.vocabulary import NOUNS, PUNCTUATION, Word, cut, measure_words

_NEEDING = ("有", "想要", "需要", "买", "借", "遇见", "看见", "给", "放")  # verbs that need an object
_QUOTING = ("说", "问", "回答")  # verbs that need what is said
# TAKE is a verb that needs an object. Words in capitals are what `_categories` gives; all others are words.
_GRAMMAR = Grammar("""
Title: Someone 和 Someone | Someone
Someone: NAME | NOUN
Story: Frame* Clause Join* | Weather
Frame: TIME ，? | 然后 ，? | 接着 ，? | 最后 ，? | 所以 ，? | 现在
Join: ， Link? Predicate | ， Link? Clause
Link: 可是 | 所以 | 因为 | 就
Clause: Subject Predicate | Place 有 Phrase | 有 Noun 叫 NAME | Said
Said: Subject To? Adverb* SAYS ： QUOTE | QUOTE Subject SAYS
To: 对 Phrase
Subject: Phrase | Phrase 和 Phrase
Phrase: NAME | PRONOUN | Noun
Noun: Count? Quality* NOUN | Owner 的 NOUN | Count
Count: NUM M | 那 M | 这 M
Owner: NAME | PRONOUN
Quality: ADJ 的 | ADJ | COLOUR 的
Place: PLACE AFTER | 那里
Predicate: Adverb* Verb
Adverb: 也 | 就 | 很 | 非常 | 太 | 一直 | 一起 | 现在 | 很快 | 不 | 没有 | 今年 | TIME
Verb: 在 Place Doing? | TAKE 了? Object | VERB 在 Place | 在 VERB Phrase? | Go 了? PLACE | VERB 了? Object? End? |
 把 Phrase Done | With Phrase Predicate | ADJ 了? | 觉得 Adverb* ADJ | 是 Phrase | 是 COLOUR 的 | 看见 Place 有 Phrase |
 喜欢 VERB Phrase | 坐 下来 Predicate? | 来 Predicate | 抱 了 抱 Phrase | 笑 了 笑 | 跑 得 Adverb* ADJ |
 找 不 到 Phrase | 修 好 了 Phrase | 穿 上 了 Phrase | 叫 NAME | 睡着 了 | 吃饱 了 | 过来 | NUM 岁 | 吃 东西 |
 没有 VERB
Doing: Manner* Action
Manner: 也 | 就 | 一直 | 一起
Action: VERB 了? Object? End? | TAKE 了? Object | With Phrase Doing | 没有 VERB
Object: Phrase | PLACE | Amount
Amount: 一点 NOUN
End: 起来 | 下来 | 过来 | 了
Go: 去 | 来到 | 走 到 | 跑 到 | 回
With: 给 | 对 | 和 | 为 | 让 | 跟着 | 向 | 叫
Done: Give 了? Phrase | 放 在 Place | VERB 了? | 掉 在 了? 地上 | VERB 给 Phrase | VERB 在 Place
Give: 给 | 送给
Weather: 外面 刮 着 风 | 天气 晴朗 | 天 很 ADJ | 今天 很 暖和 | 今天 是 阴天 | 天 黑 了 | 很 晚 了 |
 月亮 出来 了 | RAIN 了 | 今天 是 Phrase
Question: Subject 现在? 在 Where Verb? | 你 知道 Subject 在 Where 吗 | 谁 Predicate | 什么 Predicate |
 哪 M Predicate | Subject Adverb* VERB 什么 | Subject Adverb* TAKE 什么 | Subject VERB VERB 什么 |
 Subject 是 做 什么 的 | Subject 是 什么 颜色 的 | Subject 今年? 几 岁 | Subject 有 几 M NOUN | Place 有 几 M 人 |
 Subject 把 Phrase Give 了? 谁
Where: 哪里 | 哪儿
Answer: 在 Place | 是? Phrase | COLOUR | NUM 岁 | Give 了? Phrase | Place 有 NUM M 人 | Story
Speech: 你好 Called? | 早上 好 Called? | 谢谢 你? Called? | Noun 在 Where | Noun 呢 | 在 Place | 给 你 |
 当然 可以? | 可以 把 Phrase 给 我 吗 | 请 把 Phrase 给 我 | Story | Question
Called: ， NAME
""")


def faults(sentence: Sentence) -> list[Fault]:
    """What is wrong with the form of one sentence."""
    speech = [(quote, cut(quote.rstrip("。！？，"), "zh")) for quote in sentence.quotes]
    found = _word_faults(sentence.words, sentence.text)
    for quote, words in speech:
        found += _word_faults(words, quote)
    if found:
        return found
    parts = [(sentence.text, sentence.words, sentence.kind), *((quote, words, "Speech") for quote, words in speech)]
    return [
        Fault("grammar", text)
        for text, words, start in parts
        if not _GRAMMAR.accepts([_categories(word) for word in words], start)
    ]


def _word_faults(words: list[Word], text: str) -> list[Fault]:
    """Unknown words, and a noun whose number or 那 does not bring its measure word."""
    found = [Fault("word", word.text) for word in words if not word.senses and word.text not in PUNCTUATION]
    for i, word in enumerate(words):
        if not (word.sense("number") or word.text in ("那", "这", "几", "两")):
            continue
        if word.text == "二" or not _fits(words[i + 1 :]):
            found.append(Fault("measure", text))
    return found


def _fits(words: list[Word]) -> bool:
    """Whether what follows a number is a measure word of the noun that comes next, past adjectives."""
    if not words or words[0].text not in measure_words():
        # 三十, 九岁 and a number by itself need none.
        return (
            not words or bool(words[0].sense("number")) or words[0].text in ("岁", "里") or words[0].text in PUNCTUATION
        )
    for word in words[1:]:
        allowed = {sense.form for sense in word.senses if sense.kind in (*NOUNS, "drink", "place", "furniture")}
        if allowed:
            return words[0].text in allowed
        if not (word.sense("adjective", "colour") or word.text == "的"):
            return True
    return True


def _categories(word: Word) -> set[str]:
    """What the word can be in the grammar: itself and its classes."""
    found = {word.text}
    kinds = {
        "name": "NAME",
        "number": "NUM",
        "adjective": "ADJ",
        "colour": "COLOUR",
        "verb": "VERB",
        "stuff": "NOUN",
        "drink": "NOUN",
        "place": "PLACE",
        "furniture": "PLACE",
    }
    for kind, _, _ in word.senses:
        found.add("NOUN" if kind in NOUNS else kinds.get(kind, ""))
    if word.text in ("下雨", "下雪"):
        return {word.text, "RAIN"}
    if word.text in _NEEDING:
        return {word.text, "TAKE"}
    if word.text in _QUOTING:
        return {word.text, "SAYS"}
    for category, words in _CLASSES.items():
        if word.text in words:
            found.add(category)
    return found | ({"QUOTE"} if word is QUOTE else set())


_TIMES = "早上 下午 晚上 中午 夜里 今天 星期天 星期一 星期六 有一天 放学后 晚饭前 午饭后 一大早"
_CLASSES: dict[str, frozenset[str]] = {
    "M": measure_words(),
    "NUM": frozenset({"两"}),
    "PRONOUN": frozenset("我你他她它"),
    "AFTER": frozenset(("里", "上", "旁边", "下面")),
    "SAYS": frozenset(("大叫",)),
    "ADJ": frozenset(("晚", "黑", "重", "冷", "暖和")),
    "VERB": frozenset(("吃", "喝", "找", "帮", "准备", "拿起", "走", "跑", "坐", "洗", "掉", "穿", "睡着")),
    "TIME": frozenset(_TIMES.split()),
}
