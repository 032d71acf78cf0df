"""What a page or a program asks for a file of."""

from typing import Annotated, Any

from ..engine import Engine
from ..fields import Request, listed, text
from ..operations import OPENING
from ..requests import ABSENT, OfRun, Score, about_run
from ..session import HeldRun
from .questions import Place
from .recording import View

MOST_VIEWS = 120  # a lesson has up to 60, each with one run or two
MOST_QUESTIONS = 100
OBJECTS = "{name}: expected a list of up to {most} objects."
Questions = Annotated[list[dict[str, Any]], listed(OBJECTS, MOST_QUESTIONS, of=dict), ABSENT]


class OneView(OfRun, Score):
    """A held run, where the page looks in it, and what it has asked about it: `what`, and its parameters."""

    asked: Questions


class OneFile(Request):
    """Views, the address of the one to open, what was asked without a run, and a lesson where it presents one."""

    views: Annotated[list[dict[str, Any]], listed(OBJECTS, MOST_VIEWS, least=1, of=dict)]
    hash: Annotated[str, text(100_000)] = ""
    calculations: Questions
    lesson: object = None


def view_of(engine: Engine, held: HeldRun, asked: dict[str, Any]) -> View:
    """A view as it was asked for. Raises GlassLlamaError for a place that the run does not have."""
    at = about_run(OneView, engine, held, asked)
    return View(held, Place(at.layer, at.head, at.query, at.key), [one for one in at.asked if is_question(one)])


def is_question(value: dict[str, Any]) -> bool:
    """Whether it says what is asked; who answers it reads the rest."""
    return isinstance(value.get("what"), str) and "run" not in value


def opening_view(engine: Engine, held: HeldRun) -> View:
    """A run where a page opens it."""
    start = held.study(engine, OPENING)
    last = len(held.trace.token_ids) - 1
    return View(held, Place(start["layer"], start["head"], start.get("query", last), start.get("key", 0)))
