"""A package whose names are imported when they are first asked for (PEP 562)."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def names_of(package: str, modules: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """The `__getattr__` of a package: `modules` are the names by the module that defines them, such as ".trace".

    It raises AttributeError for a name of none of them.
    """
    home = {name: module for module, names in modules.items() for name in names}

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(home[name], package), name)
        setattr(sys.modules[package], name, found)
        return found

    return get
