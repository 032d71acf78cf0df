"""Reads a request: the types of its fields, and the refusal of a wrong value, which says what would be right.

A request is a pydantic model that names the fields it knows; what else was sent is left out. Nothing is converted: true
is no number and "3" is none. What is refused is a GlassLlamaError that names the field, says what it holds (a few
characters of it) and what would be right.
"""

from collections.abc import Callable, Collection
from typing import Annotated, Any, ClassVar, TypeGuard, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainValidator,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic_core import PydanticCustomError

from model import GlassLlamaError
from model.published.expected import Expected, any_of
from model.refusals import Refusals

MAX_NAME = 200  # characters of a model's name, a run's id or a ticket
R = TypeVar("R", bound="Request")


class Request(BaseModel):
    """What was sent, field by field. A field that is null is one that is not there."""

    model_config = ConfigDict(frozen=True)
    code: ClassVar[str] = "bad_request"  # of the errors
    called: ClassVar[str] = "the request"

    @model_validator(mode="before")
    @classmethod
    def _known(cls, data: object) -> dict[str, object]:
        """The fields that are known; a required one that is not there is refused as null."""
        if not is_object(data):
            raise wrong("an object")
        fields = cls.model_fields.items()
        return {name: data.get(name) for name, it in fields if it.is_required() or data.get(name) is not None}


def read(kind: type[R], data: object, **limits: int) -> R:
    """What was sent as a request of this kind; `limits` are those that its fields name. Raises GlassLlamaError."""
    try:
        return kind.model_validate(data, context=limits)
    except ValidationError as error:
        raise refused(kind, error) from None


def refused(kind: type[Request], error: ValidationError) -> GlassLlamaError:
    """The error of the first field that cannot be read."""
    first = error.errors(include_url=False)[0]
    told, where = first.get("ctx", {}), first["loc"]
    name = str(where[0]) if where else kind.called
    if isinstance(told.get("error"), GlassLlamaError):
        return told["error"]
    if "said" in told:
        return GlassLlamaError(kind.code, told["said"].replace("{name}", name), field=name)
    return Refusals(kind.code).wrong(name, first["input"], told.get("right", first["msg"]))


def wrong(right: Expected | str) -> PydanticCustomError:
    """For a value in whose place `right` would be right."""
    return PydanticCustomError("wrong", "expected {right}", {"right": right})


def said(message: str) -> PydanticCustomError:
    """For a value of which the whole message is said; {name} in it is the field's."""
    return PydanticCustomError("said", "{said}", {"said": message})


# What checks a field, to stand in Annotated[…].


def text(longest: int = MAX_NAME) -> PlainValidator:
    """A text of up to `longest` characters."""

    def check(value: object) -> str:
        if not isinstance(value, str) or len(value) > longest:
            raise wrong(f"a text of up to {longest:,} characters")
        return value

    return PlainValidator(check)


def below(limit: int | str) -> PlainValidator:
    """A whole number from 0 to `limit` - 1; a text is the name of a limit that `read` was given."""

    def check(value: object, info: ValidationInfo) -> int:
        return check_below(value, end_of(limit, info))

    return PlainValidator(check)


def check_below(value: object, limit: int) -> int:
    """The value, where it is a whole number from 0 to `limit` - 1."""
    if not _is_whole(value) or not 0 <= value < limit:
        raise wrong(f"a whole number from 0 to {limit - 1}")
    return value


def counted(low: int, high: int) -> PlainValidator:
    """A whole number from `low` to `high`; 20.0 is one, as JSON does not tell it from 20."""

    def check(value: object) -> int:
        found = int(value) if isinstance(value, float) and value.is_integer() else value
        if not _is_whole(found):
            raise wrong("a whole number")
        if not low <= found <= high:
            raise wrong(f"a whole number from {low} to {high}")
        return found

    return PlainValidator(check)


def among(choices: Collection[Any]) -> PlainValidator:
    """One of these texts or numbers."""

    def check(value: object) -> Any:
        if not isinstance(value, str | int | float) or isinstance(value, bool) or value not in choices:
            raise wrong(any_of(map(str, choices)))
        return value

    return PlainValidator(check)


def listed(message: str, most: int | str, least: int = 0, of: type = object) -> BeforeValidator:
    """A list of `least` to `most` values of one type; `message` says so, with the field's {name} and {most}."""

    def check(value: object, info: ValidationInfo) -> list[object]:
        end = end_of(most, info)
        if is_list(value) and least <= len(value) <= end and all(of in (object, type(it)) for it in value):
            return value
        raise said(message.replace("{most}", str(end)))

    return BeforeValidator(check)


def checked(check: Callable[[str, Any], object]) -> PlainValidator:
    """What `check` makes of the field's name and its value. A GlassLlamaError that it raises is the refusal."""
    return PlainValidator(lambda value, info: check(str(info.field_name), value))


def end_of(limit: int | str, info: ValidationInfo) -> int:
    """The limit, where it is a number; else the one of that name that `read` was given."""
    if isinstance(limit, int):
        return limit
    limits: dict[str, int] = info.context or {}
    return limits[limit]


def is_list(value: object) -> TypeGuard[list[object]]:
    """Whether a list was sent."""
    return isinstance(value, list)


def is_object(value: object) -> TypeGuard[dict[str, object]]:
    """Whether an object was sent: the keys of JSON are texts."""
    return isinstance(value, dict)


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _whole(value: object) -> int:
    if not _is_whole(value):
        raise wrong("a whole number")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise wrong("a text")
    return value


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong("a number")
    return float(value)


Name = Annotated[str, text()]
Text = Annotated[str, PlainValidator(_text)]  # of any length: a request itself has at most MAX_BYTES
Whole = Annotated[int, PlainValidator(_whole)]
Number = Annotated[float, PlainValidator(_number)]
Flag = Annotated[bool, PlainValidator(lambda value: value is True)]  # all but true is false
# Of a run or its model, whose limits `read` is given.
Layer = Annotated[int, below("layers")]
Head = Annotated[int, below("heads")]
Token = Annotated[int, below("tokens")]
TokenId = Annotated[int, below("vocabulary")]
