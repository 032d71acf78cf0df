"""Checkpoints that are damaged in every way that we could think of: each is refused by its file and field, in one short
line, soon, and within a bounded memory.
"""

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

import model
from model.checkpoint import load_weights, read_outline
from tests.families import save
from tests.model.damage.configs import CONFIGS
from tests.model.damage.tokenizers import TOKENIZERS
from tests.model.damage.ways import WEIGHTS, config
from tests.model.damage.weights import INDICES, TENSORS
from tests.model.families import test_bloom as bloom
from tests.model.families import test_deepseek as deepseek
from tests.model.families import test_falcon as falcon
from tests.model.families import test_glm as glm
from tests.model.families import test_mixtral as mixtral
from tests.model.families import test_qwen as qwen
from tests.model.families import test_t5 as t5_tests
from tests.standin import make_checkpoint

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(60)]  # a check that hangs is a failure
TIMES = 15  # as long as a sound checkpoint takes to be read and run: some 1.5 seconds of the processor's time
LONGEST = 1000  # characters that a message may have beside the directory's name


@pytest.fixture
def directory(tmp_path: Path, checkpoint: Path) -> Path:
    return Path(shutil.copytree(checkpoint, tmp_path / "c"))


@pytest.fixture(scope="module")
def seconds(checkpoint: Path) -> float:
    """How long a refusal may take; measured once everything is imported and compiled."""
    times = []
    for _ in range(3):
        start = time.process_time()
        model.run_trace(model.load(checkpoint, device="cpu"), "The cat sleeps on the sofa.")
        times.append(time.process_time() - start)
    return TIMES * max(0.1, *times[1:])


def refusal(directory: Path, seconds: float = 60.0) -> str:
    """What is said of a checkpoint that nothing can be run with; a text is tried out where it loads after all."""
    start = time.process_time()
    with pytest.raises(model.GlassLlamaError) as caught:
        model.run_trace(model.load(directory, device="cpu"), "The cat 猫 sleeps on the sofa.")
    assert time.process_time() - start < seconds
    said = str(caught.value)
    assert "\n" not in said
    assert len(said) < LONGEST + len(str(directory))
    return said.replace(str(directory), "DIR")


TABLES = {"config": CONFIGS, "tensors": TENSORS, "index": INDICES, "tokenizer": TOKENIZERS}
CASES = [(table, name) for table, cases in TABLES.items() for name in cases]


@pytest.mark.parametrize(("table", "name"), CASES, ids=[f"{table}: {name:.40}" for table, name in CASES])
def test_it_is_refused_by_file_and_field(directory: Path, seconds: float, table: str, name: str) -> None:
    damage, expected = TABLES[table][name]
    damage(directory)
    said = refusal(directory, seconds)
    assert re.search(expected, said), said


FAMILIES: dict[str, Any] = {
    "bloom": transformers.BloomConfig(**bloom.FIELDS, n_head=6),
    **{f"deepseek {name}": config for name, config in deepseek.CONFIGS.items()},
    **{f"falcon {name}": config for name, config in falcon.CONFIGS.items()},
    "glm": transformers.GlmConfig(**glm.FIELDS),
    "mixtral": transformers.MixtralConfig(**mixtral.FIELDS),
    **{f"qwen {name}": config for name, config in qwen.CONFIGS.items()},
    **{f"t5 {name}": config for name, config in t5_tests.CONFIGS.items()},
}
CHANGES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "a row less": lambda tensor: tensor[:-1].clone(),
    "flat": lambda tensor: tensor.flatten(),
    "a number": lambda tensor: tensor.sum(),
    "none": lambda tensor: tensor[:0].clone(),
    "one more dimension": lambda tensor: tensor[None].clone(),
    "of integers": lambda tensor: tensor.int(),
    "not finite": lambda tensor: tensor * float("nan"),
}


@cache
def saved_once(family: str) -> Path:
    return save(FAMILIES[family])


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_tensor_of_every_family_is_checked(tmp_path: Path, family: str, how: str) -> None:
    """One of each kind in turn: what a family's files pack together may not fail to be taken apart in another way."""
    saved = saved_once(family)
    sound = load_file(saved / WEIGHTS)
    (tmp_path / "config.json").write_bytes((saved / "config.json").read_bytes())
    kinds = {re.sub(r"\d+", "0", name): name for name in sound}
    for name in kinds.values():
        changed = CHANGES[how](sound[name])
        if changed.shape == sound[name].shape and changed.dtype == sound[name].dtype and how != "not finite":
            continue
        save_file(sound | {name: changed}, tmp_path / WEIGHTS)
        with pytest.raises(model.GlassLlamaError, match="the weights do not fit config"):
            load_weights(read_outline(tmp_path), torch.device("cpu"), torch.float32)


@pytest.mark.parametrize("field", ["num_layers", "num_decoder_layers"])
def test_a_stack_of_two_that_the_files_do_not_hold(tmp_path: Path, field: str) -> None:
    t5 = Path(model.__file__).parent / "zoo" / "t5"
    for name in ("config.json", "tokenizer.json", WEIGHTS):
        (tmp_path / name).write_bytes((t5 / name).read_bytes())
    config(**{field: 10**9})(tmp_path)
    assert f"{field} is 1000000000, but the files hold " in refusal(tmp_path)
    (tmp_path / "config.json").write_bytes((t5 / "config.json").read_bytes())
    config(decoder_start_token_id=10**9)(tmp_path)
    assert "decoder_start_token_id is 1000000000; expected a token id below vocab_size" in refusal(tmp_path)


LIMITED = """
import pathlib, re, resource, sys
import model

def kilobytes(name):
    return int(re.search(name + r":\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1])

def refused(directory):
    try:
        model.run_trace(model.load(directory, device="cpu"), "The cat " * 20)
    except model.GlassLlamaError as error:
        return str(error)[:300]

model.run_trace(model.load(sys.argv[1], device="cpu"), "The cat " * 20)
most = (kilobytes("VmSize") << 10) + (400 << 20)
resource.setrlimit(resource.RLIMIT_AS, (most, most))
for directory in sys.argv[2:]:
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # the highest mark is what is held now
    before = kilobytes("VmRSS")
    said = refused(directory)
    print(kilobytes("VmHWM") - before >> 10, said)
"""
LARGE = [
    ("tokenizer", "100 MB of merges"),
    ("tokenizer", "a million for one"),
    ("tokenizer", "doubled forty times"),
    ("tokenizer", "a decoder that doubles"),
    ("tokenizer", "10 GB"),
    ("index", "100,000 files"),
    ("index", "40 MB"),
    ("config", "n_layers 10^9"),
    ("config", "vocab_size 10^12"),
    ("config", "10 GB"),
    ("tensors", f"header of {2**31}"),
]


@pytest.mark.timeout(280)
def test_what_is_large_is_refused_within_some_megabytes(tmp_path: Path, checkpoint: Path) -> None:
    """In one process of its own, which may not take much more than it has."""
    places = [make_checkpoint(tmp_path / str(n)) for n in range(len(LARGE))]
    for place, (table, name) in zip(places, LARGE, strict=True):
        TABLES[table][name][0](place)
    command = [sys.executable, "-c", LIMITED, str(checkpoint), *map(str, places)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=250)
    lines = ran.stdout.splitlines()
    assert len(lines) == len(LARGE), ran.stderr[-1000:]
    for line, place, (table, name) in zip(lines, places, LARGE, strict=True):
        megabytes, _, said = line.partition(" ")
        assert re.search(TABLES[table][name][1], said.replace(str(place), "DIR")), said
        assert int(megabytes) < 96, name
