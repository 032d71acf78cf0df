"""Words of a text that could be another, so that the model goes on with another answer. The model proposes them.

For each word that names something, candidates are single tokens of the same shape (space, case, letters): its nearest
in the embedding, by cosine, and the other such words of the text. They are weighed with what the model itself expects
at that place, NEARNESS x cosine + log p, and PRESENT more for a name (a word with a capital) of the text. The best are
run, and kept where the most probable next token is another; there they are weighed once more, with how likely the model
finds the rest of the text after them: "The invest of France" is no text.

Symbols: T tokens, V vocabulary, d d_model, R rows of a pass.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ..checkpoint import LanguageModel
from ..pieces import Work, in_pieces, rows_of_a_piece
from ..prompt import prompt_ids
from ..taps import capture
from .content_words import Shape, content_words, is_function_word, shape_of
from .last_token import check_causal
from .outside import knows_corpus
from .read_before import is_causal
from .swaps import Swap, swaps

NEARNESS = 20.0  # nats that a cosine of 1 is worth
PRESENT = 5.0  # nats that it is worth that a name stands in the text already: names are exchanged, other words repeat
NEIGHBOURS = 48  # in the embedding, of the same shape, looked at for each place
TRIED = 8  # run for each place
LARGEST = 2048  # tokens of all that is run
LARGEST_LOGITS = 2**24  # numbers of one pass: tokens × V


class OtherWord(NamedTuple):
    """The text with token `token_id`, `text`, at `position`: its most probable next token is `answer`, at `p`.

    `word` is what stands there now. `fits` is by how much the new word's weight is above that of the word itself, in
    nats: cosine, expectation at that place, and what the model expects after it.
    """

    position: int
    token_id: int
    text: str
    answer: int
    p: float
    word: str
    fits: float


@in_pieces
def other_words(lm: LanguageModel, text: str | Sequence[int], count: int = 8) -> Work[list[OtherWord]]:
    """Up to `count` words to change, best first: those that fit best and change the answer surely (fits + ln p).

    Each place is there once before any comes again, and then answers that are not there yet come first. One token is
    changed for one token. There may be none.
    Raises GlassLlamaError for a network whose tokens see those after them, and as `prompt_ids` does.
    """
    check_causal(lm)
    ids = prompt_ids(lm, text)
    tried = _candidates(lm, ids)
    yield
    found: list[OtherWord] = []
    texts = yield from _run(lm, ids, tried)
    for (at, token, fits), one in zip(tried, texts[1:], strict=True):
        if one.answer != texts[0].answer:
            new, old = lm.tokenizer.pieces([token, ids[at]])
            fits += float(one.log_p[at:].sum() - texts[0].log_p[at:].sum())
            found.append(OtherWord(at, token, new, one.answer, one.p, old, fits))
    best = sorted(found, key=lambda one: -(one.fits + torch.tensor(one.p).log().item()))
    return _varied(best)[:count]


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
    ids = prompt_ids(lm, text)
    found = yield from other_words.pieces(lm, ids, 2 * count)
    return [swap for one in found if (swap := _as_swap(lm, ids, one))][:count]


def _as_swap(lm: LanguageModel, ids: list[int], one: OtherWord) -> Swap | None:
    """None where the new text is read as other tokens."""
    new = [*ids[: one.position], one.token_id, *ids[one.position + 1 :]]
    text = lm.tokenizer.decode(new)
    if lm.tokenizer.encode(text) != new:
        return None
    start = len(lm.tokenizer.decode(ids[: one.position])) + len(one.word) - len(one.word.lstrip())
    return Swap(start, one.word.strip(), one.text.strip(), text, one.answer, one.p)


def _varied(best: Sequence[OtherWord]) -> list[OtherWord]:
    """First the best of each place, then those that bring an answer not yet there, then the others."""
    places, answers = set[int](), set[int]()
    firsts, new, others = list[OtherWord](), list[OtherWord](), list[OtherWord]()
    for one in best:
        rank = firsts if one.position not in places else new if one.answer not in answers else others
        rank.append(one)
        places.add(one.position)
        answers.add(one.answer)
    return [*firsts, *new, *others]


class _Tried(NamedTuple):
    position: int
    token: int
    fits: float


def _candidates(lm: LanguageModel, ids: list[int]) -> list[_Tried]:
    """What is worth a run: TRIED tokens for each place, as many places as LARGEST allows, the last ones first."""
    places = content_words(lm.tokenizer.pieces(ids))[-max(1, LARGEST // (TRIED * len(ids))) :]
    if not places:
        return []
    with torch.inference_mode():
        expected = _expected(lm, ids, places)
        vectors = lm.net.embed.weight[torch.tensor([ids[at] for at in places], device=lm.device)].float()
        nearness = _cosines(lm, vectors)
    found: list[_Tried] = []
    for at, log_p, cosine in zip(places, expected, nearness, strict=True):
        own = ids[at]
        tokens = torch.tensor(_alike(lm, ids, own, cosine), dtype=torch.long, device=lm.device)
        if len(tokens):
            fits = NEARNESS * (cosine[tokens] - cosine[own]) + log_p[tokens] - log_p[own]
            if _is_name(lm, own):
                fits += PRESENT * torch.isin(tokens, torch.tensor(ids, device=lm.device))
            best = fits.topk(min(TRIED, len(tokens)))
            found += [_Tried(at, int(tokens[i]), float(value)) for value, i in zip(*best, strict=True)]
    return found


def _is_name(lm: LanguageModel, token: int) -> bool:
    shape = shape_of(lm.tokenizer.pieces([token])[0])
    return shape is not None and shape.letters == "title"


def _expected(lm: LanguageModel, ids: list[int], places: Sequence[int]) -> Float[Tensor, "places V"]:
    """Log-probabilities before each place; those of the first token of a text are alike for all."""
    with capture(lm.net, "final_resid", record=lambda stream: stream[0]) as seen:
        lm.net(torch.tensor([ids], device=lm.device), last_only=True)
    stream = seen["final_resid"]
    before = stream[[max(0, at - 1) for at in places]]
    logs = lm.net.unembed(lm.net.norm(before)).float().log_softmax(-1)
    logs[[i for i, at in enumerate(places) if at == 0]] = 0
    return logs


def _cosines(lm: LanguageModel, vectors: Float[Tensor, "places d"]) -> Float[Tensor, "places V"]:
    """Cosine of these rows of the embedding with every row."""
    embedding = lm.net.embed.weight.float()
    sizes = embedding.norm(dim=-1).clamp(min=1e-9)
    return vectors / vectors.norm(dim=-1, keepdim=True).clamp(min=1e-9) @ embedding.T / sizes


def _alike(lm: LanguageModel, ids: list[int], own: int, cosine: Float[Tensor, "V"]) -> list[int]:
    """Tokens of a token's shape: its nearest, and others of the text that name something."""
    (piece,) = lm.tokenizer.pieces([own])
    shape = shape_of(piece)
    nearest = cosine.topk(min(len(cosine), 8 * NEIGHBOURS)).indices.tolist()
    near = list(_of_shape(lm, nearest, shape, piece))[:NEIGHBOURS]
    return list(dict.fromkeys([*near, *_of_shape(lm, ids, shape, piece)]))


