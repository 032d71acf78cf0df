"""Per-visitor limits on gradio's queue; events that nobody awaits are dropped, and messages that nobody reads.

Runs, generations and sums have places of their own, so that a run never waits for a generation to finish. Places go
round by address (app/fairness.py). What is over the limits is answered at once with the message "busy". gradio's own
limit (max_size) counts all events as one, and has no answer that the page could show in its reader's language. Goes by
the insides of gradio 6.31's Queue, which requirements.txt asks for.
"""

import asyncio
import time
from typing import Any, NamedTuple

import gradio as gr
from gradio.context import LocalContext
from gradio.queueing import Event, EventQueue, Queue
from gradio.utils import LRUCache

from .answer_streams import Listeners
from .disconnects import is_wanted
from .fairness import Fairness
from .metrics import Metrics
from .operating import Drain
from .rates import count_refusal
from .unread import CountedQueue, Unread
from .visitors import Visitor, visitor_of, worked_for


class Limit(NamedTuple):
    """How many events of a kind are at work at once, in all and of one address, how many wait, and how many of one page
    do either."""

    at_once: int
    of_address: int
    waiting: int
    each: int


# Visitors of one address may be a class behind one router: together they take up to half of the places to wait. Runs
# and sums of one address are done one after the other: Python runs one thread at a time, so more at once would be no
# faster, and each further thread takes its share from all others. Generations share their steps (app/scheduler.py):
# many at once are faster than one after the other, of one address, too.
LIMITS = {
    # A hall that presses Run at once finds room: 100 are done within 3 seconds (app.loadtest --presses 100).
    "run": Limit(6, 1, 128, 8),
    "generate": Limit(32, 16, 64, 2),
    "sums": Limit(4, 1, 64, 8),
    "busy": Limit(8, 8, 512, 8),  # the answer to what is over the other limits
}
OTHER = Limit(1, 1, 64, 4)
BUSY = "busy: too much is asked for at once; try again in a few seconds"
DRAINING = "draining: the server is going down; try again in a minute"
# So long, in seconds, an event waits for someone who awaits its answer, and an answer for someone who reads it:
# programs come for it a moment later.
PATIENCE = 10.0
# A text is written on while no more bytes than these wait for its reader, who has so many seconds to read some.
AHEAD_BYTES = 1024**2
READING_SECONDS = 30.0


def limited(kind: str) -> dict[str, Any]:
    """For an event: the kind of its places."""
    return {"concurrency_id": kind, "concurrency_limit": LIMITS[kind].at_once}


def event_at_work() -> tuple["BoundedQueue", Event] | None:
    """The event that this thread works for, and the queue that it came from."""
    blocks, event_id = LocalContext.blocks.get(None), LocalContext.event_id.get(None)
    queue = blocks._queue if blocks else None
    event = queue.event_ids_to_events.get(event_id) if isinstance(queue, BoundedQueue) and event_id else None
    return (queue, event) if isinstance(queue, BoundedQueue) and event is not None else None


def asker() -> Visitor:
    """Whose event or request this thread works for; nobody's where it works for none."""
    found = event_at_work()
    return whose(found[1]) if found else worked_for()


def is_abandoned() -> bool:
    """Whether nobody awaits any more what this thread works on, or the server ends what is written."""
    found = event_at_work()
    return not is_wanted() if found is None else not found[1].alive or found[0].drain.over


def reader_follows() -> bool:
    """Waits while much is unread of what this thread's event has said; whether its reader is still there then."""
    found = event_at_work()
    if found is None:
        return True
    queue, event = found
    until = time.monotonic() + READING_SECONDS
    while event.alive and queue.unread.of_session.get(event.session_hash, 0) > AHEAD_BYTES:
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return event.alive


def whose(event: Event) -> Visitor:
    """Whose event this is. Noted on the event: it is asked at every look at what waits."""
    noted = vars(event)
    if "visitor" not in noted:
        noted["visitor"] = Visitor(visitor_of(event.request).address, event.session_hash)
    return noted["visitor"]


