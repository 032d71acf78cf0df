"""The first screen as a visitor finds it, over the bundled model: text, next word, why, and where its numbers lead."""

import re
from collections.abc import Iterator
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

import model
from app.engine import LocalEngine
from app.examples import EXAMPLES
from app.service import Service
from app.session import Runs
from app.texts import LANGUAGES, text
from model.analysis.circuit import change_control, circuit, held_out_shares
from model.analysis.matching import matching
from model.analysis.node_roles import node_roles
from model.analysis.outside import outside
from model.analysis.why import NEEDED
from model.checkpoint import BUNDLED
from tests.app.looking import as_chance, faults, in_each_language, number, settled, shown
from tests.one_of import one_of
from tests.page import leave, open_page, running_app, wait_for_run
from tests.peer import Peer
from tests.plain import plain_site

WHY = "section[data-kind=why]"


@pytest.fixture(scope="module")
def bundled() -> model.LanguageModel:
    return model.load(device="cpu")


@pytest.fixture(scope="module")
def address(bundled: model.LanguageModel) -> Iterator[str]:
    """The panels alone over the bundled model."""
    with plain_site(LocalEngine([bundled]), Runs()) as found:
        yield found


def ask(page: Page) -> None:
    page.click(".wy-ask")
    page.locator(".wy-said b").first.wait_for()
    settled(page)


SIZES = ((1280, 720), (390, 844))


@pytest.mark.thorough
@pytest.mark.gradio
def test_the_answer_to_why_is_there_without_scrolling(browser: Browser, bundled: model.LanguageModel) -> None:
    """On the page that `python app.py` serves, in both languages, as it opens and in a window of the other size."""
    with running_app("--device", "cpu") as address:
        for language, sizes in (("en", SIZES), ("zh", SIZES[::-1])):
            page = open_page(browser, f"{address}#lang={language}", *sizes[0])
            check_first(page, bundled, language)
            for width, height in sizes:
                page.set_viewport_size({"width": width, "height": height})
                check_in_view(page, width, height)
            leave(page)
        on_its_side = open_page(browser, f"{address}#lang=en&chapter=story", 844, 390, story=True)
        expect(on_its_side.locator("[data-scene=answer] .st-gap")).to_be_in_viewport(ratio=1)
        leave(on_its_side)
        for language in LANGUAGES:
            upright = open_page(browser, f"{address}#lang={language}", 390, 844, story=True)
            expect(upright.locator("[data-scene=answer] [data-act=hide]")).to_be_visible()  # all of it is measured
            expect(upright.locator("[data-scene=answer] .st-says")).to_be_in_viewport(ratio=1)
            chips = upright.locator(".page-chips button:visible")
            sizes = chips.evaluate_all(
                "(all) => all.map((one) => [one.scrollHeight, one.clientHeight, one.offsetWidth])"
            )
            assert all(high <= room and wide < 300 for high, room, wide in sizes), sizes  # to the end, beside the next
            leave(upright)


