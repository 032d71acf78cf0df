"""The page's own files as parts of one HTML file.

A module in the file has no address beside which others could stand. So what it imports is named "glass:<name>", and the
file's first script (visuals/static/one-file/unpack.js) puts the part's own address there, part by part in an order in
which what is imported comes first.
"""

import json
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from visuals import PLOTLY, STATIC
from visuals.messages.page import PageConfig

from ..files import imports, page_config, scripts
from ..serving import without_comments
from ..texts import LANGUAGES, on_demand_file, text_file

OWN = STATIC / "one-file"
UNPACK = OWN / "unpack.js"  # stands in the file itself
IMPORTED = re.compile(r'\bfrom "(\.[^"]+)"')
FETCHED = re.compile(r'\bimport\("(\.[^"]+)"\)')


def name_of(path: Path) -> str:
    """What a part is called: where it is beside the page's script."""
    return path.relative_to(STATIC).as_posix() if path.is_relative_to(STATIC) else path.name


def reference(path: Path) -> str:
    """What stands for a part's address until the file is opened."""
    return f"glass:{name_of(path)}"


def part(path: Path) -> str:
    """The text of a part; of a module with what it imports by name."""
    text = without_comments(path).decode()
    if path.suffix != ".js" or path == PLOTLY:
        return text

    def beside(found: re.Match[str]) -> Path:
        return (path.parent / found[1]).resolve()

    text = IMPORTED.sub(lambda found: f"from {json.dumps(reference(beside(found)))}", text)
    # What is fetched later may come after it in the order.
    return FETCHED.sub(lambda found: f"import(glassConfig.files[{json.dumps(name_of(beside(found)))}])", text)


@cache
def parts() -> dict[str, str]:
    """Every part of the page by name, each after those that it imports."""
    modules = {path: imports(path) for path in scripts() if path.suffix == ".js" and path != UNPACK}
    styles = [path for path in scripts() if path.suffix == ".css"]
    texts = [file(code) for code in LANGUAGES for file in (text_file, on_demand_file)]
    ordered = [*styles, *texts, PLOTLY, *TopologicalSorter(modules).static_order()]
    return {name_of(path): part(path) for path in ordered}


def config(prompt: str) -> PageConfig:
    """What the page's script is told first: as on the page, but that it begins with this prompt.

    The lessons that come along need runs of their own; and every module is there at once.
    """
    told = page_config(reference)
    return {
        **told,
        "benchModules": [],
        "lessons": {code: [] for code in LANGUAGES},
        "firstPrompts": dict.fromkeys(LANGUAGES, prompt),
        "firstOf": {},
    }
