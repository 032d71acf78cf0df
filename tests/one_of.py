"""Parameters of a test that `make test` tries with the first alone, and `make test-all` with all."""

from collections.abc import Iterable
from typing import Any

import pytest


def one_of(values: Iterable[Any]) -> list[Any]:
    """The values (or tuples of them) for `pytest.mark.parametrize`; all but the first are marked `thorough`."""
    first, *others = values
    return [
        first,
        *(
            pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.thorough)
            for value in others
        ),
    ]
