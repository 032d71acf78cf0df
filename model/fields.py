"""Reading the fields of a config.json: each is checked, and an error names the field and what would be right."""

from collections.abc import Mapping
from typing import Any

from .errors import GlassLlamaError
from .refusals import Refusals

MOST = 2**53  # what every reader of JSON holds as a whole number
MOST_EOS = 256


refusal = Refusals("config", "config.json: ").wrong


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
    """A whole number from `least` to MOST. `default` stands in where the field is absent or null; None is an error."""
    value = raw.get(field)
    if value is None and default is None:
        raise GlassLlamaError("config", f"config.json: {field} is missing.", field=field)
    value = default if value is None else value
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise refusal(field, value, f"a whole number of at least {least}")
    if value > MOST:
        raise refusal(field, value, "a whole number of at most 2^53")
    return value


def number(value: Any, field: str, above: float = 0.0, most: float = 1e6) -> float:
    """A finite number above `above`, at most `most`: beyond it, float32 would overflow on the way."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not above < value <= most:
        raise refusal(field, value, f"a finite number above {above:g}, at most {most:g}")
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
    if len(ids) > MOST_EOS or not all(isinstance(i, int) and not isinstance(i, bool) and 0 <= i <= MOST for i in ids):
        raise refusal("eos_token_id", value, f"a token id or a list of up to {MOST_EOS} token ids")
    return tuple(ids)
