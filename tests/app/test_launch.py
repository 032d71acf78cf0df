"""`python app.py` as people type it: help, one line for what is wrong, and a model from a GGUF file."""

import json
import os
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Browser
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer as BackEnd

from model.checkpoint import BUNDLED
from tests.app.page_elsewhere import check_page
from tests.model.gguf.written import byte_level, network, write
from tests.standin import make_checkpoint

APP = Path(__file__).parents[2] / "app.py"


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs app.py here, where everything is imported already, and gives the line that it ends with."""

    def run(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", [str(APP), *arguments])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(str(APP), run_name="__main__")
        assert ended.value.code == 1
        printed, (line,) = [text.splitlines() for text in capsys.readouterr()]
        assert printed == []
        return line

    return run


def test_help_names_every_option(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", [str(APP), "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(APP), run_name="__main__")
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    for option in ("--model", "--device", "--dtype", "--host", "--port", "--hub", "--no-hub"):
        assert option in printed


def missing(directory: Path) -> Path:
    return directory / "nowhere"


def truncated(directory: Path) -> Path:
    weights = make_checkpoint(directory) / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:5000])
    return directory


def other_architecture(directory: Path) -> Path:
    config = make_checkpoint(directory) / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"model_type": "gpt2"}))
    return directory


def not_numbers(directory: Path) -> Path:
    weights = make_checkpoint(directory) / "model.safetensors"
    tensors = load_file(weights)
    tensors["model.norm.weight"][0] = torch.nan
    save_file(tensors, weights)
    return directory


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (missing, "no such directory"),
        (truncated, "cut short"),
        (other_architecture, "model_type"),
        (not_numbers, "NaN"),
    ],
)
def test_a_bad_model_is_one_line(
    tmp_path: Path, refused: Callable[..., str], make: Callable[[Path], Path], says: str
) -> None:
    assert says in refused("--model", str(make(tmp_path / "checkpoint")))


@pytest.mark.thorough
def test_a_bad_device_is_one_line(checkpoint: Path) -> None:
    """Of a process of its own, so that nothing else is printed on the way."""
    command = [sys.executable, APP, "--model", str(checkpoint), "--device", "abacus"]
    environment = os.environ | {"HF_HUB_OFFLINE": "1"}
    result = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=250, check=False)
    assert result.returncode == 1
    assert result.stdout == ""
    assert len(result.stderr.strip().splitlines()) == 1


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["x.gguf", "sha256-0123"])  # the second is what Ollama calls it
def test_a_gguf_file_is_the_model_of_the_page(tmp_path: Path, browser: Browser, name: str) -> None:
    source = BackEnd.from_file(str(BUNDLED / "tokenizer.json"))
    keys = byte_level(source, "smollm", ends=("<|end|>",))
    path = write(tmp_path / name, network("llama", source.get_vocab_size()), "llama", keys)
    check_page(browser, path, "--model", str(path), "--device", "cpu")
