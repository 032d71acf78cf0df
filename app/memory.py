"""Gives freed memory back to the operating system. Why it has to be asked for: docs/decisions/memory-given-back.md."""

import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable

M_ARENA_MAX = -8  # of glibc's malloc.h
MKL_KEEPS_NOTHING = "MKL_DISABLE_FAST_MM"  # of the library that multiplies PyTorch's matrices
ARENAS = 2
SOON = 20.0  # seconds; why not at once: docs/decisions/memory-given-back.md
_is_due = threading.Lock()


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


def give_back_soon() -> None:
    """Do that SOON seconds from now, in a thread of its own: once for all who ask meanwhile."""
    if _is_due.acquire(blocking=False):
        threading.Thread(target=_give_back_later, daemon=True).start()


def _give_back_later() -> None:
    time.sleep(SOON)
    _is_due.release()
    give_back()
