"""A connection ends when what is awaited of its other side takes too long, and there are not more than so many."""

import socket
import time
from collections.abc import Callable, Iterator

import gradio as gr
import pytest

from app.connections import FULL, LATE, BoundedServer, OpenConnections, Times, bounded_server
from tests import patient

TIMES = Times(head=0.5, body=0.5, reading=0.5)
MOST = 40
HEAD = b"POST /gradio_api/queue/join HTTP/1.1\r\nHost: here\r\nContent-Length: 100\r\n\r\n"
PAGE = b"GET /config HTTP/1.1\r\nHost: here\r\n\r\n"


@pytest.fixture(scope="module")
def demo() -> Iterator[gr.Blocks]:
    """Any page: what is tested is beneath it."""
    with gr.Blocks() as demo:
        gr.HTML("x" * 10_000)
    with bounded_server(trusted=("127.0.0.9",), times=TIMES):
        demo.launch(prevent_thread_lock=True, quiet=True, ssr_mode=False)
    yield demo
    demo.close(verbose=False)


@pytest.fixture
def server(demo: gr.Blocks, monkeypatch: pytest.MonkeyPatch) -> BoundedServer:
    """The server of that page, which nobody is connected to and which has room for MOST."""
    assert isinstance(demo.server, BoundedServer)
    monkeypatch.setattr(demo.server.server_state, "most", MOST)
    until(lambda: not demo.server.server_state.connections)
    return demo.server


def until(known: Callable[[], bool]) -> None:
    """Wait for something that is to come."""
    for _ in range(2_000):
        if known():
            return
        time.sleep(0.01)
    raise AssertionError("it does not come")


def connected(server: BoundedServer, host: str = "127.0.0.1") -> socket.socket:
    """A connection from an address of this machine."""
    return socket.create_connection(("127.0.0.1", server.config.port), timeout=20, source_address=(host, 0))


def say(connection: socket.socket, what: bytes, times: int, pause: float = 0) -> None:
    """Send the same again and again, as long as there is someone to take it."""
    for _ in range(times):
        connection.sendall(what)
        time.sleep(pause)


def heard(connection: socket.socket) -> bytes:
    """All that comes until the server ends the connection."""
    parts = []
    while part := connection.recv(65_536):
        parts.append(part)
    return b"".join(parts)


@pytest.mark.parametrize(
    ("said", "answer"),
    [(b"", b""), (b"GET /config HT", LATE), (HEAD, LATE), (HEAD + b"{", LATE)],
    ids=["nothing", "half a head", "a head", "part of a body"],
)
def test_a_request_that_does_not_come_is_not_awaited(server: BoundedServer, said: bytes, answer: bytes) -> None:
    with connected(server) as connection:
        connection.sendall(said)
        assert heard(connection) == answer


def test_a_head_that_trickles_is_not_awaited(server: BoundedServer) -> None:
    with connected(server) as connection, pytest.raises(OSError, match=r"."):
        say(connection, b"G", 100, pause=0.05)  # a byte now and then: the time is that of the whole


@pytest.mark.thorough
def test_answers_that_nobody_reads_are_let_go(server: BoundedServer) -> None:
    """The kernel holds some megabytes of them; what it does not take has to be read."""
    with connected(server) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        with pytest.raises(OSError, match=r"."):
            say(connection, PAGE * 10, 100_000)
        until(lambda: not server.server_state.connections)


@pytest.mark.thorough
def test_who_reads_slowly_gets_all(server: BoundedServer) -> None:
    with connected(server) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(PAGE * 100)
        found = 0
        while found < 100:
            time.sleep(0.002)
            found += connection.recv(20_000).count(b"HTTP/1.1 200")


def test_an_address_has_half_of_the_room(server: BoundedServer) -> None:
    mine = [connected(server) for _ in range(MOST // 2)]
    try:
        with connected(server) as one_more:
            assert heard(one_more) == FULL
        with connected(server, "127.0.0.2") as other:
            other.sendall(PAGE)
            assert other.recv(100).startswith(b"HTTP/1.1 200")
    finally:
        for connection in mine:
            connection.close()


def test_a_trusted_proxy_has_all_of_it(server: BoundedServer) -> None:
    mine = [connected(server, "127.0.0.9") for _ in range(MOST)]
    try:
        with connected(server, "127.0.0.9") as one_more:
            assert heard(one_more) == FULL
    finally:
        for connection in mine:
            connection.close()


def test_a_server_that_was_full_answers_again(server: BoundedServer) -> None:
    for connection in [connected(server) for _ in range(MOST + 10)]:
        connection.close()
    until(lambda: not server.server_state.connections)
    assert isinstance(server.server_state, OpenConnections)
    assert not server.server_state.of_address
    assert patient.get(f"http://127.0.0.1:{server.config.port}/config").status_code == 200


def test_the_server_does_not_say_what_it_is(server: BoundedServer) -> None:
    assert "server" not in patient.get(f"http://127.0.0.1:{server.config.port}/config").headers
