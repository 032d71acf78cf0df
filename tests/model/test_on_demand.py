"""Weights that are read when they are first used, and let go of again: which are held, and what a kept run finds."""

import gc
import shutil
import threading
import weakref
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer as BackEnd

import model
from model import on_demand
from model.checkpoint import BUNDLED
from model.loading import Loading
from model.on_demand import OnDemand, WeightCache
from tests.model.gguf.written import byte_level, network, write

IDS = list(range(1, 9))


def several(directory: Path, max_bytes: int, names: Sequence[str] = "abc") -> list[OnDemand]:
    """The checkpoint under several names, with one bound for all."""
    weight_cache = WeightCache(max_bytes)
    return [OnDemand(directory, weight_cache, name, device="cpu") for name in names]


def test_config_and_size_are_known_without_the_weights(checkpoint: Path, lm: model.LanguageModel) -> None:
    (one,) = several(checkpoint, 10**9, "a")
    assert (one.config, one.n_parameters, one.device, one.dtype) == (lm.config, lm.n_parameters, lm.device, lm.dtype)
    assert one.nbytes == sum(weight.nbytes for weight in lm.net.parameters())
    assert one.tokenizer.encode("The cat") == lm.tokenizer.encode("The cat")
    assert not one.reads_source
    assert one.weight_cache.held == []
    np.testing.assert_array_equal(model.run_trace(one, IDS).logits, model.run_trace(lm, IDS).logits)
    assert one.weight_cache.held == ["a"]
    assert one.weight_cache.nbytes == one.nbytes


def test_the_least_recently_used_go_beyond_the_bound(checkpoint: Path) -> None:
    a, b, c = several(checkpoint, 10**9)
    weight_cache = a.weight_cache
    weight_cache.max_bytes = 2 * a.nbytes
    for lm in (a, b, a, c):
        assert lm.net is lm.net
    assert weight_cache.held == ["a", "c"]
    assert weight_cache.nbytes <= weight_cache.max_bytes
    weight_cache.max_bytes = 1  # the newest stays, whatever its size
    assert b.net is b.net
    assert weight_cache.held == ["b"]


def test_a_kept_run_holds_no_weights_and_reads_them_again(checkpoint: Path) -> None:
    a, b, _ = several(checkpoint, 1)
    trace = model.run_trace(a, IDS)
    first = trace.layer(1).attention
    weights = weakref.ref(a.net)
    assert b.net is not None
    gc.collect()
    assert weights() is None
    again = model.run_trace(a, IDS)
    assert b.net is not None
    np.testing.assert_array_equal(trace.layer(2).resid_in, again.layer(2).resid_in)
    np.testing.assert_array_equal(again.layer(1).attention, first)


def test_what_is_at_work_stays_until_it_is_done(checkpoint: Path) -> None:
    a, b, c = several(checkpoint, 1)
    with a.in_use():
        net = a.net
        for other in (b, c):
            assert other.net is not None
        assert a.net is net
        with b.in_use():
            assert b.net is not None
            assert set(a.weight_cache.held) == {"a", "b"}
    assert len(a.weight_cache.held) == 1


def test_threads_that_want_one_network_read_it_once(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (one,) = several(checkpoint, 10**9, "a")
    read: list[int] = []
    plain = on_demand.load_weights
    monkeypatch.setattr(on_demand, "load_weights", lambda *given: read.append(1) or plain(*given))
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(one.net)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(read) == 1
    assert found == [one.net] * 8


def test_weights_that_are_gone_are_an_error_that_says_no_path(checkpoint: Path, tmp_path: Path) -> None:
    there = shutil.copytree(checkpoint, tmp_path / "net")
    (one,) = several(there, 10**9, "a")
    (there / "model.safetensors").unlink()
    for _ in range(2):
        with pytest.raises(model.GlassLlamaError) as caught:
            model.run_trace(one, IDS)
        assert (caught.value.code, caught.value.params) == ("model_unreadable", {"name": "a"})
        assert str(tmp_path) not in str(caught.value)
    shutil.copy(checkpoint / "model.safetensors", there)
    assert len(model.run_trace(one, IDS).logits) == one.config.vocab_size


def quantised(place: Path) -> Path:
    """A GGUF file of a small network, at this place."""
    source = BackEnd.from_file(str(BUNDLED / "tokenizer.json"))
    write(place, network("llama", source.get_vocab_size()), "llama", byte_level(source, "smollm", ends=("<|end|>",)))
    return place


@pytest.mark.parametrize(("kind", "dtype"), [("directory", "auto"), ("file", "auto"), ("file", "int8"),
                                             ("directory", "bfloat16")])  # fmt: skip
def test_reading_counts_up_to_all_that_there_is_to_do(
    checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, dtype: str
) -> None:
    where = checkpoint if kind == "directory" else quantised(tmp_path / "x.gguf")
    one = OnDemand(where, WeightCache(0), "a", "cpu", dtype)
    seen: list[Loading | None] = [one.loading()]
    plain = OnDemand.count

    def count(lm: OnDemand, numbers: int) -> None:
        plain(lm, numbers)
        seen.append(lm.loading())

    monkeypatch.setattr(OnDemand, "count", count)
    assert one.net is one.net
    assert one.loading() is None
    told = [state for state in seen if state is not None]
    assert len(told) == len(seen) > 50
    (total,) = {state.total for state in told}
    assert told[0].done == 0
    assert told[-1].done == total
    assert [state.done for state in told] == sorted(state.done for state in told)


def test_reading_that_failed_is_back_at_its_beginning(checkpoint: Path, tmp_path: Path) -> None:
    one = OnDemand(shutil.copytree(checkpoint, tmp_path / "net"), WeightCache(0), "a", "cpu")
    begun = one.loading()
    whole = (tmp_path / "net" / "model.safetensors").read_bytes()
    (tmp_path / "net" / "model.safetensors").write_bytes(whole[:-4] + b"\xff\xff\xff\xff")  # NaN
    with pytest.raises(model.GlassLlamaError, match="cannot be read"):
        assert one.net
    assert one.loading() == begun
