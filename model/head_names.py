"""The heads that do a job, as `python -m model.evaluate --heads` measured them and left beside a checkpoint's weights.

Knows nothing about the measuring (model/evaluate/heads.py), so that a page can read the file without it.
"""

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

from .config import NetworkConfig
from .errors import GlassLlamaError, reason

FILE = "heads.json"
MOST_BYTES = 4_000_000
MOST_TEXT = 2_000


class HeadScore(NamedTuple):
    """How much one head does a job, mostly from 0 to 1."""

    layer: int
    head: int
    score: float


class HeadKind(NamedTuple):
    """A job: its definition in words, the heads that do it most, best first, and a text that shows the first.

    `prompts` has such a text by language, as its two letters, for the languages that the measuring knew.
    """

    definition: str
    best: list[HeadScore]
    prompt: str | None
    prompts: dict[str, str]


def read_heads(directory: Path | None, config: NetworkConfig) -> dict[str, HeadKind]:
    """The jobs of a checkpoint's heads by name; none where there is no such file.

    Raises GlassLlamaError for a file that does not fit the model or is not of this form.
    """
    return read_heads_file(directory / FILE, config) if directory else {}


def read_heads_file(path: Path, config: NetworkConfig) -> dict[str, HeadKind]:
    """The same of a file by its path."""
    if not path.is_file():
        return {}
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError(f"is larger than {MOST_BYTES} bytes")
        raw = json.loads(path.read_text(encoding="utf-8"))
        kinds = _object(_object(raw, "it").get("kinds"), "kinds")
        return {name: _kind(kind, f"kinds.{name}", config) for name, kind in kinds.items()}
    except (ValueError, OSError, RecursionError) as error:
        hint = "write it afresh with `python -m model.evaluate --heads`, or remove it"
        raise GlassLlamaError("heads", f"{path.name} of this model cannot be used: {reason(error)}; {hint}.") from error


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{where} is no JSON object")
    return value


def _kind(raw: Any, where: str, config: NetworkConfig) -> HeadKind:
    kind = _object(raw, where)
    best, prompt = kind.get("best"), kind.get("prompt")
    if not isinstance(best, list):
        raise ValueError(f"{where}.best is no list")
    prompts = _object(kind.get("prompts", {}), f"{where}.prompts")
    heads = [_head(one, f"{where}.best[{i}]", config) for i, one in enumerate(best)]
    return HeadKind(
        definition=_text(kind.get("definition"), f"{where}.definition"),
        best=sorted(heads, key=lambda head: -head.score),
        prompt=None if prompt is None else _text(prompt, f"{where}.prompt"),
        prompts={name: _text(text, f"{where}.prompts.{name}") for name, text in prompts.items()},
    )


def _head(raw: Any, where: str, config: NetworkConfig) -> HeadScore:
    given = _object(raw, where)
    layer, head = (_within(given.get(name), limit, f"{where}.{name}") for name, limit in (
        ("layer", config.n_layers), ("head", config.n_heads)))  # fmt: skip
    score = given.get("score")
    if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
        raise ValueError(f"{where}.score is {score!r}, expected a number")
    return HeadScore(layer, head, float(score))


def _within(value: Any, limit: int, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < limit:
        raise ValueError(f"{where} is {value!r}, expected a whole number from 0 to {limit - 1}")
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or len(value) > MOST_TEXT:
        raise ValueError(f"{where} is no text of at most {MOST_TEXT} characters")
    return value
