"""The queue has an end, for each visitor and in all; a run does not wait behind generations that nobody listens to."""

import json
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from starlette.requests import HTTPConnection

import model
from app.build import GlassPage, build
from app.chapters.kv import RACES
from app.direct_calls import DirectCallLimiter
from app.engine import LocalEngine
from app.hosting import Hosting, launch
from app.service import Service
from app.waiting import LIMITS, Limit

HEADERS = {"x-forwarded-for": "8.8.8.8"}


class Counting(LocalEngine):
    """Notes every piece of work that begins."""

    def __init__(self, models: Sequence[Any]):
        super().__init__(models)
        self.work: list[str] = []
        self.slow(False)

    def trace(self, *args: Any, **kwargs: Any) -> model.Trace:
        self.work.append("trace")
        return super().trace(*args, **kwargs)

    def generate(self, *args: Any, **kwargs: Any) -> Iterator[model.Step]:
        try:
            for step in super().generate(*args, **kwargs):
                assert not self.waits or self.allowed.acquire(timeout=60)
                self.work.append("token")
                yield step
        finally:
            self.over.set()

    def slow(self, waits: bool = True) -> None:
        """Make no token that was not `allowed`; `over` says when the generation has ended."""
        self.waits, self.allowed, self.over = waits, threading.Semaphore(0), threading.Event()


@pytest.fixture(scope="module")
def counting(roomy_checkpoint: Path) -> Counting:
    return Counting([model.load(roomy_checkpoint, device="cpu")])


@pytest.fixture
def engine(counting: Counting) -> Counting:
    """Nothing has been asked of it."""
    counting.work.clear()
    counting.slow(False)
    return counting


@pytest.fixture(scope="module")
def demo(counting: Counting) -> Iterator[GlassPage]:
    page = build(counting)
    launch(page, Hosting(trusted=("127.0.0.1",)))  # the tests speak for the proxy
    yield page
    page.close(verbose=False)


