"""Collects what a file of runs answers: each run with every layer, and what panels ask about it."""

import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

from model import GlassLlamaError
from visuals.messages.one_file import FileContents
from visuals.messages.run import Changes, LayerMessage, NeuronsMessage
from visuals.run import run_message

from ..answers import is_finite
from ..chapters import CALCULATORS, DETAILS, NEEDS_LOGITS
from ..comparing import second_run
from ..engine import Engine
from ..operations import LAYERS, NEURONS, OPENING
from ..session import HeldRun, Runs
from ..zoo import offers
from .code import add_code
from .planes import in_planes
from .questions import CALCULATIONS, Place, Sizes, ask_of_layer, ask_of_place, ask_of_run, ask_of_two, ask_story

Question = Mapping[str, Any]
# Calculations that change or tell something of the server: its models, its lens, its own address.
OF_THE_SERVER = ("real_model", "loading", "lens_fit", "qr")
NOTHING: FileContents = {
    "hash": "", "offers": [], "runs": [], "layers": [], "neurons": [], "details": {}, "calculations": {},
    "code": {"excerpts": [], "layers": []}, "lesson": None,
}  # fmt: skip


@dataclass(frozen=True)
class View:
    """A run, where a reader looks in it, and what the page has asked about it already: `what`, and its parameters."""

    held: HeldRun
    at: Place
    asked: Sequence[Question] = ()


def key_of(question: Question) -> str:
    """A question as text, as keyOf in visuals/static/one-file/server.js writes it."""
    return json.dumps(sorted(question.items()), ensure_ascii=False, separators=(",", ":"))


def packed_size(message: object) -> int:
    """How many characters a message takes in a file, or a few more: packed, and in base64."""
    return len(zlib.compress(json.dumps(in_planes(message), separators=(",", ":")).encode())) * 4 // 3


@dataclass
class Recorder:
    """Fills a file's contents. Runs go by names of the file's own: their ids are a server's."""

    engine: Engine
    contents: FileContents
    runs: Runs = field(default_factory=Runs)  # under those names
    names: dict[str, str] = field(default_factory=dict)  # by the ids
    same: dict[str, str] = field(default_factory=dict)  # by all that makes a run

    def add(self, view: View) -> None:
        """A run with its layers, and the answers to what panels ask about it as they open."""
        held, is_new = self._named(view.held)
        if is_new:
            self._add_run(held, view.at)
        for stack in stacks(held):
            ask, sizes = partial(self._ask, stack), sizes_of(stack)
            ask_of_place(ask, sizes, within(view.at, sizes))

    def compare(self, a: View, b: View) -> None:
        """The answers to what panels ask of two runs of one model that are compared."""
        (first, _), (second, _) = self._named(a.held), self._named(b.held)
        ask_a, ask_b = partial(self._ask, first), partial(self._ask, second)
        ask_of_two(ask_a, ask_b, first.id, second.id, within(b.at, sizes_of(first)))

    def answer(self, view: View) -> None:
        """What the page has asked about a run besides, of every run that was added: it may be of two of them."""
        held, _ = self._named(view.held)
        for question in view.asked:
            self._ask(held, **question)

    def _add_run(self, held: HeldRun, at: Place) -> None:
        layer = self._layer(held, at.layer, sizes_of(held).tokens - 1)
        about, pieces = self.engine.about(held.model), partial(self.engine.pieces, held.model)
        message = run_message(held, about, pieces, layer)
        self.contents["runs"].append(
            {
                "prompt": held.prompt,
                "model": held.model,
                "generated": list(held.trace.token_ids[held.n_prompt :]),
                "changes": held.changes,
                "message": {**message, "start": held.study(self.engine, OPENING)},
            }
        )
        for stack in stacks(held):
            others = [i for i in range(stack.trace.n_layers) if stack is not held or i != at.layer]
            self.contents["layers"] += [self._layer(stack, i, at.query) for i in others]
            ask, sizes = partial(self._ask, stack), sizes_of(stack)
            ask_of_run(ask, sizes)
            ask_story(ask, sizes)
            add_code(self.contents["code"], self.engine, stack)

    def calculate(self, questions: Iterable[Question]) -> None:
        """The answers to what needs no run."""
        for question in questions:
            what = question.get("what")
            if not isinstance(what, str) or what not in CALCULATORS or what in OF_THE_SERVER:
                continue
            answer = _answered(lambda asked=question: CALCULATORS[asked["what"]](self.engine, dict(asked)))
            if answer is not None:
                self.contents["calculations"][key_of(question)] = answer

    def fill(self, view: View, room: int) -> int:
        """What panels ask of the other layers, and then every layer's neurons, nearest first, while there is `room`
        (characters). Gives what is left of it."""
        (held, _), most = self._named(view.held), 0
        nearest = sorted(range(held.trace.n_layers), key=lambda layer: abs(layer - view.at.layer))
        sizes = sizes_of(held)
        for layer in nearest[1:]:
            if room < most:
                return room
            known = set(self.contents["details"])
            ask_of_layer(partial(self._ask, held), within(view.at, sizes)._replace(layer=layer))
            cost = sum(packed_size(answer) for key, answer in self.contents["details"].items() if key not in known)
            room, most = room - cost, max(most, cost)
        filled = {(one["run"], one["layer"]) for one in self.contents["neurons"]}
        for layer in (one for one in nearest if (held.id, one) not in filled):
            message = self._all_neurons(held, layer)
            if room < (cost := packed_size(message)):
                break
            self.contents["neurons"].append(message)
            room -= cost
        return room

    def _named(self, held: HeldRun) -> tuple[HeldRun, bool]:
        """A run under its name in the file, without the id of the run that patches came from; whether it is new here.

        Runs of the same tokens with the same changes are one.
        """
        changes = {name: value for name, value in held.changes.items() if name != "source"}
        same = json.dumps([held.model, held.prompt, held.trace.token_ids, held.n_prompt, held.changes])
        known = self.same.get(same)
        name = self.same.setdefault(same, f"run-{len(self.same)}")
        self.names[held.id] = name
        if known is None:
            self.runs.hold(replace(held, id=name, changes=cast(Changes, changes)))
        return self.runs.get(name), known is None

    def _layer(self, held: HeldRun, index: int, token: int) -> LayerMessage:
        (found,) = held.study(self.engine, LAYERS, held.id, [index], min(token, sizes_of(held).tokens - 1))
        return found

    def _all_neurons(self, held: HeldRun, index: int) -> NeuronsMessage:
        return held.study(self.engine, NEURONS, held.id, index, None)

    def _ask(self, held: HeldRun, what: str, **params: Any) -> Mapping[str, Any] | None:
        """The answer to one of DETAILS, noted under what was asked; None where the run has none."""
        if what not in DETAILS or (what in NEEDS_LOGITS and not len(held.trace.logits)):
            return None
        other = params.get("other")
        if isinstance(other, str):
            params["other"] = self.names.get(other, other)
        key = key_of({"run": held.id, "what": what, **params})
        details = self.contents["details"]
        if key not in details:
            asked = {"run": held.id, **params}
            answer = _answered(lambda: DETAILS[what](self.engine, held, self._with_other(held, asked)))
            if answer is None:
                return None
            details[key] = answer
        return cast(Mapping[str, Any], details[key])

    def _with_other(self, held: HeldRun, asked: dict[str, Any]) -> dict[str, Any]:
        """A question with the run that it names as `other`. Raises GlassLlamaError where that is not in the file."""
        return {**asked, "other": second_run(self.runs, asked["other"], held.model)} if "other" in asked else asked


