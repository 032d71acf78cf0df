"""Pairs of the same kind as a pair of prompts: the words in which the two differ are exchanged for others.

Of "… John gave" and "… Mary gave" both names are exchanged wherever they stand, in both prompts. Others are tokens of
the same shape (space, case, letters) that stand in neither prompt, weighed as in other_words.py: nearness in the
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
from .nodes import Pair, run_pair
from .other_words import NEARNESS

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
    near = {word: [token for token in _alike(pair, word) if token not in present] for word in words}
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


def _alike(pair: Pair, token: int) -> Sequence[int]:
    """Tokens of a token's shape, those that fit best first; none of a token that is no whole word."""
    pieces = pair.lm.tokenizer.pieces
    (own,) = pieces([token])
    shape = shape_of(own)
    if shape is None:
        return ()
    with torch.inference_mode():
        embedding = pair.lm.net.embed.weight.float()
        cosines = embedding @ embedding[token] / embedding.norm(dim=-1).clamp(min=1e-9)
        cosines /= embedding[token].norm().clamp(min=1e-9)
        best = (NEARNESS * cosines + _expected(pair, token)).topk(min(len(cosines), BEST)).indices.tolist()
    return [
        near
        for near, piece in zip(best, pieces(best), strict=True)
        if near != token and shape_of(piece) == shape and not is_function_word(piece)
    ]


def _expected(pair: Pair, token: int) -> Float[Tensor, "V"]:
    """Log-probabilities where the token first stands and the prompts differ; alike for all where nothing is before, and
    where an encoder reads the prompts."""
    net = pair.lm.net
    for ids in (pair.ids, pair.other_ids):
        at = ((ids == token) & (pair.ids != pair.other_ids))[0].nonzero()
        if pair.before is not None and len(at) and int(at[0]):
            return net(ids[:, : int(at[0])], last_only=True)[0, -1].float().log_softmax(-1)
    return torch.zeros(net.config.vocab_size, device=pair.lm.device)
