"""A model without kept head jobs: the page measures them on request, with progress, and names heads by them then."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import model
from app.engine import LocalEngine
from app.session import Runs
from app.texts import text
from model import kept_jobs
from model.analysis.head_jobs import SEQUENCES
from model.head_names import read_heads_file
from model.kept_jobs import CLEAR
from tests.app.looking import faults, in_each_language
from tests.page import leave, open_page
from tests.plain import plain_site


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of a small trained LLaMA, in a place that can be written to, of which nothing is remembered."""
    monkeypatch.setattr(kept_jobs, "_memory", kept_jobs.OrderedDict())
    return shutil.copytree(Path(model.__file__).parent / "zoo" / "llama", tmp_path / "own")


@pytest.fixture
def site(own: Path) -> Iterator[str]:
    with plain_site(LocalEngine([model.load(own, device="cpu")]), Runs()) as address:
        yield address


def measured(page: Page, own: Path) -> None:
    """The panel lists what was kept beside the weights, and the heads go by it."""
    panel = page.locator("section[data-kind=heads]")
    (file,) = own.glob("heads-*.json")
    kinds = read_heads_file(file, model.load(own, device="cpu").config)
    best = kinds["induction"].best[0]
    assert best.score > CLEAR
    page.evaluate("(at) => glass.select(at)", {"layer": best.layer, "head": best.head})
    for language in in_each_language(page):
        expect(panel).to_contain_text(text("heads.named_random", language, done=SEQUENCES, total=SEQUENCES))
        expect(panel.get_by_role("button", name=text("heads.measure", language))).to_have_count(0)
        expect(panel).to_contain_text(text("heads.kind_induction", language))
        expect(panel.locator(".gp-readout")).to_contain_text(text("heads.kind_induction", language))
        assert faults(page, context="section[data-kind=heads]") == []


@pytest.mark.thorough
def test_they_are_measured_on_request_and_kept(browser: Browser, site: str, own: Path) -> None:
    page = open_page(browser, f"{site}#lang=en&chapter=attend")
    panel = page.locator("section[data-kind=heads]")
    asked: list[int] = []
    page.on("request", lambda request: asked.append((request.post_data_json or [{}])[0].get("count", 0))
            if "ask/detail" in request.url else None)  # fmt: skip
    for language in in_each_language(page):
        expect(panel.get_by_role("button", name=text("heads.measure", language))).to_be_visible()
    panel.get_by_role("button", name=text("heads.measure")).click()
    expect(panel).to_contain_text(text("heads.named_random", done=SEQUENCES, total=SEQUENCES))
    measured(page, own)
    assert [count for count in asked if count] == list(range(1, SEQUENCES + 1))  # one by one, with progress
    page.reload()
    measured(page, own)
    leave(page)
