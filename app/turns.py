"""Whose turn it is with a model: one piece of work at a time, what is short before what is long, none left out."""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

# So many short pieces of work go before a long one that waits; then it has its turn.
AHEAD = 8


class Turns:
    """A lock that is handed on in order, where a run does not wait behind the tokens of those who generate.

    Each piece of work takes its turn by itself, a token of a generation too: so whoever is next waits for one piece of
    long work at most, besides the short ones that came before.
    """

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._waiting: dict[bool, deque[object]] = {False: deque(), True: deque()}
        self._holder: int | None = None
        self._ahead = 0

    @contextmanager
    def turn(self, long: bool = False) -> Iterator[None]:
        """A context in which this thread alone works; the thread that has the turn may enter again."""
        me = threading.get_ident()
        if self._holder == me:
            yield
            return
        place = object()
        with self._change:
            self._waiting[long].append(place)
            self._change.wait_for(lambda: self._holder is None and self._next() is place)
            self._waiting[long].popleft()
            self._ahead = 0 if long or not self._waiting[True] else self._ahead + 1
            self._holder = me
        try:
            yield
        finally:
            with self._change:
                self._holder = None
                self._change.notify_all()

    def _next(self) -> object:
        short, long = self._waiting[False], self._waiting[True]
        return long[0] if long and (not short or self._ahead >= AHEAD) else short[0]
