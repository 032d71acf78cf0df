"""What the page can ask for, answered as messages.

A run of a text, of a link or of the same tokens with something changed; generate, one step, stop; a layer, a token's
neurons, what a chapter asks about a run and what needs no run (app/chapters/).
Between the page's events (app/build.py) and the machine (app/engine.py). Knows nothing about gradio; holds no model.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from model import GlassLlamaError, Step, Trace
from visuals.messages.answers import CalculationMessage, DetailMessage
from visuals.messages.one_file import FileMessage
from visuals.messages.run import (
    BusMessage,
    Changes,
    LayersMessage,
    NeuronsMessage,
    Notice,
    RunMessage,
    StepsMessage,
)
from visuals.run import run_message, steps_message

from .answers import answered, failure
from .chapters import CALCULATORS, DETAILS, NEEDS_LOGITS
from .comparing import intervention, second_run
from .disconnects import is_wanted
from .engine import Engine, Growing, Settings
from .fields import Request, among, read
from .one_file.document import document
from .one_file.request import OneFile, opening_view, view_of
from .operating import Drain
from .operations import LAYERS, LAYERS_AHEAD, NEURONS, NEURONS_AHEAD, OPENING
from .prompts import check_text, checked_ids
from .requests import (
    Asked,
    Change,
    Cut,
    Layers,
    Link,
    Neurons,
    OfRun,
    Sent,
    Ticket,
    View,
    about_run,
    changes_of,
    count_of,
    model_of,
    nearest_layer,
    need_room,
    rerun_of,
    runnable,
    settings_of,
)
from .session import HeldRun, Runs, Tickets
from .visitors import NOBODY, Visitor

# While text is generated the page hears of it this often at most, in seconds: faster than anyone reads. Where messages
# are slow to leave, since many write, it hears less often: after each, so many times as long passes as it took.
STREAM_EVERY = 0.04
STREAM_PAUSE = 4
# So often, in seconds, the page is sent the run of the text so far, for every panel to follow.
RUN_EVERY = 1.0


class Detail(Request):
    """What a chapter is asked about a run: an entry of DETAILS."""

    what: Annotated[str, among(DETAILS)]


class Calculation(Request):
    """What a chapter is asked without a run: an entry of CALCULATORS."""

    what: Annotated[str, among(CALCULATORS)]


class Service:
    """Answers the page's requests with messages (visuals/payload.py). Safe to call from several threads.

    Each is also told whose request it is, the `visitor`: whose turn it is, how much long work may be asked for and
    which runs are held goes by that.
    """

    def __init__(self, engine: Engine, runs: Runs | None = None, drain: Drain | None = None):
        self.drain = drain or Drain()
        self.engine = engine
        self.runs = Runs() if runs is None else runs
        self.tickets = Tickets()

    # What a visitor asks for. Each gives a message, of kind "message" where something is wrong.

    @answered
    def run(
        self, prompt: object, model: object, view: Sent | None = None, visitor: Visitor = NOBODY
    ) -> RunMessage | Notice:
        """Run a prompt. `view` may name the `layer` to send along and `generated`, token ids to append.

        Where it names no layer, the answer's `start` says which layer and head to show first.
        """
        if view is None:
            return self.show(self._run(prompt, model_of(self.engine, {"model": model}), visitor))
        read(View, view)
        return self.recall({**view, "prompt": prompt, "model": model, "changes": {}}, visitor)

    @answered
    def rerun(self, data: Sent, visitor: Visitor = NOBODY) -> RunMessage:
        """Run once more what a page still shows but is no longer held: {model, prompt, ids, n_prompt, layer}, the first
        `n_prompt` of the ids being the prompt's."""
        name = model_of(self.engine, data)
        asked = rerun_of(self.engine, name, data)
        text = asked.ids[: asked.n_prompt], asked.ids[asked.n_prompt :]
        layer = nearest_layer(self.engine, name, asked.layer)
        changes = changes_of(asked.changes)
        held = self._trace(name, asked.prompt, *text, changes=changes, visitor=visitor, layer=layer)
        return self.show(held, layer)

    @answered
    def change(self, data: Sent, visitor: Visitor = NOBODY) -> RunMessage:
        """A held run's tokens once more with `changes` (app/requests.py): {run, changes, layer}."""
        asked, held = read(Change, data), self._held(data)
        text = held.prompt_ids, held.trace.token_ids[held.n_prompt :]
        steps, layer = (held.steps, held.chosen), nearest_layer(self.engine, held.model, asked.layer)
        how = {"changes": changes_of(asked.changes), "visitor": visitor, "layer": layer}
        return self.show(self._trace(held.model, held.prompt, *text, *steps, **how), layer)

    @answered
    def recall(self, data: Sent, visitor: Visitor = NOBODY) -> RunMessage:
        """A page's first run, or one that a link describes: {prompt, model, generated, changes, layer}.

        Without a model it is of the first one; without a layer, the answer's `start` says what to show first. Where
        not all that was `generated` can be run, the answer's `note` is a message that says so.
        """
        name, asked = model_of(self.engine, data), read(Link, data)
        prompt = check_text(asked.prompt)
        ids = checked_ids(self.engine, name, prompt)
        generated, note = runnable(self.engine, name, asked.generated, self._begun(name, ids))
        layer = None if asked.layer is None else nearest_layer(self.engine, name, asked.layer)
        how = {"changes": changes_of(asked.changes), "visitor": visitor, "layer": layer}
        held = self._trace(name, prompt, ids, generated, **how)
        opened = self._opened(held, layer)
        return {**opened, "note": note} if note else opened

    @answered
    def layers(self, data: Sent, visitor: Visitor = NOBODY) -> LayersMessage:
        """Some layers of a held run: {run, layers, token, ahead}; `token` is whose neurons are sent in full."""
        held = self._held(data)
        asked = about_run(Layers, self.engine, held, data)
        operation = LAYERS_AHEAD if asked.ahead else LAYERS
        told = held.study(self._engine(visitor), operation, held.id, asked.layers, asked.token)
        return {"kind": "layers", "run": held.id, "layers": told}

    @answered
    def neurons(self, data: Sent, visitor: Visitor = NOBODY) -> NeuronsMessage:
        """All neurons of one layer of a held run: {run, layer, token, ahead}; of every token where that is null."""
        held = self._held(data)
        asked = about_run(Neurons, self.engine, held, data)
        operation = NEURONS_AHEAD if asked.ahead else NEURONS
        return held.study(self._engine(visitor), operation, held.id, asked.layer, asked.token)

    @answered
    def detail(self, data: Sent, visitor: Visitor = NOBODY) -> DetailMessage:
        """The answer to one of DETAILS about a held run: {run, what, …}."""
        held = self._held(data)
        what = read(Detail, data).what
        if what in NEEDS_LOGITS and not len(held.trace.logits):
            raise GlassLlamaError("bad_request", f"what is '{what}': an encoder chooses no token; ask the run itself.")
        asked = {**data, "other": second_run(self.runs, data["other"], held.model)} if "other" in data else data
        found = DETAILS[what](self._engine(visitor), held, asked)
        return {"kind": "detail", "run": held.id, "what": what, "data": found}

    @answered
    def calculate(self, data: Sent, visitor: Visitor = NOBODY) -> CalculationMessage:
        """The answer to one of CALCULATORS, which needs no run: {what, …}."""
        what = read(Calculation, data).what
        found = CALCULATORS[what](self._engine(visitor), data)
        return {"kind": "calculation", "what": what, "data": found}

    @answered
    def step(self, prompt: Any, model: Any, settings: Asked, view: Sent, visitor: Visitor = NOBODY) -> RunMessage:
        """One more token after the run that is shown, changed as that is, or after the prompt where it is another."""
        settings, looked = settings_of(settings), read(View, view)
        model = model_of(self.engine, {"model": model})
        shown = self._shown(prompt, model, looked)
        held = shown if shown and shown.has_all_steps else self._run(prompt, model, visitor, shown)
        # Each token has a seed of its own; with one for all, every step would make the same throw.
        seeded = replace(settings, seed=settings.seed + len(held.steps))
        need_room(self.engine, model, held.trace.token_ids)
        growth = self.engine.growth(held.trace)
        new = self._written(held, 1, seeded, visitor, growth)
        grown = self._extend_run(held, (*held.steps, *new), growth)
        return self.show(grown, nearest_layer(self.engine, model, looked.layer))

    def generate(
        self, prompt: Any, model: Any, count: Any, settings: Asked, view: Sent, visitor: Visitor = NOBODY
    ) -> Iterator[BusMessage]:
        """Run the prompt, then a message every few tokens, and now and then the run of all so far; at last that of all.

        `view` may name the `layer` to send along, a `ticket` by which the generation can be stopped, and the `run` that
        the page shows: what is changed in that is changed in this, as long as prompt and model are the same.
        """
        try:
            count, settings = count_of(1 if count is None else count), settings_of(settings)
            model, looked = model_of(self.engine, {"model": model}), read(View, view)
            held = self._prompt_run(prompt, model, visitor, self._shown(prompt, model, looked))
            layer = nearest_layer(self.engine, model, looked.layer)
            yield {**self.show(held, layer), "generating": True}
            need_room(self.engine, model, held.trace.token_ids)
            growth = self.engine.growth(held.trace)
            written = self._written(held, count, settings, visitor, growth)
            yield from self._writing(held, written, growth, looked.ticket, layer)
        except Exception as error:  # the boundary to the page, as in `answered`
            yield failure(error)

    @answered
    def cut(self, data: Sent) -> RunMessage:
        """The run of a held run's first `count` written tokens: {run, count, layer, instead}. The runs that `instead`
        names are let go of: a page asks again and again while it shows a text word by word."""
        held = self._held(data)
        asked = about_run(Cut, self.engine, held, data)
        for one in asked.instead:
            self.runs.forget(one)
        layer = nearest_layer(self.engine, held.model, asked.layer)
        count = held.n_prompt + asked.count
        trace = self._engine(held.visitor).beginning(held.model, held.trace, count)
        steps = held.steps[: asked.count]
        if trace is None:
            return self.show(self._extend_run(held, steps), layer)
        return self.show(self._hold_grown(held, trace, steps), layer)

    @answered
    def one_file(self, data: Sent, visitor: Visitor = NOBODY) -> FileMessage:
        """Held runs as one HTML file: {views, hash, calculations, lesson}. A view is {run, layer, head, token, key,
        asked}: where the page looks in the run, and what it has asked about it. The file opens at the address `hash`;
        `calculations` is what the page asked without a run, and `lesson` what is presented."""
        asked = read(OneFile, data)
        engine = self._engine(visitor)
        views = [view_of(engine, self._held(one), one) for one in asked.views]
        return {"kind": "file", "html": document(engine, views, asked.hash, asked.calculations, asked.lesson)}

    def saved_run(self, prompt: str) -> str:
        """The run of a prompt as an HTML file, for programs. Raises GlassLlamaError."""
        name = self.engine.names[0]
        held = self._run(prompt, name, NOBODY)
        return document(self.engine, [opening_view(self.engine, held)], "")

    def stop(self, ticket: Any) -> None:
        """End the generation that was started with this ticket; what it wrote so far becomes its last message.

        What can be no ticket stops nothing.
        """
        with suppress(GlassLlamaError):
            self.tickets.stop(read(Ticket, {"ticket": ticket}).ticket)

    # The parts.

    def show(self, held: HeldRun, layer: int = 0) -> RunMessage:
        """The message of a held run, with one layer and the neurons of its last token."""
        last = len(held.trace.token_ids) - 1
        (found,) = held.study(self._engine(held.visitor), LAYERS, held.id, [layer], last)
        return run_message(held, self.engine.about(held.model), partial(self.engine.pieces, held.model), found)

    def _engine(self, visitor: Visitor) -> Engine:
        """The engine as a visitor asks it, who waits until the connection of this thread's request is closed."""
        return self.engine.asked_by(visitor.address, is_wanted)

    def _opened(self, held: HeldRun, layer: int | None) -> RunMessage:
        """The message of a run: with the layer that the page looks at, else with the one to show first, as `start`."""
        if layer is not None:
            return self.show(held, layer)
        start = held.study(self._engine(held.visitor), OPENING)
        return {**self.show(held, start["layer"]), "start": start}

    def _run(self, prompt: Any, model: str, visitor: Visitor, shown: HeldRun | None = None) -> HeldRun:
        """The run of a prompt, with what is changed in the one that the page shows of it."""
        ids = checked_ids(self.engine, model, prompt)
        return self._trace(model, prompt, ids, changes=shown.changes if shown else None, visitor=visitor)

    def _prompt_run(self, prompt: Any, model: str, visitor: Visitor, shown: HeldRun | None) -> HeldRun:
        """The same, cut off the one that the page shows, which begins with it, where there is one."""
        trace = None if shown is None else self._engine(visitor).beginning(model, shown.trace, shown.n_prompt)
        if shown is None or trace is None:
            return self._run(prompt, model, visitor, shown)
        return self._hold_grown(replace(shown, visitor=visitor), trace, ())

    def _writing(
        self, held: HeldRun, written: Iterator[Step], growth: Growing, ticket: str, layer: int
    ) -> Iterator[RunMessage | StepsMessage]:
        """The messages of `generate` while these steps are written after a run, and the one of them all.

        `growth` is of the run. A run so far is of the tokens that are read: the one chosen last may not be.
        Where the last one cannot be read any more, the run is of those before it, and its `note` says why.
        """
        steps: list[Step] = []
        told, due, every = 0.0, time.perf_counter() + RUN_EVERY, STREAM_EVERY
        try:
            for step in written:
                steps.append(step)
                if time.perf_counter() >= due and growth.read > len(held.steps):
                    held = self._replace_partial_run(held, steps[: growth.read], growth)
                    yield {**self.show(held, layer), "generating": True}
                    due = time.perf_counter() + RUN_EVERY
                elif time.perf_counter() - told >= every:
                    message = steps_message(
                        held.id, steps, self.engine.about(held.model), partial(self.engine.pieces, held.model)
                    )
                    since = time.perf_counter()
                    yield message
                    told = time.perf_counter()
                    every = max(STREAM_EVERY, STREAM_PAUSE * (told - since))
                if self.tickets.stopped(ticket) or self.drain.over:
                    break
            yield self.show(self._extend_run(held, tuple(steps), growth), layer)
        except GlassLlamaError as error:
            if not steps:
                raise
            yield {**self.show(self._extend_run(held, tuple(steps[:-1]), growth), layer), "note": failure(error)}

    def _written(
        self, held: HeldRun, count: int, settings: Settings, visitor: Visitor, growth: Growing
    ) -> Iterator[Step]:
        """Up to `count` tokens after a run, changed as that is; `growth` is of the run."""
        written = held.trace.token_ids[held.n_prompt :]
        what = intervention(held.changes, self.runs, held.model, len(held.trace.token_ids))
        engine = self.engine.asked_by(visitor.address)  # which ends when it is told to, or when its page is gone
        return engine.generate(held.model, held.prompt_ids, count, settings, written, what, growth)

    def _trace(
        self,
        model: str,
        prompt: str,
        ids: Sequence[int],
        written: Sequence[int] = (),
        steps: tuple[Step, ...] = (),
        chosen: tuple[str, ...] = (),
        changes: Changes | None = None,
        visitor: Visitor = NOBODY,
        layer: int | None = None,
    ) -> HeldRun:
        what = intervention(changes or {}, self.runs, model, self._begun(model, ids) + len(written))
        start = time.perf_counter()
        trace = self._engine(visitor).trace(model, ids, what, written, layer)
        seconds = time.perf_counter() - start
        trace.check_finite()
        n_prompt = len(trace.token_ids) - len(written)
        held = HeldRun(model, prompt, n_prompt, trace, steps, seconds, changes or {}, visitor=visitor)
        own = (held.key,) * (len(steps) - len(chosen))
        return self.runs.hold(replace(held, chosen=(*chosen[: len(steps)], *own)))

    def _begun(self, model: str, ids: Sequence[int]) -> int:
        """How many tokens stand before what is written: the prompt's, or a start token where an encoder reads it."""
        return 1 if self.engine.about(model).reads_source else len(ids)

    def _replace_partial_run(self, held: HeldRun, steps: Sequence[Step], growth: Growing) -> HeldRun:
        """The run of the text so far in place of `held`, the last one of the kind. The page asks about the newest."""
        if held.steps:
            self.runs.forget(held.id)
        return self._extend_run(held, tuple(steps), growth)

    def _extend_run(self, held: HeldRun, steps: tuple[Step, ...], growth: Growing | None = None) -> HeldRun:
        """The run of a held run's tokens and the steps after its prompt: as it grew, where it did, else run whole.

        The token that fills the context for good cannot be read any more, so it is left out.
        """
        room = self.engine.about(held.model).config.context_limit - held.n_prompt
        if len(steps) > room:
            steps = (*steps[: room - 1], replace(steps[room - 1], stop="max_context"))
        written = [step.token_id for step in steps]
        trace = None if growth is None else growth.run(held.n_prompt + len(steps) - growth.begun)
        if trace is not None:
            return self._hold_grown(held, trace, steps)
        more = {"chosen": held.chosen, "changes": held.changes, "visitor": held.visitor}
        return self._trace(held.model, held.prompt, held.prompt_ids, written, steps, **more)

    def _hold_grown(self, held: HeldRun, trace: Trace, steps: tuple[Step, ...]) -> HeldRun:
        """A run of the same prompt and changes that was made of what was recorded, as a run of its own.

        Its `seconds` stay those of the forward pass that it goes back to: to put it together took none.
        """
        own = (held.key,) * (len(steps) - len(held.chosen))
        more = {"steps": steps, "seconds": held.seconds, "changes": held.changes, "visitor": held.visitor}
        chosen = (*held.chosen[: len(steps)], *own)
        return self.runs.hold(HeldRun(held.model, held.prompt, held.n_prompt, trace, chosen=chosen, **more))

    def _shown(self, prompt: str, model: str, view: View) -> HeldRun | None:
        """The run that the page shows, if it is held and is of this prompt and model."""
        with suppress(GlassLlamaError):
            held = self._held({"run": view.run})
            return held if (held.prompt, held.model) == (prompt, model) else None
        return None

    def _held(self, data: object) -> HeldRun:
        """The run that a request is about."""
        return self.runs.get(read(OfRun, data).run)
