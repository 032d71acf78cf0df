"""What published models were trained to do, on how much, and in which sizes: history.json, each with its source."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

FILE = Path(__file__).with_name("history.json")


@dataclass(frozen=True)
class History:
    """One published model.

    - `goal`: what it was trained to do first: predict the next token, fill spans that were taken out, GLM's mix of
      both, or translate.
    - `tokens`: how many it read in that training, as its makers write it; None where they do not say. `tokens_larger`
      is what the `larger` of its `sizes` read where that differs. `pairs` counts pairs of sentences instead.
    - `sizes`: of its generation, as they are called. `known`: a name for what it is known for.
    - `source`: where this was read.
    """

    goal: Literal["next", "spans", "glm", "translation"]
    sizes: tuple[str, ...]
    known: str
    source: str
    tokens: str | None = None
    tokens_larger: str | None = None
    larger: tuple[str, ...] = ()
    pairs: str | None = None


@cache
def histories() -> dict[str, History]:
    """All of them, by the names of the catalogue."""
    found: dict[str, History] = {}
    for name, fields in json.loads(FILE.read_text(encoding="utf-8")).items():
        lists: dict[str, Any] = {field: tuple(fields.get(field, ())) for field in ("sizes", "larger")}
        found[name] = History(**fields | lists)
    return found
