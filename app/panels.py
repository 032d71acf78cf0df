"""Pieces of the page that gradio only carries: the bus, the panels, the page's own small sections.

Their JavaScript waits for `glassReady`, a promise that app/build.py puts into the page's head and that the page's
script (visuals/static/glass.js) keeps, so that it does not matter which of them comes first.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from html import escape
from itertools import count
from typing import Any

import gradio as gr

from visuals.messages.run import BusMessage

from .texts import text

# Numbers what goes over the bus. gradio hands on a value that differs from the last one, and no other: without a number
# the second of two equal messages, such as a prompt that is refused twice, would not reach the page. It begins with the
# time, so that a server that is started again goes on after the last one.
SENT = count(time.time_ns() // 1_000_000)


def when_ready(code: str) -> str:
    """A js_on_load that runs `code` once window.glass is there."""
    return f"glassReady.then((glass) => {{ {code} }});"


def sealed(message: BusMessage) -> str:
    """A message as the bus carries it: one text, which gradio hands on without looking inside.

    It would clone and wrap every object in a dict, which takes longer than drawing. No "<", so no tag is found in it.
    The field `sent` makes the text differ from every other one.
    """
    numbered = {"sent": next(SENT), **message}
    return json.dumps(numbered, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def bus(server_functions: list[Callable[[Any], Any]]) -> gr.HTML:
    """Carries messages (see `sealed`) to the browser; shows nothing. The only component that carries data."""
    code = "glass.connect(server, () => trigger('click')); "
    code += "const read = () => props.value && glass.publish(JSON.parse(props.value)); read(); watch('value', read);"
    return gr.HTML(
        html_template="<span hidden></span>",
        elem_classes="page-bus",
        apply_default_css=False,
        js_on_load=when_ready(code),
        server_functions=server_functions,
    )


def panel(kind: str) -> str:
    """An empty section that the panel's module (static/panels/<chapter>/<kind>.js) fills and keeps in step."""
    return f"<section class='glass-panel' data-kind='{kind}' data-waiting></section>"


def fixed(part: str, html: str) -> gr.HTML:
    """A piece of the page that the script brings to life under the name `part`; `html` is fixed, never a visitor's."""
    return gr.HTML(
        html_template=html,
        elem_classes=["page-part", f"page-{part}"],
        apply_default_css=False,
        js_on_load=when_ready(f"glass.attach('{part}', element);"),
    )


def said(tag: str, key: str, attributes: str = "") -> str:
    """An element that holds a text in English until the page's script puts it into the reader's language."""
    return f"<{tag} data-text='{key}' {attributes}>{escape(text(key))}</{tag}>"


def header() -> gr.HTML:
    """The way past all that stands above what is read; title, one sentence, the page's two levels, the way to a real
    LLaMA where it is not there yet, the lessons, the list of keys, and the switch between light and dark."""

    def button(name: str, inside: str = "") -> str:
        key = f"bar.{name}"
        named = f"aria-label='{escape(text(key))}' data-text-label='{key}' data-text-title='{key}'"
        return f"<button type='button' id='{name}' class='page-tool' {named}>{inside}</button>"

    def level(name: str) -> str:
        return said("button", f"level.{name}", f"type='button' data-level='{name}'")

    words = f"<div>{said('h1', 'page.heading')}{said('p', 'page.sentence')}</div>"
    levels = f"<div id='level' role='group' data-text-label='level.name'>{level('story')}{level('workbench')}</div>"
    lessons = said("button", "lessons.open", "type='button' id='lessons' class='page-tool'")
    real = said("button", "real.open", "type='button' id='real' class='page-tool' hidden")
    tools = real + lessons + button("shortcuts") + button("theme", "<span aria-hidden='true'></span>")
    ways = "".join(
        said("button", f"bar.skip_{part}", f"type='button' class='page-skip is-of-{part}'")
        for part in ("story", "bench")
    )
    return fixed("header", f"{ways}<header>{words}<div class='page-tools'>{levels}{tools}</div></header>")


def body(kinds: Sequence[str]) -> gr.HTML:
    """What was written; the stories; the answer, the token strip, the row of chapters and these panels.

    One component: gradio takes time for each.
    """
    grid = "".join(map(panel, kinds))
    nav = "<nav class='page-nav' data-text-label='chapter.nav'></nav>"
    written = "<div class='page-written' hidden></div>"
    above = panel("why") + panel("tokens")
    story = "<div class='page-story'></div>"
    return fixed(
        "panels", f"{written}{story}<div class='page-body'>{above}{nav}<div class='page-grid'>{grid}</div></div>"
    )


def model_picker(first: str, **how: Any) -> gr.HTML:
    """The list to choose a network from (static/model-picker.js); the name of the one that is chosen is the value."""
    code = "glass.picker.attach(element, props, () => trigger('input')); watch('value', glass.picker.draw);"
    return gr.HTML(first, html_template="<span></span>", apply_default_css=False, js_on_load=when_ready(code), **how)


def chips(sentences: Mapping[str, Sequence[str]], real: Sequence[str]) -> gr.HTML:
    """Example sentences as buttons: those of the small world, by language, and the `real` ones, of English at large.

    The one that is pressed is the value.
    Styles show those of the model that was run, if it has some.
    """
    code = "element.addEventListener('click', ({ target }) => { const chip = target.closest('button'); "
    code += "if (chip) { props.value = chip.textContent; trigger('click'); } });"
    buttons = "".join(
        f"<button type='button' lang='{code}'>{escape(one)}</button>"
        for code, some in sentences.items()
        for one in some
    )
    buttons += "".join(f"<button type='button' data-real lang='en'>{escape(one)}</button>" for one in real)
    return gr.HTML(
        html_template=f"<div class='page-chips'>{buttons}</div>",
        elem_classes="page-part",
        apply_default_css=False,
        js_on_load=code,
    )


def status_line() -> gr.HTML:
    """What runs on what, how far weights are that are awaited, and what went wrong; read aloud when it changes. On a
    telephone the machine is named where the settings are open."""
    now = f"<span class='page-now'>{escape(text('page.starting'))}</span>"
    bar = "<progress class='page-loading' aria-hidden='true' hidden></progress>"
    parts = f"<p class='page-device'><span class='page-machine'></span>{now} {bar}</p>"
    parts += "<p class='page-quarters gp-hidden' role='status'></p>"
    parts += "<p class='page-message' role='status' aria-live='polite' hidden></p>"
    return fixed("status", parts)
