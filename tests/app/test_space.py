"""The page as a Space on ZeroGPU starts it: by its environment alone, without a network, behind a proxy and a prefix.

Where the package `spaces` is installed (`make test-zerogpu`) it is that which starts; else one like it in what the page
sees: it tells ZeroGPU, when the page opens, that a function wants a GPU. ZeroGPU itself is a server of the test's.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Browser, Page, expect

from app.texts import text
from app.zoo import ZOO, small_name
from model.checkpoint import BUNDLED
from tests.app.looking import BOX, array, run, settled
from tests.page import ROOT, free_port, leave, new_page, wait_for_run
from tests.proxy import PREFIX, nginx_before
from tests.reference import reference

pytestmark = pytest.mark.thorough

SPACE = "someone/glass-llama"
# What is told to ZeroGPU when a page opens: that it has functions for the GPU. Without it the Space is stopped.
REPORT = "/startup-report"
LIKE_SPACES = """
import os
from urllib.request import Request, urlopen

import gradio

wanted = []
first = gradio.Blocks.launch


def launch(*args, **kwargs):
    if wanted:
        urlopen(Request(os.environ["SPACES_ZERO_DEVICE_API_URL"] + "/startup-report", method="POST"))
    return first(*args, **kwargs)


gradio.Blocks.launch = launch


def GPU(task=None, *, duration=60):
    if task is None:
        return lambda task: GPU(task, duration=duration)
    wanted.append((task, duration))
    return task
"""
# Before anything else is imported: whatever asks for another machine is noted, and gets no answer.
NO_NETWORK = """
import os
import sys


def refuse(event, args):
    if event == "socket.getaddrinfo":
        host = args[0]
    elif event == "socket.connect" and isinstance(args[1], tuple):
        host = args[1][0]
    else:
        return
    name = host.decode() if isinstance(host, bytes) else host
    if name in (None, "", "localhost", "0.0.0.0", "::", "::1") or str(name).startswith("127."):
        return
    with open(os.environ["ASKED"], "a") as asked:
        print(event, name, file=asked)
    raise OSError(f"no network: {name}")


sys.addaudithook(refuse)
"""


class ZeroGPU(HTTPServer):
    """What a Space on ZeroGPU finds at SPACES_ZERO_DEVICE_API_URL; notes what it is told."""

    def __init__(self) -> None:
        told: list[str] = []

        class Answer(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                told.append(self.path)
                self.send_response(200)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing is written."""

        super().__init__(("127.0.0.1", 0), Answer)
        self.told = told


class Space:
    """app.py as a Space starts it, at one port."""

    def __init__(self, folder: Path, zerogpu: ZeroGPU):
        self.port = free_port()
        self.asked = folder / "asked"
        (folder / "sitecustomize.py").write_text(NO_NETWORK, encoding="utf-8")
        if not find_spec("spaces"):
            (folder / "spaces.py").write_text(LIKE_SPACES, encoding="utf-8")
        offline = {"HF_HUB_OFFLINE", "GRADIO_ANALYTICS_ENABLED"}  # of the tests, not of a Space
        self.environment = {name: value for name, value in os.environ.items() if name not in offline} | {
            "SYSTEM": "spaces",
            "SPACE_ID": SPACE,
            "SPACE_HOST": "someone-glass-llama.hf.space",
            "SPACE_AUTHOR_NAME": "someone",
            "SPACE_REPO_NAME": "glass-llama",
            "SPACES_ZERO_GPU": "true",
            "SPACES_ZERO_DEVICE_API_URL": "http://{}:{}".format(*zerogpu.server_address),
            "ZEROGPU_OFFLOAD_DIR": str(folder / "tensors"),
            "GRADIO_SERVER_NAME": "0.0.0.0",
            "GRADIO_SERVER_PORT": str(self.port),
            "GRADIO_NUM_PORTS": "1",
            "GRADIO_ROOT_PATH": PREFIX,
            "PYTHONUNBUFFERED": "1",
            "PYTHONPATH": str(folder),
            "ASKED": str(self.asked),
        }

    @contextmanager
    def awake(self) -> Iterator[None]:
        """The Space runs from when its page answers, and then sleeps: its process is ended."""
        command = [sys.executable, "app.py"]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=self.environment) as app:
            try:
                assert app.stdout is not None
                assert any("Glass Llama is at" in line for line in app.stdout), "app.py ended before its page was up"
                yield
            finally:
                app.send_signal(signal.SIGTERM)


@pytest.fixture
def zerogpu() -> Iterator[ZeroGPU]:
    with ZeroGPU() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def shows_what_transformers_computes(page: Page, checkpoint: Path) -> None:
    """The candidates of the shown run have the logits that transformers gives them."""
    ids, candidates = page.evaluate("[glass.state.trace.tokens.ids, glass.state.trace.next.ids]")
    with torch.no_grad():
        theirs = reference(checkpoint)(torch.tensor([ids])).logits[0, -1]
    assert array(page, "glass.state.trace.next.logits") == pytest.approx(theirs[candidates].numpy(), rel=1e-4, abs=1e-4)
    assert candidates[0] == int(theirs.argmax())


def test_a_space_opens_sleeps_and_wakes(browser: Browser, zerogpu: ZeroGPU, tmp_path: Path) -> None:
    space = Space(tmp_path, zerogpu)
    with nginx_before(space.port, tmp_path) as address:
        with space.awake():
            assert zerogpu.told == [REPORT]
            page = new_page(browser, address)
            page.goto(f"{address}#lang=en&chapter=glance")
            wait_for_run(page)
            run(page, "The cat sleeps")
            shows_what_transformers_computes(page, BUNDLED)
            # Its weights are read now, when torch may say that there is a GPU.
            page.evaluate("(name) => glass.readBy(name)", small_name("llama"))
            wait_for_run(page)
            shows_what_transformers_computes(page, ZOO / "llama")
            expect(page.locator(".page-device")).to_contain_text("CPU")
            page.evaluate("window.open = (url) => { window.opened = url; }")
            page.get_by_role("button", name=text("bar.duplicate")).click()
            page.wait_for_function("window.opened")
            assert page.evaluate("window.opened") == f"https://huggingface.co/spaces/{SPACE}?duplicate=true"
            settled(page)
        before = page.evaluate("glass.state.trace.id")
        message = page.locator(".page-message")
        page.fill(BOX, "The dog sleeps")
        page.click("#run")
        expect(message).to_have_text(text("message.server_away", status=502))
        assert page.evaluate("[glass.state.trace.id, glass.state.status]") == [before, "idle"]
        with space.awake():
            expect(message).to_have_text(text("message.connected"))
            page.evaluate("glass.open('attend')")  # of the run that is shown, which the new process has never had
            expect(page.locator("section[data-kind=attention][data-value]")).to_be_visible()
            settled(page)
            expect(page.locator("section[data-kind=cell] [data-failed]")).to_have_count(0)
            page.click("#run")
            page.wait_for_function("glass.state.trace.prompt === 'The dog sleeps'")
            wait_for_run(page)
            shows_what_transformers_computes(page, ZOO / "llama")
            expect(message).to_be_hidden()
            leave(page)
    assert zerogpu.told == [REPORT, REPORT]
    assert not space.asked.exists(), space.asked.read_text(encoding="utf-8")
