"""The boundary to the page: a method that fails answers with a message. What is unforeseen is logged."""

import functools
import logging
import math
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from model import GlassLlamaError
from visuals.messages.run import Notice
from visuals.payload import message_payload

Given = ParamSpec("Given")
Answer = TypeVar("Answer")
log = logging.getLogger("glass_llama")


def failure(error: Exception) -> Notice:
    """The message for an error: its own code where a visitor can mend it; else it is logged and called internal."""
    if isinstance(error, GlassLlamaError):
        return message_payload(error.code, **{"detail": str(error), **error.params})
    log.error("unexpected error", exc_info=error)
    return message_payload("internal", detail=type(error).__name__)


def is_finite(value: object) -> bool:
    """Whether every number in a message is one that JSON has a form for: neither NaN nor infinite."""
    if isinstance(value, dict):
        return all(map(is_finite, value.values()))
    if isinstance(value, list | tuple):
        return all(map(is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def answered(method: Callable[Given, Answer]) -> Callable[Given, Answer | Notice]:
    """A method that answers with a message whatever happens, and never with a number that is not finite."""

    @functools.wraps(method)
    def guarded(*args: Given.args, **kwargs: Given.kwargs) -> Answer | Notice:
        try:
            message = method(*args, **kwargs)
            if not is_finite(message):
                raise GlassLlamaError(
                    "not_finite_answer", "The answer has values that are not finite (NaN or overflow)."
                )
            return message
        except Exception as error:  # the boundary to the page: it must hear of every failure
            return failure(error)

    return guarded
