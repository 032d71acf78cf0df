"""Whether the client that sent a request still waits for the answer. A thread that works for it can ask at any time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from threading import Event

from starlette.types import Receive

# Set once the connection on which a request came is closed; of the task or thread that works for that request.
_left: ContextVar[Event | None] = ContextVar("left", default=None)


def is_wanted() -> bool:
    """Whether the request that this task or thread works for still has someone who waits; True where none is known."""
    left = _left.get()
    return left is None or not left.is_set()


@asynccontextmanager
async def watched(receive: Receive) -> AsyncIterator[None]:
    """A context in which `is_wanted` looks at the connection of a request whose body was read: `request.receive`.

    What anyio.to_thread runs within it sees the same.
    """
    left = Event()
    before = _left.set(left)
    watching = asyncio.create_task(_watch(receive, left))
    try:
        yield
    finally:
        watching.cancel()
        _left.reset(before)


async def _watch(receive: Receive, left: Event) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    left.set()
