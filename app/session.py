"""What outlives a request: runs that visitors may still ask about, and which work they asked to stop.

Runs go by an id that nobody can guess; the least recently used go when the bytes run out.
"""

import secrets
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from model import GlassLlamaError, Step, Trace

MAX_BYTES = 512 * 1024**2


@dataclass(frozen=True)
class HeldRun:
    """A run of `model` on `prompt` and what was generated after it: tokens n_prompt… of the trace.

    `seconds` is how long the forward pass and its recording took; `changes` what the page asked to be changed in it
    (app/comparing.py).
    """

    model: str
    prompt: str
    n_prompt: int
    trace: Trace
    steps: tuple[Step, ...] = ()
    seconds: float = 0.0
    changes: dict[str, Any] = field(default_factory=dict)
    id: str = field(default_factory=lambda: secrets.token_urlsafe(16))


class Runs:
    """Held runs, least recently used first, within `max_bytes`; the newest is always kept, whatever its size."""

    def __init__(self, max_bytes: int = MAX_BYTES):
        self.max_bytes = max_bytes
        self._runs: OrderedDict[str, HeldRun] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._runs)

    @property
    def nbytes(self) -> int:
        """Bytes of all held traces, read now: a trace grows when its layers are looked at."""
        return sum(run.trace.nbytes for run in self._runs.values())

    def hold(self, run: HeldRun) -> HeldRun:
        """Keep a run, under its id, as the most recent one."""
        with self._lock:
            self._runs[run.id] = run
            self._runs.move_to_end(run.id)
            self._shrink()
        return run

    def get(self, run_id: str) -> HeldRun:
        """The run, now the most recent one. Raises GlassLlamaError("run_expired") when it is not held any more."""
        with self._lock:
            if run_id not in self._runs:
                raise GlassLlamaError("run_expired", "This run is no longer held here. Run the prompt again.")
            self._runs.move_to_end(run_id)
            self._shrink()
            return self._runs[run_id]

    def forget(self, run_id: str) -> None:
        """Let go of a run, if it is held."""
        with self._lock:
            self._runs.pop(run_id, None)

    def _shrink(self) -> None:
        while len(self._runs) > 1 and self.nbytes > self.max_bytes:
            self._runs.popitem(last=False)


class Tickets:
    """Which pieces of work were asked to stop. A page makes up a ticket when it starts one and shows it to stop it."""

    def __init__(self, remembered: int = 1000):
        self._stopped: OrderedDict[str, None] = OrderedDict()
        self._remembered = remembered
        self._lock = threading.Lock()

    def stop(self, ticket: str) -> None:
        """The work with this ticket shall end, or end at once when it has yet to begin."""
        with self._lock:
            self._stopped[ticket] = None
            while len(self._stopped) > self._remembered:
                self._stopped.popitem(last=False)

    def stopped(self, ticket: str) -> bool:
        """Whether the work with this ticket shall end. No ticket, no end."""
        return bool(ticket) and ticket in self._stopped
