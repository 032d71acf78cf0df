"""Answers of server functions are packed in the time that they are worth, the first page as small as it gets.

Most of an answer are numbers in base64, of which no packing takes more than a quarter: gzip's sixth step needs 33 ms of
the processor for a layer of 480 tokens (1 MB, 0.73 of it left), brotli's first 3 ms (0.73), gzip's first 24 ms (0.75).
zstd's first leaves as many bytes as brotli's, in 1.4 ms where that takes 3.7 (a layer of 512 tokens) and 0.5 where it
takes 1.0 (seven layers of 16): the two milliseconds are too few for one more package, so there is no zstd.
A browser on this very machine has its answers as they are: nothing is sent over a network, and unpacking a layer takes
it longer than the server needs to pack it.
"""

import anyio.to_thread
import brotli
from starlette.datastructures import Headers
from starlette.middleware.gzip import GZipMiddleware, GZipResponder, IdentityResponder
from starlette.types import ASGIApp, Receive, Scope, Send

from .visitors import FROM_HERE

# Smaller answers fit into one packet of a network as they are.
LEAST_BYTES = 1400
# To pack so many bytes takes long enough for a thread of its own: others are answered meanwhile.
IN_A_THREAD = 512 * 1024


class BrotliResponder(IdentityResponder):
    """One answer, packed by brotli's first step."""

    content_encoding = "br"

    def __init__(self, app: ASGIApp, minimum_size: int):
        super().__init__(app, minimum_size)
        self._packer = brotli.Compressor(quality=1)

    async def apply_compression(self, body: bytes, *, more_body: bool) -> bytes:
        """A part of the body, or its end, packed."""
        if len(body) >= IN_A_THREAD:
            return await anyio.to_thread.run_sync(self._pack, body, more_body)
        return self._pack(body, more_body)

    def _pack(self, body: bytes, more_body: bool) -> bytes:
        return self._packer.process(body) + (self._packer.flush() if more_body else self._packer.finish())


class PackedAnswers(GZipMiddleware):
    """ASGI middleware: answers to POST are packed quickly, by brotli where a browser takes it; others by gzip.

    Those that cross no network are not packed at all.
    """

    def __init__(self, app: ASGIApp):
        super().__init__(app, LEAST_BYTES, compresslevel=6)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http" or scope["method"] != "POST":
            return await super().__call__(scope, receive, send)
        if scope.get(FROM_HERE):
            return await self.app(scope, receive, send)
        offered = {one.partition(";")[0].strip() for one in Headers(scope=scope).get("accept-encoding", "").split(",")}
        if "br" in offered:
            return await BrotliResponder(self.app, self.minimum_size)(scope, receive, send)
        if "gzip" in offered:
            return await GZipResponder(self.app, self.minimum_size, compresslevel=1)(scope, receive, send)
        return await self.app(scope, receive, send)
