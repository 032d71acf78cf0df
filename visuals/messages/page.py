"""What stands in the page's head, and what it asks about itself."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict


class ChapterConfig(TypedDict):
    """The panels that a chapter shows, those of them that lie folded until they are opened, and the address of its
    styles where it has any."""

    panels: tuple[str, ...]
    onDemand: tuple[str, ...]
    style: str | None


class PageConfig(TypedDict):
    """What the page's script is told first.

    Addresses of texts, of those of panels that open on demand, and of lessons, by language; the chapters; in which
    chapter's folder each panel's module is; which panels name code of their own (visuals/source_code.py); which modules
    the workbench begins with; which text each of gradio's labels shows; and the prompt to begin with by language, or
    `firstOf` a model that has one of its own. `files` is there in an HTML file that holds the page (app/one_file): the
    address of each of its parts, by where it else is beside the page's script.
    """

    texts: dict[str, str]
    textsOnDemand: dict[str, str]
    chapters: dict[str, ChapterConfig]
    homes: dict[str, str]
    coded: list[str]
    benchModules: list[str]
    plotly: str
    labels: dict[str, dict[str, str]]
    lessons: dict[str, list[str]]
    firstPrompts: dict[str, str]
    firstOf: dict[str, str]
    files: NotRequired[dict[str, str]]


class Offer(TypedDict):
    """A model on offer: how many parameters it has, and where it comes from, null for an operator's own.

    `examples`: which of the page's are its own, those of the small world or those of English at large; null: neither.
    """

    name: str
    parameters: int
    kind: Literal["bundled", "real", "small"] | None
    family: str
    examples: Literal["world", "english"] | None


class RealModelState(TypedDict):
    """The real LLaMA: whether its weights are there, the `command` that fetches them, and whether a page may.

    While it is fetched, `bytes` of `total` have come; `failed` says why the last download did not end well.
    """

    name: str
    state: Literal["there", "fetching", "absent"]
    command: str
    mayFetch: bool
    bytes: int
    total: int
    failed: Literal["network", "hash", "disk", "cancelled", "other"] | None


class RealModelAnswer(TypedDict):
    """The real LLaMA, null where the page is not to offer it, and all models on offer now."""

    real: RealModelState | None
    offers: list[Offer]


class LoadingState(TypedDict):
    """How far the weights of a network are that are read at its first use: `done` of `total` numbers, each counted once
    for each step that it goes through."""

    done: int
    total: int


class LoadingAnswer(TypedDict):
    """How far a network's weights are; null where they are there, or where nobody can tell."""

    loading: LoadingState | None


class TensorPlace(TypedDict):
    """A captured tensor: its dimensions by name and size, and the line of the repository that makes it."""

    dims: tuple[str, ...]
    shape: list[int]
    file: str
    line: int


class QrAnswer(TypedDict):
    """A QR code of `version`: `size` modules along a side, quiet zone included; the dark ones as an SVG path."""

    size: int
    path: str
    version: int