def check_first(page: Page, bundled: model.LanguageModel, language: str) -> None:
    """The words and numbers of the answer are those of the run, as the functions behind it give them."""
    trace = model.run_trace(bundled, EXAMPLES[language][0])
    found, query = model.why(bundled, EXAMPLES[language][0]), len(trace.token_ids) - 1
    expect(page.locator(".wy-text")).to_have_text(EXAMPLES[language][0])
    expect(page.locator(".wy-word")).to_have_text(bundled.tokenizer.pieces([found.answer])[0].strip())
    ask(page)
    page.wait_for_function("document.querySelector('section[data-kind=why]').dataset.value.includes(' without=')")
    value = shown(page, "why")
    assert "“”" not in page.inner_text(".wy-said")  # every word that is named is there
    assert number(value, "probability") == pytest.approx(found.p, rel=1e-4)
    assert number(value, "without") == pytest.approx(found.without, rel=1e-3)
    assert f" form {found.form} rests {','.join(map(str, found.tokens))} sinks " in value
    weights = np.stack([trace.layer(layer).attention[:, query] for layer in range(trace.n_layers)])
    key, reading = found.tokens[0], weights.argmax(-1) == found.tokens[0]
    layer, head = map(int, np.unravel_index(np.where(reading, found.heads, -np.inf).argmax(), reading.shape))
    # The panels open at the head that the story follows, whose look tells the answer from its rival.
    service = Service(LocalEngine([bundled]))
    run = service.recall({"prompt": EXAMPLES[language][0]})["id"]
    apart = service.detail({"run": run, "what": "told_apart", "token": query})["data"]
    followed = f"{apart['layer']},{apart['head']},{apart['key']}"
    page.wait_for_function(f"[glass.state.layer, glass.state.head, glass.state.key].join() === '{followed}'")
    left = found.p * np.exp(-found.knock_out[key])
    expect(page.locator(".wy-said")).to_contain_text(as_chance(left, language))
    expect(page.locator(".wy-said")).not_to_contain_text(re.split("[:：]", text("why.unsure", language, p=""))[0])
    how = matching(trace, layer, head, query, key)
    assert how
    assert how.rival_told
    own, other = (trace.pieces[way.steps[-1].key].strip() for way in (how.told, how.rival_told))
    assert own in EXAMPLES[language][0].split("kitchen" if language == "en" else "厨房")[0]  # whose room it is
    answer, rival = trace.pieces[key].strip(), trace.pieces[how.rival].strip()
    assert how.other
    words = [f"“{piece}”" for piece in (own, other, answer, rival, bundled.tokenizer.pieces([how.other.id])[0].strip())]
    numbers = (how.score, how.rival_score, how.other.score, how.other.rival_score)
    for part in words:
        expect(page.locator(".wy-how > div").first).to_contain_text(part)
    told = [float(found) for found in re.findall(r"\d+\.\d+", page.locator(".wy-how > div").first.inner_text())]
    for value in numbers:  # with the three or four digits that its sums need
        assert any(one == pytest.approx(value, rel=5e-3) for one in told)


@pytest.mark.parametrize("language", LANGUAGES)
def test_how_the_answer_is_told_from_its_rival_is_said_of_a_head_by_its_number(
    language: str, browser: Browser, address: str, bundled: model.LanguageModel
) -> None:
    """Of the one that is missed most of those that look at the answer, which need not be the one that is framed."""
    prompt = EXAMPLES[language][0]
    trace, found = model.run_trace(bundled, prompt), model.why(bundled, prompt)
    query, key = len(trace.token_ids) - 1, found.tokens[0]
    weights = np.stack([trace.layer(layer).attention[:, query] for layer in range(trace.n_layers)])
    looking = weights.argmax(-1) == key
    layer, head = map(int, np.unravel_index(np.where(looking, found.heads, -np.inf).argmax(), looking.shape))
    how = matching(trace, layer, head, query, key)
    assert how
    page = open_page(browser, f"{address}#lang={language}&chapter=glance&prompt={quote(prompt)}&why.open=1")
    heading = page.locator(".wy-how h3")
    expect(heading).to_contain_text(trace.pieces[how.rival].strip())
    said = f"head {head} of layer {layer}" if language == "en" else f"第 {layer} 层的 {head} 号头"
    expect(heading).to_contain_text(said)
    leave(page)


