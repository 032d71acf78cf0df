"""Whose a request is: the address that it comes from, by which places and turns are shared, and the page that asks.

An address cannot be made up, a session can: so nothing is shared out by sessions alone. Behind a proxy every visitor
has the proxy's address; what a proxy says of them is believed only where the operator names it (`--trusted-proxy`).
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import Any, NamedTuple

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

# A household or a host has a whole network of this size, and may take any address in it.
IPV6_NETWORK_BITS = 64
# What a proxy says of a request. From anyone else it says nothing; gradio would repeat some of it in its answers.
FORWARDED = (b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto", b"x-forwarded-prefix")
# In the scope of a request that crosses no network: who asks is on this machine, and hands on nobody else's request.
FROM_HERE = "glass_llama.from_here"
# Of gradio's own second server, which this page does not use.
OF_GRADIO = (b"x-gradio-server",)


class Visitor(NamedTuple):
    """Whose work something is: `address` as address_group gives it, and the `session` that a page makes up."""

    address: str = ""
    session: str = ""


NOBODY = Visitor()
# Of the task or thread that works for a request past gradio's queue.
_at_work_for: ContextVar[Visitor] = ContextVar("at_work_for", default=NOBODY)


@contextmanager
def works_for(visitor: Visitor) -> Generator[None]:
    """A context in which this task, and the threads that it starts, work for a visitor."""
    before = _at_work_for.set(visitor)
    try:
        yield
    finally:
        _at_work_for.reset(before)


def worked_for() -> Visitor:
    """Whom this task or thread works for past gradio's queue; nobody where it works for none."""
    return _at_work_for.get()


@lru_cache(maxsize=4096)
def address_group(host: str) -> str:
    """The address that counts as one visitor's: an IPv4 address whole, of an IPv6 address its network of 64 bits."""
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if not isinstance(address, IPv6Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    network = int(address) >> (128 - IPV6_NETWORK_BITS) << (128 - IPV6_NETWORK_BITS)
    return f"{IPv6Address(network)}/{IPV6_NETWORK_BITS}"


def address_of(request: Any) -> str:
    """The address that a request counts for; takes gradio's Request or starlette's. "" where it has none."""
    client = getattr(request, "client", None)
    return address_group(client.host) if client else ""


def visitor_of(request: Any) -> Visitor:
    """Whose request this is; takes gradio's Request, or the plain one that gradio hands to server functions."""
    named = getattr(request, "session_hash", None) or getattr(getattr(request, "state", None), "session", None)
    return Visitor(address_of(request), named if isinstance(named, str) else "")


class TrustedProxies:
    """ASGI middleware: takes the visitor's address from a proxy that is trusted, and lets nobody else speak for one.

    What stands behind finds in the scope whether the request is FROM_HERE.
    """

    def __init__(self, app: ASGIApp, trusted: Sequence[str] = ()):
        """`trusted` are addresses, or networks such as 10.0.0.0/8."""
        self.app = app
        through: Any = ProxyHeadersMiddleware  # whose types of ASGI are uvicorn's own
        self.through_proxy = through(app, trusted_hosts=list(trusted))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        peer = (scope.get("client") or ("",))[0]
        trusted = peer in self.through_proxy.trusted_hosts
        unheard = OF_GRADIO if trusted else (*OF_GRADIO, *FORWARDED)
        scope[FROM_HERE] = _is_loopback(peer) and not any(name in FORWARDED for name, _ in scope["headers"])
        scope["headers"] = [(name, value) for name, value in scope["headers"] if name not in unheard]
        return await (self.through_proxy if trusted else self.app)(scope, receive, send)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
