"""The queue has an end, for each visitor and in all; a run does not wait behind generations that nobody listens to."""

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import anyio
import httpx
import pytest
from gradio.server_messages import ProcessCompletedMessage
from starlette.requests import Request

import model
from app.build import GlassPage, build
from app.direct_calls import DirectCallLimiter
from app.engine import LocalEngine
from app.hosting import Hosting, launch
from app.unread import CountedQueue, Unread
from app.waiting import AHEAD_BYTES, LIMITS, Limit
from tests import patient

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
    launch(page, Hosting(trusted=("127.0.0.1",), at_once=10_000))  # the tests speak for the proxy
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
    config = patient.get(address.replace("gradio_api/", "config")).json()
    part = next(c["id"] for c in config["components"] if c["props"].get("elem_id") == name)
    return next(d["id"] for d in config["dependencies"] if [part, "click"] in d["targets"] and d["backend_fn"])


def join(address: str, event: int, session: str, *data: object) -> httpx.Response:
    body = {"data": data, "fn_index": event, "session_hash": session}
    return patient.post(f"{address}queue/join", json=body, headers=HEADERS)


def answers(address: str, session: str) -> list[dict[str, Any]]:
    """What a session's connection brings, to its end."""
    with httpx.stream("GET", f"{address}queue/data", params={"session_hash": session}, timeout=60) as stream:
        return [json.loads(line.removeprefix("data: ")) for line in stream.iter_lines() if line]


