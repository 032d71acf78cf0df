"""Every message of real runs is what visuals/messages says of it: no key missing, none too many, each of its type."""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from pydantic import ConfigDict, TypeAdapter, ValidationError
from typing_extensions import get_type_hints

import model
from app.chapters import CALCULATORS, DETAILS
from app.engine import LocalEngine, Settings
from app.files import head
from app.one_file.recording import contents_of
from app.one_file.request import opening_view
from app.service import Service
from app.zoo import ZOO, offers, small_name
from model.checkpoint import BUNDLED_NAME
from tests.one_of import one_of
from visuals.messages.answers import CalculationMessage, Calculations, DetailMessage, Details
from visuals.messages.one_file import FileContents, FileMessage
from visuals.messages.page import Offer, PageConfig
from visuals.messages.run import BusMessage, LayersMessage, NeuronsMessage, Notice, RunMessage

PROMPT = "Tom is in the kitchen. Lily is in the garden. Tom is in the"
OTHER = "Tom is in the bedroom. Lily is in the garden. Tom is in the"
# With biases by distance and LayerNorm; with norms on q and k; with experts and a latent; with an encoder.
FAMILIES = ("bloom", "qwen", "deepseek", "t5")
T5 = small_name("t5")
MODELS = [BUNDLED_NAME, *map(small_name, FAMILIES)]
EXACT = ConfigDict(extra="forbid", strict=True)
GREEDY = Settings()
Asked = tuple[str, dict[str, Any]]


@cache
def adapter(hint: Any) -> TypeAdapter[Any]:
    return TypeAdapter(list[hint], config=EXACT)  # a TypedDict itself takes no config from outside


def check(hint: Any, message: Any) -> Any:
    """The message as it was; fails where it is not of this type when it is sent."""
    adapter(hint).validate_json(json.dumps([message], allow_nan=False))
    return message


@pytest.fixture(scope="module")
def service() -> Service:
    small = [replace(model.load(ZOO / family, device="cpu"), name=small_name(family)) for family in FAMILIES]
    return Service(LocalEngine([model.load(device="cpu"), *small]))


def answer(service: Service, run: dict[str, Any], what: str, **params: Any) -> Any:
    """The data of a detail, checked."""
    message = check(DetailMessage, service.detail({"run": run["id"], "what": what, **params}))
    return check(get_type_hints(Details)[what], message["data"])


def of_any_stack(run: dict[str, Any]) -> Iterator[Asked]:
    """What panels ask about a run, of whichever stack of its network."""
    made, last, layer = run["model"]["parts"], len(run["tokens"]["ids"]) - 1, {"layer": 1}
    place = {**layer, "head": 1, "query": last, "key": 0}
    yield "code", {**layer, "panel": "attention", "tensors": ["scores", "kv_latent", "logits"]}
    yield from (("tensors", layer), ("stream", {}), ("stage", {**layer, "token": last}), ("training", {}))
    yield from (
        ("ends", {"token": 0}),
        ("merges", {}),
        ("norm_depth", {}),
        ("values", layer),
        ("head_names", {}),
        ("head_jobs", {"count": 1}),
    )
    norms = {name.removesuffix("_norm") for name in made["norms"]} & {"attn", "cross", "ffn"}
    yield from (("norm_vectors", {**layer, "norm": norm, "token": None}) for norm in (*norms, "final"))
    yield from (("norm_kinds", {**layer, "norm": norm, "first": 0, "count": 9}) for norm in (*norms, "final"))
    yield from (("norm_times", {**layer, "norm": "final"}), ("norm_placement", {"first": 0, "count": 9}))
    yield from (("ffn_map", layer), ("activation_kinds", layer), ("ffn_widths", {}), ("ffn_firing", {}), ("cost", {}))
    yield from (("head_write", place), ("score_terms", place))
    yield from (("sinks", {}), ("parts", {}), ("position_kinds", place))
    if made["rotary"]:
        yield "rope_scalings", {"factor": 4}
    if made["latent"]:
        yield "latent", place
    else:
        if not made["stack"]:
            yield "attention_kinds", {}
        yield from (("projection", {**layer, "vector": v, "head": 0, "channel": c}) for v in "qkv" for c in (None, 1))
    if made["ffn"][1]["experts"]:
        yield from (("experts", layer), ("routing_kinds", layer))


