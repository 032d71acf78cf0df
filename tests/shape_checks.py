"""A run-time checker of array annotations, and of nothing else, behind jaxtyping's import hook.

Plain annotations are left alone on purpose: much of the public interface promises a readable error for a value of the
wrong type, and a checker that steps in first would hide that error from its own test.
"""

import dataclasses
import functools
import inspect
from collections.abc import Callable, Hashable
from typing import Any, Literal, get_args, get_origin

import jaxtyping
import numpy as np
import torch
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

    def decorated(given: Any) -> Any:
        if not any(map(_holds_array, _hints(given))):
            return given
        if inspect.isfunction(given) and not inspect.isgeneratorfunction(given):
            return once_for_its_shapes(given, lambda: jaxtyped(given, typechecker=typechecker))
        return jaxtyped(given, typechecker=typechecker)

    return decorated


def once_for_its_shapes(function: Callable[..., Any], check: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
    """`check()` where arguments, or what comes of them, have shapes that were not looked at yet; else `function`.

    A check takes many times as long as the work of a small network, and what it finds depends on shapes alone. It is
    made when the function is first called: to make those of all functions takes more than half of a package's import.
    """
    found: dict[Hashable, set[Hashable]] = {}  # by the arguments' shapes, those of the results
    checked = functools.cache(check)

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        given = (tuple([shape(value) for value in args]), *[(name, shape(value)) for name, value in named.items()])
        known = found.get(given)
        if known is None:
            result = checked()(*args, **named)
            found[given] = {shape(result)}
            return result
        result = function(*args, **named)
        made = shape(result)
        if made not in known:
            jaxtyped(_returning(function, result), typechecker=check_shapes)(*args, **named)
            known.add(made)
        return result

    return call


def shape(value: Any) -> Hashable:
    """What a check of shapes depends on: dtype and shape of an array, of a tuple, list or dict those of each part."""
    kind = type(value)
    if kind is torch.Tensor or kind is np.ndarray:
        return value.dtype, value.shape
    if isinstance(value, tuple | list | dict):
        return kind, *map(shape, value.values() if isinstance(value, dict) else value)
    return (kind, value.dtype, value.shape) if isinstance(value, torch.Tensor) else kind


def _returning(function: Callable[..., Any], result: Any) -> Callable[..., Any]:
    """A function of the same signature that gives this."""

    @functools.wraps(function)
    def gives(*_args: Any, **_named: Any) -> Any:
        return result

    return gives


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
