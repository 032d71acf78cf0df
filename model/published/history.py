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

    - `goals`: what it was trained to do first: predict the next token, or that and the one after it (MTP); fill spans
      that were taken out; translate. Empty where its makers do not say; then `kin_goal` is that of the model before it:
      GLM's mix of spans and next tokens.
    - `tokens`: how many it read in that training, as its makers write it; None where they do not say. `tokens_larger`
      is what the `larger` of its `sizes` read where that differs. `pairs` counts pairs of sentences instead.
    - `sizes`: of its generation, as they are called. `known`: a name for what it is known for.
    - `source`: where this was read.
    """

    goals: tuple[Literal["next", "mtp", "spans", "translation"], ...]
    sizes: tuple[str, ...]
    known: str
    source: str
    tokens: str | None = None
    tokens_larger: str | None = None
    larger: tuple[str, ...] = ()
    pairs: str | None = None
    kin_goal: Literal["glm"] | None = None


@cache
def histories() -> dict[str, History]:
    """All of them, by the names of the catalogue."""
    found: dict[str, History] = {}
    for name, fields in json.loads(FILE.read_text(encoding="utf-8")).items():
        lists: dict[str, Any] = {field: tuple(fields.get(field, ())) for field in ("goals", "sizes", "larger")}
        found[name] = History(**fields | lists)
    return found
