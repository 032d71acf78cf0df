"""What an HTML file of runs holds besides the page: the answers to what the page else asks a server."""

from typing import Literal

from typing_extensions import TypedDict

from .code import CodeExcerpt
from .page import Offer
from .run import Changes, LayerMessage, NeuronsMessage, RunMessage


class RunOfFile(TypedDict):
    """A run as a link describes it, and its message. `generated` are the ids of the tokens after its prompt."""

    prompt: str
    model: str
    generated: list[int]
    changes: Changes
    message: RunMessage


class CodeOfLayers(TypedDict):
    """The code of a run's `layers`, alike in all of them: by number, among the file's excerpts.

    `tensors`: which excerpt makes each, and in which line of its file. `panels`: what a panel shows besides.
    """

    run: str
    layers: list[int]
    tensors: dict[str, tuple[int, int]]
    panels: dict[str, list[int]]


class FileCode(TypedDict):
    """What "Show the code" shows; each of the `excerpts` once, without what it makes."""

    excerpts: list[CodeExcerpt]
    layers: list[CodeOfLayers]


class FileContents(TypedDict):
    """The runs of a file, the one that it opens with first, and every layer of theirs.

    `neurons` are of every token of a layer, for as many layers as there is room for. `details` are answers to
    app/chapters' DETAILS and `calculations` to CALCULATORS, by what was asked (keyOf in
    visuals/static/one-file/server.js); `code` is the code of every panel. `hash` is the address of the view to open;
    `lesson` what is presented, as visuals/static/lessons/lesson.js reads it, or null.
    """

    hash: str
    offers: list[Offer]
    runs: list[RunOfFile]
    layers: list[LayerMessage]
    neurons: list[NeuronsMessage]
    details: dict[str, object]
    calculations: dict[str, object]
    code: FileCode
    lesson: object


class FileMessage(TypedDict):
    """Runs as the text of one HTML file."""

    kind: Literal["file"]
    html: str