def told(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages of the page's own that finished events brought."""
    done = [m["output"]["data"][0] for m in messages if m["msg"] == "process_completed" and m["output"].get("data")]
    return [json.loads(text) for text in done if isinstance(text, str)]


WRITE = ("The cat", "roomy", {}, 256, 0, 0, 1, 0)


@pytest.mark.thorough
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
    codes = [patient.post(call, json=given, headers=HEADERS).status_code for _ in range(LIMITS["generate"].waiting)]
    half = LIMITS["generate"].waiting // 2
    assert codes == [200] * half + [503] * half
    refused = patient.post(call, json=given, headers=HEADERS)
    assert refused.json()["detail"].startswith("busy: ")
    other = patient.post(call, json={"data": ["The cat", 2, 0, 0, 1, 0]}, headers={"x-forwarded-for": "9.9.9.9"})
    with httpx.stream("GET", f"{call}/{other.json()['event_id']}", timeout=60) as stream:
        assert "event: complete" in list(stream.iter_lines())


def test_the_queue_cannot_be_gone_round(address: str) -> None:
    for path in ("run/generate", "api/generate"):
        assert patient.post(address + path, json={"data": ["The cat", 4]}).status_code == 404
    body = {"data": [*WRITE], "fn_index": event_of(address, "generate"), "session_hash": "x"}
    assert patient.post(f"{address}run/predict", json=body).status_code == 404


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
    assert engine.work.count("token") < 3 + 32  # of 256 that it could make


def test_a_programs_generation_ends_when_it_leaves(address: str, demo: GlassPage, engine: Counting) -> None:
    engine.slow()
    asked = patient.post(f"{address}call/generate", json={"data": ["The cat", 256, 0, 0, 1, 0]}, headers=HEADERS)
    name = asked.json()["event_id"]
    # No answer begins before the whole text is there, so nothing but the connection itself can be seen to be open.
    with socket.create_connection((httpx.URL(address).host, httpx.URL(address).port or 80)) as connection:
        connection.sendall(f"GET /gradio_api/call/generate/{name} HTTP/1.1\r\nHost: here\r\n\r\n".encode())
        permitted(engine, 3)
    ended(engine, demo, name)
    assert engine.work.count("token") < 3 + 32


def test_of_a_thousand_sessions_gradio_remembers_a_few(demo: GlassPage) -> None:
    """It keeps 65 kB of what a session was last sent, by itself for 10,000 of them."""
    remembered = demo.app.state_holder
    for number in range(1000):
        assert remembered[f"passing-{number}"]
    assert len(remembered.session_data) <= 65


def test_questions_past_the_queue_have_a_line_of_their_own() -> None:
    go, line, found = threading.Event(), DirectCallLimiter(Limit(at_once=2, of_address=1, waiting=5, each=3)), []

    def layer(data: object) -> dict[str, object]:
        assert go.wait(60)
        return {"kind": "layer", "of": data}

    asked = line.guarded(layer)
    assert asked.__name__ == "layer"

    async def ask(host: str, data: int) -> None:
        visitor = Request({"type": "http", "client": (host, 1), "headers": []}, anyio.sleep_forever)
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


def listening(address: str, session: str) -> socket.socket:
    """A connection on which a session's answers come, and of which little is read ahead."""
    connection = socket.create_connection((httpx.URL(address).host, httpx.URL(address).port or 80), timeout=60)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.sendall(f"GET /gradio_api/queue/data?session_hash={session} HTTP/1.1\r\nHost: here\r\n\r\n".encode())
    return connection


def test_a_page_that_asks_and_never_reads_is_let_go(
    address: str, demo: GlassPage, engine: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What waits for it would grow without end: a third of a megabyte for each run."""
    unread = demo.bounded_queue.unread
    monkeypatch.setattr(unread, "each", 300_000)
    running, most = event_of(address, "run"), 0
    join(address, running, "never-reads", "The cat " * 100, "roomy", {})
    with listening(address, "never-reads"):
        until(lambda: "never-reads" in demo.bounded_queue.listeners)
        monkeypatch.setattr("app.waiting.PATIENCE", 1)  # from here on nobody comes for what it asks
        for _ in range(60):
            join(address, running, "never-reads", "The cat " * 100, "roomy", {})
            most = max(most, unread.nbytes)
            if "never-reads" not in demo.bounded_queue.listeners:
                break
        until(lambda: "never-reads" not in demo.bounded_queue.listeners)
    until(lambda: unread.nbytes == 0)
    assert most <= 300_000
    join(address, running, "somebody-else", "The cat sleeps.", "roomy", {})
    assert [message["kind"] for message in told(answers(address, "somebody-else"))] == ["run"]


def test_an_answer_whose_reader_has_left_is_let_go(
    address: str, demo: GlassPage, engine: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that ends before its answers are written: nobody has read that the event is done."""
    queue, connection, kept = demo.bounded_queue, cast("anyio.CancelScope", object()), []
    monkeypatch.setattr("app.waiting.PATIENCE", 0.2)
    until(lambda: queue.unread.nbytes == 0)
    queue.listeners.add("leaves", connection)
    join(address, event_of(address, "run"), "leaves", "The cat sleeps.", "roomy", {})
    until(lambda: "trace" in engine.work and not any(queue.active_jobs))

    async def leave() -> None:
        queue.listeners.remove("leaves", connection)
        queue.left("leaves")
        kept.append(queue.unread.nbytes)
        await anyio.sleep(0.5)

    thread = threading.Thread(target=anyio.run, args=(leave,))
    thread.start()
    thread.join()
    assert kept[0] > 0  # who comes back within PATIENCE still finds it
    assert queue.unread.nbytes == 0
    assert not queue.knows("leaves")


def test_what_waits_for_all_is_bounded_too() -> None:
    dropped: list[str] = []
    queues: dict[str, CountedQueue] = {}

    def drop(session: str) -> None:
        dropped.append(session)
        queues.pop(session).empty_out()

    unread = Unread(drop, each=1_000_000, most=100_000)
    for session, length in (("a", 20_000), ("b", 50_000), ("c", 20_000), ("d", 30_000)):
        queues[session] = CountedQueue(unread, session)
        queues[session].put_nowait(ProcessCompletedMessage(output={"data": ["x" * length]}, success=True))
    assert dropped == ["b"]  # for whom the most waits
    assert 70_000 < unread.nbytes < 80_000
    for queue in queues.values():
        queue.get_nowait()
    assert (unread.nbytes, unread.of_session) == (0, {})


def test_a_text_is_not_written_on_ahead_of_its_reader(
    address: str, demo: GlassPage, engine: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    for pause in ("STREAM_EVERY", "STREAM_PAUSE"):
        monkeypatch.setattr(f"app.service.{pause}", 0)  # each token is a message, however slowly the last one left
    engine.slow()
    grew, loops = demo.bounded_queue.unread.grew, list[asyncio.AbstractEventLoop]()

    def noted(session: str, nbytes: int) -> None:
        loops.append(asyncio.get_running_loop())
        grew(session, nbytes)

    async def grow(nbytes: int) -> None:
        grew("reads-slowly", nbytes)

    monkeypatch.setattr(demo.bounded_queue.unread, "grew", noted)
    join(address, event_of(address, "generate"), "reads-slowly", "The cat", "roomy", {}, 200, 0, 0, 1, 0)
    with listening(address, "reads-slowly") as connection:
        permitted(engine, 3)
        until(lambda: bool(loops))
        # As if so much waited here, and not in the kernel. What waits is counted in the server's own thread alone.
        asyncio.run_coroutine_threadsafe(grow(AHEAD_BYTES + 1), loops[0]).result()
        engine.allowed.release(200)
        threading.Event().wait(0.3)  # time for all of them
        assert engine.work.count("token") <= 5
        asyncio.run_coroutine_threadsafe(grow(-AHEAD_BYTES - 1), loops[0]).result()
        until(lambda: engine.work.count("token") == 200)
        until(lambda: not demo.bounded_queue._working("generate"))
        assert b"process_generating" in connection.recv(65_536)


def test_many_generations_of_one_address_do_not_keep_another_waiting(
    address: str, demo: GlassPage, engine: Counting
) -> None:
    writing, mine, theirs = event_of(address, "generate"), "one-more", [f"made-up-{i}" for i in range(20)]
    engine.slow()
    for session in theirs:
        join(address, writing, session, *WRITE)
    connections = [listening(address, session) for session in theirs]
    most = LIMITS["generate"].of_address
    until(lambda: len(demo.bounded_queue._working("generate")) == most)
    other = {"x-forwarded-for": "9.9.9.9"}
    body = {"data": ["The cat", "roomy", {}, 3, 0, 0, 1, 0], "fn_index": writing, "session_hash": mine}
    patient.post(f"{address}queue/join", json=body, headers=other)
    with listening(address, mine):
        until(lambda: any(event.session_hash == mine for event in demo.bounded_queue._working("generate")))
        assert len(demo.bounded_queue._waiting("generate")) == len(theirs) - most
        for connection in connections:
            connection.close()
        engine.allowed.release(5_000)
        until(lambda: not demo.bounded_queue._working("generate"))


def test_what_nobody_asked_for_is_not_listened_to(address: str, caplog: pytest.LogCaptureFixture) -> None:
    """gradio writes a hundred lines of traceback for each such request."""
    for path in ("queue/data?session_hash=made-up", "call/generate/made-up", "call/v2/generate/made-up", "queue/data"):
        assert patient.get(address + path).status_code == 404, path
    assert caplog.records == []


def test_a_server_that_goes_down_takes_nothing_new_in(address: str, demo: GlassPage, engine: Counting) -> None:
    engine.slow()
    join(address, event_of(address, "generate"), "writer", "The cat", "roomy", {"ticket": "t"}, 200, 0, 0, 1, 0)
    found: list[dict[str, Any]] = []
    reader = threading.Thread(target=lambda: found.extend(answers(address, "writer")))
    reader.start()
    until(lambda: "writer" in demo.bounded_queue.listeners)
    permitted(engine, 3)
    demo.drain.begin(0)
    try:
        join(address, event_of(address, "run"), "late", "The cat sleeps.", "roomy", {})
        assert [message["code"] for message in told(answers(address, "late"))] == ["draining"]
        call = patient.post(f"{address}call/generate", json={"data": ["The cat", 2, 0, 0, 1, 0]}, headers=HEADERS)
        assert (call.status_code, call.json()["detail"][:10]) == (503, "draining: ")
        assert patient.get(address.replace("gradio_api/", "healthz")).status_code == 503
        engine.allowed.release(1)
        reader.join(60)
        last = told(found)[-1]
        assert last["kind"] == "run"  # what was written so far, as a run of its own
        assert len(last["steps"]) in (3, 4)  # the third may still be on its way where the going down begins
    finally:
        demo.drain._begun.clear()
    assert patient.get(address.replace("gradio_api/", "healthz")).json() == {"status": "ok"}
