"""A checkpoint's record: its training log, and what was measured of it.

Both are written beside the weights by `python -m model.train` and `python -m model.evaluate --json`; other checkpoints
have neither.
"""

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

from .errors import GlassLlamaError, reason

LOG, EVALUATION = "training_log.jsonl", "evaluation.json"
MOST_BYTES = 4_000_000


class Entry(NamedTuple):
    """One line of the log: after `tokens` tokens, in `stage` ("" where there was but one).

    `loss` is the last batch's as trained, with the stage's weights, `heldout` the plain mean over held-out documents,
    both in nats a token; `answers` the share of held-out answers that were right, by kind of document.
    """

    stage: str
    tokens: int
    loss: float
    heldout: float
    answers: dict[str, float]


class Measured(NamedTuple):
    """One line of the evaluation: `right` of `cases` of a skill in a language, and the share that is aimed at."""

    name: str
    language: str
    right: int
    cases: int
    bar: float


class Record(NamedTuple):
    """The log, oldest line first, and the measured skills; each empty where its file is missing."""

    log: list[Entry]
    measured: list[Measured]


def read_record(directory: Path | None) -> Record:
    """The record in a checkpoint's directory. Raises GlassLlamaError, naming the file, for one that does not parse."""
    return Record(_read(directory, LOG, _log), _read(directory, EVALUATION, _evaluation))


def _read(directory: Path | None, name: str, parse: Any) -> Any:
    path = directory / name if directory else None
    if path is None or not path.is_file():
        return []
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError(f"it is larger than {MOST_BYTES} bytes")
        return parse(path.read_text(encoding="utf-8"))
    except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError) as error:
        message = f"{name} of this model cannot be read ({reason(error)}); remove it, or write it afresh."
        raise GlassLlamaError("record", message, file=name) from error


def _log(text: str) -> list[Entry]:
    lines = [json.loads(line) for line in text.splitlines() if line.strip()]
    return [
        Entry(
            str(line.get("stage", "")),
            int(line["tokens"]),
            _finite(line["loss"]),
            _finite(line["heldout"]),
            {str(kind): _finite(share) for kind, share in line.get("answers", {}).items()},
        )
        for line in lines
    ]


def _evaluation(text: str) -> list[Measured]:
    return [
        Measured(str(f["name"]), str(f["language"]), int(f["right"]), int(f["cases"]), _finite(f["bar"]))
        for f in json.loads(text)["figures"]
    ]


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{number} is no finite number")
    return number
