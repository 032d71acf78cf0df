"""Models on a cluster of Ray Serve's: replicas die and come while visitors ask, and a page notices nothing."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser

import model
from app.engine import Engine, LocalEngine, Settings
from app.far.engine import FarEngine, ref_of
from app.far.messages import ModelLostError
from app.far.ray_serve import RayServe
from app.far.sealed import KEY
from app.operations import OPENING, STREAM_SIZES
from tests.app.page_elsewhere import check_page
from tests.page import ROOT, free_port

pytestmark = pytest.mark.ray
ray = pytest.importorskip("ray", reason="Ray is not installed: make test-ray")
serve = pytest.importorskip("ray.serve", reason="Ray Serve is not installed: make test-ray")

ZOO = ROOT / "model" / "zoo" / "llama"
SECRET = "a secret of the tests"
VISITORS = 15
PROMPTS = (
    "Tom is in the kitchen. Lily is in the",
    "Once upon a time there was a little dog who wanted a red",
    "The sun is warm. Ben and Anna go to the",
    "汤姆在厨房里。莉莉在花园里。莉莉在",
)
TOKENS = 12


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """A cluster on this machine, with no models yet; the address of an application "llama"."""
    port = free_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(KEY, SECRET)
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        ray.init(
            address="local",  # none that is up already
            num_cpus=8,  # as Ray counts: those who wait for each other's cores are slow, not wrong
            include_dashboard=False,
            object_store_memory=128 * 1024**2,
            runtime_env={"env_vars": {"PYTHONPATH": str(ROOT)}},
        )
        serve.start(http_options={"host": "127.0.0.1", "port": port})
        yield f"ray://127.0.0.1:{port}/llama"
        serve.shutdown()
        ray.shutdown()


def deploy(**given: Any) -> None:
    """The application "llama" with these arguments, once it is up."""
    from app.far.ray_replica import Given, models

    serve.run(models(Given(model=str(ZOO), device="cpu", **given)), name="llama", route_prefix="/llama")


def running() -> int:
    """How many replicas there are."""
    states = serve.status().applications["llama"].deployments["models"].replica_states
    return states.get("RUNNING", 0)


def replicas() -> list[int]:
    """The processes of the replicas that this one has started, by way of Ray's."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name = (folder / "cmdline").read_text()
        except OSError:
            continue
        if name.startswith("ray::ServeReplica:llama:models") and os.getpid() in ancestors(int(folder.name)):
            found.append(int(folder.name))
    return found


def ancestors(pid: int) -> Iterator[int]:
    while pid > 1:
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        yield pid


class Answers:
    """What an engine says of a prompt: a run, a layer of it, what is worked out of it, what is written, and its run."""

    def __init__(self, engine: Engine, prompt: str, seed: int):
        ids = engine.encode("llama", prompt)
        self.trace = engine.trace("llama", ids)
        self.layer = engine.layer("llama", self.trace, 1).attention
        self.opening = engine.study("llama", OPENING, self.trace)
        growth = engine.growth(self.trace)
        how = Settings(0.8, 20, 0.95, seed)
        self.written = [one.token_id for one in engine.generate("llama", ids, TOKENS, how, growth=growth)]
        grown = growth.run(len(self.written))  # None where the replica with it is lost: it is run whole, as by the page
        self.grown = engine.trace("llama", [*ids, *self.written]) if grown is None else grown

    def differences(self, other: "Answers") -> list[str]:
        """What is not the same."""
        same = {
            "trace": np.array_equal(self.trace.residual, other.trace.residual),
            "layer": np.array_equal(self.layer, other.layer),
            "opening": self.opening == other.opening,
            "written": self.written == other.written,
            # Its steps were shared with others, whose rows change its last bits, as in one process.
            "grown": self.grown.residual.shape == other.grown.residual.shape
            and np.allclose(self.grown.residual, other.grown.residual, atol=1e-5 * np.abs(other.grown.residual).max()),
        }
        return [name for name, is_same in same.items() if not is_same]


class Counting(RayServe):
    """Counts the questions, and how often one was lost: asked again in here, or, of a text that was begun, outside."""

    def __init__(self, *given: Any):
        self.lock, self.asked, self.tried, self.broken = threading.Lock(), 0, 0, 0
        super().__init__(*given)
        self.tried = 0  # it has asked whether there are models

    @property
    def lost(self) -> int:
        with self.lock:
            return self.tried - self.asked + self.broken

    def _add(self, asked: int = 0, tried: int = 0, broken: int = 0) -> None:
        with self.lock:
            self.asked, self.tried, self.broken = self.asked + asked, self.tried + tried, self.broken + broken

    def call(self, *given: Any) -> Any:
        self._add(asked=1)
        return super().call(*given)

    def stream(self, *given: Any) -> Iterator[Any]:
        self._add(asked=1)
        try:
            yield from super().stream(*given)
        except ModelLostError:
            self._add(broken=1)
            raise

    def _frames(self, *given: Any) -> Any:
        self._add(tried=1)
        return super()._frames(*given)