def of_a_choice(run: dict[str, Any]) -> Iterator[Asked]:
    """What they ask of a run that ends in a choice."""
    last, (best, second, *_) = len(run["tokens"]["ids"]) - 1, run["next"]["ids"]
    place = {"layer": 1, "head": 1, "query": last, "key": 0}
    yield from (("kv_live", {}), ("loss", {}), ("logits", {}), ("logits", {"token": 0}))
    yield from (("next", {"token": token}) for token in {0, last})
    yield from (("lens", {"follow": follow}) for follow in (True, False))
    yield from (("contributions", {"target": None, "versus": versus}) for versus in (True, False))
    yield from (("draw", {"temperature": heat, "top_k": k, "seed": 3}) for heat, k in ((0, 0), (1, 0), (1, 1)))
    yield from (("logit_terms", {"token": last, "target": best, "against": one}) for one in (None, second))
    yield from (("ffn_written", {"layer": 1, "token": last, "neuron": neuron}) for neuron in (None, 3))
    yield "ffn_written", {"layer": 1, "token": last, "neuron": None, "target": 3}
    of_answer = ("knocked", "rests", "windows", "heads", "looks_back", "told_apart", "why")
    yield from ((what, {"token": last, "target": None}) for what in of_answer)
    yield from (("matching", place), ("outside", {}))


@pytest.mark.parametrize("name", one_of(MODELS))
def test_a_run_and_what_is_asked_about_it(service: Service, name: str) -> None:
    run = check(RunMessage, service.run(PROMPT, name, {"run": ""}))
    check(LayersMessage, service.layers({"run": run["id"], "layers": [1, 0], "token": 0}))
    for token in (0, None):
        check(NeuronsMessage, service.neurons({"run": run["id"], "layer": 1, "token": token}))
    other = check(RunMessage, service.run(OTHER, name))
    changes = {"heads": [[0, 1]], "neurons": [[0, 2]], "ffn": [1], "patches": [[1, 0]], "source": other["id"]}
    changed = check(RunMessage, service.change({"run": run["id"], "changes": changes, "layer": 0}))
    for what, params in (*of_any_stack(run), *of_a_choice(run)):
        answer(service, run, what, **params)
    place = {"layer": 1, "head": 1, "query": 0, "key": 0}
    asked = ("stream", {}), ("score_terms", place), ("logit_terms", {"token": 0, "target": 5, "against": None})
    for what, params in (*asked, ("contributions", {"target": 5}), ("difference", {"other": run["id"]})):
        answer(service, changed, what, **params)
    if run["encoder"]:
        for what, params in of_any_stack(run["encoder"]):
            answer(service, run["encoder"], what, **params)
    if run["encoder"] or name == BUNDLED_NAME:
        compare_texts(service, run)


def compare_texts(service: Service, run: dict[str, Any]) -> None:
    """What is asked of two texts: words to change, a circuit with its edges, the causal maps."""
    two = {"token": len(run["tokens"]["ids"]) - 1, "text": OTHER}
    assert answer(service, run, "words", **two)["swaps"]
    names = ("layer", "head", "token", *(("kind", "stack") if run["encoder"] else ()))
    nodes = [[node[name] for name in names] for node in answer(service, run, "circuit", **two, nodes=5)["nodes"]]
    assert answer(service, run, "edges", **two, nodes=nodes, start=0)["edges"]
    assert answer(service, run, "circuit_controls", **two, nodes=nodes)["by_chance"]
    answer(service, run, "causal_map", **two)
    if not run["encoder"]:
        assert answer(service, run, "recalled", **two)["gathered"]


def test_what_is_strange_in_a_prompt(service: Service) -> None:
    run = check(RunMessage, service.run("Quantum entropy is a scandal", BUNDLED_NAME))
    assert answer(service, run, "outside")["places"]
    assert answer(service, check(RunMessage, service.run(PROMPT, BUNDLED_NAME)), "outside") == {}
    doubtful = check(RunMessage, service.run("我的狗叫小白。我的猫叫小黑。我的狗叫", BUNDLED_NAME))
    told = answer(service, doubtful, "outside")
    assert not told["places"]
    assert 0 < told["doubt"] < 0.5


