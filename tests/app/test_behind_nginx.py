"""The page behind nginx under a prefix, by deploy/nginx.conf as it stands but for the page's port."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.app.looking import run
from tests.page import ROOT, free_port, leave, new_page, running_app, wait_for_run

LOCATION = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
AROUND = """
daemon off;
error_log stderr;
pid {folder}/pid;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        {location}
    }}
}}
"""


@pytest.fixture(scope="module")
def proxied(roomy_checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page's address at the proxy."""
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    if not Path(program).exists():
        pytest.skip("there is no nginx")
    folder, port = tmp_path_factory.mktemp("nginx"), free_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADIO_ROOT_PATH", "/llama")
        with running_app("--model", str(roomy_checkpoint), "--device", "cpu", "--trusted-proxy", "127.0.0.1") as page:
            location = LOCATION.replace("127.0.0.1:7860", urlsplit(page).netloc)
            assert location != LOCATION
            (folder / "nginx.conf").write_text(AROUND.format(folder=folder, port=port, location=location))
            with subprocess.Popen([program, "-p", str(folder), "-c", str(folder / "nginx.conf")]) as nginx:
                yield f"http://127.0.0.1:{port}/llama/"
                nginx.terminate()


def test_the_page_runs_and_writes_behind_a_prefix(browser: Browser, proxied: str) -> None:
    page = new_page(browser, proxied)
    page.goto(f"{proxied}#lang=en&chapter=glance")
    wait_for_run(page)
    run(page, "The cat sleeps")
    page.click("#generate")
    page.wait_for_function("glass.state.trace.T > glass.state.trace.nPrompt && glass.state.status === 'idle'")
    page.evaluate("glass.open('attend')")
    expect(page.locator("section[data-kind=attention][data-value]")).to_be_visible()
    leave(page)


def test_of_the_proxys_word_on_visitors_its_own_is_believed(proxied: str) -> None:
    """Who says that he is another is not taken for him: his address is the one that nginx saw."""
    said = {"X-Forwarded-For": "203.0.113.7"}
    assert httpx.get(f"{proxied}healthz", headers=said).json() == {"status": "ok"}
    assert (
        httpx.get(f"{proxied}metrics", headers=said).status_code == 200
    )  # this machine's own, not that of 203.0.113.7
    assert httpx.post(f"{proxied}gradio_api/queue/join", content=b" " * 2_000_000).status_code == 413
