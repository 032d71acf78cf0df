"""docs/coverage.md names places that exist: panels, glossary terms, files and commands."""

import re

from app.chapters import CHAPTERS
from app.texts import table
from tests.page import ROOT

ROWS = [line.split(" | ") for line in (ROOT / "docs/coverage.md").read_text("utf-8").splitlines() if line[:2] == "| "]
KINDS = {kind for kinds in CHAPTERS.values() for kind in kinds}


def test_every_place_exists() -> None:
    named = {name for row in ROWS for name in re.findall("`([^`]+)`", row[-1]) if name != "</>"}
    assert len(named & KINDS) > 35  # it is about all chapters
    for name in named - KINDS:
        path = name.removeprefix("python -m ").replace(".", "/") if name.startswith("python") else name
        assert (ROOT / path).exists() or (ROOT / f"{path}.py").exists(), f"{name}: no panel, file or package"


def test_every_term_is_in_the_glossary() -> None:
    terms_of_page = {name: text for name, text in table("en")["glossary"].items() if not name.endswith("_means")}
    known = {form.lower() for text in terms_of_page.values() for form in text.split("|")}
    terms = [term for row in ROWS for found in re.findall("glossary: ([^;|]+)", row[-1]) for term in found.split(", ")]
    assert len(terms) > 8
    for term in terms:
        assert term.strip().lower() in known, term


def test_every_number_of_the_second_list_stands_once_and_has_a_place() -> None:
    numbers = [int(row[0].strip("| ")) for row in ROWS if re.fullmatch(r"\|? ?\d+", row[0].strip())]
    assert len(numbers) == len(set(numbers)) == 97
    assert all(row[-1].strip("| ") for row in ROWS)
