"""launch(): gradio's server with the limits, headers and files of this page around it."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, cast

from starlette.middleware import Middleware

from .answer_streams import Listening
from .build import GlassPage
from .connections import TIMES, Times, bounded_server
from .files import address, head, static_files
from .gradio_sessions import keep_sessions_light
from .headers import SafeHeaders
from .mcp_server import McpServer
from .operating import OperatorRoutes
from .packed_answers import PackedAnswers
from .rates import AT_ONCE, LOGINS, LOGINS_PER_SECOND, PER_SECOND, RateLimit, asks, logs_in
from .request_validator import RequestValidator
from .route_allowlist import RouteAllowlist
from .serving import PackedFiles, PageHead
from .theme import theme
from .visitors import TrustedProxies


@dataclass(frozen=True)
class Hosting:
    """What an operator decides.

    `trusted` are addresses or networks of proxies whose word on visitors is taken; `frames` the sites that may show the
    page inside their own; `accounts` (name, password) of those who are let in, everyone where there are none;
    `open_metrics` whether /metrics answers others than this machine; `mcp` whether the endpoints are tools of
    the Model Context Protocol as well; `times` how long a connection may take for what.
    An address may ask for so many things `at_once`, and then for so many `per_second`.
    """

    trusted: Sequence[str] = ()
    frames: Sequence[str] = ()
    accounts: Sequence[tuple[str, str]] = ()
    open_metrics: bool = False
    mcp: bool = False
    times: Times = TIMES
    at_once: float = AT_ONCE
    per_second: float = PER_SECOND


HOSTING = Hosting()


def launch(demo: GlassPage, hosting: Hosting = HOSTING, **options: Any) -> str:
    """Put the page up, with further `options` of gradio's launch(); gives its address. Does not wait for its end."""
    spare_gradio_a_search()
    with bounded_server(hosting.trusted, hosting.times):
        _, local, _ = demo.launch(prevent_thread_lock=True, **launch_options(demo, hosting), **options)
    keep_sessions_light(demo)
    server = demo.server
    demo.metrics.gauge("connections", "Open connections.", lambda: len(server.server_state.connections))
    return local


def spare_gradio_a_search() -> None:
    """Have gradio know at once that there is no matplotlib here: it looks twice for each event, in every folder."""
    if find_spec("matplotlib") is None:
        sys.modules["matplotlib"] = cast(Any, None)  # as Python notes a module that is not to be imported


def launch_options(demo: GlassPage, hosting: Hosting) -> dict[str, Any]:
    """What gradio's launch() needs for this page."""
    return {
        "theme": theme(),
        "footer_links": [],
        "run_history": False,
        "ssr_mode": False,
        "enable_monitoring": False,
        "max_file_size": "1mb",
        # A thread for each who generates, runs, sums or is refused (app/waiting.py).
        "max_threads": 64,
        # Sessions that gradio remembers; by itself ten thousand.
        "state_session_capacity": 64,
        "pwa": False,
        "show_error": False,
        "quiet": True,
        "auth": list(hosting.accounts) or None,
        "app_kwargs": app_options(demo, hosting),
    }


def app_options(demo: GlassPage, hosting: Hosting) -> dict[str, Any]:
    """What gradio's application is made with."""
    through = middleware(demo, hosting)
    if not hosting.mcp:
        return {"middleware": through}
    server = McpServer(demo.service.engine, demo.metrics)
    return {"middleware": [*through, Middleware(server.route)], "lifespan": server.lifespan}


def middleware(demo: GlassPage, hosting: Hosting) -> list[Middleware]:
    """What each request goes through before gradio, the outermost first."""
    return [
        Middleware(TrustedProxies, trusted=hosting.trusted),
        Middleware(SafeHeaders, frames=hosting.frames),
        Middleware(
            OperatorRoutes,
            metrics=demo.metrics,
            is_draining=lambda: demo.drain.begun,
            open_metrics=hosting.open_metrics,
        ),
        Middleware(RateLimit, counts=logs_in, at_once=LOGINS, per_second=LOGINS_PER_SECOND),
        Middleware(RateLimit, counts=asks, at_once=hosting.at_once, per_second=hosting.per_second),
        Middleware(RouteAllowlist, with_accounts=bool(hosting.accounts)),
        Middleware(Listening),
        # Files come packed from memory; then gradio's first page and the answers of server functions are packed too.
        Middleware(PackedFiles, files={f"/{address(path)}": path for path in static_files()}),
        Middleware(PackedAnswers),
        Middleware(PageHead, head=head()),
        Middleware(RequestValidator),
    ]
