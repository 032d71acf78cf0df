"""How fast the small networks of the families learn and decode, as ratios to the LLaMA in the same run.

Rounds of all networks take turns, so that a busy machine slows them alike, and a ratio is that of the medians.
"""

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import torch

from ..checkpoint import LanguageModel, load
from ..families import family_of
from ..generation import generate
from ..train import zoo
from ..train.trainer import Settings, Trainer, keep_memory

ROUNDS, PROMPT_TOKENS, NEW_TOKENS = 9, 32, 64
BASE = "llama"


def speeds(directories: Sequence[Path]) -> dict[str, dict[str, float]]:
    """By name: `training` and `decoding`, tokens a second over those of the LLaMA; one core trains."""
    keep_memory()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as out:
        training = _taken({one.name: _step(one.name, Path(out)) for one in directories})
    decoding = _taken({one.name: _decode(load(one, device="cpu")) for one in directories})
    return {
        name: {
            "training": round(training[BASE] / training[name], 2),
            "decoding": round(decoding[BASE] / decoding[name], 2),
        }
        for name in training
    }


def _taken(work: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Median seconds of each; the first round does not count."""
    seconds: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(ROUNDS + 1):
        for name, one in work.items():
            start = time.perf_counter()
            one()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(taken[1:]) for name, taken in seconds.items()}


def _step(name: str, out: Path) -> Callable[[], object]:
    """One step of the first stage, on the same documents for every network."""
    shape = zoo.SHAPES[name]
    stage = zoo.stages()[0]
    build = family_of(shape.to_hf()).build
    trainer = Trainer(Settings((stage,), shape, parts=1), out / name, torch.device("cpu"), build, zoo.tokenizer(shape))
    batch = next(iter(trainer._batches(stage)))

    def step() -> None:
        with ThreadPoolExecutor(1) as pool:
            trainer._update(stage, batch, pool)

    return step


def _decode(lm: LanguageModel) -> Callable[[], object]:
    ids = torch.randint(1, lm.config.vocab_size, (PROMPT_TOKENS,), generator=torch.Generator().manual_seed(2)).tolist()
    endless = replace(lm, config=replace(lm.config, eos_ids=()))  # so that all write as many tokens
    return lambda: list(generate(endless, ids, max_new_tokens=NEW_TOKENS))
