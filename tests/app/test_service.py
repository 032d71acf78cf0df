"""Every request of the page, answered by the service over a real (small) model."""

import json
from typing import Any

import numpy as np
import pytest

import model
from app.engine import LocalEngine, Settings
from app.requests import MAX_NEW_TOKENS
from app.service import Service
from app.session import Runs
from model.interventions import Intervention, Patch
from visuals.payload import unpack
from visuals.run import STEPS_A_MESSAGE

PROMPT = "The cat sleeps on the sofa."
GREEDY = Settings()


def trace_of(engine: LocalEngine, ids: list[int]) -> model.Trace:
    return engine.trace("roomy", ids)


def final(messages: list[dict[str, Any]]) -> dict[str, Any]:
    first, *between, last = messages
    assert (first["kind"], last["kind"]) == ("run", "run")
    assert all(m["kind"] == "step" or m["generating"] for m in between)
    return last


def test_run_tells_the_trace(service: Service, engine: LocalEngine) -> None:
    message = json.loads(json.dumps(service.run(PROMPT, "roomy", {"layer": 2})))
    trace = trace_of(engine, message["tokens"]["ids"])
    layer = trace.layer(2)
    assert (message["kind"], message["prompt"], message["layer"]["layer"]) == ("run", PROMPT, 2)
    assert message["n_prompt"] == len(message["tokens"]["ids"]) == len(message["tokens"]["pieces"])
    np.testing.assert_array_equal(unpack(message["rms"]["attn"]), trace.attn_norm_rms)
    np.testing.assert_array_equal(unpack(message["rms"]["ffn"]), trace.ffn_norm_rms)
    np.testing.assert_array_equal(unpack(message["rms"]["final"]), trace.final_norm_rms)
    np.testing.assert_array_equal(unpack(message["layer"]["q"]), layer.q)
    np.testing.assert_array_equal(unpack(message["layer"]["k"]), layer.k)
    np.testing.assert_array_equal(unpack(message["layer"]["neurons"]["gate"]), layer.gate[-1])
    np.testing.assert_array_equal(unpack(message["layer"]["neurons"]["up"]), layer.up[-1])


def test_layer_and_neurons_of_a_held_run(service: Service, engine: LocalEngine) -> None:
    run = service.run(PROMPT, "roomy")
    (layer,) = service.layers({"run": run["id"], "layers": [1], "token": 3})["layers"]
    neurons = service.neurons({"run": run["id"], "layer": 1, "token": 3})
    truth = trace_of(engine, run["tokens"]["ids"]).layer(1)
    np.testing.assert_array_equal(unpack(layer["q"]), truth.q)
    np.testing.assert_array_equal(unpack(neurons["gate"]), truth.gate[3])
    assert layer["neurons"] == neurons
    everyone = service.neurons({"run": run["id"], "layer": 1, "token": None})
    np.testing.assert_array_equal(unpack(everyone["gate"]), truth.gate)
    np.testing.assert_array_equal(unpack(everyone["up"]), truth.up)


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {"layers": [-1], "token": 0},
        {"layers": [0, 3], "token": 0},
        {"layers": [0], "token": 99},
        {"layers": ["0"], "token": 0},
        {"layers": [True], "token": 0},
        {"layers": [], "token": 0},
        {"layers": [0] * 9, "token": 0},
        {"layers": 0, "token": 0},
    ],
)
def test_requests_that_no_page_makes(service: Service, data: Any) -> None:
    run = service.run(PROMPT, "roomy")
    asked = {"run": run["id"], **data} if isinstance(data, dict) and data else data
    answer = service.layers(asked)
    assert answer["kind"] == "message"
    assert answer["code"] in ("bad_request", "run_expired")


