"""Whatever is sent, the answer is an answer: no internal error, no status of 500, no path of this machine."""

import json
import os
import sys
import time
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from httpx import HTTPStatusError
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from app.chapters import CALCULATORS, DETAILS
from app.chapters.kv import ANSWERS
from app.engine import LocalEngine
from app.panels import sealed
from app.request_validator import RefusedError, checked
from app.service import Service
from app.visitors import Visitor as Whose
from tests.visitor import Site, Visitor

# Nothing here does; in another thread gradio's queue shuffles what waits in it, which hypothesis takes for ours.
pytestmark = [
    pytest.mark.thorough,
    pytest.mark.filterwarnings("ignore:Do not use the .random. module inside strategies"),
]
PROMPT = "The cat sleeps on the sofa."
SEARCH = (Phase.generate,)  # what fails is shown as it is: making it smaller takes minutes
# The home of the code, of the interpreter and of what it installs, and where tests keep their models.
PATHS = {str(Path.cwd()), str(Path.home()), sys.prefix, sys.base_prefix, os.path.dirname(os.__file__), "/tmp/pytest"}
ODD_NUMBERS = [-1, 0, 1, 2, 3, 127, 4096, 65536, 2**31, 2**63, 2**64, 2**70, -(2**70), 2.9, -0.0, 1e308, 1e-320]
ODD_TEXTS = [
    "",
    "0",
    "auto",
    "constructor",
    "__proto__",
    "<b>",
    "\x00",
    "a" * 5000,
    "猫",
    "../..",
    "{}",
    "[[",
    "nan",
    "🦙",
]
# What JSON cannot hold, though Python's reader takes it; the page's server refuses it before anything else sees it.
NO_JSON: list[Any] = [float("nan"), float("inf"), "\ud800"]
scalars = st.one_of(st.none(), st.booleans(), st.sampled_from(ODD_NUMBERS), st.integers(-5, 400))
scalars |= st.floats(allow_nan=False, allow_infinity=False, width=32) | st.sampled_from(ODD_TEXTS) | st.text(max_size=8)
odd: Any = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
pairs = st.lists(st.lists(st.integers(-1, 90), min_size=2, max_size=2), max_size=3)
changes = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(("heads", "neurons", "patches"), pairs | odd) | {"source": odd, "ffn": odd, "other": odd},
)
SPEC = {"num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 4, "model_type": "llama", "vocab_size": 99}
SIZES = (
    "tokens",
    "batch",
    "tp",
    "pp",
    "dcp",
    "block_size",
    "shared_prefix",
    "reserved_tokens",
    "window",
    "mtp",
    "users",
)
# What a page sends with each question; a test puts something else in place of some of it.
KV = {"model": "Llama-3 8B", "tokens": 8192, "batch": 2, "dtype": "bf16", "gpu": "H100 80 GB", "weights": "bf16"}
KV |= {"memory_gb": 80, "bandwidth_gb_per_s": 900, "usable_percent": 90, "users": 3, "user_tokens": 999, "hub": "a/b"}
KV |= {"config": json.dumps(SPEC), "compare": ["Llama-2 7B"], "view": "lines", "unit": "gb", "x": "log", "y": "linear"}
KV |= {"asked": "kv", "along": "tokens", "values": [1, 2], "ids": [1, 2, 3], "few": True, "embeddings": None}
LOOK = {
    "layer": 1,
    "layers": [1, 0],
    "token": 2,
    "query": 2,
    "head": 0,
    "norm": "attn",
    "factor": 2,
    "neuron": None,
    "follow": True,
}
LOOK |= {"target": None, "versus": True, "temperature": 1, "top_k": 5, "top_p": 0.9, "seed": 3, "draws": 0}


def mixed(sent: dict[str, Any], more: dict[str, Any] | None = None) -> st.SearchStrategy[Any]:
    """What a page sends with up to three fields changed or left out; now and then something else altogether."""
    fields = st.dictionaries(st.sampled_from(sorted(sent)), odd, max_size=3)
    given = st.builds(lambda change, extra: {**sent, **change, **extra}, fields, st.fixed_dictionaries(more or {}))
    left_out = st.builds(
        lambda data, name: {k: v for k, v in data.items() if k != name}, given, st.sampled_from(sorted(sent))
    )
    return given | left_out | odd


def fine(answer: Any) -> None:
    """An answer that a reader can do something with."""
    text = sealed(answer)
    assert answer["kind"] in ("run", "layers", "neurons", "detail", "calculation", "message", "step", "file"), text
    assert answer.get("code") != "internal", text
    text.encode()
    assert not [path for path in PATHS if path in text]
    assert len(text) < {"message": 2500, "file": 5_000_000}.get(answer["kind"], 3_000_000)


@pytest.fixture(scope="module")
def held(engine: LocalEngine) -> tuple[Service, str, str]:
    """A service with two runs of one text."""
    service = Service(engine)
    return service, *(service.run(PROMPT, "roomy", visitor=Whose(session=name))["id"] for name in ("one", "two"))


@given(data=st.data())
@settings(max_examples=60, phases=SEARCH)
def test_questions_about_a_run(held: tuple[Service, str, str], data: st.DataObject) -> None:
    service, run, other = held
    sent = {"run": run, **LOOK}
    for name in ("layers", "neurons", "change"):
        fine(getattr(service, name)(data.draw(mixed(sent, {"changes": changes}))))
    what = data.draw(st.sampled_from(sorted(DETAILS)))
    fine(
        service.detail(
            data.draw(
                mixed({**sent, "what": what, "other": other} if data.draw(st.booleans()) else {**sent, "what": what})
            )
        )
    )


@given(data=st.data())
@settings(max_examples=30, phases=SEARCH)
def test_files_of_runs(held: tuple[Service, str, str], data: st.DataObject) -> None:
    """With odd fields; what panels have asked may be anything. A file is seconds of work, so most views are odd."""
    service, run, other = held
    asked = st.lists(mixed({**LOOK, "what": "lens", "other": other}), max_size=3)
    view = mixed({"run": run, "layer": 1, "head": 0, "query": 2, "key": 0}, {"asked": asked | odd, "layer": odd})
    views = st.lists(view, max_size=3) | odd
    fine(
        service.one_file(data.draw(mixed({"hash": "", "lesson": None}, {"views": views, "calculations": asked | odd})))
    )


@given(data=st.data())
@settings(max_examples=40, phases=SEARCH)
def test_runs(held: tuple[Service, str, str], data: st.DataObject) -> None:
    service, run, _ = held
    ids = st.lists(st.integers(-1, 400), max_size=6)
    sent = {"prompt": "猫 a", "model": "roomy", "layer": 1, "ids": [5, 6, 7], "n_prompt": 2, "generated": [7]}
    more = {"changes": changes, "run": st.just(run)}
    fine(service.rerun(data.draw(mixed(sent, more | ({"ids": ids} if data.draw(st.booleans()) else {})))))
    fine(service.recall(data.draw(mixed(sent, more | ({"generated": ids} if data.draw(st.booleans()) else {})))))
    prompt, model = data.draw(st.just("a") | odd), data.draw(st.just("roomy") | odd)
    view = data.draw(mixed({"run": run, "layer": 0, "ticket": "t"}))
    fine(service.run(prompt, model, view))
    asked = [data.draw(st.sampled_from([None, 0, 0.5, 20, 20.0]) | odd) for _ in range(4)]
    fine(service.step(prompt, model, asked, view))
    for message in service.generate(prompt, model, data.draw(st.integers(1, 3) | odd), asked, view):
        fine(message)
    service.stop(data.draw(odd))


@given(data=st.data())
@settings(max_examples=200, phases=SEARCH)
def test_what_needs_no_run(held: tuple[Service, str, str], data: st.DataObject) -> None:
    what = data.draw(st.sampled_from(sorted(CALCULATORS)))
    sent = {**KV, "what": what, "asked": data.draw(st.sampled_from(sorted(ANSWERS)))}
    named = st.sampled_from(["Llama-3 8B", "DeepSeek-V3", "Mistral-7B v0.1", ":config", ":hub", "roomy"])
    options = st.dictionaries(st.sampled_from(SIZES), scalars, max_size=3)
    config = st.builds(
        lambda change: json.dumps({**SPEC, **change}), st.dictionaries(st.sampled_from(sorted(SPEC)), odd, max_size=2)
    )
    chosen = {"model": named, "config": config | odd}
    fine(
        held[0].calculate(
            data.draw(
                st.builds(
                    lambda one, two: {**one, **two}, mixed(sent, chosen).filter(lambda d: isinstance(d, dict)), options
                )
            )
        )
    )
    fine(held[0].calculate(data.draw(odd)))


def test_what_json_cannot_hold(held: tuple[Service, str, str]) -> None:
    service, run, _ = held
    values = cycle(NO_JSON)
    for name in LOOK:
        for what in DETAILS:
            value = next(values)
            answer = service.detail({**LOOK, "run": run, "what": what, name: value})
            assert answer.get("code") != "internal", (what, name, value)
    assert [service.run(value, "roomy", {})["kind"] for value in NO_JSON] == ["message"] * 3


# Over HTTP, as gradio reads it.


@pytest.fixture(scope="module")
def asked(site: str) -> Site:
    return Site(site)


def decent(status: int, text: str) -> None:
    assert status < 500, text
    assert not [path for path in PATHS if path in text], text


BODIES: tuple[bytes, ...] = (
    b"", b"{", b"null", b"[]", b"1", b'"\\ud800"', b"\xff\xfe", b"NaN", b"[" * 9999, b'{"a":' * 400 + b"1" + b"}" * 400,
    b'{"data": [NaN]}', b"1" + b"0" * 5000,
)  # fmt: skip
VALUES = (
    b'"\\ud83d"',
    b"99999999999999999999999",
    b"-" + b"9" * 30,
    b"1e999",
    b"[" * 40 + b"]" * 40,
    b"[" * 300 + b"]" * 300,
)
PATHS_ASKED = ("component_server", "queue/join", "run/predict", "run/trace", "run/nothing", "call/trace",
               "call/nothing", "call/v2/trace", "call/v2/nothing", "call/generate", "cancel", "reset")  # fmt: skip


def test_bodies_that_are_no_requests(asked: Site) -> None:
    for path in PATHS_ASKED:
        for body in BODIES:
            answer = asked.post(path, body)
            decent(answer.status_code, answer.text)


def test_values_that_break_json_are_refused_in_words(asked: Site) -> None:
    """Half a surrogate pair, an integer of 65 bits and deep nesting gave 500."""
    event = asked.event("run")["id"]
    for value in VALUES:
        for body in (
            b'{"data": {"run": %s}, "component_id": %d, "fn_name": "layers", "session_hash": "s"}' % (value, asked.bus),
            b'{"data": {"a": {%s: 1}}, "component_id": %d, "fn_name": "recall", "session_hash": "s"}'
            % (value if value.startswith(b'"') else b'"\\udc00"', asked.bus),
            b'{"data": [%s, "roomy", {}], "fn_index": %d, "session_hash": "s"}' % (value, event),
        ):
            for path in ("component_server", "queue/join"):
                answer = asked.post(path, body)
                prompt = path == "queue/join" and body.startswith(b'{"data": ["')
                if prompt:  # the page says what is wrong with a prompt: tests/app/test_page_use.py
                    assert answer.status_code == 200, answer.text
                    continue
                assert answer.status_code in (400, 404, 422), (body[:60], answer.text)
                assert answer.json()["detail"]


@pytest.mark.parametrize("part", [b"[],", b"{},", b"0,", b'"",', b'{"":0},'])
def test_more_values_than_a_page_sends_are_not_read(asked: Site, part: bytes) -> None:
    """A megabyte of them held everything up for one to two seconds; what a text says is no value."""
    for data in (part * (900_000 // len(part)) + b"0", b'"\\' * 3 + b"," * 300_000):
        body = b'{"data": [%s], "component_id": %d, "fn_name": "layers", "session_hash": "s"}' % (data, asked.bus)
        before = time.process_time()
        with pytest.raises(RefusedError) as refused:
            checked(body)
        assert refused.value.status in (400, 413)
        assert time.process_time() - before < 0.2
        assert asked.post("component_server", body).status_code == refused.value.status
    text = json.dumps({"data": '[],{}"\\"' * 50_000, "component_id": asked.bus, "fn_name": "x", "session_hash": "s"})
    assert checked(text.encode())["component_id"] == asked.bus


def test_a_name_or_a_body_too_long_is_refused(asked: Site) -> None:
    long = "s" * 100_000
    for body in ({"session_hash": long}, {"session_hash": 5}, {"session_hash": "s", "event_id": long}):
        sent = {"data": {}, "component_id": asked.bus, "fn_name": "layers", **body}
        assert asked.post("component_server", sent).status_code == 422
        assert (
            asked.post(
                "queue/join", {"data": ["a", "roomy", {}], "fn_index": asked.event("run")["id"], **body}
            ).status_code
            == 422
        )
    answer = asked.post("component_server", b'"' + b"x" * 5_000_000 + b'"')
    assert answer.status_code == 413


@given(data=st.data())
@settings(max_examples=100, phases=SEARCH)
def test_server_functions_over_http(asked: Site, data: st.DataObject) -> None:
    function = data.draw(
        st.sampled_from(["layers", "neurons", "rerun", "detail", "calculate", "change", "recall", "cut"])
    )
    sent = {
        "run": "gone",
        "prompt": "a",
        "model": "roomy",
        "ids": [1],
        "n_prompt": 1,
        "what": "tensors",
        "layer": 0,
        "layers": [0],
    }
    body = {"data": data.draw(mixed(sent)), "component_id": asked.bus, "fn_name": function, "session_hash": "fuzz"}
    if data.draw(st.integers(0, 4)) == 0:
        body |= data.draw(st.dictionaries(st.sampled_from(sorted(body)), odd, min_size=1, max_size=2))
    answer = asked.http.post("gradio_api/component_server", json=body) if encodable(body) else None
    if answer is not None:
        decent(answer.status_code, answer.text)
        if answer.status_code == 200:
            fine(answer.json())


def encodable(body: Any) -> bool:
    """Whether a client can send it at all."""
    try:
        json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


@given(data=st.data())
@settings(max_examples=60, phases=SEARCH)
def test_events_over_http(asked: Site, data: st.DataObject) -> None:
    control = data.draw(st.sampled_from(["run", "generate", "step", "stop"]))
    view = data.draw(mixed({"run": "gone", "layer": 0, "ticket": "t"}))
    numbers = [data.draw(scalars) for _ in range(5)]
    numbers[0] = data.draw(st.sampled_from([1, 2, None, 2.9, "3", True]))
    values = {"run": ["a", "roomy", view], "stop": [view]}.get(control, ["a", "roomy", view, *numbers])
    values[0] = data.draw(st.just(values[0]) | odd)
    if not encodable(values):
        return
    if control == "stop":
        event = asked.event("stop")["id"]
        answer = asked.post("run/predict", {"data": values, "fn_index": event, "session_hash": "fuzz"})
        decent(answer.status_code, answer.text)
        return
    try:
        told = Visitor(asked).press(control, *values)
    except HTTPStatusError as refused:
        decent(refused.response.status_code, refused.response.text)
        return
    assert all(message["kind"] != "partial" or message["success"] for message in told)
    fine(told[0])


@given(data=st.data())
@settings(max_examples=60, phases=SEARCH)
def test_named_endpoints_over_http(asked: Site, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["trace", "generate", "kv_cache"]))
    sent: dict[str, list[Any]] = {"trace": ["a"], "generate": ["a", 2, 0.5, 3, 0.9, 1]}
    sent["kv_cache"] = ["Llama-3 8B", 8192, 1, "bf16", "", "", "bf16", "", 90, 0, 0, "", {}]
    values = list(sent[name])
    for _ in range(data.draw(st.integers(0, 2))):
        values[data.draw(st.integers(0, len(values) - 1))] = data.draw(odd)
    if data.draw(st.integers(0, 9)) == 0:
        values.pop()
    if not encodable(values):
        return
    answer = asked.post(f"call/{name}", {"data": values})
    decent(answer.status_code, answer.text)
    if answer.status_code == 200:
        said = asked.http.get(f"gradio_api/call/{name}/{answer.json()['event_id']}").text
        decent(200, said)
        # An error without a word is one that nobody foresaw.
        assert "event: complete" in said or ("event: error" in said and '"error": null' not in said), (values, said)
