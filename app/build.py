"""Puts the page together: the bar, the panels, and which event asks the service for what."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.events import api
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

from visuals import PLOTLY, STATIC
from visuals.payload import Message, message_payload

from . import panels
from .chapters import CHAPTERS, FIRST, all_panels, homes
from .chapters.glance import COLUMNS
from .doors import Doors
from .endpoints import endpoints
from .engine import Engine
from .examples import EXAMPLES
from .intake import Intake, visitor_of
from .requests import MAX_NEW_TOKENS
from .service import Service
from .serving import PackedFiles, PageHead
from .session import Runs
from .texts import DIRECTORY, LANGUAGES, text, text_file
from .theme import theme
from .waiting import BoundedQueue, Line, Listening, limited
from .zoo import offers

# The properties of gradio's components that hold words, by component, and the text of each.
LABELS = {
    "prompt": {"label": "bar.prompt", "placeholder": "bar.prompt_hint"},
    "model": {"label": "bar.model"},
    "language": {"label": "bar.language"},
    "run": {"value": "bar.run"},
    "generate": {"value": "bar.generate"},
    "stop": {"value": "bar.stop"},
    "step": {"value": "bar.step"},
    "settings": {"label": "bar.settings"},
    "max_new_tokens": {"label": "bar.max_new_tokens"},
    "temperature": {"label": "bar.temperature"},
    "top_k": {"label": "bar.top_k"},
    "top_p": {"label": "bar.top_p"},
    "seed": {"label": "bar.seed"},
}
# Values come as they were sent (preprocess=False): what gradio makes of odd ones is no message to anyone.
FEEDS_BUS: dict[str, Any] = {"show_progress": "hidden", "trigger_mode": "always_last", "api_visibility": "private"}
FEEDS_BUS |= {"preprocess": False}
IN_PAGE: dict[str, Any] = {"queue": False, "show_progress": "hidden", "api_visibility": "private", "preprocess": False}


def build(engine: Engine, runs: Runs | None = None) -> gr.Blocks:
    """The page over an engine, with room for `runs`. Show it with `demo.launch(**launch_options())`."""
    service = Service(engine, runs)
    with gr.Blocks(title=text("page.title"), analytics_enabled=False, fill_width=True) as demo:
        bus = panels.bus(server_functions(service))
        bar = Bar(engine)
        all_columns()
        # First the public names: gradio numbers whatever asks for a name that is taken.
        names = {"trace": "run", "generate": "generate", "kv_cache": "sums"}
        for (name, kind), function in zip(names.items(), endpoints(engine), strict=True):
            api(function, api_name=name, **limited(kind))
        bar.connect(demo, service, bus)
        # Never raised (a click is, by Bar.connect): it answers in place of an event that is one too many.
        busy = bus.retry(lambda: panels.sealed(message_payload("busy")), None, bus, **FEEDS_BUS, **limited("busy"))
    demo.queue(api_open=False)
    demo._queue = BoundedQueue(demo, busy["id"])
    return demo


def past_the_queue(service: Service) -> list[Callable[..., Message]]:
    """What the page asks for by itself, without waiting in gradio's queue."""
    return [
        service.layer,
        service.neurons,
        service.rerun,
        service.detail,
        service.calculate,
        service.change,
        service.recall,
        service.cut,
    ]


def server_functions(service: Service) -> list[Callable[..., Any]]:
    """The same for gradio, which goes by their names."""
    line = Line()
    return [line.guarded(method) for method in past_the_queue(service)]


def all_columns() -> gr.HTML:
    """Every panel: the first chapter's columns, and one for all that the other chapters add."""
    return panels.body([*COLUMNS, [kind for kind in all_panels() if kind not in CHAPTERS[FIRST]]])


def launch_options() -> dict[str, Any]:
    """What launch() needs for this page."""
    return {
        "theme": theme(),
        "footer_links": [],
        "run_history": False,
        "ssr_mode": False,
        "enable_monitoring": False,
        "max_file_size": "1mb",
        # gradio keeps what each session was last sent, by itself of ten thousand sessions.
        "state_session_capacity": 64,
        "pwa": False,
        "show_error": False,
        "quiet": True,
        # Files come packed from memory; then gradio's first page and the answers of server functions are packed too.
        "app_kwargs": {
            "middleware": [
                Middleware(Doors),
                Middleware(Listening),
                Middleware(PackedFiles, files={f"/{address(path)}": path for path in static_files()}),
                Middleware(GZipMiddleware, compresslevel=6),
                Middleware(PageHead, head=head()),
                Middleware(Intake),
            ]
        },
    }


