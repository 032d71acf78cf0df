"""How a head tells one token from another: parts sum to terms, and what is said of another text is what it gives."""

import pytest
import torch

import model
from model.analysis.effects import effects
from model.analysis.matching import Matching, Term, matching, parts_of_term, plainest_match
from model.analysis.score_terms import score_terms
from model.analysis.stream_writes import Source, StreamWrites
from model.interventions import Intervention
from model.pieces import finish

TEXTS = {
    "Tom is in the kitchen. Lily is in the garden. Tom is in the": ("Tom", "Tom", "garden", "Lily"),
    "汤姆在厨房里。莉莉在花园里。汤姆在": ("汤姆", "汤姆", "花园", "莉莉"),
    "Tom is in the kitchen. Lily is in the garden. She is in the": ("Lily", "Lily", "kitchen", "Tom"),
}


def found_in(trace: model.Trace) -> tuple[tuple[int, int, int, int], Matching | None]:
    """The place that the page shows, and what is found there."""
    first = effects(trace, heads=12, neurons=0, chances=0).first
    assert first
    query = len(trace.token_ids) - 1
    key = int(trace.layer(first.layer).attention[first.number, query].argmax())
    place = (first.layer, first.number, query, key)
    return place, matching(trace, *place)


def test_whom_is_asked_about_is_matched_with_what_was_told_of_them() -> None:
    lm = model.load(device="cpu")
    for text, (asked, told, rival, there) in TEXTS.items():
        trace = model.run_trace(lm, text)
        (layer, head, query, key), found = found_in(trace)
        assert found, text
        at = [trace.pieces[way.steps[-1].key].strip() for way in (found.asked, found.told)]
        assert (*at, trace.pieces[found.rival].strip()) == (asked, told, rival)
        assert found.rival_told
        assert trace.pieces[found.rival_told.steps[-1].key].strip() == there
        at_rival = found.rival
        for step, same in zip(found.rival_told.steps, found.told.steps, strict=True):  # the same heads, one token on
            row = trace.layer(step.layer).attention[step.head, at_rival]
            assert ((step.layer, step.head), step.key, step.weight) == (same[:2], row.argmax(), row.max())
            at_rival = step.key
        scores = trace.layer(layer).scores[head, query]
        assert found.score == scores[key] > scores[found.rival] == found.rival_score
        assert found.other  # the same head in a run of the other text
        ids = list(trace.token_ids)
        ids[found.other.position] = found.other.id
        other = model.run_trace(lm, ids)
        assert int(other.logits.argmax()) == trace.token_ids[found.rival]
        row = other.layer(layer).scores[head, query]
        assert (found.other.score, found.other.rival_score) == (row[key], row[found.rival])


def test_of_some_heads_the_one_is_told_of_that_matches_a_word_with_itself() -> None:
    lm = model.load(device="cpu")
    trace = model.run_trace(lm, next(iter(TEXTS)))
    query, key = len(trace.token_ids) - 1, 4
    plain = (4, 4)  # it asks for "Tom"; the others match words that tell a reader nothing
    others = [(5, 4), (6, 2), (5, 2)]
    words = []
    for layer, head in [*others, plain]:
        found = matching(trace, layer, head, query, key)
        assert found
        words.append([trace.pieces[way.origin].strip() for way in (found.asked, found.told)])
    assert [asked == told for asked, told in words] == [False, False, False, True]
    told = plainest_match(trace, [*others, plain], query, key)
    assert told
    assert (told.layer, told.head, told.found) == (*plain, matching(trace, *plain, query, key))
    assert plainest_match(trace, others, query, key) is None
    assert plainest_match(trace, [plain], query, key - 1) is None  # which is not the answer


