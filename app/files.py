"""The page's own files: where each is found, and the HTML head that names them."""

import json
import re
from collections.abc import Callable
from pathlib import Path

from model.smollm2 import NAME as REAL_NAME
from visuals import PLOTLY, STATIC
from visuals.messages.page import PageConfig
from visuals.source_code import CODED

from .chapters import CHAPTERS, FIRST, ON_DEMAND, homes
from .examples import EXAMPLES, REAL_EXAMPLES
from .labels import LABELS
from .texts import DIRECTORY, LANGUAGES, on_demand_file, text_file

# Gradio makes the body dark once its scripts run, which on a telephone takes seconds: the root is dark until
# visuals/static/theme.js hands that on to the body.
FIRST_GROUND = (
    "{ const theme = new URLSearchParams(location.search).get('__theme');"
    " const dark = theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);"
    " document.documentElement.classList.toggle('dark', dark); }"
)


def static_files() -> list[Path]:
    """All that the page fetches by an address of its own."""
    return [
        *scripts(),
        PLOTLY,
        *(file(code) for code in LANGUAGES for file in (text_file, on_demand_file)),
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


def chapter_style(chapter: str, where: Callable[[Path], str] = address) -> str | None:
    """Where the page finds the styles of a chapter's own panels, if it has any."""
    path = STATIC / "panels" / chapter / "style.css"
    return where(path) if path.is_file() else None


def imported(*modules: Path) -> set[Path]:
    """These modules and all that they import."""
    found: set[Path] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += imports(module)
    return found


def imports(module: Path) -> list[Path]:
    """The modules that a module begins with."""
    names = re.findall(r'from "(\.[^"]+\.js)"', module.read_text(encoding="utf-8"))
    return [(module.parent / name).resolve() for name in names]


def first_modules() -> set[Path]:
    """The modules that the page begins with: its own, and the story's."""
    return imported(STATIC / "glass.js", STATIC / "story" / "story.js") - {STATIC / "glass.js"}


def bench_modules() -> list[str]:
    """The modules that the workbench's first chapter needs besides, as it opens."""
    kinds = ("tokens", *(kind for kind in CHAPTERS[FIRST] if kind not in ON_DEMAND[FIRST]))
    panels = [STATIC / "panels" / homes()[kind] / f"{kind}.js" for kind in kinds]
    return [address(path) for path in sorted(imported(*panels) - first_modules() - {STATIC / "glass.js"})]


def page_config(where: Callable[[Path], str] = address) -> PageConfig:
    """What the page's script is told first; `where` gives the address of each file."""
    return {
        "texts": {code: where(text_file(code)) for code in LANGUAGES},
        "textsOnDemand": {code: where(on_demand_file(code)) for code in LANGUAGES},
        "chapters": {
            name: {
                "panels": kinds,
                "onDemand": ON_DEMAND[name],
                "style": None if name == FIRST else chapter_style(name, where),
            }
            for name, kinds in CHAPTERS.items()
        },
        "homes": homes(),
        "coded": sorted(CODED),
        "benchModules": bench_modules(),
        "plotly": where(PLOTLY),
        "labels": LABELS,
        "lessons": {code: [where(path) for path in files] for code, files in lesson_files().items()},
        "firstPrompts": {code: sentences[0] for code, sentences in EXAMPLES.items()},
        "firstOf": {REAL_NAME: REAL_EXAMPLES[0]},
    }


def first_styles() -> list[Path]:
    """The styles that the page begins with, in their order; that of the first chapter is among them."""
    own = [STATIC / f"{name}.css" for name in ("glass", "page", "story/style", "story/rooms")]
    return [*own, STATIC / "panels" / FIRST / "style.css"]


def head() -> str:
    """Styles, scripts, where the texts are, and which text each of gradio's labels shows."""
    config = json.dumps(page_config())
    styles = "".join(f"<link rel='stylesheet' href='{address(style)}'>" for style in first_styles())
    styles += f"<link id='glass-late' rel='stylesheet' href='{address(STATIC / 'late.css')}'>"
    # Named here, the modules come together; without it each waits for the one that imports it. A chapter's come later.
    styles += "".join(f"<link rel='modulepreload' href='{address(path)}'>" for path in sorted(first_modules()))
    ready = "window.glassReady = new Promise((done) => { window.glassLoaded = done; });"
    start = f"{FIRST_GROUND} window.glassConfig = {config}; {ready}"
    return f"{styles}<script>{start}</script><script type='module' src='{address(STATIC / 'glass.js')}'></script>"
