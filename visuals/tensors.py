"""What each captured tensor of a layer is: its dimensions, and the line of `model/` that makes it."""

import inspect
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import model
from model.network import Network
from model.shapes import array_taps, figures, shapes

from .messages.page import TensorPlace

ROOT = Path(model.__file__).parent.parent


class Place(NamedTuple):
    """A tensor's dimensions by name, and where it is made: the file from the repository's root, and the line."""

    dims: tuple[str, ...]
    file: str
    line: int


def tensor_places(net: Network, layer: int) -> dict[str, Place]:
    """Every array of this layer's trace, and `logits` (V,) where there is a head.

    Found in the source itself, so that it never goes stale.
    """
    block = net.block(layer)
    made = {}
    for name, path in array_taps(block).items():
        holder, _, tap = path.rpartition(".")
        made[name] = _passed(type(block.get_submodule(holder)), tap)
    for norm in block.norms:
        for what, asked in figures(getattr(block, norm)).items():
            made[f"{norm}_{what}"] = _line(asked, r"return ")
    places = {name: Place(dims, *made[name]) for name, dims in shapes(net, layer).items()}
    return places | ({"logits": Place(("V",), *_passed(type(net), "head"))} if hasattr(net, "head") else {})


def tensors_payload(lm: model.LanguageModel, trace: model.Trace, layer: int) -> dict[str, TensorPlace]:
    """The places as plain data, each with the `shape` that it has in this run."""
    sizes = {name: array.shape for name, array in trace.layer(layer).arrays.items()} | {"logits": trace.logits.shape}
    places = tensor_places(lm.net, layer)
    return {
        name: {"dims": place.dims, "shape": list(sizes[name]), "file": place.file, "line": place.line}
        for name, place in places.items()
    }


@cache
def _passed(owner: type, part: str) -> tuple[str, int]:
    """The line of this class, or of one that it is built on, that hands something to a part of it."""
    pattern = rf"self\.{part}\("
    functions = [function for _, function in inspect.getmembers(owner, inspect.isfunction)]
    made = (f for f in functions if f.__name__ != "__init__" and re.search(pattern, inspect.getsource(f)))
    return _line(next(made), pattern)


def _line(function: object, pattern: str) -> tuple[str, int]:
    plain = inspect.unwrap(function)  # type: ignore[arg-type]
    lines, first = inspect.getsourcelines(plain)
    at = next(i for i, line in enumerate(lines) if re.search(pattern, line))
    return Path(inspect.getsourcefile(plain) or "").relative_to(ROOT).as_posix(), first + at
