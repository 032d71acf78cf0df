"""A prefix mask, as GLM had it, on the page: a prompt that sees itself whole, against transformers with that mask."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from playwright.sync_api import Browser, Page, expect

import model
from app.chapters import CHAPTERS
from app.engine import LocalEngine
from app.service import Service
from app.session import Runs
from app.texts import text
from model.interventions import Intervention
from tests.app.family_page import CLOSE, family_page, pairs_of, read
from tests.app.looking import number, shown, walk
from tests.app.test_story_families import CONFIGS
from tests.families import Pair

PROMPT = "The dog plays in the yard."
LAYER, HEAD, QUERY, KEY = 1, 4, 2, 7


@pytest.fixture(scope="module")
def pairs() -> dict[str, Pair]:
    return pairs_of({name: CONFIGS[name] for name in ("glm", "llama", "deepseek", "bloom")})


@pytest.fixture(scope="module")
def page(browser: Browser, pairs: dict[str, Pair]) -> Iterator[Page]:
    with family_page(browser, pairs) as page:
        yield page


def masked(pair: Pair, ids: list[int], prefix: int) -> Any:
    """transformers' run with the mask of four dimensions."""
    seen = torch.ones(len(ids), len(ids), dtype=torch.bool).tril()
    seen[:prefix, :prefix] = True
    mask = torch.where(seen, 0.0, torch.finfo(torch.float32).min)[None, None]
    with torch.no_grad():
        return pair.peer(torch.tensor([ids]), attention_mask=mask, output_attentions=True, output_hidden_states=True)


@pytest.mark.parametrize("family", ["glm", "llama", "deepseek"])
def test_a_trace_with_a_prefix_is_transformers_with_that_mask(pairs: dict[str, Pair], family: str) -> None:
    pair, ids, prefix = pairs[family], [5, 77, 31, 200, 9, 120, 64], 4
    theirs = masked(pair, ids, prefix)
    trace = model.run_trace(pair.lm, ids, Intervention(prefix=prefix))
    assert torch.allclose(torch.from_numpy(trace.logits), theirs.logits[0, -1], atol=1e-5)
    for i in range(trace.n_layers):
        assert torch.allclose(torch.from_numpy(trace.layer(i).attention), theirs.attentions[i][0], atol=1e-5)
        assert torch.allclose(torch.from_numpy(trace.residual[i]), theirs.hidden_states[i][0], atol=1e-5)
    with pytest.raises(model.GlassLlamaError, match="no such mask"):
        model.run_trace(pairs["bloom"].lm, ids, Intervention(prefix=prefix))


@pytest.mark.parametrize("family", ["glm", "llama", "deepseek"])
def test_a_text_is_written_on_from_a_prefix(pairs: dict[str, Pair], family: str) -> None:
    pair, ids, prefix = pairs[family], [5, 77, 31, 200, 9, 120, 64], 5
    steps = list(model.generate(pair.lm, ids, 8, intervention=Intervention(prefix=prefix)))
    for i, step in enumerate(steps):
        logits = masked(pair, ids + [step.token_id for step in steps[:i]], prefix).logits[0, -1]
        assert step.token_id == int(logits.argmax())
        assert step.probability == pytest.approx(float(logits.softmax(-1).max()), abs=1e-5)
    with pytest.raises(model.GlassLlamaError, match="prefix is 8; expected at most 7"):
        model.generate(pair.lm, ids, 8, intervention=Intervention(prefix=8))
    with pytest.raises(model.GlassLlamaError, match="no such mask"):
        model.generate(pairs["bloom"].lm, ids, 8, intervention=Intervention(prefix=prefix))


def test_a_prefix_longer_than_the_text_is_refused(pairs: dict[str, Pair]) -> None:
    service = Service(LocalEngine([pairs["glm"].lm]), Runs())
    run = service.run(PROMPT, "glm")
    tokens = len(run["tokens"]["ids"])
    again = service.change({"run": run["id"], "changes": {"prefix": [tokens]}, "layer": 0})
    assert (again["kind"], again["changes"]) == ("run", {"prefix": [tokens]})
    assert service.change({"run": run["id"], "changes": {"prefix": [tokens + 1]}})["kind"] == "message"


