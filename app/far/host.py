"""What answers beside the models: an engine's methods, with runs that go by a key.

A host keeps the runs that were asked for last. One that it lacks, since it was let go of or was another host's, it runs
once more from what stands in the reference: a network gives the same again.
"""

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from model import GlassLlamaError, LayerTrace, Step, Trace
from model.growth import Growth
from model.interventions import Intervention
from model.loading import Loading
from model.tokenizer import Tokenizer
from visuals.messages.page import RealModelState
from visuals.payload import About

from ..engine import Engine, LocalEngine, Settings
from ..operations import Operation
from .messages import Asked, Recorded, RunRef

T = TypeVar("T")
MOST_BYTES = 256 * 1024**2  # of runs that are kept
MOST_GROWING = 256  # texts that are written, or were a moment ago


class Kept(OrderedDict[str, T]):
    """What was used last, while `fits` says that it is not too much; the newest always stays."""

    def __init__(self, fits: Callable[["Kept[T]"], bool]):
        super().__init__()
        self._fits = fits
        self._lock = threading.Lock()

    def use(self, key: str) -> T | None:
        """The value, now the newest."""
        with self._lock:
            if key in self:
                self.move_to_end(key)
            return self.get(key)

    def put(self, key: str, value: T) -> None:
        """Keep it, as the newest."""
        with self._lock:
            self[key] = value
            self.move_to_end(key)
            while len(self) > 1 and not self._fits(self):
                self.popitem(last=False)


class Host:
    """Answers for an engine. Its public methods are what a page may ask; each gets the engine as the visitor asks it.

    Safe to use from several threads.
    """

    def __init__(self, engine: LocalEngine, most_bytes: int = MOST_BYTES, place: str = ""):
        """Of several hosts each has a `place`, with which the keys of its runs begin (app/far/placement.py)."""
        self.engine = engine
        self._place = f"{place}." if place else ""
        self._runs: Kept[Trace] = Kept(lambda kept: sum(trace.nbytes for trace in kept.values()) <= most_bytes)
        self._growing: Kept[Growth] = Kept(lambda kept: len(kept) <= MOST_GROWING)

    def answer(self, asked: Asked, is_wanted: Callable[[], bool] = lambda: True) -> Any:
        """What is asked: a value, or an iterator of what is yielded. Raises ValueError for a method there is not."""
        if asked.method not in METHODS:
            raise ValueError(f"{asked.method!r} is no method of a host.")
        return getattr(self, asked.method)(self.engine.asked_by(asked.visitor, is_wanted), *asked.args)

    def names(self, engine: Engine) -> list[str]:
        return engine.names

    def about(self, engine: Engine, name: str) -> About:
        return engine.about(name)

    def loading(self, engine: Engine, name: str) -> Loading | None:
        return engine.loading(name)

    def tokenizer(self, _engine: Engine, name: str) -> Tokenizer:
        return self.engine.tokenizer(name)

    def real(self, engine: Engine, act: str) -> RealModelState | None:
        """What the real model's method of this name gives; None where there is none."""
        if engine.real is None:
            return None
        {"state": lambda: None, "fetch": engine.real.fetch, "cancel": engine.real.cancel}[act]()
        return engine.real.state()

    def trace(
        self,
        engine: Engine,
        name: str,
        ids: Sequence[int],
        changes: Intervention,
        written: Sequence[int],
        layer: int | None,
    ) -> Recorded:
        trace = engine.trace(name, ids, changes, written, layer)
        return self._hold(trace, name, ids, changes, written)

    def layer(self, engine: Engine, ref: RunRef, index: int) -> LayerTrace:
        return engine.layer(ref.model, self._run(engine, ref), index)

    def study(
        self,
        engine: Engine,
        name: str,
        operation: Operation[..., Any],
        ref: RunRef | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        return engine.study(name, operation, None if ref is None else self._run(engine, ref), *args, **kwargs)

    def beginning(self, engine: Engine, ref: RunRef, count: int) -> Recorded | None:
        found = engine.beginning(ref.model, self._run(engine, ref), count)
        return None if found is None else self._hold_part(found, ref)

    def generate(
        self,
        engine: Engine,
        name: str,
        ids: Sequence[int],
        count: int,
        settings: Settings,
        written: Sequence[int],
        changes: Intervention,
        growing: str,
        grows_from: RunRef | None,
    ) -> Iterator[tuple[Step | None, int]]:
        """Each step, and how many tokens the run that grows has read by then; at last None with that number.

        `growing` is the key of such a run, which grows from another.
        """
        growth = None
        if grows_from is not None:
            growth = Growth(self._run(engine, grows_from))
            self._growing.put(growing, growth)
        for step in engine.generate(name, ids, count, settings, written, changes, growth):
            yield step, 0 if growth is None else growth.read
        yield None, 0 if growth is None else growth.read

    def grown(self, _engine: Engine, key: str, ref: RunRef, count: int) -> Recorded | None:
        """The run that grew, of its first `count` new tokens; None where it is to be run whole."""
        growth = self._growing.use(key)
        found = None if growth is None else growth.run(count)
        return None if found is None else self._hold_part(found, ref)

    def _hold(
        self, trace: Trace, name: str, ids: Sequence[int], changes: Intervention, written: Sequence[int]
    ) -> Recorded:
        ref = RunRef(f"{self._place}{secrets.token_urlsafe(16)}", name, tuple(ids), tuple(written), changes)
        self._runs.put(ref.key, trace)
        return Recorded.of(trace, ref)

    def _hold_part(self, trace: Trace, ref: RunRef) -> Recorded:
        """A run that begins as that of `ref` does."""
        if trace.source is None:
            return self._hold(trace, ref.model, trace.token_ids, ref.changes, ())
        return self._hold(trace, ref.model, ref.ids, ref.changes, trace.token_ids[1:])

    def _run(self, engine: Engine, ref: RunRef) -> Trace:
        trace = self._runs.use(ref.key)
        if trace is None:
            trace = engine.trace(ref.model, ref.ids, ref.changes, ref.written)
            self._runs.put(ref.key, trace)
        found = trace.source if ref.encoder else trace
        if found is None:
            raise GlassLlamaError("run_expired", "This run is no longer held here. Run the prompt again.")
        return found


METHODS = frozenset(name for name in vars(Host) if not name.startswith("_") and name != "answer")
STREAMS = frozenset({"generate"})
