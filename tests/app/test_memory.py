"""Freed memory goes back to the machine, once for all who ask."""

import os
import sys
import threading

import pytest

import app.memory as memory
from app.engine import LocalEngine
from app.operations import FIRING
from tests.soak import resident

MARK = b"x"  # makes a copy of zeros, which by themselves would take no pages


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's allocator alone is asked")
def test_pages_that_nothing_is_in_go_back() -> None:
    held = [bytes(100_000) + MARK for _ in range(3000)]  # each too small for pages of its own
    last = bytes(1000) + MARK  # lies above them all, so that the pool cannot simply end earlier
    full = resident(os.getpid())
    held.clear()
    memory.give_back()
    assert full - resident(os.getpid()) > 200
    assert last


def test_who_asks_meanwhile_is_served_by_one() -> None:
    waited, done, given = threading.Semaphore(0), threading.Semaphore(0), [0]

    def give() -> None:
        given[0] += 1
        done.release()

    later = memory.Later(give, lambda: waited.acquire())
    for asked in (1, 2):
        for _ in range(20):
            later()
        assert given == [asked - 1]
        waited.release()
        assert done.acquire(timeout=60)
        assert given == [asked]


def test_long_work_has_its_memory_given_back(engine: LocalEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    monkeypatch.setattr("app.engine.give_back_soon", lambda: asked.append(True))
    trace = engine.trace("roomy", [1, 2, 3])
    assert not asked
    engine.study("roomy", FIRING, trace, trace.residual)
    assert asked
