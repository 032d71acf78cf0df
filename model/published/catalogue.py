"""The catalogue of published models: `catalogue()["Llama-3 8B"]` is a ModelSpec. Its data is catalogue.json.

Each entry keeps the sources of its numbers and says which of them were not verified. No torch, no network.
"""

import difflib
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..errors import GlassLlamaError
from .parameters import active_parameter_count, parameter_count
from .spec import (
    AttentionSpec,
    FfnSpec,
    IndexerSpec,
    MlaSpec,
    ModelSpec,
    MoeSpec,
    NormSpec,
    PositionSpec,
    PublishedParameters,
    QuantSpec,
    ScalingSpec,
)

__all__ = ["Catalogue", "ModelSpec", "UnknownModelError", "active_parameter_count", "catalogue", "parameter_count"]

_PARTS: Mapping[str, type] = MappingProxyType(
    {
        "attention": AttentionSpec,
        "mla": MlaSpec,
        "indexer": IndexerSpec,
        "moe": MoeSpec,
        "norm": NormSpec,
        "ffn": FfnSpec,
        "position": PositionSpec,
        "scaling": ScalingSpec,
        "quantised": QuantSpec,
        "parameters": PublishedParameters,
    }
)


class UnknownModelError(GlassLlamaError, KeyError):
    """No model of that name. A KeyError too, so that the catalogue behaves as any mapping does."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would print the repr


class Catalogue(Mapping[str, ModelSpec]):
    """Read-only mapping from a model's name to its ModelSpec, in the order of catalogue.json."""

    def __init__(self, models: Mapping[str, ModelSpec]):
        self._models = MappingProxyType(dict(models))

    def __getitem__(self, name: object) -> ModelSpec:
        """The model called `name`. Raises UnknownModelError (a KeyError), which names the closest matches."""
        if isinstance(name, str) and name in self._models:
            return self._models[name]
        close = self.close_matches(name) if isinstance(name, str) else []
        shown = f"{name!r:.60}" if isinstance(name, str) else f"of type {type(name).__name__}"
        hint = (
            f"did you mean {' or '.join(map(repr, close))}?"
            if close
            else f"there are {len(self)}: catalogue() or --list names them all."
        )
        raise UnknownModelError(
            "unknown_model", f"model {shown} is not in the catalogue; {hint}", model=shown, close=close
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)

    def __repr__(self) -> str:
        return f"<catalogue of {len(self)} models>"

    def close_matches(self, name: str, n: int = 3) -> list[str]:
        """Up to `n` names that resemble `name`, closest first; case, spaces and hyphens do not count."""
        plain = {_plain(known): known for known in reversed(list(self._models))}
        wanted = _plain(name[:100])
        if wanted in plain:
            return [plain[wanted]]
        starts = [known for text, known in plain.items() if wanted and text.startswith(wanted)][::-1]
        similar = [plain[text] for text in difflib.get_close_matches(wanted, plain, n=n, cutoff=0.6)]
        return list(dict.fromkeys(starts + similar))[:n]


@cache
def catalogue() -> Catalogue:
    """Every published model that the calculators know, read once from catalogue.json."""
    raw = json.loads(Path(__file__).with_name("catalogue.json").read_text(encoding="utf-8"))
    return Catalogue({name: _build(ModelSpec, {"name": name, **fields}) for name, fields in raw["models"].items()})


def _plain(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum() or c == ".")


def _build(kind: type, fields: dict[str, Any]) -> Any:
    """A frozen part from its JSON object; lists become tuples. TypeError for a field that the part does not have."""
    given = {}
    for name, value in fields.items():
        if isinstance(value, dict):
            value = _build(_PARTS[name], value)
        given[name] = tuple(value) if isinstance(value, list) else value
    return kind(**given)
