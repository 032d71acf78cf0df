"""Whose turn it is with a model: one piece of work at a time, short before long, what nobody waits for yet after both,
and visitor after visitor."""

import heapq
import itertools
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

# So many pieces of work from the lines before it go ahead of one that waits; then it has its turn.
LET_BEFORE = 8


class Queue:
    """Places to wait in, visitor after visitor; of one visitor's the cheapest first, then in the order they came."""

    def __init__(self) -> None:
        self._places: OrderedDict[str, list[tuple[float, int, threading.Event]]] = OrderedDict()
        self._came = itertools.count()

    def __bool__(self) -> bool:
        return bool(self._places)

    def __len__(self) -> int:
        return sum(map(len, self._places.values()))

    def add(self, visitor: str, place: threading.Event, cost: float) -> None:
        heapq.heappush(self._places.setdefault(visitor, []), (cost, next(self._came), place))

    def take(self) -> threading.Event:
        """The next place; its visitor's further ones come after those of all other visitors."""
        visitor, places = self._places.popitem(last=False)
        _cost, _came, place = heapq.heappop(places)
        if places:
            self._places[visitor] = places
        return place


class PriorityLock:
    """A lock that is handed on in order, where a run does not wait behind the tokens of those who generate.

    Each piece of work takes its turn by itself, a token of a generation too. Visitors take turns, whatever each of them
    has waiting: so who asks for one thing waits for one piece of each other visitor's work at most, and for one that is
    under way. Among `n` visitors with long work each has every `n`th turn. Of one visitor's long work the cheapest goes
    first, so that what is soon there does not come with what takes longest. What is done `ahead`, before a reader waits
    for it, comes last.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._short, self._long, self._ahead = Queue(), Queue(), Queue()
        self._busy = False
        self._holder: int | None = None
        # By line: pieces from the lines before it, since its last turn or since it began to wait.
        self._let_before = [0, 0, 0]

    @property
    def waiting(self) -> int:
        """How many pieces of work wait."""
        with self._lock:  # or one comes while the others are counted
            return sum(map(len, self._lines))

    @property
    def _lines(self) -> tuple[Queue, Queue, Queue]:
        return self._short, self._long, self._ahead

    @contextmanager
    def turn(self, long: bool = False, visitor: str = "", cost: float = 0.0, ahead: bool = False) -> Iterator[None]:
        """A context in which this thread alone works; the thread that has the turn may enter again.

        `long`, `ahead`: in which line it waits. `cost` is that of the whole work, of which this is a piece.
        """
        me = threading.get_ident()
        if self._holder == me:
            yield
            return
        self._wait(self._ahead if ahead else self._long if long else self._short, visitor, cost)
        self._holder = me
        try:
            yield
        finally:
            self._holder = None
            with self._lock:
                self._hand_on()

    def give_way(self, visitor: str = "", cost: float = 0.0) -> None:
        """Between two pieces of one long work, within its turn: whatever is due goes first."""
        place = threading.Event()
        with self._lock:
            self._long.add(visitor, place, cost)
            self._holder = None
            self._hand_on()
        place.wait()
        self._holder = threading.get_ident()

    def _wait(self, line: Queue, visitor: str, cost: float) -> None:
        with self._lock:
            if not self._busy:
                self._busy = True
                return
            place = threading.Event()
            line.add(visitor, place, cost)
        place.wait()

    def _hand_on(self) -> None:
        """Wake the one whose turn it is next, and no other."""
        waiting = [i for i, line in enumerate(self._lines) if line]
        self._busy = bool(waiting)
        if not waiting:
            return
        due = next((i for i in reversed(waiting) if self._let_before[i] >= LET_BEFORE), waiting[0])
        for i, let in enumerate(self._let_before):
            self._let_before[i] = 0 if i == due or i not in waiting else let + (i > due)
        self._lines[due].take().set()
