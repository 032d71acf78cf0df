"""Limits on the messages that wait unread: for each page, and for all pages together.

gradio puts every message for a page into a queue without end. A page that asks and asks and never reads would fill the
memory: it loses its connection, and with it what waits there.
"""

import asyncio
from collections.abc import Callable
from typing import Any

EACH_BYTES = 8 * 1024**2
ALL_BYTES = 64 * 1024**2
# What is beside the text of a message: objects, ids, times.
MESSAGE_BYTES = 2_000


def bytes_of(message: Any) -> int:
    """About how many bytes a message of gradio's takes: the texts that it carries, and a little for the rest."""
    output = getattr(message, "output", None)
    data = output.get("data") if isinstance(output, dict) else None
    texts = data if isinstance(data, list) else [data]
    return MESSAGE_BYTES + sum(len(text) if isinstance(text, str) else len(str(text)) for text in texts if text)


class Unread:
    """How much waits in all, and in which queue of which page."""

    def __init__(self, drop: Callable[[str], None], each: int = EACH_BYTES, most: int = ALL_BYTES):
        """`drop` lets go of a page: called with its session where too much waits for it."""
        self.drop = drop
        self.each = each
        self.most = most
        self.nbytes = 0
        self.of_session: dict[str, int] = {}

    def grew(self, session: str, nbytes: int) -> None:
        """So much more waits for a page; less where it is negative."""
        self.nbytes += nbytes
        left = self.of_session.get(session, 0) + nbytes
        if left > 0:
            self.of_session[session] = left
        else:
            self.of_session.pop(session, None)
        if nbytes > 0 and left > self.each:
            self.drop(session)
        while nbytes > 0 and self.nbytes > self.most and self.of_session:
            self.drop(max(self.of_session, key=lambda name: self.of_session[name]))


class CountedQueue(asyncio.Queue[Any]):
    """A page's messages, which count what they take."""

    def __init__(self, unread: Unread, session: str):
        super().__init__()
        self._unread = unread
        self._session = session

    def _put(self, item: Any) -> None:
        nbytes = bytes_of(item)
        super()._put((nbytes, item))
        self._unread.grew(self._session, nbytes)

    def _get(self) -> Any:
        nbytes, item = super()._get()
        self._unread.grew(self._session, -nbytes)
        return item

    def empty_out(self) -> None:
        """Let go of all that waits here."""
        while not self.empty():
            self._get()
