"""Imports run one way, model ← visuals ← app ← app.py, and each layer stays away from what is not its business."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import model

ROOT = Path(__file__).parent.parent
# What each layer may import of the project, and which libraries it must not.
LAYERS = {
    "model": (set(), {"gradio", "plotly", "transformers", "hypothesis", "pytest"}),
    "visuals": ({"model"}, {"gradio", "transformers", "pytest"}),
    "app": ({"model", "visuals"}, {"transformers", "pytest"}),
    "app.py": ({"model", "visuals", "app"}, {"transformers", "pytest"}),
}
COMPARES = {  # these run a peer beside ours
    "model/bench.py": {"transformers"},
    "model/evaluate/eager.py": {"transformers"},
}
OURS = {"model", "visuals", "app", "tests"}
# What makes and measures checkpoints. The page knows of it what is written beside the weights, and little_world.json.
MAKERS = ("model.corpus", "model.train", "model.evaluate")


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


def module_path(name: str) -> Path | None:
    """The file of one of our modules; None for a name that is no module of ours."""
    place = ROOT.joinpath(*name.split("."))
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)


def reached(starts: list[Path]) -> set[str]:
    """Every module of ours that these files import, and that those import in turn, wherever in a file."""
    found: set[str] = set()
    waiting = [*starts]
    while waiting:
        path = waiting.pop()
        for name in imports(path.read_text(encoding="utf-8"), path.relative_to(ROOT).parts[:-1]):
            imported = module_path(name)
            if imported and name not in found:
                found.add(name)
                waiting.append(imported)
    return found


def test_the_page_imports_nothing_that_makes_or_measures_checkpoints() -> None:
    names = reached([path for layer in ("app.py", "app", "visuals") for path in files(layer)])
    assert {"app.service", "visuals.payload", "model.analysis.swaps", "model.families.llama"} <= names
    assert sorted(name for name in names if f"{name}.".startswith(tuple(f"{maker}." for maker in MAKERS))) == []
    assert "model.corpus.lexicon" in reached([ROOT / "model" / "train" / "curriculum.py"])


def test_bytes_are_counted_without_torch() -> None:
    """A program that plans a machine's memory needs no network, and does not wait for one."""
    code = "import sys, model.kv_math, model.published.catalogue; print('torch' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"


def test_each_public_name_of_the_model_is_there_and_no_module_hides_it() -> None:
    for name in model.__all__:
        assert not isinstance(getattr(model, name), ModuleType)
        assert not (ROOT / "model" / f"{name}.py").exists()
    assert set(model.__all__) <= set(dir(model))
    with pytest.raises(AttributeError, match="has no attribute 'unheard_of'"):
        _ = model.unheard_of
