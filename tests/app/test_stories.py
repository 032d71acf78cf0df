"""The stories of the KV cache and of how the model learned, told in both languages.

The model is the stand-in with a training log and an evaluation beside it: these are the numbers of no trained weights.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

import model
from app.engine import LocalEngine
from app.session import Runs
from app.texts import LANGUAGES, on_demand_file, text, text_file
from model.analysis.cacheless import multiply_adds
from tests.app.looking import faults, number, scene_of, settled
from tests.app.test_lessons import LEGIBLE, SMALL
from tests.app.test_ways_of_the_story import FILLED, GEOMETRY
from tests.page import leave, new_page, wait_for_run, watched
from tests.peer import Peer
from tests.plain import plain_site
from tests.standin import make_checkpoint
from visuals.overview_training import SKILLS

PROMPT = "The cat sleeps on the sofa."
CACHE = ("prefill", "decode", "kept", "query", "saves", "grows", "shares", "predict")
LEARNED = ("corpus", "loss", "skills", "induction", "cannot", "attempt")
SCENES = {"story-cache": CACHE, "story-learned": LEARNED}
WORDS = 45
STAGES = ("patterns", "bindings", "backwards", "stories")
READ = [250_000 * (i + 1) for i in range(8)]
HELDOUT = [4.0, 3.0, 2.5, 2.2, 3.1, 2.9, 1.6, 1.25]
INDUCTION = [0.0, 0.1, 0.85, 0.95, 1.0, 0.99, 0.98, 0.97]  # leaps in "bindings", and is known in it
OTHERS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.91, 0.92]  # known in "stories"
NEVER = [0.0, 0.1, 0.1, 0.2, 0.2, 0.3, 0.3, 0.4]
MEASURED = (
    ("induction", "en", 198, 200, 0.98),
    ("counting", "digits", 31, 200, 0.95),
    ("recall", "zh", 200, 200, 0.95),
)


def log() -> list[dict[str, Any]]:
    kinds = [kind for of, _, _ in SKILLS.values() for kind in of]
    lines = []
    for i, tokens in enumerate(READ):
        answers = dict.fromkeys(kinds, OTHERS[i]) | {"induction": INDUCTION[i], "counting": NEVER[i]}
        line = {"stage": STAGES[i // 2], "tokens": tokens, "loss": 1.0, "heldout": HELDOUT[i], "answers": answers}
        lines.append(line)
    return lines


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stand-in, with how it came to be beside it."""
    directory = make_checkpoint(tmp_path_factory.mktemp("models") / "logged", max_position_embeddings=1024)
    (directory / "training_log.jsonl").write_text("\n".join(map(json.dumps, log())))
    names = ("name", "language", "right", "cases", "bar")
    figures = [dict(zip(names, line, strict=True)) for line in MEASURED]
    (directory / "evaluation.json").write_text(json.dumps({"figures": figures}))
    return directory


@pytest.fixture(scope="module")
def lm(checkpoint: Path) -> model.LanguageModel:
    return model.load(checkpoint, device="cpu")


@pytest.fixture(scope="module")
def panels_alone(lm: model.LanguageModel) -> Iterator[str]:
    """In the place of the page over models without a log."""
    with plain_site(LocalEngine([lm]), Runs()) as address:
        yield address


@pytest.fixture
def page(browser: Browser, panels_alone: str) -> Iterator[Page]:
    page = new_page(browser, panels_alone, story=True)
    with watched(page):
        page.goto(f"{panels_alone}#chapter=story-cache&prompt={quote(PROMPT)}")
        wait_for_run(page)
        yield page
    leave(page)


def value(page: Page, scene: str) -> str:
    """What a scene shows, once it is drawn."""
    return scene_of(page, scene).get_attribute("data-value") or ""


def whole(page: Page, scene: str, name: str) -> int:
    """A whole number of a scene by the word before it."""
    found = re.search(rf"\b{name} (\d+)", value(page, scene))
    assert found, (scene, name)
    return int(found[1])


