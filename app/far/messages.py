"""What passes between a page and models elsewhere: a run as it was recorded, and by what it is asked about again.

All of it is data. It is pickled, so both ends must be ours: a process that the page started, or one's own cluster.
"""

import pickle
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from model import GlassLlamaError, Trace
from model.interventions import NOTHING, Intervention
from model.layer_metadata import NetworkMetadata
from model.nonfinite import NonFinite


@dataclass(frozen=True)
class RunRef:
    """A run that a host recorded: the `key` under which that has it, and all it takes to run it once more.

    `encoder` means the part of it that read the source.
    """

    key: str
    model: str
    ids: tuple[int, ...]
    written: tuple[int, ...] = ()
    changes: Intervention = NOTHING
    encoder: bool = False


@dataclass(frozen=True)
class Recorded:
    """A trace without the model: the fields of model.Trace."""

    ref: RunRef
    token_ids: list[int]
    pieces: list[str]
    residual: np.ndarray
    figures: dict[str, np.ndarray]
    logits: np.ndarray
    network: NetworkMetadata
    intervention: Intervention
    first_nonfinite: NonFinite | None
    source: "Recorded | None" = None

    @classmethod
    def of(cls, trace: Trace, ref: RunRef) -> "Recorded":
        """What is sent of a trace."""
        names = ("token_ids", "pieces", "residual", "figures", "logits", "network", "intervention", "first_nonfinite")
        source = None
        if trace.source is not None:
            source = cls.of(trace.source, RunRef(ref.key, ref.model, ref.ids, ref.written, ref.changes, encoder=True))
        return cls(ref, *(getattr(trace, name) for name in names), source=source)


@dataclass(frozen=True)
class Asked:
    """A call of a host's method, for a visitor."""

    method: str
    visitor: str
    args: tuple[Any, ...]

    @property
    def about(self) -> str:
        """The key of the run that it is about, "" where it is about none: where several hosts are, that one has it."""
        return next((one.key for one in self.args if isinstance(one, RunRef)), "")


class ModelLostError(GlassLlamaError):
    """The models' process ended in the midst of a work, and the work could not be begun anew."""

    def __init__(self) -> None:
        super().__init__("model_lost", "The model's process ended and was started again. Please ask once more.")


class Transport(Protocol):
    """How a page reaches a host. Both raise what the host's method raises.

    ModelLostError where there is no answer: of a call, once it was tried again; of a stream that has begun, at once.
    """

    def call(self, asked: Asked, is_wanted: Callable[[], bool]) -> Any:
        """What the method gives; its work ends soon after `is_wanted` says no."""
        ...

    def stream(self, asked: Asked) -> Iterator[Any]:
        """What the method yields, one by one, as they are taken."""
        ...


def packed(value: object) -> bytes:
    """A value as bytes."""
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def unpacked(data: bytes) -> Any:
    """The value of bytes that `packed` made."""
    return pickle.loads(data)


def packed_error(error: Exception) -> bytes:
    """An error as an answer, with the lines on which it arose for the page's log where it is unforeseen."""
    if not isinstance(error, GlassLlamaError):
        error.add_note("".join(traceback.format_exception(error)))
    try:
        return packed(("error", error))
    except Exception:  # it holds what cannot be sent
        return packed(("error", RuntimeError("".join(traceback.format_exception(error)))))


def value_of(answer: bytes) -> Any:
    """The value of an answer. Raises what `packed_error` made one of."""
    kind, value = unpacked(answer)
    if kind == "error":
        raise value
    return value
