"""The KV chapter over pasted configs of hybrids and of models that share K and V: every question, and words for all."""

import json
from pathlib import Path

from app.chapters import CALCULATORS
from app.service import Service
from app.texts import table

FILES = Path(__file__).parents[1] / "model/published/hybrid_configs.json"
CONFIGS = {name: entry["config"] for name, entry in json.loads(FILES.read_text(encoding="utf-8")).items()}
LANGUAGES = ("en", "zh")
# What a question needs beside the model; those that ask about no model are not here.
QUESTIONS = {
    "kv": {},
    "kv_chart": {"view": "lines", "compare": ["Llama-3 8B"]},
    "kv_fit": {"gpu": "H200"},
    "kv_needs": {"users": 8, "user_tokens": 4096},
}


def answer(service: Service, name: str, what: str, **settings: object) -> dict:
    config = json.dumps(CONFIGS[name])
    found = service.calculate({"what": what, "model": ":config", "config": config, "tokens": 4096, **settings})
    assert found["kind"] == "calculation", (name, what, found)
    json.dumps(found)
    return found["data"]


def test_every_question_has_an_answer_for_every_type(service: Service) -> None:
    assert set(QUESTIONS) <= set(CALCULATORS)
    for name in CONFIGS:
        for what, settings in QUESTIONS.items():
            answer(service, name, what, **settings)
        answer(service, name, "kv_chart", view="stack", weights=True)


def test_every_product_has_words_in_both_languages(service: Service) -> None:
    words = {language: table(language) for language in LANGUAGES}
    for name in CONFIGS:
        terms = answer(service, name, "kv")["terms"]
        fit = answer(service, name, "kv_fit", gpu="H200")["use"]["weight_terms"]
        stack = answer(service, name, "kv_chart", view="stack", weights=True)["figure"]["data"]
        for language in LANGUAGES:
            kv = words[language]["kv"]
            for term in terms:
                place, _, part = term["label"].rpartition(".")
                assert f"place_{place.replace('.', '_')}" in kv, (name, term["label"])
                assert f"part_{part}" in kv, (name, term["label"])
            for factor in (factor for term in (*terms, *fit) for factor in term["factors"]):
                assert f"factor_{factor['code']}" in kv, (name, factor)
            for term in fit:
                label = term["label"]
                assert {f"w_{label.replace('.', '_')}", f"w_{label.split('.')[0]}"} & set(kv), (name, label)
            for bar in stack[1:]:
                assert bar["name"].removeprefix("text:kv.") in kv, (name, bar["name"])


def test_what_a_model_without_attention_shows(service: Service) -> None:
    """No kinds of attention, nothing per token, a cache that memory alone does not limit."""
    found = answer(service, "Mamba 2.8B", "kv")
    assert (found["kinds"], found["per_token"], found["growth"]) == ([], "0", None)
    assert (found["card"]["n_heads"], found["card"]["kind"], found["card"]["max_context"]) == (0, "none", None)
    assert "state" in found["card"]["options"]
    assert "layout" not in found["card"]["options"]
    assert answer(service, "Mamba 2.8B", "kv_fit", gpu="H200")["context"]["unlimited"]


def test_a_state_in_fp32_says_what_vllm_keeps_by_default(service: Service) -> None:
    """vllm-project/vllm #34489, #39032: Qwen 3.5's config and Nemotron H ask for fp32, Kimi's KDA always has it."""
    noted = {}
    for name in CONFIGS:
        for note in answer(service, name, "kv", batch=3)["notes"]:
            if note["code"] == "state_fp32":
                noted[name] = note["params"]
    own = {"Qwen3-Next 80B-A3B", "Jamba v0.1", "Mamba 2.8B", "Mamba-Codestral 7B", "Granite 4.0 H Small"}
    assert set(noted) == own | {"Falcon-H1 34B"}
    state = 36 * 3 * 128 * 64 * 128  # layers, sequences, heads, head_dim, d_state
    assert noted["Granite 4.0 H Small"] == {"own": 4 * state, "auto": 2 * state, "format": "bf16"}
    for settings in ({"state": "dtype"}, {"state": "fp32"}, {"dtype": "fp32"}):
        notes = answer(service, "Granite 4.0 H Small", "kv", **settings)["notes"]
        assert "state_fp32" not in {note["code"] for note in notes}
    config = {**CONFIGS["Nemotron 3 Nano 30B-A3B"], "mamba_ssm_cache_dtype": "bfloat16"}
    asked = {"what": "kv", "model": ":config", "config": json.dumps(config), "tokens": 4096}
    assert "state_fp32" in {note["code"] for note in service.calculate(asked)["data"]["notes"]}


def test_what_windows_keep_is_an_option_of_models_that_have_some(service: Service) -> None:
    windowed = {"Gemma 3n E4B (text)", "Gemma 4 31B (text)", "DeepSeek-V4 Flash"}
    for name in CONFIGS:
        options = answer(service, name, "kv")["card"]["options"]
        assert {"window", "batched_tokens"} & set(options) == (
            {"window", "batched_tokens"} if name in windowed else set()
        )


def test_options_of_a_hybrid_reach_the_arithmetic(service: Service) -> None:
    name = "Granite 4.0 H Small"
    kept = {
        state: int(answer(service, name, "kv", state=state, tokens=1)["bytes"]) for state in ("own", "dtype", "fp32")
    }
    assert kept["own"] == kept["fp32"] == kept["dtype"] + 36 * 128 * 64 * 128 * 2
    window = int(answer(service, name, "kv", window="transformers", tokens=1)["bytes"])
    assert window == kept["own"] + 36 * 8448 * 2  # one input more of each convolution
