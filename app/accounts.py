"""Where visitors have accounts: how often an address may try to log in. Who is let in is gradio's own work (`auth`)."""

import time
from collections import OrderedDict, deque

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from .serving import path_of
from .visitors import address_of

TRIES, WITHIN_SECONDS = 10, 60.0
# Addresses that are remembered; the one that tried longest ago is forgotten.
REMEMBERED = 10_000


class LoginLimit:
    """ASGI middleware: of one address TRIES to log in are let through in WITHIN_SECONDS, and then none for a while."""

    def __init__(self, app: ASGIApp):
        self.app = app
        self._tried: OrderedDict[str, deque[float]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] == "http" and path_of(scope).rstrip("/") == "/login" and not self._may_try(scope):
            refused = JSONResponse({"detail": "Too many tries to log in; wait a minute."}, 429)
            return await refused(scope, receive, send)
        return await self.app(scope, receive, send)

    def _may_try(self, scope: Scope) -> bool:
        address, now = address_of(Request(scope)), time.monotonic()
        tried = self._tried.setdefault(address, deque(maxlen=TRIES))
        self._tried.move_to_end(address)
        while len(self._tried) > REMEMBERED:
            self._tried.popitem(last=False)
        if len(tried) == TRIES and now - tried[0] < WITHIN_SECONDS:
            return False
        tried.append(now)
        return True
