"""The chapter on tokens."""

from visuals.messages.token import MergesDetail
from visuals.token import merges_payload

from ..engine import Engine
from ..operations import MERGES
from ..requests import Sent
from ..session import HeldRun

PANELS = ("merges",)


def merges(engine: Engine, held: HeldRun, _asked: Sent) -> MergesDetail:
    """How the tokenizer made the run's tokens."""
    return merges_payload(held.study(engine, MERGES, held.trace.token_ids))


DETAILS = {"merges": merges}
