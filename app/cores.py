"""How many cores a run, a look or a shared step takes: where others wait, a small network's takes one.

Every operation that cores share ends with the slowest of them. In a crowd one of them answers others meanwhile, and a
small network has thousands of such ends a second. Long work keeps them all: its batches are large enough to share.
"""

from contextlib import AbstractContextManager, nullcontext
from functools import cache

from threadpoolctl import ThreadpoolController

SMALL = 20_000_000  # parameters


@cache
def _of_torch() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="openmp")


def cores_for(n_parameters: int, waiting: int) -> AbstractContextManager[object]:
    """A context for a piece of a network's work in this thread, for whose end so many others wait."""
    return _of_torch().limit(limits=1) if waiting and n_parameters <= SMALL else nullcontext()
