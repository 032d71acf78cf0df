"""The chapter on tokens."""

from typing import Any

from visuals.messages.token import MergesDetail
from visuals.token import merges_info, merges_payload

from ..engine import Engine
from ..session import HeldRun

PANELS = ("merges",)


def merges(engine: Engine, held: HeldRun, _asked: dict[str, Any]) -> MergesDetail:
    """How the tokenizer made the run's tokens."""
    return merges_payload(held.study(engine, merges_info, held.trace.token_ids))


DETAILS = {"merges": merges}
