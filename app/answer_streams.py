"""The open connections on which gradio sends answers, by the session or the event that they are for."""

from collections import defaultdict
from typing import Any

import anyio
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from .serving import path_of


class Listeners:
    """The open connections on which answers are awaited, by the session or the event that they are for."""

    def __init__(self) -> None:
        self._open: defaultdict[str, set[anyio.CancelScope]] = defaultdict(set)

    def __contains__(self, name: str) -> bool:
        return name in self._open

    def add(self, name: str, connection: anyio.CancelScope) -> None:
        """A connection was opened."""
        self._open[name].add(connection)

    def remove(self, name: str, connection: anyio.CancelScope) -> None:
        """It was closed."""
        self._open[name].discard(connection)
        if not self._open[name]:
            del self._open[name]

    def end(self, name: str) -> None:
        """Close the connections that await this."""
        for connection in tuple(self._open.get(name, ())):
            connection.cancel()


class Listening:
    """ASGI middleware: tells gradio's queue who listens, and refuses to listen to what the queue does not know.

    gradio itself answers that with an error on the server, of a hundred lines in its log.
    """

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        name = awaited(scope)
        if name is None:
            return await self.app(scope, receive, send)
        queue: Any = scope["app"].get_blocks()._queue
        if not queue.knows(name):
            answer = JSONResponse({"detail": "Nothing is under way for this session; ask first."}, 404)
            return await answer(scope, receive, send)
        with anyio.CancelScope() as connection:
            queue.listeners.add(name, connection)
            try:
                await self.app(scope, receive, send)
            finally:
                queue.listeners.remove(name, connection)
                queue.left(name)


def awaited(scope: Scope) -> str | None:
    """The session or event whose answer a request awaits; None where it awaits none."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return None
    path = path_of(scope)
    if path == "/gradio_api/queue/data":
        return Request(scope).query_params.get("session_hash", "")
    return path.rpartition("/")[2] if path.startswith("/gradio_api/call/") else None
