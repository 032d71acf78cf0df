"""What is asked of a network with two texts, or without RoPE: limits of each text, parts of its encoder switched off,
questions without an answer."""

from typing import Any

import numpy as np
import pytest
import transformers

from app.engine import LocalEngine
from app.service import Service
from app.session import Runs
from model.analysis.effects import effects, seen_by
from model.analysis.switching import Part
from model.interventions import Intervention
from tests.app.family_page import pairs_of
from tests.app.test_t5_on_page import CONFIGS
from tests.families import SIZES
from visuals.payload import unpack

LIMIT = 128  # of either text of the T5, and of BLOOM's


@pytest.fixture(scope="module")
def service() -> Service:
    pairs = pairs_of({"t5": CONFIGS["t5-1.0"], "bloom": transformers.BloomConfig(**SIZES, seq_length=LIMIT)})
    return Service(LocalEngine([pair.lm for pair in pairs.values()]), Runs())


def recalled(service: Service, prompt: str, count: int, model: str = "t5") -> dict[str, Any]:
    return service.recall({"prompt": prompt, "model": model, "generated": [7] * count, "layer": 0})


def test_a_link_is_cut_where_the_decoder_is_full_and_not_by_the_source(service: Service) -> None:
    prompt = "x" * 100
    run = recalled(service, prompt, 60)
    assert len(run["encoder"]["tokens"]["ids"]) + 60 > LIMIT
    assert (len(run["tokens"]["ids"]), "note" in run) == (61, False)
    run = recalled(service, prompt, 200)
    assert len(run["tokens"]["ids"]) == LIMIT
    assert run["note"]["params"] == {"given": 200, "kept": LIMIT - 1}  # the start token stands first


def test_a_run_that_has_expired_is_run_again_with_both_texts_whole(service: Service) -> None:
    first = recalled(service, "x" * 100, 60)
    source = first["encoder"]["tokens"]["ids"]
    asked = {"model": "t5", "prompt": "x" * 100, "ids": [*source, *[7] * 60], "n_prompt": len(source), "layer": 0}
    again = service.rerun(asked)
    assert again["kind"] == "run", again
    assert (again["tokens"], again["encoder"]["tokens"]) == (first["tokens"], first["encoder"]["tokens"])
    for ids, n_prompt in ((source * 2 + [7], 2 * len(source)), ([*source, *[7] * (LIMIT + 1)], len(source))):
        assert service.rerun(asked | {"ids": ids, "n_prompt": n_prompt})["kind"] == "message"


OFF = {"encoder_heads": [[1, 2], [0, 4]], "encoder_neurons": [[0, 7]], "encoder_attention": [0], "encoder_ffn": [1]}
ENCODER = Intervention(heads=((1, 2), (0, 4)), neurons=((0, 7),), attention=(0,), ffn=(1,))


def test_parts_of_the_encoder_are_off_wherever_the_run_is_made_again(service: Service) -> None:
    """Changed, from a link, and after the server has let go of it: the model's own run, in both stacks."""
    first = recalled(service, "The cat sleeps.", 2)
    source = first["encoder"]["tokens"]["ids"]
    what = Intervention(heads=((2, 1),), encoder=ENCODER)
    trace = service.engine.trace("t5", source, what, [7, 7])
    assert trace.source is not None
    changes = {"heads": [[2, 1]], **OFF}
    ids = {"model": "t5", "prompt": first["prompt"], "ids": [*source, 7, 7], "n_prompt": len(source)}
    link = {"prompt": first["prompt"], "model": "t5", "generated": [7, 7]}
    for message in (
        service.change({"run": first["id"], "changes": changes, "layer": 1}),
        service.rerun({**ids, "changes": changes, "layer": 1}),
        service.recall({**link, "changes": changes, "layer": 1}),
    ):
        assert (message["kind"], message["changes"]) == ("run", changes)
        assert message["encoder"]["changes"] == {name.removeprefix("encoder_"): value for name, value in OFF.items()}
        assert message["next"]["ids"][0] == int(trace.logits.argmax())
        np.testing.assert_array_equal(unpack(message["rms"]["final"]), trace.final_norm_rms)
        np.testing.assert_array_equal(unpack(message["encoder"]["rms"]["final"]), trace.source.final_norm_rms)
        np.testing.assert_array_equal(unpack(message["layer"]["cross"]["k"]), trace.layer(1).cross_k)
        (layer,) = service.layers({"run": message["encoder"]["id"], "layers": [1], "token": 3})["layers"]
        np.testing.assert_array_equal(unpack(layer["q"]), trace.source.layer(1).q)
        of_encoder = {"run": message["encoder"]["id"], "layer": 1}
        wrote = service.detail({**of_encoder, "what": "head_write", "head": 2, "query": 3})["data"]["written"]
        assert not unpack(wrote).any()
    plain = service.change({"run": first["id"], "changes": {}, "layer": 1})
    np.testing.assert_array_equal(unpack(plain["rms"]["final"]), unpack(first["rms"]["final"]))


def test_why_names_the_encoders_heads_and_where_they_look(service: Service) -> None:
    run = recalled(service, "The cat sleeps.", 1)
    said = service.detail({"run": run["id"], "what": "why", "token": 1})["data"]
    trace = service.engine.trace("t5", run["encoder"]["tokens"]["ids"], written=[7])
    found = effects(trace, position=1)
    listed = [(one["kind"], one["layer"], one["index"]) for one in said["parts"]]
    assert listed == [("encoder_" * part.encoder + part.kind, part.layer, part.number) for part, _, _ in found.parts]
    assert [one["without"] for one in said["parts"]] == pytest.approx([one.probability for one in found.parts])
    heads = [one for one in said["parts"] if one["kind"] == "encoder_head"]
    assert len(heads) == 12
    read = said["look"]["key"] if said["look"]["kind"] == "cross" else len(run["encoder"]["tokens"]["ids"]) - 1
    for one in heads:
        row = seen_by(trace, Part("head", one["layer"], one["index"], encoder=True))[read]
        assert (one["query"], one["key"], one["weight"]) == (read, int(row.argmax()), pytest.approx(float(row.max())))


def test_changes_of_an_encoder_that_make_no_sense_are_refused(service: Service) -> None:
    runs = {model: recalled(service, "The cat sleeps.", 1, model) for model in ("t5", "bloom")}
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("bloom", {"encoder_heads": [[0, 0]]}, "encoder: no encoder of this network"),
        ("t5", {"encoder_heads": [[2, 0]]}, "encoder.layer 2"),
        ("t5", {"encoder_neurons": [[0, 80]]}, "encoder.neuron 80"),
        ("t5", {"encoder_ffn": [5]}, "encoder.layer 5"),
        ("t5", {"encoder_heads": [[0]]}, "encoder_heads: expected pairs"),
        ("t5", {"encoder_attention": "all"}, "encoder_attention is not a list"),
    ]
    for model, changes, said in cases:
        message = service.change({"run": runs[model]["id"], "changes": changes})
        assert message["kind"] == "message"
        assert said in message["params"]["detail"]


@pytest.mark.parametrize("model", ["t5", "bloom"])
def test_what_nothing_is_rotated_for_is_refused_by_name(service: Service, model: str) -> None:
    run = recalled(service, "The cat sleeps.", 1, model)
    said = service.detail({"run": run["id"], "what": "rope_scalings", "factor": 4})
    assert (said["kind"], said["code"]) == ("message", "bad_request"), said
    assert "rotate" in said["params"]["detail"]
