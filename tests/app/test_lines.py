"""What is asked past the queue waits in a line of its kind: long work takes no place from what is soon answered."""

import threading
from collections.abc import Callable
from time import sleep
from types import FunctionType
from typing import Any

import anyio
from starlette.requests import Request

from app.build import guarded_calls
from app.chapters import CALCULATORS, DETAILS, LONG
from app.direct_calls import LINES
from app.engine import LocalEngine
from app.metrics import Metrics
from app.operations import Operation
from app.service import Service
from app.visitors import Visitor


def operations_of(answer: Callable[..., Any], seen: set[Callable[..., Any]]) -> set[str]:
    """The names of the long operations that a function of ours names, or one that it names."""
    seen.add(answer)
    found: set[str] = set()
    for name in answer.__code__.co_names:
        named = answer.__globals__.get(name)
        if isinstance(named, Operation) and named.cost is not None:
            found.add(named.name)
        elif isinstance(named, FunctionType) and named.__module__.startswith("app.") and named not in seen:
            found |= operations_of(named, seen)
    return found


def test_what_asks_for_long_work_is_known_as_long() -> None:
    assert {what for what, answer in (DETAILS | CALCULATORS).items() if operations_of(answer, set())} == LONG


def test_a_short_question_is_answered_while_all_places_of_long_ones_are_taken(engine: LocalEngine) -> None:
    service = Service(engine)
    run = service.run("The cat sleeps on the sofa.", "")
    detail = next(call for call in guarded_calls(service, Metrics()) if call.__name__ == "detail")
    turns, most = engine._turns[engine.names[0]], LINES["long"].of_address
    held, asked, found = threading.Event(), threading.Event(), list[str]()

    async def ask(**asked: object) -> None:
        reader = Request({"type": "http", "client": ("reader", 1), "headers": []}, anyio.sleep_forever)
        message = await detail({"run": run["id"], **asked}, reader)
        found.append(message.get("what", message.get("code")))

    async def all_ask() -> None:
        async with anyio.create_task_group() as tasks:
            for token in range(most + 2):
                tasks.start_soon(lambda token: ask(what="logit_terms", token=0, target=token, against=None), token)
            while turns.waiting < most:
                await anyio.sleep(0.001)
            await ask(what="logits", token=None)
            assert found == ["logits"]
            assert turns.waiting == most  # and no more of one address than have places
            asked.set()

    def hold() -> None:
        with turns.turn():
            held.set()
            assert asked.wait(60)

    # In threads of their own: the turn is one thread's, and a browser of other tests keeps a loop running in this one.
    threads = [threading.Thread(target=hold), threading.Thread(target=anyio.run, args=(all_ask,))]
    threads[0].start()
    assert held.wait(60)
    threads[1].start()
    for thread in threads:
        thread.join()
    assert found == ["logits"] + ["logit_terms"] * (most + 2)


def test_what_is_fetched_ahead_comes_after_what_others_wait_for(engine: LocalEngine) -> None:
    service = Service(engine)
    run, turns = service.run("The cat sleeps on the sofa.", "")["id"], engine._turns[engine.names[0]]
    came: list[tuple[str, str]] = []

    def ask(name: str, question: Callable[[Any, Visitor], Any], **asked: object) -> threading.Thread:
        def work() -> None:
            came.append((name, question({"run": run, **asked}, Visitor(name, name))["kind"]))

        before = turns.waiting
        thread = threading.Thread(target=work)
        thread.start()
        while turns.waiting == before:
            assert not came
            sleep(0.001)
        return thread

    with turns.turn():
        threads = [
            ask("ahead", service.layers, layers=[0], token=0, ahead=True),
            ask("all ahead", service.neurons, layer=0, token=None, ahead=True),
            ask("looks", service.layers, layers=[1], token=0),
            ask("points", service.neurons, layer=1, token=0, ahead=False),
        ]
    for thread in threads:
        thread.join()
    assert came == [("looks", "layers"), ("points", "neurons"), ("ahead", "layers"), ("all ahead", "neurons")]
