"""What the page says and takes while something runs: whose reading is awaited, what is measured, how far it is."""

import re
import threading
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from app.service import Service
from app.texts import text
from tests.app.looking import BOX, settled
from tests.one_of import one_of
from tests.page import leave, listen, new_page, open_page, wait_for_run, watched

PROMPT = "The dog plays in the yard. 猫在沙发上"
OTHER = "The cat sleeps on the sofa and the dog"
SAID = "(one) => getComputedStyle(one, '::before').content"
TOP = "(one) => one.getBoundingClientRect().top"


@pytest.fixture
def story(browser: Browser, panels_alone: str) -> Iterator[Page]:
    page = new_page(browser, panels_alone, story=True)
    with watched(page):
        page.goto(f"{panels_alone}#lang=en&prompt={quote(PROMPT)}")
        wait_for_run(page)
        settled(page)
        yield page
    page.unroute_all()
    leave(page)


class Holding:
    """What a page asks the server for, held until `go`: where the address, or what is sent, has these words in it."""

    def __init__(self, page: Page, words: str):
        self.page, self.words = page, words
        self.held: list[Route] = []
        self.over = False
        page.route("**/ask/**", self._take)

    def _take(self, route: Route) -> None:
        if not self.over and self.words in route.request.url + (route.request.post_data or ""):
            self.held.append(route)
        else:
            route.continue_()

    def wait(self) -> None:
        """Until something is held."""
        while not self.held:
            self.page.wait_for_timeout(20)

    def go(self) -> None:
        """Lets go of what is held, and holds nothing more."""
        self.over = True
        for route in self.held:
            route.continue_()


def enter(page: Page, prompt: str) -> None:
    page.fill(BOX, prompt)
    page.press(BOX, "Enter")


def test_what_is_of_the_sentence_before_is_dimmed_and_says_what_is_awaited(story: Page) -> None:
    name = story.evaluate("glass.modelName(glass.state.run.model.name)")
    said = f'"{text("page.reading", model=name)}"'
    scene, panel = story.locator("[data-scene=answer]"), story.locator("section[data-kind=tokens]")
    dim = scene.locator("h2"), panel.locator(".gp-body")
    runs = Holding(story, "ask/run")
    enter(story, OTHER)
    runs.wait()
    assert scene.evaluate(SAID) == said
    expect(dim[0]).to_have_css("opacity", "0.35")
    expect(story.locator(".page-device")).to_have_text(text("page.reading", model=name))
    story.click("#level [data-level=workbench]")
    assert panel.evaluate(SAID) == said
    expect(dim[1]).to_have_css("opacity", "0.35")
    story.evaluate("glass.setLanguage('zh')")
    story.wait_for_function("glass.state.language === 'zh'")
    name = story.evaluate("glass.modelName(glass.state.run.model.name)")
    assert panel.evaluate(SAID) == f'"{text("page.reading", "zh", model=name)}"'
    runs.go()
    story.wait_for_function("(prompt) => glass.state.trace.prompt === prompt", arg=OTHER)
    assert panel.evaluate(SAID) == "none"
    expect(dim[1]).to_have_css("opacity", "1")


def test_of_the_same_sentence_nothing_is_dimmed(story: Page) -> None:
    runs = Holding(story, "ask/run")
    enter(story, PROMPT)
    runs.wait()
    assert story.locator("[data-scene=answer]").evaluate(SAID) == "none"
    runs.go()
    wait_for_run(story)


def test_an_answer_that_comes_after_a_later_one_is_not_shown(story: Page) -> None:
    """The other way round than they were asked for."""
    slow = Holding(story, "ask/recall")
    story.evaluate("void glass.read('The cat is')")
    slow.wait()
    enter(story, OTHER)
    story.wait_for_function("(prompt) => glass.state.trace.prompt === prompt", arg=OTHER)
    slow.go()
    story.wait_for_function("!glass.asking()")
    assert story.evaluate("glass.state.trace.prompt") == OTHER
    expect(story.locator(BOX)).to_have_value(OTHER)