@pytest.mark.parametrize("name", one_of([BUNDLED_NAME, T5]))
def test_what_comes_over_the_bus(service: Service, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.service.STREAM_EVERY", 0.0)
    sampled = Settings(temperature=0.8, seed=1)
    written = [check(BusMessage, one) for one in service.generate(PROMPT, name, 4, sampled, {"layer": 1})]
    assert {one["kind"] for one in written} == {"run", "step"}
    check(RunMessage, service.step(PROMPT, name, GREEDY, {"run": written[-1]["id"]}))
    check(RunMessage, service.cut({"run": written[-1]["id"], "count": 1, "layer": 0}))
    link = {"prompt": PROMPT, "model": name, "generated": [5, 10**6], "changes": {"ffn": [0]}}
    recalled = check(RunMessage, service.recall(link))
    assert "start" in recalled
    assert recalled["note"]["code"] == "link_cut"
    for refused in (service.run("", name), service.run(PROMPT, "nowhere"), service.detail({"run": "gone"})):
        check(Notice, refused)


@pytest.mark.thorough
@pytest.mark.parametrize("name", one_of([BUNDLED_NAME, T5]))
def test_a_file_of_a_run(service: Service, name: str) -> None:
    held = service.runs.get(check(RunMessage, service.run("Tom is in the", name))["id"])
    check(FileContents, contents_of(service.engine, [opening_view(service.engine, held)], "#layer=1"))
    if name == BUNDLED_NAME:
        view = {"run": held.id, "layer": 0, "head": 0, "query": 0, "key": 0}
        check(FileMessage, service.one_file({"views": [view], "hash": "#layer=1"}))


SIZES: dict[str, Any] = {"tokens": 4096, "batch": 2, "dtype": "fp8"}
KV_LOGS = (
    "llama_kv_cache: size = 1024.00 MiB ( 8192 cells, 32 layers, 1/1 seqs), K (f16): 512.00 MiB, V (f16): 512.00 MiB",
    "# GPU blocks: 1952, # CPU blocks: 2048\nMaximum concurrency for 20000 tokens per request: 1.56x",
    "[MemUsageChange] Allocated 16.05 GiB for max tokens in paged KV cache (263008)",
)
SUMS: list[Asked] = [
    ("qr", {"text": "https://example.org"}),
    ("real_model", {}),
    ("loading", {}),
    ("kv_models", {}),
    ("kv_gpus", {}),
    ("families", {}),
    *(("kv", {"model": name, **SIZES}) for name in ("Llama-3 8B", "DeepSeek-V3", "Gemma-2 9B", "T5-large (v1.0)")),
    ("kv", {"model": "Llama-3 8B", "dtype": "q4_0", "n_kv_heads": 4}),
    *(("kv_chart", {"model": "Llama-3 8B", "compare": ["Gemma-2 9B"], "view": v, "weights": True, **SIZES})
      for v in ("lines", "stack")),
    *(("kv_fit", {"model": name, "gpu": "H100 80 GB", **SIZES}) for name in ("Llama-3 8B", "DeepSeek-V3")),
    ("kv_fit", {"model": "Llama-3 8B", "shared_prefix": 128, **SIZES}),
    *(("kv_needs", {"model": name, "users": 50}) for name in ("Llama-3 8B", "DeepSeek-V3")),
    ("kv_places", {"model": "Llama-3 8B", "asked": "kv", "along": "tokens", "values": [1, 2, 10**12]}),
    ("kv_places", {"model": "Llama-3 8B", "asked": "kv", "along": "tokens", "values": [-1, 2]}),
    *(("kv_log", {"model": "Llama-3 8B", "log": log}) for log in KV_LOGS),
    ("kv_weights", {"model": "Llama-3 8B", "total_size": 16_060_522_500}),
    ("kv_weights", {"model": "Llama-3 8B", "tensors": [{"name": "x", "dtype": "Q4_K", "shape": [256, 8], "count": 2}]}),
    ("kv_race", {"model": BUNDLED_NAME, "ids": [5, 6, 7]}),
    ("lens_fit", {"model": BUNDLED_NAME}),
    ("glosses", {}),
]  # fmt: skip


@pytest.mark.parametrize(("what", "params"), SUMS)
def test_what_is_asked_without_a_run(service: Service, what: str, params: dict[str, Any]) -> None:
    message = check(CalculationMessage, service.calculate({"what": what, **params}))
    check(get_type_hints(Calculations)[what], message["data"])


def test_what_the_page_is_told_first(service: Service) -> None:
    config = head().split("window.glassConfig = ")[1]
    check(PageConfig, json.JSONDecoder().raw_decode(config)[0])
    check(list[Offer], offers(service.engine))


def test_each_question_has_a_definition_and_is_asked_here() -> None:
    assert get_type_hints(Details).keys() == DETAILS.keys()
    assert get_type_hints(Calculations).keys() == CALCULATORS.keys()
    assert {what for what, _ in SUMS} == CALCULATORS.keys()


def test_a_message_that_is_another_is_noticed() -> None:
    """The check itself: a key too many, one too few, a number of another kind."""
    exact = {"kind": "message", "level": "info", "code": "busy", "params": {}}
    check(Notice, exact)
    for wrong in ({**exact, "more": 1}, {"kind": "message"}, {**exact, "sent": 1.5}, {**exact, "level": "loud"}):
        with pytest.raises(ValidationError):
            check(Notice, wrong)
