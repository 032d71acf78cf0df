"""What the chapter on tokens is sent: how the tokenizer made them."""

from typing_extensions import TypedDict


class ReplayMessage(TypedDict):
    """How a token was made: its single symbols, the merges in order, and what is left, all by token id.

    A merge is [at, rank, left, right, into]: the symbols at places `at` and `at + 1` became one.
    """

    base: list[int]
    merges: list[list[int]]
    tokens: list[int]


class SplitCharacter(TypedDict):
    """A character whose bytes lie in several tokens: those at positions `first` to `last`."""

    character: str
    first: int
    last: int


class MergesDetail(TypedDict):
    """How a run's tokens were made. `made`, `bytes` and `pieces` go by token id.

    `kind` is tokenizer.json's name for its model and `merges` counts its merges: 0 where it has none, and then `made`
    is empty. `whole_words`: a word of the vocabulary is looked up before any merge. `bytes` is a token's UTF-8, null
    for a special token.
    """

    kind: str
    merges: int
    whole_words: bool
    made: dict[str, ReplayMessage]
    bytes: dict[str, list[int] | None]
    pieces: dict[str, str]
    split: list[SplitCharacter]
