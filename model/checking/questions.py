"""Whether an answer agrees with the story: the question and its answer are put together into one statement."""

from model.checking.clauses import Clause, Ref, clauses
from model.checking.sentences import Sentence
from model.checking.world_state import WorldState

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
    statement = _statement(words, asked, said, about(question))
    faults = state.tell(statement, answer=True) if statement else _beside(words, asked, said)
    if said.verb and not (said.verb == "be" and not said.refs):
        state.last_subject = about(question)
        faults = faults + state.tell(said, answer=True)
    return sorted(set(faults))


def _named(clause: Clause) -> list[Ref]:
    return [*clause.subjects, *(ref for role, ref in clause.refs if not role)]


def _statement(words: set[str], asked: Clause, said: Clause, subject: Ref | None) -> Clause | None:
    """The question with its answer filled in."""
    beings = [ref for ref in [*_named(said), *(ref for _, ref in said.refs)] if ref.kind in _BEINGS]
    if words & {"who", "谁"}:
        if asked.verb == "give" and ("did" in words or asked.subjects):  # to whom
            thing = asked.role("", "thing", "food")
            if not (subject and thing and beings):
                return None
            return Clause([subject], "give", [("", thing), ("to", beings[-1])])
        return Clause(beings[:1], asked.verb, asked.refs) if beings else None
    if subject is None:
        return None
    if words & {"where", "哪里", "哪儿"}:
        place = said.role("at", *_PLACES)
        return Clause([subject], "be", [("at", place)]) if place else None
    if words & {"colour", "颜色"}:
        return Clause([subject], "be", colour=said.colour) if said.colour else None
    if words & {"what", "什么"} and asked.verb == "have":
        things = [ref for ref in _named(said) if ref.kind in ("thing", "food")]
        return Clause([subject], "have", [("", things[0])]) if things else None
    return None


def _beside(words: set[str], asked: Clause, said: Clause) -> list[str]:
    """What is asked for who, where, what somebody has, or which colour, and the answer does not name."""
    if words & {"who", "谁"}:
        named = any(ref.kind in _BEINGS for ref in [*_named(said), *(ref for _, ref in said.refs)])
    elif words & {"where", "哪里", "哪儿"}:
        named = said.role("at", *_PLACES) is not None
    elif words & {"colour", "颜色"}:
        named = bool(said.colour)
    elif words & {"what", "什么"} and asked.verb == "have":
        named = any(ref.kind in ("thing", "food") for ref in _named(said))
    else:
        return []
    return [] if named else ["answer"]


def _miscounted(asked: Clause, said: Clause, state: WorldState) -> list[str]:
    places = [ref for ref in [*asked.subjects, *(ref for _, ref in asked.refs)] if ref.kind == "place"]
    number = _NUMBERS.get(said.number.lower())
    if not places or number is None:
        return []
    right = state.count(places[0].key)
    return [] if right in (None, number) else ["count"]
