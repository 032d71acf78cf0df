"""How often an address may ask for something: refused cheaply, before gradio takes milliseconds for each request."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from model import GlassLlamaError

from .budget import Budgets
from .visitors import address_of

# A class behind one router opens the page and presses Run at once; after that each reader asks now and then.
AT_ONCE, PER_SECOND = 400.0, 40.0
# To try a password is another matter.
LOGINS, LOGINS_PER_SECOND = 10.0, 10 / 60


def asks(scope: Scope) -> bool:
    """Whether a request asks the server to do something, and not for a file."""
    return scope["method"] == "POST"


def logs_in(scope: Scope) -> bool:
    """Whether a request tries to log in."""
    return scope["method"] == "POST" and scope["path"].rstrip("/").endswith("/login")


class RateLimit:
    """ASGI middleware: answers 429 to an address that asks more often than `at_once` and then `per_second`."""

    def __init__(self, app: ASGIApp, counts: Callable[[Scope], bool], at_once: float, per_second: float):
        """`counts` says which requests are counted."""
        self.app = app
        self.counts = counts
        self.budgets = Budgets(at_once, per_second)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] == "http" and self.counts(scope):
            try:
                self.budgets.spend(address_of(Request(scope)), 1)
            except GlassLlamaError as error:
                seconds = error.params["seconds"]
                detail = f"Too many requests from here; try again in {seconds} s."
                refused = JSONResponse({"detail": detail, "error": detail}, 429, {"Retry-After": str(seconds)})
                return await refused(scope, receive, send)
        return await self.app(scope, receive, send)
