"""Long work in pieces: after each piece, others may use the same network.

Such work is a generator function: it yields between two pieces and returns its result. Within one piece it puts its
hooks on the network and takes them off again, and enters and leaves inference mode: work in between sees none of it.
Knows nothing about who works in between.
"""

from collections.abc import Callable, Generator
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
Work = Generator[None, None, T]

# Multiply–adds of one piece: about a tenth of a second on two cores of a CPU; a GPU does as much more in that time.
PIECE = 2.5e9
GPU_TIMES = 64


class InPieces(Generic[P, T]):
    """A function whose work comes in pieces. A call does them all; `pieces(…)` is the work, for who does one at a time:
    `result = yield from function.pieces(…)` within other such work."""

    def __init__(self, pieces: Callable[P, Work[T]]):
        self.pieces = pieces
        update_wrapper(self, pieces)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        return finish(self.pieces(*args, **kwargs))


def in_pieces(function: Callable[P, Work[T]]) -> InPieces[P, T]:
    """The decorator for such a generator function."""
    return InPieces(function)


def finish(work: Work[T]) -> T:
    """All pieces, one after the other, and the result."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


def rows_of_a_piece(lm: Any, tokens: int) -> int:
    """How many rows of so many tokens a model (LanguageModel) runs in one piece of work; at least one."""
    return max(1, int(_piece(lm) / (lm.n_parameters * max(1, tokens))))


def readings_of_a_piece(lm: Any) -> int:
    """How many vectors of the stream a model's head reads in one piece of work; at least one."""
    return max(1, int(_piece(lm) / (lm.config.vocab_size * lm.config.d_model)))


def _piece(lm: Any) -> float:
    """Multiply–adds of one piece where this model is."""
    return PIECE * (1 if lm.device.type == "cpu" else GPU_TIMES)
