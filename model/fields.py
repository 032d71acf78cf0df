"""Reading the fields of a config.json: each is checked, and an error names the field and what would be right."""

import sys
from collections.abc import Mapping
from typing import Any

from .errors import GlassLlamaError


def refusal(field: str, value: Any, expected: str) -> GlassLlamaError:
    """The error for a field whose value is wrong, or right but not implemented."""
    return GlassLlamaError(
        "config", f"config.json: {field} is {value!r}; expected {expected}.", field=field, value=repr(value)
    )


def expect_type(raw: Mapping[str, Any], *kinds: str) -> None:
    """Raises where `model_type` is none of these."""
    if raw.get("model_type") not in kinds:
        raise refusal("model_type", raw.get("model_type"), " or ".join(f'"{kind}"' for kind in kinds))


def expect_fixed(raw: Mapping[str, Any], fixed: Mapping[str, tuple[Any, ...]]) -> None:
    """Raises where a field that is implemented in one way only asks for another."""
    for name, accepted in fixed.items():
        if name in raw and raw[name] not in accepted:
            raise refusal(name, raw[name], " or ".join(repr(value) for value in accepted))


def count(raw: Mapping[str, Any], field: str, default: int | None = None, least: int = 1) -> int:
    """A whole number of at least `least`; `default` stands in for a field that is absent or null, None for an error."""
    value = raw.get(field)
    if value is None and default is None:
        raise GlassLlamaError("config", f"config.json: {field} is missing.", field=field)
    value = default if value is None else value
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise refusal(field, value, f"a whole number of at least {least}")
    return value


def number(value: Any, field: str, above: float = 0.0) -> float:
    """A finite number above `above`."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not above < value <= sys.float_info.max:
        raise refusal(field, value, f"a finite number above {above:g}")
    return float(value)


def flag(value: Any, field: str, default: bool) -> bool:
    """true or false; `default` stands in for null."""
    if value is not None and not isinstance(value, bool):
        raise refusal(field, value, "true or false")
    return default if value is None else value


def eos(value: Any) -> tuple[int, ...]:
    """The tokens that end a text, from `eos_token_id`: none, one or a list."""
    if value is None:
        return ()
    ids = value if isinstance(value, list) else [value]
    if not all(isinstance(i, int) and not isinstance(i, bool) and i >= 0 for i in ids):
        raise refusal("eos_token_id", value, "a token id or a list of token ids")
    return tuple(ids)
