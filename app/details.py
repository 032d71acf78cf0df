"""What a chapter asks about a run beyond its first message: one entry a question, answered as a plain message.

An entry takes the engine, the held run and what the page sent (`whole()` and its like check it) and gives a dict that
JSON can hold, arrays packed by `visuals.payload.pack`. The page asks by `glass.detail(name, params)`.
"""

from collections.abc import Callable
from typing import Any

from visuals.payload import Message

from .engine import Engine
from .session import HeldRun

Detail = Callable[[Engine, HeldRun, dict[str, Any]], Message]

DETAILS: dict[str, Detail] = {}
