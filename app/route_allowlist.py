"""Which routes the server answers: the page, its files, its events, its named endpoints. Each request has an end.

gradio brings many routes that this page has no use for; some of them keep what a stranger sends on the server's disk,
or fetch an address for him. What is not named here is not there.
"""

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .serving import path_of

API = "/gradio_api/"
# A path, or with a slash at its end all below it. The page itself needs these, and so does gradio's launch().
PAGE = ("/", "/config", "/config/", "/glass/", "/assets/", "/static/", "/favicon.ico", "/theme.css", "/robots.txt")
# Answers to programs (gradio_client, curl, MCP where launch() is told to serve it), and to the page's events.
ASKED = (
    "info",
    "info/",
    "openapi.json",
    "app_id",
    "app_id/",
    "startup-events",
    "theme.css",
    "heartbeat/",
    "queue/data",
)
SENT = ("queue/join", "run/predict", "cancel", "reset", "component_server", "component_server/")
OPEN = {
    "GET": (*PAGE, *(API + path for path in (*ASKED, "call/", "mcp/"))),
    "HEAD": PAGE,
    "POST": tuple(API + path for path in (*SENT, "call/", "mcp/")),
    "DELETE": (f"{API}mcp/",),
}
# Where visitors have accounts, they log in and out.
WITH_ACCOUNTS = {"GET": ("/logout", f"{API}login_check", f"{API}user"), "POST": ("/login", "/login/")}
# The longest request that makes sense is a pasted config.json of 100,000 characters, of up to six bytes each in JSON.
MAX_BYTES = 1_000_000


def is_open(method: str, path: str, with_accounts: bool = False) -> bool:
    """Whether the server has anything at a path."""
    doors = (*OPEN.get(method, ()), *(WITH_ACCOUNTS.get(method, ()) if with_accounts else ()))
    return any(path == door or (door != "/" and door[-1] == "/" and path.startswith(door)) for door in doors)


class RouteAllowlist:
    """Lets through what OPEN names, with a body of up to MAX_BYTES; answers 404 or 413 for anything else."""

    def __init__(self, app: ASGIApp, with_accounts: bool = False):
        self.app = app
        self.with_accounts = with_accounts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        if not is_open(scope["method"], path_of(scope), self.with_accounts):
            return await PlainTextResponse("Not found", 404)(scope, receive, send)
        if scope["method"] != "POST":
            return await self.app(scope, receive, send)
        body = await read_whole(receive)
        if body is None:
            return await PlainTextResponse(f"A request has up to {MAX_BYTES} bytes", 413)(scope, receive, send)
        return await self.app(scope, once_again(body, receive), send)


async def read_whole(receive: Receive) -> bytes | None:
    """A request's body; None as soon as it is over MAX_BYTES, or where the sender leaves before its end."""
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        part = message.get("body", b"")
        size, more = size + len(part), message.get("more_body", False)
        if size > MAX_BYTES:
            return None
        parts.append(part)
    return b"".join(parts)


def once_again(body: bytes, receive: Receive) -> Receive:
    """What hands out a body that was read, then whatever follows it."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again
