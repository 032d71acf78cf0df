"""The jobs of heads on random tokens, against transformers' eager attentions and its own projections."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import model
from model import kept_jobs
from model.analysis.head_jobs import (
    JOBS,
    MEASURED,
    REPEATS,
    SEQUENCE_TOKENS,
    SEQUENCES,
    can_be_measured,
    measure,
    random_tokens,
    repeated,
)
from tests.reference import reference
from visuals.attend import head_names, measured_heads

ZOO = Path(model.__file__).parent / "zoo"


def expected_of(net: Any, ids: list[int], tokens: list[int]) -> dict[str, np.ndarray]:
    """Each job's scores, number by number, from what transformers makes of the same tokens, attention written out."""
    with torch.no_grad():
        weights = net(torch.tensor([ids]), output_attentions=True).attentions
        streams = net(torch.tensor([tokens]), output_hidden_states=True).hidden_states
    layers, heads = len(weights), weights[0].shape[1]
    found = {name: np.zeros((layers, heads)) for name in JOBS}
    later = [t for t in range(len(ids)) if ids[t] in ids[:t]]
    for layer in range(layers):
        for head in range(heads):
            a = weights[layer][0, head].double().numpy()
            at = layer, head
            found["previous_token"][at] = np.mean([a[t, t - 1] for t in range(2, len(ids))])
            found["first_token"][at] = np.mean([a[t, 0] for t in range(2, len(ids))])
            copies = {t: [s for s in range(t) if ids[s] == ids[t]] for t in later}
            found["duplicate_token"][at] = np.mean([sum(a[t, s] for s in copies[t]) for t in later])
            found["induction"][at] = np.mean([sum(a[t, s + 1] for s in copies[t] if s + 1 < t) for t in later])
        found["ov_copying"][layer] = ov_of(net, layer, streams[layer][0], tokens)
    return found


def ov_of(net: Any, layer: int, stream: torch.Tensor, tokens: list[int]) -> list[float]:
    """How often a token that is looked at is raised more than another, by head."""
    block = net.model.layers[layer]
    heads, groups = net.config.num_attention_heads, net.config.num_key_value_heads
    with torch.no_grad():
        values = block.self_attn.v_proj(block.input_layernorm(stream)).unflatten(-1, (groups, -1))
        scores = []
        for head in range(heads):
            width = values.shape[-1]
            out = block.self_attn.o_proj.weight[:, head * width : (head + 1) * width]
            written = values[:, head // (heads // groups)] @ out.T
            logits = (written * net.model.norm.weight) @ net.lm_head.weight[tokens].T
            less = [float((logits[i] < logits[i, i]).sum()) / (len(tokens) - 1) for i in range(len(tokens))]
            scores.append(2 * np.mean(less) - 1)
    return scores


def check_jobs(lm: model.LanguageModel, net: Any) -> None:
    """One sequence's scores are those that `net` gives."""
    tokens = random_tokens(lm, 0)
    found = measure(lm, 0)
    for name, expected in expected_of(net, repeated(lm, tokens), tokens).items():
        # A rank may change places where two logits are equal but for rounding.
        close = 0.02 if name == "ov_copying" else 1e-4
        np.testing.assert_allclose(found[name].numpy(), expected, atol=close, err_msg=name)


def test_scores_are_those_of_transformers_attentions(lm: model.LanguageModel, checkpoint: Path) -> None:
    check_jobs(lm, reference(checkpoint))


def test_the_tokens_are_words_and_the_same_every_time(lm: model.LanguageModel) -> None:
    bundled = model.load(device="cpu")
    for one in (lm, bundled):
        tokens = random_tokens(one, 3)
        assert tokens == random_tokens(one, 3) != random_tokens(one, 4)
        assert len(set(tokens)) == SEQUENCE_TOKENS
        assert not set(tokens) & set(one.config.eos_ids)
        assert repeated(one, tokens)[1:] == tokens * REPEATS
    pieces = bundled.tokenizer.pieces(random_tokens(bundled, 3))
    assert all(piece[0] == " " and piece[1:].isalpha() for piece in pieces)


@pytest.mark.parametrize("family", ["bloom", "falcon", "glm", "mixtral", "qwen", "deepseek"])
def test_other_families_are_measured_too_and_have_induction_heads(family: str) -> None:
    lm = model.load(ZOO / family, device="cpu")
    found = measure(lm, 0)
    for scores in found.values():
        assert scores.shape == (lm.config.n_layers, lm.config.n_heads)
    assert found["induction"].max() > 0.5
    assert found["previous_token"].max() > 0.5


def test_a_network_that_reads_a_source_is_not_measured() -> None:
    lm = model.load(ZOO / "t5", device="cpu")
    assert not can_be_measured(lm)
    assert head_names(lm) == ({}, None, SEQUENCES)
    assert measured_heads(lm, SEQUENCES) == ({}, None, SEQUENCES)


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch, checkpoint: Path, tmp_path: Path) -> model.LanguageModel:
    """The stand-in in a directory of its own, of which nothing is remembered."""
    monkeypatch.setattr(kept_jobs, "_memory", kept_jobs.OrderedDict())
    for file in checkpoint.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return model.load(tmp_path, device="cpu")


def test_they_are_measured_one_by_one_and_then_kept_beside_the_weights(
    fresh: model.LanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = fresh.directory
    assert place is not None
    assert head_names(fresh) == ({}, 0, SEQUENCES)
    three = measured_heads(fresh, 3)
    assert (three.done, list(three.kinds)) == (3, list(MEASURED))
    means = torch.stack([measure(fresh, i)["induction"] for i in range(3)]).mean(0)
    best = three.kinds["induction"].best[0]
    assert best.score == pytest.approx(float(means.max()), abs=1e-4)
    assert divmod(int(means.argmax()), fresh.config.n_heads) == (best.layer, best.head)
    assert head_names(fresh) == three
    assert list(place.glob("heads-*.json")) == []
    every = measured_heads(fresh, SEQUENCES)
    (file,) = place.glob("heads-*.json")
    assert json.loads(file.read_text(encoding="utf-8"))["kinds"].keys() == MEASURED.keys()
    monkeypatch.setattr(kept_jobs, "_memory", kept_jobs.OrderedDict())  # as after a restart
    assert head_names(model.load(place, device="cpu")) == every


def test_other_weights_are_measured_anew(fresh: model.LanguageModel) -> None:
    key = kept_jobs.fingerprint(fresh)
    measured_heads(fresh, SEQUENCES)
    with torch.no_grad():
        fresh.net.get_parameter("layers.0.attn.o_proj.weight").mul_(1.01)
    assert kept_jobs.fingerprint(fresh) != key
    assert head_names(fresh).done == 0


def test_a_place_that_cannot_be_written_to_keeps_them_in_memory(
    fresh: model.LanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_jobs.os, "access", lambda *_: False)
    found = measured_heads(fresh, SEQUENCES)
    assert fresh.directory is not None
    assert list(fresh.directory.glob("heads-*.json")) == []
    assert head_names(fresh) == found


def test_a_damaged_file_is_refused_by_its_name(fresh: model.LanguageModel) -> None:
    file = kept_jobs.file_of(fresh, kept_jobs.fingerprint(fresh))
    assert file is not None
    file.write_text('{"kinds": 3}', encoding="utf-8")
    with pytest.raises(model.GlassLlamaError, match=file.name):
        head_names(fresh)
