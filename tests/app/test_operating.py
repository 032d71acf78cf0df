"""For whoever runs the server: its health and figures, accounts, the command line, and an end without loss."""

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from gradio_client import Client

import model
from app import command
from app.build import build
from app.command import arguments
from app.engine import LocalEngine
from app.far.ray_serve import url_of
from app.hosting import Hosting, launch
from app.rates import LOGINS
from tests import patient
from tests.page import running_process
from tests.visitor import Site, Visitor

pytestmark = pytest.mark.gradio


@pytest.fixture(scope="module")
def guarded(roomy_checkpoint: Path) -> Iterator[str]:
    """The address of a page that lets in who has an account."""
    demo = build(LocalEngine([model.load(roomy_checkpoint, device="cpu")]))
    yield launch(demo, Hosting(accounts=[("ada", "lovelace")], trusted=("127.0.0.1",)))
    demo.close(verbose=False)


def log_in(address: str, password: str, host: str = "8.8.8.8") -> httpx.Response:
    """A try to log in, from an address."""
    given = {"username": "ada", "password": password}
    return patient.post(f"{address}login", data=given, headers={"x-forwarded-for": host})


def test_only_who_has_an_account_is_let_in(guarded: str) -> None:
    call = f"{guarded}gradio_api/call/trace"
    assert patient.post(call, json={"data": ["The cat"]}).status_code == 401
    body = {"data": {}, "component_id": 1, "fn_name": "layers", "session_hash": "s"}
    assert patient.post(f"{guarded}gradio_api/component_server", json=body).status_code in (401, 404)
    assert "The cat" not in patient.get(f"{guarded}config").text
    assert log_in(guarded, "wrong", "1.1.1.1").status_code == 400
    assert log_in(guarded, "lovelace", "1.1.1.1").json() == {"success": True}
    client = Client(guarded, auth=("ada", "lovelace"), verbose=False)
    assert client.predict("The cat", api_name="/trace")["pieces"]


def test_passwords_cannot_be_tried_through(guarded: str) -> None:
    assert [log_in(guarded, str(i)).status_code for i in range(int(LOGINS) + 2)] == [400] * int(LOGINS) + [429] * 2
    assert log_in(guarded, "lovelace", "9.9.9.9").status_code == 200  # nobody else is kept out


def test_health_and_figures(site: str) -> None:
    assert patient.get(f"{site}healthz").json() == {"status": "ok"}
    visitor = Visitor(Site(site))
    visitor.press("run", "The cat sleeps.", visitor.site.model, {})
    visitor.ask("calculate", {"what": "made up"})
    patient.get(f"{site}nowhere")
    figures = patient.get(f"{site}metrics").text
    for line in (
        'glass_llama_seconds_count{kind="run"}',
        'glass_llama_waited_seconds_count{kind="run"}',
        'glass_llama_seconds_count{kind="calculate"}',
        'glass_llama_refused_total{kind="other",reason="404"}',
        "glass_llama_waiting ",
        "glass_llama_unread_bytes ",
        "process_resident_memory_bytes ",
    ):
        assert line in figures, line
    assert "made up" not in figures


def test_figures_are_this_machines_alone_unless_they_are_opened(guarded: str) -> None:
    elsewhere = {"x-forwarded-for": "8.8.8.8"}
    assert patient.get(f"{guarded}metrics").status_code == 200
    assert patient.get(f"{guarded}metrics", headers=elsewhere).status_code == 404
    assert patient.get(f"{guarded}healthz", headers=elsewhere).status_code == 200


COUNT = 60  # tokens: a busy machine writes them within the seconds that a server has for what is under way


@pytest.mark.thorough
def test_a_server_that_is_asked_to_go_finishes_what_it_writes(roomy_checkpoint: Path) -> None:
    with running_process("--model", str(roomy_checkpoint), "--device", "cpu") as (address, pid):
        visitor = Visitor(Site(address))
        event = visitor.site.event("generate")
        values = ["The cat", visitor.site.model, {}, COUNT, 0, 0, 1, 0]
        body = {"data": values, "fn_index": event["id"], "session_hash": visitor.session}
        visitor.site.post("queue/join", body).raise_for_status()
        messages: list[dict[str, Any]] = []
        for message in visitor.heard():
            messages.append(message)
            if len(messages) == 3:
                os.kill(pid, signal.SIGTERM)
        last = json.loads(messages[-1]["output"]["data"][0])
        assert (messages[-1]["msg"], last["kind"]) == ("process_completed", "run")
        assert len(last["steps"]) == COUNT or last["steps"][-1]["stop"]
        until = time.monotonic() + 30
        while Path(f"/proc/{pid}/cmdline").read_bytes() and time.monotonic() < until:
            time.sleep(0.05)
        assert not Path(f"/proc/{pid}/cmdline").read_bytes()  # it has ended; the test's process has yet to note it


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["--port", "80000"], "--port: '80000' is no port; expected a whole number from 1 to 65535"),
        (["--port", "http"], "expected a whole number from 1 to 65535"),
        (["--port", "0"], "expected a whole number from 1 to 65535"),
        (["--trusted-proxy", "localhost"], "expected one such as 10.0.0.1, or a network such as 10.0.0.0/8"),
        (["--trusted-proxy", "10.0.0.1/8"], "expected one such as 10.0.0.1, or a network such as 10.0.0.0/8"),
        (["--frame", "school.example"], "expected one such as https://school.example"),
        (["--frame", "https://a.example; script-src *"], "expected one such as https://school.example"),
        (["--engine", "http://models"], "expected ray://HOST:PORT/NAME, such as ray://models:8000/llama, or here or"),
        (["--engine", "ray://models:x/llama"], "expected ray://HOST:PORT/NAME"),
        (["--engine", "ray://models/llama", "--device", "cpu"], "are the cluster's; expected --engine ray://… without"),
        (["--auth", "nowhere.txt"], "expected a file with NAME:PASSWORD in each line"),
    ],
)
def test_what_is_wrong_on_the_command_line_is_said(
    given: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        arguments(given)
    assert ended.value.code == 2
    assert says in capsys.readouterr().err


def test_what_mcp_needs_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert arguments(["--mcp"]).mcp
    file = tmp_path / "accounts"
    file.write_text("ada:lovelace\n", encoding="utf-8")
    monkeypatch.setattr(command, "find_spec", lambda _name: None)
    for given, says in ((["--auth", str(file)], "expected it without --auth"), ([], "requirements-mcp.txt")):
        with pytest.raises(SystemExit):
            arguments(["--mcp", *given])
        assert says in capsys.readouterr().err


def test_the_command_line_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "accounts"
    file.write_text("ada:love:lace\n\nalan:turing\n", encoding="utf-8")
    given = ["--port", "80", "--trusted-proxy", "10.0.0.0/8", "--trusted-proxy", "[::1]", "--auth", str(file)]
    found = arguments([*given, "--frame", "https://school.example/"])
    assert (found.port, found.trusted_proxy) == (80, ["10.0.0.0/8", "::1"])
    assert found.auth == [("ada", "love:lace"), ("alan", "turing")]
    assert found.frame == ["https://school.example"]
    assert arguments([]).trusted_proxy == []
    engines = ["process", "ray://models/llama", "ray://[::1]:81"]
    assert [arguments(["--engine", engine]).engine for engine in engines] == engines
    assert [url_of(engine) for engine in engines[1:]] == ["http://models:8000/llama", "http://[::1]:81/"]
    file.write_text("nobody\n", encoding="utf-8")
    with pytest.raises(SystemExit):
        arguments(["--auth", str(file)])
    assert "line 1" in capsys.readouterr().err