class Crowd:
    """Visitors who ask, round after round, until they are told to stop."""

    def __init__(self, far: FarEngine, expected: dict[tuple[str, int], Answers]):
        self.far, self.expected = far, list(expected.items())
        self.rounds, self.wrong = [0] * VISITORS, list[object]()
        self.first: dict[int, Answers] = {}
        self.stop = False

    def visit(self, number: int) -> None:
        engine = self.far.asked_by(f"203.0.113.{number}")
        try:
            while not self.stop:
                (prompt, seed), expected = self.expected[(number + self.rounds[number]) % len(self.expected)]
                answers = Answers(engine, prompt, seed)
                self.first.setdefault(number, answers)
                if different := answers.differences(expected):
                    self.wrong.append((number, prompt, different))
                self.rounds[number] += 1
        except Exception as error:
            self.wrong.append(error)

    def wait_for(self, rounds: int) -> None:
        """Until each visitor had so many more."""
        before = list(self.rounds)
        while not self.wrong and any(now < then + rounds for now, then in zip(self.rounds, before, strict=True)):
            time.sleep(0.05)
        assert self.wrong == []

    @contextmanager
    def asking(self) -> Iterator[None]:
        threads = [threading.Thread(target=self.visit, args=(number,)) for number in range(VISITORS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.stop = True
            for thread in threads:
                thread.join()
        assert self.wrong == []


@pytest.fixture(scope="module")
def here() -> LocalEngine:
    return LocalEngine([model.load(ZOO, device="cpu")])


@pytest.mark.timeout(900)
def test_no_request_is_lost_where_replicas_die_and_come(
    cluster: str, here: LocalEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    deploy(replicas=2)
    assert running() == 2
    transport = Counting(cluster, SECRET.encode())
    far = FarEngine(transport)
    expected = {(prompt, seed): Answers(here, prompt, seed) for seed, prompt in enumerate(PROMPTS)}
    crowd = Crowd(far, expected)
    with crowd.asking():
        crowd.wait_for(2)
        assert transport.lost <= 0  # who is asking at this moment has not tried yet
        homes = {ref_of(answers.trace).key.partition(".")[0] for answers in crowd.first.values()}
        assert len(homes) == 2  # both have visitors
        os.kill(replicas()[0], signal.SIGKILL)
        crowd.wait_for(2)
    print(f"{transport.asked} questions of {VISITORS} visitors, {transport.lost} of them lost and asked again")
    assert transport.lost > 0  # it died in the midst of some
    while running() < 2:
        time.sleep(0.1)
    # What the dead one held is run again; what the other one held is there, so no run is made for it.
    for number, answers in crowd.first.items():
        again = far.asked_by(f"203.0.113.{number}").layer("llama", answers.trace, 1)
        assert np.array_equal(again.attention, answers.layer)

    deploy(replicas=2, most_replicas=3, busy=1.0)
    stayed = set(replicas())
    assert len(stayed) == 2
    crowd = Crowd(far, expected)
    with crowd.asking():
        while running() < 3:  # by the calls that are under way
            crowd.wait_for(1)
        crowd.wait_for(1)
    assert stayed < set(replicas())
    found = {ref_of(far.asked_by(f"198.51.100.{n}").trace("llama", [1, 2])).key.partition(".")[0] for n in range(60)}
    assert len(found) == 3  # the new one has its share

    with pytest.raises(model.GlassLlamaError, match="no model named 'none'") as caught:
        far.about("none")
    assert caught.value.params == {"name": "none"}
    trace = far.trace("llama", far.encode("llama", PROMPTS[0] * 30))

    monkeypatch.setattr("app.far.ray_serve.POLL_SECONDS", 0)  # it is looked at once whether an answer is wanted

    def is_abandoned() -> bool:
        try:
            far.asked_by("somebody", lambda: False).study("llama", STREAM_SIZES, trace, trace.residual)
        except model.GlassLlamaError as error:
            return error.code == "abandoned"
        return False

    assert any(is_abandoned() for _ in range(100))  # some of it is over before


def test_a_page_with_its_models_on_a_cluster_runs_and_writes(cluster: str, browser: Browser) -> None:
    deploy(replicas=2)
    check_page(browser, ZOO, "--engine", cluster)
