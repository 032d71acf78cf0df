"""How often an address may ask: what is over that is refused cheaply, and nobody else is kept out."""

from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from app.hosting import AT_ONCE, HOSTING
from app.rates import BYTES, PER_SECOND, RateLimit, asks, count_refusal
from app.route_allowlist import MAX_BYTES
from app.visitors import TrustedProxies


@pytest.fixture
def client() -> TestClient:
    """Ten requests at once, and none of those that count later; this client speaks for a proxy."""
    limited: Any = RateLimit(PlainTextResponse("done"), asks, at_once=10, per_second=1e-9)
    return TestClient(TrustedProxies(limited, ["testclient"]))


def statuses(client: TestClient, count: int, host: str = "8.8.8.8", length: int = 0) -> list[int]:
    headers = {"x-forwarded-for": host}
    return [client.post("/any", headers=headers, content=b"x" * length).status_code for _ in range(count)]


def test_what_is_over_the_rate_is_refused_and_said_when_to_come_again(client: TestClient) -> None:
    assert statuses(client, 12) == [200] * 10 + [429] * 2
    assert statuses(client, 1, "9.9.9.9") == [200]
    refused = client.post("/any", headers={"x-forwarded-for": "8.8.8.8"})
    assert int(refused.headers["retry-after"]) > 0
    assert "try again in" in refused.json()["detail"]


def test_what_is_refused_later_counts_for_many() -> None:
    async def full(scope: Any, receive: Any, send: Any) -> None:
        count_refusal(Request(scope))
        await PlainTextResponse("busy")(scope, receive, send)

    limited: Any = RateLimit(full, asks, at_once=25, per_second=1e-9)
    client = TestClient(TrustedProxies(limited, ["testclient"]))
    assert statuses(client, 4) == [200] * 3 + [429]
    assert statuses(client, 1, "9.9.9.9") == [200]


def test_files_are_not_counted(client: TestClient) -> None:
    assert {client.get("/glass/glass.js").status_code for _ in range(50)} == {200}


def test_a_long_request_counts_for_several(client: TestClient) -> None:
    assert statuses(client, 6, length=BYTES) == [200] * 5 + [429]
    client.post("/any", headers={"x-forwarded-for": "9.9.9.9"}, content=iter([b"x"]))
    assert statuses(client, 1, "9.9.9.9") == [429]  # that one did not say how long it was: it counted as the longest


def test_a_class_behind_one_router_is_let_in() -> None:
    """Forty pages that open at once, each asking for its run and a few details of it, and then a question a second."""
    assert HOSTING.at_once == AT_ONCE >= 40 * 10
    assert HOSTING.per_second == PER_SECOND >= 40
    assert AT_ONCE > 1 + MAX_BYTES / BYTES
