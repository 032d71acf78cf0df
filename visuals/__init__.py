"""From a trace to what the browser draws: compact messages, colours, figures, scripts. Never gradio, never app.

A figure is imported when it is first asked for.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import plotly

from model.lazy import names_of

if TYPE_CHECKING:
    from .figures.attend import attention_figure, heads_figure
    from .figures.choice import lens_figure, next_token_figure
    from .figures.ffn import gates_figure
    from .figures.kv import cache_figure
    from .figures.look import Look
    from .figures.norm import rms_figure, stream_figure
    from .figures.position import rotation_figure

__all__ = [
    "PLOTLY",
    "STATIC",
    "Look",
    "attention_figure",
    "cache_figure",
    "gates_figure",
    "heads_figure",
    "lens_figure",
    "next_token_figure",
    "rms_figure",
    "rotation_figure",
    "stream_figure",
]

# plotly.js as its own wheel holds it; the page fetches it with the first chart.
PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
STATIC = Path(__file__).parent / "static"

_MODULES = {
    ".figures.attend": ("attention_figure", "heads_figure"),
    ".figures.choice": ("lens_figure", "next_token_figure"),
    ".figures.ffn": ("gates_figure",),
    ".figures.kv": ("cache_figure",),
    ".figures.look": ("Look",),
    ".figures.norm": ("rms_figure", "stream_figure"),
    ".figures.position": ("rotation_figure",),
}
__getattr__ = names_of(__name__, _MODULES)
