"""The boundary to the page: a method that fails still answers with a message, and what is unforeseen is logged."""

import functools
import logging
from collections.abc import Callable
from typing import Any

from model import GlassLlamaError
from visuals.payload import Message, message_payload

log = logging.getLogger("glass_llama")


def failure(error: Exception) -> Message:
    """The message for an error: its own code where a visitor can mend it; else it is logged and called internal."""
    if isinstance(error, GlassLlamaError):
        return message_payload(error.code, **{"detail": str(error), **error.params})
    log.error("unexpected error", exc_info=error)
    return message_payload("internal", detail=type(error).__name__)


def answered(method: Callable[..., Message]) -> Callable[..., Message]:
    """A method that answers with a message whatever happens."""

    @functools.wraps(method)
    def guarded(*args: Any, **kwargs: Any) -> Message:
        try:
            return method(*args, **kwargs)
        except Exception as error:  # the boundary to the page: it must hear of every failure
            return failure(error)

    return guarded
