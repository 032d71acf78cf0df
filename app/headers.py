"""Security headers: a browser runs no script but the page's own and sends nothing elsewhere. Named sites may frame it.

Of scripts in the page itself only those run that carry the number which the answer was given; 'unsafe-eval' is there
because gradio makes functions of its components' js_on_load, and inline styles because gradio and plotly set them.
"""

import secrets
from collections.abc import Sequence

from starlette.datastructures import URL, Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .serving import path_of

# Paths that only the page itself asks, and not a page of another site in a visitor's name.
OF_THE_PAGE = ("/gradio_api/component_server",)


def content_policy(nonce: str, frames: Sequence[str]) -> str:
    """The Content-Security-Policy of an answer; `frames` are the sites that may show the page inside their own."""
    return "; ".join(
        (
            "default-src 'self'",
            f"script-src 'self' 'nonce-{nonce}' 'unsafe-eval'",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
            " ".join(("frame-ancestors 'self'", *frames)),
        )
    )


class SafeHeaders:
    """ASGI middleware: sets the headers, hands the answer's number on as `nonce` in the state, refuses other sites."""

    def __init__(self, app: ASGIApp, frames: Sequence[str] = ()):
        self.app = app
        self.frames = tuple(frames)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        nonce = scope.setdefault("state", {})["nonce"] = secrets.token_urlsafe(16)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get("content-type", "").startswith("text/html"):  # to a file it says nothing
                    headers["Content-Security-Policy"] = content_policy(nonce, self.frames)
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = "no-referrer"
            await send(message)

        if path_of(scope).startswith(OF_THE_PAGE) and is_from_elsewhere(scope):
            refused = JSONResponse({"detail": "Only the page itself may ask this."}, 403)
            return await refused(scope, receive, with_headers)
        return await self.app(scope, receive, with_headers)


def is_from_elsewhere(scope: Scope) -> bool:
    """Whether a browser says that a page of another site asks. A program says nothing of the kind."""
    headers = Headers(scope=scope)
    if site := headers.get("sec-fetch-site"):  # which knows better than names that a proxy may have changed
        return site in ("cross-site", "same-site")
    origin = headers.get("origin")
    if origin is None:
        return False
    host = headers.get("x-forwarded-host") or headers.get("host", "")
    return URL(origin).netloc != host.split(",")[0].strip()
