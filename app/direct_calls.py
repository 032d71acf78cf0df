"""Per-visitor limits on what the page asks past gradio's queue: answered in threads of their own, in fair order."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from functools import cached_property, partial
from inspect import signature
from typing import Any, NamedTuple

import anyio
import anyio.to_thread
import gradio as gr

from visuals.payload import message_payload

from .disconnects import is_wanted, watched
from .fairness import Fairness, Rank
from .metrics import Metrics
from .rates import count_refusal
from .visitors import Visitor, visitor_of, works_for
from .waiting import Limit

# `each` is of an address here: a page asks for some at once, and a class behind one router for many.
LINES = {
    "short": Limit(at_once=16, of_address=2, waiting=256, each=128),
    # Waits for its turns with a model, which go to the cheapest of a visitor's first: so it takes no place from what is
    # soon answered, and what a chapter asks for has places together.
    "long": Limit(at_once=32, of_address=8, waiting=256, each=128),
    # Never wait for a turn, and take the processor from all others.
    "sums": Limit(at_once=2, of_address=1, waiting=256, each=128),
    # Wait for another machine, which may not answer (app/lookups.py).
    "hub": Limit(at_once=16, of_address=16, waiting=256, each=128),
    # Answered at once, while what waits for weights to be read has the places of an address in the other lines.
    "progress": Limit(at_once=4, of_address=4, waiting=256, each=128),
}

Answer = Mapping[str, object]  # one of visuals/messages


def kind_of(name: str, data: Any, questions: Collection[str]) -> str:
    """What a call is counted as: its name, and the question where it asks one of these."""
    what = data.get("what") if isinstance(data, dict) else None
    return f"{name}.{what}" if isinstance(what, str) and what in questions else name


class Place(NamedTuple):
    """Someone who waits to work."""

    visitor: Visitor
    free: asyncio.Future[None]


class FairPlaces:
    """So many places to work, and so many of one address, which go to the visitor whose turn it is.

    For use from one event loop.
    """

    def __init__(self, places: int, of_address: int):
        self._free = places
        self._of_address = of_address
        self._waiting: list[Place] = []
        self._fairness = Fairness()

    @asynccontextmanager
    async def place(self, visitor: Visitor) -> AsyncIterator[None]:
        """A context in which the visitor has a place; waits for it."""
        if self._free and self._fairness.at_work[visitor.address] < self._of_address:
            self._free -= 1
            self._fairness.begin(visitor)
        else:
            await self._wait(visitor)
        try:
            yield
        finally:
            self._fairness.end(visitor)
            self._free += 1
            self._hand_on()

    async def _wait(self, visitor: Visitor) -> None:
        waiting = Place(visitor, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        try:
            await waiting.free
        except asyncio.CancelledError:
            if waiting in self._waiting:
                self._waiting.remove(waiting)
            elif not waiting.free.cancelled():  # the place came in the same moment
                self._fairness.end(visitor)
                self._free += 1
                self._hand_on()
            raise

    def _hand_on(self) -> None:
        def due(place: Place) -> Rank:
            return self._fairness.rank(place.visitor)

        while self._free and self._waiting:
            following = min(self._waiting, key=due)
            if due(following).at_work >= self._of_address:
                return
            self._waiting.remove(following)
            if following.free.cancelled():
                continue
            self._free -= 1
            self._fairness.begin(following.visitor)
            following.free.set_result(None)


class BusyError(Exception):
    """Too much is asked for at once, of all or of one address."""


class AbandonedError(Exception):
    """Nobody waits for the answer any more."""


class DirectCallLimiter:
    """What the page asks past the queue: so many at once, and so many of each address."""

    def __init__(self, limit: Limit, metrics: Metrics | None = None):
        self.limit = limit
        self.metrics = metrics or Metrics()
        self._asked: Counter[str] = Counter()

    @cached_property
    def _places(self) -> FairPlaces:
        return FairPlaces(self.limit.at_once, self.limit.of_address)

    @cached_property
    def _threads(self) -> anyio.CapacityLimiter:
        return anyio.CapacityLimiter(self.limit.at_once)

    def guarded(self, answer: Callable[..., Answer], questions: Collection[str] = ()) -> Callable[..., Any]:
        """`answer` as a function for gradio, of the same name, that waits in line or says that it is busy.

        Where `answer` takes a `visitor`, it is told whose request it is. `questions` are those of the field `what` that
        are told apart in the figures.
        """
        told = "visitor" in signature(answer).parameters

        async def in_line(data: Any, request: gr.Request) -> Answer:
            visitor = visitor_of(request)
            work = partial(answer, data, *((visitor,) if told else ()))
            try:
                return await self.work(
                    answer.__name__, visitor, request, work, kind_of(answer.__name__, data, questions)
                )
            except BusyError:
                return message_payload("busy")
            except AbandonedError:
                return message_payload("abandoned")

        in_line.__name__ = answer.__name__
        return in_line

    async def work(
        self, name: str, visitor: Visitor, request: Any, work: Callable[[], Answer], kind: str | None = None
    ) -> Answer:
        """What `work` gives, done in a thread once it is this visitor's turn; `kind` is what it is counted as.

        Raises BusyError where too many wait, and AbandonedError where nobody waits for the answer any more.
        """
        if self._asked.total() >= self.limit.waiting or self._asked[visitor.address] >= self.limit.each:
            self.metrics.refused(name, "busy", visitor)
            count_refusal(request)
            raise BusyError("too much is asked for at once; try again in a few seconds")
        self._asked[visitor.address] += 1
        since = time.monotonic()
        try:
            async with watched(request.receive), self._places.place(visitor):
                if not is_wanted():
                    raise AbandonedError
                with self.metrics.work(kind or name, visitor, since), works_for(visitor):
                    return await anyio.to_thread.run_sync(work, limiter=self._threads)
        finally:
            self._asked[visitor.address] -= 1
            if not self._asked[visitor.address]:
                del self._asked[visitor.address]
