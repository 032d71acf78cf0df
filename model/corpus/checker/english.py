"""English form: a grammar of the simple sentences of the little world, articles, capitals, tense.

The grammar says what a subject, a verb and an object are and how they follow each other, with number kept apart, so
that "The cat sleep" and "a balls" do not pass. It is wider than what the corpus says.
"""

from itertools import pairwise

from model.corpus.checker.grammar import Grammar
from model.corpus.checker.sentences import QUOTE, Fault, Sentence
from model.corpus.checker.vocabulary import NOUNS, PUNCTUATION, Word, cut

_COUNTED = (*NOUNS, "place", "furniture")
_NEEDING = (
    "have",
    "take",
    "give",
    "put",
    "want",
    "like",
    "need",
    "find",
    "buy",
    "make",
    "drop",
    "show",
    "throw",
    "borrow",
)
_QUOTING = ("say", "ask", "answer")  # verbs that need what is said
_SAYING = (*_QUOTING, "shout", "call", "tell")
# Sg is singular, Pl plural; BASE+, THIRD+ and PAST+ are verbs that cannot do without an object. Words in capitals are
# what `_categories` gives; all others are words.
_GRAMMAR = Grammar("""
Title: Someone and Someone | Someone
Someone: NAME | SgNoun
Story: Frame* Clause Join*
Frame: then | so | now | after that , | at last ,? | Opening ,
Opening: one day | today | early? Where
Join: ,? Link Clause
Link: so | but | because | and
Clause: SgSubject Adverb* SgVerb SgMore* | PlSubject Adverb* PlVerb PlMore* | There | Said
SgMore: and SgVerb
PlMore: and PlVerb
SgSubject: SgPhrase | today
SgPhrase: NAME | he | she | it | SgNoun | Owned
Owned: NAME 's SG
SgNoun: SgWord ADJ* SG
SgWord: the | a | an | my | your | his | her | its
PlSubject: SgPhrase and SgPhrase | PlNoun | i | you | we | they
PlNoun: PlWord? ADJ* PL
PlWord: the | my | your | his | her | its | some | NUM
Mass: MassWord? ADJ* MASS
MassWord: the | my | your | his | her | its | some
Object: NAME | school | it | him | her | me | you | them | SgNoun | PlNoun | Mass | Owned | Object2
Object2: SgPhrase and SgPhrase
SgVerb: SgBe State | SgAct Rest | SgTake Taking | Can
PlVerb: PlBe State | PlAct Rest | PlTake Taking | Can
Can: CanWord BASE Rest | CanWord BASE+ Taking
CanWord: can | cannot
SgBe: is | was
PlBe: are | were
SgAct: THIRD | PAST
PlAct: BASE | PAST
SgTake: THIRD+ | PAST+
PlTake: BASE+ | PAST+
Base: BASE | BASE+
State: not? Degree? ADJ Tail* | not? Being Tail* | not? Where Tail* | ING Tail* | not? there | NUM |
 NUM years old | asleep
Being: a ADJ* SG | an ADJ* SG | Owned | PlNoun | NAME
Degree: very | too
Tail: Where | Adverb | Opening
Where: Prep Ground | next to Ground
Prep: in | on | at | by | under | to | for | with | from | after | near | behind | before
Ground: Object | SgWord ADJ* MASS | noon | night | school | bed | lunch | dinner | DAY
Adverb: now | then | soon | really | very much | too fast | fast | together | there | down | outside | again | home
Rest: Particle? Object? Tail* | Object Object Tail* | to BASE Tail* | Degree? ADJ Tail* | asleep
Particle: up | down | on
Taking: Particle? Object Tail* | Object Object Tail*
There: there SgBe SgNoun Named? Tail* | there PlBe PlNoun Tail* | there SgBe Mass Tail*
Named: named NAME
Said: SgSubject SAYS To? , QUOTE | QUOTE SAYS SgSubject
To: to Object
Question: where SgBe SgSubject now? | where PlBe PlSubject now? | where does SgSubject Base |
 do you know where SgSubject SgBe | who SgVerb | what SgVerb | which one SgVerb | what does SgSubject Base |
 what SgBe SgSubject | what colour SgBe SgSubject | what colour PlBe PlSubject | how many PL does SgSubject Base |
 how many PL PlBe Where | how many people PlBe Where | how old SgBe SgSubject | who did SgSubject Base Object to |
 can i Base Object
Answer: Object | Where | SgPhrase Brief | ADJ | NUM | it SgBe NAME | Story
Brief: is | was | does | did | has | has it
Speech: hello Called? | good morning Called? | thank you Called? | please Base Object Object |
 please Base Object to Object | here you are | of course | Story | Question
Called: , NAME
""")


