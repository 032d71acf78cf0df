"""The panels without gradio: a page that holds them and the least of a bar, over the same Service.

What the panels show and do is tested here; what gradio carries (the bar, the queue, the endpoints, its own components)
on the page itself. It opens in a fraction of the time that gradio's components take.
"""

import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from itertools import count
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from app import panels
from app.build import body, direct_calls
from app.engine import Engine
from app.files import address, head, static_files
from app.service import Service
from app.serving import PackedFiles
from app.session import Runs
from app.texts import LANGUAGES
from app.zoo import offers
from tests.apart import apart
from tests.page import Kept

# The bar's part of the work, which gradio's components do on the page itself.
SCRIPT = """
const glass = await glassReady;
const post = async (name, ...given) => {
  const answer = await fetch(`ask/${name}`, { method: "POST", body: JSON.stringify(given) });
  return answer.json();
};
const server = Object.fromEntries(NAMES.map((name) => [name, (data) => post(name, data)]));
const box = document.querySelector("#prompt textarea");
for (const part of ["header", "panels", "status"]) glass.attach(part, document.querySelector(`.page-${part}`));
const given = (updates) => { for (const { value } of updates.slice(0, 1)) if (value !== undefined) box.value = value; };
glass.connect(server, () => given(glass.filled()));
given(await glass.opened(OFFERS));
const run = async () => glass.publish(await post("run", ...glass.begin("running", [box.value, MODEL, null])));
const step = async () => { // how many tokens and how they are chosen go along
  const [prompt, model, view, , ...settings] = glass.begin("running", [box.value, MODEL, null, 1]);
  glass.publish(await post("step", prompt, model, settings, view));
};
document.querySelector("#step").addEventListener("click", step);
document.querySelector("#run").addEventListener("click", run);
for (const button of document.querySelectorAll("#language button")) {
  button.addEventListener("click", () => glass.setLanguage(button.value));
}
box.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey) return;
  event.preventDefault();
  run();
});
"""


def html(service: Service, names: list[str]) -> str:
    """The page: its head as the real one's, the pieces that gradio only carries, and the script above."""
    pieces = (panels.header(), panels.status_line(), body())
    parts = "".join(f"<div class='{' '.join(piece.elem_classes)}'>{piece.html_template}</div>" for piece in pieces)
    script = f"const NAMES = {json.dumps(names)}, MODEL = {json.dumps(service.engine.names[0])};"
    script += f"const OFFERS = {json.dumps(offers(service.engine))};{SCRIPT}"
    languages = "".join(f"<button type='button' value='{code}'>{name}</button>" for code, name in LANGUAGES.items())
    bar = "<div id='prompt'><textarea aria-label='Prompt'></textarea></div>"
    large = "style='min-height: 24px'"  # as WCAG asks of neighbours
    bar += f"<button type='button' id='run' {large}>Run</button> <button type='button' id='step' {large}>+1</button>"
    bar = f"<div class='page-bar'>{bar}<div id='language'>{languages}</div></div>"
    icon = "<link rel='icon' href='data:,'>"  # or the browser asks for one
    files = re.sub(r"([\"'])(?=glass/)", r"\1/", head())  # of all pages
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Glass Llama</title>{icon}"
        f"<meta name='viewport' content='width=device-width, initial-scale=1'>{files}</head>"
        f"<body><main class='gradio-container'>{bar}{parts}</main><script type='module'>{script}</script></body></html>"
    )


class Site:
    """What one page asks for: its HTML and its answers."""

    def __init__(self, engine: Engine, runs: Runs):
        service = Service(engine, runs)
        self.asked: dict[str, Callable[..., Any]] = {
            function.__name__: function for function in direct_calls(service)
        } | {"run": service.run, "step": service.step}
        self.html = html(service, [name for name in self.asked if name not in ("run", "step")])


class Sites:
    """A server of this process for all plain pages, each under a number of its own.

    They share an origin, and with it the files and what the browser has compiled of them: a page on a new origin would
    take a second of a processor to compile what stands there already, and a walk through its chapters four.
    """

    def __init__(self) -> None:
        self.sites: dict[int, Site] = {}
        self.numbers = count(1)

    @cached_property
    def address(self) -> str:
        """Where the server is; it starts when it is first asked for, and ends with the process."""
        listener = socket.create_server(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(self.application(), log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        return f"http://127.0.0.1:{listener.getsockname()[1]}/"

    def application(self) -> Starlette:
        """Serves the pages, their files and what they ask for."""
        files = {f"/{address(path)}": path for path in static_files()}
        return Starlette(
            routes=[
                Route("/{site:int}/", self._page),
                Route("/{site:int}/ask/{name}", self._answer, methods=["POST"]),
                Route("/{site:int}/gradio_api/app_id", self._alive),
            ],
            middleware=[Middleware(Kept), Middleware(PackedFiles, files=files)],
        )

    def _site(self, request: Request) -> Site:
        found = self.sites.get(request.path_params["site"])
        if found is None:
            raise HTTPException(404)
        return found

    async def _page(self, request: Request) -> Response:
        return HTMLResponse(self._site(request).html)

    async def _answer(self, request: Request) -> Response:
        work = self._site(request).asked[request.path_params["name"]]
        return JSONResponse(await run_in_threadpool(work, *await request.json()))

    async def _alive(self, _request: Request) -> Response:
        return JSONResponse({"app_id": "plain"})  # gradio's answer to whether the server is there


SITES = Sites()


@contextmanager
def plain_site(engine: Engine, runs: Runs) -> Iterator[str]:
    """The address of the plain page, for as long as the context lasts."""
    number = next(SITES.numbers)
    SITES.sites[number] = Site(apart(engine), runs)
    try:
        yield f"{SITES.address}{number}/"
    finally:
        del SITES.sites[number]