def test_an_expired_run_is_run_again(engine: LocalEngine) -> None:
    service = Service(engine, Runs(max_bytes=1))
    old = service.run(PROMPT, "roomy")
    service.run("another", "roomy")
    gone = service.layers({"run": old["id"], "layers": [0], "token": 0})
    assert (gone["kind"], gone["code"]) == ("message", "run_expired")
    request = {"model": "roomy", "prompt": PROMPT, "ids": old["tokens"]["ids"], "n_prompt": old["n_prompt"], "layer": 1}
    new = service.rerun(request)
    assert new["tokens"] == old["tokens"]
    assert new["id"] != old["id"]
    assert new["layer"]["layer"] == 1


@pytest.mark.parametrize("ids", [[], None, "12", [1.5], [-1], [320], [1] * 2000, [True]])
def test_again_checks_the_ids(service: Service, ids: Any) -> None:
    answer = service.rerun({"model": "roomy", "prompt": "x", "ids": ids, "n_prompt": 1})
    assert answer["code"] == "bad_request"


def test_what_is_sent_beside_a_run_is_not_kept_with_it(service: Service) -> None:
    """A text of 5 MB in a field that no page sends stayed beside the run, and counted nothing."""
    long = "x" * 5_000_000
    sent: dict[str, Any] = {"model": "roomy", "layer": 0, "changes": {"heads": [[0, 1]], "note": long}, "extra": long}
    one = service.recall({**sent, "prompt": "The cat"})
    two = service.rerun({**sent, "prompt": "The cat", "ids": one["tokens"]["ids"], "n_prompt": 1})
    for run in (one, two):
        held = service.runs.get(run["id"])
        assert held.changes == run["changes"] == {"heads": [[0, 1]]}
        assert held.words_bytes() < 20_000
    for change in ({"prompt": long}, {"prompt": "a", "changes": {"source": long}}, {"prompt": "a", "model": long}):
        for ask in (service.recall, service.rerun):
            assert ask({**sent, "ids": [5], "n_prompt": 1, **change})["kind"] == "message"
    assert len(service.runs) == 2


def test_a_ticket_of_any_length_is_not_kept(service: Service) -> None:
    for ticket in ("x" * 5_000_000, ["x" * 5_000_000], {"a": 1}, None):
        service.stop(ticket)
    assert list(service.tickets._stopped) == []
    service.stop("mine")
    assert list(service.tickets._stopped) == ["mine"]


def test_bad_prompts_are_messages(service: Service) -> None:
    answers = [service.run(text, "roomy") for text in ("", "  ", "\x00", "\ud800", "x" * 100_000)]
    assert [a["kind"] for a in answers] == ["message"] * 5
    assert service.run("x", "nowhere")["code"] == "model_unknown"
    assert [m["code"] for m in service.generate("", "roomy", 4, GREEDY, {})] == ["prompt_empty"]


def test_generate_equals_the_model(service: Service, engine: LocalEngine, roomy_checkpoint: Any) -> None:
    lm = model.load(roomy_checkpoint, device="cpu")
    settings = Settings(temperature=0.8, top_k=20, top_p=0.9, seed=3)
    last = final(list(service.generate(PROMPT, "roomy", 12, settings, {"layer": 1})))
    steps = list(model.generate(lm, PROMPT, 12, temperature=0.8, top_k=20, top_p=0.9, seed=3))
    assert [s["id"] for s in last["steps"]] == [s.token_id for s in steps]
    assert last["tokens"]["ids"][last["n_prompt"] :] == [s.token_id for s in steps]
    assert last["steps"][5]["probability"] == pytest.approx(steps[5].probability, rel=1e-5)
    assert last["layer"]["layer"] == 1


