"""What a visitor may ask for over time."""

import pytest

from app.budget import Budgets
from model import GlassLlamaError


class Clock:
    """Time as a test has it pass."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def refused(budgets: Budgets, visitor: str, cost: float) -> int:
    """In how many seconds this is to be asked for again."""
    with pytest.raises(GlassLlamaError) as caught:
        budgets.spend(visitor, cost)
    assert caught.value.code == "budget"
    assert f"{caught.value.params['seconds']} seconds" in str(caught.value)
    return int(str(caught.value.params["seconds"]))


def test_so_much_at_once_and_so_much_with_every_second() -> None:
    clock = Clock()
    budgets = Budgets(100, 10, clock)
    for _ in range(4):
        budgets.spend("one", 25)
    assert refused(budgets, "one", 25) == 3
    budgets.spend("two", 100)  # each has their own
    clock.now += 2.4
    assert refused(budgets, "one", 25) == 1
    clock.now += 0.1
    budgets.spend("one", 25)
    assert refused(budgets, "one", 1) == 1


def test_who_asks_again_when_told_to_is_served() -> None:
    clock = Clock()
    budgets = Budgets(100, 7, clock)
    budgets.spend("one", 90)
    clock.now += refused(budgets, "one", 41)
    budgets.spend("one", 41)


def test_what_costs_more_than_there_ever_is_may_be_asked_for_once() -> None:
    clock = Clock()
    budgets = Budgets(100, 10, clock)
    budgets.spend("one", 250)
    assert refused(budgets, "one", 1) == 16
    clock.now += 25
    budgets.spend("one", 250)


def test_what_was_not_done_is_given_back() -> None:
    budgets = Budgets(100, 10, Clock())
    budgets.spend("one", 100)
    budgets.give_back("one", 100)
    budgets.spend("one", 100)


def test_who_owes_nothing_any_more_is_forgotten() -> None:
    clock = Clock()
    budgets = Budgets(100, 10, clock)
    for i in range(1000):
        budgets.spend(str(i), 50)
        clock.now += 0.1
    assert len(budgets) <= 51


def test_nobody_is_refused_for_the_sake_of_others_who_are_not_there() -> None:
    clock = Clock()
    budgets = Budgets(100, 10, clock, for_others=True)
    for _ in range(50):
        budgets.spend("one", 30)
    budgets.spend("two", 20)
    assert refused(budgets, "one", 30) == 3  # as much as if it had stopped at the limit
    clock.now += 2.1  # the other has back what it asked for
    budgets.spend("one", 30)
    budgets.spend("one", 250)
    budgets.spend("two", 90)
    assert refused(budgets, "one", 1) == 16  # of what is more than there ever is, all
    clock.now += 9
    budgets.spend("one", 1)
