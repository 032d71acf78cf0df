"""The store of runs, which visitors may still ask about, and the tickets of work that they asked to stop.

Runs go by an id that nobody can guess; the least recently used go when the bytes run out. Why each visitor has a share
of their own: docs/decisions/shares-of-the-store.md.
"""

import json
import secrets
import sys
import threading
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property, partial
from hashlib import sha256
from typing import ParamSpec, TypeVar, cast

import numpy as np

from model import GlassLlamaError, Step, Trace
from visuals.messages.run import Changes

from .engine import Engine
from .memory import give_back_soon
from .operations import Operation
from .visitors import NOBODY, Visitor

P = ParamSpec("P")
T = TypeVar("T")
SOURCE = "~source"  # no character of an id
OF_ENCODER = "encoder_"  # what the names of changes in an encoder begin with
MAX_BYTES = 512 * 1024**2
# A visitor holds at most this part of the bytes, and this many runs.
SHARES = 4
RUNS_EACH = 64
# When so many bytes were let go of, the machine has them back.
GIVEN_BACK_AFTER = 128 * 1024**2


def weight(value: object) -> int:
    """About how many bytes a value takes with all that it holds; what it shares with others counts each time."""
    if isinstance(value, np.ndarray):
        return sys.getsizeof(value) + (value.nbytes if value.base is not None else 0)
    held: Iterable[object] = ()
    if isinstance(value, dict):
        held = (part for pair in value.items() for part in pair)
    elif isinstance(value, list | tuple):
        held = value
    elif is_dataclass(value):
        held = (getattr(value, part.name) for part in fields(value))
    return sys.getsizeof(value) + sum(map(weight, held))


def of_encoder(changes: Changes) -> Changes:
    """Those of a run's changes that are of its encoder, under the names that they have in any stack."""
    found = {name.removeprefix(OF_ENCODER): value for name, value in changes.items() if name.startswith(OF_ENCODER)}
    return cast(Changes, found)


