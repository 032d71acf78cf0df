"""Rate limits by address. They refuse cheaply, before gradio spends milliseconds on a request."""

from collections.abc import Callable
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from model import GlassLlamaError

from .budget import Budgets
from .route_allowlist import MAX_BYTES
from .visitors import address_of

# A class behind one router opens the page and presses Run at once; after that each reader asks now and then.
AT_ONCE, PER_SECOND = 400.0, 40.0
# To try a password is another matter.
LOGINS, LOGINS_PER_SECOND = 10.0, 10 / 60

# So many bytes count for one more. They take less time than a request does by itself, but in one piece, in which nobody
# else is answered; and hardly anyone sends more.
BYTES = 10_000

# What is refused later on was read, taken in and answered for nothing. It counts for so many more: who goes on asking
# for too much is soon answered from here.
REFUSED = 9.0
SCOPE_KEY = "glass_llama.rate"  # where a request carries its limit along


def count_refusal(request: Any) -> None:
    """Count a request for REFUSED more; `request` is starlette's or gradio's."""
    scope = getattr(request, "scope", None) or {}
    if SCOPE_KEY in scope:
        scope[SCOPE_KEY].budgets.charge(address_of(Request(scope)), REFUSED)


def asks(scope: Scope) -> float:
    """For how many a request counts that asks the server to do something; 0 of one for a file."""
    if scope["method"] != "POST":
        return 0
    length = Headers(scope=scope).get("content-length", "")
    return 1 + (min(int(length), MAX_BYTES) if length.isdecimal() else MAX_BYTES) / BYTES


def logs_in(scope: Scope) -> float:
    """1 for a request that tries to log in, 0 for any other."""
    return float(scope["method"] == "POST" and scope["path"].rstrip("/").endswith("/login"))


class RateLimit:
    """ASGI middleware: answers 429 to an address that asks more often than `at_once` and then `per_second`."""

    def __init__(self, app: ASGIApp, counts: Callable[[Scope], float], at_once: float, per_second: float):
        """`counts` says for how many a request counts."""
        self.app = app
        self.counts = counts
        self.budgets = Budgets(at_once, per_second)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        cost = self.counts(scope) if scope["type"] == "http" else 0
        if cost:
            try:
                self.budgets.spend(address_of(Request(scope)), cost)
            except GlassLlamaError as error:
                seconds = error.params["seconds"]
                detail = f"Too many requests from here; try again in {seconds} s."
                refused = JSONResponse({"detail": detail, "error": detail}, 429, {"Retry-After": str(seconds)})
                return await refused(scope, receive, send)
            scope[SCOPE_KEY] = self
        return await self.app(scope, receive, send)
