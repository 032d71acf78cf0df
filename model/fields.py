"""Reading the fields of a config.json: each is checked, and an error names the field and what would be right."""

from collections.abc import Mapping
from typing import Any

from .errors import GlassLlamaError
from .published.expected import Expected, expected
from .published.hf.fields import REQUIRED, Fields
from .refusals import Refusals

MOST = 2**53  # what every reader of JSON holds as a whole number
MOST_EOS = 256
MOST_NUMBER = 1e6  # beyond it, float32 would overflow on the way
BOUNDS = {"rope_theta": (1.0, 1e15)}  # of fields with a range of their own: above the first, at most the second
# Fields that may stand beside rope_scaling as well as in it.
EITHER_PLACE = frozenset({"rope_theta", "original_max_position_embeddings", "partial_rotary_factor"})


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


def eos(value: Any) -> tuple[int, ...]:
    """The tokens that end a text, from `eos_token_id`: none, one or a list."""
    if value is None:
        return ()
    ids = value if isinstance(value, list) else [value]
    if len(ids) > MOST_EOS or not all(isinstance(i, int) and not isinstance(i, bool) and 0 <= i <= MOST for i in ids):
        raise refusal("eos_token_id", value, f"a token id or a list of up to {MOST_EOS} token ids")
    return tuple(ids)


class NetworkFields(Fields):
    """The fields of a config.json that a network is built from: what is refused has the code "config".

    `defaults` stand in for fields that are absent, `blanks` for those that are absent or null. A number with a fraction
    may be absent, but not null. Numbers lie above `above`.
    """

    most = most_layers = MOST

    def __init__(
        self,
        raw: Mapping[str, Any],
        path: str = "",
        defaults: Mapping[str, Any] | None = None,
        blanks: Mapping[str, Any] | None = None,
        above: float = 0.0,
    ):
        super().__init__(raw, path, defaults)
        self.blanks, self.above = blanks or {}, above

    def wrong(self, name: str, value: object, right: Expected) -> GlassLlamaError:
        """The error for a field with a wrong value."""
        said = str(right)
        if right.code == "whole":
            large = isinstance(value, int) and not isinstance(value, bool) and value > MOST
            said = "a whole number of at most 2^53" if large else f"a whole number of at least {right.params['low']}"
        elif right.code == "finite_above_zero":
            above, most = self.bounds(name)
            said = f"a finite number above {above:g}, at most {most:g}"
        elif right.code == "object":
            said = "an object with a rope_type"
        return refusal(name if name in EITHER_PLACE else self.path + name, value, said)

    def absent(self, name: str, right: Expected) -> GlassLlamaError:
        """The error for a field that is missing."""
        said = f"config.json: {self.path}{name} is missing."
        if near := self.near(name):
            said += f" The file has {near}: did you mean {name}?"
        return GlassLlamaError("config", said, field=name)

    def bounds(self, name: str) -> tuple[float, float]:
        """The range of a number that is no count."""
        return BOUNDS.get(name, (self.above, MOST_NUMBER))

    def get(self, *names: str, default: Any = None) -> Any:
        """As `Fields.get`, with what stands in for a field that is absent or null."""
        return super().get(*names, default=self.blanks.get(names[0], default))

    def number(self, *names: str, default: float = REQUIRED) -> float:
        """As `Fields.number`; null is refused."""
        if names[0] in self.raw and self.raw[names[0]] is None:
            raise self.wrong(names[0], None, expected("finite_above_zero"))
        return super().number(*names, default=default)

    def inner(self, raw: Mapping[str, Any], name: str, defaults: Mapping[str, Any] | None = None) -> "NetworkFields":
        """The fields of RoPE's object, which errors call rope_scaling in either form of the file."""
        return NetworkFields(raw, "rope_scaling." if name == "rope_parameters" else f"{name}.", defaults, above=1e-6)
