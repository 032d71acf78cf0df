"""The code that made the numbers of a panel."""

from typing_extensions import TypedDict


class Making(TypedDict):
    """Which line of its file makes a captured tensor."""

    tensor: str
    line: int


class CodeExcerpt(TypedDict):
    """A function or class as it is written.

    Its name, the file from the repository's root, the number of its first line there, and its lines as pieces, each
    with its kind (pygments' short names) and its text; and what it makes of the tensors that were asked for.
    """

    name: str
    file: str
    first: int
    lines: list[list[tuple[str, str]]]
    makes: list[Making]


class CodeDetail(TypedDict):
    """The excerpts of a panel, those that make its tensors first."""

    excerpts: list[CodeExcerpt]
