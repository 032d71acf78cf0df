"""The tour's first stops with networks that are no LLaMA: each says what its panel shows of the parts there are."""

from typing import Any

import pytest
import transformers
from playwright.sync_api import Page

from tests.app.family_page import families, read
from tests.app.test_families_on_page import CONFIGS as OTHERS
from tests.app.test_tour import SAME, arrive, check_numbers, check_place, set_out
from tests.families import SIZES

STOPS = ("tokens", "embedding", "norm", "project", "rope", "head", "match", "softmax")
SMALL: dict[str, Any] = {"num_key_value_heads": 2, "intermediate_size": 80, "head_dim": 16}
CONFIGS = {name: config for name, (config, _) in OTHERS.items()} | {
    "llama": transformers.LlamaConfig(**SIZES | SMALL),
    "qwen": transformers.Qwen3Config(**SIZES | SMALL),
    "mixtral": transformers.MixtralConfig(**SIZES | SMALL, num_local_experts=4, num_experts_per_tok=2),
}
LAYER_NORM = {
    "mean": "mean",
    "rms": "deviation",
    "value": "x",
    "over": "divided",
    "beta": "beta",
    "product": "normed",
}
OWN: dict[str, dict[str, dict[str, str]]] = {
    "bloom": {
        "norm": LAYER_NORM,
        "rope": {"n_between": "distance", "by": "bias", "score": "score"},
    },
    "falcon-7b": {"norm": LAYER_NORM},
    "falcon-40b": {"norm": LAYER_NORM},
    "deepseek": {"project": {"kept": "kept", "whole": "expanded"}},
}
WORDS = {  # what the first sentences may not lack
    "bloom": ("norm of their own", "LayerNorm", "takes it apart", "turns nothing", "number for the distance"),
    "falcon-7b": ("LayerNorm", "hand of a clock"),
    "glm": ("RMSNorm", "turns only"),
    "deepseek": ("RMSNorm", "one latent", "turns only", "own factor"),
}
pairs, page = families(CONFIGS)


@pytest.mark.parametrize("name", CONFIGS)
def test_a_family_fits_the_first_stops(name: str, page: Page) -> None:
    read(page, name, "The cat sleeps on the sofa. The dog plays on the")
    set_out(page, "word")
    page.click(".tour-stop[data-stop=tokens]")
    page.mouse.move(1, 1)  # what is under the pointer is shown in a selection's place
    said = ""
    for stop in STOPS:
        at = arrive(page, stop)
        check_numbers(page, at, SAME | OWN.get(name, {}))
        check_place(at, 1280)
        words = page.inner_text(".tour-bar")
        assert "{" not in words
        assert "tour." not in words  # the key of a text that there is not
        said += words
        page.keyboard.press("ArrowRight")
    assert [words for words in WORDS.get(name, ()) if words not in said] == []
    page.locator(".tour-title").press("Escape")
