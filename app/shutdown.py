"""The end of the server: running generations finish or stop at a whole token; nothing is cut off in a word."""

import logging
import os
import signal
import sys
import time
from types import FrameType
from typing import NoReturn

from .build import GlassPage

# A container's host waits ten seconds between asking a server to go and ending it.
DRAIN_SECONDS = 8.0
# After that what is still written ends with its last message, which takes a run of the text.
LAST_SECONDS = 1.5
POLL_SECONDS = 0.1


def wait_for_signal() -> signal.Signals:
    """Wait until the process is asked to end, by Ctrl-C or SIGTERM; gives which. A second time it ends at once."""
    asked: list[signal.Signals] = []

    def note(number: int, _frame: FrameType | None) -> None:
        asked.append(signal.Signals(number))
        signal.signal(number, signal.SIG_DFL)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, note)
    while not asked:  # no lock is waited for: a signal may come while it is taken
        time.sleep(POLL_SECONDS)
    return asked[0]


def go_down(demo: GlassPage, seconds: float = DRAIN_SECONDS) -> None:
    """Take nothing new in, let what is at work finish for so many seconds, end what is still written, and close."""
    demo.drain.begin(seconds)
    until = time.monotonic() + seconds + LAST_SECONDS
    while demo.bounded_queue.is_at_work and time.monotonic() < until:
        time.sleep(0.05)
    demo.close(verbose=False)


def leave() -> NoReturn:
    """End the process at once.

    Python's own way out waits for threads that have a model at work, and PyTorch's, beside such threads, may never end.
    """
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(0)
