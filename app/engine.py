"""The seam to the machine: who runs a model, and where. The page talks to an Engine and holds no model itself.

LocalEngine runs models in this process. Another engine (on other machines, say) can stand in its place without a change
in any panel. Knows nothing about gradio, languages or messages.
"""

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeVar

import model
from model.errors import GlassLlamaError, shortly
from model.generation import Generation
from model.growth import Growth, cut
from model.interventions import NOTHING, Intervention
from model.loading import Loading
from model.pieces import GPU_TIMES, Work
from model.tokenizer import Tokenizer
from visuals.messages.page import RealModelState
from visuals.payload import About

from .budget import Budgets
from .cores import cores_for
from .memory import give_back_soon
from .operations import Operation
from .priority_lock import PriorityLock
from .scheduler import Scheduler
from .smollm2 import RealModel

P = ParamSpec("P")
T = TypeVar("T")
DEVICE_NAMES = {"cpu": "CPU", "cuda": "CUDA", "mps": "MPS"}


@dataclass(frozen=True)
class Settings:
    """How the next token is chosen. temperature 0 is greedy; top_k 0 and top_p 1 keep the whole vocabulary."""

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0


class Growing(Protocol):
    """A run that grows by the tokens that are written after it; as model.growth.Growth, which says what each does."""

    @property
    def begun(self) -> int: ...
    @property
    def read(self) -> int: ...
    def run(self, count: int) -> model.Trace | None: ...


class RealModels(Protocol):
    """The real LLaMA that is on offer; as app.smollm2.RealModel."""

    def state(self) -> RealModelState: ...
    def fetch(self) -> None: ...
    def cancel(self) -> None: ...