@pytest.mark.parametrize("language", one_of(["en", "zh"]))
def test_the_story_says_how_a_head_tells_the_answer_from_its_rival(
    language: str, browser: Browser, address: str, bundled: model.LanguageModel
) -> None:
    """Both scores are those of transformers' attention, up to what softmax takes from both: in the run, and with the
    word that a reader puts in. Whose room either is, is said beside it."""
    page = open_page(browser, f"{address}#lang={language}&chapter=story")
    scene = page.locator("[data-scene=match]")
    page.locator("[data-stop=layers]").click()  # past it
    scene.wait_for()
    scene.scroll_into_view_if_needed()
    expect(scene).to_have_attribute("data-value", re.compile(" rival_score="))
    ids = page.evaluate("glass.state.trace.tokens.ids")
    detail = page.evaluate("glass.detail('told_apart', { token: glass.state.trace.T - 1 })")
    key, rival = detail["key"], detail["rival"]
    head = f"layer {detail['layer']} head {detail['head']}"
    assert detail["weight"] >= 0.5
    for name, at in (("looks", head), ("carried", head), ("norm", f"layer {detail['layer']}")):  # one head for all
        other = page.locator(f"[data-scene={name}]")
        other.scroll_into_view_if_needed()
        expect(other).to_have_attribute("data-value", re.compile(f"^{at} "))
    scene.scroll_into_view_if_needed()
    carried = scene.locator(".st-carries").all_inner_texts()
    assert [one.strip("“”") for one in carried] == (["Tom", "Lily"] if language == "en" else ["汤姆", "莉莉"])

    def check(ids: list[int]) -> None:
        value = scene.get_attribute("data-value") or ""
        row = Peer(BUNDLED, ids).run.attentions[detail["layer"]][0, detail["head"], -1].double().log()
        difference = number(value, "score") - number(value, "rival_score")
        assert difference == pytest.approx(float(row[key] - row[rival]), abs=2e-3)  # of two with five digits
        drawn = [bar.bounding_box() for bar in scene.locator(".st-bar").all()]
        assert all(drawn)
        assert (drawn[0]["width"] > drawn[1]["width"]) == (difference > 0)

    check(ids)
    assert number(scene.get_attribute("data-value") or "", "score") > 0
    scene.locator(".st-act").click()
    expect(scene.locator(".st-says")).to_contain_text(bundled.tokenizer.pieces([detail["other"]["id"]])[0].strip())
    other = [*ids]
    other[detail["other"]["position"]] = detail["other"]["id"]
    page.wait_for_timeout(400)  # the bars move
    check(other)
    scene.locator(".st-act").click()
    assert faults(page, context="[data-scene=match]") == []
    page.locator("#prompt textarea").fill("Lily likes apples." if language == "en" else "莉莉喜欢苹果。")
    page.locator("#run").click()
    page.wait_for_function("(count) => glass.state.trace.T !== count", arg=len(ids))
    expect(page.locator("[data-scene=answer]")).to_be_focused()  # so that Space goes on
    page.locator("[data-scene=looks]").scroll_into_view_if_needed()
    settled(page)
    expect(scene).to_be_hidden()  # nothing is asked about anyone: there is nothing to tell
    expect(page.locator("[data-stop=match]")).to_have_attribute("data-waits", "")  # and the scene before it says so
    expect(page.locator("[data-scene=looks]")).to_contain_text(text("story.looks_untold", language))
    leave(page)


def test_the_story_gives_the_meaning_of_an_answer_in_chinese(browser: Browser, address: str) -> None:
    prompt = quote(EXAMPLES["zh"][0])
    page = open_page(browser, f"{address}#lang=en&chapter=story&prompt={prompt}")
    gap = page.locator("[data-scene=answer] .st-gap")
    expect(gap).to_have_text("厨房 (kitchen)")
    expect(page.locator("[data-scene=answer] h2")).to_contain_text("厨房 (kitchen)")
    expect(page.locator("[data-act=hide]")).to_contain_text("厨房” (kitchen)")
    gate = page.locator("[data-scene=gate]")
    gate.scroll_into_view_if_needed()
    expect(gate.locator(".st-says")).to_contain_text("厨房 (kitchen)")
    leave(page)


def test_of_a_word_in_several_pieces_it_is_said_which_is_hidden(browser: Browser, address: str) -> None:
    prompt = "I have a hedgehog. You have a hedge"
    page = open_page(browser, f"{address}#lang=en&chapter=story&prompt={quote(prompt)}")
    pieces = page.evaluate("glass.state.trace.tokens.pieces")
    assert pieces[3:8] == [" he", "d", "ge", "ho", "g"]
    hide = page.locator("[data-act=hide]")
    expect(hide).to_have_text("Hide “ho” (piece 4 of 5 of “hedgehog”)")
    hide.click()
    said = text("story.did_hide_piece", word="hedgehog", count=5)
    expect(page.locator(".st-try [role=status]")).to_contain_text(said)
    page.locator("[data-act=back]").click()
    page.evaluate("glass.open('glance')")
    ask(page)
    expect(page.locator(".wy-said")).to_contain_text("“ho” (piece 4 of 5 of “hedgehog”)")
    leave(page)


