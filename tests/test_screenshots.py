"""What `make screenshots` takes: every story and chapter, in each language and theme and at each size."""

import subprocess
from itertools import product
from pathlib import Path

from app.chapters import CHAPTERS
from tests import screenshots
from tests.page import ROOT


class Pages:
    """Stands in for a page: it takes note of where its pictures go."""

    def __init__(self, taken: list[str]) -> None:
        self.taken = taken

    def __getattr__(self, _name: str) -> "Pages":
        return self

    def __call__(self, *_given: object, **named: object) -> "Pages":
        if "path" in named:
            self.taken.append(Path(str(named["path"])).name)
        return self


def test_all_are_taken_where_nothing_else_is_said(monkeypatch, tmp_path: Path) -> None:
    said = subprocess.run(["make", "-n", "screenshots"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "tests.screenshots --all screenshots" in said
    taken: list[str] = []
    opened: list[tuple[str, int, int]] = []

    def open_page(_browser: object, address: str, width: int, height: int) -> Pages:
        opened.append((address.partition("#lang=")[2], width, height))
        return Pages(taken)

    for name in ("walk", "settled", "whole_story", "leave"):
        monkeypatch.setattr(screenshots, name, lambda *_given: None)
    monkeypatch.setattr(screenshots, "open_page", open_page)
    screenshots.everything(Pages([]), "", tmp_path)  # type: ignore[arg-type]
    sizes = ((1280, 720), (1920, 1080), (390, 844))
    assert sorted(opened) == sorted((language, *size) for language, size in product(("en", "zh"), sizes) for _ in "ab")
    wanted = product((*screenshots.STORIES, *CHAPTERS), ("en", "zh"), ("light", "dark"), (1280, 1920, 390))
    assert sorted(taken) == sorted("-".join(map(str, one)) + ".png" for one in wanted)