def static_files() -> list[Path]:
    """All that the page fetches by an address of its own."""
    return [
        *scripts(),
        PLOTLY,
        *(text_file(code) for code in LANGUAGES),
        *(path for some in lesson_files().values() for path in some),
    ]


def lesson_files() -> dict[str, list[Path]]:
    """The lessons that come with the page, by language; visuals/static/lessons/lesson.js says what is in one."""
    return {code: sorted((DIRECTORY / "lessons").glob(f"lesson-*.{code}.json")) for code in LANGUAGES}


def scripts() -> list[Path]:
    """The page's own modules and styles."""
    return [path for path in STATIC.rglob("*") if path.suffix in (".js", ".css")]


def address(path: Path) -> str:
    """Where the page finds a static file, relative to itself, so that it also works under a path prefix.

    Says nothing of where the file is on the server.
    """
    name = path.relative_to(STATIC).as_posix() if path.is_relative_to(STATIC) else path.name
    return f"glass/{name}"


def chapter_style(chapter: str) -> str | None:
    """Where the page finds the styles of a chapter's own panels, if it has any."""
    path = STATIC / "panels" / chapter / "style.css"
    return address(path) if path.is_file() else None


def imported(*modules: Path) -> set[Path]:
    """These modules and all that they import."""
    found: set[Path] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            names = re.findall(r'from "(\.[^"]+)"', module.read_text(encoding="utf-8"))
            waiting += [(module.parent / name).resolve() for name in names]
    return found


def head() -> str:
    """Styles, scripts, where the texts are, and which text each of gradio's labels shows."""
    config = json.dumps(
        {
            "texts": {code: address(text_file(code)) for code in LANGUAGES},
            "chapters": {
                name: {"panels": kinds, "style": None if name == FIRST else chapter_style(name)}
                for name, kinds in CHAPTERS.items()
            },
            "homes": homes(),
            "plotly": address(PLOTLY),
            "labels": LABELS,
            "lessons": {code: [address(path) for path in files] for code, files in lesson_files().items()},
            "firstPrompts": {code: sentences[0] for code, sentences in EXAMPLES.items()},
        }
    )
    first_styles = [address(STATIC / "glass.css"), address(STATIC / "page.css"), chapter_style(FIRST)]
    styles = "".join(f"<link rel='stylesheet' href='{style}'>" for style in first_styles)
    styles += f"<link id='glass-late' rel='stylesheet' href='{address(STATIC / 'late.css')}'>"
    # Named here, the modules come together; without it each waits for the one that imports it. A chapter's come later.
    panels_first = [STATIC / "panels" / homes()[kind] / f"{kind}.js" for kind in ("tokens", *CHAPTERS[FIRST])]
    modules = sorted(imported(STATIC / "glass.js", *panels_first) - {STATIC / "glass.js"})
    styles += "".join(f"<link rel='modulepreload' href='{address(path)}'>" for path in modules)
    start = (
        f"window.glassConfig = {config}; window.glassReady = new Promise((done) => {{ window.glassLoaded = done; }});"
    )
    return f"{styles}<script>{start}</script><script type='module' src='{address(STATIC / 'glass.js')}'></script>"