def test_of_a_piece_of_a_word_it_is_not_said_that_it_is_the_word(browser: Browser, address: str) -> None:
    page = open_page(browser, f"{address}#lang=en&chapter=story&prompt={quote('bird dog hedgehog bird dog')}")
    answer = page.locator("[data-scene=answer]")
    expect(answer).to_have_attribute("data-value", re.compile(r"' he' .* key \d"))
    expect(answer.locator(".st-says")).to_contain_text("he piece stands in the text")
    leave(page)


def check_in_view(page: Page, width: int, height: int) -> None:
    settled(page)
    told = [".wy-needed", ".wy-how > div"] if width > 1000 else []  # on a telephone the rest is scrolled to
    for part in (".wy-text", ".wy-next", ".wy-ask", ".wy-said", *told):
        box = page.locator(part).first.bounding_box()
        assert box
        assert 0 <= box["y"] <= box["y"] + box["height"] <= height, part
        assert 0 <= box["x"] <= box["x"] + box["width"] <= width, part
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.fixture(scope="module")
def opened(browser: Browser, address: str) -> Iterator[Page]:
    page = open_page(browser, f"{address}#lang=en", 1280, 1200)
    ask(page)
    yield page
    leave(page)


def test_a_circuit_is_drawn_with_what_it_recovers(opened: Page, bundled: model.LanguageModel) -> None:
    button = opened.locator("[data-swap]").first
    other = button.get_attribute("data-swap")
    assert other
    button.click()
    opened.locator(".wy-node").first.wait_for()
    found = circuit(bundled, EXAMPLES["en"][0], other)  # as many parts as are needed
    count = len(found.nodes)
    assert opened.locator(".wy-node").count() == count
    assert opened.locator(".wy-node.is-against").count() == sum(score < 0 for score in found.scores)
    expect(opened.locator(".wy-faith")).to_contain_text(f"{100 * found.recovered:.1f}"[:3])
    verdict = "all" if found.recovered >= 0.9 else "most" if found.recovered >= 0.5 else "little"
    expect(opened.locator(".wy-faith")).to_contain_text(text(f"why.carries_{verdict}", count=count))
    change = change_control(found.pair, count)
    expect(opened.locator(".wy-faith")).to_contain_text(f"{100 * change:.1f}%".replace("-", "−"))
    held = [one.share for one in held_out_shares(found.pair, found.nodes)]
    said = f"{100 * sum(held) / len(held):.1f}%" if held else text("why.held_out_none")
    expect(opened.locator(".wy-faith")).to_contain_text(said)
    value = opened.locator(".wy-circuit").get_attribute("data-value") or ""
    assert f"parts {count} " in value
    told = [number(value, name) for name in ("recovered", "by_change", *(["held_out"] if held else []))]
    assert told == pytest.approx([found.recovered, change, *([sum(held) / len(held)] if held else [])], abs=1e-4)
    expect(opened.locator(".wy-curve circle")).to_have_count(len(found.curve))
    role = next(role for role in node_roles(found.pair, found.nodes) if role.reads is not None and role.to_answer)
    pieces = bundled.tokenizer.pieces(found.pair.ids[0].tolist())
    last = [node.get_attribute("aria-label") for node in opened.locator(".wy-node.is-head").all()]
    assert any(f"reads “{pieces[role.reads or 0].strip()}” most" in (words or "") for words in last)
    opened.click(".wy-circuit .gp-holds")
    opened.locator(".wy-edges path").first.wait_for(state="attached")  # a straight one has no width to be seen by
    opened.wait_for_function("document.querySelector('.wy-circuit progress').hidden")
    node = opened.locator(".wy-node.is-head").first
    node.focus()
    node.press("Enter")
    layer, head = opened.evaluate("[glass.state.layer, glass.state.head]")
    assert (layer, head) in {(one.layer, one.head) for one in found.nodes}
    assert faults(opened, context=WHY) == []


