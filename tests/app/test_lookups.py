"""Models looked up on the Hub: few at once, for seconds, and nothing else waits for them."""

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from app.endpoints import kv_cache
from app.engine import LocalEngine
from app.lookups import REMEMBERED, THREADS, WAITING, Lookups, allowed_at
from app.service import Service
from app.texts import LANGUAGES, table
from model import GlassLlamaError, ModelSpec, catalogue
from model.published.hf_spec import spec_from_text
from model.published.hub import REASONS, config_text
from tests.hub import stand_in
from tests.visitor import Site, Visitor

SPEC = catalogue()["Llama-3 8B"]


class Hub:
    """Answers none but after `go`; says how often it was asked, and when `started` look-ups are under way."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.asked: list[str] = []
        self.started = threading.Semaphore(0)

    def fetch(self, name: str) -> ModelSpec:
        self.asked.append(name)
        self.started.release()
        assert self.go.wait(60)
        return SPEC


@pytest.fixture
def hub() -> Iterator[Hub]:
    stalled = Hub()
    yield stalled
    stalled.go.set()


def reason(ask: Callable[[], object]) -> object:
    with pytest.raises(GlassLlamaError) as caught:
        ask()
    assert caught.value.code == "hub"
    return caught.value.params["reason"]


def waiting(lookups: Lookups, count: int) -> None:
    """Until so many wait."""
    while lookups._waiting < count:
        threading.Event().wait(0.001)


def test_stalled_lookups_take_a_few_places_and_the_next_is_told_so(hub: Hub) -> None:
    lookups = Lookups(hub.fetch)
    with ThreadPoolExecutor(THREADS + WAITING) as visitors:
        answers: list[Future] = [visitors.submit(lookups.spec, f"org/{i}") for i in range(THREADS + WAITING)]
        waiting(lookups, THREADS + WAITING)
        for i in range(41):
            assert reason(lambda i=i: lookups.spec(f"org/more-{i}")) == "busy"
        hub.go.set()
        assert [answer.result() for answer in answers] == [SPEC] * len(answers)
    assert len(hub.asked) == THREADS + WAITING
    assert lookups.spec("org/more-0") is SPEC


def test_many_who_ask_for_one_model_share_a_lookup_and_are_as_few(hub: Hub) -> None:
    lookups = Lookups(hub.fetch)
    with ThreadPoolExecutor(THREADS + WAITING) as visitors:
        answers = [visitors.submit(lookups.spec, " org/one ") for _ in range(THREADS + WAITING)]
        waiting(lookups, THREADS + WAITING)
        assert reason(lambda: lookups.spec("org/one")) == "busy"
        hub.go.set()
        assert all(answer.result() is SPEC for answer in answers)
    assert hub.asked == ["org/one"]


def test_nobody_waits_for_longer_than_the_limit(hub: Hub) -> None:
    lookups = Lookups(hub.fetch, seconds=0.01)
    for i in range(THREADS + WAITING):
        assert reason(lambda i=i: lookups.spec(f"org/{i}")) == "slow"
    assert reason(lambda: lookups.spec("org/next")) == "busy"  # the look-ups themselves are still under way


def test_a_page_whose_hub_is_stalled_runs_and_calculates(
    site: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient = Lookups(lambda name: spec_from_text(config_text(name, 60), name), seconds=60)
    monkeypatch.setattr("app.chapters.kv_requests.LOOKUPS", patient)
    config = (Path(__file__).parents[1] / "model/published/hub_configs.json").read_text(encoding="utf-8")
    names = [f"m{i}" for i in range(THREADS + WAITING + 33)]
    configs = dict.fromkeys(names, json.dumps(json.loads(config)["Llama-3 8B"]))
    page = Site(site)

    def look_up(name: str) -> dict[str, Any]:
        return Visitor(page).ask("calculate", {"what": "kv", "model": ":hub", "hub": f"org/{name}"})

    with stand_in(tmp_path, monkeypatch, configs) as served, ThreadPoolExecutor(len(names)) as visitors:
        served.stalled = {f"org/{name}" for name in names}
        asked = [visitors.submit(look_up, name) for name in names]
        try:
            told = [answer.result() for answer in islice(as_completed(asked), 33)]
            assert {message["params"]["reason"] for message in told} == {"busy"}
            known = Visitor(page).ask("calculate", {"what": "kv", "model": "Llama-3 8B"})
            assert known["data"]["bytes"] == str(8192 * 131_072)
            ran = Visitor(page).press("run", "The cat", page.model, None)
            assert [message["kind"] for message in ran] == ["run"]
            assert sum(not answer.done() for answer in asked) == THREADS + WAITING
        finally:
            served.release.set()
        found = [answer.result() for answer in asked]
        assert sum(message["kind"] == "calculation" for message in found) == THREADS + WAITING


def test_what_was_found_is_remembered_and_what_was_not_is_asked_again() -> None:
    asked: list[str] = []

    def fetch(name: str) -> ModelSpec:
        asked.append(name)
        if asked.count("org/odd") == 1:
            raise GlassLlamaError("hub", "nothing", reason="unreachable")
        return SPEC

    lookups = Lookups(fetch)
    assert reason(lambda: lookups.spec("org/odd")) == "unreachable"
    for name in ("org/odd", "org/odd", *(f"org/{i}" for i in range(REMEMBERED)), "org/odd"):
        assert lookups.spec(name) is SPEC
    assert asked.count("org/odd") == 3


def test_where_it_is_off_nothing_is_asked(hub: Hub, engine: LocalEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    off = Lookups(hub.fetch)
    off.allowed = False
    monkeypatch.setattr("app.chapters.kv_requests.LOOKUPS", off)
    monkeypatch.setattr("app.endpoints.LOOKUPS", off)
    answer = Service(engine).calculate({"what": "kv", "model": ":hub", "hub": "org/one"})
    assert (answer["kind"], answer["params"]["reason"]) == ("message", "off")
    with pytest.raises(Exception, match="looks up no models on the Hub; paste"):
        kv_cache("", hub="org/one")
    assert hub.asked == []


def test_it_is_on_where_only_this_machine_reaches_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = ("127.0.0.1", "localhost", "::1", "[::1]", "0.0.0.0", "::", "192.168.1.5", "example.org", "")
    monkeypatch.delenv("SPACE_ID", raising=False)
    assert [host for host in hosts if allowed_at(host)] == ["127.0.0.1", "localhost", "::1", "[::1]"]
    monkeypatch.setenv("SPACE_ID", "someone/glass-llama")
    assert not any(map(allowed_at, hosts))
    assert not Lookups().allowed


def test_every_reason_has_its_words() -> None:
    for language in LANGUAGES:
        assert {f"hub_{reason}" for reason in REASONS} <= table(language)["kv"].keys()
