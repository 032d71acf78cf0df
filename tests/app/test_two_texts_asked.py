"""What the first screen asks of a network that reads one text and writes another: the model's own functions."""

from pathlib import Path
from typing import Any

import pytest

import model
from app.engine import LocalEngine
from app.service import Service
from model.analysis.causal_map import causal_map
from model.analysis.circuit import circuit
from model.analysis.nodes import run_pair
from model.analysis.paths import edges
from tests.families import save
from tests.model.families.test_t5 import CONFIGS
from visuals.payload import unpack

ZOO = Path(__file__).parents[2] / "model" / "zoo" / "t5"
PROMPT = "Tom is in the kitchen. Lily is in the garden. Tom is in the"


@pytest.fixture(scope="module")
def lm() -> model.LanguageModel:
    return model.load(ZOO, device="cpu")


@pytest.fixture(scope="module")
def service(lm: model.LanguageModel) -> Service:
    return Service(LocalEngine([lm]))


def ask(service: Service, run: dict[str, Any], what: str, **params: Any) -> dict[str, Any]:
    answer = service.detail({"run": run["id"], "what": what, **params})
    return answer.get("data", answer)


def best(lm: model.LanguageModel, text: str, target: list[int]) -> int:
    return int(model.run_trace(lm, text, target=target).logits.argmax())


def node(one: dict[str, Any]) -> list[Any]:
    return [one[name] for name in ("layer", "head", "token", "kind", "stack")]


def test_words_of_the_source_are_offered(service: Service, lm: model.LanguageModel) -> None:
    run = service.recall({"prompt": PROMPT})
    said = ask(service, run, "words", token=0)
    assert (said["text"], said["tokens"]) == (PROMPT, len(lm.tokenizer.encode(PROMPT)) + 1)
    assert said["swaps"]
    for swap in said["swaps"]:
        assert int(model.run_trace(lm, swap["text"]).logits.argmax()) == swap["answer"] != run["next"]["ids"][0]


@pytest.mark.parametrize("written", [0, 3])
def test_circuit_edges_and_maps_are_the_models(service: Service, lm: model.LanguageModel, written: int) -> None:
    """Of the trained one at its first word, and of a random one in the middle of a text."""
    other, target = PROMPT.replace("kitchen", "bedroom"), None
    if written:
        lm = model.load(save(CONFIGS["1.1"], sharpness=0.8), device="cpu")
        service, target = Service(LocalEngine([lm])), [7, 80, 9]
        texts = (PROMPT.replace("kitchen", word) for word in ("hitchen", "kitchzn", "kxtchen", "ktichen", "kitcheq"))
        other = next(text for text in texts if best(lm, text, target) != best(lm, PROMPT, target))
    run = service.recall({"prompt": PROMPT, "generated": target or []})
    found = circuit(lm, PROMPT, other, nodes=15, target=target)
    said = ask(service, run, "circuit", token=written, text=other, nodes=15)
    assert said["recovered"] == pytest.approx(found.recovered, abs=1e-5)
    assert said["without"] == pytest.approx(found.without, abs=1e-5)
    assert (said["answer"]["id"], said["other"]["id"]) == (found.answer, found.other)
    assert [node(one) for one in said["nodes"]] == [[n.layer, n.head, n.token, n.kind, n.stack] for n in found.nodes]
    assert {one["stack"] for one in said["nodes"]} == {"encoder", "decoder"}
    differ = [t for t, (a, b) in enumerate(zip(*map(lm.tokenizer.encode, (PROMPT, other)), strict=True)) if a != b]
    assert said["differ"] == differ
    nodes, measured = [node(one) for one in said["nodes"]], []
    while not measured or len(measured) < answer["total"]:
        answer = ask(service, run, "edges", token=written, text=other, nodes=nodes, start=len(measured))
        measured += answer["edges"]
    expected = [edge for part in edges(found.pair, found.nodes) for edge in part]
    assert [(*one["from"].values(),) for one in measured] == [edge.source for edge in expected]
    assert [(*one["to"].values(),) for one in measured] == [edge.target for edge in expected]
    assert [one["effect"] for one in measured] == pytest.approx([edge.effect for edge in expected], abs=1e-5)
    said, pair = ask(service, run, "causal_map", token=written, text=other), run_pair(lm, PROMPT, other, target)
    assert unpack(said["left"]) == pytest.approx(causal_map(pair).numpy(), abs=1e-5)
    assert unpack(said["source_left"]) == pytest.approx(causal_map(pair, stack="encoder").numpy(), abs=1e-5)


def test_what_cannot_be_asked_is_refused_in_words(service: Service) -> None:
    run = service.recall({"prompt": PROMPT})
    long = service.recall({"prompt": "Tom is in the kitchen. " * 22})
    changed = service.change({"run": run["id"], "changes": {"cross": [[0, 1]]}, "layer": 0})
    other = PROMPT.replace("kitchen", "bedroom")
    good = [0, 1, 2, "head", "encoder"]
    for where, what, params, code in (
        (run, "circuit", {"text": PROMPT + " and more", "nodes": 10}, "circuit_tokens"),
        (run, "circuit", {"text": PROMPT, "nodes": 10}, "circuit_answer"),
        (long, "circuit", {"text": other, "nodes": 10}, "circuit_long"),
        (long, "causal_map", {"text": other}, "circuit_long"),
        (changed, "circuit", {"text": other, "nodes": 10}, "circuit_changed"),
        (run, "edges", {"text": other, "nodes": [good[:3]], "start": 0}, "bad_request"),
        (run, "edges", {"text": other, "nodes": [[0, 1, 2, "cross", "encoder"]], "start": 0}, "bad_request"),
        (run, "edges", {"text": other, "nodes": [[0, 1, 2, "head", "decoder"]], "start": 0}, "bad_request"),
        (run, "edges", {"text": other, "nodes": [[0, 1, 0, "head", "other"]], "start": 0}, "bad_request"),
        (run, "edges", {"text": other, "nodes": [[9, 1, 0, "head", "encoder"]], "start": 0}, "bad_request"),
    ):
        answer = ask(service, where, what, token=0, **params)
        assert answer["kind"] == "message", (what, params)
        assert answer["code"] == code, (what, params)
    assert ask(service, long, "words", token=0)["swaps"] == []
    assert ask(service, run, "edges", token=0, text=other, nodes=[good], start=0)["edges"]