def test_a_window_of_layers_slides_over_the_text_without_asking_again(
    opened: Page, bundled: model.LanguageModel
) -> None:
    opened.click(".wy-windows [data-choice=window]")
    slide = opened.locator(".wy-windows input[type=range]")
    slide.wait_for()
    settled(opened)
    text_of, whole = EXAMPLES["en"][0], model.run_trace(bundled, EXAMPLES["en"][0])
    asked: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    for start in (2, 5):
        slide.fill(str(start))
        lost = model.knock_out(bundled, text_of, layers=range(start, start + 2))
        needed = [t for t in np.argsort(-lost) if lost[t] >= NEEDED and t < len(lost) - 1]
        rests = f" layers {start}-{start + 1} rests {','.join(map(str, needed))} sinks "
        opened.wait_for_function(
            "(rests) => document.querySelector('[data-kind=why]').dataset.value.includes(rests)", arg=rests
        )
        expect(opened.locator(".wy-said")).to_contain_text(f"ayers {start} to {start + 1}")
        if needed:
            left = float(np.exp(whole.logits - np.logaddexp.reduce(whole.logits)).max() * np.exp(-lost[needed[0]]))
            expect(opened.locator(".wy-needed tbody td").nth(2)).to_have_attribute("title", re.compile(f"{left:.3f}"))
    assert not asked
    assert faults(opened, context=WHY) == []
    opened.click(".wy-windows [data-choice=all]")
    assert " layers " not in shown(opened, "why")


def test_nothing_that_was_chosen_for_another_text_stands_beside_a_new_one(opened: Page) -> None:
    opened.locator("[data-swap]").first.click()
    expect(opened.locator("[data-swap][aria-pressed=true]")).to_have_count(1)
    before = opened.evaluate("glass.state.trace.prompt")
    opened.evaluate(
        "window.answers = glass.detail;"
        "glass.detail = (what, ...given) => ['rests', 'why'].includes(what) ? null : answers(what, ...given)"
    )
    for prompt in (EXAMPLES["en"][1], before):  # the second with its answer
        opened.fill("#prompt textarea", prompt)
        opened.click("#run")
        opened.wait_for_function("(prompt) => glass.state.trace.prompt === prompt", arg=prompt)
        wait_for_run(opened)
        expect(opened.locator("[data-swap][aria-pressed=true]:visible")).to_have_count(0)
        expect(opened.locator(".wy-form:visible")).to_have_count(int(prompt == before))
        opened.evaluate("glass.detail = answers")


def test_the_box_holds_the_text_that_is_compared_with_also_after_heads_were_off(opened: Page) -> None:
    button = opened.locator("[data-swap]").first
    button.click()
    other = button.get_attribute("data-swap")
    expect(opened.locator(".wy-other")).to_have_value(str(other))
    for changes in ({"heads": [[0, 0]]}, {}):
        opened.evaluate("(changes) => void glass.change(changes)", changes)
        opened.wait_for_function("(off) => Boolean(glass.state.trace.changes?.heads) === off", arg=bool(changes))
    expect(opened.locator(f'[data-swap="{other}"][aria-pressed=true]')).to_have_count(1)
    expect(opened.locator(".wy-other")).to_have_value(str(other))


def test_the_head_that_is_framed_is_spoken_of_first(opened: Page) -> None:
    read, most = (opened.locator(f".wy-missed .wy-{name}") for name in ("read", "most"))
    other = re.compile(r"another, head (\d) of layer (\d)")
    opened.evaluate("glass.select({ layer: 0, head: 1 })")
    expect(read).to_contain_text("Framed is head 1 of layer 0")
    expect(most).to_have_text(other)
    above, below = read.bounding_box(), most.bounding_box()
    assert above
    assert below
    assert above["y"] < below["y"]
    found = other.search(most.inner_text())
    assert found
    opened.evaluate("([head, layer]) => glass.select({ layer, head })", [int(found[1]), int(found[2])])
    expect(read).to_contain_text(f"Framed is head {found[1]} of layer {found[2]}")
    expect(most).to_have_text("")  # it is said already


def test_a_loss_has_no_minus_and_what_a_head_costs_says_what_stands_in_its_place(opened: Page) -> None:
    for cell in opened.locator(".wy-needed tbody td:nth-of-type(1)").all():
        lost = float(cell.get_attribute("title") or "nan")
        assert lost > 0  # what is listed is needed
        assert float(cell.inner_text().split()[0]) == pytest.approx(lost, rel=0.06)
    proof = opened.locator(".wy-proof")
    for kind in ("zero", "mean"):
        opened.locator(f".wy-missed [data-choice={kind}]").click()
        expect(opened.locator(".wy-about")).to_contain_text(text(f"why.by_{kind}"))
        settled(opened)
        expect(proof).to_contain_text(f"alone ({text(f'why.ablation_{kind}')})")
        expect(proof).to_contain_text("(zero in their place)")
        note = opened.locator(".wy-list > .gp-note")
        expect(note).to_contain_text(f"one head ablated ({text(f'why.ablation_{kind}')})")


