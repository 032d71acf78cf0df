"""The page's words: en.json and zh.json, keyed by panel and name, with {placeholders}. The script reads them too.

Sections that only panels outside the first chapter need, and what is told of an answer late, may stand in
en.on-demand.json and zh.on-demand.json, which the page fetches when the first of these is opened. Here they are one
table.

Of {count|token|tokens} the first word stands where count is 1, else the second. For {part@where} stands another text,
the one of section "where" that `part` names. Of {touch|Tap|Point at} the first stands where a finger points, which only
the script knows.
"""

import json
import re
from functools import cache
from pathlib import Path

LANGUAGES = {"en": "English", "zh": "中文"}
DIRECTORY = Path(__file__).parent
TOUCH = {"touch": "0"}
PLACE = re.compile(r"\{(\w+)(?:@(\w+)|\|([^|}]*)\|([^|}]*))?\}")


def text_file(language: str) -> Path:
    """Where the texts of a language are."""
    return DIRECTORY / f"{language}.json"


def on_demand_file(language: str) -> Path:
    """Where the texts are that come with the first panel that needs one of them."""
    return DIRECTORY / f"{language}.on-demand.json"


@cache
def table(language: str) -> dict[str, dict[str, str]]:
    """All texts of a language, by section and name."""
    files = (text_file(language), on_demand_file(language))
    first, further = (json.loads(file.read_text(encoding="utf-8")) for file in files)
    return first | further


def text(key: str, /, language: str = "en", **params: object) -> str:
    """The text "section.name" with its placeholders filled in. Raises KeyError for a key that is not in the table, and
    for a placeholder that is not given."""
    section, name = key.split(".", 1)

    def fill(place: re.Match[str]) -> str:
        value, among, one, several = str((TOUCH | params)[place[1]]), place[2], place[3], place[4]
        if among is not None:
            return text(f"{among}.{value}", language, **params)
        return value if one is None else one if value == "1" else several

    return PLACE.sub(fill, table(language)[section][name])
