"""The KV-cache chapter's questions to the server: answers, refusals by field, and words for all of them."""

import json
import re
from typing import Any

import pytest

from app.chapters import CALCULATORS
from app.engine import LocalEngine
from app.service import Service
from app.texts import table
from model import catalogue
from model.errors import GlassLlamaError
from model.kv_math import KvOptions, kv_breakdown
from model.kv_math.factors import HOWS, NAMES
from model.kv_math.formats import FORMATS
from model.kv_math.options import IndexerFormat, Layout, WindowPolicy
from model.kv_math.weights import WEIGHT_FORMATS, weight_breakdown
from model.published.expected import ENGLISH
from visuals.kv import factor_message

CONFIG = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "num_hidden_layers": 4,
    "hidden_size": 64,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "intermediate_size": 128,
    "vocab_size": 100,
    "max_position_embeddings": 512,
    "rms_norm_eps": 1e-5,
    "hidden_act": "silu",
    "tie_word_embeddings": False,
    "rope_theta": 10000.0,
}


def ask(service: Service, what: str, **settings: Any) -> Any:
    answer = service.calculate({"what": what, **settings})
    assert answer["kind"] == "calculation", answer
    json.dumps(answer)
    return answer["data"]


def test_the_figures_that_everyone_can_check(service: Service) -> None:
    known = {
        ("Llama-2 7B", 1024, 16, "fp16"): 8_589_934_592,
        ("Llama-3 8B", 1, 1, "bf16"): 131_072,
        ("DeepSeek-V3", 1, 1, "bf16"): 70_272,
        ("TinyLlama-1.1B", 1, 1, "bf16"): 22_528,
    }
    for (model, tokens, batch, dtype), count in known.items():
        assert ask(service, "kv", model=model, tokens=tokens, batch=batch, dtype=dtype)["bytes"] == str(count)


def test_options_reach_the_arithmetic(service: Service) -> None:
    found = ask(service, "kv", model="DeepSeek-V3", tokens=100, tp=8, mtp=True, block_size=16, pp=None)
    assert found["bytes"] == str(8 * (61 + 1) * 112 * 576 * 2)
    assert found["gpus"] == 8
    assert [note["code"] for note in found["notes"]] == ["replication"]


def test_a_pasted_config_gives_the_same_card(service: Service) -> None:
    found = ask(service, "kv", model=":config", config=json.dumps(CONFIG), tokens=10)
    assert found["bytes"] == str(4 * 10 * 2 * 2 * 8 * 2)
    assert found["card"]["kind"] == "GQA"


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"tokens": 0}, "tokens"),
        ({"tokens": -5}, "tokens"),
        ({"tokens": 10**9}, "tokens"),
        ({"tokens": "many"}, "tokens"),
        ({"tokens": 1.5}, "tokens"),
        ({"tokens": True}, "tokens"),
        ({"batch": 0}, "batch"),
        ({"tp": 5}, "tp"),
        ({"pp": 100}, "pp"),
        ({"dtype": "fp7"}, "dtype"),
        ({"layout": "expanded_mla"}, "layout"),
        ({"window": "sometimes"}, "window"),
        ({"mtp": True}, "mtp"),
        ({"n_kv_heads": 5}, "n_kv_heads"),
        ({"draft": "nobody"}, "draft"),
        ({"model": "nobody"}, None),
        ({"model": None}, None),
        ({"model": ":config", "config": "{"}, "text"),
        ({"model": ":config", "config": ""}, None),
        ({"model": ":config", "config": json.dumps(CONFIG | {"num_hidden_layers": "x"})}, "num_hidden_layers"),
        ({"model": ":config"}, None),
    ],
)
def test_a_bad_setting_is_named_and_gives_no_answer(service: Service, settings: dict, field: str | None) -> None:
    for what in ("kv", "kv_chart", "kv_fit", "kv_needs"):
        if what == "kv_needs" and settings.keys() & {"tokens", "batch", "tp", "pp", "n_kv_heads"}:
            continue  # it asks for users and their tokens, and finds the ranks itself
        if what != "kv" and "n_kv_heads" in settings:
            continue
        answer = service.calculate({"what": what, "model": "Llama-3 8B", **settings})
        assert answer["kind"] == "message", (what, answer)
        assert answer["code"] not in ("internal", "bad_request"), answer
        if field:
            assert answer["params"]["field"] == field
        if "expected" in answer["params"] and answer["code"] != "kv_dtype":  # which lists the formats' names alone
            assert answer["params"]["expected_code"] in ENGLISH


