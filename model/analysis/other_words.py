"""Words of a text that could be another, so that the model goes on with another answer. The model proposes them.

What could stand where is in word_candidates.py. Each such text is run from the changed word on; the tokens before are
read once. It is kept where the most probable next token is another, and where the new word is whole in its place:
" barbec" for " boils" is none, since the model would rather go on with it. It counts for more where the model finds the
rest of the text likely after the new word ("The invest of France" is no text), where it is sure of the new answer, and,
if the answer names something, where the new one is near it in the embedding: "Madrid" for "Paris" says more than "a".

Symbols: T tokens, V vocabulary, R rows of a pass.
"""

import math
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ..checkpoint import LanguageModel
from ..pieces import Work, in_pieces, rows_of_a_piece
from .content_words import content_words, is_letter
from .last_token import TextRead, read_text
from .longer_words import GOES_ON, going_on
from .nearness import cosines
from .outside import knows_corpus
from .read_before import ReadBefore, is_causal
from .swaps import Swap, swaps
from .word_candidates import NEARNESS, Candidate, candidates, changed

LARGEST_LOGITS = 2**24  # numbers of one pass: tokens × V
ALIKE, SHORT = 2 / 3, 3  # two forms of a word begin alike in so much of the shorter, which has so many letters or more
FAR = 12.0  # nats by which a proposal may weigh less than the best one


class OtherWord(NamedTuple):
    """The text with another word, `text`, at `position`: its most probable next token is `answer`, at `p`.

    `token_ids` are the word's tokens, which take the place of as many; `token_id` is the first. `word` is what stands
    there now. `fits` is by how much the new word's weight is above that of the word itself, in nats: cosine,
    expectation at that place, and what the model expects after it; of a word of several tokens the expectation as
    another of its kind (longer_words.py) in the place of the first two.
    """

    position: int
    token_id: int
    text: str
    answer: int
    p: float
    word: str
    fits: float
    token_ids: tuple[int, ...]


@in_pieces
def other_words(lm: LanguageModel, text: str | Sequence[int], count: int = 8) -> Work[list[OtherWord]]:
    """Up to `count` words to change, best first: by fits + ln p, and NEARNESS × the cosine of two answers that
    name something.

    Each place is there once before any comes again, and then answers that are not there yet come first. Another form of
    a word ("key" for "keys") comes last where there are others in its place. A whole word is changed for a whole word
    of as many tokens, or a sign for a sign. There may be none.
    Raises GlassLlamaError for a network whose tokens see those after them, and as `prompt_ids` does.
    """
    read = read_text(lm, text)
    log_p = _log_p(read)
    yield
    tried = yield from candidates(read, log_p)
    names = bool(content_words(lm.tokenizer.pieces([read.answer])))
    alike = NEARNESS * names * cosines(lm, [read.answer])[0]
    found: list[tuple[float, OtherWord]] = []
    ran = yield from _run(read, tried)
    for one, new in zip(tried, ran, strict=True):
        end = one.position + len(one.tokens)
        other, own = ("".join(lm.tokenizer.pieces(some)) for some in (one.tokens, read.ids[one.position : end]))
        is_part = is_letter(other[-1]) and new.going_on >= GOES_ON  # letters may follow on a sign
        if new.answer == read.answer or is_part:
            continue
        fits = one.fits + new.rest - _rest(log_p[end - 1 :], read.ids[end:])
        word = OtherWord(one.position, one.tokens[0], other, new.answer, new.p, own, fits, one.tokens)
        found.append((fits + math.log(new.p) + float(alike[new.answer]), word))
    found.sort(key=lambda one: -one[0])
    return _varied([word for weight, word in found if weight >= found[0][0] - FAR])[:count]


@in_pieces
def word_swaps(lm: LanguageModel, text: str, count: int, written: Sequence[int] | None = None) -> Work[list[Swap]]:
    """Words of a text to change, as other texts of as many tokens that are read as such.

    Of the bundled model they are words of the same kind in its world, where it has any, and where tokens see those
    after them, or a source text is read, too (swaps.py). Raises GlassLlamaError as `prompt_ids` does.
    """
    causal = is_causal(lm.net)
    alike = [] if causal and not knows_corpus(lm) else (yield from swaps.pieces(lm, text, count, written))
    if alike or not causal:
        return alike
    ids = lm.tokenizer.encode(text)
    found = yield from other_words.pieces(lm, ids, 2 * count)
    return [swap for one in found if (swap := as_swap(lm, ids, one))][:count]