def hold_runs(monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, list[object]]:
    """Has the server's runs wait for an event; gives that, and the prompts that were asked for."""
    gate, asked, run = threading.Event(), list[object](), Service.run

    def slow(self: Service, prompt: object, *given: object) -> object:
        asked.append(prompt)
        gate.wait(60)
        return run(self, prompt, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Service, "run", slow)
    return gate, asked


@pytest.mark.gradio
def test_a_sentence_that_is_entered_during_a_run_is_run_next_and_alone_shown(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, asked = hold_runs(monkeypatch)
    page.evaluate("window.shown = []; glass.on('run', ({ prompt }) => shown.push(prompt)); 0")
    enter(page, "The dog")
    while not asked:
        page.wait_for_timeout(20)
    enter(page, OTHER)
    page.type(BOX, " and")  # which is typed on, but not entered
    assert page.evaluate("glass.state.awaited.prompt") == OTHER
    gate.set()
    page.wait_for_function("(prompt) => glass.state.trace.prompt === prompt", arg=OTHER)
    wait_for_run(page)
    assert asked == ["The dog", OTHER]
    assert page.evaluate("shown") == [OTHER]


def test_an_empty_prompt_takes_the_place_of_no_text_that_is_read(story: Page) -> None:
    slow = Holding(story, "ask/recall")
    story.evaluate(f"void glass.read({OTHER!r})")
    slow.wait()
    for empty in ("", "  "):
        enter(story, empty)
        said = text("message.prompt_blank" if empty else "message.prompt_empty")
        expect(story.locator(".page-message")).to_have_text(said)
        assert story.evaluate("[glass.state.status, glass.state.awaited.prompt]") == ["running", OTHER]
    slow.go()
    story.wait_for_function("(prompt) => glass.state.trace.prompt === prompt", arg=OTHER)
    wait_for_run(story)
    expect(story.locator(BOX)).to_have_value(OTHER)


@pytest.mark.gradio
def test_a_run_is_shown_though_an_empty_prompt_was_entered_meanwhile(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, asked = hold_runs(monkeypatch)
    page.evaluate("window.shown = []; glass.on('run', ({ prompt }) => shown.push(prompt)); 0")
    enter(page, OTHER)
    while not asked:
        page.wait_for_timeout(20)
    page.fill(BOX, "")
    page.click("#run")
    assert page.evaluate("glass.state.awaited.prompt") == OTHER
    gate.set()
    page.wait_for_function("(prompt) => glass.state.trace.prompt === prompt", arg=OTHER)
    expect(page.locator(".page-message")).to_have_text(text("message.prompt_empty"))
    wait_for_run(page)
    assert asked == [OTHER, ""]
    assert page.evaluate("shown") == [OTHER]


def test_what_can_be_done_to_an_answer_waits_for_the_sentence_that_comes_and_then_does_it(story: Page) -> None:
    swap = story.locator(".st-swaps button").first
    swap.click()
    story.wait_for_function("(prompt) => glass.state.trace.prompt !== prompt", arg=PROMPT)
    settled(story)
    recalled = Holding(story, "ask/recall")
    story.click("[data-act=back]")
    recalled.wait()
    for button in story.locator(".st-try button").all():
        expect(button).to_be_disabled()
    recalled.go()
    story.wait_for_function("(prompt) => glass.state.trace.prompt === prompt", arg=PROMPT)
    story.click("[data-act=heads]")
    story.wait_for_function("glass.state.trace.changes.heads?.length")


def test_heads_that_are_measured_are_counted(browser: Browser, bundled: str) -> None:
    page = open_page(browser, f"{bundled}#lang=en", story=True)
    settled(page)
    first = Holding(page, '"start":0')
    page.click("[data-act=heads]")
    says, bar = page.locator(".st-try [role=status]"), page.locator(".st-measured")
    expect(says).to_have_text(text("story.did_wait"))
    assert bar.evaluate("(one) => [one.hasAttribute('value'), one.value]") == [True, 0]
    expect(page.locator("[data-act=back]")).to_have_text(text("story.act_stop"))  # there is nothing to undo yet
    later = Holding(page, '"heads"')
    first.go()
    later.wait()
    done, total = bar.evaluate("(one) => [one.value, one.max]")
    assert 0 < done < total == page.evaluate("glass.state.trace.model.n_layers * glass.state.trace.model.n_heads")
    expect(says).to_have_text(text("story.did_wait_part", done=int(done), total=int(total)))
    later.go()
    page.wait_for_function("glass.state.trace.changes.heads?.length")
    expect(page.locator("[data-act=back]")).to_have_text(text("story.act_back"))
    leave(page)


def test_a_question_stands_while_its_answer_is_measured(story: Page) -> None:
    lens = Holding(story, '"lens"')
    enter(story, OTHER)
    story.wait_for_function("(prompt) => glass.state.trace.prompt === prompt", arg=OTHER)
    scene = story.locator("[data-scene=layers]")
    scene.scroll_into_view_if_needed()
    lens.wait()
    expect(scene.locator("h2")).to_have_text(text("story.layers_title"))
    expect(scene.locator("h2")).to_be_visible()
    expect(scene.locator(".st-waits")).to_have_text(text("story.waits_lens"))
    expect(scene.locator(".st-waits")).to_be_visible()
    lens.go()
    expect(scene).not_to_have_attribute("data-waits", "")


def test_scenes_that_wait_for_the_head_that_they_follow_say_so_with_a_bar(browser: Browser, bundled: str) -> None:
    page = new_page(browser, bundled, story=True)
    apart = Holding(page, '"told_apart"')
    page.goto(f"{bundled}#lang=en")
    wait_for_run(page)
    for name in ("norm", "looks", "rope", "carried", "layers"):
        scene = page.locator(f"[data-scene={name}]")
        scene.scroll_into_view_if_needed()
        line = scene.locator(".st-waits")
        expect(line).to_have_text(text("story.waits_head"))
        bar = line.get_by_role("progressbar", name=text("story.waits_head"))
        expect(bar).to_be_visible()
        assert bar.evaluate("(one) => one.position") == -1  # how far it is nobody knows
    apart.go()
    page.wait_for_function("!document.querySelector('.st-scene[data-waits]:not([hidden])')")
    leave(page)


def test_a_scene_says_how_far_it_is_with_what_a_long_text_rests_on(browser: Browser, bundled: str) -> None:
    page = new_page(browser, bundled, story=True)
    page.goto(f"{bundled}#lang=en")
    wait_for_run(page)
    settled(page)
    later = Holding(page, '"start":189')  # the second part
    enter(page, "The cat sleeps on the sofa. " * 40)
    page.wait_for_function("glass.state.trace.T > 200")
    scene = page.locator("[data-scene=norm]")
    scene.scroll_into_view_if_needed()
    line = scene.locator(".st-waits")
    later.wait()
    done, total = 189, page.evaluate("glass.state.trace.T")
    expect(line).to_contain_text(text("story.waits_rests"))
    expect(line).to_contain_text(text("story.waits_tokens", done=done, total=total))
    assert line.locator("progress").evaluate("(one) => [one.value, one.max]") == [done, total]
    later.over = True
    leave(page)


# The text that is seen of every scene, by name. Of what is hidden `innerText` has nothing.
SEEN = """() => Object.fromEntries([...document.querySelectorAll(".st-told:not([hidden]) .st-scene:not([hidden])")]
  .map((one) => [one.dataset.scene, one.innerText.trim()]))"""


def look_through(page: Page) -> None:
    """To every scene of the story that is open, and back to the first."""
    scenes = page.locator(".st-told:not([hidden]) .st-scene:not([hidden])")
    for scene in [*scenes.all(), scenes.first]:
        scene.scroll_into_view_if_needed()
        scene.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def await_all_but(page: Page, held: Holding) -> None:
    """Until the server has answered all that is not held, and the page is drawn with that."""
    held.wait()
    while page.evaluate("glass.asking()") > len(held.held):
        page.wait_for_timeout(20)
    page.wait_for_function("glass.drawn()")


@pytest.mark.parametrize(
    ("told", "awaited"),
    one_of([("story", '"looks_back"'), ("story-cache", "ask/detail"), ("story-learned", "ask/detail")]),
)
def test_of_the_run_before_nothing_stands_in_a_scene(browser: Browser, bundled: str, told: str, awaited: str) -> None:
    """What is seen is what a page shows that has read nothing before."""
    first, then = (
        "Lily is in the garden. Tom is in the kitchen. Lily is in the",
        "The bird sings. Where is the bird? It",
    )
    seen = list[dict[str, str]]()
    for has_read in (True, False):
        page = new_page(browser, bundled, story=True)
        page.goto(f"{bundled}#lang=en&chapter={told}&prompt={quote(first if has_read else then)}")
        held = None if has_read else Holding(page, awaited)
        wait_for_run(page)
        if has_read:
            settled(page)
            look_through(page)
            settled(page)
            look_through(page)
            settled(page)
            page.locator(".st-told:not([hidden]) details.st-fold").evaluate_all(
                "(all) => all.map((one) => one.open = 1)"
            )
            assert any("garden" in one for one in page.evaluate(SEEN).values()) or told == "story-learned"
            held = Holding(page, awaited)
            enter(page, then)
            page.wait_for_function("(prompt) => glass.state.trace.prompt === prompt", arg=then)
            page.wait_for_function("glass.drawn()")
            far = page.evaluate(SEEN)
            assert not [name for name, words in far.items() if "garden" in words or "kitchen" in words]
        assert held
        look_through(page)
        await_all_but(page, held)
        look_through(page)
        await_all_but(page, held)
        page.locator(".st-told:not([hidden]) details.st-fold").evaluate_all("(all) => all.map((one) => one.open = 1)")
        waiting = page.locator(".st-told:not([hidden]) .st-scene[data-waits]:not([hidden])")
        assert waiting.count() or told == "story-cache"
        seen.append(page.evaluate(SEEN))
        held.go()
        settled(page)
        leave(page)
    assert seen[0] == seen[1]


def test_what_is_worked_out_of_sizes_waits_for_nothing_that_is_measured(story: Page) -> None:
    held = Holding(story, "ask/detail")
    enter(story, OTHER)
    story.wait_for_function("(prompt) => glass.state.trace.prompt === prompt", arg=OTHER)
    tokens, m = story.evaluate("glass.state.trace.T"), story.evaluate("glass.state.trace.model")
    each = 2 * m["n_layers"] * m["head_dim"] * 4 * m["n_kv_heads"]
    told = {"group": f" bytes {each} of ", "cache": f"tokens {tokens} bytes {tokens * each}"}
    for name, value in told.items():
        scene = story.locator(f"[data-scene={name}]")
        scene.scroll_into_view_if_needed()
        expect(scene).to_have_attribute("data-value", re.compile(re.escape(value)))
        expect(scene.locator(".st-says")).to_be_visible()
    held.go()


def test_the_button_that_writes_says_that_it_is_under_way(story: Page) -> None:
    button = story.locator("[data-scene=cache]").get_by_text(text("story.cache_write"))
    story.locator("[data-scene=cache]").scroll_into_view_if_needed()
    written = Holding(story, "ask/step")
    button.click()
    written.wait()
    busy = story.locator("[data-scene=cache] [aria-busy=true]")
    expect(busy).to_have_text(text("story.cache_writing"))
    expect(busy).to_be_disabled()
    written.go()
    expect(button).to_be_enabled()
    assert story.evaluate("glass.state.trace.steps.length") == 1


def test_nothing_moves_above_the_words_of_an_answer_as_its_parts_come(story: Page) -> None:
    rests = Holding(story, "ask/detail")
    enter(story, "The dog plays in the garden. 猫在沙发上")
    story.wait_for_function("glass.state.trace.prompt.includes('garden')")
    says = story.locator("[data-scene=answer] .st-says")
    rests.wait()
    story.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    before = says.evaluate(TOP)
    assert story.locator(".st-try button").count() == 0
    rests.go()
    story.locator(".st-swaps button").first.wait_for()
    assert says.evaluate(TOP) == before
    assert story.locator(".st-try").evaluate(TOP) > before


def test_a_scene_that_was_pressed_is_gone_to_when_it_is_there(browser: Browser, bundled: str) -> None:
    page = new_page(browser, bundled, story=True)
    page.emulate_media(reduced_motion="reduce")
    told = Holding(page, '"told_apart"')
    page.goto(f"{bundled}#lang=en&chapter=story")
    wait_for_run(page)
    page.locator("[data-stop=match]").click()
    told.wait()
    line = page.locator(".st-wished:visible")
    expect(line).to_have_text(text("story.wished_waits", scene=text("story.map_match")))
    told.go()
    expect(page.locator("[data-scene=match] h2")).to_be_in_viewport()
    expect(line).to_have_count(0)
    leave(page)


def test_another_sentence_begins_at_the_temperature_that_changes_nothing(story: Page) -> None:
    scene = story.locator("[data-scene=choice]")
    scene.scroll_into_view_if_needed()
    scene.locator("input").fill("3")
    expect(scene).to_have_attribute("data-value", re.compile("temperature 3.0"))
    enter(story, OTHER)
    story.wait_for_function("(prompt) => glass.state.trace.prompt === prompt", arg=OTHER)
    scene.scroll_into_view_if_needed()
    expect(scene).to_have_attribute("data-value", re.compile("temperature 1.0"))


def test_the_workbench_opens_at_the_head_of_the_story_that_was_read_after_another(
    browser: Browser, bundled: str
) -> None:
    """Also where a place was chosen in the run before, and the story was left while it was read."""
    page = open_page(browser, f"{bundled}#lang=en&chapter=story", story=True)
    page.click("#level [data-level=workbench]")
    page.evaluate("glass.select({ layer: 7, head: 1 })")
    page.click("#level [data-level=story]")
    runs = Holding(page, "ask/run")
    enter(page, "Lily is in the garden. Tom is in the kitchen. Lily is in the")
    runs.wait()
    page.click("#level [data-level=workbench]")
    runs.go()
    page.wait_for_function("glass.state.trace.prompt.startsWith('Lily')")
    settled(page)
    opened = page.evaluate("[glass.state.layer, glass.state.head]")
    page.click("#level [data-level=story]")
    place = page.locator("[data-scene=looks]")
    place.scroll_into_view_if_needed()
    settled(page)
    found = re.match(r"layer (\d+) head (\d+) ", place.get_attribute("data-value") or "")
    assert found
    assert [int(found[1]), int(found[2])] == opened
    leave(page)


def told_all(page: Page) -> None:
    """Until every scene of the story is told, and nothing is asked for any more."""
    for _ in range(2):
        look_through(page)
        settled(page)
    assert not page.locator(".st-told:not([hidden]) .st-scene:not([hidden])[data-waits]").count()


def test_what_was_answered_is_not_measured_again_when_a_change_is_taken_back(browser: Browser, bundled: str) -> None:
    first = "Lily is in the garden. Tom is in the kitchen. Lily is in the"
    page = new_page(browser, bundled, story=True)
    page.goto(f"{bundled}#lang=en&prompt={quote(first)}")
    wait_for_run(page)
    told_all(page)
    seen, run = page.evaluate(SEEN), page.evaluate("glass.state.run.id")
    asked: list[str] = []
    listen(page, "request", lambda request: asked.append(request.post_data or "") if "ask/" in request.url else None)
    for act, words in (("heads", None), ("word", ".st-swaps button")):
        page.locator(words or f"[data-act={act}]").first.click()
        page.wait_for_function("(run) => glass.state.run.id !== run", arg=run)
        told_all(page)
        assert any('"rests"' in one for one in asked)
        assert page.evaluate(SEEN) != seen
        asked.clear()
        changed = page.evaluate("glass.state.run.id")
        page.click("[data-act=back]")
        page.wait_for_function("(run) => glass.state.run.id !== run", arg=changed)
        told_all(page)
        assert page.evaluate(SEEN) == seen
        run = page.evaluate("glass.state.run.id")
        assert not [one for one in asked if run in one and '"what"' in one]
        asked.clear()
    leave(page)