def look_over(page: Page, story: str) -> None:
    """In both languages, on a telephone, in the dark: brief, whole, legible."""
    page.set_viewport_size({"width": 360, "height": 740})
    page.click("#theme")
    for code in reversed(LANGUAGES):
        page.click(f"#language button[value={code}]")
        page.wait_for_function("(code) => glass.state.language === code", arg=code)
        for scene in SCENES[story]:
            value(page, scene)
            said = page.locator(f"[data-scene={scene}]")
            assert said.locator("svg text").evaluate_all(
                "(all) => all.every((one) => one.getBoundingClientRect().left >= "
                "one.ownerSVGElement.getBoundingClientRect().left - 1)"
            ), scene
            assert not re.search(r"[{}]|\bstory[a-z-]*\.", said.inner_text()), said.inner_text()
            words = said.locator(".st-says").inner_text().split()
            assert words
            if code == "en":
                assert len(words) <= WORDS + 6, (len(words), words)  # numbers with their signs count as words
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert faults(page, "dark", ".page-story") == []


# Which names of a grid's columns lie over the one before.
OVERLAPPING = """(grid) => {
  const boxes = [...grid.querySelectorAll("text[transform]")].map((one) => one.getBoundingClientRect());
  return boxes.slice(1).filter(({ left }, i) => left < boxes[i].right - 4).length; // a line has room above its letters
}"""


