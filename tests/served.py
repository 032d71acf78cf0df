"""The page as gradio serves it, in this process."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from starlette.middleware import Middleware

from app.build import build
from app.connections import bounded_server
from app.engine import Engine
from app.hosting import HOSTING, launch_options
from app.session import Runs
from tests.apart import apart
from tests.page import Kept


@contextmanager
def gradio_site(engine: Engine, runs: Runs) -> Iterator[str]:
    """The address of the page as gradio serves it, for as long as the context lasts."""
    demo = build(apart(engine), runs)
    options = launch_options(demo, replace(HOSTING, at_once=1_000_000, mcp=True))  # all tests are one address
    options["app_kwargs"]["middleware"].insert(0, Middleware(Kept))
    with bounded_server():
        _, address, _ = demo.launch(prevent_thread_lock=True, **options)
    yield address
    demo.close(verbose=False)
