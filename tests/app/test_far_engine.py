"""Models in another process: what a page is told of them is what it is told of models in its own."""

import os
import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser

import model
from app.engine import LocalEngine, Settings
from app.far.engine import FarEngine
from app.far.host import Host
from app.far.messages import Asked, packed, unpacked
from app.far.process import ModelLostError, ModelProcess
from app.models import Wanted, load_here
from app.operations import OPENING, SINKS, STREAM_SIZES
from app.service import Service
from model.interventions import Intervention, Patch
from model.replaced.parts import Parts
from tests.page import leave, open_page, running_app, wait_for_run

ZOO = Path(__file__).parents[2] / "model" / "zoo"
PROMPT = "Tom is in the kitchen. Lily is in the"
HOW = Settings(0.8, 0, 1.0, 5)
QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("rests", {"token": 4}), ("looks_back", {"token": 4}), ("words", {"token": 4}), ("lens", {}), ("loss", {}),
    ("contributions", {"versus": True}), ("projection", {"layer": 1, "head": 0, "vector": "q"}), ("sinks", {}),
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


@pytest.fixture(params=["beside", "process"])
def far(request: pytest.FixtureRequest, here: LocalEngine) -> FarEngine:
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
    layers = [page.layer({"run": run["id"], "layer": 1, "token": 0}) for page, run in zip(pages, runs, strict=True)]
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
    monkeypatch.setattr("app.far.process.POLL_SECONDS", 0)  # it is said at once
    trace = far.trace("llama", far.encode("llama", PROMPT * 8))

    def is_abandoned() -> bool:
        try:
            far.asked_by("somebody", lambda: False).study("llama", STREAM_SIZES, trace, trace.residual)
        except model.GlassLlamaError as error:
            return error.code == "abandoned"
        return False

    assert any(is_abandoned() for _ in range(100))  # some of it is over before it is heard there
    assert far.names  # on the same connection


def test_a_process_that_dies_is_started_again(process: ModelProcess) -> None:
    far = FarEngine(process)
    ids = far.encode("llama", PROMPT)
    trace, before = far.trace("llama", ids), process.pid
    expected = far.layer("llama", trace, 1).attention
    written = far.generate("llama", ids, 50, HOW)
    next(written)
    assert before is not None
    os.kill(before, signal.SIGKILL)
    with pytest.raises(ModelLostError) as caught:
        list(written)
    assert caught.value.code == "model_lost"
    assert process.pid != before
    assert np.array_equal(far.layer("llama", trace, 1).attention, expected)  # which the new one never ran
    given_up = far.generate("llama", ids, 50, HOW)
    next(given_up)
    given_up.close()
    assert [step.token_id for step in far.generate("llama", ids, 2, HOW)] == [
        step.token_id for step in far.generate("llama", ids, 2, HOW)
    ]


def test_what_cannot_be_loaded_is_said() -> None:
    with pytest.raises(ValueError, match="nowhere"):
        ModelProcess(partial(load_here, Wanted(("/nowhere",), "cpu")))


def test_a_page_with_its_models_in_another_process_runs_and_writes(browser: Browser) -> None:
    with running_app("--engine", "process", "--model", str(ZOO / "llama")) as address:
        page = open_page(browser, f"{address}#lang=en&chapter=glance")
        wait_for_run(page)
        before = page.evaluate("glass.state.trace.T")
        page.click("#generate")
        page.wait_for_function("(T) => glass.state.trace.T > T && glass.state.status === 'idle'", arg=before)
        assert page.locator(".glass-panel[data-failed]").count() == 0
        ids = page.evaluate("glass.state.trace.tokens.ids")
        page.evaluate("glass.select({ layer: 1 })")
        page.wait_for_function("glass.layer()")
        weights = page.evaluate("[...glass.layer().k.data].slice(0, 8)")
        leave(page)
    trace: model.Trace = model.run_trace(model.load(ZOO / "llama", device="cpu"), ids)
    assert np.allclose(weights, trace.layer(1).k.ravel()[:8], atol=1e-5)
