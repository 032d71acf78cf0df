"""A run-time checker of array annotations, and of nothing else, behind jaxtyping's import hook.

Plain annotations are left alone on purpose: much of the public interface promises a readable error for a value of the
wrong type, and a checker that steps in first would hide that error from its own test.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, Literal, get_args, get_origin

import jaxtyping
from beartype import beartype
from jaxtyping import AbstractArray, install_import_hook

jaxtyped = jaxtyping.jaxtyped


def install(package: str) -> None:
    """Check the shapes of every function of a package that is imported from now on.

    jaxtyping's hook wraps whatever it finds, and a small function without arrays is then ten times as slow: the names
    of its arguments are bound anew at each call. So the decorator that the hook names wraps what has a shape to check.
    """
    jaxtyping.jaxtyped = where_shapes_are  # type: ignore[assignment]
    install_import_hook(package, f"{__name__}.{check_shapes.__name__}")


def where_shapes_are(*, typechecker: Callable[..., Any]) -> Callable[[Any], Any]:
    """`jaxtyped` for a function, method or dataclass that is annotated with a shape; any other as it is."""
    return lambda given: jaxtyped(given, typechecker=typechecker) if any(map(_holds_array, _hints(given))) else given


def check_shapes(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with beartype looking at those parameters and results that are annotated with a shape."""
    hints = {name: hint for name, hint in function.__annotations__.items() if _holds_array(hint)}
    if not hints:
        return function
    function.__annotations__ = hints
    return beartype(function)


def _hints(given: Any) -> list[object]:
    if isinstance(given, type):
        return [field.type for field in dataclasses.fields(given)] if dataclasses.is_dataclass(given) else []
    if isinstance(given, property):
        return [hint for part in (given.fget, given.fset) if part for hint in part.__annotations__.values()]
    return list(getattr(given, "__func__", given).__annotations__.values())


def _holds_array(hint: object) -> bool:
    if isinstance(hint, str):  # not read yet: jaxtyping reads it
        return True
    if isinstance(hint, type) and issubclass(hint, AbstractArray):
        return True
    return get_origin(hint) is not Literal and any(_holds_array(part) for part in get_args(hint))
