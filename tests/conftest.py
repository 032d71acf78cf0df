"""Before any test is there: shapes checked at run time, no network, ports of its own; then what they share.

The import hook must be in place before anything imports `model`; pytest reads this file first.
"""

import gc
import os

gc.disable()  # until everything is imported, which stays: to look for garbage in it takes a quarter of that time

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
# One thread to a process, to those that tests start, too: threads of several processes that wait for each other's cores
# take ten times as long for the products of a small network.
os.environ["OMP_NUM_THREADS"] = "1"
# `make test` runs the tests in several processes (pytest-xdist); each has its own ports and its share of the cores.
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
if WORKER:
    os.environ["GRADIO_SERVER_PORT"] = str(7860 + 100 * int(WORKER.removeprefix("gw")))

from collections.abc import Generator

import pytest

from tests import shape_checks

shape_checks.install("model")


def pytest_configure(config: pytest.Config) -> None:
    """The process that only hands the tests out to others does not wait for torch."""
    if config.getoption("dist", "no") == "no" or config.getoption("collectonly"):
        config.pluginmanager.import_plugin("tests.shared")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is there once the tests are collected is never looked through again."""
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
