"""Which tokens of a text are worth another in their place, and what may stand there. Runs none of these texts.

Places are words that name something, and those of the tokens that the answer needs, sinks apart: without a look at
which it loses most (knock_out.py). So a place may be a word of function ("the opposite of up is") or a sign. A word of
several tokens is a place as a whole ("Eiffel"), never a part of it; nor is a last word that the model would go on with
("Durs"). The last token is always looked at: it is a place where the model did not expect it ("very" in "Thank you
very", not "is" in "The capital of France is").

Candidates are tokens of the same shape (space, case, letters): the nearest in the embedding, by cosine, those that the
model itself expects there, and others of the text. They are weighed NEARNESS x cosine + log p, and PRESENT more for a
name (a word with a capital) of the text. What stands for a word of several tokens is in longer_words.py, and the other
names of the text that have as many. All count where the tokenizer reads the new text as these very tokens.

Symbols: T tokens, V vocabulary, d d_model.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from ..checkpoint import LanguageModel
from ..pieces import Work
from .content_words import Shape, is_function_word, shape_of, sign_shape_of, whole_words
from .knock_out import knocked_out
from .last_token import TextRead
from .longer_words import GOES_ON, going_on, longer_words
from .nearness import cosines
from .sinks import sinks

NEARNESS = 20.0  # nats that a cosine of 1 is worth
PRESENT = 5.0  # nats that it is worth that a name stands in the text already: names are exchanged, other words repeat
POOL = 48  # tokens of the same shape for each place, of the nearest and of the most expected
LOOKED_AT = 8 * POOL  # tokens of any shape of which these are taken
TRIED = 8  # for each place
TRIED_LONGER = 24  # of several tokens: only a run tells how well such a word fits
LARGEST = 2048  # tokens of all that is run
NEEDED = 0.7  # nats lost without a look at a token: less than half of the probability is left
MOST_NEEDED = 3
MOST_LONGER = 2  # words of several tokens that are looked at
SURPRISING = 3.0  # nats of a last token that is no content word: p < 0.05, so that the writer chose it


class Candidate(NamedTuple):
    """`tokens` from `position` on, in the place of as many; `fits` is by how much they are above those that stand
    there, in nats."""

    position: int
    tokens: tuple[int, ...]
    fits: float


def candidates(read: TextRead, log_p: Float[Tensor, "T V"]) -> Work[list[Candidate]]:
    """TRIED or TRIED_LONGER words for each place, as many places as LARGEST allows; `log_p` after each token.

    A text with one word changed is run from there on. Words that are needed come first, then the last places.
    """
    lm, ids = read.lm, read.ids
    lost = yield from knocked_out(read, read.answer)
    chosen = len(ids) > 2 and float(log_p[-2, ids[-1]]) < -SURPRISING  # after one token all are
    (left,) = going_on(lm, log_p[-1:])
    places = _places(lm, ids, [float(nats) for nats in lost], sinks(read), chosen, left < GOES_ON)
    yield
    found: list[Candidate] = []
    for at in places:
        if len(at) > 1:
            found += yield from _longer_at(read, at)
        else:
            found += _at(lm, ids, at.start, log_p)
        yield
    return found


def _places(
    lm: LanguageModel, ids: Sequence[int], lost: Sequence[float], parked: Sequence[int], last_chosen: bool, ends: bool
) -> list[range]:
    """The tokens of each place; `ends`: the last word does not go on."""
    pieces, last = lm.tokenizer.pieces(ids), len(ids) - 1
    words = [at for at in whole_words(pieces) if ends or at.stop <= last]
    places = {token: at for at in words for token in at}
    places |= {at: range(at, at + 1) for at, piece in enumerate(pieces) if sign_shape_of(piece)}
    free = [at for at in range(last) if at not in parked and at > 0 and lost[at] >= NEEDED]
    needed = sorted(free, key=lambda at: -lost[at])[:MOST_NEEDED]
    naming = [at.start for at in words if not is_function_word(_text(pieces, at))]
    wanted = [*needed, *([last] if last_chosen else []), *reversed(naming)]
    found: list[range] = []
    left, longer = LARGEST, MOST_LONGER
    for at in dict.fromkeys(places[token] for token in wanted if token in places):
        left -= (TRIED if len(at) == 1 else TRIED_LONGER) * (len(ids) - at.start)
        longer -= len(at) > 1
        if (found and left < 0) or (len(at) > 1 and longer < 0):
            continue
        found.append(at)
    return found


def _text(pieces: Sequence[str], at: range) -> str:
    return "".join(pieces[at.start : at.stop])


def _longer_at(read: TextRead, at: range) -> Work[list[Candidate]]:
    lm, ids, own = read.lm, read.ids, tuple(read.ids[at.start : at.stop])
    pieces = lm.tokenizer.pieces(ids)
    shape = shape_of(_text(pieces, at))
    found: dict[tuple[int, ...], float] = {}
    for other in whole_words(pieces):
        if shape and shape.letters == "title" and len(other) == len(at) and shape_of(_text(pieces, other)) == shape:
            found[tuple(ids[other.start : other.stop])] = 0.0  # as good as the word itself: names are exchanged
    for tokens, log_p in (yield from longer_words(read, at)):
        found.setdefault(tokens, log_p)
    found.pop(own, None)
    best = (Candidate(at.start, tokens, found[tokens]) for tokens in sorted(found, key=lambda one: -found[one]))
    return [one for one, _ in zip(_as_read(lm, ids, best), range(TRIED_LONGER), strict=False)]


def _at(lm: LanguageModel, ids: list[int], at: int, log_p: Float[Tensor, "T V"]) -> list[Candidate]:
    own = ids[at]
    with torch.inference_mode():
        (cosine,) = cosines(lm, [own])
        # What stands first is expected as much as any other.
        expected = log_p[at - 1] if at else torch.zeros_like(cosine)
    most = min(len(cosine), LOOKED_AT)
    near = _alike(lm, cosine.topk(most).indices.tolist(), own)[:POOL]
    # After a single token SmolLM2 expects hardly any word more than another.
    likely = _alike(lm, expected.topk(most).indices.tolist(), own)[:POOL] if at > 1 else []
    tokens = list(dict.fromkeys([*near, *likely, *_alike(lm, ids, own)]))
    some = torch.tensor(tokens, dtype=torch.long, device=lm.device)
    fits = NEARNESS * (cosine[some] - cosine[own]) + expected[some] - expected[own]
    if _is_name(lm, own):
        fits += PRESENT * torch.isin(some, torch.tensor(ids, device=lm.device))
    best = fits.argsort(descending=True).tolist()
    found = (Candidate(at, (tokens[i],), float(fits[i])) for i in best)
    return [one for one, _ in zip(_as_read(lm, ids, found), range(TRIED), strict=False)]


def _as_read(lm: LanguageModel, ids: list[int], tried: Iterator[Candidate]) -> Iterator[Candidate]:
    """Those with which the text is read as these tokens; all of them where it is not read as its own."""
    encode, decode = lm.tokenizer.encode, lm.tokenizer.decode
    known = encode(decode(ids)) == ids
    for one in tried:
        new = changed(ids, one.position, one.tokens)
        if not known or encode(decode(new)) == new:
            yield one


def changed(ids: Sequence[int], position: int, tokens: Sequence[int]) -> list[int]:
    """A text with these tokens from a position on, in the place of as many."""
    return [*ids[:position], *tokens, *ids[position + len(tokens) :]]


def _alike(lm: LanguageModel, tokens: Sequence[int], own: int) -> list[int]:
    """Of these, the tokens of another one's shape; words of function for such a word alone."""
    (piece,) = lm.tokenizer.pieces([own])
    shape, names = _shape(piece), not is_function_word(piece)
    return [
        token
        for token, other in zip(tokens, lm.tokenizer.pieces(tokens), strict=True)
        if other != piece and _shape(other) == shape and not (names and is_function_word(other))
    ]


def _shape(piece: str) -> Shape | None:
    return shape_of(piece) or sign_shape_of(piece)


def _is_name(lm: LanguageModel, token: int) -> bool:
    shape = shape_of(lm.tokenizer.pieces([token])[0])
    return shape is not None and shape.letters == "title"