def faults(sentence: Sentence) -> list[Fault]:
    """What is wrong with the form of one sentence."""
    speech = [(quote, cut(quote.rstrip(".!?,"), "en")) for quote in sentence.quotes]
    found = _word_faults(sentence.words, sentence.text)
    for quote, words in speech:
        found += _word_faults(words, quote)
    if found:
        return found
    found += _grammar_faults(sentence.words, sentence.kind, sentence.text)
    for quote, words in speech:
        found += _grammar_faults(words, "Speech", quote)
    return found


def tense(sentence: Sentence) -> str:
    """ "present" or "past" when the sentence's finite verbs all say so, otherwise ""."""
    tenses = set()
    for word in sentence.words:
        verbs = [sense.form for sense in word.senses if sense.kind == "verb"]
        if word.text in ("is", "are") or verbs == ["third"]:
            tenses.add("present")
        elif word.text in ("was", "were") or verbs == ["past"]:
            tenses.add("past")
    return tenses.pop() if len(tenses) == 1 else ""


def _word_faults(words: list[Word], text: str) -> list[Fault]:
    """Unknown words, a missing capital, "a" before a vowel."""
    found = [Fault("word", word.text) for word in words if not word.senses and word.text not in PUNCTUATION]
    letters = [word for word in words if word.text[0].isalpha()]
    if words and words[0] is not QUOTE and letters and letters[0].text[0].islower():
        found.append(Fault("capital", text))
    for word, after in pairwise(words):
        if word.text.lower() in ("a", "an"):
            vowel = after.text[0] in "aeiou" and not after.text.startswith("uni")
            if vowel != (word.text.lower() == "an"):
                found.append(Fault("article", text))
    return found


def _grammar_faults(words: list[Word], start: str, text: str) -> list[Fault]:
    """ "grammar" for words that form no sentence, "agreement" for those that form one once number is overlooked."""
    row = [_categories(word) for word in words]
    if _GRAMMAR.accepts(row, start):
        return []
    return [Fault("agreement" if _GRAMMAR.accepts([_numberless(c) for c in row], start) else "grammar", text)]


def _categories(word: Word) -> set[str]:
    """What the word can be in the grammar: itself and its classes."""
    found = {word.text if word.text[0].isupper() and word.sense("name") else word.text.lower()}
    for kind, key, form in word.senses:
        if kind in _COUNTED:
            found.add("SG" if form == "one" else "PL")
            if key.endswith("day") and key[0].isupper():
                found.add("DAY")
        elif kind in ("stuff", "drink"):
            found.add("MASS")
        elif kind in ("adjective", "colour"):
            found.add("ADJ")
        elif kind == "verb" and key not in ("be", "do"):
            if key not in _QUOTING:
                found.add(form.upper() + "+" * (key in _NEEDING and form != "ing"))
            if key in _SAYING and form in ("third", "past"):
                found.add("SAYS")
        else:
            found.add({"name": "NAME", "number": "NUM"}.get(kind, ""))
    if word is QUOTE:
        found.add("QUOTE")
    return found | ({"ADJ"} if word.text in ("sunny", "windy", "cloudy", "warm") else set())


def _numberless(categories: set[str]) -> set[str]:
    """The categories with singular and plural made one."""
    found = set(categories)
    for group in (
        {"SG", "PL"},
        {"BASE", "THIRD"},
        {"BASE+", "THIRD+"},
        {"is", "are", "was", "were"},
        {"the", "a", "an"},
    ):
        if found & group:
            found |= group
    return found