@dataclass(frozen=True)
class HeldRun:
    """A run of `model` on `prompt` and what was generated after it: tokens n_prompt… of the trace.

    Where an encoder read the prompt, the trace is of what is written, after one token that begins it; `source` is then
    the encoder's run, which goes by the same id with SOURCE after it.
    `seconds` is how long the forward pass and its recording took, of a run that grew the pass that it grew from;
    `changes` what the page asked to be changed in it (app/comparing.py), and `chosen` under which changes each of the
    `steps` was chosen, as `key` tells them apart; `visitor` whose run it is.
    """

    model: str
    prompt: str
    n_prompt: int
    trace: Trace
    steps: tuple[Step, ...] = ()
    seconds: float = 0.0
    changes: Changes = field(default_factory=Changes)
    chosen: tuple[str, ...] = ()
    visitor: Visitor = NOBODY
    id: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    _answers: dict[str, tuple[object, object]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def key(self) -> str:
        """The changes, as a text of a few characters."""
        return sha256(json.dumps(self.changes, sort_keys=True).encode()).hexdigest() if self.changes else ""

    def chose(self, step: int) -> bool:
        """Whether a step was chosen with the changes of this run, and not given to it."""
        return self.chosen[step] == self.key

    @property
    def has_all_steps(self) -> bool:
        """Whether it is known how each written token was chosen: a link, and a run that expired, bring bare ids."""
        return self.n_prompt + len(self.steps) == len(self.trace.token_ids)

    @property
    def prompt_ids(self) -> list[int]:
        """The tokens of the prompt, whichever stack read them."""
        read = self.trace.source
        return self.trace.token_ids[: self.n_prompt] if read is None else read.token_ids

    @property
    def source(self) -> "HeldRun | None":
        """The encoder's part of the run."""
        if (read := self.trace.source) is None:
            return None
        mine = of_encoder(self.changes)
        return replace(self, trace=read, n_prompt=len(read.token_ids), steps=(), changes=mine, id=self.id + SOURCE)

    def study(self, engine: Engine, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What an operation (app/operations.py) gives of this run, or of the model that it ran on."""
        return engine.study(self.model, operation, self.trace, *args, **kwargs)

    def study_and_keep(self, engine: Engine, operation: Operation[..., T], *args: object) -> T:
        """As `study`; the answer is kept for what builds on it, until the same is asked with other arguments.

        One answer of each operation is held. It is small beside the run's streams, and not counted with them.
        """
        if (kept := self.kept(operation, *args)) is None:
            kept = self.study(engine, operation, *args)
            self.keep(operation, kept, *args)
        return kept

    def kept(self, operation: Operation[..., T], *asked: object) -> T | None:
        """The answer that was kept of an operation, where it is to what is `asked`."""
        about, answer = self._answers.get(operation.name, (None, None))
        return cast(T, answer) if about == asked else None

    def keep(self, operation: Operation[..., T], answer: T, *asked: object) -> None:
        """Keep the answer to what is `asked` in the place of an operation's last one."""
        self._answers[operation.name] = (asked, answer)

    def words_bytes(self) -> int:
        """About how many bytes it takes beside the trace's arrays: texts, ids, steps and changes."""
        trace = self.trace
        beside = (self.prompt, self.visitor, self.steps, self.changes, self.chosen)
        return weight((*beside, trace.token_ids, trace.pieces, trace.intervention))


class LruSizes:
    """Runs by id and what each takes, least recently used first. What they take together is kept as a sum."""

    def __init__(self) -> None:
        self.sizes: OrderedDict[str, int] = OrderedDict()
        self.nbytes = 0

    def __len__(self) -> int:
        return len(self.sizes)

    def put(self, run_id: str, nbytes: int) -> None:
        self.take(run_id)
        self.sizes[run_id] = nbytes
        self.nbytes += nbytes

    def take(self, run_id: str) -> None:
        self.nbytes -= self.sizes.pop(run_id, 0)

    def use(self, run_id: str) -> None:
        self.sizes.move_to_end(run_id)

    def grow(self, run_id: str, nbytes: int) -> None:
        self.sizes[run_id] += nbytes
        self.nbytes += nbytes

    @property
    def oldest(self) -> str:
        return next(iter(self.sizes))

    @property
    def newest(self) -> str:
        return next(reversed(self.sizes))


class Runs:
    """Held runs within `max_bytes`; a visitor's within `share` bytes and `each` runs, their own oldest going first.

    Over `max_bytes` the oldest run of the address that holds the most goes, of its page that holds the most: so nobody
    has others' runs go by making up sessions. The newest is always kept, whatever its size. What a call takes does not
    grow with the runs that are held: a trace says by itself when it grew. Safe to use from several threads.
    """

    def __init__(self, max_bytes: int = MAX_BYTES, share: int | None = None, each: int = RUNS_EACH):
        self.max_bytes = max_bytes
        self.share = max_bytes // SHARES if share is None else share
        self.each = each
        self._runs: dict[str, HeldRun] = {}
        self._all = LruSizes()
        self._of: defaultdict[Visitor, LruSizes] = defaultdict(LruSizes)
        self._let_go = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._runs)

    @property
    def nbytes(self) -> int:
        """Bytes of all held runs as they are now: a trace grows when its layers are looked at."""
        return self._all.nbytes

    def hold(self, run: HeldRun) -> HeldRun:
        """Keep a run, under its id, as the most recent one."""
        words = run.words_bytes()
        with self._lock:
            self._drop(run.id)
            nbytes = words + run.trace.watch(partial(self._grew, run.id))
            self._runs[run.id] = run
            for sizes in (self._all, self._of[run.visitor]):
                sizes.put(run.id, nbytes)
            self._shrink(run.visitor)
            due = self._let_go >= GIVEN_BACK_AFTER
            self._let_go = 0 if due else self._let_go
        if due:
            give_back_soon()
        return run

    def get(self, run_id: str) -> HeldRun:
        """The run, or its encoder's part, now the most recent one.

        Raises GlassLlamaError("run_expired") when it is not held any more.
        """
        whole = run_id.removesuffix(SOURCE)
        with self._lock:
            run = self._runs.get(whole)
            found = run if run is None or whole == run_id else run.source
            if run is None or found is None:
                raise GlassLlamaError("run_expired", "This run is no longer held here. Run the prompt again.")
            for sizes in (self._all, self._of[run.visitor]):
                sizes.use(whole)
            return found

    def forget(self, run_id: str) -> None:
        """Let go of a run, if it is held."""
        with self._lock:
            self._drop(run_id)

    def _grew(self, run_id: str, nbytes: int) -> None:
        with self._lock:
            if (run := self._runs.get(run_id)) is not None:
                for sizes in (self._all, self._of[run.visitor]):
                    sizes.grow(run_id, nbytes)
                self._shrink(run.visitor)

    def _shrink(self, visitor: Visitor) -> None:
        own = self._of[visitor]
        while len(own) > 1 and (own.nbytes > self.share or len(own) > self.each):
            self._drop(own.oldest)
        while len(self._all) > 1 and self._all.nbytes > self.max_bytes:
            self._drop(self._first_to_go())

    def _first_to_go(self) -> str:
        newest = self._all.newest
        of_address: Counter[str] = Counter()
        for visitor, sizes in self._of.items():
            of_address[visitor.address] += sizes.nbytes
        others = [(who, sizes) for who, sizes in self._of.items() if sizes and sizes.oldest != newest]
        return max(others, key=lambda one: (of_address[one[0].address], one[1].nbytes))[1].oldest

    def _drop(self, run_id: str) -> None:
        if (run := self._runs.pop(run_id, None)) is None:
            return
        run.trace.watch(None)
        self._let_go += self._all.sizes[run_id]
        for sizes in (self._all, own := self._of[run.visitor]):
            sizes.take(run_id)
        if not own:
            del self._of[run.visitor]


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
