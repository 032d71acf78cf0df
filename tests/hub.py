"""A small server with those of the Hub's routes that its client asks for when it downloads a model.

`stand_in` puts one in place of the real Hub for as long as a test runs.
"""

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import huggingface_hub
import pytest

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Hub:
    """What is served, and what was asked for: method and path of every request."""

    repositories: dict[str, Path]
    gated: set[str] = field(default_factory=set)
    broken: bool = False
    requests: list[tuple[str, str]] = field(default_factory=list)
    url: str = ""
    # Models whose answers do not come before `release` is set, and such as never end: byte by byte, or fast.
    stalled: set[str] = field(default_factory=set)
    release: threading.Event = field(default_factory=threading.Event)
    dripping: set[str] = field(default_factory=set)
    endless: set[str] = field(default_factory=set)
    sent: int = 0

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        """(status, headers, body) for a path."""
        if self.broken:
            return 500, {}, b"out of order"
        parts = [unquote(part) for part in path.strip("/").split("/")]
        if len(parts) < 3:  # the client asks for more than models
            return 404, {}, b""
        if parts[:2] == ["api", "models"]:
            name, route, rest = "/".join(parts[2:4]), parts[4], parts[5:]
        else:
            name, route, rest = "/".join(parts[:2]), parts[2], parts[3:]
        if name in self.gated:
            return 403, {"X-Error-Code": "GatedRepo", "X-Error-Message": "Access is restricted"}, b""
        if name not in self.repositories:
            return 404, {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"}, b""
        return self._route(name, route, rest)

    def _route(self, name: str, route: str, rest: list[str]) -> tuple[int, dict[str, str], bytes]:
        files = {path.name: path.read_bytes() for path in sorted(self.repositories[name].iterdir())}
        if route == "revision" and rest == ["main"]:
            siblings = [{"rfilename": file} for file in files]
            return _json({"id": name, "modelId": name, "sha": COMMIT, "siblings": siblings})
        if route == "tree" and rest == [COMMIT]:
            return _json(
                [{"type": "file", "path": file, "size": len(data), "oid": _etag(data)} for file, data in files.items()]
            )
        if route == "resolve" and rest[0] in (COMMIT, "main") and rest[1] in files:
            data = files[rest[1]]
            return 200, {"ETag": f'"{_etag(data)}"', "X-Repo-Commit": COMMIT}, data
        return 404, {"X-Error-Code": "EntryNotFound"}, b""

    def downloaded(self) -> set[str]:
        """Names of the files whose content was sent."""
        return {path.rpartition("/")[2] for method, path in self.requests if method == "GET" and "/resolve/" in path}


def _etag(data: bytes) -> str:
    return hashlib.sha1(data).hexdigest()


def _json(value: object) -> tuple[int, dict[str, str], bytes]:
    return 200, {"Content-Type": "application/json"}, json.dumps(value).encode()


@contextmanager
def serve(hub: Hub) -> Iterator[Hub]:
    """Serve it on a free port of this machine while the context is open; `hub.url` is where."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            hub.requests.append((self.command, path))
            name = "/".join(path.strip("/").split("/")[:2])
            if name in hub.stalled:
                hub.release.wait(60)
            if name in hub.dripping | hub.endless:
                self.pour(b" " if name in hub.dripping else b" " * 65536)
                return
            status, headers, body = hub.answer(path)
            self.send_response(status)
            for name, value in (headers | {"Content-Length": str(len(body))}).items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def pour(self, part: bytes) -> None:
            self.send_response(200)
            self.end_headers()
            with suppress(OSError):
                while not hub.release.wait(0.02 if len(part) == 1 else 0):
                    self.wfile.write(part)
                    hub.sent += len(part)

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            """Nothing on the terminal."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.release.set()
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def stand_in(directory: Path, patch: pytest.MonkeyPatch, configs: Mapping[str, str]) -> Iterator[Hub]:
    """A Hub in place of the real one for this process, and an empty cache of its own, while the context is open.

    Each name of `configs` is a model org/NAME with that config.json and weights that nobody should download. org/empty
    has no file, org/gated is gated.
    """
    for name, content in configs.items():
        (directory / name).mkdir()
        (directory / name / "config.json").write_text(content, encoding="utf-8")
        (directory / name / "model.safetensors").write_bytes(b"not wanted")
    (directory / "empty").mkdir()
    with serve(Hub({f"org/{name}": directory / name for name in (*configs, "empty")}, gated={"org/gated"})) as hub:
        constants = huggingface_hub.constants
        patch.setattr(constants, "ENDPOINT", hub.url)
        patch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", hub.url + "/{repo_id}/resolve/{revision}/{filename}")
        patch.setattr(constants, "HF_HUB_OFFLINE", False)
        patch.setattr(constants, "HF_HUB_CACHE", str(directory / "cache"))
        yield hub
