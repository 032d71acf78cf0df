"""The models in a process of their own: the page outlives what happens there.

The page's threads each take a connection to it, and a thread there answers on each: so an engine's turns, budgets and
shared steps are as in one process. When the process ends, it is started again, and what was asked is asked once more.
"""

import os
import secrets
import signal
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Client, Connection, Listener
from multiprocessing.process import BaseProcess
from tempfile import TemporaryDirectory
from typing import Any, Self

from ..engine import LocalEngine
from ..tuning import tune
from .host import STREAMS, Host
from .messages import Asked, ModelLostError, packed, packed_error, unpacked, value_of

Build = Callable[[], LocalEngine]
BACKLOG = 128  # connections that may wait to be taken
POLL_SECONDS = 0.2  # so often is looked whether an answer is still wanted
LEFT = b""  # what a page says of a call whose answer nobody wants any more
NEXT, CLOSE = b"next", b"close"
GONE = (EOFError, OSError)


class ModelProcess:
    """A process with the models that `build` gives; a Transport to it. `close` ends it; so does the end of this one."""

    def __init__(self, build: Build):
        """`build` is a function that can be pickled. Raises ValueError where it does: its message."""
        self._build = build
        self._folder = TemporaryDirectory(prefix="glass-llama-")  # nobody else may open
        self._lock = threading.Lock()
        self._free: list[Connection] = []
        self._started = 0
        self._start()

    @property
    def pid(self) -> int | None:
        return self._process.pid

    def call(self, asked: Asked, is_wanted: Callable[[], bool]) -> Any:
        for attempt in (1, 2):
            started = self._started
            try:
                connection = self._take()
                connection.send_bytes(packed(asked))
                _wait(connection, is_wanted)
                answer = connection.recv_bytes()
            except GONE as error:
                self._start_again(started)
                if attempt == 2:
                    raise ModelLostError from error
                continue
            self._give_back(connection, started)
            return value_of(answer)
        raise AssertionError("unreachable")

    def stream(self, asked: Asked) -> Iterator[Any]:
        started, failed = self._started, None
        try:
            connection = self._take()
            connection.send_bytes(packed(asked))
            try:
                while failed is None:
                    connection.send_bytes(NEXT)
                    kind, value = unpacked(connection.recv_bytes())
                    if kind == "end":
                        break
                    if kind == "error":
                        failed = value
                    else:
                        yield value
            finally:
                connection.send_bytes(CLOSE)
                self._give_back(connection, started)
        except GONE as error:
            self._start_again(started)
            raise ModelLostError from error
        if failed is not None:
            raise failed

    def close(self) -> None:
        """End the process."""
        self._life.close()
        self._process.join(2)
        if self._process.is_alive():
            self._process.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self._folder.cleanup()

    def _start(self) -> None:
        context = get_context("spawn")
        self._life, theirs = context.Pipe()
        self._key, self._address = secrets.token_bytes(32), f"{self._folder.name}/{secrets.token_hex(8)}"
        given = (self._build, self._address, self._key, theirs)
        self._process: BaseProcess = context.Process(target=serve, args=given, name="models", daemon=True)
        self._process.start()
        theirs.close()
        try:
            failed = self._life.recv()
        except EOFError:
            raise ValueError("the models' process ended before it was up") from None
        if failed is not None:
            raise ValueError(failed)

    def _start_again(self, started: int) -> None:
        """Have a process, where the one that was up then is gone."""
        with self._lock:
            if self._started == started:
                for connection in self._free:
                    connection.close()
                self._free.clear()
                self.close()
                self._start()
                self._started += 1

    def _take(self) -> Connection:
        with self._lock:
            if self._free:
                return self._free.pop()
        return Client(self._address, authkey=self._key)

    def _give_back(self, connection: Connection, started: int) -> None:
        with self._lock:
            if self._started == started:
                self._free.append(connection)
                return
        connection.close()


def _wait(connection: Connection, is_wanted: Callable[[], bool]) -> None:
    """Until there is an answer; where it is not wanted any more, the other end hears of it."""
    told = False
    while not connection.poll(POLL_SECONDS):
        if not told and not is_wanted():
            connection.send_bytes(LEFT)
            told = True


def serve(build: Build, address: str, key: bytes, life: Connection) -> None:
    """The models' process: answers until the other end of `life` is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the page, which closes `life`
    tune()
    try:
        host = Host(build())
    except ValueError as error:
        life.send(str(error))
        return
    with Listener(address, "AF_UNIX", BACKLOG, key) as listener:
        life.send(None)
        threading.Thread(target=_accept, args=(listener, host), daemon=True).start()
        with suppress(*GONE):
            life.recv()
    os._exit(0)  # threads may be at work that nobody waits for


def _accept(listener: Listener, host: Host) -> None:
    while True:
        with suppress(*GONE):
            threading.Thread(target=_answer_on, args=(listener.accept(), host), daemon=True).start()


def _answer_on(connection: Connection, host: Host) -> None:
    with suppress(*GONE), connection:
        while True:
            if (data := connection.recv_bytes()) not in (LEFT, NEXT, CLOSE):
                _answer(connection, host, unpacked(data))


def _answer(connection: Connection, host: Host, asked: Asked) -> None:
    try:
        found = host.answer(asked, lambda: not connection.poll())
        if asked.method in STREAMS:
            _yield_on(connection, found)
            return
        said = packed(("value", found))
    except Exception as error:  # the boundary to the page, which raises it
        said = packed_error(error)
    connection.send_bytes(said)


def _yield_on(connection: Connection, values: Generator[Any]) -> None:
    """What is yielded, one for each time that the page asks for the next, until it closes the stream."""
    try:
        while connection.recv_bytes() == NEXT:
            try:
                said = packed(("value", next(values)))
            except StopIteration:
                said = packed(("end", None))
            except Exception as error:  # as in `_answer`
                said = packed_error(error)
            connection.send_bytes(said)
    finally:
        values.close()
