"""Pairs of the same kind as a pair of prompts: the words in which the two differ are exchanged for others.

Of "… John gave" and "… Mary gave" both names are exchanged wherever they stand, in both prompts. Others are tokens of
the same shape (space, case, letters) that stand in neither prompt, weighed as in word_candidates.py: nearness in the
embedding, and what the model expects there. A pair counts where
its two answers differ, and where an answer that is one of the words is exchanged like it. So a circuit that was found
on one pair is tried on others: its nodes at the same tokens.

Symbols: T tokens, V vocabulary.
"""

from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ..errors import GlassLlamaError
from ..pieces import Work, in_pieces
from .content_words import is_function_word, shape_of
from .nearness import cosines
from .nodes import Pair, run_pair
from .word_candidates import NEARNESS

MOST_WORDS = 4  # that may be exchanged
PAIRS, TRIES = 3, 8
BEST = 512  # tokens that are looked at for each word


@in_pieces
def held_out(pair: Pair, count: int = PAIRS) -> Work[list[Pair]]:
    """Up to `count` such pairs, of TRIES that are run. There may be none: where a place holds no whole word, or where
    more than MOST_WORDS differ."""
    found: list[Pair] = []
    for tried, exchange in enumerate(exchanges(pair)):
        if tried == TRIES or len(found) == count:
            break
        after = None if pair.written is None else pair.written[0, 1:].tolist() or None
        try:
            made = yield from run_pair.pieces(
                pair.lm, _exchanged(pair.ids, exchange), _exchanged(pair.other_ids, exchange), after
            )
        except GlassLlamaError as error:
            if error.code != "circuit_answer":
                raise
            continue  # the two have one answer
        if all(
            exchange.get(before, now) == now
            for before, now in zip((pair.answer, pair.other), (made.answer, made.other), strict=True)
        ):
            found.append(made)
    return found


def _exchanged(ids: Int[Tensor, "1 T"], exchange: dict[int, int]) -> list[int]:
    own: list[int] = ids[0].tolist()
    return [exchange.get(i, i) for i in own]


def exchanges(pair: Pair) -> Iterator[dict[int, int]]:
    """What each word in which the prompts differ is exchanged for, one dict a pair; none of them comes twice."""
    present = {*pair.ids[0].tolist(), *pair.other_ids[0].tolist(), pair.answer, pair.other}
    differ = pair.ids != pair.other_ids
    words = sorted({*pair.ids[differ].tolist(), *pair.other_ids[differ].tolist()})
    if len(words) > MOST_WORDS:
        return
    near = {word: [token for token in some if token not in present] for word, some in _alike(pair, words).items()}
    used: set[int] = set()
    while True:
        exchange: dict[int, int] = {}
        for word in words:
            token = next((token for token in near[word] if token not in used), None)
            if token is None:
                return
            exchange[word] = token
            used.add(token)
        yield exchange


def _alike(pair: Pair, words: Sequence[int]) -> dict[int, list[int]]:
    """For each word tokens of its shape, those that fit best first; none of a token that is no whole word."""
    pieces, found = pair.lm.tokenizer.pieces, dict[int, list[int]]()
    with torch.inference_mode():
        weights = NEARNESS * cosines(pair.lm, words) + _expected(pair, words)
        best: list[list[int]] = weights.topk(min(weights.shape[1], BEST)).indices.tolist()
    for word, tokens in zip(words, best, strict=True):
        (own,) = pieces([word])
        shape = shape_of(own)
        found[word] = [
            near
            for near, piece in zip(tokens if shape else (), pieces(tokens) if shape else (), strict=True)
            if near != word and shape_of(piece) == shape and not is_function_word(piece)
        ]
    return found


def _expected(pair: Pair, words: Sequence[int]) -> Float[Tensor, "words V"]:
    """Log-probabilities where each token first stands and the prompts differ; alike for all where nothing is before,
    and where an encoder reads the prompts. What stands before is run once, whatever it is before."""
    net = pair.lm.net
    ran: dict[tuple[int, ...], Float[Tensor, "V"]] = {(): torch.zeros(net.config.vocab_size, device=pair.lm.device)}
    found: list[Float[Tensor, "V"]] = []
    for word in words:
        before = () if pair.before is None else _before(pair, word)
        if before not in ran:
            ids = torch.tensor([before], device=pair.lm.device)
            ran[before] = net(ids, last_only=True)[0, -1].float().log_softmax(-1)
        found.append(ran[before])
    return torch.stack(found)


def _before(pair: Pair, word: int) -> tuple[int, ...]:
    """The tokens before the first place at which a word stands and the prompts differ."""
    for ids in (pair.ids, pair.other_ids):
        at = ((ids == word) & (pair.ids != pair.other_ids))[0].nonzero()
        if len(at) and int(at[0]):
            return tuple(ids[0, : int(at[0])].tolist())
    return ()