def sizes_of(held: HeldRun) -> Sizes:
    """What questions about a run go by."""
    trace, network = held.trace, held.trace.network
    branches = 1 if set(network.norms.values()) == {"resid_in"} else len(network.norms)
    answer = int(trace.logits.argmax()) if len(trace.logits) else 0
    return Sizes(len(trace.token_ids), trace.n_layers, network.config.d_model, branches, answer)


def within(at: Place, sizes: Sizes) -> Place:
    """The place, or the nearest that a run has: an encoder reads another text."""
    last = sizes.tokens - 1
    return at._replace(layer=min(at.layer, sizes.layers - 1), query=min(at.query, last), key=min(at.key, last))


def stacks(held: HeldRun) -> list[HeldRun]:
    """A run, and its encoder's where it has one."""
    return [held] if held.source is None else [held, held.source]


def _answered(ask: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """What a question is answered; None where the page would be refused."""
    try:
        answer = ask()
    except GlassLlamaError:
        return None
    return answer if is_finite(answer) else None


def contents_of(
    engine: Engine,
    views: Sequence[View],
    address: str,
    calculations: Iterable[Question] = (),
    lesson: object = None,
    room: int = 0,
) -> FileContents:
    """What a file of these views holds. It opens at the first; `address` is the view's part of an address from "#" on.

    Up to `room` characters are filled with what readers ask when they look at other layers.
    """
    known = [offer for offer in offers(engine) if offer["name"] in {view.held.model for view in views}]
    recorder = Recorder(engine, {**deepcopy(NOTHING), "hash": address, "offers": known, "lesson": lesson})
    for view in views:
        recorder.add(view)
    if lesson is None and len(views) == 2:  # as the page shows B and A; a lesson's views say themselves what they asked
        recorder.compare(views[1], views[0])
    for view in views:
        recorder.answer(view)
    recorder.calculate([*CALCULATIONS, *calculations])
    room -= packed_size(recorder.contents)
    for view in views:
        room = recorder.fill(view, room)
    return recorder.contents
