"""What the server answers and what it does not: no route that the page has no use for, no path of the server."""

import site as python_site
import tempfile
from collections.abc import Iterator
from pathlib import Path

import gradio as gr
import pytest
from gradio.routes import App
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from app.files import address, head, scripts
from app.route_allowlist import MAX_BYTES, RouteAllowlist, is_open
from app.serving import without_comments
from tests import patient
from tests.page import ROOT

# Of gradio's routes those that this page, its endpoints or launch() ask for. A new version's other ones stay shut.
NEEDED = {
    "GET": {
        "/", "/config", "/config/", "/static/{path:path}", "/assets/{path:path}", "/favicon.ico", "/theme.css",
        "/robots.txt", "/gradio_api/app_id", "/gradio_api/app_id/", "/gradio_api/info", "/gradio_api/info/",
        "/gradio_api/openapi.json", "/gradio_api/heartbeat/{session_hash}", "/gradio_api/queue/data",
        "/gradio_api/call/{api_name}/{event_id}", "/gradio_api/call/v2/{api_name}/{event_id}",
        "/gradio_api/startup-events", "/gradio_api/theme.css",
    },
    "HEAD": {"/"},
    "POST": {
        "/gradio_api/queue/join", "/gradio_api/cancel", "/gradio_api/reset", "/gradio_api/component_server",
        "/gradio_api/component_server/", "/gradio_api/call/{api_name}", "/gradio_api/call/{api_name}/",
        "/gradio_api/call/v2/{api_name}", "/gradio_api/call/v2/{api_name}/",
    },
}  # fmt: skip


def routes_of(routes: list) -> Iterator[tuple[str, str]]:
    """(method, path) of every route, those of routers inside routers too."""
    for route in routes:
        if hasattr(route, "original_router"):
            yield from routes_of(route.original_router.routes)
        else:
            yield from ((method, route.path) for method in route.methods)


def test_of_gradios_routes_only_those_are_open_that_are_needed() -> None:
    with gr.Blocks() as demo:
        gr.HTML()
    routes = set(routes_of(App.create_app(demo).routes))
    assert len(routes) > 60
    assert ("POST", "/gradio_api/upload") in routes
    opened = {(method, path) for method, path in routes if is_open(method, path)}
    assert opened == {(method, path) for method, paths in NEEDED.items() for path in paths}


def test_nothing_can_be_left_on_the_servers_disk(site: str) -> None:
    def kept() -> set[Path]:
        return set((Path(tempfile.gettempdir()) / "gradio").rglob("*"))

    before = kept()
    for path in ("upload", "upload/", "process_recording", "stream/x", "vibe-edit", "run-history/connect"):
        answer = patient.post(f"{site}gradio_api/{path}", files={"files": ("a.txt", b"left here")})
        assert answer.status_code == 404, path
    for path in (
        f"file={ROOT}/app.py",
        "file=README.md",
        "file=https://example.org",
        "proxy=https://example.org",
        "deep_link",
    ):
        assert patient.get(f"{site}gradio_api/{path}").status_code == 404, path
    assert kept() == before


def test_who_asks_for_a_path_that_is_none(site: str) -> None:
    for path in (
        "/glass/../app.py",
        "/glass/%2e%2e/app.py",
        "/glass//etc/passwd",
        "/glass/",
        "/monitoring",
        "/svelte/x",
    ):
        assert patient.get(site.rstrip("/") + path).status_code == 404, path


def test_no_path_of_the_server_is_in_the_page(site: str) -> None:
    places = [
        str(ROOT),
        *python_site.getsitepackages(),
        tempfile.gettempdir(),
        "site-packages",
        "visuals/static",
        ".venv",
    ]
    for path in ("", "config", "gradio_api/info", "gradio_api/openapi.json", "nowhere", "gradio_api/file=nowhere"):
        text = patient.get(site + path).text
        assert [place for place in places if place in text] == [], path


def test_the_files_go_by_their_own_names_wherever_the_program_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = head()
    monkeypatch.chdir(tmp_path)
    assert head() == here
    names = [address(path) for path in scripts()]
    assert len(names) == len(set(names))


@pytest.mark.thorough
def test_every_file_of_the_page_is_served(site: str) -> None:
    for path in scripts():
        if path.suffix == ".css" or path.parent.name == "static":
            assert patient.get(site + address(path)).text == without_comments(path).decode(), path.name


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with what was sent."""
    body = await Request(scope, receive).body()
    await PlainTextResponse(body)(scope, receive, send)


def test_a_request_is_read_up_to_a_limit() -> None:
    client, path = TestClient(RouteAllowlist(echo)), "/gradio_api/queue/join"
    assert client.post(path, content=b"x" * MAX_BYTES).content == b"x" * MAX_BYTES
    assert client.post(path, content=(b"y" * 1000 for _ in range(5))).content == b"y" * 5000
    assert client.post(path, content=b"x" * (MAX_BYTES + 1)).status_code == 413
    parts = iter([b"x" * MAX_BYTES] * 100)
    assert client.post(path, content=parts).status_code == 413
