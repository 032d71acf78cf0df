"""Operations could be asked for in another process: what goes there and what comes back survives being sent."""

import io
import pickle
from collections.abc import Callable
from copyreg import dispatch_table
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, cast

import numpy as np
import pytest
from torch import Tensor, nn

import model
from app.engine import LocalEngine
from app.operations import OPERATIONS, Operation, named
from app.service import Service
from app.session import SOURCE
from model import LanguageModel, Trace
from model.analysis.switching import stacks
from model.trace import LayerTrace
from visuals.payload import trace_payload

ZOO = Path(__file__).parents[2] / "model" / "zoo"
PROMPT = "Tom is in the kitchen. Tom is in the"


class DataPickler(pickle.Pickler):
    """Takes data alone: no function, and nothing that holds a network."""

    dispatch_table = dispatch_table

    def reducer_override(self, obj: object) -> Any:
        if isinstance(obj, nn.Module | LanguageModel | Trace | MethodType) or _is_ours(obj):
            raise TypeError(f"{obj!r} is no data.")
        return NotImplemented


def _is_ours(obj: object) -> bool:
    """Whether it is a function of this project; those of numpy and torch rebuild their arrays."""
    functions = isinstance(obj, FunctionType | BuiltinFunctionType)
    return functions and str(obj.__module__).split(".")[0] in ("model", "visuals", "app") and obj is not named


def sent(value: Any) -> Any:
    """A value after it was sent to another process."""
    written = io.BytesIO()
    DataPickler(written).dump(value)
    return pickle.loads(written.getvalue())


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal in all that they hold."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, Tensor):
        return one.dtype == other.dtype and bool((one == other).all())
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, LayerTrace):
        return same(one.arrays, other.arrays)
    if is_dataclass(one):
        return all(same(getattr(one, part.name), getattr(other, part.name)) for part in fields(one))
    return one == other


class Remote(LocalEngine):
    """An engine that is asked as if it were in another process; a run stays where it is. Notes which work was asked."""

    asked: set[str]

    def study(self, name: str, operation: Operation[..., Any], trace: Trace | None, *args: Any, **kwargs: Any) -> Any:
        assert sent(operation) is operation
        given, named_ones = sent((args, kwargs))
        assert same((given, named_ones), (args, kwargs)), operation.name
        result = super().study(name, operation, trace, *given, **named_ones)
        back = sent(result)
        assert same(back, result), operation.name
        self.asked.add(operation.name)
        return back


def ask_all(service: Service, name: str) -> None:
    """Every question about a run of one model, and the race."""
    run = service.recall({"prompt": PROMPT, "model": name})
    last = len(run["tokens"]["ids"]) - 1
    at, head = {"token": last}, {"layer": 1, "head": 0}
    pair = at | {"text": PROMPT.replace("kitchen", "bedroom")}
    circuit = ask(service, run["id"], "circuit", pair | {"nodes": 3})
    nodes = [[node["layer"], node["head"], node["token"]] for node in circuit["nodes"]]
    questions: list[tuple[str, dict[str, Any]]] = [
        ("knocked", at),
        ("rests", at), ("windows", at), ("heads", at), ("looks_back", at), ("why", at), ("words", at), ("outside", {}),
        ("edges", pair | {"nodes": nodes, "start": 0}), ("circuit_controls", pair | {"nodes": nodes}),
        ("causal_map", pair), ("lens", {}), ("contributions", {"versus": True}), ("stream", {}), ("ffn_firing", {}),
        ("kv_live", {}), ("score_terms", head | {"query": last, "key": 0}), ("logit_terms", at | {"target": 5}),
        ("matching", head | {"query": last, "key": max(0, last - 2)}), ("told_apart", at), ("tensors", {"layer": 1}),
        ("ends", at),
        ("code", {"layer": 1, "panel": "swiglu", "tensors": ["gate"]}),
        ("stage", at | {"layer": 1}), ("training", {}), ("merges", {}), ("cost", {}), ("head_names", {}),
        ("parts", {}), ("loss", {}),
        ("head_jobs", {"count": 1}),
        ("norm_vectors", {"layer": 1, "norm": "attn"}), ("rope_scalings", {"factor": 2}),
        ("position_kinds", head),
        ("norm_kinds", {"layer": 1, "norm": "attn", "first": 0, "count": 9}),
        ("norm_times", {"layer": 1, "norm": "attn"}), ("norm_placement", {"first": 0, "count": 9}),
        ("ffn_written", at | {"layer": 1, "target": 3}), ("head_write", head | {"query": last}),
        ("projection", head | {"vector": "q"}), ("sinks", {}), ("activation_kinds", {"layer": 1}),
        ("attention_kinds", {}), ("recalled", pair),
    ]  # fmt: skip
    for what, params in questions:
        ask(service, run["id"], what, params)
    for ahead in (False, True):
        of_run = {"run": run["id"], "ahead": ahead}
        assert service.layers({**of_run, "layers": [1], "token": 0})["kind"] == "layers"
        assert service.neurons({**of_run, "layer": 1, "token": None})["kind"] == "neurons"
    race = service.calculate({"what": "kv_race", "model": name, "ids": run["tokens"]["ids"]})
    assert race["kind"] == "calculation"
    for further in (False, True):
        fit = service.calculate({"what": "lens_fit", "model": name, "further": further})
        assert fit["kind"] == "calculation"


def ask(service: Service, run: str, what: str, params: dict[str, Any]) -> Any:
    answer = service.detail({"run": run, "what": what, **params})
    assert answer["kind"] == "detail", (what, answer)
    return answer["data"]


def test_all_operations_take_and_give_what_can_be_sent() -> None:
    models = [model.load(ZOO / name, device="cpu") for name in ("llama", "deepseek", "t5")]
    bundled = model.load(device="cpu")
    engine = Remote([*models, bundled])
    engine.asked = set()
    service = Service(engine)
    ask_all(service, "llama")
    ask(service, service.run(PROMPT, bundled.name)["id"], "lens", {"jacobian": True})
    latents, read = (service.run(PROMPT, name)["id"] for name in ("deepseek", "t5"))
    ask(service, latents, "latent", {"layer": 1, "head": 0})
    ask(service, latents, "experts", {"layer": 1})
    ask(service, latents, "routing_kinds", {"layer": 1})
    ask(service, f"{read}{SOURCE}", "ends", {"token": 0})
    assert engine.asked == set(OPERATIONS)


@pytest.mark.parametrize("name", ["llama", "deepseek", "t5"])
def test_a_run_is_told_without_its_network(name: str) -> None:
    lm = model.load(ZOO / name, device="cpu")
    about, gone = LocalEngine([lm]).about(name), cast(LanguageModel, None)
    for run in stacks(model.run_trace(lm, PROMPT)):
        there = replace(run, lm=gone, network=sent(run.network))
        assert same(there.network, run.network)
        assert trace_payload(about, there) == trace_payload(about, run)
        there.check_finite()


@pytest.mark.parametrize("value", [model.load, lambda: None, nn.Linear(1, 1)])
def test_functions_and_networks_cannot_be_sent(value: Callable[..., Any]) -> None:
    with pytest.raises((TypeError, pickle.PicklingError, AttributeError)):
        sent([value])


def test_an_operation_is_sent_as_its_name() -> None:
    for name, operation in OPERATIONS.items():
        assert named(name) is operation
        assert sent(operation) is operation
    with pytest.raises(KeyError):
        named("nothing")