@pytest.mark.parametrize("opens", ["", "&why.open=1"])
def test_the_answer_opens_at_the_head_that_the_story_follows(browser: Browser, address: str, opens: str) -> None:
    """For this text neither the run's first head nor the one that is missed most of those that look there."""
    page = open_page(browser, f"{address}#lang=en&chapter=glance&prompt={quote(EXAMPLES['en'][1])}{opens}")
    if not opens:
        page.click(".wy-ask")
    followed = page.locator(".wy-missed .wy-read")
    expect(followed).to_contain_text("Framed is head")
    settled(page)
    place = page.evaluate("['layer', 'head', 'query', 'key'].map((name) => glass.state[name])")
    expect(followed).to_contain_text(f"Framed is head {place[1]} of layer {place[0]}")
    assert place[:2] != page.evaluate("[glass.state.run.start.layer, glass.state.run.start.head]")
    page.evaluate("glass.open('story')")
    looks = page.locator("[data-scene=looks]")
    looks.scroll_into_view_if_needed()
    told = "layer {} head {} query {} key {} ".format(*place)
    expect(looks).to_have_attribute("data-value", re.compile(f"^{told}"))
    leave(page)


def test_where_the_model_has_ended_the_text_headline_strip_and_button_say_so(browser: Browser, address: str) -> None:
    page = open_page(browser, f"{address}#lang=en&prompt={quote('Question: Where is Tom? Answer: the kitchen.')}")
    why = page.locator("section[data-kind=why]")
    expect(why.locator("h2").first).to_have_text(text("why.title"))
    page.click("#step")
    page.wait_for_function("glass.state.trace.T > glass.state.trace.nPrompt && glass.state.status === 'idle'")
    settled(page)
    end, at = page.evaluate("[glass.state.trace.tokens.pieces.at(-1), glass.state.trace.T - 1]")
    assert end == "<|end|>"
    expect(why.locator("h2").first).to_have_text(text("why.title_ended"))
    expect(why.locator(".wy-word")).to_have_text(end)
    expect(why.locator(".wy-ask")).to_have_text(text("why.ask_end"))
    said = text("moment.long_end_ended", at=at, after=end)
    expect(page.locator(".gp-moment")).to_contain_text(said.split(". ")[0])
    page.set_viewport_size({"width": 360, "height": 740})
    page.evaluate("glass.open('story')")
    for language in ("en", "zh"):
        page.click(f"#language [value={language}]")
        tells = page.locator(".page-tells")
        expect(tells).to_have_text(text("page.tells_ended", language))
        assert tells.evaluate("(one) => one.scrollHeight <= one.clientHeight")  # all of it is seen
        expect(page.locator("[data-scene=answer] h2")).to_have_text(text("story.answer_title_ended", language))
    leave(page)


def test_a_text_of_another_length_is_refused_in_words(opened: Page) -> None:
    opened.fill(".wy-other", "Tom is here")
    opened.press(".wy-other", "Enter")
    expect(opened.locator(".page-message")).to_contain_text("tokens; expected 16")


