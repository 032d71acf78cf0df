"""Continuous batching: those who generate with a model share its steps (model/batch.py does the step itself).

No thread of its own runs the model. Who needs a token and finds nobody at work leads: waits for a turn at the model,
has one step made for all who can take part, and hands each their token. So one who writes alone runs as without a
scheduler, and a crowd runs one step for all. A text takes part while fewer than AHEAD of its tokens wait to be taken:
it stops where nobody reads it.
"""

import threading
from collections import deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from model import Step
from model.batch import Batch, Outcome, kind_of, readable
from model.generation import Generation

from .cores import cores_for
from .priority_lock import PriorityLock

# So many tokens of a text are made before they are asked for, where others' are made anyway.
AHEAD = 4


@dataclass(eq=False)
class Writer:
    """A text of a visitor: what was made of it and is not taken yet, and where its thread waits.

    `joined`: its prompt is read. `leads`: the next pass is this thread's. `ended`: no more is made. `gone`: nobody
    takes any more.
    """

    text: Generation
    visitor: str
    made: deque[Step | Exception] = field(default_factory=deque)
    place: threading.Event = field(default_factory=threading.Event)
    joined: bool = False
    leads: bool = False
    ended: bool = False
    gone: bool = False

    @property
    def takes_part(self) -> bool:
        """Whether the next step is to be of this text too."""
        return self.joined and not self.ended and not self.gone and len(self.made) < AHEAD

    def take_in(self, outcome: Outcome | Exception) -> None:
        """What a pass made of the text."""
        self.joined = True
        if outcome is not None:
            self.made.append(outcome)
        self.ended = not isinstance(outcome, Step) or (outcome.stop is not None and not self.text.reads_last)


class Group:
    """Writers of one model and one kind, who share a Batch; `led` while one of their threads is at work for all."""

    def __init__(self) -> None:
        self.batch = Batch()
        self.writers: dict[Generation, Writer] = {}
        self.asking: dict[Writer, None] = {}  # who waits for a token, in the order they came
        self.led = False
        self._served: dict[str, int] = {}
        self._tick = 0

    def due(self, leader: Writer) -> list[Writer]:
        """Whom the next pass is of, the leader among them: whose prompts are read together, or who have a step."""
        if not leader.joined:
            waiting = [one for one in self.writers.values() if not one.joined and not one.gone and one is not leader]
            chosen = readable([leader.text, *(one.text for one in self._in_turn(waiting, leader))])
            return [self.writers[text] for text in chosen]
        others = [one for one in self.writers.values() if one.takes_part and one is not leader]
        found = [leader, *self._in_turn(others, leader)][: self.batch.most_rows]
        self._tick += 1
        for one in found:
            self._served[one.visitor] = self._tick
        return found

    def let_go(self) -> None:
        """The texts that nobody takes any more leave. To be called while nobody leads."""
        for writer in [one for one in self.writers.values() if one.gone]:
            del self.writers[writer.text]
            self.batch.leave(writer.text)
        if len(self._served) > len(self.writers):
            kept = {one.visitor for one in self.writers.values()}
            self._served = {visitor: tick for visitor, tick in self._served.items() if visitor in kept}

    def _in_turn(self, writers: list[Writer], leader: Writer) -> list[Writer]:
        """One text of each visitor, who was served longest ago first; then the second of each. The leader has one."""
        counts = {leader.visitor: 1}
        ranks: dict[Writer, tuple[int, int]] = {}
        for one in writers:
            counts[one.visitor] = counts.get(one.visitor, 0) + 1
            ranks[one] = counts[one.visitor], self._served.get(one.visitor, 0)
        return sorted(writers, key=ranks.__getitem__)


class Scheduler:
    """Who generates with one model. Safe to use from several threads."""

    def __init__(self, turns: PriorityLock):
        """`turns` are those of the model: a step takes one, as a piece of long work of the visitor who leads."""
        self._turns = turns
        self._groups: dict[Hashable, Group] = {}
        self._lock = threading.Lock()

    @property
    def writing(self) -> int:
        """How many texts are being written."""
        with self._lock:
            return sum(len(group.writers) for group in self._groups.values())

    def write(self, text: Generation, visitor: str) -> Iterator[Step]:
        """The steps of a text; it leaves where the iterator is closed. Raises what the network raises of this text."""
        writer, key = Writer(text, visitor), (id(text.model), kind_of(text))
        with self._lock:
            group = self._groups.setdefault(key, Group())
            group.writers[text] = writer
        try:
            while (outcome := self._next(group, writer)) is not None:
                if isinstance(outcome, Exception):
                    raise outcome
                yield outcome
        finally:
            self._leave(key, group, writer)

    def _next(self, group: Group, writer: Writer) -> Step | Exception | None:
        """What is made of a text next, None at its end: waits for it, or leads."""
        while True:
            with self._lock:
                if writer.made:
                    return writer.made.popleft()
                if writer.ended:
                    return None
                leads = writer.leads or not group.led
                if leads:
                    group.led, writer.leads = True, False
                else:
                    writer.place.clear()
                    group.asking[writer] = None
            if leads:
                self._lead(group, writer)
            else:
                writer.place.wait()

    def _lead(self, group: Group, leader: Writer) -> None:
        """One pass for all who can take part; then whoever has something is woken, and who still waits leads next."""
        found: dict[Generation, Outcome] = {}
        taking_part = [leader]
        try:
            with self._turns.turn(long=True, visitor=leader.visitor):
                with self._lock:
                    group.let_go()
                    taking_part = group.due(leader)
                texts = [one.text for one in taking_part]
                with cores_for(leader.text.lm.n_parameters, self._turns.waiting):
                    found = group.batch.step(texts) if leader.joined else group.batch.read(texts)
        except Exception as error:  # of the machine and not of one text: all of them hear of it
            found = {}
            for one in taking_part:
                one.take_in(error)
        with self._lock:
            for text, outcome in found.items():
                group.writers[text].take_in(outcome)
            group.let_go()
            ready = [one for one in group.asking if one.made or one.ended]
            left = [one for one in group.asking if one not in ready][:1]
            group.led = bool(left)
            for one in left:
                one.leads = True
            for one in (*ready, *left):
                del group.asking[one]
                one.place.set()

    def _leave(self, key: Hashable, group: Group, writer: Writer) -> None:
        with self._lock:
            writer.gone = True
            if not group.led:
                group.let_go()
            if not group.writers and self._groups.get(key) is group:
                del self._groups[key]
