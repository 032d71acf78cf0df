"""The error for a field that holds what it cannot: it names the field, quotes the value, and says what would be right.

What would be right is a text, or an Expected (published/expected.py), which a page says in its reader's language.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .errors import GlassLlamaError, clipped, shortly
from .published.expected import Expected


@dataclass(frozen=True)
class Refusals:
    """The errors of one kind of input.

    `code` is that of each, `where` stands before the field's name. `called` is what messages call a field whose name
    says too little, and `quote` gives a value as messages have it.
    """

    code: str
    where: str = ""
    called: Mapping[str, str] = field(default_factory=dict)
    quote: Callable[[object], str] = shortly

    def wrong(self, name: str, value: object, right: Expected | str) -> GlassLlamaError:
        """For the field `name`, whose value is wrong, or right but not implemented."""
        text = self.quote(value)
        return self._error(name, f"is {text}", text, right)

    def missing(self, name: str, right: Expected | str, near: str = "") -> GlassLlamaError:
        """For the field `name`, which is not there; `near` is what the input has that may have been meant by it."""
        error = self._error(name, "is missing", None, right)
        if not near:
            return error
        near, meant = clipped(near), self.called.get(name, clipped(name))
        said = f"{error} The file has {near}: did you mean {meant}?"
        return GlassLlamaError(self.code, said, **error.params, near=near)

    def _error(self, name: str, wrong: str, value: str | None, right: Expected | str) -> GlassLlamaError:
        name = clipped(name)
        told: dict[str, Any] = right.as_params() if isinstance(right, Expected) else {"expected": right}
        message = f"{self.where}{self.called.get(name, name)} {wrong}; expected {right}."
        return GlassLlamaError(self.code, message, field=name, value=value, **told)


# Of an argument, or a field of a request.
refusal = Refusals("field").wrong
