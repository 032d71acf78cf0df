"""An engine whose models are elsewhere: it asks a host (app/far/host.py) for all that needs one.

Runs come whole but for what only the model gives, and are referred to by key. Nothing of the page knows the difference.
"""

import secrets
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import Any, ParamSpec, TypeVar, cast

import model
from model.interventions import NOTHING, Intervention
from model.loading import Loading
from model.tokenizer import Tokenizer
from visuals.messages.page import RealModelState
from visuals.payload import About

from ..engine import Growing, Settings
from ..operations import Operation
from .messages import Asked, ModelLostError, Recorded, RunRef, Transport

P = ParamSpec("P")
T = TypeVar("T")
TRIES = 3  # of a generation whose host is lost


class FarModel:
    """Stands in a trace for the model that it ran on, which is not here."""

    def __init__(self, ref: RunRef):
        self.ref = ref


def trace_of(recorded: Recorded) -> model.Trace:
    """The run, with a FarModel in place of its model."""
    given = {name: value for name, value in vars(recorded).items() if name not in ("ref", "source")}
    source = None if recorded.source is None else trace_of(recorded.source)
    return model.Trace(cast(model.LanguageModel, FarModel(recorded.ref)), **given, source=source)


def ref_of(trace: model.Trace) -> RunRef:
    """By what a host is asked about a run that came from one."""
    return cast(FarModel, trace.lm).ref


class FarGrowth:
    """A run that grows where the model is, by the tokens that are written after it."""

    def __init__(self, engine: "FarEngine", trace: model.Trace):
        self.key, self.ref = secrets.token_urlsafe(16), ref_of(trace)
        self.begun, self.read = len(trace.token_ids), 0
        self._engine = engine

    def run(self, count: int) -> model.Trace | None:
        """As model.growth.Growth.run."""
        return None if not 0 < count <= self.read else self._engine.grown(self.key, self.ref, count)


class FarRealModel:
    """The real LLaMA that a host offers; as app.smollm2.RealModel."""

    def __init__(self, engine: "FarEngine"):
        self._ask = engine.ask_real

    def state(self) -> RealModelState:
        """Where it stands."""
        return self._ask("state")

    def fetch(self) -> None:
        """Begin the download."""
        self._ask("fetch")

    def cancel(self) -> None:
        """End it."""
        self._ask("cancel")


class FarEngine:
    """Asks a host by a transport. It is an app.engine.Engine, which says what each method does."""

    def __init__(self, transport: Transport):
        self._transport = transport
        self._about: dict[str, About] = {}
        self._tokenizers: dict[str, Tokenizer] = {}
        self._visitor = ""
        self._is_wanted: Callable[[], bool] = lambda: True
        self._real = FarRealModel(self) if self._call("real", "state") is not None else None

    def asked_by(self, visitor: str, is_wanted: Callable[[], bool] = lambda: True) -> "FarEngine":
        asked = copy(self)
        asked._visitor, asked._is_wanted = visitor, is_wanted
        return asked

    @property
    def names(self) -> list[str]:
        return self._call("names")

    @property
    def real(self) -> FarRealModel | None:
        return self._real

    def about(self, name: str) -> About:
        if name not in self._about:  # of a model nothing of it changes
            self._about[name] = self._call("about", name)
        return self._about[name]

    def loading(self, name: str) -> Loading | None:
        return self._call("loading", name)

    def encode(self, name: str, text: str) -> list[int]:
        return self._tokenizer(name).encode(text)

    def decode(self, name: str, ids: Sequence[int]) -> str:
        return self._tokenizer(name).decode(list(ids))

    def pieces(self, name: str, ids: Sequence[int]) -> list[str]:
        return self._tokenizer(name).pieces(list(ids))

    def _tokenizer(self, name: str) -> Tokenizer:
        if name not in self._tokenizers:  # a text of 24 tokens asks a hundred times
            self._tokenizers[name] = self._call("tokenizer", name)
        return self._tokenizers[name]

    def trace(
        self,
        name: str,
        ids: Sequence[int],
        changes: Intervention = NOTHING,
        written: Sequence[int] = (),
        layer: int | None = None,
    ) -> model.Trace:
        return trace_of(self._call("trace", name, list(ids), changes, list(written), layer))

    def layer(self, name: str, trace: model.Trace, index: int) -> model.LayerTrace:
        trace.check_layer(index)
        return self._call("layer", ref_of(trace), index)

    def study(
        self, name: str, operation: Operation[P, T], trace: model.Trace | None, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return self._call("study", name, operation, None if trace is None else ref_of(trace), args, kwargs)

    def growth(self, trace: model.Trace) -> Growing:
        return FarGrowth(self, trace)

    def generate(
        self,
        name: str,
        ids: Sequence[int],
        count: int,
        settings: Settings,
        written: Sequence[int] = (),
        changes: Intervention = NOTHING,
        growth: Growing | None = None,
    ) -> Iterator[model.Step]:
        growing = None if growth is None else cast(FarGrowth, growth)
        given = ("", None) if growing is None else (growing.key, growing.ref)
        asked = Asked("generate", self._visitor, (name, list(ids), count, settings, list(written), changes, *given))
        for step, read in self._steps(asked):
            if growing is not None:
                growing.read = read
            if step is not None:
                yield step

    def _steps(self, asked: Asked) -> Iterator[tuple[model.Step | None, int]]:
        """What a generation yields. One that is lost is begun anew, and what is made again is not given again.

        A text is made again of the same tokens, but where two are as likely to the last bits. Raises ModelLostError
        where it is another, and where none comes to its end.
        """
        made: list[int] = []
        for attempt in range(TRIES):
            again = iter(list(made))
            try:
                for step, read in self._transport.stream(asked):
                    expected = None if step is None else next(again, None)
                    if step is None or expected is None:
                        made += [] if step is None else [step.token_id]
                        yield step, read
                    elif step.token_id != expected:
                        break
                else:
                    return
            except ModelLostError:
                if attempt == TRIES - 1:
                    raise
        raise ModelLostError

    def beginning(self, name: str, trace: model.Trace, count: int) -> model.Trace | None:
        return self._perhaps(self._call("beginning", ref_of(trace), count))

    def grown(self, key: str, ref: RunRef, count: int) -> model.Trace | None:
        """Of a FarGrowth: the run of its first `count` new tokens."""
        return self._perhaps(self._call("grown", key, ref, count))

    def ask_real(self, act: str) -> RealModelState:
        """What the host's real model says after it was told to do this."""
        return self._call("real", act)

    def _perhaps(self, recorded: Recorded | None) -> model.Trace | None:
        return None if recorded is None else trace_of(recorded)

    def _call(self, method: str, *args: Any) -> Any:
        return self._transport.call(Asked(method, self._visitor, args), self._is_wanted)
