"""Models in another process: what a page is told of them is what it is told of models in its own."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import uvicorn
from playwright.sync_api import Browser
from starlette.applications import Starlette
from starlette.routing import Route

import model
from app.engine import LocalEngine, Settings
from app.far.engine import FarEngine
from app.far.host import Host
from app.far.http_host import HttpHost
from app.far.messages import Asked, ModelLostError, RunRef, packed, unpacked
from app.far.placement import by_preference
from app.far.process import ModelProcess
from app.far.ray_serve import RayServe
from app.far.sealed import NONCE_BYTES, Frames, SealError, sealed_question
from app.models import Wanted, load_here
from app.operations import OPENING, SINKS, STREAM_SIZES
from app.service import Service
from model.interventions import Intervention, Patch
from model.replaced.parts import Parts
from tests.app.page_elsewhere import check_page
from tests.page import free_port

ZOO = Path(__file__).parents[2] / "model" / "zoo"
PROMPT = "Tom is in the kitchen. Lily is in the"
HOW = Settings(0.8, 0, 1.0, 5)
KEY = b"a key of the tests"
QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("knocked", {"token": 4}),
    ("rests", {"token": 4}), ("looks_back", {"token": 4}), ("told_apart", {"token": 4}), ("words", {"token": 4}),
    ("lens", {}), ("loss", {}), ("contributions", {"versus": True}),
    ("projection", {"layer": 1, "head": 0, "vector": "q"}), ("sinks", {}),
    ("norm_placement", {"first": 0, "count": 3}), ("attention_kinds", {}), ("training", {}), ("merges", {}),
)  # fmt: skip


class Beside:
    """A transport to a host in this process: all is sent as to another."""

    def __init__(self, host: Host):
        self.host = host

    def call(self, asked: Asked, is_wanted: Callable[[], bool]) -> Any:
        return unpacked(packed(self.host.answer(unpacked(packed(asked)), is_wanted)))

    def stream(self, asked: Asked) -> Iterator[Any]:
        for value in self.host.answer(unpacked(packed(asked))):
            yield unpacked(packed(value))


@pytest.fixture(scope="module")
def here() -> LocalEngine:
    return LocalEngine([model.load(ZOO / name, device="cpu") for name in ("llama", "t5")])


@pytest.fixture(scope="module")
def process() -> Iterator[ModelProcess]:
    wanted = Wanted(tuple(str(ZOO / name) for name in ("llama", "t5")), "cpu")
    with ModelProcess(partial(load_here, wanted)) as running:
        yield running


@contextmanager
def over_http(host: Host) -> Iterator[str]:
    """A host over HTTP, as a replica of a cluster has it; its address."""
    port = free_port()
    app = Starlette(routes=[Route("/llama", HttpHost(host, KEY, 8).answer, methods=["POST"])])
    server = uvicorn.Server(uvicorn.Config(app, "127.0.0.1", port, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    yield f"ray://127.0.0.1:{port}/llama"
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def http_address(here: LocalEngine) -> Iterator[str]:
    with over_http(Host(here)) as address:
        yield address


@pytest.fixture(params=["beside", "process", "http"])
def far(request: pytest.FixtureRequest, here: LocalEngine) -> FarEngine:
    if request.param == "http":
        return FarEngine(RayServe(request.getfixturevalue("http_address"), KEY))
    transport = Beside(Host(here)) if request.param == "beside" else request.getfixturevalue("process")
    return FarEngine(transport)


def alike(one: Any, other: Any) -> None:
    """Two messages are the same but for the ids of their runs and what a clock said."""
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one.keys() - {"id", "run", "seconds"}:
            alike(one[key], other[key])
    elif isinstance(one, list):
        assert len(one) == len(other)
        for both in zip(one, other, strict=True):
            alike(*both)
    else:
        assert one == other


@pytest.mark.parametrize("name", ["llama", "t5"])
def test_the_page_is_told_the_same(far: FarEngine, here: LocalEngine, name: str) -> None:
    pages = [Service(engine) for engine in (far, here)]
    runs = [page.recall({"prompt": PROMPT, "model": name}) for page in pages]
    alike(*runs)
    for what, given in QUESTIONS if name == "llama" else (("rests", {"token": 0}), ("loss", {}), ("merges", {})):
        answers = [
            page.detail({"run": run["id"], "what": what, **given}) for page, run in zip(pages, runs, strict=True)
        ]
        assert answers[0]["kind"] == "detail", answers[0]
        alike(*answers)
    layers = [
        page.layers({"run": run["id"], "layers": [1, 0], "token": 0}) for page, run in zip(pages, runs, strict=True)
    ]
    alike(*layers)
    written = [[*page.generate(PROMPT, name, 6, (0.8, 0, 1, 3), {"layer": 0})] for page in pages]
    alike(*(last for *_, last in written))
    ends = [last for *_, last in written]
    alike(*(page.cut({"run": last["id"], "count": 2, "layer": 1}) for page, last in zip(pages, ends, strict=True)))


def test_a_run_that_the_host_has_let_go_of_is_run_again(here: LocalEngine) -> None:
    far = FarEngine(Beside(Host(here, most_bytes=0)))  # the newest one alone
    ids = far.encode("llama", PROMPT)
    patch = Patch(1, 2, tuple(float(value) for value in range(here.about("llama").config.d_model)))
    for name, changes in (
        ("llama", Intervention(heads=((0, 1),), patches=(patch,))),
        ("llama", Intervention(prefix=4, parts=Parts(norm="layer_norm"))),
        ("t5", Intervention(cross=((1, 0),))),
    ):
        there, own = (engine.trace(name, ids, changes) for engine in (far, here))
        far.trace("llama", ids[:3])
        assert np.array_equal(far.layer(name, there, 1).attention, here.layer(name, own, 1).attention)
        assert far.study(name, OPENING, there) == here.study(name, OPENING, own)
        if own.source is not None:
            far.trace("llama", ids[:3])
            read = there.source
            assert read is not None
            assert np.array_equal(far.layer(name, read, 0).q, here.layer(name, own.source, 0).q)


def test_a_run_that_grew_there_is_asked_about_as_any(far: FarEngine, here: LocalEngine) -> None:
    ids = here.encode("llama", PROMPT)
    growths = []
    for engine in (far, here):
        growth = engine.growth(engine.trace("llama", ids))
        steps = list(engine.generate("llama", ids, 5, HOW, growth=growth))
        growths.append((growth, [step.token_id for step in steps]))
    (theirs, tokens), (ours, own) = growths
    assert (tokens, theirs.read, theirs.begun) == (own, ours.read, ours.begun)
    assert theirs.run(6) is None
    for count in (2, 5):
        grown, expected = theirs.run(count), ours.run(count)
        assert grown is not None
        assert expected is not None
        assert np.array_equal(grown.residual, expected.residual)
        assert far.study("llama", OPENING, grown) == here.study("llama", OPENING, expected)


def test_errors_come_as_they_were_raised(far: FarEngine) -> None:
    with pytest.raises(model.GlassLlamaError, match="no model named 'none'") as caught:
        far.about("none")
    assert (caught.value.code, caught.value.params) == ("model_unknown", {"name": "none"})
    trace = far.trace("llama", [1, 2, 3])
    with pytest.raises(TypeError):
        far.study("llama", SINKS, trace, "one too many")  # pyright: ignore[reportCallIssue]
    with pytest.raises(IndexError, match="layer 99"):
        far.layer("llama", trace, 99)
    with pytest.raises(ValueError, match="no method of a host"):
        far._call("_run")


def test_work_that_nobody_wants_ends(far: FarEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("process", "ray_serve"):
        monkeypatch.setattr(f"app.far.{module}.POLL_SECONDS", 0)  # it is said at once
    trace = far.trace("llama", far.encode("llama", PROMPT * 8))

    def is_abandoned() -> bool:
        try:
            far.asked_by("somebody", lambda: False).study("llama", STREAM_SIZES, trace, trace.residual)
        except model.GlassLlamaError as error:
            return error.code == "abandoned"
        return False

    assert any(is_abandoned() for _ in range(100))  # some of it is over before it is heard there
    assert far.names  # on the same connection


@pytest.mark.thorough
def test_a_process_that_dies_is_started_again(process: ModelProcess, here: LocalEngine) -> None:
    far = FarEngine(process)
    ids = far.encode("llama", PROMPT)
    trace, before = far.trace("llama", ids), process.pid
    expected = far.layer("llama", trace, 1).attention
    written = far.generate("llama", ids, 50, HOW)
    first = next(written)
    assert before is not None
    os.kill(before, signal.SIGKILL)
    tokens = [first.token_id, *(step.token_id for step in written)]  # what was given is not given again
    assert process.pid != before
    assert tokens == [step.token_id for step in here.generate("llama", ids, 50, HOW)]
    assert np.array_equal(far.layer("llama", trace, 1).attention, expected)  # which the new one never ran
    given_up = far.generate("llama", ids, 50, HOW)
    next(given_up)
    given_up.close()
    assert [step.token_id for step in far.generate("llama", ids, 2, HOW)] == [
        step.token_id for step in far.generate("llama", ids, 2, HOW)
    ]


class Breaks(Beside):
    """A host that is lost in the midst of every text, after `count` tokens; `other` is what it says instead of one."""

    def __init__(self, host: Host, count: int, other: int | None = None):
        super().__init__(host)
        self.count, self.other, self.asked = count, other, 0

    def stream(self, asked: Asked) -> Iterator[Any]:
        self.asked += 1
        for number, (step, read) in enumerate(super().stream(asked)):
            if number == self.count:
                raise ModelLostError
            changed = replace(step, token_id=self.other) if self.other is not None and self.asked > 1 else step
            yield changed, read


def test_a_text_that_does_not_come_to_its_end_is_said_to_be_lost(here: LocalEngine) -> None:
    ids = here.encode("llama", PROMPT)
    expected = [step.token_id for step in here.generate("llama", ids, 9, HOW)]
    for broken in (Breaks(Host(here), 3), Breaks(Host(here), 3, other=expected[0] + 1)):
        came: list[int] = []
        with pytest.raises(ModelLostError) as caught:
            came.extend(step.token_id for step in FarEngine(broken).generate("llama", ids, 9, HOW))
        assert caught.value.code == "model_lost"
        assert broken.asked == 3
        assert came == expected[:3]


def test_who_lacks_the_key_is_not_listened_to(http_address: str, here: LocalEngine) -> None:
    with pytest.raises(SealError, match="GLASS_LLAMA_KEY"):
        RayServe(http_address, b"another key of a test")
    url = http_address.replace("ray", "http", 1)
    assert httpx.post(url, content=packed(Asked("names", "", ()))).status_code == 403
    nonce = bytes(NONCE_BYTES)
    question = sealed_question(KEY, nonce, packed(Asked("names", "", ())))
    answer = httpx.post(url, content=question)
    assert [unpacked(part) for part in Frames(KEY, nonce).feed(answer.content)] == [("value", here.names)]
    for key, other, sent in (
        (KEY, b"1" * NONCE_BYTES, answer.content),  # the answer to another question
        (b"another key of a test", nonce, answer.content),
        (KEY, nonce, answer.content[:-1] + b"?"),
    ):
        with pytest.raises(SealError):
            list(Frames(key, other).feed(sent))


def test_a_text_that_nobody_reads_any_more_is_let_go_of(http_address: str, here: LocalEngine) -> None:
    written = FarEngine(RayServe(http_address, KEY)).generate("llama", here.encode("llama", PROMPT), 200, HOW)
    next(written)
    written.close()
    while here._schedulers["llama"].writing:
        time.sleep(0.01)


def test_where_nobody_answers_it_is_said(http_address: str) -> None:
    for address in (http_address + "s", "ray://127.0.0.1:1/llama"):
        with pytest.raises(ValueError, match="no models answer"):
            RayServe(address, KEY)


def test_calls_go_where_a_run_is_and_only_what_a_lost_host_had_moves() -> None:
    hosts = ["a", "b", "c", "d"]
    places = [f"{number:x}" for number in range(2000)]
    before = {place: by_preference(place, hosts) for place in places}
    counts = [sum(best[0] == host for best in before.values()) for host in hosts]
    assert min(counts) > 400  # of 500; 5 standard deviations are 97
    for place, best in before.items():
        left = [host for host in hosts if host != "b"]
        assert by_preference(place, left) == [host for host in best if host != "b"]
        assert by_preference(place, reversed(hosts)) == best
        assert by_preference(f"c.{place}", hosts)[0] == "c"
        assert by_preference(f"e.{place}", hosts) == by_preference(f"e.{place}", [*left, "b"])
    assert len({by_preference(f"e.{place}", hosts)[0] for place in places}) == 4  # of a host that is gone
    run = RunRef("c.1", "llama", (1,))
    assert Asked("layer", "", (run, 0)).about == "c.1"
    assert Asked("generate", "", ("llama", [1], 5, HOW, [], None, "key", run)).about == "c.1"
    assert Asked("trace", "", ("llama", [1])).about == ""


@pytest.mark.thorough
def test_what_cannot_be_loaded_is_said() -> None:
    with pytest.raises(ValueError, match="nowhere"):
        ModelProcess(partial(load_here, Wanted(("/nowhere",), "cpu")))


@pytest.mark.thorough
def test_a_page_with_its_models_in_another_process_runs_and_writes(browser: Browser) -> None:
    check_page(browser, ZOO / "llama", "--engine", "process", "--model", str(ZOO / "llama"))