def test_step_messages_hold_the_last_steps(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.service.STREAM_EVERY", 0.0)
    monkeypatch.setattr("app.service.RUN_EVERY", float("inf"))
    messages = list(service.generate(PROMPT, "roomy", 40, GREEDY, {}))
    assert messages[0]["generating"] is True
    told = messages[1:-1]
    for count, message in enumerate(told, 1):
        assert message["run"] == messages[0]["id"]
        assert [s["index"] for s in message["steps"]] == list(range(max(0, count - STEPS_A_MESSAGE), count))
        chosen = message["steps"][-1]
        assert chosen["id"] == chosen["next"]["ids"][0]  # greedy
    assert len(told) == len(messages[-1]["steps"])


def test_every_panel_follows_a_slow_generation(engine: LocalEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.service.RUN_EVERY", 0.0)
    runs = Runs()
    messages = list(Service(engine, runs).generate(PROMPT, "roomy", 6, GREEDY, {"layer": 2}))
    last = messages[-1]
    between = [message for message in messages[1:-1] if message["kind"] == "run"]
    assert between
    for message in between:
        count = len(message["steps"])
        assert message["generating"] is True
        assert message["tokens"]["ids"] == last["tokens"]["ids"][: last["n_prompt"] + count]
        assert message["steps"] == last["steps"][:count]
        whole = trace_of(engine, message["tokens"]["ids"]).layer(2).q  # what was written was read token by token
        np.testing.assert_allclose(unpack(message["layer"]["q"]), whole, atol=1e-5)
    assert len(runs) == 2 + 1  # the prompt's, the last of those between, and that of all


def test_stop_ends_the_generation(service: Service) -> None:
    messages = service.generate(PROMPT, "roomy", MAX_NEW_TOKENS, GREEDY, {"ticket": "t"})
    first = next(messages)
    service.stop("t")
    rest = list(messages)
    assert first["kind"] == "run"
    assert rest[-1]["kind"] == "run"
    assert len(rest[-1]["steps"]) < MAX_NEW_TOKENS


def test_stop_with_another_ticket_stops_nothing(service: Service) -> None:
    service.stop("other")
    assert len(final(list(service.generate(PROMPT, "roomy", 5, GREEDY, {"ticket": "t"})))["steps"]) == 5


def test_steps_one_by_one_are_the_greedy_generation(service: Service) -> None:
    run = service.run(PROMPT, "roomy")
    for _ in range(4):
        run = service.step(PROMPT, "roomy", GREEDY, {"run": run["id"]})
    together = final(list(service.generate(PROMPT, "roomy", 4, GREEDY, {})))
    assert run["tokens"] == together["tokens"]
    assert [s["index"] for s in run["steps"]] == [0, 1, 2, 3]


def test_a_run_that_grew_is_timed_by_the_pass_that_it_grew_from(service: Service) -> None:
    """What is put together of recorded tokens takes no time that says anything of the network."""
    run = service.run(PROMPT, "roomy")
    grown = service.step(PROMPT, "roomy", GREEDY, {"run": run["id"]})
    cut = service.cut({"run": grown["id"], "count": 0, "layer": 0})
    assert run["seconds"] == grown["seconds"] == cut["seconds"]


def test_step_starts_afresh_where_the_prompt_changed(service: Service) -> None:
    run = service.run(PROMPT, "roomy")
    other = service.step("A dog", "roomy", GREEDY, {"run": run["id"]})
    assert (other["prompt"], len(other["steps"])) == ("A dog", 1)


def test_a_changed_run_is_written_on_as_it_is_changed(service: Service, roomy_checkpoint: Any) -> None:
    lm = model.load(roomy_checkpoint, device="cpu")
    changes: dict[str, Any] = {"heads": [[0, 0], [0, 1], [1, 2]], "ffn": [1]}
    off = Intervention(heads=((0, 0), (0, 1), (1, 2)), ffn=(1,))
    theirs = [step.token_id for step in model.generate(lm, PROMPT, 5, intervention=off)]
    assert theirs != [step.token_id for step in model.generate(lm, PROMPT, 5)]
    shown = service.change({"run": service.run(PROMPT, "roomy")["id"], "changes": changes})
    for message in service.generate(PROMPT, "roomy", 5, GREEDY, {"run": shown["id"]}):
        assert message.get("changes", changes) == changes
        written = message
    assert written["tokens"]["ids"][written["n_prompt"] :] == theirs
    for count in (1, 2):
        shown = service.step(PROMPT, "roomy", GREEDY, {"run": shown["id"]})
        assert (shown["changes"], shown["tokens"]["ids"][shown["n_prompt"] :]) == (changes, theirs[:count])
    assert [step["own"] for step in written["steps"]] == [True] * 5
    undone = service.change({"run": shown["id"], "changes": {}})
    assert [step["own"] for step in undone["steps"]] == [False, False]  # which are still those of the changed run
    on = service.step(PROMPT, "roomy", GREEDY, {"run": undone["id"]})
    assert [step["own"] for step in on["steps"]] == [False, False, True]
    again = service.change({"run": on["id"], "changes": changes})
    assert [step["own"] for step in again["steps"]] == [True, True, False]
    cut = service.cut({"run": written["id"], "count": 3, "layer": 0})
    assert (cut["changes"], cut["tokens"]["ids"]) == (changes, written["tokens"]["ids"][:-2])
    other = service.step("A dog", "roomy", GREEDY, {"run": shown["id"]})
    assert not other["changes"]  # another prompt is run as it is


def test_a_patched_run_is_written_on_with_the_same_streams(service: Service, roomy_checkpoint: Any) -> None:
    lm = model.load(roomy_checkpoint, device="cpu")
    first, second = service.run("The dog plays", "roomy"), service.run("The cat sleeps", "roomy")
    stream = model.run_trace(lm, "The dog plays").residual[2, 2]
    patch = Intervention(patches=(Patch(2, 2, tuple(stream.tolist())),))
    theirs = [step.token_id for step in model.generate(lm, "The cat sleeps", 4, intervention=patch)]
    changes = {"patches": [[2, 2]], "source": first["id"]}
    shown = service.change({"run": second["id"], "changes": changes})
    for _ in theirs:
        shown = service.step("The cat sleeps", "roomy", GREEDY, {"run": shown["id"]})
    assert shown["tokens"]["ids"][shown["n_prompt"] :] == theirs


def test_a_link_brings_generated_tokens_back(service: Service) -> None:
    grown = final(list(service.generate(PROMPT, "roomy", 3, GREEDY, {})))
    generated = grown["tokens"]["ids"][grown["n_prompt"] :]
    again = service.run(PROMPT, "roomy", {"layer": 0, "generated": generated})
    assert (again["tokens"], again["n_prompt"]) == (grown["tokens"], grown["n_prompt"])


def test_the_context_ends_generation_and_steps(service: Service, engine: LocalEngine) -> None:
    small = engine.names[1]
    last = list(service.generate("x" * 120, small, 50, GREEDY, {}))[-1]
    assert len(last["tokens"]["ids"]) == 128
    assert (last["n_prompt"], len(last["steps"]), last["steps"][-1]["stop"]) == (120, 8, "max_context")
    full = service.step("x" * 128, small, GREEDY, {"run": ""})
    assert full["code"] == "context_full"
    assert [m.get("code") for m in service.generate("x" * 128, small, 5, GREEDY, {})] == [None, "context_full"]


def test_unexpected_errors_are_logged_not_shown(service: Service, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(service.engine, "trace", broken, raising=False)
    answer = service.run(PROMPT, "roomy")
    assert (answer["code"], answer["params"]) == ("internal", {"detail": "RuntimeError"})
    assert "secret detail" in caplog.text


def test_a_payload_is_small(service: Service) -> None:
    message = service.run("x" * 32, "roomy")
    assert len(message["tokens"]["ids"]) == 32
    assert len(json.dumps(message)) < 150_000


def test_a_page_that_has_chosen_nothing_starts_where_the_answer_is_read(service: Service) -> None:
    message = service.run("The cat", "roomy", {"run": ""})
    start = message["start"]
    assert start["query"] == len(message["tokens"]["ids"]) - 1 >= start["key"]
    assert message["layer"]["layer"] == start["layer"]
    assert "start" not in service.run("The cat", "roomy", {"layer": 1})
