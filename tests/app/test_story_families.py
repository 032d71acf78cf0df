"""The stories of networks that are no LLaMA: each scene that has something to tell of one is drawn and told."""

import re
from typing import Any

import pytest
import transformers
from playwright.sync_api import Page, expect

from app.texts import LANGUAGES, text
from tests.app.family_page import families, read
from tests.app.looking import shown
from tests.app.test_families_on_page import CONFIGS as OTHERS
from tests.families import SIZES, Pair

pytestmark = pytest.mark.thorough

SMALL: dict[str, Any] = {"num_key_value_heads": 2, "intermediate_size": 80, "head_dim": 16}
CONFIGS = {name: config for name, (config, _) in OTHERS.items()} | {
    "llama": transformers.LlamaConfig(**SIZES | SMALL),
    "qwen": transformers.Qwen3Config(**SIZES | SMALL),
    "mixtral": transformers.MixtralConfig(**SIZES | SMALL, num_local_experts=4, num_experts_per_tok=2),
}
LATENT = {"deepseek"}
# whose attention is least like LLaMA's, and one that shares keys and values: these tell the answer's story, too
OWN = {"deepseek", "bloom", "llama"}
pairs, page = families(CONFIGS)


def told(page: Page, story: str) -> dict[str, str]:
    """The values of all scenes of a story that the network has, once each is drawn."""
    page.evaluate("(name) => glass.open(name)", story)
    scenes = page.locator(".st-told:not([hidden]) .st-scene")
    scenes.first.wait_for()
    found: dict[str, str] = {}
    for scene in scenes.all():
        if not scene.is_visible():
            continue
        scene.scroll_into_view_if_needed()
        expect(scene).to_have_attribute("data-value", re.compile("."))
        expect(scene).not_to_have_attribute("data-waits", "")
        if scene.get_attribute("data-guess") is not None:
            scene.locator(".st-guess button").first.click()
        said = scene.inner_text()
        assert not re.search(r"[{}]|undefined|NaN|\bstory[a-z-]*\.", said), said
        found[scene.get_attribute("data-scene") or ""] = scene.get_attribute("data-value") or ""
    return found


def names_what_the_network_has(page: Page) -> None:
    """The scene on keys and values: sharing is spoken of where heads share, and no LLaMA where there is none."""
    heads, kept = page.evaluate("[glass.state.trace.model.n_heads, glass.state.trace.model.n_kv_heads]")
    stop = page.locator(".st-told:not([hidden]) [data-stop=group]")
    if page.evaluate("Boolean(glass.state.trace.model.parts.latent)"):
        return expect(stop).to_be_hidden()
    form = "_mha" if kept == heads else "_mqa" if kept == 1 else ""
    scene = page.locator("[data-scene=group]")
    for language in LANGUAGES:
        page.click(f"#language [value={language}]")
        expect(stop).to_have_text(text(f"story.map_group{form}", language))
        scene.scroll_into_view_if_needed()  # it is drawn where somebody is near
        expect(scene.locator("h2")).to_have_text(text(f"story.group_title{form}", language))
    page.click("#language [value=en]")
    said = scene.locator(".st-says").inner_text()
    assert "LLaMA" not in said
    return None


@pytest.mark.parametrize("name", CONFIGS)
def test_what_a_story_tells_of_a_family_is_what_its_own_cache_holds(
    name: str, page: Page, pairs: dict[str, Pair]
) -> None:
    read(page, name, "The cat sleeps on the sofa.")
    if name in OWN:
        assert {"answer", "pieces", "looks", "layers", "choice", "cache"} <= set(told(page, "story"))
        names_what_the_network_has(page)
    found = told(page, "story-cache")
    assert ("kept" in found) == (name not in LATENT)
    tokens = page.evaluate("glass.state.trace.T")
    held = pairs[name].lm.net.cache(tokens).nbytes(tokens)
    assert f" held {held} measured {held} " in found["grows"]
    weights = sum(one.nbytes for one in pairs[name].lm.net.parameters())
    assert found["grows"].endswith(f" weights {weights}")
    if name in LATENT:
        assert "latent" in page.inner_text("[data-scene=prefill] .st-says")
    if page.evaluate("Boolean(glass.state.run.encoder)"):
        page.evaluate("glass.readStack('encoder')")
        expect(page.locator(".st-none:visible [role=status]")).to_have_text(text("story-cache.of_decoder"))
        assert told(page, "story-cache") == found  # the decoder's, whichever is chosen
        page.locator("[data-scene=grows] .st-more").click()  # and so is the panel behind
        shown(page, "kv-live", "")
        assert page.evaluate("glass.state.trace.model.parts.stack") == "decoder"
    page.evaluate("glass.open('story-learned')")
    expect(page.locator(".st-none:visible [role=status]")).to_have_text(text("story-learned.lacks"))
    expect(page.get_by_text(text("story-learned.end"))).to_be_hidden()  # nothing was told
