"""Limits on connections: how many there may be, and how long each may take. It wraps the uvicorn that gradio starts.

uvicorn waits for ever for a request that does not come, for a body that trickles, and for a reader that does not read;
gradio lets nobody say otherwise. `bounded_server` gives launch() a server that ends such connections.
"""

import asyncio
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, cast

import h11
from gradio import http_server
from uvicorn.config import Config
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from .visitors import address_group

if sys.platform != "win32":
    import resource

# Files, sockets between threads and the like that the process opens besides connections.
OTHER_FILES = 128
MOST_CONNECTIONS = 4096
DEFAULT_OPEN_FILES = 512  # what Windows gives a process
# In what an answer to one connection too many says all that a browser needs.
FULL = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
LATE = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Times(NamedTuple):
    """Seconds until a connection is ended: in which a request's head has to come, then its body; and in which the
    other side has to read some of what waits for it."""

    head: float = 10.0
    body: float = 30.0
    reading: float = 20.0


TIMES = Times()


def most_connections() -> int:
    """How many connections may be open: as many files as the machine lets this process have, less OTHER_FILES.

    Raises the process's own limit to what the machine allows.
    """
    files = DEFAULT_OPEN_FILES
    if sys.platform != "win32":
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = MOST_CONNECTIONS + OTHER_FILES
        files = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
        if soft != resource.RLIM_INFINITY and soft < files:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    return max(min(files, MOST_CONNECTIONS + OTHER_FILES) - OTHER_FILES, OTHER_FILES)


class OpenConnections(ServerState):
    """uvicorn's set of open connections, and how many of them each address has."""

    def __init__(self, trusted: Sequence[str], times: Times, most: int):
        super().__init__()
        self.times = times
        self.most = most
        self.trusted = ProxyHeadersMiddleware(_nothing, trusted_hosts=list(trusted)).trusted_hosts
        self.of_address: Counter[str] = Counter()

    def is_full(self, address: str) -> bool:
        """Whether there is no room for one more. An address has half of the room, a trusted proxy all of it."""
        mine = 0 if address in self.trusted else self.of_address[address]
        return len(self.connections) > self.most or mine > self.most // 2


async def _nothing(*_: Any) -> None:
    """No application: the proxies' list alone is wanted."""


class BoundedProtocol(H11Protocol):
    """One connection, which ends when what is awaited of the other side takes too long."""

    server_state: OpenConnections

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._awaited: object = None
        self._clock: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None
        self._address = ""

    def connection_made(self, transport: Any) -> None:
        """Take the connection, where there is room for it."""
        super().connection_made(transport)
        self._address = address_group(self.client[0] if self.client else "")
        self.server_state.of_address[self._address] += 1
        if self.server_state.is_full(self._address):
            transport.write(FULL)
            transport.close()
        else:
            self._await_next()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        for clock in (self._clock, self._reading):
            if clock is not None:
                clock.cancel()
        self.server_state.of_address[self._address] -= 1
        if not self.server_state.of_address[self._address]:
            del self.server_state.of_address[self._address]
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Part of a request."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        self._await_next()

    def on_response_complete(self) -> None:
        """The next request may come."""
        super().on_response_complete()
        self._await_next()

    def _await_next(self) -> None:
        state, times = self.conn.their_state, self.server_state.times
        if state is self._awaited:
            return
        self._awaited = state
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None
        seconds = {h11.IDLE: times.head, h11.SEND_BODY: times.body}.get(state)
        if seconds is not None and not self.transport.is_closing():
            self._clock = self.loop.call_later(seconds, self._is_late)

    def _is_late(self) -> None:
        begun = self.conn.trailing_data[0] or self._awaited is h11.SEND_BODY
        if begun and not (self.cycle and self.cycle.response_started and not self.cycle.response_complete):
            self.transport.write(LATE)
        self.transport.close()

    def pause_writing(self) -> None:
        """More waits for the other side than it takes: from now on it has to read some of it, again and again."""
        super().pause_writing()
        self._expect_reading(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """It has read."""
        super().resume_writing()
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def _expect_reading(self, unread: int) -> None:
        self._reading = self.loop.call_later(self.server_state.times.reading, self._has_read, unread)

    def _has_read(self, unread: int) -> None:
        now = self.transport.get_write_buffer_size()
        if now < unread:
            self._expect_reading(now)
        else:
            self.transport.abort()


class BoundedServer(http_server.Server):
    """gradio's server with bounds. What proxies say is left to app/visitors.py, and there are no web sockets."""

    def __init__(self, config: Config, trusted: Sequence[str] = (), times: Times = TIMES, **gradios: Any):
        config.http, config.ws, config.proxy_headers, config.server_header = BoundedProtocol, "none", False, False
        super().__init__(config, **gradios)
        self.server_state = OpenConnections(trusted, times, most_connections())


@contextmanager
def bounded_server(trusted: Sequence[str] = (), times: Times = TIMES) -> Iterator[None]:
    """A context in which gradio's launch() starts such a server: it takes the class by its name and asks for none."""

    def bounded(config: Config, **gradios: Any) -> BoundedServer:
        return BoundedServer(config, trusted, times, **gradios)

    gradios_own, module = http_server.Server, cast(Any, http_server)
    module.Server = bounded
    try:
        yield
    finally:
        module.Server = gradios_own