def _of_shape(lm: LanguageModel, tokens: Sequence[int], shape: Shape | None, own: str) -> Iterator[int]:
    for token, piece in zip(tokens, lm.tokenizer.pieces(tokens), strict=True):
        if piece != own and shape_of(piece) == shape and not is_function_word(piece):
            yield token


class _Ran(NamedTuple):
    """A text that was run: its most probable next token, that token's probability, and log p of each token of the text
    but the first (T - 1,)."""

    answer: int
    p: float
    log_p: Float[Tensor, "after"]


def _run(lm: LanguageModel, ids: list[int], tried: Sequence[_Tried]) -> Work[list[_Ran]]:
    """The text as it is, and with each change."""
    texts: Int[Tensor, "R T"] = torch.tensor([ids] * (1 + len(tried)), device=lm.device)
    for row, one in enumerate(tried, 1):
        texts[row, one.position] = one.token
    found: list[_Ran] = []
    rows = max(1, min(rows_of_a_piece(lm, len(ids)), LARGEST_LOGITS // (len(ids) * lm.config.vocab_size)))
    for start in range(0, len(texts), rows):
        some = texts[start : start + rows]
        with torch.inference_mode():
            logs = lm.net(some).float().log_softmax(-1)
            best = logs[:, -1].max(-1)
            read = logs[:, :-1].gather(-1, some[:, 1:, None])[..., 0].cpu()
        found += map(_Ran, best.indices.tolist(), best.values.exp().tolist(), read)
        yield
    return found
