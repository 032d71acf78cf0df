"""How the tokens of a run were made: the merges behind each, their bytes, and characters that lie across tokens."""

from collections.abc import Sequence
from typing import NamedTuple

from model import LanguageModel
from model.analysis.bpe import Replay, Split, byte_pairs, model_type, split_characters

from .messages.token import MergesDetail


class MergesInfo(NamedTuple):
    """`made` and `stands_for` go by token id, `split` by position in the run.

    `made` is empty where the tokenizer has no merges (`merges` 0); `kind` is tokenizer.json's name for its model.
    `whole_words`: a word that is in the vocabulary is looked up before any merge.
    `stands_for` is a token's UTF-8 bytes, None for a special token. `pieces` names every id that occurs.
    """

    kind: str
    merges: int
    whole_words: bool
    made: dict[int, Replay]
    stands_for: dict[int, bytes | None]
    pieces: dict[int, str]
    split: list[Split]


def merges_info(lm: LanguageModel, ids: Sequence[int]) -> MergesInfo:
    """What is behind each token of a run.

    A token is replayed by itself: merges never cross its ends (it would not have become this token), so inside a word
    the same merges ran in the same order.
    """
    tokenizer = lm.tokenizer
    pairs = byte_pairs(tokenizer)
    stands_for = {i: tokenizer.bytes_of(i) for i in dict.fromkeys(ids)}
    made: dict[int, Replay] = {}
    for token_id, given in stands_for.items():
        symbols = tokenizer.back_end.id_to_token(token_id)
        if pairs is not None and given is not None and symbols is not None:
            fallback = symbols.startswith("<0x") and symbols.endswith(">") and len(given) == 1
            made[token_id] = Replay([token_id], [], [token_id]) if fallback else pairs.replay(symbols)
    named = set(stands_for).union(*(replay.base for replay in made.values()))
    named.update(part for replay in made.values() for merge in replay.merges for part in merge[2:])
    order = sorted(named)
    return MergesInfo(
        kind=model_type(tokenizer),
        merges=pairs.count if pairs else 0,
        whole_words=bool(pairs and pairs.whole_words),
        made=made,
        stands_for=stands_for,
        pieces=dict(zip(order, tokenizer.pieces(order), strict=True)),
        split=split_characters([stands_for[i] for i in ids]),
    )


def merges_payload(info: MergesInfo) -> MergesDetail:
    """The message of a MergesInfo; a merge is [at, rank, left, right, into]."""
    return {
        "kind": info.kind,
        "merges": info.merges,
        "whole_words": info.whole_words,
        "made": {
            str(i): {"base": replay.base, "merges": [list(merge) for merge in replay.merges], "tokens": replay.tokens}
            for i, replay in info.made.items()
        },
        "bytes": {str(i): None if given is None else list(given) for i, given in info.stands_for.items()},
        "pieces": {str(i): piece for i, piece in info.pieces.items()},
        "split": [{"character": one.character, "first": one.first, "last": one.last} for one in info.split],
    }
