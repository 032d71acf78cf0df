"""The messages as TypeScript, for the checks of the page's own code: static/messages.d.ts.

`python -m visuals.messages.declarations` writes the file, and `make format` does so before Prettier lays it out; a test
says when it is no longer what the TypedDicts say.
"""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType, NoneType, UnionType
from typing import Literal, NotRequired, Union, get_args, get_origin

from typing_extensions import get_type_hints, is_typeddict

from visuals import STATIC

from . import __path__ as PLACE
from .run import BusMessage

FILE = STATIC / "messages.d.ts"
HEAD = "// Every message of visuals/messages, written by `make format`: what is to be changed is changed there.\n"
NAMES: dict[object, str] = {
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    object: "unknown",
    NoneType: "null",
}


def typescript(hint: object) -> str:
    """A type as TypeScript has it. Raises TypeError for one that no message may have."""
    if is_typeddict(hint):
        return getattr(hint, "__name__")  # noqa: B009 - of a class that is known at run time alone
    if isinstance(hint, type) and hint in NAMES:
        return NAMES[hint]
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        return " | ".join(f'"{value}"' for value in args)
    if origin in (Union, UnionType):
        return " | ".join(map(typescript, args))
    if origin is dict and args[0] is str:
        return f"Record<string, {typescript(args[1])}>"
    if origin is list or (origin is tuple and args[-1] is Ellipsis):
        item = typescript(args[0])
        return f"({item})[]" if get_origin(args[0]) in (Union, UnionType, Literal) and " | " in item else f"{item}[]"
    if origin is tuple:
        return f"[{', '.join(map(typescript, args))}]"
    raise TypeError(f"{hint}: a message holds TypedDicts, lists, tuples, dicts by str, literals and plain values")


def interface(message: type) -> str:
    """The interface of a TypedDict, its docstring above it."""
    lines = [f" * {line}".rstrip() for line in (message.__doc__ or "").strip().splitlines()]
    lines = [
        "/**",
        *(line.replace(" *     ", " * ") for line in lines),
        " */",
        f"export interface {message.__name__} {{",
    ]
    for name, hint in get_type_hints(message, include_extras=True).items():
        optional = get_origin(hint) is NotRequired or name not in vars(message)["__required_keys__"]
        told = get_args(hint)[0] if get_origin(hint) is NotRequired else hint
        lines.append(f"  {name}{'?' * optional}: {typescript(told)};")
    return "\n".join([*lines, "}"])


def modules() -> Iterator[ModuleType]:
    """The modules that define messages."""
    for one in iter_modules(PLACE):
        yield import_module(f"{__package__}.{one.name}")


def messages(module: ModuleType) -> Iterator[type]:
    """The TypedDicts that a module defines, in its order, but for those that only help to define another (`_Name`)."""
    for name, value in vars(module).items():
        if is_typeddict(value) and value.__module__ == module.__name__ and not name.startswith("_"):
            yield value


def declarations() -> str:
    """All of them, and what comes over the bus."""
    told = [interface(message) for module in modules() for message in messages(module)]
    bus = f"/** What comes over the bus. */\nexport type BusMessage = {typescript(BusMessage)};"
    return "\n\n".join([HEAD.strip(), *told, bus]) + "\n"


def write(file: Path = FILE) -> None:
    """Write them down."""
    file.write_text(declarations(), encoding="utf-8")


if __name__ == "__main__":
    write()
