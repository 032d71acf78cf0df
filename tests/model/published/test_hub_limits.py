"""A config.json of the Hub that is too large, or comes too slowly or never: refused by name, and nothing is kept."""

import json
from collections.abc import Iterator
from pathlib import Path

import huggingface_hub
import pytest

from model import GlassLlamaError
from model.published.hub import MAX_BYTES, config_text
from tests.hub import Hub, stand_in

SHAPE = json.dumps({"model_type": "llama"})


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    files = {"good": SHAPE, "large": SHAPE + " " * MAX_BYTES, "just": SHAPE.ljust(MAX_BYTES)}
    with stand_in(tmp_path, monkeypatch, files) as served:
        yield served


def reason(model_id: str, **limits: float) -> object:
    with pytest.raises(GlassLlamaError) as caught:
        config_text(model_id, **limits)
    assert caught.value.code == "hub"
    assert str(caught.value).startswith(f"{model_id}: ")
    assert "/tmp" not in str(caught.value)
    return caught.value.params["reason"]


def test_a_file_that_is_too_large_is_refused_by_its_name(hub: Hub) -> None:
    assert config_text("org/just") == SHAPE.ljust(MAX_BYTES)
    assert reason("org/large") == "too_large"


def test_one_that_does_not_say_how_large_it_is_is_read_no_further_than_the_limit(hub: Hub) -> None:
    hub.endless.add("org/good")
    assert reason("org/good") == "too_large"
    assert hub.sent < 20 * MAX_BYTES  # what the sockets between hold besides


def test_one_that_comes_too_slowly_is_given_up(hub: Hub) -> None:
    hub.dripping.add("org/good")
    assert reason("org/good", seconds=0.2) == "slow"
    hub.stalled.add("org/just")
    assert reason("org/just", seconds=0.2) == "slow"


def test_nothing_is_kept_on_the_disk(hub: Hub) -> None:
    assert config_text("org/good") == SHAPE
    assert not Path(huggingface_hub.constants.HF_HUB_CACHE).exists()


def test_without_a_hub_the_cache_answers_within_the_same_limit(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("good", "large"):
        huggingface_hub.snapshot_download(f"org/{name}", allow_patterns=["config.json"])
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    assert config_text("org/good") == SHAPE
    assert reason("org/large") == "too_large"
    assert reason("org/never") == "unreachable"
