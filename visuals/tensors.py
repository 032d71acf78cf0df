"""What each captured tensor of a layer is: its dimensions, and the line of `model/` that makes it."""

import inspect
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import model
from model.network import Network
from model.shapes import array_taps, figures, shapes

from .messages.page import TensorPlace

ROOT = Path(model.__file__).parent.parent


class Source(NamedTuple):
    """The text of a function or class by name: the file from the repository's root, its first line there, its lines."""

    name: str
    file: str
    first: int
    lines: tuple[str, ...]


class Made(NamedTuple):
    """The function that makes a tensor, and which line of the file does."""

    source: Source
    line: int


class Place(NamedTuple):
    """A tensor's dimensions by name, and where it is made: the file from the repository's root, and the line."""

    dims: tuple[str, ...]
    file: str
    line: int


@cache
def source_of(written: Callable[..., Any]) -> Source:
    """What was written of a function or class of ours, without what wraps it."""
    plain = inspect.unwrap(written)
    lines, first = inspect.getsourcelines(plain)
    file = Path(inspect.getsourcefile(plain) or "").relative_to(ROOT).as_posix()
    return Source(plain.__qualname__, file, first, tuple(line.rstrip("\n") for line in lines))


def made_by(net: Network, layer: int) -> dict[str, Made]:
    """What makes every array of this layer's trace, and `logits` where there is a head.

    Found in the source itself, so that it never goes stale.
    """
    block = net.block(layer)
    made: dict[str, Made] = {}
    for name, path in array_taps(block).items():
        holder, _, tap = path.rpartition(".")
        made[name] = _passed(type(block.get_submodule(holder)), tap)
    for norm in block.norms:
        for what, asked in figures(getattr(block, norm)).items():
            made[f"{norm}_{what}"] = _line(asked, r"return ")
    return made | ({"logits": _passed(type(net), "head")} if hasattr(net, "head") else {})


def tensor_places(net: Network, layer: int) -> dict[str, Place]:
    """Every array of this layer's trace, and `logits` (V,) where there is a head."""
    made = made_by(net, layer)
    dims = shapes(net, layer) | ({"logits": ("V",)} if "logits" in made else {})
    return {name: Place(dims[name], made[name].source.file, made[name].line) for name in dims}


def tensors_payload(lm: model.LanguageModel, trace: model.Trace, layer: int) -> dict[str, TensorPlace]:
    """The places as plain data, each with the `shape` that it has in this run."""
    sizes = {name: array.shape for name, array in trace.layer(layer).arrays.items()} | {"logits": trace.logits.shape}
    places = tensor_places(lm.net, layer)
    return {
        name: {"dims": place.dims, "shape": list(sizes[name]), "file": place.file, "line": place.line}
        for name, place in places.items()
    }


@cache
def _passed(owner: type, part: str) -> Made:
    """The line of this class, or of one that it is built on, that hands something to a part of it."""
    pattern = rf"self\.{part}\("
    functions = [function for _, function in inspect.getmembers(owner, inspect.isfunction)]
    made = (f for f in functions if f.__name__ != "__init__" and re.search(pattern, inspect.getsource(f)))
    return _line(next(made), pattern)


def _line(function: Callable[..., Any], pattern: str) -> Made:
    source = source_of(function)
    return Made(source, source.first + next(i for i, line in enumerate(source.lines) if re.search(pattern, line)))
