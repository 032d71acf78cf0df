"""Names as plotly shows them letter by letter: it reads tags and entities in every text that it is given."""

import re
from html import escape

KEY = re.compile(r"text:[\w.-]+")


def plain(name: str) -> str:
    """The name for a chart's title, legend, axis or hover; a key of the page's texts ("text:…") stays as it is."""
    return name if KEY.fullmatch(name) else escape(name, quote=False)
