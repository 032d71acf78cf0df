"""What a slider's places hold: at each, the answer of model.kv_math itself, for every model and random settings."""

import random
from typing import Any

import pytest

from app.chapters import CALCULATORS
from app.engine import LocalEngine
from app.service import Service
from model import catalogue, kv_cache_bytes
from model.errors import GlassLlamaError
from model.kv_math import FORMATS, KvOptions
from tests.one_of import one_of

TOKENS = [round(2 ** (place / 8)) for place in range(56, 161)]
BATCHES = sorted({round(2 ** (place / 4)) for place in range(41)})
GPU = {"gpu": "L40S 48 GB", "weights": "int4_g128", "usable_percent": 85}


def places(engine: LocalEngine, asked: str, along: str, values: list[int], settings: dict[str, Any]) -> list[Any]:
    """The answers, put together here as docs of app/chapters/kv.py say; asked for until all are there."""
    found: list[Any] = []
    while len(found) < len(values):
        left = {**settings, "asked": asked, "along": along, "values": values[len(found) :]}
        message = CALCULATORS["kv_places"](engine, left)
        assert message["changes"]
        found += [put(message["first"], change) for change in message["changes"]]
    return found


def put(first: Any, change: Any) -> Any:
    if change is None:
        return first
    if isinstance(change, list):
        return change[0]
    if isinstance(first, list):
        return [put(one, change.get(str(i))) for i, one in enumerate(first)]
    return {key: put(one, change.get(key)) for key, one in first.items()}


@pytest.mark.parametrize("name", list(catalogue()))
def test_every_place_is_what_the_arithmetic_says(name: str, engine: LocalEngine) -> None:
    chance = random.Random(name)
    heads = catalogue()[name].n_heads
    for _ in range(3):
        options: dict[str, Any] = chance.choice(
            [{}, {"block_size": chance.choice((16, 64))}, {"shared_prefix": chance.randrange(1, 5000)},
             {"tp": chance.choice([n for n in (1, 2, 4, 8) if heads % n == 0]), "pp": 2}, {"window": "off"},
             {"window": "vllm", "batched_tokens": 2048, "block_size": 16},
             {"reserved_tokens": 30_000, "reserved_batch": 99}, {"draft": "TinyLlama-1.1B"}]
        )  # fmt: skip
        dtype = chance.choice([*FORMATS, "q8_0/fp16", "fp16/q5_1"])
        along, values = chance.choice([("tokens", TOKENS), ("batch", BATCHES)])
        values = values[chance.randrange(3) :: 3]
        others = {"batch": chance.randrange(1, 300), "tokens": chance.randrange(1, 200_000)}
        settings = {"model": name, "dtype": dtype, **others, **options}
        for value, answer in zip(values, places(engine, "kv", along, values, settings), strict=True):
            size = {**others, along: value}
            try:
                expected = {
                    **size,
                    "bytes": str(kv_cache_bytes(name, **size, dtype=dtype, options=KvOptions(**options))),
                }
            except GlassLlamaError as error:
                expected = {"detail": str(error)}
            found = answer["data"] if "data" in answer else answer["message"]["params"]
            assert {field: found[field] for field in expected} == expected


@pytest.mark.parametrize("along", one_of(["tokens", "batch"]))
@pytest.mark.parametrize("view", one_of(["lines", "stack"]))
def test_every_place_is_the_whole_answer(along: str, view: str, engine: LocalEngine) -> None:
    settings = {"model": "Gemma-3 12B (text)", "tokens": 3000, "batch": 2, "dtype": "fp8", "shared_prefix": 150,
                "view": view, "compare": ["DeepSeek-V3", "T5-large (v1.0)"], "weights": True}  # fmt: skip
    values = TOKENS if along == "tokens" else BATCHES
    for asked in ("kv", "kv_chart", "kv_fit"):
        equals_what_is_asked_directly(engine, asked, along, values, settings | GPU)
    assert "message" in places(engine, "kv", "tokens", [128], settings)[0]  # a prefix of 150 does not fit


@pytest.mark.parametrize(
    ("along", "values"), [("users", [1, 3, 64, 4096]), ("user_tokens", [128, 1000, 32_768, 2**20])]
)
@pytest.mark.parametrize("model", ["DeepSeek-V3", "Gemma-2 9B"])
def test_every_place_of_what_users_need(along: str, values: list[int], model: str, engine: LocalEngine) -> None:
    settings = {"model": model, "dtype": "fp8", "users": 50, "user_tokens": 10_000, **GPU}
    answers = equals_what_is_asked_directly(engine, "kv_needs", along, values, settings)
    assert [answer["data"][{"users": "users", "user_tokens": "tokens"}[along]] for answer in answers] == values


def equals_what_is_asked_directly(
    engine: LocalEngine, asked: str, along: str, values: list[int], settings: dict[str, Any]
) -> list[Any]:
    answers = places(engine, asked, along, values, settings)
    for value, answer in zip(values, answers, strict=True):
        payload = Service(engine).calculate({**settings, "what": asked, along: value})
        assert answer == ({"message": payload} if payload["kind"] == "message" else {"data": payload["data"]})
    return answers


@pytest.mark.parametrize(
    ("change", "field"),
    [({"asked": "tensors"}, "asked"), ({"along": "tp"}, "along"), ({"along": "users"}, "along"),
     ({"asked": "kv_needs"}, "along"), ({"values": []}, "values"),
     ({"values": list(range(1, 300))}, "values"), ({"values": "1"}, "values")],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused_by_its_name(change: dict[str, Any], field: str, engine: LocalEngine) -> None:
    asked = {"model": "Llama-3 8B", "asked": "kv", "along": "tokens", "values": [1], **change}
    with pytest.raises(GlassLlamaError) as caught:
        CALCULATORS["kv_places"](engine, asked)
    assert caught.value.params["field"] == field
