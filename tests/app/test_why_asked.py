"""What the first screen asks: each answer against the model's own functions."""

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pytest
import torch

import model
from app.engine import LocalEngine
from app.examples import EXAMPLES
from app.requests import PAIR_TOKENS, map_limit
from app.service import Service
from model.analysis import knock_out
from model.analysis.causal_map import causal_map
from model.analysis.circuit import chance_control, change_control, circuit, held_out_shares
from model.analysis.first_look import first_look
from model.analysis.last_token import read_text
from model.analysis.logit_terms import logit_terms
from model.analysis.nodes import run_pair
from model.analysis.paths import edges
from model.analysis.score_terms import score_terms
from model.pieces import InPieces, Work
from visuals import why
from visuals.payload import unpack

PROMPT = "The cat sleeps on the sofa"


@pytest.fixture(scope="module")
def service(engine: LocalEngine) -> Service:
    return Service(engine)


@pytest.fixture(scope="module")
def run(service: Service) -> dict[str, Any]:
    return service.recall({"prompt": PROMPT, "model": "roomy"})


@pytest.fixture(scope="module")
def trace(engine: LocalEngine, run: dict[str, Any]) -> model.Trace:
    return engine.trace("roomy", run["tokens"]["ids"])


@pytest.fixture(scope="module")
def other(engine: LocalEngine, run: dict[str, Any], trace: model.Trace) -> str:
    """Another text of as many tokens, with another answer."""
    best = int(trace.logits.argmax())
    for word in ("sat", "dog", "hen", "cot", "car", "pat", "can", "bat"):
        text = PROMPT.replace("cat", word)
        ids = engine.encode("roomy", text)
        if len(ids) == len(trace.token_ids) and int(engine.trace("roomy", ids).logits.argmax()) != best:
            return text
    raise AssertionError("no text of as many tokens with another answer")


class Watched:
    """Work in pieces that notes the tokens it is asked about."""

    def __init__(self, work: InPieces[Any, Any], asked: list[int]):
        self.work, self.asked = work, asked

    def pieces(self, read: Any, target: int, *more: Any) -> Work[Any]:
        self.asked.append(target)
        return self.work.pieces(read, target, *more)


def ask(service: Service, run: dict[str, Any], what: str, **params: Any) -> dict[str, Any]:
    answer = service.detail({"run": run["id"], "what": what, **params})
    return answer.get("data", answer)


def test_what_an_answer_rests_on_and_the_heads_that_it_misses_are_the_models(
    service: Service, run: dict[str, Any], trace: model.Trace
) -> None:
    last = len(trace.token_ids) - 1
    found, rests = model.why(trace.lm, trace.token_ids), ask(service, run, "rests", token=last)
    assert (rests["target"], rests["position"], rests["form"]) == (found.answer, last, found.form)
    assert unpack(rests["lost"]) == pytest.approx(found.knock_out, abs=1e-5)
    assert (rests["tokens"], rests["sinks"]) == (list(found.tokens), list(found.sinks))
    assert (rests["fetched"], rests["from_answer"]) == pytest.approx((found.fetched_late, found.from_answer), abs=1e-5)
    for ablation in ("mean", "zero"):
        found = model.why(trace.lm, trace.token_ids, ablation=ablation)
        said = ask(service, run, "why", token=last, ablation=ablation)
        assert said["probability"] == pytest.approx(found.p)
        assert unpack(said["grid"]["lost"]) == pytest.approx(found.heads, abs=1e-5)
        assert unpack(said["grid"]["measured"]).all()
        assert [(one["layer"], one["head"]) for one in said["look"]["heads"]] == list(found.group)
        assert said["look"]["without"] == pytest.approx(found.without, rel=1e-4)
        assert said["look"]["by_chance"] == pytest.approx(sorted(found.by_chance), rel=1e-4)
        losses = [one["loss"] for one in said["parts"]]
        assert losses == sorted(losses, reverse=True) == pytest.approx(sorted(found.heads.ravel(), reverse=True))
        first = said["first"]
        reading = [one for one in said["parts"] if one["key"] == said["look"]["key"]] or said["parts"]
        assert (first["layer"], first["head"]) == (reading[0]["layer"], reading[0]["index"])
        row = trace.layer(first["layer"]).attention[first["head"], last]
        assert (first["key"], first["weight"]) == (int(row.argmax()), pytest.approx(float(row.max()), abs=1e-5))


