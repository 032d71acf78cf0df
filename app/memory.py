"""Gives freed memory back to the operating system. Why it has to be asked for: docs/decisions/memory-given-back.md."""

import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable
from functools import partial

M_ARENA_MAX = -8  # of glibc's malloc.h
MKL_KEEPS_NOTHING = "MKL_DISABLE_FAST_MM"  # of the library that multiplies PyTorch's matrices
ARENAS = 2
SOON = 20.0  # seconds; why not at once: docs/decisions/memory-given-back.md


def _glibc(name: str) -> Callable[..., int] | None:
    """A function of glibc's allocator; None on machines that have another."""
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None


def few_arenas() -> None:
    """Have all threads share a few pools of memory. Each would have its own, and keep what others could use."""
    if mallopt := _glibc("mallopt"):
        mallopt(M_ARENA_MAX, ARENAS)


def no_kept_buffers() -> None:
    """Have MKL give its buffers back after each product of matrices. It asks at the first product of a process."""
    os.environ.setdefault(MKL_KEEPS_NOTHING, "1")


def give_back() -> None:
    """Give the pages that nothing is in back to the machine; takes some hundredths of a second."""
    if trim := _glibc("malloc_trim"):
        trim(0)


class Later:
    """Does a work once for all who ask while `wait` lasts, in a thread of its own."""

    def __init__(self, work: Callable[[], None], wait: Callable[[], None]) -> None:
        self._work, self._wait = work, wait
        self._is_due = threading.Lock()

    def __call__(self) -> None:
        """Ask for it; returns at once."""
        if self._is_due.acquire(blocking=False):
            threading.Thread(target=self._after_the_wait, daemon=True).start()

    def _after_the_wait(self) -> None:
        self._wait()
        self._is_due.release()
        self._work()


give_back_soon = Later(give_back, partial(time.sleep, SOON))
