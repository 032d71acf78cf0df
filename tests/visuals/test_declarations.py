"""What the page's own code is told of the messages is what their TypedDicts say."""

import re
from typing import Any, Literal, NotRequired

import pytest
from typing_extensions import TypedDict

from visuals.messages import declarations


class Small(TypedDict):
    """A message, in
    two lines."""

    kind: Literal["a", "b"]
    pairs: list[tuple[int, float]]
    by_name: dict[str, "Small | None"]
    names: tuple[str, ...]
    maybe: NotRequired[list[bool | None]]
    whatever: object


def squeezed(text: str) -> str:
    """A file without its layout, which is Prettier's: a comment's stars, white space, the bar before a union."""
    plain = re.sub(r"^ \*(?!/)", "", text, flags=re.MULTILINE)
    return re.sub(r"([:=(])\|", r"\1", re.sub(r"\s+", "", plain))


def test_the_declarations_are_those_of_the_messages() -> None:
    written = declarations.FILE.read_text(encoding="utf-8")
    stale = f"{declarations.FILE.name} is no longer what visuals/messages says: run `make format`"
    assert squeezed(written) == squeezed(declarations.declarations()), stale


def test_an_interface_says_what_its_typed_dict_says() -> None:
    assert declarations.interface(Small) == (
        "/**\n * A message, in\n * two lines.\n */\nexport interface Small {\n"
        '  kind: "a" | "b";\n  pairs: [number, number][];\n  by_name: Record<string, Small | null>;\n'
        "  names: string[];\n  maybe?: (boolean | null)[];\n  whatever: unknown;\n}"
    )


@pytest.mark.parametrize("hint", [Any, bytes, set[int], dict[int, str]])
def test_what_no_message_may_hold_is_an_error(hint: object) -> None:
    with pytest.raises(TypeError, match="a message holds"):
        declarations.typescript(hint)
