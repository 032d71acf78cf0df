"""The HTML of a file of runs: all of it is in the file, and a browser that opens it asks no one for anything.

What is inside is packed, and in base64: so no text of a visitor's is markup, whatever it holds.
"""

import base64
import gzip
import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape

from gradio import HTML

from model import GlassLlamaError, Trace
from visuals.messages.one_file import FileContents

from ..chapters import ABOVE, all_panels
from ..engine import Engine
from ..files import first_styles
from ..panels import body, header, said, status_line
from ..texts import LANGUAGES, text
from .bundle import OWN, UNPACK, config, name_of, parts
from .planes import in_planes
from .recording import NOTHING, Question, View, contents_of

FILLED_BYTES = 4_800_000  # up to which a file is filled with what a reader may look at
MOST_BYTES = 25_000_000  # of a file


def policy(script: str) -> str:
    """The Content-Security-Policy of a file: it runs its own first script, and what that unpacks; no network."""
    own = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'sha256-{own}' blob:",
            "style-src 'unsafe-inline' blob:",
            "img-src data: blob:",
            "connect-src blob:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def packed(value: object) -> str:
    """JSON, packed by gzip, in base64."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode("utf-8", "surrogatepass"), mtime=0)).decode("ascii")


@cache
def packed_page() -> str:
    """The page's own parts; the same for every file."""
    styles = [*first_styles(), OWN / "style.css"]
    return packed({"parts": parts(), "styles": [name_of(style) for style in styles]})


def bar(prompt: str) -> str:
    """What stands in the place of the page's bar: the prompt, which cannot be changed, and the languages."""
    languages = "".join(
        f"<button type='button' lang='{code}' data-language='{code}'>{name}</button>"
        for code, name in LANGUAGES.items()
    )
    shown = f"<textarea readonly rows='1' data-text-label='one_file.prompt'>{escape(prompt)}</textarea>"
    return (
        f"<div class='page-bar'><div id='prompt'>{shown}</div>"
        f"<div id='language' role='group' data-text-label='bar.language'>{languages}</div></div>"
        f"{said('p', 'one_file.says', 'class=of-says')}"
    )


def element(piece: HTML) -> str:
    """One of the page's pieces, which gradio else puts into an element of its own."""
    return f"<div class='{' '.join(piece.elem_classes)}'>{piece.html_template}</div>"


def html(prompt: str, contents: FileContents) -> str:
    """The whole file."""
    script = UNPACK.read_text(encoding="utf-8")
    panels = element(body([kind for kind in all_panels() if kind != ABOVE]))
    needs = " ".join(f"<span lang='{code}'>{escape(text('one_file.opens', code))}</span>" for code in LANGUAGES)
    inside = {
        "glass-page": packed_page(),
        "glass-config": packed(config(prompt)),
        "glass-runs": packed(in_planes(contents)),
    }
    data = (f"<script type='application/octet-stream' id='{name}'>{told}</script>" for name, told in inside.items())
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        f'<meta http-equiv="Content-Security-Policy" content="{policy(script)}">'
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(text('page.title'))}</title><link rel='icon' href='data:,'></head>"
        f"<body><p class='of-opens'>{needs}</p><main class='gradio-container' hidden>"
        f"{element(header())}{bar(prompt)}{element(status_line())}{panels}</main>"
        f"{''.join(data)}<script type='module'>{script}</script></body></html>"
    )


def document(
    engine: Engine,
    views: Sequence[View],
    address: str,
    calculations: Iterable[Question] = (),
    lesson: object = None,
) -> str:
    """These views as one HTML file, which opens at `address`. Raises GlassLlamaError for runs that are too long."""
    size = sum(bytes_of_layers(view.held.trace) for view in views)
    if size > MOST_BYTES:
        megabytes, most = round(size / 1e6), MOST_BYTES // 10**6
        told = f"The file would take about {megabytes} MB; expected up to {most}. Save a shorter text."
        raise GlassLlamaError("file_long", told, size=megabytes, most=most)
    prompt = views[0].held.prompt
    room = FILLED_BYTES - len(html(prompt, NOTHING))
    return html(prompt, contents_of(engine, views, address, calculations, lesson, room))


def bytes_of_layers(trace: Trace) -> int:
    """About how many bytes queries and keys of every layer take in a file: numbers of four bytes, in base64."""
    config = trace.network.config
    return len(trace.token_ids) * trace.n_layers * (config.n_heads + config.n_kv_heads) * config.head_dim * 4 * 4 // 3
