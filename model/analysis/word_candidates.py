"""Which tokens of a text are worth another in their place, and what may stand there. Runs none of these texts.

Places are words that name something, and the tokens that the answer needs, sinks apart: those without a look at which
it loses most (knock_out.py). So a place may be a word of function ("the opposite of up is"), a sign, or a part of a
longer word ("Dursley"). The last token is always looked at: it is a place where the model did not expect it ("very" in
"Thank you very", not "is" in "The capital of France is").

Candidates are tokens of the same shape (space, case, letters): the nearest in the embedding, by cosine, those that the
model itself expects there, and others of the text. They are weighed NEARNESS x cosine + log p, and PRESENT more for a
name (a word with a capital) of the text. A token counts where the tokenizer reads the new text as these very tokens.

Symbols: T tokens, V vocabulary, d d_model.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from ..checkpoint import LanguageModel
from ..pieces import Work
from .content_words import Shape, content_words, is_function_word, shape_of, sign_shape_of
from .knock_out import knocked_out
from .last_token import TextRead
from .nearness import cosines
from .sinks import sinks

NEARNESS = 20.0  # nats that a cosine of 1 is worth
PRESENT = 5.0  # nats that it is worth that a name stands in the text already: names are exchanged, other words repeat
POOL = 48  # tokens of the same shape for each place, of the nearest and of the most expected
LOOKED_AT = 8 * POOL  # tokens of any shape of which these are taken
TRIED = 8  # for each place
LARGEST = 2048  # tokens of all that is run
NEEDED = 0.7  # nats lost without a look at a token: less than half of the probability is left
MOST_NEEDED = 3
SURPRISING = 3.0  # nats of a last token that is no content word: p < 0.05, so that the writer chose it


class Candidate(NamedTuple):
    """`token` at `position`; `fits` is by how much it is above the token that stands there, in nats."""

    position: int
    token: int
    fits: float


def candidates(read: TextRead, log_p: Float[Tensor, "T V"]) -> Work[list[Candidate]]:
    """TRIED tokens for each place, as many places as LARGEST allows; `log_p` after each token of the text.

    A text with one token changed is run from there on. Tokens that are needed come first, then the last places.
    """
    lm, ids = read.lm, read.ids
    lost = yield from knocked_out(read, read.answer)
    chosen = len(ids) > 2 and float(log_p[-2, ids[-1]]) < -SURPRISING  # after one token all are
    places = _places(lm, ids, [float(nats) for nats in lost], sinks(read), chosen)
    yield
    found: list[Candidate] = []
    for at in places:
        found += _at(lm, ids, at, log_p)
        yield
    return found


def _places(
    lm: LanguageModel, ids: Sequence[int], lost: Sequence[float], parked: Sequence[int], last_chosen: bool
) -> list[int]:
    pieces, last = lm.tokenizer.pieces(ids), len(ids) - 1
    free = [at for at in range(last) if at not in parked and at > 0 and lost[at] >= NEEDED]
    needed = sorted(free, key=lambda at: -lost[at])[:MOST_NEEDED]
    words = [*([last] if last_chosen else []), *reversed(content_words(pieces))]
    found: list[int] = []
    left = LARGEST
    for at in dict.fromkeys([*needed, *words]):
        left -= TRIED * (len(ids) - at)
        if (found and left < 0) or _shape(pieces[at]) is None:
            continue
        found.append(at)
    return found


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
    found = (Candidate(at, tokens[i], float(fits[i])) for i in best)
    return [one for one, _ in zip(_as_read(lm, ids, found), range(TRIED), strict=False)]


def _as_read(lm: LanguageModel, ids: list[int], tried: Iterator[Candidate]) -> Iterator[Candidate]:
    """Those with which the text is read as these tokens; all of them where it is not read as its own."""
    encode, decode = lm.tokenizer.encode, lm.tokenizer.decode
    known = encode(decode(ids)) == ids
    for one in tried:
        new = [*ids[: one.position], one.token, *ids[one.position + 1 :]]
        if not known or encode(decode(new)) == new:
            yield one


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