def as_swap(lm: LanguageModel, ids: list[int], one: OtherWord) -> Swap | None:
    """The words now and then; None where the new text is read as other tokens."""
    new = changed(ids, one.position, one.token_ids)
    text, before = lm.tokenizer.decode(new), lm.tokenizer.decode(ids)
    if lm.tokenizer.encode(text) != new:
        return None
    start = len(lm.tokenizer.decode(ids[: one.position])) + len(one.word) - len(one.word.lstrip())
    ends = [start + len(word.strip()) for word in (one.word, one.text)]
    return Swap(start, before[start : ends[0]], text[start : ends[1]], text, one.answer, one.p)


def _is_form(one: OtherWord) -> bool:
    """Whether a word is another form of the one that stands there, or has it within: "larger" for "largest"."""
    short, long = sorted((one.word.strip().lower(), one.text.strip().lower()), key=len)
    alike = next((i for i, letter in enumerate(short) if letter != long[i]), len(short))
    return len(short) >= SHORT and (alike >= ALIKE * len(short) or short in long)


def _varied(best: Sequence[OtherWord]) -> list[OtherWord]:
    """First the best of each place, then those that bring an answer not yet there, then the others; at the end other
    forms of words that have others in their place."""
    places, answers = set[int](), set[int]()
    firsts, new, others = list[OtherWord](), list[OtherWord](), list[OtherWord]()
    plain = {one.position for one in best if not _is_form(one)}
    forms = list[OtherWord]()
    for one in best:
        if one.position in plain and _is_form(one):
            forms.append(one)
            continue
        rank = firsts if one.position not in places else new if one.answer not in answers else others
        rank.append(one)
        places.add(one.position)
        answers.add(one.answer)
    return [*firsts, *new, *others, *forms]


class _Ran(NamedTuple):
    """A text that was run: its most probable next token, that token's probability, log p of what follows on the changed
    word, and how probable it is that the word goes on there."""

    answer: int
    p: float
    rest: float
    going_on: float


def _log_p(read: TextRead) -> Float[Tensor, "T V"]:
    """Log-probabilities after each token of a text."""
    net = read.lm.net
    with torch.inference_mode():
        return net.unembed(net.apply_final_norm(read.streams[-1])).float().log_softmax(-1)


def _rest(log_p: Float[Tensor, "S V"], following: Sequence[int]) -> float:
    """Log p of the tokens that follow."""
    return sum(float(log_p[i, token]) for i, token in enumerate(following))


def _run(read: TextRead, tried: Sequence[Candidate]) -> Work[list[_Ran]]:
    """The text with each change, in their order; those of one place follow each other."""
    net, count, found = read.lm.net, len(read.ids), list[_Ran]()
    for at, here in groupby(tried, key=lambda one: one.position):
        words = [one.tokens for one in here]
        left = count - at
        rows = max(1, min(rows_of_a_piece(read.lm, left), LARGEST_LOGITS // (left * net.config.vocab_size)))
        for start in range(0, len(words), rows):
            found += _run_from(read, at, words[start : start + rows])
            yield
    return found


def _run_from(read: TextRead, at: int, words: Sequence[tuple[int, ...]]) -> list[_Ran]:
    """The text with each of these words, of as many tokens, at one place, run from there on."""
    net, device, count = read.lm.net, read.lm.device, len(words[0])
    ids: Int[Tensor, "R S"] = torch.tensor([[*word, *read.ids[at + count :]] for word in words], device=device)
    with torch.inference_mode():
        logs = net(ids, ReadBefore(read.cache, at), at).float().log_softmax(-1)
        best = logs[:, -1].max(-1)
        rest = logs[:, count - 1 : -1].gather(-1, ids[:, count:, None])[..., 0].sum(-1)
    on = going_on(read.lm, logs[:, count - 1])
    return list(map(_Ran, best.indices.tolist(), best.values.exp().tolist(), rest.tolist(), on))
