"""Whose a request is: by an address that nobody can make up, behind a proxy that the operator names and no other."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from starlette.requests import Request
from starlette.types import Scope

from app.fairness import Fairness
from app.visitors import FROM_HERE, TrustedProxies, Visitor, address_group, visitor_of

PASSED = {"x-forwarded-for": "9.9.9.9", "x-forwarded-host": "elsewhere.example", "x-forwarded-proto": "https"}


async def no_more() -> Any:
    """No body."""


async def to_nobody(_message: Any) -> None:
    """No answer."""


def seen(host: str, trusted: tuple[str, ...] = (), **headers: str) -> Scope:
    """A request as what stands behind TrustedProxies sees it."""
    found: list[Scope] = []

    async def app(scope: Scope, _receive: Any, _send: Any) -> None:
        found.append(scope)

    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "client": (host, 1), "scheme": "http", "headers": named}
    with ThreadPoolExecutor(1) as pool:  # a browser of other tests keeps a loop running in this thread
        pool.submit(asyncio.run, TrustedProxies(app, trusted)(scope, no_more, to_nobody)).result()
    return found[0]


def address(host: str, trusted: tuple[str, ...] = (), passed: str = "") -> str:
    return visitor_of(Request(seen(host, trusted, x_forwarded_for=passed))).address


def test_what_a_stranger_says_of_himself_is_not_believed() -> None:
    assert address("127.0.0.1", (), "9.9.9.9") == "127.0.0.1"
    assert address("10.0.0.3", (), "9.9.9.9") == "10.0.0.3"
    assert address("8.8.8.8", ("10.0.0.0/8",), "9.9.9.9") == "8.8.8.8"


def test_a_trusted_proxy_is_believed_as_far_as_it_knows() -> None:
    near = ("10.0.0.0/8",)
    assert address("10.0.0.3", near, "9.9.9.9") == "9.9.9.9"
    assert address("10.0.0.3", near, "1.1.1.1, 9.9.9.9, 10.0.0.2") == "9.9.9.9"  # what comes before, the visitor wrote
    assert address("10.0.0.3", near, "192.168.0.7") == "192.168.0.7"
    assert address("10.0.0.3", near) == "10.0.0.3"


def test_only_what_nobody_hands_on_is_from_this_machine() -> None:
    assert seen("127.0.0.1")[FROM_HERE]
    assert seen("::1")[FROM_HERE]
    assert not seen("127.0.0.1", x_forwarded_for="9.9.9.9")[FROM_HERE]
    assert not seen("127.0.0.1", ("127.0.0.1",), x_forwarded_for="9.9.9.9")[FROM_HERE]
    assert not seen("192.168.0.7")[FROM_HERE]
    assert not seen("testclient")[FROM_HERE]


def test_headers_that_gradio_would_repeat_come_from_a_trusted_proxy_alone() -> None:
    given = {name.replace("-", "_"): value for name, value in PASSED.items()} | {"x_gradio_server": "http://elsewhere"}
    plain, trusted = seen("8.8.8.8", **given), seen("8.8.8.8", ("8.8.8.8",), **given)
    assert plain["headers"] == []
    assert plain["scheme"] == "http"
    names = {name.decode() for name, _ in trusted["headers"]}
    assert names == set(PASSED)
    assert trusted["scheme"] == "https"


@pytest.mark.parametrize(
    ("host", "group"),
    [
        ("8.8.8.8", "8.8.8.8"),
        ("::ffff:8.8.8.8", "8.8.8.8"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", "testclient"),
        ("", ""),
    ],
)
def test_an_address_of_ipv6_counts_by_its_network(host: str, group: str) -> None:
    assert address_group(host) == group


def order(*asked: Visitor, places: int = 1) -> list[Visitor]:
    """Who is served when, where all ask at once and each place is freed by the one who has had it for longest."""
    fairness, waiting, at_work, served = Fairness(), list(asked), [], []
    while waiting:
        if len(at_work) == places:
            fairness.end(at_work.pop(0))
        due = min(waiting, key=fairness.rank)
        waiting.remove(due)
        fairness.begin(due)
        at_work.append(due)
        served.append(due)
    return served


def test_turns_go_round_by_address_whatever_sessions_are_made_up() -> None:
    many = [Visitor("6.6.6.6", f"made up {i}") for i in range(36)]
    one, two = Visitor("8.8.8.8", "a"), Visitor("9.9.9.9", "b")
    served = order(*many, one, one, two)
    assert max(i for i, who in enumerate(served) if who is one or who is two) < 6
    assert sorted(served.index(who) for who in (one, two)) == [1, 2]


def test_the_pages_of_one_address_take_turns_too() -> None:
    busy, quiet = Visitor("6.6.6.6", "busy"), Visitor("6.6.6.6", "quiet")
    assert order(*[busy] * 20, quiet).index(quiet) == 1


def test_who_has_the_least_at_work_is_next() -> None:
    many, one = [Visitor("6.6.6.6", str(i)) for i in range(8)], Visitor("8.8.8.8", "a")
    fairness = Fairness()
    for visitor in many[:3]:
        fairness.begin(visitor)
    fairness.begin(one)
    assert min([*many[3:], one], key=fairness.rank) is one
    for visitor in (*many[:3], one):
        fairness.end(visitor)
    assert not fairness.at_work
