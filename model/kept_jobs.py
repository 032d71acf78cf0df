"""Measured head jobs, kept: in memory, and when all sequences are done in a small file beside the weights, if that can
be written. Kept under a fingerprint of the weights, so that other weights are measured anew.

Knows nothing about the measuring (model/analysis/head_jobs.py) or a page.
"""

import hashlib
import json
import os
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

from torch import Tensor

from .checkpoint import LanguageModel
from .head_names import HeadKind, HeadScore, read_heads_file
from .tiled import named_weights

SAMPLED = 64  # values of each parameter that the fingerprint is of
REMEMBERED = 64  # models
BEST, CLEAR = 3, 0.3  # heads that are named of each job: the best three, and all with so high a score
Measured = list[dict[str, Tensor]]  # a dict of scores (L, n_heads) by job for each sequence
_memory: OrderedDict[str, Measured] = OrderedDict()
_lock = threading.Lock()


def fingerprint(lm: LanguageModel) -> str:
    """A hash of every parameter's name, shape and some of its values, as float32: 16 hexadecimal digits."""
    found = hashlib.sha256()
    for name, weight in named_weights(lm.net):
        flat = weight.detach().flatten()
        sampled = flat[:: max(1, len(flat) // SAMPLED)].float().cpu().numpy()
        found.update(f"{name} {tuple(weight.shape)}".encode() + sampled.tobytes())
    return found.hexdigest()[:16]


def measured(key: str) -> Measured:
    """The sequences of these weights that are measured so far."""
    with _lock:
        return list(_memory.get(key, ()))


def remember(key: str, sequences: Measured) -> None:
    """Hold these in memory; the models measured longest ago go."""
    with _lock:
        _memory[key] = sequences
        _memory.move_to_end(key)
        while len(_memory) > REMEMBERED:
            _memory.popitem(last=False)


def best_of(scores: Tensor) -> list[HeadScore]:
    """The heads that do a job: the best BEST, and what else is CLEAR, best first."""
    places = [divmod(i, scores.shape[1]) for i in scores.flatten().argsort(descending=True).tolist()]
    heads = [HeadScore(layer, head, round(float(scores[layer, head]), 4)) for layer, head in places]
    return [head for place, head in enumerate(heads) if place < BEST or head.score >= CLEAR]


def kinds_of(scores: dict[str, Tensor], definitions: dict[str, str]) -> dict[str, HeadKind]:
    """Jobs as a page names them."""
    return {name: HeadKind(definitions[name], best_of(scores[name]), None, {}) for name in definitions}


def file_of(lm: LanguageModel, key: str) -> Path | None:
    """Where the jobs of these weights are kept; None for a model that is no file here."""
    where = Path(getattr(lm, "where", lm.name)).expanduser()  # OnDemand has a name of its own
    place = lm.directory or (where.parent if where.is_file() else None)
    return place and place / f"heads-{key}.json"


def read_kept(lm: LanguageModel, key: str) -> dict[str, HeadKind]:
    """The jobs in that file; none where there is no such file. Raises GlassLlamaError for a damaged one."""
    path = file_of(lm, key)
    return read_heads_file(path, lm.config) if path else {}


def write_kept(lm: LanguageModel, key: str, kinds: dict[str, HeadKind]) -> bool:
    """Write that file; gives whether the place could be written to."""
    path = file_of(lm, key)
    if path is None or not os.access(path.parent, os.W_OK):
        return False
    partial = path.with_suffix(f".{os.getpid()}.part")  # a reader never meets a half-written file
    partial.write_text(json.dumps({"kinds": {name: _plain(kind) for name, kind in kinds.items()}}), encoding="utf-8")
    os.replace(partial, path)
    return True


def _plain(kind: HeadKind) -> dict[str, Any]:
    return {**kind._asdict(), "best": [head._asdict() for head in kind.best]}