def test_a_rival_is_a_word_that_another_word_makes_the_answer() -> None:
    """Though "the", which is likelier to come next than "bag", stands in the text, too."""
    lm = model.load(device="cpu")
    trace = model.run_trace(lm, "The cat is in the box. The dog is in the bag. The cat is in the")
    told = plainest_match(trace, [(4, 4)], len(trace.token_ids) - 1, 5)
    assert told
    assert told.found.other
    named = [trace.pieces[at].strip() for at in (told.found.asked.origin, told.found.rival, told.found.other.position)]
    assert named == ["cat", "bag", "cat"]
    ids = list(trace.token_ids)
    ids[told.found.other.position] = told.found.other.id
    other = model.run_trace(lm, ids)
    assert lm.tokenizer.pieces([told.found.other.id, int(other.logits.argmax())]) == [" dog", " bag"]


@pytest.mark.parametrize(
    ("prompt", "key", "rival"),
    [
        ("Lily has a red ball. Tom has a blue ball. Lily has a", " red", " blue"),  # and not the likelier "ball"
        ("小明在图书馆里。小红在操场上。小明在", "图书馆", None),  # the other place is in pieces
    ],
)
def test_a_rival_names_something(prompt: str, key: str, rival: str | None) -> None:
    lm = model.load(device="cpu")
    trace = model.run_trace(lm, prompt)
    query, at = len(trace.token_ids) - 1, trace.pieces.index(key)
    heads = [(layer, head) for layer in range(lm.config.n_layers) for head in range(lm.config.n_heads)]
    looking = [(layer, head) for layer, head in heads if trace.layer(layer).attention[head, query].argmax() == at]
    told = plainest_match(trace, looking, query, at)
    assert (told and trace.pieces[told.found.rival]) == rival


def test_the_parts_of_a_term_are_what_its_writer_took_from_one_token() -> None:
    """With all tokens that the writer looked at (the others weigh less than 1e-5), they sum to the term."""
    lm = model.load(device="cpu")
    trace = model.run_trace(lm, "Tom is in the kitchen. Lily is in the garden. Tom is in the")
    (layer, head, query, key), found = found_in(trace)
    assert found
    own = score_terms(trace, layer, head, query, key)
    others = score_terms(trace, layer, head, query, found.rival)
    fetched = [  # by the heads at the query that give the token "Tom" at least half of their weight
        i
        for i, source in enumerate(own.sources)
        if source.kind == "head" and trace.layer(source.layer).attention[source.head, query, found.asked.near] >= 0.5
    ]
    assert fetched
    told = (float(terms.terms[fetched].sum()) for terms in (own, others))
    assert (found.n_terms, found.from_asked, found.rival_from_asked) == (
        len(own.sources) ** 2,
        *map(pytest.approx, told),
    )
    for side, way in (("q", found.asked), ("k", found.told)):
        step, other = way.steps[0], (found.told if side == "q" else found.asked).steps[0]
        pair = [Source("head", one.layer, one.head) for one in (step, other)]
        i, j = (own.sources.index(one) for one in (pair if side == "q" else pair[::-1]))
        both = (own.sources[i], own.sources[j])
        weights = trace.layer(step.layer).attention[step.head, step.at]
        total = 0.0
        for t in (weights[: step.at + 1] > 1e-5).nonzero()[0].tolist():
            weight = weights[t]
            taken = step._replace(key=t, weight=float(weight))
            total += float(
                parts_of_term(StreamWrites(trace), Term(layer, head, (query, key), both), side, taken)[1].sum()
            )
        assert torch.isclose(torch.tensor(total), own.terms[i, j].float(), rtol=1e-3)
        sources, _ = finish(StreamWrites(trace).before(step.layer, [step.key]))
        assert len(sources) == 1 + step.layer * (lm.config.n_heads + 1)


def test_nothing_is_said_where_nothing_is_copied_and_of_a_changed_run_no_other_text_is_run() -> None:
    lm = model.load(device="cpu")
    for text in ("一，二，三，四，", "Tom"):
        assert found_in(model.run_trace(lm, text))[1] is None, text
    trace = model.run_trace(lm, next(iter(TEXTS)), Intervention(ffn=(7,)))
    _, found = found_in(trace)
    assert found is None or found.other is None