def test_a_llama_reads_its_prompt_whole_and_says_that_it_was_not_trained_so(page: Page, pairs: dict[str, Pair]) -> None:
    ids = read(page, "llama", PROMPT)
    page.evaluate("glass.open('compare')")
    page.get_by_role("button", name=text("changes.off_prefix", count=len(ids)), exact=True).click()
    page.locator("section[data-kind=compare]").get_by_role("button", name=text("compare.run"), exact=True).click()
    page.wait_for_function("glass.state.status === 'idle' && glass.state.trace.changes.prefix?.length")
    page.evaluate("(at) => glass.select(at)", {"layer": LAYER, "head": HEAD, "query": QUERY, "key": KEY})
    page.evaluate("glass.open('attend')")
    value = shown(page, "attention", f"layer {LAYER} head {HEAD} query {QUERY} key {KEY} ")
    theirs = masked(pairs["llama"], ids, len(ids))
    assert number(value, "weight") == pytest.approx(float(theirs.attentions[LAYER][0, HEAD, QUERY, KEY]), **CLOSE)
    expect(page.locator("section[data-kind=attention] .gp-changed")).to_contain_text(text("off.means_prefix"))
    page.evaluate("void glass.keep(null)")


def far_note(page: Page) -> str:
    """What is said above the chart over distance."""
    return page.locator("section[data-kind=rope-score] .gp-note").last.text_content() or ""


@pytest.mark.thorough
def test_the_page_shows_a_prompt_that_sees_itself_whole(page: Page, pairs: dict[str, Pair]) -> None:
    read(page, "bloom", PROMPT)
    page.evaluate("glass.open('compare')")
    shown(page, "compare")
    expect(page.get_by_role("button", name="prefix mask")).to_have_count(0)
    ids = read(page, "glm", PROMPT)
    page.evaluate("void glass.keep(glass.state.trace)")
    page.get_by_role("button", name=text("changes.off_prefix", count=len(ids)), exact=True).click()
    page.locator("section[data-kind=compare]").get_by_role("button", name=text("compare.run"), exact=True).click()
    page.wait_for_function("glass.state.status === 'idle' && glass.state.trace.changes.prefix?.length")
    theirs = masked(pairs["glm"], ids, len(ids))
    plain = masked(pairs["glm"], ids, 0)
    page.wait_for_function(
        "(n) => new URLSearchParams(location.hash.slice(1)).get('prefix') === String(n)", arg=len(ids)
    )
    at = {"layer": LAYER, "head": HEAD, "query": QUERY, "key": KEY}
    page.evaluate("(at) => glass.select(at)", at)
    found = walk(page, [chapter for chapter in CHAPTERS if chapter != "families"])
    assert not [kind for kind, one in found.items() if "NaN" in one["value"] or "undefined" in one["value"]]
    weight = float(theirs.attentions[LAYER][0, HEAD, QUERY, KEY])
    for place in ("attend cell", "attend attention", "attend arcs"):
        assert f"query {QUERY} key {KEY} " in found[place]["value"], found[place]
        assert number(found[place]["value"], "weight") == pytest.approx(weight, **CLOSE), place
    best = int(theirs.logits[0, -1].argmax())
    value = found["glance why"]["value"]
    assert f"answer {best} " in value
    assert number(value, "probability") == pytest.approx(float(theirs.logits[0, -1].softmax(-1)[best]), **CLOSE)
    expect(page.locator("section[data-kind=cell] .at-words").first).to_be_attached()
    value = found["position rope-score"]["value"]
    before, after = text("rope-score.far_after", count=KEY - QUERY, value="|").split("|")
    point = float(far_note(page).split(before)[1].split(after)[0].replace("−", "-"))
    assert point == pytest.approx(number(value, r"\bsum") + number(value, "unrotated"), rel=5e-3)  # three digits
    page.evaluate("glass.open('glance'); glass.settings.set('why', { open: '1' }); glass.repaint()")
    expect(page.locator(".wy-actions .gp-holds")).to_have_text(text("why.back_mask"))
    page.evaluate("glass.settings.set('why', {})")
    named = text("changes.is_prefix", count=len(ids))
    expect(page.locator("section[data-kind=attention] .gp-changed")).to_contain_text(named)
    page.evaluate("glass.open('attend')")
    explained = page.locator("section[data-kind=attention]")
    explained.get_by_role("button", name=text("frame.explain")).click()
    expect(explained.locator(".gp-explain")).to_contain_text(text("attention.what_prefix"))
    expect(explained.locator(".gp-explain")).not_to_contain_text("up to the query")
    explained.get_by_role("button", name=text("frame.explain")).click()
    page.evaluate("glass.open('compare')")
    compare = page.locator("section[data-kind=compare]")
    expect(compare).to_contain_text(text("compare.masks"))
    expect(compare.get_by_role("button", name=text("compare.show_B-A"), exact=True)).to_be_disabled()
    expect(page.locator("section[data-kind=head-change]")).to_contain_text(text("head-change.masks"))
    page.evaluate("glass.showSide('A')")
    first = walk(page, ["attend"])["attend cell"]["value"]
    assert f"query {QUERY} key {QUERY} " in first  # of the causal run, which does not see the key
    weight = float(plain.attentions[LAYER][0, HEAD, QUERY, QUERY])
    assert number(first, "weight") == pytest.approx(weight, **CLOSE)
