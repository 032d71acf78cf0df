"""Imports run one way, model ← visuals ← app ← app.py, and each layer stays away from what is not its business."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# What each layer may import of the project, and which libraries it must not.
LAYERS = {
    "model": (set(), {"gradio", "plotly", "transformers", "hypothesis", "pytest"}),
    "visuals": ({"model"}, {"gradio", "transformers", "pytest"}),
    "app": ({"model", "visuals"}, {"transformers", "pytest"}),
    "app.py": ({"model", "visuals", "app"}, {"transformers", "pytest"}),
}
COMPARES = {"model/bench.py": {"transformers"}}  # the bench runs a peer beside ours
OURS = {"model", "visuals", "app", "tests"}


def imports(source: str, package: tuple[str, ...]) -> Iterator[str]:
    """Absolute names of everything that a module of `package` imports, wherever in the file."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*parts, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{alias.name}".removeprefix(".") for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            yield from (argument.value for argument in node.args[:1] if isinstance(argument, ast.Constant))


def faults(source: str, layer: str, package: tuple[str, ...]) -> list[str]:
    """What a module of a layer imports and should not."""
    allowed, banned = LAYERS[layer]
    tops = {name.split(".")[0] for name in imports(source, package)}
    return sorted(tops & (banned | (OURS - allowed - {layer})))


def files(layer: str) -> list[Path]:
    return [ROOT / layer] if layer.endswith(".py") else sorted((ROOT / layer).rglob("*.py"))


@pytest.mark.parametrize("layer", LAYERS)
def test_every_module_imports_in_the_right_direction(layer: str) -> None:
    paths = files(layer)
    assert paths
    for path in paths:
        place = path.relative_to(ROOT)
        wrong = faults(path.read_text(encoding="utf-8"), layer, place.parts[:-1])
        assert set(wrong) <= COMPARES.get(place.as_posix(), set()), place


@pytest.mark.parametrize(
    ("layer", "source", "wrong"),
    [
        ("model", "import gradio as gr", ["gradio"]),
        ("model", "def f():\n    from plotly.graph_objects import Figure", ["plotly"]),
        ("model", "from ..visuals import payload", ["visuals"]),
        ("model", "from visuals.payload import x", ["visuals"]),
        ("model", "import importlib\nimportlib.import_module('app.engine')", ["app"]),
        ("model", "from .config import LlamaConfig\nfrom . import taps\nimport torch", []),
        ("visuals", "import app", ["app"]),
        ("visuals", "import gradio.themes", ["gradio"]),
        ("visuals", "from model.trace import Trace\nimport plotly", []),
        ("visuals", "from .. import app", ["app"]),
        ("app", "import gradio\nfrom visuals import payload\nfrom . import texts", []),
        ("app", "from tests.standin import SHAPE", ["tests"]),
        ("app", "import transformers", ["transformers"]),
    ],
)
def test_the_check_itself(layer: str, source: str, wrong: list[str]) -> None:
    assert faults(source, layer, (layer,)) == wrong


MARKUP = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|setHTMLUnsafe|createContextualFragment|document\.write")
CHANCE = re.compile(r"Math\.random|\brandom\b|\brand(?:n|int)?\(")  # not the secrets of tickets, which nobody sees


@pytest.mark.parametrize("layer", ["visuals", "app"])
def test_nothing_on_the_page_is_markup_from_text_or_made_up(layer: str) -> None:
    """A visitor's text becomes text, never elements; and no number is drawn at random."""
    files = [path for path in (ROOT / layer).rglob("*") if path.suffix in (".py", ".js")]
    assert len(files) > 10
    found = {path.name: MARKUP.findall(code) + CHANCE.findall(code) for path in files if (code := path.read_text())}
    assert {name: words for name, words in found.items() if words} == {}


STATIC = ROOT / "visuals" / "static"
MODULE = re.compile(r"(?:from|import\()\s*[\"'](\.[^\"']+)[\"']")


def test_the_pages_modules_import_in_no_circle() -> None:
    """Neither at once nor when a module is fetched later."""
    imports = {
        path: {(path.parent / name).resolve() for name in MODULE.findall(path.read_text())}
        for path in STATIC.rglob("*.js")
    }
    assert any(imports.values())
    while free := [path for path, needed in imports.items() if not needed & imports.keys()]:
        for path in free:
            del imports[path]
    assert sorted(str(path.relative_to(STATIC)) for path in imports) == []


NAMED = re.compile(r"^import \{([^}]*)\} from \"(\.[^\"]+)\"", re.MULTILINE)
EXPORT = re.compile(r"^export (?:async )?(?:const|let|function|class) (?:(\w+)|[\[{]([^\]}]*)[\]}])", re.MULTILINE)


def test_every_import_of_the_pages_modules_names_something_that_there_is() -> None:
    """A module that is fetched when its chapter is opened would say so only then."""
    exports = {}
    for path in STATIC.rglob("*.js"):
        found = EXPORT.findall(path.read_text())
        exports[path] = {name.strip() for one, several in found for name in (one or several).split(",")}
    for path in exports:
        assert all((path.parent / name).resolve() in exports for name in MODULE.findall(path.read_text())), path
        for names, module in NAMED.findall(path.read_text()):
            wanted = {name.split(" as ")[0].strip() for name in names.split(",")} - {""}
            assert wanted <= exports[(path.parent / module).resolve()], (path, wanted)
