"""What each captured tensor is: its dimensions, and the line of `model/` that makes it."""

import inspect
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import model
from model.attention import Attention
from model.feedforward import SwiGLU
from model.llama import Block, Llama
from model.norms import rms
from model.trace import SHAPES

from .payload import Message

ROOT = Path(model.__file__).parent.parent
# In whose forward() a tensor passes its tap; all others are the block's own.
_MAKERS = dict.fromkeys(("q", "k", "v", "q_rot", "k_rot", "scores", "attention"), Attention) | {
    "gate": SwiGLU,
    "up": SwiGLU,
}


class Place(NamedTuple):
    """A tensor's dimensions by name, and where it is made: the file from the repository's root, and the line."""

    dims: tuple[str, ...]
    file: str
    line: int


@cache
def tensor_places() -> dict[str, Place]:
    """Every array of a layer's trace, and `logits` (V,). Found in the source itself, so that it never goes stale."""
    places = {}
    for name, dims in SHAPES.items():
        if name.endswith("_rms"):
            places[name] = Place(dims, *_line(rms, r"return "))
        else:
            maker = _MAKERS.get(name, Block)
            found = next(
                function
                for _, function in inspect.getmembers(maker, inspect.isfunction)
                if re.search(rf"self\.{name}\(", inspect.getsource(function)) and function.__name__ != "__init__"
            )
            places[name] = Place(dims, *_line(found, rf"self\.{name}\("))
    places["logits"] = Place(("V",), *_line(Llama.forward, r"self\.head\("))
    return places


def tensors_payload() -> Message:
    """The places as plain data."""
    return {name: place._asdict() for name, place in tensor_places().items()}


def _line(function: object, pattern: str) -> tuple[str, int]:
    plain = inspect.unwrap(function)  # type: ignore[arg-type]
    lines, first = inspect.getsourcelines(plain)
    at = next(i for i, line in enumerate(lines) if re.search(pattern, line))
    return Path(inspect.getsourcefile(plain) or "").relative_to(ROOT).as_posix(), first + at