@pytest.mark.thorough
def test_a_number_leads_to_where_it_is_seen_and_the_heads_can_be_switched_off(
    browser: Browser, address: str, bundled: model.LanguageModel
) -> None:
    page = open_page(browser, f"{address}#lang=en", 1280, 800)
    ask(page)
    found, trace = model.why(bundled, EXAMPLES["en"][0]), model.run_trace(bundled, EXAMPLES["en"][0])
    page.locator(".wy-proof .wy-lead").first.click()
    value = shown(page, "cell", "layer ")
    layer, head, key = page.evaluate("[glass.state.layer, glass.state.head, glass.state.key]")
    assert key == found.tokens[0]
    assert number(value, " weight") == pytest.approx(float(trace.layer(layer).attention[head, -1, key]), rel=1e-3)
    page.evaluate("glass.open('glance')")
    before = page.evaluate("glass.state.trace.id")
    page.locator(".wy-actions .gp-holds").click()
    page.wait_for_function("(id) => glass.state.trace.id !== id", arg=before)
    wait_for_run(page)
    assert page.evaluate("glass.state.trace.changes.heads") == [list(one) for one in found.group]
    page.wait_for_function("document.querySelector('section[data-kind=why]').dataset.value.includes(' without=')")
    off = model.run_trace(bundled, EXAMPLES["en"][0], model.Intervention(heads=found.group)).logits
    assert np.exp(off[found.answer] - np.logaddexp.reduce(off)) == pytest.approx(found.without, rel=1e-3)
    expect(page.locator(".wy-circuit")).to_contain_text(text("why.changed"))
    expect(page.locator(".wy-actions .gp-holds")).to_have_text(text("why.back_on"))
    leave(page)


def test_a_prompt_from_outside_the_world_is_said_to_be_and_an_example_is_offered(
    browser: Browser, address: str, bundled: model.LanguageModel
) -> None:
    prompt = "The capital of Zürich is"  # its ü takes two tokens
    page = open_page(browser, f"{address}#lang=en&prompt={prompt.replace(' ', '+')}", 390, 844)
    hint = page.locator(".wy-outside")
    expect(hint).to_be_visible()
    expect(hint).to_contain_text(text("why.outside_many", unknown=2, words=5, named="“capital”, “Zürich”"))
    found = outside(bundled, model.run_trace(bundled, prompt), prompt)
    assert found
    assert found.surprisal
    assert found.usual
    for value in (found.surprisal, found.usual.middle, found.usual.most):
        expect(hint).to_contain_text(f" {value:#.3g}")
    marked = page.locator(".wy-text .is-strange").all_inner_texts()
    assert "".join(marked).replace(" ", "") == "capitalZürich"
    expect(page.locator(".wy-text .gp-hidden").first).to_contain_text(text("why.outside_mark"))
    assert faults(page, context=WHY) == []
    hint.locator(".gp-option").click()
    page.wait_for_function("(first) => glass.state.trace.prompt === first", arg=EXAMPLES["en"][0])
    expect(hint).to_be_hidden()
    leave(page)


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)])
def test_the_story_says_so_too(browser: Browser, address: str, width: int, height: int) -> None:
    page = open_page(browser, f"{address}#lang=en&chapter=story&prompt=The+capital+of+Zürich+is", width, height)
    hint = page.locator("[data-scene=answer] .wy-outside")
    expect(hint).to_contain_text(text("why.outside_many", unknown=2, words=5, named="“capital”, “Zürich”"))
    page.locator("[data-scene=answer] [data-act=hide]").wait_for()
    places = [
        page.locator(f"[data-scene=answer] {one}").bounding_box() for one in (".st-says", ".wy-outside", ".st-try")
    ]
    says, warns, tries = (place or {} for place in places)
    assert 0 <= warns["y"] - says["y"] - says["height"] <= 16  # directly under what is said of the answer
    assert warns["y"] + warns["height"] <= tries["y"]
    marked = page.locator("[data-scene=answer] .wy-text .is-strange").all_inner_texts()
    assert "".join(marked).replace(" ", "") == "capitalZürich"
    settled(page)  # and no other word is offered, nor said to be possible
    expect(page.locator("[data-scene=answer] .st-swaps button")).to_have_count(0)
    expect(page.locator("[data-scene=answer] .st-others")).to_have_text("")
    assert faults(page, context="[data-scene=answer]") == []
    hint.locator(".gp-option").click()
    page.wait_for_function("(first) => glass.state.trace.prompt === first", arg=EXAMPLES["en"][0])
    expect(hint).to_be_hidden()
    leave(page)


