"""Held runs: found by id, bounded by bytes and by each visitor's share, at the same cost however many there are."""

import gc
import sys
import threading
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

from app.session import HeldRun, Runs, Tickets, weight
from app.visitors import Visitor
from model import GlassLlamaError, LanguageModel, Trace, run_trace
from model.layer_cache import LayerCache
from model.sampling import Candidates


class Size:
    """In place of a layer."""

    def __init__(self, nbytes: int):
        self.nbytes = nbytes


class OfSize:
    """In place of a trace: as many bytes as a test says, of which it tells who watches."""

    token_ids: tuple[int, ...] = ()
    pieces: tuple[str, ...] = ()
    intervention = None

    def __init__(self, nbytes: int):
        self.nbytes = nbytes
        self.grew: Callable[[int], None] | None = None

    def watch(self, grew: Callable[[int], None] | None) -> int:
        self.grew = grew
        return self.nbytes

    def grow(self, nbytes: int) -> None:
        self.nbytes += nbytes
        assert self.grew is not None
        self.grew(nbytes)


class Sized(HeldRun):
    """A run that takes nothing beside its trace."""

    def words_bytes(self) -> int:
        return 0


def run_of(nbytes: int, session: str = "", address: str = "") -> HeldRun:
    return Sized("m", "p", 1, cast(Trace, OfSize(nbytes)), visitor=Visitor(address, session))


def roomy(max_bytes: int) -> Runs:
    """A store in which one visitor may have all."""
    return Runs(max_bytes, share=max_bytes)


def held(runs: Runs, *several: HeldRun) -> list[bool]:
    """Which of them are held; asking for one makes it the most recent."""
    return [run.id in runs._runs for run in several]


def test_ids_cannot_be_guessed() -> None:
    ids = {run_of(1).id for _ in range(100)}
    assert len(ids) == 100
    assert min(map(len, ids)) >= 20


def test_the_least_recently_used_goes_first() -> None:
    runs = roomy(100)
    first, second = runs.hold(run_of(40)), runs.hold(run_of(40))
    runs.get(first.id)
    third = runs.hold(run_of(40))
    assert runs.get(first.id) is first
    assert runs.get(third.id) is third
    assert runs.nbytes == 80
    with pytest.raises(GlassLlamaError) as caught:
        runs.get(second.id)
    assert caught.value.code == "run_expired"


def test_a_trace_that_grew_makes_room_without_being_asked() -> None:
    runs = roomy(100)
    first, second = runs.hold(run_of(10)), runs.hold(run_of(10))
    cast(Any, second.trace).grow(85)
    assert held(runs, first, second) == [False, True]
    assert runs.nbytes == 95
    assert cast(Any, first.trace).grew is None  # what is held no more is watched no more


def test_a_run_larger_than_the_bound_is_kept_alone() -> None:
    runs = Runs(max_bytes=10)
    runs.hold(run_of(5))
    large = runs.hold(run_of(50))
    assert len(runs) == 1
    assert runs.get(large.id) is large


def test_a_visitor_has_a_share_and_loses_their_own_oldest() -> None:
    runs = Runs(max_bytes=100, share=30)
    quiet = runs.hold(run_of(20, "quiet"))
    greedy = [runs.hold(run_of(10, "greedy")) for _ in range(50)]
    assert held(runs, quiet, *greedy[-4:]) == [True, False, True, True, True]
    cast(Any, greedy[-1].trace).grow(15)
    assert held(runs, quiet, *greedy[-3:]) == [True, False, False, True]
    assert runs.nbytes == 20 + 25


def test_a_visitor_has_so_many_runs() -> None:
    runs = Runs(max_bytes=100, each=3)
    quiet = runs.hold(run_of(0, "quiet"))
    assert sum(held(runs, *[runs.hold(run_of(0, "busy")) for _ in range(10)])) == 3
    assert held(runs, quiet) == [True]


def test_who_makes_up_sessions_pushes_out_nobody_else() -> None:
    runs = Runs(max_bytes=100)
    quiet = [runs.hold(run_of(10, "one", "8.8.8.8")), runs.hold(run_of(10, "two", "9.9.9.9"))]
    many = [runs.hold(run_of(10, f"made up {number}", "6.6.6.6")) for number in range(100)]
    assert held(runs, *quiet) == [True, True]
    assert sum(held(runs, *many)) == 8
    # Who is alone has all of it: a class behind one router.
    runs = Runs(max_bytes=100)
    assert sum(held(runs, *[runs.hold(run_of(10, f"pupil {number}", "7.7.7.7")) for number in range(10)])) == 10


