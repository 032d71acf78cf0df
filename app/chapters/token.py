"""The chapter on tokens."""

from typing import Any

from visuals.payload import Message
from visuals.token import merges_payload

from ..engine import Engine
from ..operations import MERGES
from ..session import HeldRun

PANELS = ("merges",)


def merges(engine: Engine, held: HeldRun, _asked: dict[str, Any]) -> Message:
    """How the tokenizer made the run's tokens."""
    return merges_payload(held.study(engine, MERGES, held.trace.token_ids))


DETAILS = {"merges": merges}
