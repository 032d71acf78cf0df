"""What stands for a number that a file does not state well, so that the file's other faults are found as well."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any


class Unstated(int):
    """Stands for a number that is missing or wrong; `fields` are those that it rests on.

    What is worked out from it is Unstated too, so what a spec says from such a field is known by its type; a float that
    stands before it in a product is asked first, and gives a float. It is no number to be shown. It suits any other: it
    divides it, equals it, and is neither more nor less, so that no check of two fields fails because of the one that is
    missing.
    """

    fields: frozenset[str]

    def __new__(cls, *names: str) -> "Unstated":
        made = super().__new__(cls, 1)
        made.fields = frozenset(names)
        return made

    def __getnewargs__(self) -> tuple[str, ...]:  # type: ignore[override]  # a copy is made of names, not of a number
        return tuple(sorted(self.fields))

    def _with(self, other: object) -> "Unstated":
        return Unstated(*self.fields, *getattr(other, "fields", ()))

    def _times(self, other: Any) -> Any:
        """Of a list once what is in it."""
        return self._with(other) if isinstance(other, int | float) else other

    def _alone(self) -> "Unstated":
        return self

    def _yes(self, _other: object) -> bool:
        return True

    def _no(self, _other: object) -> bool:
        return False

    def _nothing(self, _other: object) -> int:
        return 0

    __add__ = __radd__ = __sub__ = __rsub__ = _with  # type: ignore[assignment]
    __mul__ = __rmul__ = _times  # type: ignore[assignment]
    __floordiv__ = __rfloordiv__ = __truediv__ = __rtruediv__ = _with  # type: ignore[assignment]
    __neg__ = _alone  # type: ignore[assignment]
    __mod__ = __rmod__ = _nothing  # type: ignore[assignment]
    __eq__ = __le__ = __ge__ = _yes  # type: ignore[assignment]
    __ne__ = __lt__ = __gt__ = _no  # type: ignore[assignment]
    __hash__ = int.__hash__


def unstated_in(value: Any) -> frozenset[str]:
    """The fields that are unstated of which something in `value` is worked out: a number, or data of them."""
    return frozenset(_unstated(value))


def _unstated(value: Any) -> Iterator[str]:
    if isinstance(value, Unstated):
        yield from value.fields
    elif isinstance(value, tuple | list):
        for one in value:
            yield from _unstated(one)
    elif isinstance(value, Mapping):
        yield from _unstated(list(value.values()))
    elif is_dataclass(value):
        yield from _unstated([getattr(value, field.name) for field in fields(value)])