@pytest.fixture
def address(demo: GlassPage, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where the page's routes are; nobody waits, and who comes is waited for, however busy the machine is."""
    for line in demo._queue.event_queue_per_concurrency_id.values():
        line.queue.clear()
    monkeypatch.setattr("app.waiting.PATIENCE", float("inf"))
    return f"{demo.local_url}gradio_api/"


def event_of(address: str, name: str) -> int:
    """The number of the page's event that one of its buttons starts."""
    config = httpx.get(address.replace("gradio_api/", "config")).json()
    part = next(c["id"] for c in config["components"] if c["props"].get("elem_id") == name)
    return next(d["id"] for d in config["dependencies"] if [part, "click"] in d["targets"] and d["backend_fn"])


def join(address: str, event: int, session: str, *data: object) -> httpx.Response:
    body = {"data": data, "fn_index": event, "session_hash": session}
    return httpx.post(f"{address}queue/join", json=body, headers=HEADERS)


def answers(address: str, session: str) -> list[dict[str, Any]]:
    """What a session's connection brings, to its end."""
    with httpx.stream("GET", f"{address}queue/data", params={"session_hash": session}, timeout=60) as stream:
        return [json.loads(line.removeprefix("data: ")) for line in stream.iter_lines() if line]


def told(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages of the page's own that finished events brought."""
    done = [m["output"]["data"][0] for m in messages if m["msg"] == "process_completed" and m["output"].get("data")]
    return [json.loads(text) for text in done if isinstance(text, str)]


WRITE = ("The cat", "roomy", {}, 256, 0, 0, 1, 0)


def test_a_run_does_not_wait_for_generations_that_nobody_listens_to(address: str, engine: Counting) -> None:
    writing, running = event_of(address, "generate"), event_of(address, "run")
    joined = [join(address, writing, f"nobody-{i}", *WRITE) for i in range(100)]
    assert {answer.status_code for answer in joined} == {200}
    join(address, running, "somebody", "The cat sleeps.", "roomy", {})
    messages = told(answers(address, "somebody"))
    assert [message["kind"] for message in messages] == ["run"]
    assert engine.work == ["trace"]  # of all that was asked for, nothing else was begun


def test_a_visitor_who_asks_for_too_much_is_told_so_in_the_pages_own_words(address: str, engine: Counting) -> None:
    writing = event_of(address, "generate")
    for _ in range(10):
        assert join(address, writing, "greedy", *WRITE[:3], 4, *WRITE[4:]).status_code == 200
    messages = told(answers(address, "greedy"))
    assert [m["code"] for m in messages if m["kind"] == "message"] == ["busy"] * (10 - LIMITS["generate"].each)
    assert len([m for m in messages if m["kind"] == "run"]) <= LIMITS["generate"].each
    assert engine.work.count("token") == 4 * LIMITS["generate"].each


def test_visitors_of_one_address_leave_half_of_the_places_to_others(address: str) -> None:
    call = f"{address}call/generate"
    given = {"data": ["The cat", 200, 0, 0, 1, 0]}
    codes = [httpx.post(call, json=given, headers=HEADERS).status_code for _ in range(LIMITS["generate"].waiting)]
    half = LIMITS["generate"].waiting // 2
    assert codes == [200] * half + [503] * half
    refused = httpx.post(call, json=given, headers=HEADERS)
    assert refused.json()["detail"].startswith("busy: ")
    other = httpx.post(call, json={"data": ["The cat", 2, 0, 0, 1, 0]}, headers={"x-forwarded-for": "9.9.9.9"})
    with httpx.stream("GET", f"{call}/{other.json()['event_id']}", timeout=60) as stream:
        assert "event: complete" in list(stream.iter_lines())


def test_the_queue_cannot_be_gone_round(address: str) -> None:
    for path in ("run/generate", "api/generate"):
        assert httpx.post(address + path, json={"data": ["The cat", 4]}).status_code == 404
    body = {"data": [*WRITE], "fn_index": event_of(address, "generate"), "session_hash": "x"}
    assert httpx.post(f"{address}run/predict", json=body).status_code == 404


def until(known: Callable[[], bool]) -> None:
    """Wait for something that is to come."""
    for _ in range(20_000):
        if known():
            return
        threading.Event().wait(0.001)
    raise AssertionError("it does not come")


def permitted(engine: Counting, tokens: int) -> None:
    """Let the engine make so many tokens, and wait for them."""
    engine.allowed.release(tokens)
    until(lambda: engine.work.count("token") == tokens)


def ended(engine: Counting, demo: GlassPage, name: str) -> None:
    """Once the server knows that nobody listens any more, all further tokens are allowed: the generator ends."""
    until(lambda: not any(event.alive for job in demo._queue.active_jobs for event in job or ()))
    until(lambda: name not in demo.bounded_queue.listeners)
    engine.allowed.release(256)
    assert engine.over.wait(20)


def test_a_generation_ends_when_its_listener_leaves(
    address: str, demo: GlassPage, engine: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.service.STREAM_EVERY", 0)
    engine.slow()
    join(address, event_of(address, "generate"), "leaver", *WRITE)
    with httpx.stream("GET", f"{address}queue/data", params={"session_hash": "leaver"}, timeout=60) as stream:
        lines = stream.iter_lines()  # held: it would close the connection as it goes
        next(line for line in lines if "process_generating" in line)
        permitted(engine, 3)
    ended(engine, demo, "leaver")
    assert engine.work.count("token") <= 3 + 2


def test_a_programs_generation_ends_when_it_leaves(address: str, demo: GlassPage, engine: Counting) -> None:
    engine.slow()
    asked = httpx.post(f"{address}call/generate", json={"data": ["The cat", 256, 0, 0, 1, 0]}, headers=HEADERS)
    name = asked.json()["event_id"]
    # No answer begins before the whole text is there, so nothing but the connection itself can be seen to be open.
    with socket.create_connection((httpx.URL(address).host, httpx.URL(address).port or 80)) as connection:
        connection.sendall(f"GET /gradio_api/call/generate/{name} HTTP/1.1\r\nHost: here\r\n\r\n".encode())
        permitted(engine, 3)
    ended(engine, demo, name)
    assert engine.work.count("token") <= 3 + 2


def test_of_a_thousand_sessions_gradio_remembers_a_few(demo: GlassPage) -> None:
    """It keeps 65 kB of what a session was last sent, by itself for 10,000 of them."""
    remembered = demo.app.state_holder
    for number in range(1000):
        assert remembered[f"passing-{number}"]
    assert len(remembered.session_data) <= 65


def test_races_of_many_are_refused_beyond_a_few(engine: Counting) -> None:
    service, asked = Service(engine), {"what": "kv_race", "model": "roomy", "ids": [1, 2, 3]}
    taken = 0
    while RACES.acquire(blocking=False):
        taken += 1
    try:
        assert service.calculate(asked)["code"] == "busy"
    finally:
        RACES.release(taken)
    assert service.calculate(asked)["kind"] == "calculation"


def test_questions_past_the_queue_have_a_line_of_their_own() -> None:
    go, line, found = threading.Event(), DirectCallLimiter(Limit(at_once=2, waiting=5, each=3)), []

    def layer(data: object) -> dict[str, object]:
        assert go.wait(60)
        return {"kind": "layer", "of": data}

    asked = line.guarded(layer)
    assert asked.__name__ == "layer"

    async def ask(host: str, data: int) -> None:
        visitor = HTTPConnection({"type": "http", "client": (host, 1), "headers": []})
        found.append(await asked(data, visitor))
        if len(found) == 5:  # those that are told so at once
            go.set()

    async def all_ask() -> None:
        async with anyio.create_task_group() as tasks:
            for i, host in enumerate(["a"] * 6 + ["b"] * 4):
                tasks.start_soon(ask, host, i)

    # In a thread of its own: a browser of other tests keeps a loop running in this one.
    thread = threading.Thread(target=anyio.run, args=(all_ask,))
    thread.start()
    thread.join()
    assert [message.get("code") for message in found[:5]] == ["busy"] * 5
    assert sorted(message["of"] for message in found[5:]) == [0, 1, 2, 6, 7]  # three of a, and as many as there is room
