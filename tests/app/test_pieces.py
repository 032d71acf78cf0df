"""Long work in pieces: nothing of it is left on the network in between, none is long, and visitors share a machine."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from time import sleep
from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

import model
from app.budget import SIZE, Budgets
from app.chapters import DETAILS
from app.disconnects import is_wanted, watched
from app.engine import LocalEngine, Settings
from app.examples import EXAMPLES
from app.priority_lock import Queue
from app.requests import PAIR_TOKENS
from app.service import Service
from app.visitors import Visitor
from model import GlassLlamaError, pieces
from model.pieces import Work
from tests.one_of import one_of

ZOO = Path(__file__).parents[2] / "model" / "zoo"
PROMPT = "Tom is in the kitchen. Lily is in the garden. Tom is in the"
# Of these less may be to do: there is nothing to tell, or layers were looked at or the text was read before.
ROUGH = ("matching", "told_apart", "looks_back", "outside", "words", "edges", "score_terms", "logit_terms")
Asked = dict[str, dict[str, Any]]


class Ledger(Budgets):
    """What is asked for, as it comes."""

    def __init__(self) -> None:
        super().__init__()
        self.costs: list[float] = []

    def spend(self, visitor: str, cost: float) -> None:
        self.costs.append(cost)
        super().spend(visitor, cost)


class Observed(LocalEngine):
    """An engine that looks at each piece of long work: `around` is a context for it, `after` is told the network."""

    def __init__(self, models: list[Any], budgets: Budgets | None = None):
        super().__init__(models, budgets)
        self.around: Callable[[], Any] | None = None
        self.after: Callable[[], None] = lambda: None

    def _finished(self, name: str, work: Work[Any], cost: float) -> Any:
        return super()._finished(name, self._looked_at(work), cost)

    def _looked_at(self, work: Work[Any]) -> Work[Any]:
        while True:
            try:
                if self.around is None:
                    next(work)
                else:
                    with self.around():
                        next(work)
            except StopIteration as end:
                return end.value
            finally:
                self.after()
            yield


def asked_of(service: Service, prompt: str = PROMPT, name: str = "") -> tuple[str, Asked]:
    """A run's id, and a request for everything that takes long in it."""
    run = service.recall({"prompt": prompt, "model": name})
    last = len(run["tokens"]["ids"]) - 1
    place, source = {"token": last}, len(service.runs.get(run["id"]).prompt_ids) - 1
    long: Asked = {
        "why": place | {"target": None},
        "rests": place,  # which is kept for these two
        "looks_back": place,
        "told_apart": place,
        "words": place,
        "outside": {},
        "lens": {"follow": False},
        "contributions": {"target": None},
        "stream": {},
        "ffn_firing": {},
        "kv_live": {},
        "score_terms": {"layer": 1, "head": 0, "query": last, "key": 0},
        "logit_terms": place | {"target": 5},
        "matching": {"layer": 1, "head": 0, "query": last, "key": max(0, last - 2)},
    }
    found = service.detail({"run": run["id"], "what": "words", **place})["data"]["swaps"]
    text = found[0]["text"] if found else prompt.replace("kitchen", "bedroom")
    pair = place | {"text": text}
    circuit = service.detail({"run": run["id"], "what": "circuit", "nodes": 12, **pair})
    if circuit["kind"] == "detail":
        fields = ("layer", "head", "token") if source == last else ("layer", "head", "token", "kind", "stack")
        nodes = [[node[name] for name in fields] for node in circuit["data"]["nodes"]]
        long |= {"circuit": pair | {"nodes": 12}, "edges": pair | {"nodes": nodes, "start": 0}, "causal_map": pair}
        long["circuit_controls"] = pair | {"nodes": nodes}
    return run["id"], long