class Messages(LRUCache[str, Any]):
    """gradio's queues of messages by session, counted; one that goes lets go of what is in it."""

    def __init__(self, unread: Unread, most: int = 2000):
        super().__init__(most)
        self._unread = unread

    def __setitem__(self, session: str, _plain: Any) -> None:
        """Make a queue for a session. The plain one that gradio gives stays out."""
        super().__setitem__(session, CountedQueue(self._unread, session))

    def __delitem__(self, session: str) -> None:
        messages = self[session]
        super().__delitem__(session)
        messages.empty_out()

    def popitem(self, last: bool = True) -> tuple[str, Any]:
        """The newest or the oldest, which goes."""
        session = next(reversed(self) if last else iter(self))
        messages = self[session]
        del self[session]
        return session, messages


class BoundedQueue(Queue):
    """gradio's queue within LIMITS. `busy` is the event of the page that answers in place of one too many."""

    def __init__(self, blocks: gr.Blocks, busy: int, metrics: Metrics, drain: Drain):
        super().__init__(
            live_updates=True, concurrency_count=blocks.max_threads, update_intervals=1, max_size=None, blocks=blocks
        )
        # gradio looks a thousand times a second whether anyone may begin, as long as anyone waits.
        self.sleep_when_free = 0.004
        self.busy = busy
        self.metrics = metrics
        self.drain = drain
        self.listeners = Listeners()
        self.unread = Unread(self.drop)
        self.pending_messages_per_session = Messages(self.unread)
        self._fairness: dict[str, Fairness] = {}
        metrics.gauge("waiting", "Events that wait in the queue.", lambda: len(self))
        metrics.gauge("unread_bytes", "Bytes of messages that wait to be read.", lambda: self.unread.nbytes)

    async def push(self, body: Any, request: Any, username: str | None) -> Any:
        """Take an event in, or tell the page, or the program that asks, that there are too many."""
        fn = self.blocks.fns.get(body.fn_index)
        if fn is not None and (self.drain.begun or self._is_full(fn.concurrency_id, body.session_hash, request)):
            if not self.drain.begun:  # that is no visitor's doing
                count_refusal(request)
            busy = self.blocks.fns[self.busy]
            self.metrics.refused(fn.concurrency_id, "draining" if self.drain.begun else "busy", visitor_of(request))
            to_the_page = [part._id for part in fn.outputs] == [part._id for part in busy.outputs]
            if not to_the_page or fn is busy or self._is_full(busy.concurrency_id, body.session_hash, None):
                return False, DRAINING if self.drain.begun else BUSY, "queue_full"
            body.fn_index, body.data = self.busy, []
        return await super().push(body, request, username)

    def _is_full(self, kind: str, session: str | None, request: Any) -> bool:
        limit = LIMITS.get(kind, OTHER)
        waiting, working = self._waiting(kind), self._working(kind)
        mine = sum(event.session_hash == session for event in (*waiting, *working))
        address = visitor_of(request).address if request else ""
        near = sum(whose(event).address == address for event in waiting)
        return len(waiting) >= limit.waiting or mine >= limit.each or (bool(address) and near >= limit.waiting // 2)

    def get_events(self) -> Any:
        """The next event that someone awaits, in fair order. What nobody has awaited for PATIENCE is let go."""
        held_back: dict[str, list[Event]] = {}
        for kind, line in self.event_queue_per_concurrency_id.items():
            held_back[kind] = line.queue
            line.queue = self._next(kind, line)
        found = super().get_events()
        taken, oldest = found[0] if found else [], time.monotonic() - PATIENCE
        for event in taken:
            self._fairness_of(event.concurrency_id).begin(whose(event))
        for kind, line in self.event_queue_per_concurrency_id.items():
            line.queue = [event for event in held_back[kind] if event not in taken]
            for event in [event for event in line.queue if event.enqueue_time < oldest and not self._is_heard(event)]:
                line.queue.remove(event)
                self._forget(event)
        return found

    def _next(self, kind: str, line: EventQueue) -> list[Event]:
        """The event whose turn it is, alone; [] where there is none, or no place to work."""
        if line.concurrency_limit is not None and line.current_concurrency >= line.concurrency_limit:
            return []
        fairness, most = self._fairness_of(kind), LIMITS.get(kind, OTHER).of_address
        due = [(fairness.rank(whose(event)), event) for event in line.queue if self._is_heard(event)]
        due = [(rank, event) for rank, event in due if rank.at_work < most]
        return [min(due, key=lambda one: one[0])[1]] if due else []

    def _fairness_of(self, kind: str) -> Fairness:
        return self._fairness.setdefault(kind, Fairness())

    async def process_events(self, events: list[Event], batch: bool, begin_time: float, fn: Any) -> None:
        """Work on what get_events gave (one event: none of the page's functions takes a batch)."""
        try:
            with self.metrics.work(fn.concurrency_id, whose(events[0]), events[0].enqueue_time):
                await super().process_events(events, batch, begin_time, fn)
        finally:
            for event in events:
                self._fairness_of(fn.concurrency_id).end(whose(event))

    def broadcast_estimations(self, concurrency_id: str, after: int | None = None) -> None:
        """Nothing: the page shows no estimates, and one to each who waits, at each change, is much to say."""

    def knows(self, name: str) -> bool:
        """Whether there is anything to hear for this session or event."""
        asked = self.pending_event_ids_session
        return name in self.pending_messages_per_session or any(name in ids for ids in asked.values())

    def left(self, name: str) -> None:
        """A listener has left. Where it was the last one, what waits goes: at once, or, while events are under way, if
        nobody has come back within PATIENCE."""
        asked = self.pending_event_ids_session
        session = next((session for session, ids in asked.items() if name in ids), name)
        if self._is_read(session):
            return
        if asked.get(session):
            asyncio.get_running_loop().call_later(PATIENCE, self._forget_unread, session)
        else:
            self._forget_session(session)

    def drop(self, session: str) -> None:
        """Let go of a page: its connection, its events, and what waits for it."""
        for job in self.active_jobs:
            for event in job or ():
                event.alive = event.alive and event.session_hash != session
        for line in self.event_queue_per_concurrency_id.values():
            gone = [event for event in line.queue if event.session_hash == session]
            line.queue = [event for event in line.queue if event not in gone]
            for event in gone:
                self.event_ids_to_events.pop(event._id, None)
        self._forget_session(session)
        self.listeners.end(session)

    def _is_heard(self, event: Event) -> bool:
        return event.session_hash in self.listeners or event._id in self.listeners

    def _is_read(self, session: str) -> bool:
        ids = self.pending_event_ids_session.get(session, set())
        return session in self.listeners or any(name in self.listeners for name in ids)

    def _forget_unread(self, session: str) -> None:
        if not self._is_read(session):
            self._forget_session(session)

    def _forget(self, event: Event) -> None:
        self.event_ids_to_events.pop(event._id, None)
        asked = self.pending_event_ids_session.get(event.session_hash, set())
        asked.discard(event._id)
        if not asked:
            self._forget_session(event.session_hash)

    def _forget_session(self, session: str) -> None:
        self.pending_event_ids_session.pop(session, None)
        if session in self.pending_messages_per_session:
            del self.pending_messages_per_session[session]

    def compute_analytics_summary(self, records: Any) -> Any:
        """Nothing: gradio sums up all past events after each, for a page of figures that is switched off here."""
        return self.cached_event_analytics_summary

    @property
    def is_at_work(self) -> bool:
        """Whether any event is under way, or what it said is still to be read by someone who listens."""
        unread = any(session in self.listeners for session in tuple(self.unread.of_session))
        return unread or any(job for job in self.active_jobs)

    def _waiting(self, kind: str) -> list[Event]:
        line = self.event_queue_per_concurrency_id.get(kind)
        return line.queue if line else []

    def _working(self, kind: str) -> list[Event]:
        return [event for job in self.active_jobs if job for event in job if event.concurrency_id == kind]
