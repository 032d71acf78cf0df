"""For whoever runs the server: /healthz, /metrics, and going down without losing what is being written."""

import threading
import time
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from .metrics import Metrics
from .serving import path_of
from .visitors import visitor_of

HEALTH, METRICS = "/healthz", "/metrics"
# Statuses by which a request is refused or fails, as opposed to one that is answered.
REFUSED_FROM = 400


class OperatorRoutes:
    """ASGI middleware: answers /healthz for anyone and /metrics for this machine, or anyone where that is `open`.

    Counts what is answered with an error.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, is_draining: Callable[[], bool], open_metrics: bool = False):
        self.app = app
        self.metrics = metrics
        self.is_draining = is_draining
        self.open_metrics = open_metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        path = path_of(scope) if scope["type"] == "http" else ""
        if path == HEALTH:
            return await self._health()(scope, receive, send)
        if path == METRICS:
            return await self._figures(scope)(scope, receive, send)
        if scope["type"] != "http":
            return await self.app(scope, receive, send)

        async def counted(message: Any) -> None:
            if message["type"] == "http.response.start" and message["status"] >= REFUSED_FROM:
                self.metrics.refused(kind_of(path), str(message["status"]), visitor_of(Request(scope)))
            await send(message)

        return await self.app(scope, receive, counted)

    def _health(self) -> Response:
        """503 while the server goes down: a balancer sends nobody here any more."""
        if self.is_draining():
            return JSONResponse({"status": "draining"}, 503)
        return JSONResponse({"status": "ok"})

    def _figures(self, scope: Scope) -> Response:
        client = scope.get("client")
        if not self.open_metrics and not (client and is_this_machine(client[0])):
            return PlainTextResponse("Not found", 404)
        return Response(self.metrics.text(), media_type=CONTENT_TYPE_LATEST)


def is_this_machine(host: str) -> bool:
    """Whether an address is this machine's own."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def kind_of(path: str) -> str:
    """What a path is of, one of a few words: whoever asks for odd paths shall not make up kinds."""
    parts = path.strip("/").split("/")
    if parts[0] == "gradio_api" and len(parts) > 1:
        return parts[1] if parts[1] in ("queue", "call", "component_server", "run", "cancel", "heartbeat") else "other"
    return parts[0] if parts[0] in ("glass", "assets", "static", "config") else "page" if path == "/" else "other"


class Drain:
    """Going down: nothing new begins, what is being written may finish, and then ends where it is."""

    def __init__(self) -> None:
        self._begun = threading.Event()
        self._deadline = 0.0

    def begin(self, seconds: float) -> None:
        """From now on nothing new begins; what is at work has so many seconds."""
        self._deadline = time.monotonic() + seconds
        self._begun.set()

    @property
    def begun(self) -> bool:
        """Whether the server goes down."""
        return self._begun.is_set()

    @property
    def over(self) -> bool:
        """Whether what is still being written shall end now."""
        return self.begun and time.monotonic() > self._deadline