class Engine(Protocol):
    """What the page asks of a machine. Every method may be called from several threads at once."""

    def asked_by(self, visitor: str, is_wanted: Callable[[], bool] = lambda: True) -> "Engine":
        """The same engine as one visitor asks it: visitors have its turns one after the other, whatever each of them
        asks for, and a budget each. Long work ends after the piece under way once it is not wanted any more."""
        ...

    @property
    def names(self) -> list[str]:
        """The models on offer, the first one being what a new visitor gets."""
        ...

    @property
    def real(self) -> RealModels | None:
        """The real LLaMA that is on offer, or can be, once its weights are there; None where it is not to be."""
        ...

    def about(self, name: str) -> About:
        """The model's shape, and the device and dtype that it really runs in."""
        ...

    def loading(self, name: str) -> Loading | None:
        """How far the weights are of a model that reads them at first use; None where they are there, or where nobody
        can tell. Answered at once, whoever has the model's turn."""
        ...

    def encode(self, name: str, text: str) -> list[int]:
        """Token ids of a text."""
        ...

    def decode(self, name: str, ids: Sequence[int]) -> str:
        """The text of token ids."""
        ...

    def pieces(self, name: str, ids: Sequence[int]) -> list[str]:
        """The text of each token by itself, for display."""
        ...

    def trace(
        self,
        name: str,
        ids: Sequence[int],
        changes: Intervention = NOTHING,
        written: Sequence[int] = (),
        layer: int | None = None,
    ) -> model.Trace:
        """Run the model over a prompt's tokens and those written after it, with these changes, and record the run.

        With `layer` that one is recomputed at once, where it will be asked for: it needs no turn of its own then.
        A network with an encoder reads the prompt as its source; then the trace is of what is written.
        """
        ...

    def layer(self, name: str, trace: model.Trace, index: int) -> model.LayerTrace:
        """Everything that happened in one layer of a trace, recomputed from its recorded input."""
        ...

    def study(
        self, name: str, operation: Operation[P, T], trace: model.Trace | None, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """What an operation (app/operations.py) gives, worked out where the model is.

        With a `trace` of the model it is of what was recorded there: of two stacks, the one that ran. Long work gives
        way after each piece to shorter work, to other visitors' long work, and to the visitor's own that costs less.
        For long work raises
        GlassLlamaError("budget") where the visitor has asked for too much of late, with the `seconds` after which to
        ask again, and GlassLlamaError("abandoned") where it is not wanted any more.
        """
        ...

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
        """Up to `count` further tokens after a prompt and what is written, one at a time, under these changes.

        Ends early at the end of a text and at the model's context. `growth`, of the run of the tokens so far, grows by
        those that are written as they are read; where the iterator comes to its end, by all.
        """
        ...

    def growth(self, trace: model.Trace) -> Growing:
        """A run that is to grow, for `generate`."""
        ...

    def beginning(self, name: str, trace: model.Trace, count: int) -> model.Trace | None:
        """The run of the first `count` tokens of a trace, cut off it; None where they are to be run by themselves."""
        ...


def short_name(name: str) -> str:
    """A directory's or file's own name without the path to it, which is no visitor's business; others as they are."""
    path = os.path.expanduser(name)
    return Path(path).resolve().name if os.path.exists(path) else name


def short_names(names: Sequence[str]) -> list[str]:
    """The short name of each, with a number where an earlier one has it: "run" and "run (2)" of two places."""
    found: list[str] = []
    for short in map(short_name, names):
        numbered = (short if n == 1 else f"{short} ({n})" for n in itertools.count(1))
        found.append(next(name for name in numbered if name not in found))
    return found


def _text(lm: model.LanguageModel, ids: Sequence[int], written: Sequence[int]) -> dict[str, Any]:
    """A prompt and what is written after it as model.run_trace and model.generate take them."""
    if lm.reads_source:
        return {"prompt": list(ids), "target": list(written) or None}
    return {"prompt": [*ids, *written]}


class LocalEngine:
    """Runs models in this process, one piece of work at a time for each model.

    Turns matter twice: capturing hangs hooks on the one network, and two forward passes at once on the same cores only
    slow each other down. Long work takes a turn for every piece, after the runs that wait (app/priority_lock.py), and
    what a page fetches ahead after both; those who generate take one for each step that they share
    (app/scheduler.py). A model whose weights come and go (model/on_demand.py) keeps them while it works.
    """

    def __init__(self, models: Sequence[Any], budgets: Budgets | None = None, real: RealModel | None = None):
        """`models` as model.load() or OnDemand give them; `real` is one of them from when its weights are there.

        Raises ValueError for none, or for two of the same name.
        """
        given = [lm.name for lm in models]
        if len(set(given)) != len(models) or not models:
            raise ValueError(f"expected one or more different models, got {', '.join(given) or 'none'}.")
        self._models = dict(zip(short_names(given), models, strict=True))
        self._turns = {name: PriorityLock() for name in self._models}
        self._schedulers = {name: Scheduler(turns) for name, turns in self._turns.items()}
        self._budgets = Budgets(for_others=True) if budgets is None else budgets
        self._visitor = ""
        self._is_wanted: Callable[[], bool] = lambda: True
        self._real = real
        if real is not None:
            real.add = self._add
            real.state()

    def _add(self, lm: Any) -> None:
        self._turns[lm.name] = PriorityLock()
        self._schedulers[lm.name] = Scheduler(self._turns[lm.name])
        self._models[lm.name] = lm

    def asked_by(self, visitor: str, is_wanted: Callable[[], bool] = lambda: True) -> "LocalEngine":
        asked = copy(self)
        asked._visitor, asked._is_wanted = visitor, is_wanted
        return asked

    @property
    def names(self) -> list[str]:
        return list(self._models)

    @property
    def real(self) -> RealModel | None:
        return self._real

    def _get(self, name: str) -> Any:
        if name not in self._models:
            raise GlassLlamaError("model_unknown", f"There is no model named {shortly(name)} here.", name=name[:60])
        return self._models[name]

    @contextmanager
    def _turn(self, name: str, ahead: bool = False) -> Iterator[Any]:
        """The model, with which this thread alone works while the context lasts; `ahead`: nobody waits for it yet."""
        lm = self._get(name)
        turns = self._turns[name]
        with turns.turn(visitor=self._visitor, ahead=ahead), lm.in_use(), cores_for(lm.n_parameters, turns.waiting):
            yield lm

    def about(self, name: str) -> About:
        lm = self._get(name)
        device = DEVICE_NAMES.get(lm.device.type, str(lm.device))
        dtype = str(lm.dtype).removeprefix("torch.")
        return About(name, lm.config, lm.n_parameters, device, dtype, lm.reads_source)

    def loading(self, name: str) -> Loading | None:
        return self._get(name).loading()

    def tokenizer(self, name: str) -> Tokenizer:
        """The model's tokenizer, which another process can be given."""
        return self._get(name).tokenizer

    def encode(self, name: str, text: str) -> list[int]:
        return self.tokenizer(name).encode(text)

    def decode(self, name: str, ids: Sequence[int]) -> str:
        return self.tokenizer(name).decode(list(ids))

    def pieces(self, name: str, ids: Sequence[int]) -> list[str]:
        return self.tokenizer(name).pieces(list(ids))

    def trace(
        self,
        name: str,
        ids: Sequence[int],
        changes: Intervention = NOTHING,
        written: Sequence[int] = (),
        layer: int | None = None,
    ) -> model.Trace:
        with self._turn(name) as lm:
            trace = model.run_trace(lm, **_text(lm, ids, written), intervention=changes)
            if layer is not None and trace.first_nonfinite is None:
                trace.layer(layer)
            return trace

    def layer(self, name: str, trace: model.Trace, index: int) -> model.LayerTrace:
        with self._turn(name):
            return trace.layer(index)

    def study(
        self, name: str, operation: Operation[P, T], trace: model.Trace | None, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        lm = self._get(name)
        read, given = lm if trace is None else trace.lm, operation.given(trace, args)
        if operation.cost is None:
            with self._turn(name, ahead=operation.ahead):
                return operation.function(read, *given, **kwargs)
        cost = operation.cost(lm, trace, *args, **kwargs)
        with self._paid(lm, cost), lm.in_use():
            try:
                return self._finished(name, operation.pieces(read, *given, **kwargs), cost)
            finally:
                give_back_soon()

    @contextmanager
    def _paid(self, lm: Any, tokens: float) -> Iterator[None]:
        """A context for long work that costs as much as so many tokens through the whole network."""
        cost = lm.n_parameters * float(tokens) / (1 if lm.device.type == "cpu" else GPU_TIMES)
        self._budgets.spend(self._visitor, cost)
        try:
            yield
        except GlassLlamaError as error:
            if error.code != "abandoned":  # what is refused is no work to speak of
                self._budgets.give_back(self._visitor, cost)
            raise

    def _finished(self, name: str, work: Work[T], cost: float) -> T:
        turns = self._turns[name]
        with turns.turn(long=True, visitor=self._visitor, cost=cost):
            while True:
                if not self._is_wanted():
                    raise GlassLlamaError("abandoned", "Nobody waits for this any more.")
                try:
                    next(work)
                except StopIteration as end:
                    return end.value
                turns.give_way(self._visitor, cost)

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
        lm = self._get(name)
        with lm.in_use():
            assert growth is None or isinstance(growth, Growth)
            how = {"max_new_tokens": count, "intervention": changes, "growth": growth, **asdict(settings)}
            text = Generation(lm, **_text(lm, ids, written), **how)
            yield from self._schedulers[name].write(text, self._visitor)

    def growth(self, trace: model.Trace) -> Growth:
        return Growth(trace)

    def beginning(self, name: str, trace: model.Trace, count: int) -> model.Trace | None:
        with self._turn(name):
            return cut(trace, count)