def test_what_is_new_in_the_cache_is_not_lit_before_the_question_is_answered(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    scene = page.locator("[data-scene=decode]")
    for prompt in ("The cat sleeps on the sofa. " * 4 + "The", "汤姆在厨房里。莉莉在花园里。" * 4 + "汤姆"):
        page.evaluate("(prompt) => glass.read(prompt)", prompt)
        page.wait_for_function("(prompt) => glass.state.trace.prompt === prompt", arg=prompt)
        wait_for_run(page)
        value(page, "decode")
        page.evaluate("document.querySelector('#step').click()")
        page.wait_for_function("glass.state.trace.T > glass.state.trace.nPrompt && glass.state.status === 'idle'")
        new = scene.locator("g.is-new rect").first
        expect(new).to_be_visible()
        read = scene.locator("g:not(.is-new) rect").first
        opacity = "(one) => getComputedStyle(one).fillOpacity"
        expect(new).to_have_css("stroke", "none")
        assert new.evaluate(opacity) == read.evaluate(opacity)
        assert scene.locator("svg").evaluate(OVERLAPPING) == 0
        scene.locator(".st-guess button").first.click()
        expect(new).not_to_have_css("stroke", "none")
        assert new.evaluate(opacity) > read.evaluate(opacity)


def test_the_story_of_the_cache_says_what_the_cache_holds(
    page: Page, lm: model.LanguageModel, checkpoint: Path
) -> None:
    config = lm.config
    assert isinstance(config, model.LlamaConfig)
    each = config.n_layers * config.n_kv_heads * 2 * config.head_dim * 4
    prompt = page.evaluate("glass.state.trace.nPrompt")
    assert value(page, "prefill") == f"tokens {prompt} layers {config.n_layers} bytes {each * prompt}"

    scene = page.locator("[data-scene=decode]")
    value(page, "decode")
    expect(scene.locator(".st-says")).to_be_hidden()  # first the question
    expect(scene.get_by_role("button", name=text("story.cache_write"))).to_be_hidden()  # which would answer it
    scene.locator(".st-guess button").nth(1).click()
    expect(scene.locator("button.is-right")).to_have_text("✓ " + text("story-cache.decode_column"))
    expect(scene.locator(".st-says")).to_be_visible()
    meets = text("story-cache.columns", count=prompt + 1)  # the new token's own as well
    expect(scene.locator(".st-says")).to_contain_text(meets)
    before = page.locator("[data-scene=decode] .st-grid g").count()
    scene.get_by_role("button", name=text("story.cache_write")).click()
    page.wait_for_function("(T) => glass.state.trace.T > T && glass.state.status === 'idle'", arg=prompt)
    expect(scene.locator(".st-grid g.is-new")).to_have_count(config.n_layers)  # one column
    assert scene.locator(".st-grid g").count() == before + config.n_layers
    tokens = page.evaluate("glass.state.trace.T")
    assert value(page, "decode") == f"held {tokens} written {tokens - prompt} each {each}"
    expect(scene.locator(".st-says")).to_contain_text(meets)  # still answered: it is the same text

    assert whole(page, "kept", "bytes") == each // config.n_layers
    last = page.evaluate("""async () => {
      const [{ named }, { labelsOf }] = await Promise.all(
        ["panels/glance/words.js", "characters.js"].map((file) => import(`/glass/${file}`)),
      );
      return named(glass.text, labelsOf(glass.state.trace.tokens.pieces), glass.state.trace.T - 1);
    }""")
    expect(page.locator("[data-scene=kept] .st-says")).to_contain_text(last)  # one of several by its position
    layer, head = whole(page, "query", "layer"), whole(page, "query", "head")
    peer = Peer(checkpoint, page.evaluate("glass.state.trace.tokens.ids"))
    weight = float(peer.run.attentions[layer][0, head, -1, 0])
    assert number(value(page, "query"), "first") == pytest.approx(weight, rel=6e-5, abs=2e-5)
    assert whole(page, "query", "more") == config.n_layers * config.n_heads * config.head_dim * 4

    for n in (tokens, 1000):
        page.locator("[data-scene=saves] input").evaluate(
            "(one, to) => { one.value = to; one.dispatchEvent(new Event('input')); }", n
        )
        expect(page.locator("[data-scene=saves]")).to_have_attribute("data-value", re.compile(f"^tokens {n} "))
        assert whole(page, "saves", "cached") == multiply_adds(config, 1, n - 1)
        assert whole(page, "saves", "full") == multiply_adds(config, n, 0)
    page.get_by_role("button", name=text("story-cache.saves_act")).click()
    expect(page.locator("[data-scene=saves]")).to_have_attribute("data-value", re.compile(r"measured [1-9]"))

    weights = sum(one.nbytes for one in lm.net.parameters())
    held = f"held {each * tokens} measured {each * tokens} weights {weights}"
    assert value(page, "grows") == f"tokens {tokens} each {each} {held}"
    assert f"GQA={each} " in value(page, "shares")
    assert f"MHA={each * config.n_heads // config.n_kv_heads} " in value(page, "shares")
    llama = model.catalogue()["Llama-3 8B"]
    large = [model.kv_cache_bytes(llama, tokens=n, batch=1, dtype="bf16") for n in (2048, 8192)]
    assert value(page, "predict") == f"tokens 2048 bytes {large[0]} then 8192 bytes {large[1]}"

    page.emulate_media(reduced_motion="reduce")
    page.click("[data-stop=predict]:visible")
    expect(page.locator("[data-stop=predict]:visible")).to_have_attribute("aria-current", "step")
    expect(page.locator("[data-scene=predict] .st-picture")).to_be_hidden()  # it would give the answer away
    page.keyboard.press(" ")  # to the answer
    expect(page.locator("[data-scene=predict] .st-picture")).to_be_visible()
    shown = text("story.guess_shown", choice=f"{large[1] / 2**30:g} GiB")  # which nobody guessed
    expect(page.get_by_role("button", name=shown, exact=True)).to_have_class(re.compile("is-shown"))
    expect(page.locator("[data-scene=predict] .st-guess")).not_to_contain_text("✓")
    page.click("[data-stop=query]:visible")
    page.locator("[data-scene=query] .st-more").click()
    expect(page.locator("section[data-kind=kv-live]")).to_be_in_viewport()
    assert page.evaluate("glass.state.chapter") == "kv"
    page.click(".page-back button >> nth=0")
    expect(page.locator("[data-scene=query]")).to_be_in_viewport()
    assert "chapter=story-cache" in page.evaluate("glass.address()")

    page.evaluate("glass.read('The cat')")
    page.wait_for_function("glass.state.trace.prompt === 'The cat' && glass.state.status === 'idle'")
    value(page, "decode")
    expect(scene).to_have_attribute("data-guess", "")  # of another text it is asked again
    expect(scene.locator(".st-guess")).not_to_contain_text("✓")
    page.locator("[data-scene=predict]").scroll_into_view_if_needed()
    expect(page.locator("[data-scene=predict][data-guess]")).to_have_count(0)  # it is about no text
    look_over(page, "story-cache")


@pytest.mark.thorough
def test_the_story_of_how_it_learned_says_what_the_log_says(page: Page) -> None:
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    settled(page)  # scenes that are drawn on the way move what is pressed
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.click(".st-end:visible [data-story=story-learned]")
    assert whole(page, "corpus", "tokens") == READ[-1]
    assert whole(page, "corpus", "stages") == len(STAGES)
    loss = value(page, "loss")
    assert [number(loss, name) for name in ("first", "last")] == [HELDOUT[0], HELDOUT[-1]]
    assert number(loss, "p") == pytest.approx(2.718281828459045 ** -HELDOUT[-1], rel=1e-4)
    rise = text("story-learned.loss_rise", number=3, **{"from": "2.20", "to": "3.10"})  # "backwards"
    assert rise in page.inner_text("[data-scene=loss]")
    begins = text("story-learned.loss_first", read="250\u00a0thousand")
    assert begins in page.inner_text("[data-scene=loss]")
    skills = dict(one.split("=") for one in value(page, "skills").split())
    assert skills["induction"] == str(READ[3])
    assert skills["counting"] == "Infinity"
    assert {at for name, at in skills.items() if name not in {"induction", "counting"}} == {str(READ[6])}
    scene = page.locator("[data-scene=skills]")
    expect(scene.locator(".st-picture")).to_be_hidden()
    scene.locator("button[data-choice]", has_text=text("training.skill_induction")).click()
    expect(scene.locator("button.is-right")).to_have_text("✓ " + text("training.skill_induction"))
    expect(scene.locator("tbody tr").last).to_contain_text(text("training.skill_counting"))  # it never came
    assert value(page, "induction") == f"before=0.10000 share=0.85000 tokens {READ[2]} end=0.97000"
    assert value(page, "cannot") == "lines 3 short 1 lowest counting share=0.15500"
    attempt = page.locator("[data-scene=attempt]")
    above = attempt.get_by_text(text("story-learned.attempt_own"))
    expect(above).to_be_visible()
    page.evaluate("document.documentElement.requestFullscreen = undefined")  # its window keeps its size
    page.click(".st-large")
    expect(above).to_be_hidden()  # there is no field above on a projector
    page.keyboard.press("Escape")
    expect(above).to_be_visible()
    attempt.locator("button.st-act").click()
    page.wait_for_function("(prompt) => glass.state.trace.prompt === prompt", arg=text("story-learned.sequence"))
    wait_for_run(page)
    best = page.evaluate("glass.state.trace.next.ids[0]")
    assert value(page, "attempt").startswith(f"answer {best} p=")
    page.go_back()  # the run before
    page.go_back()  # and the story before
    page.wait_for_function("glass.state.chapter === 'story-cache'")
    page.go_forward()
    page.wait_for_function("glass.state.chapter === 'story-learned'")
    look_over(page, "story-learned")


def test_space_comes_to_every_scene_on_a_large_screen(page: Page) -> None:
    """Also to those that are not as tall as the line is low at which a scene is read, and to the last."""
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": 1920, "height": 1080})
    for scene in CACHE:
        value(page, scene)
    page.evaluate("scrollTo(0, 0)")
    marked = page.locator(".st-told:not([hidden]) .st-stop[aria-current]")
    expect(marked).to_have_attribute("data-stop", CACHE[0])
    for scene in CACHE[1:]:
        page.keyboard.press(" ")
        expect(marked).to_have_attribute("data-stop", scene)
        if page.locator(f"[data-scene={scene}][data-guess]").count():
            page.keyboard.press(" ")  # to the answer
            expect(page.locator(f"[data-scene={scene}][data-guess]")).to_have_count(0)
            expect(marked).to_have_attribute("data-stop", scene)


def opened(page: Page, story: str) -> None:
    """One of the two stories, with all of its scenes drawn and no question left open."""
    page.evaluate("(story) => glass.open(story)", story)
    for scene in SCENES[story]:
        value(page, scene)
        guess = page.locator(f"[data-scene={scene}] .st-guess button:visible")
        if page.locator(f"[data-scene={scene}][data-guess='']").count() and guess.count():
            guess.first.click()
    settled(page)


@pytest.mark.parametrize("story", SCENES)
def test_no_text_of_a_story_is_small_on_a_projector(page: Page, story: str) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.evaluate("document.documentElement.requestFullscreen = undefined")  # its window keeps its size
    opened(page, story)
    page.locator(f"[data-stop={SCENES[story][0]}]:visible").click()
    page.evaluate("document.querySelector('.st-large').click()")
    page.locator("body[data-large]").wait_for()
    page.keyboard.press("Shift")  # a reader who does something: the scene that was read is held in view no longer
    for scene in SCENES[story]:
        place = page.locator(f"[data-scene={scene}]:visible")
        place.evaluate("(one) => one.scrollIntoView({ block: 'start', behavior: 'instant' })")
        settled(page)
        assert place.evaluate("(one) => one.getBoundingClientRect().top < innerHeight / 2"), scene
        assert page.evaluate(SMALL, LEGIBLE) == [], scene
        place.evaluate("(one) => one.scrollIntoView({ block: 'end', behavior: 'instant' })")
        assert page.evaluate(SMALL, LEGIBLE) == [], scene


@pytest.mark.parametrize("story", SCENES)
def test_who_asks_for_less_motion_sees_what_the_motion_ends_in(page: Page, story: str) -> None:
    found: dict[str, dict[str, list[str]]] = {}
    moving = "(scene) => scene.getAnimations({ subtree: true }).filter((one) => one.playState === 'running').length"
    for motion in ("no-preference", "reduce"):
        page.emulate_media(reduced_motion=motion)
        page.reload()
        wait_for_run(page)
        opened(page, story)
        found[motion] = {}
        for name in SCENES[story]:
            scene = page.locator(f"[data-scene={name}]:visible")
            for slider in scene.locator("input[type=range]").all():
                slider.evaluate("(one) => { one.value = one.max; one.dispatchEvent(new Event('input')); }")
            settled(page)
            if motion == "reduce":
                assert scene.evaluate(moving) == 0, name
            page.wait_for_function(f"(scene) => ({moving})(scene) === 0", arg=scene.element_handle())
            found[motion][name] = scene.evaluate(GEOMETRY)
    for name in SCENES[story]:
        assert found["reduce"][name] == found["no-preference"][name], name


@pytest.mark.parametrize("story", SCENES)
def test_of_a_story_s_buttons_one_is_the_first(page: Page, story: str) -> None:
    """What is to be pressed first: in a scene no more than one, and of the whole the way on, at its end."""
    opened(page, story)
    for scene in SCENES[story]:
        found = page.evaluate(FILLED, f"[data-scene={scene}]")
        assert len(found) <= 1, (scene, found)
    assert len(page.evaluate(FILLED, ".page-story")) == 1


def test_every_text_of_the_stories_is_there_in_both_languages() -> None:
    for story, scenes in SCENES.items():
        tables = [json.loads(on_demand_file(code).read_text(encoding="utf-8"))[story] for code in LANGUAGES]
        assert tables[0].keys() == tables[1].keys()
        named = {name.split("_")[0] for name in tables[0]}
        assert named <= {*scenes, "map", "lacks", "of", "end", "grid", "layer", "key", "value", "columns", "tokens"} | {
            "sequence", "skill", "pairs"
        }  # fmt: skip
        assert not any(story in json.loads(text_file(code).read_text(encoding="utf-8")) for code in LANGUAGES)