class Bar:
    """The bar above the panels: its components by name, and their events."""

    def __init__(self, engine: Engine):
        self.parts: dict[str, Any] = {}
        with gr.Row(elem_classes="page-top"):
            panels.header()
            names = engine.names
            bare = {"container": False, "show_label": False, "scale": 0}
            self._add(gr.Dropdown, "model", names, value=names[0], **bare)
            choices = [(name, code) for code, name in LANGUAGES.items()]
            self._add(gr.Radio, "language", choices, value="en", **bare)
        with gr.Row(elem_classes="page-bar"):
            self._add(gr.Textbox, "prompt", EXAMPLES["en"][0], lines=1, max_lines=8, **bare | {"scale": 1})
            self._add(gr.Button, "run", variant="primary", scale=0)
            for name in ("generate", "stop", "step"):
                self._add(gr.Button, name, variant="stop" if name == "stop" else "secondary", scale=0)
        self.chips = panels.chips(EXAMPLES)
        with gr.Row(elem_classes="page-foot"):
            panels.status_line()
            with self._add(gr.Accordion, "settings", open=False), gr.Row():
                self.settings = [
                    self._add(gr.Slider, "max_new_tokens", 1, MAX_NEW_TOKENS, 32, step=1),
                    # The chapter Next token has the same settings (sampling.js); a reset here would not tell it.
                    self._add(gr.Slider, "temperature", 0, 2, 0, step=0.05, buttons=[]),
                    self._add(gr.Slider, "top_k", 0, 100, 0, step=1, buttons=[]),
                    self._add(gr.Slider, "top_p", 0, 1, 1, step=0.01, buttons=[]),
                    self._add(gr.Number, "seed", 0, precision=0, minimum=0),
                ]
        # The page's script fills this in: which run is shown, which layer is looked at.
        self.view = gr.JSON(visible=False)

    def _add(self, kind: type, name: str, *args: Any, **kwargs: Any) -> Any:
        words = {prop: text(key) for prop, key in LABELS[name].items()}
        self.parts[name] = kind(*args, elem_id=name, **words, **kwargs)
        return self.parts[name]

    def connect(self, demo: gr.Blocks, service: Service, bus: gr.HTML) -> None:
        """Give every control its event."""
        part, language = self.parts, self.parts["language"]
        self._connect_model_events(demo, service, bus)
        labels = [part[name] for name in LABELS]
        language.input(None, language, labels, js=waits("glass.setLanguage(...inputs).then(glass.relabel)"), **IN_PAGE)
        demo.load(None, None, labels, js=waits(f"glass.opened({json.dumps(offers(service.engine))})"), **IN_PAGE)
        # Nobody can press the bus, which is hidden: the script does where Back leads to another prompt or model.
        bus.click(None, None, labels, js=waits("glass.filled()"), **IN_PAGE)

    def _connect_model_events(self, demo: gr.Blocks, service: Service, bus: gr.HTML) -> None:
        part = self.parts
        asks: dict[str, Any] = {"outputs": bus, **FEEDS_BUS}
        given = [part["prompt"], part["model"], self.view]

        def run(prompt: Any, model: Any, view: Any, request: gr.Request) -> str:
            return panels.sealed(service.run(prompt, model, view, visitor_of(request)))

        # One argument for each control: gradio finds no request behind starred ones.
        def generate(
            prompt: Any, model: Any, view: Any, count: Any, heat: Any, k: Any, p: Any, seed: Any, request: gr.Request
        ) -> Iterator[str]:
            settings = (heat, k, p, seed)
            yield from map(panels.sealed, service.generate(prompt, model, count, settings, view, visitor_of(request)))

        def step(
            prompt: Any, model: Any, view: Any, _count: Any, heat: Any, k: Any, p: Any, seed: Any, request: gr.Request
        ) -> str:
            return panels.sealed(service.step(prompt, model, (heat, k, p, seed), view, visitor_of(request)))

        def stop(view: Any) -> None:
            service.stop(view.get("ticket") if isinstance(view, dict) else None)

        running, writing = waits("glass.begin('running', inputs)"), waits("glass.begin('generating', inputs)")
        text_event = part["generate"].click(
            generate, [*given, *self.settings], js=writing, **asks, **limited("generate")
        )
        stops = {"cancels": text_event, **limited("run")}
        starts = [part["run"].click, part["prompt"].submit, part["model"].input]
        gr.on(starts, run, given, js=running, **stops, **asks)
        part["step"].click(step, [*given, *self.settings], js=running, **stops, **asks)
        part["stop"].click(stop, self.view, js=waits("glass.halt()"), **IN_PAGE)
        self.chips.click(None, self.chips, part["prompt"], js="(sentence) => sentence", **IN_PAGE)
        opening = waits("glass.begin('running', inputs, true)")  # at what matters in that example
        self.chips.click(run, [self.chips, *given[1:]], js=opening, **stops, **asks)


def waits(expression: str) -> str:
    """JavaScript for an event: the value of an expression over `inputs`, once the page's script is there."""
    return f"async (...inputs) => {{ await glassReady; return {expression}; }}"