def test_nothing_is_left_of_visitors_who_are_gone() -> None:
    runs = Runs(max_bytes=10)
    for number in range(100):
        runs.hold(run_of(5, f"visitor {number}"))
    assert (len(runs), len(runs._of), len(runs._all), runs.nbytes) == (2, 2, 2, 10)


def test_texts_steps_and_changes_count(lm: LanguageModel) -> None:
    trace = run_trace(lm, [1, 2, 3])
    plain = Runs().hold(HeldRun("m", "", 3, trace)).words_bytes()
    long = HeldRun("m", "x" * 10_000, 3, trace, changes={"heads": [[0, 1]] * 100}).words_bytes()
    assert long - plain > 10_000 + 100 * 2 * 8


def test_what_a_value_weighs() -> None:
    row = np.zeros(1000)
    assert weight("x" * 1000) >= 1000
    assert weight([row, {"a": row[:500]}]) >= 8000 + 4000
    step = Candidates(np.zeros(64, np.int64), np.zeros(64, np.float32), 0.0, 0.0)
    assert 64 * 12 <= weight(step) <= 64 * 12 + 600


def lines_of(call: Callable[[], Any]) -> int:
    """How many lines of Python a call takes: what it costs, on any machine."""
    count = 0

    def trace(*_: Any) -> Any:
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    gc.disable()  # or the lines of what other tests left behind may be counted here, as it ends
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
        gc.enable()
    return count


def test_the_cost_is_the_same_however_many_runs_are_held() -> None:
    def costs(already: int) -> list[int]:
        runs = Runs(max_bytes=already + 1, share=already + 1, each=already + 1)
        some = [runs.hold(run_of(1, f"visitor {number % 7}")) for number in range(already)]
        another = run_of(2, "visitor 1")  # one byte too many: the oldest goes
        calls = (
            lambda: runs.get(some[already // 2].id),
            lambda: runs.hold(another),
            lambda: cast(Any, another.trace).grow(1),
            lambda: runs.nbytes,
            lambda: runs.forget(another.id),
        )
        return [lines_of(call) for call in calls]

    assert costs(3000) == costs(30)


def test_layers_are_counted_as_they_come_and_go() -> None:
    cache: LayerCache[Size] = LayerCache(max_bytes=100)
    told: list[int] = []
    cache.watch(told.append)
    for index in (0, 1, 0, 2):
        cache.get(index, lambda: Size(40))
    assert (len(cache), cache.nbytes, told) == (2, 80, [40, 40])
    cache.get(3, lambda: Size(500))
    assert (len(cache), cache.nbytes, told[-1]) == (1, 500, 420)
    assert cache.watch(None) == 500


def test_many_threads_look_at_layers_while_runs_come_and_go(lm: LanguageModel) -> None:
    """`nbytes` of a trace whose layers another thread looked at failed: a dict changed while it was summed up."""
    runs = Runs(max_bytes=2_000_000, share=2_000_000)
    layer = run_trace(lm, [1, 2, 3]).layer(0)
    failures: list[Exception] = []

    def visit(number: int) -> None:
        try:
            for turn in range(40):
                run = runs.hold(HeldRun("m", "", 3, run_trace(lm, [1, 2, 3]), visitor=Visitor(session=str(number))))
                for index in range(200):
                    run.trace._layers.get(index, lambda: layer)
                    assert runs.nbytes >= 0
                    assert run.trace.nbytes > 0
                if turn % 2:
                    runs.forget(run.id)
        except Exception as error:
            failures.append(error)

    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=visit, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(switching)
    assert failures == []
    assert runs.nbytes == sum(run.trace.nbytes + run.words_bytes() for run in runs._runs.values())


def test_tickets_forget_the_oldest() -> None:
    tickets = Tickets(remembered=2)
    for ticket in ("a", "b", "c"):
        tickets.stop(ticket)
    assert [tickets.stopped(ticket) for ticket in ("a", "b", "c", "")] == [False, True, True, False]
