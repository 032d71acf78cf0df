"""Where others wait, a small network's work takes one core, of its own thread alone; a lone reader's takes all."""

import threading
from collections.abc import Iterator
from contextlib import nullcontext

import pytest
import torch
from threadpoolctl import ThreadpoolController

import model
from app.cores import SMALL, cores_for
from app.engine import LocalEngine, Settings
from app.scheduler import Scheduler
from model.batch import Batch


@pytest.fixture
def two_cores() -> Iterator[None]:
    """The tests' processes have one core each."""
    with ThreadpoolController().limit(limits=2, user_api="openmp"):
        yield


@pytest.mark.usefixtures("two_cores")
@pytest.mark.parametrize(("n_parameters", "waiting", "taken"), [(SMALL, 0, 2), (SMALL, 1, 1), (SMALL + 1, 5, 2)])
def test_a_small_network_takes_one_core_where_others_wait(n_parameters: int, waiting: int, taken: int) -> None:
    with cores_for(n_parameters, waiting):
        assert torch.get_num_threads() == taken
    assert torch.get_num_threads() == 2


def test_other_threads_keep_theirs() -> None:
    found: list[int] = []

    def look() -> None:
        with ThreadpoolController().limit(limits=2, user_api="openmp"):
            inside.set()
            done.wait(10)
            found.append(torch.get_num_threads())

    inside, done = threading.Event(), threading.Event()
    thread = threading.Thread(target=look)
    thread.start()
    assert inside.wait(10)
    with cores_for(SMALL, 1):
        done.set()
        thread.join()
    assert found == [2]


class Crowded:
    """Someone's turn, for whose end others wait."""

    waiting = 3

    def turn(self, **_: object) -> nullcontext[None]:
        return nullcontext()


@pytest.mark.usefixtures("two_cores")
def test_turns_and_shared_steps_take_one_core_in_a_crowd(engine: LocalEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    name, taken = engine.names[0], []
    monkeypatch.setattr(model, "run_trace", lambda *_, **__: taken.append(torch.get_num_threads()))
    monkeypatch.setattr(Batch, "read", lambda *_: taken.append(torch.get_num_threads()) or {})
    monkeypatch.setattr(Scheduler, "_next", lambda self, group, writer: self._lead(group, writer))
    for turns in (engine._turns[name], Crowded()):
        monkeypatch.setitem(engine._turns, name, turns)
        monkeypatch.setattr(engine._schedulers[name], "_turns", turns)
        engine.trace(name, [1, 2])
        list(engine.generate(name, [1, 2], 1, Settings()))
    assert taken == [2, 2, 1, 1]
