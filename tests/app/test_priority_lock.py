"""Turns at a model: one at a time, short work first, long work not never, and visitor after visitor."""

import threading
from time import sleep

import pytest

from app.priority_lock import LET_BEFORE, PriorityLock, Queue


class Workers:
    """Threads that take a turn each, in an order that is known, while the first of all still has its own."""

    def __init__(self) -> None:
        self.turns = PriorityLock()
        self.order: list[str] = []
        self.threads: list[threading.Thread] = []

    def add(
        self,
        name: str,
        long: bool = False,
        again: int = 1,
        visitor: str = "",
        cost: float = 0.0,
        ahead: bool = False,
    ) -> None:
        def work() -> None:
            for _ in range(again):
                with self.turns.turn(long, visitor, cost, ahead):
                    self.order.append(name)
                    if again > 1:
                        sleep(0.001)  # who works on comes back while others wait

        before = self.turns.waiting
        self.threads.append(threading.Thread(target=work))
        self.threads[-1].start()
        while self.turns.waiting == before:
            sleep(0.001)

    def finish(self) -> None:
        for thread in self.threads:
            thread.join()


def test_short_work_goes_before_long_and_each_in_order() -> None:
    workers = Workers()
    with workers.turns.turn():
        for i in range(3):
            workers.add(f"long {i}", long=True)
        for i in range(3):
            workers.add(f"short {i}")
    workers.finish()
    assert workers.order == [*(f"short {i}" for i in range(3)), *(f"long {i}" for i in range(3))]


def test_long_work_has_its_turn_after_a_few_short_ones() -> None:
    workers = Workers()
    with workers.turns.turn():
        workers.add("long", long=True)
        for i in range(3 * LET_BEFORE):
            workers.add(f"short {i}")
    workers.finish()
    assert workers.order.index("long") == LET_BEFORE


def test_what_is_done_ahead_comes_after_long_work_and_has_its_turn_after_a_few_pieces() -> None:
    workers = Workers()
    with workers.turns.turn():
        workers.add("ahead", ahead=True)
        for i in range(LET_BEFORE):
            workers.add(f"long {i}", long=True, visitor=str(i))
        for i in range(3):
            workers.add(f"short {i}", visitor=str(i))
    workers.finish()
    shorts, longs = [f"short {i}" for i in range(3)], [f"long {i}" for i in range(LET_BEFORE)]
    left = LET_BEFORE - len(shorts)
    assert workers.order == [*shorts, *longs[:left], "ahead", *longs[left:]]


def test_visitors_take_turns_however_much_each_of_them_asks_for() -> None:
    for long in (True, False):
        workers = Workers()
        with workers.turns.turn():
            for i in range(30):
                workers.add(f"many {i}", long, visitor="many")
            for i in range(2):
                workers.add(f"few {i}", long, visitor="few")
            workers.add("one", long, visitor="one")
        workers.finish()
        assert workers.order[:6] == ["many 0", "few 0", "one", "many 1", "few 1", "many 2"]
        assert workers.order[6:] == [f"many {i}" for i in range(3, 30)]


def test_of_one_visitors_long_work_the_cheapest_goes_first_and_other_visitors_keep_their_turns() -> None:
    workers = Workers()
    with workers.turns.turn():
        for name, cost in (("map", 50), ("lens", 6), ("terms", 1), ("lens too", 6)):
            workers.add(name, long=True, visitor="reader", cost=cost)
        for i in range(2):
            workers.add(f"other {i}", long=True, visitor="other", cost=1000)
    workers.finish()
    assert workers.order == ["terms", "other 0", "lens", "other 1", "lens too", "map"]


def test_between_two_pieces_short_work_and_other_visitors_go_first_and_what_costs_more_does_not() -> None:
    workers = Workers()
    with workers.turns.turn(long=True, visitor="reader", cost=5):
        workers.add("map", long=True, visitor="reader", cost=50)
        workers.add("other", long=True, visitor="other", cost=1000)
        workers.add("short", visitor="reader")
        for i in range(4):
            workers.turns.give_way("reader", 5)
            workers.order.append(f"piece {i}")
    workers.finish()
    assert workers.order == ["short", "piece 0", "other", "piece 1", "piece 2", "piece 3", "map"]


def test_a_work_in_pieces_has_every_second_turn_beside_thirty_of_another_visitor() -> None:
    workers = Workers()
    with workers.turns.turn():
        for _ in range(30):
            workers.add("many", long=True, again=3, visitor="many")
        workers.add("few", long=True, again=10, visitor="few")
    workers.finish()
    places = [i for i, name in enumerate(workers.order) if name == "few"]
    apart = [later - before for before, later in zip([-1, *places], places, strict=False)]
    assert len(places) == 10
    assert max(apart) <= 3  # the other's turn, and the one that begins while this visitor's next piece is asked for


def test_one_at_a_time_and_the_same_thread_may_enter_again() -> None:
    turns, inside, most = PriorityLock(), 0, 0

    def work(long: bool) -> None:
        nonlocal inside, most
        for _ in range(50):
            with turns.turn(long), turns.turn():
                inside += 1
                most = max(most, inside)
                inside -= 1

    threads = [threading.Thread(target=work, args=(i % 2 == 0,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_nobody_comes_or_goes_while_those_that_wait_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    lock, held = PriorityLock(), list[bool]()

    def counted(_: Queue) -> int:
        held.append(lock._lock.locked())
        return 2

    monkeypatch.setattr(Queue, "__len__", counted)
    assert lock.waiting == 6
    assert held == [True, True, True]


def test_an_error_ends_a_turn() -> None:
    turns = PriorityLock()
    try:
        with turns.turn():
            raise KeyError
    except KeyError:
        pass
    thread = threading.Thread(target=lambda: turns.turn().__enter__(), daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