@pytest.mark.parametrize("data", [None, [], {"what": None}, {"what": "nothing"}])
def test_what_no_page_asks_is_refused(service: Service, data: Any) -> None:
    assert service.calculate(data)["code"] == "bad_request"


def test_the_chart_for_several_models(service: Service) -> None:
    lines = ask(service, "kv_chart", model="Llama-3 8B", compare=["DeepSeek-V3", "Llama-3 8B"], x="linear")
    assert [trace.get("name") for trace in lines["figure"]["data"]] == ["Llama-3 8B", "DeepSeek-V3", None]
    stack = ask(service, "kv_chart", model="Llama-3 8B", view="stack", unit="gb", weights=True)
    assert stack["figure"]["data"][1]["name"] == "text:kv.stack_own_weights"
    for wrong in ({"view": "pie"}, {"unit": "kg"}, {"x": "cubic"}, {"compare": ["nobody"]}):
        assert service.calculate({"what": "kv_chart", "model": "Llama-3 8B", **wrong})["kind"] == "message"


def test_what_fits(service: Service) -> None:
    own = {"gpu": ":gpu", "memory_gb": 24, "bandwidth_gb_per_s": 1000}
    found = ask(service, "kv_fit", model="Llama-3 8B", tokens=8192, usable_percent=90, **own)
    assert int(found["use"]["usable"]) == 24 * 10**9 * 9 // 10
    assert found["batch"]["value"] == (24 * 10**9 * 9 // 10 - 2 * 8_030_261_248) // 2**30
    assert ask(service, "kv_fit", model="Llama-3 8B", tokens=8192, usable_percent="0.9", **own) == found
    finer = ask(service, "kv_fit", model="Llama-3 8B", tokens=8192, usable_percent="92.5", **own)["use"]
    assert (finer["percent"], int(finer["usable"])) == (92.5, 24 * 10**9 * 925 // 1000)
    assert ask(service, "kv_needs", model="Llama-3 8B", users=2, user_tokens=100, tp=8, **own)["gpus"][-1]["layout"]
    lines = 8192 * (2 * 4096 + 3 * 14_336) * 2 + (358 + 150) * 2**20  # activations but for the logits; MiB
    found = ask(service, "kv_fit", model="Llama-3 8B", tokens=8192, **own)
    assert (found["use"]["by"], found["use"]["usable"]) == ("lines", str(24 * 10**9 - lines - 128_256 * 4))
    most = (24 * 10**9 - lines - 2 * 8_030_261_248) // (2**30 + 128_256 * 4)
    assert found["batch"]["value"] == most
    assert int(found["batch"]["next"]) == 2 * 8_030_261_248 + lines + (most + 1) * (2**30 + 128_256 * 4)
    lacking = ask(service, "kv_fit", model="Llama-3 70B")
    assert not lacking["use"]["fits"]
    assert "refused" in lacking["bound"]
    wrong = service.calculate({"what": "kv_fit", "model": "Llama-3 8B", **own | {"memory_gb": 0}})
    assert wrong["params"]["field"] == "memory_gb"


def test_a_race_of_the_shown_model(service: Service, engine: LocalEngine) -> None:
    ids = engine.encode("roomy", "The cat sleeps")
    steps = ask(service, "kv_race", model="roomy", ids=ids)["steps"]
    assert steps[0]["tokens"] == len(ids)
    assert all(step["same"] for step in steps)
    for wrong in ({"ids": []}, {"ids": "x"}, {"ids": [10**6]}, {"ids": [1] * 2000}, {"ids": ids, "model": "nobody"}):
        assert service.calculate({"what": "kv_race", "model": "roomy", **wrong})["kind"] == "message"


def test_a_run_holds_what_was_measured(service: Service) -> None:
    run = service.run("The cat sleeps on the sofa.", "roomy")
    found = service.detail({"run": run["id"], "what": "kv_live"})["data"]
    own = next(row for row in found["kinds"] if row["own"])
    assert found["bytes"] == int(own["bytes"]) * found["tokens"]
    assert found["tokens"] == len(run["tokens"]["ids"])


def test_every_word_that_a_message_needs_is_there() -> None:
    words = table("en")["kv"]
    codes, labels, notes, hows = set(), set(), set(), []
    options = [
        KvOptions(),
        KvOptions(tp=2),
        KvOptions(tp=4),
        KvOptions(block_size=16),
        KvOptions(layout="broadcast_heads"),
    ]
    options += [KvOptions(layout="expanded_mla"), KvOptions(draft="TinyLlama-1.1B"), KvOptions(encoder_tokens=7)]
    options += [KvOptions(shared_prefix=100)]
    for spec in catalogue().values():
        for dtype in (*FORMATS, "q8_0/q4_0"):
            for option in options:
                try:
                    found = kv_breakdown(spec, 300, 2, dtype, option)
                except GlassLlamaError:
                    continue
                factors = [factor_message(factor) for term in found.terms for factor in term.factors]
                worded = [factor["how"] for factor in factors if isinstance(factor["how"], dict)]
                codes |= {factor["code"] for factor in factors} | {f"how_{how['code']}" for how in worded}
                hows += [factor["how"] for factor in factors if isinstance(factor["how"], str)]
                labels |= {term.label.removeprefix("draft.") for term in found.terms}
                notes |= {note.code for note in found.notes}
        for fmt in WEIGHT_FORMATS:
            try:
                found = weight_breakdown(spec, fmt, mtp=bool(spec.mtp_layers))
            except GlassLlamaError:
                continue
            codes |= {factor_message(factor)["code"] for term in found.terms for factor in term.factors}
            names = {term.label for term in found.terms}
            assert [n for n in names if not {f"w_{n.replace('.', '_')}", f"w_{n.split('.')[0]}"} & words.keys()] == []
    assert [code for code in codes if f"factor_{code}" not in words] == []
    assert {"how_shared", "how_longest_tail"} <= codes
    assert [how for how in hows if set(re.findall(r"[a-z]{3,}", how)) - {"min", "max", "ceil", "mod"}] == []
    assert [note for note in notes if f"note_{note}" not in words] == []
    for label in labels:
        place, part = label.rsplit(".", 1)
        assert {f"place_{place.replace('.', '_')}", f"part_{part}", f"stack_{label.replace('.', '_')}"} <= words.keys()
    fields = [
        *KvOptions.__dataclass_fields__,
        "model",
        "tokens",
        "batch",
        "dtype",
        "n_kv_heads",
        "gpu",
        "weights",
        "users",
    ]
    assert [field for field in fields if f"field_{field}" not in words] == []
    choices = [choice for kind in (WindowPolicy, Layout, IndexerFormat) for choice in kind.__args__]
    assert [choice for choice in choices if choice != "ideal" and f"choice_{choice}" not in words] == []


def test_what_would_be_right_has_a_text_with_the_same_particulars() -> None:
    placeholder = re.compile(r"\{(\w+)\}")
    words = {name.removeprefix("expected_"): said for name, said in table("en")["kv"].items() if "expected_" in name}
    assert words.keys() == ENGLISH.keys()
    for code, said in words.items():
        assert set(placeholder.findall(said)) == set(placeholder.findall(ENGLISH[code])), code


@pytest.mark.parametrize("pasted", ["", "x", "{", '{"a" 1}', '{"a": 1 "b"}', '{"a": "b', '{"a": "\n"}', '{"a": "\\x"}',
                                    '{"a": "\\u12"}', "{} {}", '{"a": 1,}', '{"a": [1,]}', "[" * 99_999, "[1]",
                                    '{"a": NaN}', "9" * 100_001])  # fmt: skip
def test_what_is_wrong_with_a_pasted_text_has_words(service: Service, pasted: str) -> None:
    params = service.calculate({"what": "kv", "model": ":config", "config": pasted})["params"]
    words = table("zh")["kv"]
    if "reason" not in params:
        assert f"config_{params['field']}" in words or params["field"] == "model_type"
        assert f"expected_{params['expected_code']}" in words
        return
    assert f"config_{params['reason']}" in words
    if "problem" in params:
        assert "json_" + re.sub(r"\W+", "_", params["problem"].lower()).strip("_") in words


def test_a_factor_is_named_with_the_same_particulars_in_every_language() -> None:
    placeholder = re.compile(r"\{(\w+)")
    english = {code: names[0] for code, names in NAMES.items()} | {f"how_{code}": said for code, said in HOWS.items()}
    for language in ("en", "zh"):
        words = table(language)["kv"]
        for code, said in english.items():
            if f"factor_{code}" in words:  # the weights that a step reads are told on the command line alone
                assert set(placeholder.findall(words[f"factor_{code}"])) == set(placeholder.findall(said)), code


def test_calculators_are_named_as_the_page_asks_them() -> None:
    assert set(CALCULATORS) >= {"kv", "kv_models", "kv_chart", "kv_fit", "kv_needs", "kv_gpus", "kv_race"}
