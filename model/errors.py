"""The one error type that a visitor or a user can cause; everything else is a bug. Knows nothing about torch."""

from collections.abc import Callable, Collection
from itertools import islice

LONGEST = 1500  # characters of any message, whatever it quotes


class GlassLlamaError(ValueError):
    """Something that the user can mend: `str(error)` says what was wrong and what would be right, in English.

    `code` names the kind of error and `params` holds its particulars, so that the page can say the same in the
    reader's language.
    """

    def __init__(self, code: str, message: str, **params: object):
        super().__init__(both_ends(message, LONGEST))
        self.code = code
        self.params = params

    def __reduce__(self) -> tuple[Callable[..., Exception], tuple[type[Exception], str, dict[str, object]]]:
        """So that another process can be told: kinds of this error are made of other arguments."""
        return _remade, (type(self), str(self), vars(self))


def _remade(kind: type[GlassLlamaError], message: str, held: dict[str, object]) -> GlassLlamaError:
    error = kind.__new__(kind, message)
    error.__dict__.update(held)
    return error


def reason(error: Exception) -> str:
    """What an error says, without where on this machine the file is: a page shows it to strangers."""
    return str(error.strerror) if isinstance(error, OSError) and error.strerror else str(error)


def shortly(value: object, most: int = 60, write: Callable[[object], str] = repr) -> str:
    """A value as an error names it: what `write` makes of it, of a long one the first characters."""
    try:
        text = write(value[:most] if isinstance(value, str | bytes) else value)
    except (ValueError, RecursionError):  # Python prints no int beyond 4,300 digits, nor what is nested very deep
        return "too large to print"
    cut = len(text) > most or (isinstance(value, str | bytes) and len(value) > most)
    return f"{text[: most - 3]}..." if cut else text


def clipped(text: str, most: int = 100) -> str:
    """A text of one line as an error quotes it: of a long one the first characters, of odd characters the escapes."""
    shown = text[: most + 1]
    shown = shown if shown.isprintable() else repr(shown)[1:-1]
    return shown if len(shown) <= most else f"{shown[: most - 3]}..."


def both_ends(text: str, most: int) -> str:
    """As `clipped`, of a long one the first and the last characters: the end says what would be right."""
    half = most // 2 - 2
    return clipped(text, most) if len(text) <= most else f"{clipped(text[:half], half)}...{clipped(text[-half:], half)}"


def several(texts: Collection[str], most: int = 10, by: str = ", ") -> str:
    """Texts that an error lists: the first few, and how many more there are."""
    shown = by.join(clipped(text, 120) for text in islice(texts, most))
    return shown if len(texts) <= most else f"{shown}{by}and {len(texts) - most:,} more"


def check_index(what: str, value: int, limit: int) -> None:
    """Raises GlassLlamaError("field") where `value` is not in 0 … limit - 1; `what` names it."""
    if not 0 <= value < limit:
        message = f"{what} {value} is not there; expected 0 to {limit - 1}."
        raise GlassLlamaError("field", message, field=what, value=value, expected=f"0 to {limit - 1}")
