"""Puts the page together: the bar, the panels, and which event asks the service for what."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import gradio as gr
from gradio.events import api

from visuals.messages.run import Notice
from visuals.payload import message_payload

from . import panels
from .chapters import ABOVE, CALCULATORS, DETAILS, LONG, all_panels
from .direct_calls import LINES, DirectCallLimiter
from .endpoints import endpoints
from .engine import Engine
from .examples import EXAMPLES, REAL_EXAMPLES
from .labels import LABELS
from .metrics import Metrics
from .operating import Drain
from .requests import MAX_NEW_TOKENS
from .service import Service
from .session import Runs
from .texts import LANGUAGES, text
from .visitors import visitor_of
from .waiting import BoundedQueue, limited, reader_follows
from .zoo import offers

# Values come as they were sent (preprocess=False): what gradio makes of odd ones is no message to anyone.
FEEDS_BUS: dict[str, Any] = {"show_progress": "hidden", "trigger_mode": "always_last", "api_visibility": "private"}
FEEDS_BUS |= {"preprocess": False}
IN_PAGE: dict[str, Any] = {"queue": False, "show_progress": "hidden", "api_visibility": "private", "preprocess": False}


class GlassPage(gr.Blocks):
    """The page, with what answers it (`service`), what it counts (`metrics`), and whether it goes down (`drain`)."""

    bounded_queue: BoundedQueue

    def __init__(self, engine: Engine, runs: Runs | None = None):
        super().__init__(title=text("page.title"), analytics_enabled=False, fill_width=True)
        self.drain = Drain()
        self.metrics = Metrics()
        self.service = Service(engine, runs, self.drain)


def build(engine: Engine, runs: Runs | None = None) -> GlassPage:
    """The page over an engine, with room for `runs`. Put it up with app/hosting.py."""
    demo = GlassPage(engine, runs)
    service = demo.service
    with demo:
        bus = panels.bus(guarded_calls(service, demo.metrics))
        bar = Bar(engine)
        body()
        # First the public names: gradio numbers whatever asks for a name that is taken.
        names = {"trace": "run", "generate": "generate", "kv_cache": "sums"}
        for (name, kind), function in zip(names.items(), endpoints(engine), strict=True):
            api(function, api_name=name, **limited(kind))
        bar.connect(demo, service, bus)
        # Never raised (a click is, by Bar.connect): it answers in place of an event that is one too many.
        busy = bus.retry(lambda: panels.sealed(refusal(demo)), None, bus, **FEEDS_BUS, **limited("busy"))
    demo.queue(api_open=False)
    demo._queue = demo.bounded_queue = BoundedQueue(demo, busy["id"], demo.metrics, demo.drain)
    return demo


def refusal(demo: GlassPage) -> Notice:
    """What the page is told whose event is not taken in."""
    return message_payload("draining" if demo.drain.begun else "busy")


def direct_calls(service: Service) -> list[Callable[..., Mapping[str, object]]]:
    """What the page asks for by itself, without waiting in gradio's queue."""
    return [
        service.layers,
        service.neurons,
        service.rerun,
        service.detail,
        service.calculate,
        service.change,
        service.recall,
        service.cut,
        service.one_file,
    ]


def guarded_calls(service: Service, metrics: Metrics) -> list[Callable[..., Any]]:
    """The same for gradio, which goes by their names; each visitor has so many places.

    Long work has places of its own, and so have sums and what waits for the Hub.
    """
    lines = {name: DirectCallLimiter(limit, metrics) for name, limit in LINES.items()}
    details = {name: lines[name].guarded(service.detail, DETAILS) for name in ("short", "long")}
    sums = {name: lines[name].guarded(service.calculate, CALCULATORS) for name in ("sums", "long", "hub", "progress")}

    async def detail(data: Any, request: gr.Request) -> Mapping[str, object]:
        return await details["long" if asks_long(data) else "short"](data, request)

    async def calculate(data: Any, request: gr.Request) -> Mapping[str, object]:
        return await sums[line_of(data)](data, request)

    looks = [maybe_ahead(method, lines) for method in (service.layers, service.neurons)]
    apart = (service.calculate, service.detail, service.layers, service.neurons)
    others = [method for method in direct_calls(service) if method not in apart]
    return [calculate, detail, *looks, *(lines["short"].guarded(method) for method in others)]