def test_the_page_stays_where_heads_are_measured_in_another_way(opened: Page) -> None:
    zero = opened.locator(".wy-missed [data-choice=zero]")
    expect(opened.locator(".wy-about")).to_contain_text(text("why.grid_story"))
    opened.locator(".wy-how summary").click()
    zero.scroll_into_view_if_needed()
    settled(opened)
    top = "(one) => one.getBoundingClientRect().top"
    before = zero.evaluate(top)
    zero.click()
    expect(opened.locator(".wy-about")).to_contain_text(text("why.by_zero"))
    settled(opened)
    opened.wait_for_timeout(200)  # what was asked has come; the last of it still grows
    assert abs(zero.evaluate(top) - before) < 8
    expect(opened.locator(".wy-about")).not_to_contain_text(text("why.grid_story"))


def test_what_is_said_of_a_head_names_what_stands_in_its_place(opened: Page) -> None:
    """The story puts zero there, and may find that the answer rises where it falls with the mean."""
    opened.locator(".wy-how summary").click()
    for kind in ("zero", "mean"):
        opened.locator(f".wy-missed [data-choice={kind}]").click()
        expect(opened.locator(".wy-about")).to_contain_text(text(f"why.by_{kind}"))
        settled(opened)
        expect(opened.locator(".wy-missed .wy-read")).to_contain_text(f"({text(f'why.ablation_{kind}')})")


def test_after_another_text_the_choice_is_lit_that_is_measured(opened: Page) -> None:
    opened.locator(".wy-how summary").click()
    opened.locator(".wy-missed [data-choice=zero]").click()
    expect(opened.locator(".wy-about")).to_contain_text(text("why.by_zero"))
    opened.evaluate("(prompt) => glass.read(prompt)", EXAMPLES["en"][1])
    expect(opened.locator(".wy-about")).to_contain_text(text("why.by_mean"))
    for kind, lit in (("mean", "true"), ("zero", "false")):
        expect(opened.locator(f".wy-missed [data-choice={kind}]")).to_have_attribute("aria-pressed", lit)


def test_heads_numbers_stand_whole_or_beside_their_map(address: str, browser: Browser) -> None:
    """In a phone's columns they would be cut: then the chosen row's and column's alone are written, beside the map."""
    beside = re.compile(re.escape(text("marks.beside").split(":")[1]))
    for width, is_beside in ((1280, False), (390, True)):
        page = open_page(browser, f"{address}#lang=en", width, 844)
        ask(page)
        page.locator(".wy-how summary").click()
        expect(page.locator(".wy-missed canvas")).to_be_visible()
        hint = page.locator(".wy-missed .gp-note", has_text=beside)
        expect(hint).to_be_visible() if is_beside else expect(hint).to_have_count(0)
        leave(page)


def test_the_strip_says_why_its_head_opens_and_only_while_it_is_that_head(browser: Browser, address: str) -> None:
    page = open_page(browser, f"{address}#lang=en", 390, 844)
    strip = page.locator("section[data-kind=tokens]")
    start = page.evaluate("[glass.state.run.start.layer, glass.state.run.start.head]")
    assert page.evaluate("[glass.state.layer, glass.state.head]") == start
    for language in in_each_language(page):
        expect(strip).to_contain_text(text("tokens.opens", language))
    page.evaluate("([layer, head]) => glass.select({ layer, head: head ? 0 : 1 })", start)
    expect(strip).not_to_contain_text(text("tokens.opens"))
    page.evaluate("([layer, head]) => glass.select({ layer, head })", start)
    expect(strip).to_contain_text(text("tokens.opens"))
    page.evaluate("glass.open('attend')")
    expect(strip).not_to_contain_text(text("tokens.opens"))
    leave(page)


def test_a_strip_without_room_shows_the_selected_token(browser: Browser, address: str) -> None:
    """However it gets there: the strip is not laid out while the story is read, and a phone is turned."""
    seen = """() => {
      const strip = document.querySelector(".gp-chips");
      if (!strip) return false;
      const [outer, chip] = [strip, strip.children[glass.state.locked.query]].map((one) => one.getBoundingClientRect());
      return strip.scrollHeight > strip.clientHeight && chip.top >= outer.top - 1 && chip.bottom <= outer.bottom + 1;
    }"""
    page = open_page(browser, f"{address}#lang=en", 844, 390, story=True)
    page.evaluate("glass.open('attend')")
    page.wait_for_function(seen)
    page.set_viewport_size({"width": 390, "height": 844})
    page.set_viewport_size({"width": 740, "height": 360})
    page.wait_for_function(seen)
    leave(page)