@pytest.fixture(scope="module", params=one_of(["llama", "t5", "mixtral"]))
def lm(request: pytest.FixtureRequest) -> model.LanguageModel:
    return model.load(ZOO / request.param, device="cpu")


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the rows of what is short here are divided, too."""
    monkeypatch.setattr(pieces, "PIECE", 5e8)


@pytest.mark.usefixtures("small_pieces")
def test_nothing_hangs_on_the_network_between_two_pieces(lm: model.LanguageModel) -> None:
    engine = Observed([lm])
    service = Service(engine)
    run, long = asked_of(service)
    assert "circuit" in long
    count = 0

    def look() -> None:
        nonlocal count
        count += 1
        left = [name for name, part in lm.net.named_modules() if part._forward_hooks or part._forward_pre_hooks]
        assert left == []
        assert not torch.is_inference_mode_enabled()
        assert torch.is_grad_enabled()

    engine.after = look
    assert service.recall({"prompt": PROMPT})["kind"] == "run"
    for what, params in long.items():
        before = count
        assert service.detail({"run": run, "what": what, **params})["kind"] == "detail", what
        assert count > before, what


@pytest.mark.usefixtures("small_pieces")
def test_what_is_asked_at_once_is_answered_as_alone_bit_by_bit(lm: model.LanguageModel) -> None:
    service = Service(LocalEngine([lm]))
    run, long = asked_of(service)

    def ask(what: str, visitor: str) -> Any:
        if what == "trace":
            return service.run(PROMPT, "", None, Visitor(visitor))["next"]
        if what == "generate":
            engine = service.engine.asked_by(visitor)
            return [step.probability for step in engine.generate(engine.names[0], [5, 6, 7], 12, Settings())]
        return service.detail({"run": run, "what": what, **long[what]}, Visitor(visitor))

    kinds = [*long, "trace", "generate"]
    alone = {what: ask(what, "") for what in kinds}
    found: list[tuple[str, Any]] = []

    def work(visitor: str, some: list[str]) -> None:
        found.extend((what, ask(what, visitor)) for what in some)

    turned = [kinds[i:] + kinds[:i] for i in (0, len(kinds) // 2)]
    threads = [threading.Thread(target=work, args=(str(i), some)) for i, some in enumerate(turned)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 2 * len(kinds)
    assert [what for what, answer in found if answer != alone[what]] == []


@contextmanager
def counted(into: list[float]) -> Iterator[None]:
    """Multiply–adds of all products that are worked out here, added to a list."""
    with FlopCounterMode(display=False) as counter:
        try:
            yield
        finally:
            into.append(counter.get_total_flops() / 2)


@pytest.mark.thorough
def test_no_piece_is_longer_than_a_pass_and_the_cost_is_known_before() -> None:
    """On texts of as many tokens as may be compared: a piece is PIECE, or one row with its gradients where that is
    more; and what was reckoned before covers what was done, and is no more than three times as much."""
    lm = model.load(device="cpu")
    ledger = Ledger()
    engine, done = Observed([lm], ledger), list[float]()
    service = Service(engine)
    run, long = asked_of(service, "Lily is in the garden. " * 17 + PROMPT)
    assert PAIR_TOKENS - 12 < len(service.runs.get(run).trace.token_ids) <= PAIR_TOKENS
    service.detail({"run": run, "what": "outside"})  # which measures held-out documents once, for all visitors
    row = 3 * lm.n_parameters * PAIR_TOKENS
    # What the map does 500 times over is looked at in the first few places.
    assert long.pop("causal_map")
    for what, params in long.items():
        done.clear()
        ledger.costs.clear()
        engine.around = lambda: counted(done)
        assert service.detail({"run": run, "what": what, **params})["kind"] == "detail"
        engine.around = None
        (cost,) = ledger.costs
        assert max(done) <= max(pieces.PIECE, row), what
        assert sum(done) <= 1.1 * cost, what
        assert what in ROUGH or cost <= 3 * sum(done), what


@pytest.mark.thorough
def test_a_reader_never_meets_the_budget() -> None:
    """All that panels ask of an example, why at each token and some 250 edges too, takes less than a tenth of what a
    visitor may ask for at once."""
    ledger = Ledger()
    service = Service(LocalEngine([model.load(device="cpu")], ledger))
    run, long = asked_of(service, EXAMPLES["en"][0])
    for what, params in long.items():
        assert service.detail({"run": run, "what": what, **params})["kind"] == "detail"
    for token in range(len(service.runs.get(run).trace.token_ids)):
        service.detail({"run": run, "what": "why", "token": token, "target": None})
    asked = sum(ledger.costs)
    ledger.costs.clear()
    service.detail({"run": run, "what": "edges", **long["edges"]})
    assert asked + 4 * ledger.costs[0] < SIZE / 10


def test_who_asks_for_too_much_is_told_when_to_ask_again() -> None:
    ledger = Ledger()
    lm = model.load(ZOO / "llama", device="cpu")
    measured = Service(LocalEngine([lm], ledger))
    run = measured.recall({"prompt": PROMPT})
    why = {"what": "why", "token": len(run["tokens"]["ids"]) - 1, "target": None}
    measured.detail({"run": run["id"], **why})
    service = Service(LocalEngine([lm], Budgets(4 * ledger.costs[0], ledger.costs[0] / 200)))
    held = service.run(PROMPT, "")["id"]

    def ask(visitor: str) -> dict[str, Any]:
        return service.detail({"run": held, **why}, Visitor(visitor))

    found = [ask("many") for _ in range(50)]
    assert found[0]["kind"] == "detail"
    assert found[-1]["code"] == "budget"
    assert found[-1]["params"]["seconds"] > 1
    assert ask("another")["kind"] == "detail"
    opened = service.recall({"prompt": PROMPT}, Visitor("many"))  # a page opens all the same
    assert (opened["kind"], opened["start"]) == ("run", service.recall({"prompt": PROMPT}, Visitor("third"))["start"])


def test_what_cannot_be_answered_costs_nothing() -> None:
    budgets = Budgets(1e12, 0.0)
    service = Service(LocalEngine([model.load(ZOO / "llama", device="cpu")], budgets))
    run = service.run(PROMPT, "")["id"]
    last = len(service.runs.get(run).trace.token_ids) - 1
    said = service.detail({"run": run, "what": "circuit", "token": last, "text": PROMPT, "nodes": 3})
    assert said["code"] == "circuit_answer"
    assert budgets._spent[""][0] == 0


class Noted(Queue):
    """Notes who comes to wait and who has the next turn, in the lock's own order: no thread's pace changes it."""

    def __init__(self, noted: list[tuple[str, str]]) -> None:
        super().__init__()
        self._noted = noted

    def add(self, visitor: str, place: threading.Event, cost: float) -> None:
        self._noted.append(("waits", visitor))
        super().add(visitor, place, cost)

    def take(self) -> threading.Event:
        self._noted.append(("has", next(iter(self._places))))
        return super().take()


def turns_before(noted: list[tuple[str, str]], visitor: str) -> list[int]:
    """For each time that a visitor comes to wait, how many turns others have before this visitor's own."""
    since = [noted[i:] for i, event in enumerate(noted) if event == ("waits", visitor)]
    return [sum(kind == "has" for kind, _ in later[: later.index(("has", visitor))]) for later in since]


