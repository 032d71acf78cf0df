"""The tours of the KV cache and of how the model learned, walked with the keyboard to their ends in both languages.

The model is the stand-in with a training log and an evaluation beside it: these are the numbers of no trained weights.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import model
from app.engine import LocalEngine
from app.session import Runs
from app.texts import LANGUAGES, text
from model.analysis.cacheless import multiply_adds
from tests.app.looking import number, run, settled
from tests.app.test_tour import arrive, check_place, set_out
from tests.plain import plain_site
from tests.standin import make_checkpoint
from visuals.overview_training import SKILLS

STAGES = ("patterns", "bindings", "backwards", "stories")
READ = [250_000 * (i + 1) for i in range(8)]
HELDOUT = [4.0, 3.0, 2.5, 2.2, 3.1, 2.9, 1.6, 1.25]
INDUCTION = [0.0, 0.1, 0.85, 0.95, 1.0, 0.99, 0.98, 0.97]  # leaps in "bindings", and is known there
OTHERS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.91, 0.92]  # known in "stories"
NEVER = [0.0, 0.1, 0.1, 0.2, 0.2, 0.3, 0.3, 0.4]
MEASURED = (("induction", "en", 198, 200, 0.98), ("sums", "digits", 31, 200, 0.95), ("recall", "zh", 200, 200, 0.95))


def log() -> list[dict[str, Any]]:
    kinds = [kind for of, _, _ in SKILLS.values() for kind in of]
    lines = []
    for i, tokens in enumerate(READ):
        answers = dict.fromkeys(kinds, OTHERS[i]) | {"induction": INDUCTION[i], "counting": NEVER[i]}
        line = {"stage": STAGES[i // 2], "tokens": tokens, "loss": 1.0, "heldout": HELDOUT[i], "answers": answers}
        lines.append(line)
    return lines


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> LocalEngine:
    """The stand-in, with how it came to be beside it."""
    directory: Path = make_checkpoint(tmp_path_factory.mktemp("models") / "logged", max_position_embeddings=1024)
    (directory / "training_log.jsonl").write_text("\n".join(map(json.dumps, log())))
    names = ("name", "language", "right", "cases", "bar")
    figures = [dict(zip(names, line, strict=True)) for line in MEASURED]
    (directory / "evaluation.json").write_text(json.dumps({"figures": figures}))
    return LocalEngine([model.load(directory, device="cpu")])


@pytest.fixture(scope="module")
def panels_alone(logged: LocalEngine) -> Iterator[str]:
    """In the place of the page over models without a log."""
    with plain_site(logged, Runs()) as address:
        yield address


UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "%": 0.01, "": 1}
MILLIONS = {
    "cached_work",
    "full_work",
    "read",
    "parameters",
    "first_read",
    "last_read",
    "from",
    "to",
    "before_read",
    "once",
    "all",
}
MILLISECONDS = {"cached_time", "full_time"}


def numbers_of(page: Page, stop: str) -> dict[str, Any]:
    """The numbers of the stop, each of which its sentences write as it is."""
    at = arrive(page, stop)
    check_place(at, page.evaluate("innerWidth"))
    assert "{" not in page.inner_text(".tour-bar")
    numbers = json.loads(at["numbers"])
    written = "(all) => all.map((one) => [one.dataset.number, one.textContent])"
    for name, words in page.eval_on_selector_all(".tour-middle b[data-number]", written):
        if isinstance(numbers[name], (int, float)):
            mantissa, unit = re.fullmatch(r"([\d.,]+)\s*([A-Za-z%]*)", words.replace("−", "-")).groups()  # type: ignore[union-attr]
            large = name in MILLIONS and (stop, name) not in {("decode", "read")}
            scale = UNITS[unit] * (1e6 if large else 1e-3 if name in MILLISECONDS else 1)
            said = float(mantissa.replace(",", "")) * scale
            rounding = 6e-4 if unit == "%" else 6e-5
            assert said == pytest.approx(numbers[name], rel=6e-3, abs=rounding), (stop, name, words)
    return numbers | {"panel": at["value"]}


def act(page: Page) -> None:
    page.click(".tour-does button >> nth=0")
    page.wait_for_function("glass.state.status === 'idle' && !document.querySelector('.tour-does button:disabled')")
    settled(page)
    page.focus(".tour-title")


def on(page: Page) -> None:
    page.locator(".tour-title").press("ArrowRight")


def walk_the_cache(page: Page, config: model.LlamaConfig, measure: bool) -> None:
    each = config.n_layers * config.n_kv_heads * 2 * config.head_dim * 4
    tokens = page.evaluate("glass.state.trace.nPrompt")
    set_out(page, "cache")
    numbers = numbers_of(page, "prefill")
    assert (numbers["wrote"], numbers["n_tokens"]) == (each * tokens, tokens)
    assert f"bytes={each * tokens} " in numbers["panel"]
    on(page)
    numbers_of(page, "decode")
    act(page)
    numbers = numbers_of(page, "decode")
    tokens = page.evaluate("glass.state.trace.T")
    assert (numbers["held"], numbers["wrote"], numbers["read"]) == (tokens, each, each * tokens)
    assert f"tokens={tokens} bytes={each * tokens} measured={each * tokens} " in numbers["panel"]
    on(page)
    assert numbers_of(page, "kept")["total"] == each * tokens
    on(page)
    query = numbers_of(page, "query")["query"]
    assert f"{query:,}" in page.inner_text("[data-kind=kv-live] .kv-story").replace("\u00a0", " ")
    on(page)
    if measure:
        assert numbers_of(page, "saves")["n_tokens"] == page.evaluate("glass.state.trace.nPrompt")
        act(page)
    numbers = numbers_of(page, "saves")
    n = numbers["n_tokens"]
    work = multiply_adds(config, 1, n - 1), multiply_adds(config, n, 0)
    assert (numbers["cached_work"], numbers["full_work"]) == work
    for name in ("cached_work", "full_work"):
        assert number(numbers["panel"], name) == numbers[name]
    assert number(numbers["panel"], "full_seconds") == numbers["full_time"]
    expect(page.locator(".tour-ask [data-number=full_time]")).to_be_visible()  # told without the answer
    on(page)
    numbers = numbers_of(page, "grows")
    assert (numbers["total"], numbers["measured"]) == (each * tokens, each * tokens)
    assert numbers["full"] == each * config.max_context
    on(page)
    numbers = numbers_of(page, "shares")
    for kind in ("mha", "gqa", "mqa", "mla"):
        assert number(numbers["panel"], kind.upper()) == numbers[kind] * tokens
    on(page)
    before = numbers_of(page, "predict")
    act(page)
    page.wait_for_function("(t) => document.querySelector('.is-spot').dataset.value.includes(t)", arg=" tokens=32768 ")
    after = numbers_of(page, "predict")
    assert "8,192" in after["beyond"]  # the context of the calculator's first model, which is smaller
    assert number(after["panel"], "bytes") == after["bytes"] == before["next_bytes"]
    assert after["bytes"] == model.kv_cache_bytes(model.catalogue()["Llama-3 8B"], tokens=32_768, batch=1, dtype="bf16")
    page.click(".tour-next")  # out, as it says
    expect(page.locator(".tour-bar")).to_be_hidden()


def walk_the_learning(page: Page, language: str) -> None:
    set_out(page, "learned")
    numbers = numbers_of(page, "corpus")
    names = text("tour-learned.comma", language).join(text(f"training.stage_{stage}", language) for stage in STAGES)
    assert (numbers["read"], numbers["stages"]) == (READ[-1], names)
    on(page)
    numbers = numbers_of(page, "loss")
    assert (numbers["first"], numbers["last"], numbers["last_read"]) == (HELDOUT[0], HELDOUT[-1], READ[-1])
    assert number(numbers["panel"], "heldout") == numbers["last"]
    assert all(f"{loss:.3f}" in numbers["rise"] for loss in (2.2, 3.1))  # in "backwards"
    on(page)
    numbers = numbers_of(page, "skills")
    known = numbers["known"].split(text("tour-learned.semicolon", language))
    assert len(known) == len(SKILLS) - 1
    assert known[0].startswith(text("training.skill_induction", language))
    assert text("training.stage_bindings", language) in known[0]
    assert all(text("training.stage_stories", language) in one for one in known[1:])
    assert numbers["never"].startswith(text("training.skill_counting", language))
    on(page)
    numbers = numbers_of(page, "induction")
    assert (numbers["before"], numbers["share"], numbers["end"]) == (0.1, 0.85, 0.97)
    assert text("training.stage_bindings", language) in numbers["when"]
    on(page)
    numbers = numbers_of(page, "cannot")
    assert (numbers["met"], numbers["n_short"], numbers["right"], numbers["cases"]) == (2, 1, 31, 200)
    on(page)
    numbers = numbers_of(page, "attempt")
    assert number(numbers["panel"], "p") == pytest.approx(numbers["p_one"], rel=1e-4)
    act(page)
    page.wait_for_function(
        "(prompt) => glass.state.trace.prompt === prompt", arg=text("tour-learned.sequence", language)
    )
    numbers = numbers_of(page, "attempt")
    assert number(numbers["panel"], "p") == pytest.approx(numbers["p_one"], rel=1e-4)
    page.click(".tour-next")  # out, as it says
    expect(page.locator(".tour-bar")).to_be_hidden()


def test_the_tour_of_the_cache_says_what_the_chapter_shows(page: Page, logged: LocalEngine) -> None:
    run(page, "The cat sleeps on the sofa. The dog plays on the")
    config = logged.about("logged").config
    assert isinstance(config, model.LlamaConfig)
    for i, language in enumerate(LANGUAGES):
        page.click(f"#language button[value={language}]")
        page.wait_for_function("(code) => glass.state.language === code", arg=language)
        walk_the_cache(page, config, measure=i == 0)


def test_the_tour_of_how_it_learned_says_what_the_log_says(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    for language in LANGUAGES:
        page.click(f"#language button[value={language}]")
        page.wait_for_function("(code) => glass.state.language === code", arg=language)
        walk_the_learning(page, language)