def maybe_ahead(method: Callable[..., Any], lines: Mapping[str, DirectCallLimiter]) -> Callable[..., Any]:
    """A function that, asked ahead, waits in the line of long work: its turns come late."""
    short, long = (lines[name].guarded(method) for name in ("short", "long"))

    async def asked(data: Any, request: gr.Request) -> Mapping[str, object]:
        is_ahead = isinstance(data, dict) and data.get("ahead") is True
        return await (long if is_ahead else short)(data, request)

    asked.__name__ = method.__name__
    return asked


def asks_long(data: Any) -> bool:
    """Whether a request, which nobody has checked yet, asks for long work."""
    what = data.get("what") if isinstance(data, dict) else None
    return isinstance(what, str) and what in LONG


def line_of(data: Any) -> str:
    """In which of LINES a sum waits, by what is asked, which nobody has checked yet."""
    if not isinstance(data, dict):
        return "sums"
    if data.get("what") == "loading":
        return "progress"
    return "hub" if data.get("hub") else "long" if asks_long(data) else "sums"


def body() -> gr.HTML:
    """Every panel, those of the first chapter first."""
    return panels.body([kind for kind in all_panels() if kind != ABOVE])


class Bar:
    """The bar above the panels: its components by name, and their events."""

    def __init__(self, engine: Engine):
        self.parts: dict[str, Any] = {}
        with gr.Row(elem_classes="page-top"):
            panels.header()
            bare = {"container": False, "show_label": False, "scale": 0}
            self._add(panels.model_picker, "model", engine.names[0], **bare)
            choices = [(name, code) for code, name in LANGUAGES.items()]
            self._add(gr.Radio, "language", choices, value="en", **bare)
        with gr.Row(elem_classes="page-bar"):
            self._add(gr.Textbox, "prompt", EXAMPLES["en"][0], lines=1, max_lines=8, **bare | {"scale": 1})
            self._add(gr.Button, "run", variant="primary", scale=0)
            for name in ("generate", "stop", "step"):
                self._add(gr.Button, name, variant="stop" if name == "stop" else "secondary", scale=0)
        self.chips = panels.chips(EXAMPLES, REAL_EXAMPLES)
        with gr.Row(elem_classes="page-foot"):
            panels.status_line()
            if "duplicate" in LABELS:
                self._add(gr.DuplicateButton, "duplicate", variant="secondary")
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

    def _add(self, kind: Callable[..., Any], name: str, *args: Any, **kwargs: Any) -> Any:
        words = {prop: text(key) for prop, key in LABELS[name].items()}
        self.parts[name] = kind(*args, elem_id=name, **words, **kwargs)
        return self.parts[name]

    def connect(self, demo: gr.Blocks, service: Service, bus: gr.HTML) -> None:
        """Give every control its event."""
        part, language = self.parts, self.parts["language"]
        self._connect_model_events(demo, service, bus)
        labels = [part[name] for name in LABELS]
        language.input(None, language, labels, js=waits("glass.setLanguage(...inputs).then(glass.relabel)"), **IN_PAGE)
        known = f"{json.dumps(offers(service.engine))}, {json.dumps(service.engine.real is not None)}"
        demo.load(None, None, labels, js=waits(f"glass.opened({known})"), **IN_PAGE)
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
            for message in service.generate(prompt, model, count, settings, view, visitor_of(request)):
                yield panels.sealed(message)
                if not reader_follows():
                    return

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
        gr.on([part["run"].click, part["prompt"].submit], run, given, js=running, **stops, **asks)
        picked = waits("glass.begin('running', glass.picked(inputs))")
        part["model"].input(run, given, js=picked, **stops, **asks)
        part["step"].click(step, [*given, *self.settings], js=running, **stops, **asks)
        part["stop"].click(stop, self.view, js=waits("glass.halt()"), **IN_PAGE)
        self.chips.click(None, self.chips, part["prompt"], js="(sentence) => sentence", **IN_PAGE)
        opening = waits("glass.begin('running', inputs, true)")  # at what matters in that example
        self.chips.click(run, [self.chips, *given[1:]], js=opening, **stops, **asks)


def waits(expression: str) -> str:
    """JavaScript for an event: the value of an expression over `inputs`, once the page's script is there."""
    return f"async (...inputs) => {{ await glassReady; return {expression}; }}"