@pytest.mark.usefixtures("small_pieces")
def test_others_wait_for_one_piece_while_a_visitor_has_a_dozen_maps_drawn() -> None:
    engine = LocalEngine([model.load(ZOO / "llama", device="cpu")])
    service, noted = Service(engine), list[tuple[str, str]]()
    run, long = asked_of(service)
    asked = {"run": run, "what": "causal_map", "patched": "attention", **long["causal_map"]}  # which no run keeps
    alone = service.detail(asked)
    other = service.run("Lily is in the garden.", "")["id"]
    turns = engine._turns[engine.names[0]]
    turns._short, turns._long = Noted(noted), Noted(noted)
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(service.detail(asked, Visitor("many")))) for _ in range(12)]
    for thread in threads:
        thread.start()
    while turns.waiting < 8:
        sleep(0.001)
    for _ in range(3):
        assert service.layers({"run": other, "layers": [1], "token": 0}, Visitor("one"))["kind"] == "layers"
    for what in ("why", "words"):
        assert service.detail({"run": run, "what": what, **long[what]}, Visitor("one"))["kind"] == "detail"
    assert len(found) < 12  # all this while they were at work
    for thread in threads:
        thread.join()
    before = turns_before(noted, "one")
    assert len(before) > 5, before  # each question waits once at least, long ones once for each piece
    assert max(before) <= 1, before  # of the other's dozen one piece, besides that which is under way
    assert found == [alone] * 12


def test_work_ends_after_the_piece_under_way_when_nobody_waits() -> None:
    engine = Observed([model.load(ZOO / "llama", device="cpu")])
    service = Service(engine)
    run, long = asked_of(service)
    done = 0

    def count() -> None:
        nonlocal done
        done += 1

    engine.after = count
    asked = engine.asked_by("one", lambda: done < 3)
    with pytest.raises(GlassLlamaError) as caught:
        DETAILS["why"](asked, service.runs.get(run), long["why"])
    assert (caught.value.code, done) == ("abandoned", 3)


def test_a_request_whose_connection_is_closed_is_not_wanted() -> None:
    async def ask(*messages: str) -> list[bool]:
        waiting = [*messages]

        async def receive() -> dict[str, Any]:
            while not waiting:
                await asyncio.sleep(0.01)
            return {"type": waiting.pop(0)}

        async with watched(receive):
            await asyncio.sleep(0)
            before = await asyncio.to_thread(is_wanted)
            waiting.append("http.disconnect")
            await asyncio.sleep(0.05)
            return [before, await asyncio.to_thread(is_wanted)]

    with ThreadPoolExecutor(1) as pool:  # a browser of other tests keeps a loop running in this thread
        found = [pool.submit(asyncio.run, ask(*first)).result() for first in ((), ("http.request",))]
    assert found == [[True, False]] * 2
    assert is_wanted()
