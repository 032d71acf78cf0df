"""Who waits for what: gradio's queue with an end to it, for each visitor and in all, and none for what nobody awaits.

Runs, generations and sums have places of their own, so that a run never waits for a generation to finish. What is over
the limits is answered at once with the message "busy". gradio's own limit (max_size) counts all events as one, and has
no answer that the page could show in its reader's language. Goes by the insides of gradio 6.31's Queue, which
requirements.txt pins.
"""

import time
from collections import Counter
from collections.abc import Callable
from functools import cached_property
from inspect import signature
from ipaddress import ip_address
from typing import Any, NamedTuple

import anyio
import anyio.to_thread
import gradio as gr
from gradio.context import LocalContext
from gradio.queueing import Event, Queue
from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from visuals.payload import Message, message_payload

from .intake import visitor_of
from .serving import path_of


class Limit(NamedTuple):
    """How many events of a kind are at work at once, how many wait, and how many of each visitor do either."""

    at_once: int
    waiting: int
    each: int


# Visitors of one address may be a class behind one router: together they take up to half of the places to wait.
LIMITS = {
    "run": Limit(8, 64, 8),
    "generate": Limit(4, 64, 2),
    "sums": Limit(10, 64, 8),
    "busy": Limit(8, 512, 8),  # the answer to what is over the other limits
}
OTHER = Limit(1, 64, 4)
PAST_THE_QUEUE = Limit(16, 256, 128)
BUSY = "busy: too much is asked for at once; try again in a few seconds"
# So long, in seconds, an event waits for someone who awaits its answer: programs come for it a moment later.
PATIENCE = 10.0
# How many connections there are on which answers are awaited, by session or by event.
LISTENING: Counter[str] = Counter()


def limited(kind: str) -> dict[str, Any]:
    """For an event: the kind of its places."""
    return {"concurrency_id": kind, "concurrency_limit": LIMITS[kind].at_once}


def address_of(request: HTTPConnection | gr.Request | None) -> str:
    """Where a visitor is. Behind a proxy, which alone has a public address of his: what that says of him."""
    host = request.client.host if request is not None and request.client else ""
    if request is None or _is_public(host):
        return host
    passed = str(request.headers.get("x-forwarded-for", "")).split(",")
    return next((address.strip() for address in reversed(passed) if _is_public(address.strip())), host)


def _is_public(address: str) -> bool:
    try:
        return ip_address(address).is_global
    except ValueError:
        return False


class Listening:
    """Counts, while they are open, the connections on which gradio sends answers."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        name = awaited(scope)
        if not name:
            return await self.app(scope, receive, send)
        LISTENING[name] += 1
        try:
            await self.app(scope, receive, send)
        finally:
            LISTENING[name] -= 1
            if not LISTENING[name]:
                del LISTENING[name]


def awaited(scope: Scope) -> str:
    """The session or event whose answer a request awaits, or ""."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return ""
    path = path_of(scope)
    if path == "/gradio_api/queue/data":
        return Request(scope).query_params.get("session_hash", "")
    return path.rpartition("/")[2] if path.startswith("/gradio_api/call/") else ""


def is_heard(event: Event) -> bool:
    """Whether someone awaits the answer."""
    return event.session_hash in LISTENING or event._id in LISTENING


def is_abandoned() -> bool:
    """Whether nobody awaits any more what this thread works on for an event."""
    blocks, event_id = LocalContext.blocks.get(None), LocalContext.event_id.get(None)
    event = blocks._queue.event_ids_to_events.get(event_id) if blocks and event_id else None
    return event is not None and not event.alive


class BoundedQueue(Queue):
    """gradio's queue within LIMITS. `busy` is the event of the page that answers in place of one too many."""

    def __init__(self, blocks: gr.Blocks, busy: int):
        super().__init__(
            live_updates=True, concurrency_count=blocks.max_threads, update_intervals=1, max_size=None, blocks=blocks
        )
        self.busy = busy

    async def push(self, body: Any, request: Any, username: str | None) -> Any:
        """Take an event in, or tell the page, or the program that asks, that there are too many."""
        fn = self.blocks.fns.get(body.fn_index)
        if fn is not None and self._is_full(fn.concurrency_id, body.session_hash, address_of(request)):
            busy = self.blocks.fns[self.busy]
            to_the_page = [part._id for part in fn.outputs] == [part._id for part in busy.outputs]
            if not to_the_page or fn is busy or self._is_full(busy.concurrency_id, body.session_hash, ""):
                return False, BUSY, "queue_full"
            body.fn_index, body.data = self.busy, []
        return await super().push(body, request, username)

    def _is_full(self, kind: str, session: str | None, address: str) -> bool:
        limit = LIMITS.get(kind, OTHER)
        line = self.event_queue_per_concurrency_id.get(kind)
        waiting = line.queue if line else []
        working = [event for job in self.active_jobs if job for event in job if event.concurrency_id == kind]
        mine = sum(event.session_hash == session for event in (*waiting, *working))
        near = sum(address_of(event.request) == address for event in waiting)
        return len(waiting) >= limit.waiting or mine >= limit.each or (bool(address) and near >= limit.waiting // 2)

    def get_events(self) -> Any:
        """The next event that someone awaits. What nobody has awaited for PATIENCE is let go."""
        held_back: dict[str, list[Event]] = {}
        for kind, line in self.event_queue_per_concurrency_id.items():
            held_back[kind] = line.queue
            line.queue = [event for event in line.queue if is_heard(event)]
        found = super().get_events()
        taken, oldest = found[0] if found else [], time.monotonic() - PATIENCE
        for kind, line in self.event_queue_per_concurrency_id.items():
            line.queue = [event for event in held_back[kind] if event not in taken]
            for event in [event for event in line.queue if event.enqueue_time < oldest and not is_heard(event)]:
                line.queue.remove(event)
                self._forget(event)
        return found

    def _forget(self, event: Event) -> None:
        self.event_ids_to_events.pop(event._id, None)
        asked = self.pending_event_ids_session.get(event.session_hash, set())
        asked.discard(event._id)
        if not asked:
            self.pending_event_ids_session.pop(event.session_hash, None)
            self.pending_messages_per_session.pop(event.session_hash, None)

    def compute_analytics_summary(self, records: Any) -> Any:
        """Nothing: gradio sums up all past events after each, for a page of figures that is switched off here."""
        return self.cached_event_analytics_summary


class Line:
    """What the page asks past the queue: in threads of their own, so many at once, and so many of each visitor."""

    def __init__(self, limit: Limit = PAST_THE_QUEUE):
        self.limit = limit
        self._asked: Counter[str] = Counter()

    @cached_property
    def _threads(self) -> anyio.CapacityLimiter:
        return anyio.CapacityLimiter(self.limit.at_once)

    def guarded(self, answer: Callable[..., Message]) -> Callable[..., Any]:
        """`answer` as a function for gradio, of the same name, that waits in line or says that it is busy.

        Where `answer` takes a `visitor`, it is told whose request it is.
        """
        told = "visitor" in signature(answer).parameters

        async def in_line(data: Any, request: gr.Request) -> Message:
            visitor = address_of(request)
            if self._asked.total() >= self.limit.waiting or self._asked[visitor] >= self.limit.each:
                return message_payload("busy")
            self._asked[visitor] += 1
            try:
                whose = (visitor_of(request),) if told else ()
                return await anyio.to_thread.run_sync(answer, data, *whose, limiter=self._threads)
            finally:
                self._asked[visitor] -= 1
                if not self._asked[visitor]:
                    del self._asked[visitor]

        in_line.__name__ = answer.__name__
        return in_line
