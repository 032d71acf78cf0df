"""Whether an answer agrees with the story: the question and its answer are put together into one statement."""

from model.corpus.checker.clauses import Clause, Ref, clauses
from model.corpus.checker.sentences import Sentence
from model.corpus.checker.world_state import WorldState

_BEINGS = ("name", "animal")
_PLACES = ("place", "furniture")
_NUMBERS = {"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "一": 1, "两": 2, "三": 3, "四": 4}


def about(question: Sentence) -> Ref | None:
    """Who or what a question asks about, to which a pronoun in its answer refers."""
    refs = [ref for ref in _named(clauses(question)[0]) if ref.kind not in _PLACES]
    return refs[0] if refs else None


def answered(question: Sentence, answer: Sentence, state: WorldState) -> list[str]:
    """The kinds of faults of an answer, given the story so far."""
    asked, said = clauses(question)[0], clauses(answer)[0]
    words = {word.text.lower() for word in question.words}
    state.last_subject = about(question)
    if "people" in words or "人" in words:
        return _miscounted(asked, said, state)
    named = _named_as_asked(words, asked, said)
    statement = _statement(words, asked, named, about(question)) if named else None
    faults = ["answer"] if named == [] else state.tell(statement, answer=True) if statement else []
    if said.verb and not (said.verb == "be" and not said.refs):
        state.last_subject = about(question)
        faults = faults + state.tell(said, answer=True)
    return sorted(set(faults))


def _named(clause: Clause) -> list[Ref]:
    return [*clause.subjects, *(ref for role, ref in clause.refs if not role)]


def _named_as_asked(words: set[str], asked: Clause, said: Clause) -> list[Ref] | None:
    """What the answer names of the kind that is asked for: who, where, a colour, what somebody has.

    None for other questions.
    """
    if words & {"who", "谁"}:
        return [ref for ref in [*_named(said), *(ref for _, ref in said.refs)] if ref.kind in _BEINGS]
    if words & {"where", "哪里", "哪儿"}:
        place = said.role("at", *_PLACES)
        return [place] if place else []
    if words & {"colour", "颜色"}:
        return [Ref("colour", said.colour)] if said.colour else []
    if words & {"what", "什么"} and asked.verb == "have":
        return [ref for ref in _named(said) if ref.kind in ("thing", "food")]
    return None


def _statement(words: set[str], asked: Clause, named: list[Ref], subject: Ref | None) -> Clause | None:
    """The question with what its answer names filled in."""
    if words & {"who", "谁"}:
        if asked.verb == "give" and ("did" in words or asked.subjects):  # to whom
            thing = asked.role("", "thing", "food")
            return Clause([subject], "give", [("", thing), ("to", named[-1])]) if subject and thing else None
        return Clause(named[:1], asked.verb, asked.refs)
    if subject is None:
        return None
    if named[0].kind in _PLACES:
        return Clause([subject], "be", [("at", named[0])])
    if named[0].kind == "colour":
        return Clause([subject], "be", colour=named[0].key)
    return Clause([subject], "have", [("", named[0])])


def _miscounted(asked: Clause, said: Clause, state: WorldState) -> list[str]:
    places = [ref for ref in [*asked.subjects, *(ref for _, ref in asked.refs)] if ref.kind == "place"]
    number = _NUMBERS.get(said.number.lower())
    if not places or number is None:
        return []
    right = state.count(places[0].key)
    return [] if right in (None, number) else ["count"]
