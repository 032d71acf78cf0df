"""nginx in front of a page, by deploy/nginx.conf as it stands but for the page's port."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.page import ROOT, free_port

PREFIX = "/llama"
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


@contextmanager
def nginx_before(port: int, folder: Path) -> Iterator[str]:
    """The address at which nginx serves, under PREFIX, the page that is, or will be, at a port of this machine.

    `folder` is for its files. Skips the test where there is no nginx.
    """
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    if not Path(program).exists():
        pytest.skip("there is no nginx")
    location, own = LOCATION.replace("127.0.0.1:7860", f"127.0.0.1:{port}"), free_port()
    assert location != LOCATION
    (folder / "nginx.conf").write_text(AROUND.format(folder=folder, port=own, location=location))
    with subprocess.Popen([program, "-p", str(folder), "-c", str(folder / "nginx.conf")]) as nginx:
        try:
            yield f"http://127.0.0.1:{own}{PREFIX}/"
        finally:
            nginx.terminate()
