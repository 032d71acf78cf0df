"""Models on a cluster of Ray Serve's: what a page asks goes by HTTP to Serve's proxy, and from there to a replica.

The page needs no Ray for it. What is lost with a replica is asked once more, of another one (app/far/placement.py).
Whoever lets go of an answer closes its connection: then Serve cancels the call.
"""

import asyncio
import hmac
import secrets
import socket
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import wait
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx

from model import GlassLlamaError

from .messages import Asked, ModelLostError, packed, unpacked, value_of
from .sealed import NONCE_BYTES, REFUSED, Frames, SealError, sealed_question

T = TypeVar("T")
SCHEME = "ray"
DEFAULT_PORT = 8000  # Serve's own
PLACE = "serve_multiplexed_model_id"  # the header of which Serve tells its routers
POLL_SECONDS = 0.2  # so often is looked whether an answer is still wanted
PAUSES = (0.0, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0)  # before each try; another replica is there at once, a new one soon
CONNECT_SECONDS = 5.0
# Who is gone without a word (a machine, a cable) is noticed after a minute; long work says nothing for as long.
KEEP_ALIVE = [
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *((socket.IPPROTO_TCP, getattr(socket, name), value) for name, value in
      (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)) if hasattr(socket, name)),
]  # fmt: skip


class UnansweredError(Exception):
    """A try that came to nothing: a replica that died, or a proxy that has none."""


def url_of(address: str) -> str:
    """Where Serve's proxy is, of "ray://HOST:PORT/NAME". Raises ValueError for what is no such address."""
    parts = urlsplit(address)
    try:
        port = parts.port or DEFAULT_PORT
    except ValueError:
        port = 0
    if parts.scheme != SCHEME or not parts.hostname or not port or parts.query or parts.fragment or parts.username:
        raise ValueError(
            f"{address[:80]!r} is no cluster; expected ray://HOST:PORT/NAME, such as ray://models:8000/llama"
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"http://{host}:{port}/{parts.path.strip('/')}"


class RayServe:
    """A Transport to the application of this address. Safe to use from several threads."""

    def __init__(self, address: str, key: bytes):
        """Raises ValueError where no models answer there, or where the key is another than theirs."""
        self._url, self._key = url_of(address), key
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="ray-serve", daemon=True).start()
        self._http = httpx.AsyncClient(
            transport=httpx.AsyncHTTPTransport(limits=httpx.Limits(max_connections=None), socket_options=KEEP_ALIVE),
            timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
        )
        try:
            self._once(Asked("names", "", ()), lambda: True)
        except (UnansweredError, httpx.TransportError) as error:
            raise ValueError(f"no models answer at {address}: {error}") from error

    def call(self, asked: Asked, is_wanted: Callable[[], bool]) -> Any:
        lost: Exception | None = None
        for pause in PAUSES:
            time.sleep(pause)
            try:
                answer = self._once(asked, is_wanted)
            except (UnansweredError, httpx.TransportError) as error:
                lost = error
            else:
                return value_of(answer)
        raise ModelLostError from lost

    def stream(self, asked: Asked) -> Iterator[Any]:
        lost: Exception | None = None
        for pause in PAUSES:
            time.sleep(pause)
            frames, begun = self._frames(asked), False
            try:
                while True:
                    kind, value = unpacked(self._wait_for(_next(frames)))
                    if kind == "value":
                        begun = True
                        yield value
                        continue
                    self._wait_for(_end(frames))  # so that the connection can be used again
                    if kind == "error":
                        raise value
                    return
            except (UnansweredError, httpx.TransportError) as error:
                lost = error
                if begun:
                    break
            finally:
                self._wait_for(frames.aclose())
        raise ModelLostError from lost

    def _once(self, asked: Asked, is_wanted: Callable[[], bool]) -> bytes:
        return self._wait_for(self._only(asked), is_wanted)

    async def _only(self, asked: Asked) -> bytes:
        answers = [answer async for answer in self._frames(asked)]
        if not answers:
            raise UnansweredError("an answer without an end")
        return answers[0]

    async def _frames(self, asked: Asked) -> AsyncGenerator[bytes]:
        """The parts of an answer as they come."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        question, frames = sealed_question(self._key, nonce, packed(asked)), Frames(self._key, nonce)
        async with self._http.stream("POST", self._url, content=question, headers={PLACE: self._place(asked)}) as said:
            if said.status_code == REFUSED:
                raise SealError
            if said.status_code != httpx.codes.OK:
                raise UnansweredError(f"Serve answered {said.status_code}")
            async for came in said.aiter_raw():
                for answer in frames.feed(came):
                    yield answer

    def _place(self, asked: Asked) -> str:
        """The run that it is about, or a visitor by a name from which nobody learns the address."""
        return asked.about or hmac.digest(self._key, asked.visitor.encode(), "sha256").hex()[:32]

    def _wait_for(self, work: Coroutine[Any, Any, T], is_wanted: Callable[[], bool] = lambda: True) -> T:
        """What comes of work on the loop. Raises GlassLlamaError("abandoned") where it is not wanted any more."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        while not wait([future], POLL_SECONDS).done:
            if not is_wanted():
                future.cancel()
                raise GlassLlamaError("abandoned", "Nobody waits for this any more.")
        return future.result()


async def _end(frames: AsyncIterator[bytes]) -> None:
    async for _ in frames:
        raise UnansweredError("an answer that goes on after its end")


async def _next(frames: AsyncIterator[bytes]) -> bytes:
    try:
        return await anext(frames)
    except StopAsyncIteration:
        raise UnansweredError("an answer without an end") from None
