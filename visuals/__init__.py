"""From a trace to what the browser draws: compact messages, colours, figures, scripts. Never gradio, never app."""

from pathlib import Path

import plotly

# plotly.js as its own wheel holds it; the page fetches it with the first chart.
PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
STATIC = Path(__file__).parent / "static"
