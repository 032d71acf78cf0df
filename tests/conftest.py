"""What every test shares: shapes checked at run time, no network, and a small stand-in model.

The import hook must be in place before anything imports `model`; pytest reads this file first.
"""

import gc
import os

gc.disable()  # until everything is imported, which stays: to look for garbage in it takes a quarter of that time

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
# `make test` runs the tests in several processes (pytest-xdist); each has its own ports and its share of the cores.
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
if WORKER:
    os.environ["GRADIO_SERVER_PORT"] = str(7860 + 100 * int(WORKER.removeprefix("gw")))

from collections.abc import Generator
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, settings

from tests import shape_checks
from tests.standin import make_checkpoint

shape_checks.install("model")

import model

torch.set_num_threads(1 if WORKER else 2)
# The same examples on every machine, however busy it is.
settings.register_profile(
    "steady", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is there once the tests are collected is never looked through again."""
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not torch.cuda.is_available():
        for item in items:
            if item.get_closest_marker("gpu"):
                item.add_marker(pytest.mark.skip(reason="needs a CUDA device"))


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the stand-in: three layers, six heads on two K/V heads, a byte-level tokenizer."""
    return make_checkpoint(tmp_path_factory.mktemp("standin"))


@pytest.fixture(scope="session")
def lm(checkpoint: Path) -> model.LanguageModel:
    """The stand-in, loaded on the CPU in float32."""
    return model.load(checkpoint, device="cpu")
