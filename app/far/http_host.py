"""A host's answers over HTTP: a question is the body of a request, its answer the parts of a response.

Each call is answered on a thread, so an engine's turns, budgets and shared steps are as in one process. Where nobody
listens any more the request is cancelled; then the work ends after the piece under way.
"""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from .host import STREAMS, Host
from .messages import Asked, packed, packed_error, unpacked
from .sealed import REFUSED, SealError, frame, opened_question

# After the first token of a text, all that is written in so long goes together: what Serve does for a message
# takes longer than to make a token.
TOGETHER_SECONDS = 0.05


class HttpHost:
    """Answers for a host those who have the key."""

    def __init__(self, host: Host, key: bytes, at_once: int):
        """`at_once` calls have a thread each; those that are more wait."""
        self._host, self._key = host, key
        self._threads = ThreadPoolExecutor(at_once, "call")

    async def answer(self, request: Request) -> Response:
        """The response to a question."""
        try:
            nonce, data = opened_question(self._key, await request.body())
        except SealError:
            return Response(status_code=REFUSED)
        asked = unpacked(data)
        if asked.method in STREAMS:
            return StreamingResponse(self._yielded(asked, nonce))
        return Response(frame(self._key, nonce, 0, await self._answer(asked)))

    async def _answer(self, asked: Asked) -> bytes:
        left = threading.Event()
        try:
            return await asyncio.get_running_loop().run_in_executor(
                self._threads, _answered, self._host, asked, lambda: not left.is_set()
            )
        except asyncio.CancelledError:
            left.set()
            raise

    async def _yielded(self, asked: Asked, nonce: bytes) -> AsyncIterator[bytes]:
        values: Generator[Any] = self._host.answer(asked)
        sent, step, seconds = 0, None, 0.0
        try:
            while True:
                step = self._threads.submit(_steps, values, seconds)
                said, has_more = await asyncio.wrap_future(step)
                yield b"".join(frame(self._key, nonce, sent + number, one) for number, one in enumerate(said))
                if not has_more:
                    return
                sent, seconds = sent + len(said), TOGETHER_SECONDS
        finally:  # also where nobody listens any more
            self._threads.submit(_close, step, values)


def _answered(host: Host, asked: Asked, is_wanted: Callable[[], bool]) -> bytes:
    try:
        return packed(("value", host.answer(asked, is_wanted)))
    except Exception as error:  # the boundary to the page, which raises it
        return packed_error(error)


def _steps(values: Iterator[Any], seconds: float) -> tuple[list[bytes], bool]:
    """The parts of an answer that are made in so many seconds, one at least, and whether there are more to come."""
    until, said = time.monotonic() + seconds, list[bytes]()
    while True:
        try:
            said.append(packed(("value", next(values))))
        except StopIteration:
            return [*said, packed(("end", None))], False
        except Exception as error:  # as in `_answered`
            return [*said, packed_error(error)], False
        if time.monotonic() >= until:
            return said, True


def _close(step: Future[Any] | None, values: Generator[Any]) -> None:
    if step is not None:
        wait([step])
    values.close()
