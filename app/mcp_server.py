"""The named endpoints as tools of the Model Context Protocol, by its streamable HTTP (`app.py --mcp`).

Each call is a request of its own: no session is kept. Calls wait in fair order, as all that is asked past gradio's
queue does (direct_calls.py). gradio's own MCP server is not used: it asks the page in its own name, so that all who ask
would be one visitor, and its tools do not say what they answer.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial, wraps
from typing import Any

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from .direct_calls import DirectCallLimiter
from .endpoints import endpoints
from .engine import Engine
from .metrics import Metrics
from .route_allowlist import API
from .serving import path_of
from .visitors import visitor_of
from .waiting import LIMITS

PATH = f"{API}mcp/"
INSTRUCTIONS = (
    "Glass Llama runs a small, real LLaMA and says what happens inside it, and counts the bytes of KV caches. "
    "Every number comes from the run, or from a formula whose factors are given beside it."
)
NOT_POSTED = f"An MCP client asks here, by POST {PATH} (streamable HTTP, without a session)."


class McpServer:
    """The tools, and the ASGI middleware that leads to them.

    Raises ImportError where the package `mcp` is not there.
    """

    def __init__(self, engine: Engine, metrics: Metrics):
        from mcp.server.fastmcp import FastMCP
        from mcp.server.transport_security import TransportSecuritySettings

        # Which hosts may be asked for is the proxy's and the browser's affair here, as for all of the page.
        security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        self._server = FastMCP(
            "Glass Llama",
            INSTRUCTIONS,
            stateless_http=True,
            json_response=True,
            transport_security=security,
            log_level="WARNING",
        )
        kinds = ("run", "generate", "sums")
        for function, kind in zip(endpoints(engine), kinds, strict=True):
            self._server.tool()(self._in_line(function, DirectCallLimiter(LIMITS[kind], metrics)))
        self._server.streamable_http_app()  # makes the session manager

    def _in_line(self, function: Callable[..., Any], limiter: DirectCallLimiter) -> Callable[..., Any]:
        """An endpoint's function, of the same signature, that waits for its place and works in a thread."""

        @wraps(function)
        async def tool(**given: Any) -> Mapping[str, object]:
            request: Any = self._server.get_context().request_context.request
            return await limiter.work(
                f"mcp.{function.__name__}", visitor_of(request), request, partial(function, **given)
            )

        return tool

    @asynccontextmanager
    async def lifespan(self, _app: object) -> AsyncIterator[None]:
        """While the server is up, calls are answered."""
        async with self._server.session_manager.run():
            yield

    def route(self, app: ASGIApp) -> ASGIApp:
        """Middleware: answers what is asked at PATH, and hands on the rest."""

        async def routed(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http" or path_of(scope).rstrip("/") != PATH.rstrip("/"):
                return await app(scope, receive, send)
            if scope["method"] != "POST":
                return await PlainTextResponse(NOT_POSTED, 405, {"Allow": "POST"})(scope, receive, send)
            return await self._server.session_manager.handle_request(scope, receive, send)

        return routed
