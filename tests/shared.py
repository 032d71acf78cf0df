"""What every test shares: steady examples, and a small stand-in model."""

from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, settings

import model
from tests.standin import make_checkpoint

# The same examples on every machine, however busy it is.
settings.register_profile(
    "steady", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What needs a GPU is skipped where there is none; what drives a browser has a second try.

    A browser, a server and a test are three clocks on two cores. Nothing else is tried again. The closing line counts
    the tests that were, and the summary names them: one that comes back there is to be mended.
    """
    for item in items:
        if item.get_closest_marker("gpu") and not torch.cuda.is_available():
            item.add_marker(pytest.mark.skip(reason="needs a CUDA device"))
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the stand-in: three layers, six heads on two K/V heads, a byte-level tokenizer."""
    return make_checkpoint(tmp_path_factory.mktemp("standin"))


@pytest.fixture(scope="session")
def lm(checkpoint: Path) -> model.LanguageModel:
    """The stand-in, loaded on the CPU in float32."""
    return model.load(checkpoint, device="cpu")