def test_tokens_are_knocked_out_in_parts_which_are_not_done_again(
    service: Service, run: dict[str, Any], trace: model.Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two tokens a pass, and two passes a part; the last part is what is left."""
    last, expected = len(trace.token_ids) - 1, model.knock_out(trace.lm, trace.token_ids)
    monkeypatch.setattr(knock_out, "A_PASS", 2)
    monkeypatch.setattr(knock_out, "PART", 4)
    own, passes = knock_out._lost, list[range]()

    def noted(read: Any, target: int, tokens: range, *more: Any, **how: Any) -> list[float]:
        passes.append(tokens)
        return own(read, target, tokens, *more, **how)

    monkeypatch.setattr(knock_out, "_lost", noted)
    done = 0
    while done < last + 1:
        came = ask(service, run, "knocked", token=last, start=done)
        assert came == {"done": min(done + 4, last + 1), "total": last + 1}
        assert ask(service, run, "knocked", token=last, start=done) == came  # a lost answer
        done = came["done"]
    assert [token for some in passes for token in some] == list(range(last + 1))
    rests = ask(service, run, "rests", token=last)
    assert unpack(rests["lost"]) == pytest.approx(expected, abs=1e-5)
    assert sum(map(len, passes)) == last + 1
    ask(service, run, "rests", token=last - 1)  # of which nothing is known
    assert sum(map(len, passes)) == 2 * last + 1


def test_a_text_is_read_once_for_the_questions_that_follow(
    service: Service, engine: LocalEngine, trace: model.Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each answer is that of a text read for it alone, also after a question about another token or run in between."""
    texts = list[list[int]]()

    def noted(lm: model.LanguageModel, ids: Sequence[int], *more: Any) -> Any:
        texts.append(list(ids))
        return read_text(lm, ids, *more)

    monkeypatch.setattr(why, "read_text", noted)
    monkeypatch.setattr(why, "_read_last", WeakKeyDictionary())  # whatever was asked before
    run = service.recall({"prompt": PROMPT, "model": "roomy"})
    last = len(trace.token_ids) - 1
    expected = model.knock_out(trace.lm, trace.token_ids)
    for what in ("knocked", "rests", "why", "heads", "windows", "rests"):
        found = ask(service, run, what, token=last, **({"start": 0} if what in ("knocked", "heads") else {}))
    assert len(texts) == 1
    assert unpack(found["lost"]) == pytest.approx(expected, abs=1e-5)
    before = ask(service, run, "rests", token=last - 1)
    assert unpack(before["lost"]) == pytest.approx(model.knock_out(trace.lm, trace.token_ids[:-1]), abs=1e-5)
    off = service.change({"run": run["id"], "changes": {"heads": [[0, 0]]}})
    ask(service, off, "rests", token=last)
    again = service.recall({"prompt": PROMPT, "model": "roomy"})
    assert unpack(ask(service, again, "rests", token=last)["lost"]) == pytest.approx(expected, abs=1e-5)
    assert [len(ids) for ids in texts] == [last + 1, last, last + 1, last + 1]
    monkeypatch.setattr(why, "READ_KEPT", 0)  # as of a text that is too long to be kept
    fresh = service.recall({"prompt": PROMPT, "model": "roomy"})
    for what in ("rests", "why"):
        ask(service, fresh, what, token=last)
    assert len(texts) == 6


def test_heads_are_measured_in_parts_and_a_lost_part_is_measured_again(
    service: Service, run: dict[str, Any], trace: model.Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three heads a pass; the parts of another question between them leave none behind."""
    last, expected = len(trace.token_ids) - 1, model.why(trace.lm, trace.token_ids).heads
    monkeypatch.setattr("model.analysis.head_losses.LARGEST", 3 * len(trace.token_ids))
    done = 0
    while done < expected.size:
        came = ask(service, run, "heads", token=last, start=done)
        assert (came["done"], came["total"]) == (min(done + 3, expected.size), expected.size)
        done, measured = came["done"], unpack(came["grid"]["measured"]).astype(bool)
        assert measured.sum() == done
        assert unpack(came["grid"]["lost"])[measured] == pytest.approx(expected[measured], abs=1e-5)
        assert not unpack(came["grid"]["lost"])[~measured].any()
    ask(service, run, "heads", token=last, ablation="zero")
    again = ask(service, run, "heads", token=last, start=4)
    assert again["done"] == 6
    assert ask(service, run, "why", token=last)["grid"]["lost"] == came["grid"]["lost"]


def test_heads_are_told_of_the_token_asked_about_whatever_was_asked_before(
    service: Service, run: dict[str, Any], trace: model.Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it rests on is kept from the question before where it is the same one, and only then."""
    last, chances = len(trace.token_ids) - 1, torch.from_numpy(trace.logits).double().softmax(-1)
    best, second = (int(i) for i in chances.topk(2).indices)
    worked_out: list[int] = []
    monkeypatch.setattr(why, "support", Watched(why.support, worked_out))
    again = service.recall({"prompt": PROMPT, "model": "roomy"})
    for target, rests_before, times in ((second, second, 1), (best, second, 1), (None, best, 2), (best, best, 0)):
        worked_out.clear()
        ask(service, again, "rests", token=last, target=rests_before)
        said = ask(service, again, "why", token=last, target=target)
        assert (said["target"], len(worked_out)) == (best if target is None else target, times)
        assert said["probability"] == pytest.approx(float(chances[said["target"]]), rel=1e-5)


def test_of_a_token_that_was_written_it_is_what_that_one_rests_on(
    service: Service, run: dict[str, Any], trace: model.Trace
) -> None:
    ids, target = trace.token_ids[:3], trace.token_ids[3]
    whole = model.run_trace(trace.lm, ids).logits.astype("float64")
    own = whole[target] - np.logaddexp.reduce(whole)
    for what in ("rests", "why"):
        said = ask(service, run, what, token=2, target=target)
        assert (said["target"], said["position"]) == (target, 2)
        assert math.log(said["probability"]) == pytest.approx(own, abs=1e-5)


def test_of_a_run_with_heads_off_it_is_measured_with_these_off(
    service: Service, run: dict[str, Any], trace: model.Trace
) -> None:
    changed = service.change({"run": run["id"], "changes": {"heads": [[0, 0], [2, 5]]}})
    off = model.run_trace(trace.lm, trace.token_ids, model.Intervention(heads=((0, 0), (2, 5))))
    said = ask(service, changed, "why", token=len(trace.token_ids) - 1, target=7)
    logits = off.logits.astype("float64")
    assert math.log(said["probability"]) == pytest.approx(logits[7] - np.logaddexp.reduce(logits), abs=1e-5)
    assert unpack(said["grid"]["lost"])[[0, 2], [0, 5]].tolist() == [0, 0]
    head = said["parts"][0]
    also = model.Intervention(heads=((0, 0), (2, 5), (head["layer"], head["index"])))
    zero = ask(service, changed, "why", token=len(trace.token_ids) - 1, target=7, ablation="zero")
    logits = model.run_trace(trace.lm, trace.token_ids, also).logits.astype("float64")
    left = next(one for one in zero["parts"] if (one["layer"], one["index"]) == (head["layer"], head["index"]))
    assert math.log(left["without"]) == pytest.approx(logits[7] - np.logaddexp.reduce(logits), abs=1e-5)


def test_the_page_opens_at_the_first_look(run: dict[str, Any], trace: model.Trace) -> None:
    first = first_look(trace)
    assert first is not None
    last = len(trace.token_ids) - 1
    assert run["start"] == {"layer": first.layer, "head": first.head, "query": last, "key": first.key}
    assert run["layer"]["layer"] == first.layer


def test_a_circuit_and_its_edges_are_the_models(
    service: Service, run: dict[str, Any], trace: model.Trace, other: str
) -> None:
    last = len(trace.token_ids) - 1
    found = circuit(trace.lm, trace.token_ids, other, nodes=10)
    said = ask(service, run, "circuit", token=last, text=other, nodes=10)
    assert said["recovered"] == pytest.approx(found.recovered, abs=1e-5)
    assert said["without"] == pytest.approx(found.without, abs=1e-5)
    assert (said["answer"]["id"], said["other"]["id"]) == (found.answer, found.other)
    assert [(n["kind"], n["layer"], n["head"], n["token"]) for n in said["nodes"]] == list(found.nodes)
    nodes = [[node.layer, node.head, node.token] for node in found.nodes]
    controls = ask(service, run, "circuit_controls", token=last, text=other, nodes=nodes)
    assert controls["by_chance"] == pytest.approx(chance_control(found.pair, 10, draws=5), abs=1e-5)
    assert controls["by_change"] == pytest.approx(change_control(found.pair, 10), abs=1e-5)
    held = [one.share for one in held_out_shares(found.pair, found.nodes)]
    assert [one["share"] for one in controls["held_out"]] == pytest.approx(held, abs=1e-5)
    measured: list[dict[str, Any]] = []
    while not measured or len(measured) < answer["total"]:
        answer = ask(service, run, "edges", token=last, text=other, nodes=nodes, start=len(measured))
        measured += answer["edges"]
    expected = [edge for part in edges(found.pair, found.nodes) for edge in part]
    assert [tuple(one["from"].values()) for one in measured] == [edge.source for edge in expected]
    assert [one["effect"] for one in measured] == pytest.approx([edge.effect for edge in expected], abs=1e-5)


def test_both_texts_are_run_once_for_all_parts_of_the_edges(
    service: Service, run: dict[str, Any], trace: model.Trace, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = circuit(trace.lm, trace.token_ids, other, nodes=12)
    nodes = [[node.layer, node.head, node.token] for node in found.nodes]
    pairs: list[object] = []

    def counting(*given: Any) -> Any:
        pairs.append(given)
        return run_pair(*given)

    monkeypatch.setattr("visuals.circuit.run_pair", counting)
    start, total = 0, 1
    while start < total:
        answer = ask(service, run, "edges", token=len(trace.token_ids) - 1, text=other, nodes=nodes, start=start)
        start, total = start + len(answer["edges"]), answer["total"]
    assert total > 32  # several parts
    assert len(pairs) == 1


def test_words_to_change_keep_the_count_and_change_the_answer(
    service: Service, engine: LocalEngine, run: dict[str, Any], trace: model.Trace
) -> None:
    said = ask(service, run, "words", token=len(trace.token_ids) - 1)
    assert said["text"] == PROMPT
    best = int(trace.logits.argmax())
    for swap in said["swaps"]:
        assert swap["text"] == PROMPT[: swap["start"]] + swap["other"] + PROMPT[swap["start"] + len(swap["word"]) :]
        ids = engine.encode("roomy", swap["text"])
        assert len(ids) == len(trace.token_ids)
        logits = engine.trace("roomy", ids).logits
        assert int(logits.argmax()) == swap["answer"] != best


def test_scores_logits_and_the_causal_map_are_the_models(
    service: Service, run: dict[str, Any], trace: model.Trace, other: str
) -> None:
    last = len(trace.token_ids) - 1
    said = ask(service, run, "score_terms", layer=2, head=3, query=last, key=2)
    found = score_terms(trace, 2, 3, last, 2)
    assert unpack(said["terms"]) == pytest.approx(found.terms.numpy(), abs=1e-5)
    assert said["score"] == pytest.approx(found.score)
    assert [one["kind"] for one in said["sources"]] == [source.kind for source in found.sources]
    terms, said = logit_terms(trace, 7, position=last), ask(service, run, "logit_terms", token=last, target=7)
    assert said["logit"] == pytest.approx(terms.logit)
    assert said["total"] == pytest.approx(terms.total)
    assert unpack(said["heads"]) == pytest.approx(terms.heads.numpy(), abs=1e-6)
    listed = sum(one["value"] for one in said["neurons"])
    assert listed + said["other_neurons"] == pytest.approx(float(terms.neurons.sum()), abs=1e-6)
    said = ask(service, run, "causal_map", token=last, text=other)
    pair = run_pair(trace.lm, trace.token_ids, other)
    assert unpack(said["left"]) == pytest.approx(causal_map(pair).numpy(), abs=1e-5)


@pytest.mark.parametrize(
    ("parameters", "vocabulary", "width", "layers"),
    [(134_515_008, 49_152, 576, 30), pytest.param(None, 0, 0, 0, id="bundled")],
)
def test_texts_of_32_tokens_have_a_causal_map(parameters: int | None, vocabulary: int, width: int, layers: int) -> None:
    """Of SmolLM2's size, and of the bundled model's."""
    if parameters is None:
        engine: Any = LocalEngine([model.load(device="cpu")])
        name = engine.names[0]
    else:
        config = SimpleNamespace(vocab_size=vocabulary, d_model=width, n_layers=layers)
        about = SimpleNamespace(n_parameters=parameters, config=config, device="CPU")
        engine, name = SimpleNamespace(about=lambda _: about), ""
    held: Any = SimpleNamespace(model=name)
    assert 32 <= map_limit(engine, held) <= PAIR_TOKENS


def test_a_causal_map_is_drawn_up_to_its_limit_and_refused_beyond(
    service: Service, engine: LocalEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = engine.about("roomy")
    layers = about.n_parameters - about.config.vocab_size * about.config.d_model
    monkeypatch.setattr("app.requests.MAP_WORK", 32.5**2 * layers * (about.config.n_layers + 1) / 4)
    letters = "abcdefghijklmnopqrstuvwxyzabcdef"
    run = service.recall({"prompt": letters, "model": "roomy"})
    assert len(run["tokens"]["ids"]) == 32
    assert ask(service, run, "words", token=31)["map_limit"] == 32
    best = int(engine.trace("roomy", run["tokens"]["ids"]).logits.argmax())
    others = (letters[:30] + sign + "f" for sign in "ghijklmnopqrstuvwxyz")
    other = next(
        one for one in others if int(engine.trace("roomy", engine.encode("roomy", one)).logits.argmax()) != best
    )
    drawn = ask(service, run, "causal_map", token=31, text=other)
    assert unpack(drawn["left"]).shape == (about.config.n_layers + 1, 32)
    longer = service.recall({"prompt": letters + "g", "model": "roomy"})
    refused = ask(service, longer, "causal_map", token=32, text=other + "g")
    assert refused["code"] == "circuit_long"
    assert (refused["params"]["tokens"], refused["params"]["limit"]) == (33, 32)


def test_what_cannot_be_asked_is_refused_in_words(service: Service, run: dict[str, Any], other: str) -> None:
    last = len(run["tokens"]["ids"]) - 1
    long = service.recall({"prompt": "x" * 121, "model": "roomy"})
    changed = service.change({"run": run["id"], "changes": {"heads": [[0, 1]]}, "layer": 0})
    for where, what, params, code in (
        (run, "why", {"token": last + 1}, "bad_request"),
        (run, "why", {"token": last, "target": 320}, "bad_request"),
        (run, "circuit", {"token": last, "text": PROMPT + " and more", "nodes": 10}, "circuit_tokens"),
        (run, "circuit", {"token": last, "text": PROMPT, "nodes": 10}, "circuit_answer"),
        (run, "circuit", {"token": last, "text": "", "nodes": 10}, "prompt_empty"),
        (run, "circuit", {"token": last, "text": other, "nodes": 61}, "bad_request"),
        (run, "circuit", {"token": last, "text": other, "nodes": 0}, "field"),
        (long, "circuit", {"token": 120, "text": "x" * 121, "nodes": 10}, "circuit_long"),
        (long, "causal_map", {"token": 120, "text": "x" * 121}, "circuit_long"),
        (changed, "circuit", {"token": last, "text": other, "nodes": 10}, "circuit_changed"),
        (changed, "causal_map", {"token": last, "text": other}, "circuit_changed"),
        (run, "edges", {"token": last, "text": other, "nodes": [[0, 0]], "start": 0}, "bad_request"),
        (run, "edges", {"token": last, "text": other, "nodes": [[0, None, 99]], "start": 0}, "bad_request"),
        (run, "score_terms", {"layer": 0, "head": 0, "query": 1, "key": 2}, "field"),
        (run, "logit_terms", {"token": last, "target": "x"}, "bad_request"),
    ):
        answer = ask(service, where, what, **params)
        assert answer["kind"] == "message", (what, params)
        assert answer["code"] == code, (what, params)


def test_no_example_ends_its_text() -> None:
    for code, sentences in EXAMPLES.items():
        assert len(sentences) == 4
        assert not any(one.endswith((".", "。", "!", "！", "?", "？")) for one in sentences), code


def test_on_the_bundled_model_the_page_opens_on_the_token_that_holds_the_answer() -> None:
    """Or says that no head puts half of its weight there. What holds it is told by hand."""
    held = {
        "en": ("kitchen", "garden", "bird", "["),
        "zh": ("厨房", "花园", "鱼", "四"),
    }
    lm = model.load()
    service = Service(LocalEngine([lm]))
    for code, sentences in EXAMPLES.items():
        for sentence, holder in zip(sentences, held[code], strict=True):
            run = service.recall({"prompt": sentence})
            begin, pieces = run["start"], run["tokens"]["pieces"]
            said = ask(service, run, "why", token=len(pieces) - 1)
            if said["look"]["heads"]:
                assert pieces[begin["key"]].strip() == holder, sentence
                weight = model.run_trace(lm, sentence).layer(begin["layer"]).attention[begin["head"], -1, begin["key"]]
                assert weight >= 0.5
                stays = said["look"]["without"] > said["probability"] / 2
                assert stays == (holder == "四"), sentence  # a count goes on without those that look at its last number
