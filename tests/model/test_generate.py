"""Each Step's numbers against a full pass of transformers, seeds, the reasons to stop, and text that joins up."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

import model
from model.network import Network
from tests.reference import reference

PROMPT = "The cat sleeps"
BYTES_PER_TOKEN = 2 * 3 * 2 * 8 * 4  # K and V × n_layers × n_kv_heads × head_dim × bytes of float32


class Script(Network):
    """A network that writes given tokens: all its probability is on the next one of the script."""

    def __init__(self, lm: model.LanguageModel, prompt: int, script: Sequence[int]):
        super().__init__()
        self.config, self.embed = lm.config, lm.net.embed
        self.vocabulary, self.prompt, self.script = lm.config.vocab_size, prompt, script

    def forward(self, ids: torch.Tensor, _cache: object, position: int, last_only: bool) -> torch.Tensor:
        assert last_only
        logits = torch.zeros(1, 1, self.vocabulary)
        logits[0, 0, self.script[position + ids.shape[1] - self.prompt]] = 50
        return logits


def run_script(lm: model.LanguageModel, prompt: list[int], script: Sequence[int]) -> list[model.Step]:
    scripted = replace(lm, net=Script(lm, len(prompt), script))
    return list(model.generate(scripted, prompt, max_new_tokens=len(script)))


def without_end(lm: model.LanguageModel) -> model.LanguageModel:
    return replace(lm, config=replace(lm.config, eos_ids=()))


@pytest.mark.parametrize(
    "settings", [{}, {"temperature": 0.8, "top_k": 20, "top_p": 0.9, "seed": 3}, {"temperature": 1.7, "seed": 1}]
)
def test_every_number_of_a_step_is_what_a_full_pass_says(
    lm: model.LanguageModel, checkpoint: Path, settings: dict[str, Any]
) -> None:
    net, ids = reference(checkpoint), lm.tokenizer.encode(PROMPT)
    steps = list(model.generate(without_end(lm), PROMPT, max_new_tokens=8, **settings))
    assert len(steps) == 8
    for step in steps:
        with torch.no_grad():
            logits = net(torch.tensor([ids])).logits[0, -1].double()
        probabilities = logits.softmax(-1).numpy()
        assert step.probability == pytest.approx(probabilities[step.token_id], abs=2e-5)
        assert step.drawn_probability == pytest.approx(drawn_probability(logits, step.token_id, settings), abs=1e-4)
        check_candidates(step.candidates, logits.numpy(), probabilities)
        assert step.cache_tokens == len(ids)
        assert step.cache_bytes == BYTES_PER_TOKEN * len(ids)
        assert step.seconds > 0
        if not settings:
            assert step.token_id == probabilities.argmax()
        ids.append(step.token_id)


def drawn_probability(logits: torch.Tensor, token: int, settings: dict[str, Any]) -> float:
    if not settings:
        return 1.0
    scores, no_ids = logits[None], torch.empty(1, 0, dtype=torch.long)
    scores = TemperatureLogitsWarper(settings["temperature"])(no_ids, scores)
    if "top_k" in settings:
        scores = TopPLogitsWarper(settings["top_p"])(no_ids, TopKLogitsWarper(settings["top_k"])(no_ids, scores))
    return scores.softmax(-1)[0, token].item()


def check_candidates(offered, logits: np.ndarray, probabilities: np.ndarray) -> None:
    best = np.sort(logits)[::-1]
    assert len(offered.ids) == 64
    np.testing.assert_allclose(offered.logits, best[:64], atol=5e-5)
    np.testing.assert_allclose(logits[offered.ids], best[:64], atol=5e-5)
    np.testing.assert_allclose(offered.probabilities, probabilities[offered.ids], atol=2e-5)
    assert offered.log_z == pytest.approx(np.logaddexp.reduce(logits), abs=5e-5)
    unlisted = np.delete(probabilities, offered.ids).sum()
    assert offered.tail == pytest.approx(unlisted, abs=2e-5)
    assert offered.probabilities.sum() + offered.tail == pytest.approx(1, abs=1e-6)


def tokens(lm: model.LanguageModel, seed: int, **settings: Any) -> list[int]:
    steps = model.generate(without_end(lm), PROMPT, 12, **{"temperature": 1.5, "seed": seed} | settings)
    return [step.token_id for step in steps]


def test_a_seed_reproduces_and_another_differs(lm: model.LanguageModel) -> None:
    texts = [tokens(lm, seed) for seed in range(4)]
    assert texts == [tokens(lm, seed) for seed in range(4)]
    assert len({tuple(text) for text in texts}) == 4
    assert tokens(lm, 0, temperature=0.0) == tokens(lm, 1, temperature=0.0)  # greedy knows no seed
    assert tokens(lm, 0, top_k=1) == tokens(lm, 1, top_p=0.0) == tokens(lm, 0, temperature=0.0)


def test_two_generations_side_by_side_do_not_disturb_each_other(lm: model.LanguageModel) -> None:
    pairs = zip_longest(*(model.generate(without_end(lm), PROMPT, 12, 1.5, seed=seed) for seed in (0, 1)))
    one, other = zip(*((a.token_id, b.token_id) for a, b in pairs), strict=True)
    torch.manual_seed(5)  # the global generator plays no part
    assert (list(one), list(other)) == (tokens(lm, 0), tokens(lm, 1))


def test_text_and_ids_are_continued_alike(lm: model.LanguageModel) -> None:
    from_text, from_ids = (model.generate(lm, prompt, 5) for prompt in (PROMPT, lm.tokenizer.encode(PROMPT)))
    assert [step.token_id for step in from_text] == [step.token_id for step in from_ids]


def test_stop_at_max_new_tokens(lm: model.LanguageModel) -> None:
    for count in (1, 2, 7):
        stops = [step.stop for step in model.generate(without_end(lm), PROMPT, count)]
        assert stops == [None] * (count - 1) + ["max_new_tokens"]


def test_stop_at_end_of_text(lm: model.LanguageModel) -> None:
    ids = lm.tokenizer.encode("The dog")
    steps = run_script(lm, lm.tokenizer.encode(PROMPT), [*ids, 0, 5, 5])
    assert [step.stop for step in steps] == [None] * len(ids) + ["end_of_text"]
    assert steps[-1].token_id == 0
    assert steps[-1].text == ""
    second = replace(lm, config=replace(lm.config, eos_ids=(300, ids[1])))
    assert [step.stop for step in run_script(second, [7], ids)][-1] == "end_of_text"
    only = run_script(lm, [7], [0])
    assert [step.stop for step in only] == ["end_of_text"]  # and not max_new_tokens, which is as true


@pytest.mark.parametrize("free", [0, 1, 5])
def test_stop_at_max_context(lm: model.LanguageModel, free: int) -> None:
    """A context of 128: every position is read, and the token after the last one is still named."""
    steps = list(model.generate(without_end(lm), [7] * (128 - free), max_new_tokens=50))
    assert [step.stop for step in steps] == [None] * free + ["max_context"]
    assert steps[-1].cache_tokens == 128
    assert steps[-1].cache_bytes == 128 * BYTES_PER_TOKEN


@pytest.mark.parametrize("text", ["猫在沙发上睡觉。🦙🦙", "ünïcödé שלום\n", "a\u0301👩\u200d👩\u200d👧!"])
def test_characters_split_over_tokens_come_whole(lm: model.LanguageModel, text: str) -> None:
    prompt, script = lm.tokenizer.encode("猫 "), lm.tokenizer.encode(text)
    steps = run_script(lm, prompt, script)
    assert [step.token_id for step in steps] == script
    assert "".join(step.text for step in steps) == text
    assert any(step.text == "" for step in steps)  # something was split
    assert not any("\ufffd" in step.text for step in steps)


def test_joined_text_is_what_decode_gives(lm: model.LanguageModel) -> None:
    """Random bytes are mostly no characters, and many end in the middle of one."""
    prompt = lm.tokenizer.encode(PROMPT)
    for seed in range(30):
        script = torch.randint(1, 320, (12,), generator=torch.Generator().manual_seed(seed)).tolist()
        joined = "".join(step.text for step in run_script(lm, prompt, script))
        assert PROMPT + joined == lm.tokenizer.decode([*prompt, *script])


BAD_SETTINGS = [
    *[("max_new_tokens", value) for value in (0, -1, 1.5, True, "3", None, float("nan"))],
    *[("seed", value) for value in (-1, 2**63, 1.0, True, None)],
    *[("temperature", value) for value in (-0.1, 101, float("nan"), "hot", None)],
    *[("top_k", value) for value in (-1, 2.5, False, "all")],
    *[("top_p", value) for value in (-0.01, 1.01, float("inf"), None)],
]


@pytest.mark.parametrize(("field", "value"), BAD_SETTINGS)
def test_bad_settings_are_refused_at_the_call(lm: model.LanguageModel, field: str, value: Any) -> None:
    with pytest.raises(model.GlassLlamaError, match=rf"^{field} is .*; expected .+\.$") as caught:
        model.generate(lm, PROMPT, **{field: value})  # no step is asked for
    assert caught.value.code == "field"
    assert caught.value.params["field"] == field
    assert caught.value.params["value"] == repr(value)


@pytest.mark.parametrize(
    ("prompt", "code"),
    [
        ("", "prompt_empty"),
        ([], "prompt_empty"),
        ([1] * 129, "prompt_too_long"),
        ([320], "token_id"),
        ("\ud800", "surrogate"),
    ],
    ids=ascii,
)
def test_bad_prompts_are_refused_at_the_call(lm: model.LanguageModel, prompt: Any, code: str) -> None:
    with pytest.raises(model.GlassLlamaError, match=r"^prompt: ") as caught:
        model.generate(lm, prompt)
    assert caught.value.code == code
