"""The heads: made attention scores what its definition says, and what switching heads off costs."""

import json
import sys
from types import SimpleNamespace

import pytest
import torch

import model
from model.analysis.head_scores import attention_of, copying, first_token, mean_entries, prefix_matching, previous_token
from model.corpus import Document
from model.evaluate import __main__ as evaluate
from model.evaluate import heads
from model.evaluate.ablation import accuracy, compare
from model.taps import capture
from tests.standin import make_checkpoint


@pytest.fixture(scope="module")
def roomy(tmp_path_factory):
    """The stand-in with room for every text, since it reads one byte a token."""
    return model.load(make_checkpoint(tmp_path_factory.mktemp("roomy"), max_position_embeddings=1024), device="cpu")


def lower(matrix: torch.Tensor) -> torch.Tensor:
    """As the attention of one layer with one head."""
    return matrix.tril()[None, None]


def test_scores_of_made_attention():
    n = 8
    before, first = torch.eye(n).roll(-1, 1), torch.zeros(n, n)
    before[0, 0], before[0, 1], first[:, 0] = 1, 0, 1
    shifted = torch.zeros(n, n)
    shifted[range(1, n), range(n - 1)] = 1
    assert previous_token(lower(shifted)).item() == 1
    assert previous_token(lower(first)).item() == 0
    assert first_token(lower(first)).item() == 1
    assert first_token(lower(shifted)).item() == 0
    uniform = torch.ones(n, n).tril() / torch.arange(1, n + 1)[:, None]
    assert first_token(lower(uniform)).item() == pytest.approx(sum(1 / t for t in range(3, n + 1)) / (n - 2))


def test_prefix_matching_looks_at_what_followed():
    ids = [5, 6, 7, 5, 6, 7]
    follows = torch.zeros(6, 6)
    follows[3, 1] = follows[4, 2] = follows[5, 3] = 1
    assert prefix_matching(lower(follows), ids).item() == 1
    assert prefix_matching(lower(torch.eye(6)), ids).item() == 0
    assert prefix_matching(lower(torch.eye(3)), [5, 6, 7]) is None
    assert mean_entries(lower(follows), []) is None
    # Two places to look at: their weights add up.
    assert mean_entries(lower(torch.full((6, 6), 0.25)), [(5, 0), (5, 1), (4, 1)]).item() == pytest.approx(0.375)


def test_copying_agrees_with_a_slow_count(lm):
    ids = [3, 40, 41, 90, 200]
    scores = copying(lm, ids)
    assert scores.shape == (lm.config.n_layers, lm.config.n_heads)
    assert scores.min() >= -1
    assert scores.max() <= 1
    layer, head, width = 1, 4, lm.config.head_dim
    with torch.inference_mode(), capture(lm.net, "layers.1.attn.attention", "layers.1.attn.v") as seen:
        lm.net(torch.tensor([ids]), eager=True)
    weights = seen["layers.1.attn.attention"][0, head]
    v = seen["layers.1.attn.v"][0, head // (lm.config.n_heads // lm.config.n_kv_heads)]
    projection = lm.net.layers[layer].attn.o_proj.weight[:, head * width : (head + 1) * width]
    shares = []
    for t in range(len(ids)):
        written = projection @ (weights[t] @ v)
        logits = lm.net.head.weight @ (lm.net.norm.weight * written)
        raised = (logits - logits.mean()).relu()
        looked = sum(weights[t, s] * raised[ids[s]] for s in range(len(ids)))
        everything = looked + sum(raised[i] for i in ids)
        shares.append(4 * float(looked / everything) - 1 if everything else -1.0)
    assert float(scores[layer, head]) == pytest.approx(sum(shares) / len(shares), abs=1e-4)


def test_accuracy_is_what_greedy_writing_gives(roomy):
    encode, decode = roomy.tokenizer.encode, roomy.tokenizer.decode
    for prompt in "abcdefghijklmnopqrstuvwxyz":
        (step,) = model.generate(roomy, prompt, max_new_tokens=1)
        text = decode([step.token_id])
        if encode(prompt + text) == [*encode(prompt), step.token_id]:
            break
    right = SimpleNamespace(prompt=prompt, answer=text)
    wrong = SimpleNamespace(prompt=prompt, answer="q" if text != "q" else "z")
    assert accuracy(roomy, [right, wrong]).share == 0.5
    compared = compare(roomy, [right, wrong], [(0, 0)], seed=0, draws=3)
    assert compared.whole.share == 0.5
    assert len(compared.random) == 3


def read(roomy, kind: str, words: list[str], *spans: tuple[int, int]) -> heads.Text:
    return heads.read_text(roomy, Document("".join(words), words, kind, spans))


def test_entities_and_answers_of_a_text(roomy):
    words = ["Tom", " is", " in", " the", " park", ".", " Amy", " is", " in", " the", " barn", ".", " Where", " is"]
    words += [" Tom", "?", " In", " the", " park", "."]
    end = len("".join(words)) - 1
    text = read(roomy, "facts-en", words, (end - 5, end))
    keys = ["Tom", "park", "Amy", "barn", "Tom", "park"]
    assert [entity.key for entity in text.entities] == keys
    for key, entity in zip(keys, text.entities, strict=True):
        assert key in roomy.tokenizer.decode(text.ids[entity.start : entity.end])
    right, wrong = heads.place_entries(text)
    query = text.entities[5].start - 1
    assert {q for q, _ in right + wrong} == {query}
    assert {key for _, key in right} == set(range(text.entities[1].start, text.entities[1].end))
    assert {key for _, key in wrong} == set(range(text.entities[3].start, text.entities[3].end))
    later = {q for q, _ in heads.same_entity_entries(text)}
    assert later == {text.entities[4].end - 1, text.entities[5].end - 1}


def test_an_answer_needs_another_place_to_be_told_from(roomy):
    words = ["Tom", " is", " in", " the", " park", ".", " In", " the", " park", "."]
    end = len("".join(words)) - 1
    assert heads.place_entries(read(roomy, "facts-en", words, (end - 5, end))) == ([], [])


def test_a_measure_word_is_no_entity(roomy):
    text = read(roomy, "facts-zh", ["本", "在", "公园", "里", "。", "一", "本", "书", "。"], (2, 4))
    assert [entity.key for entity in text.entities][-1] == "book"


def test_the_heads_are_written_with_their_definitions(roomy, monkeypatch, tmp_path):
    out = tmp_path / "heads.json"
    given = ["--model", roomy.name, "--device", "cpu", "--cases", "6", "--heads", str(out)]
    monkeypatch.setattr(sys, "argv", ["evaluate", *given])
    status = evaluate.main()
    found = json.loads(out.read_text())
    assert set(found["kinds"]) >= {"previous_token", "first_token", "induction", "copying", "same_entity"}
    for kind in found["kinds"].values():
        assert len(kind["scores"]) == roomy.config.n_layers
        assert {len(row) for row in kind["scores"]} == {roomy.config.n_heads}
        best = kind["best"][0]
        assert best["score"] == max(max(row) for row in kind["scores"])
        assert kind["scores"][best["layer"]][best["head"]] == best["score"]
        assert kind["definition"]
    assert status == int(not found["ablation"]["met"])
    assert len(found["ablation"]["heads"]) == 1


def test_attention_of_a_text_sums_to_one(lm):
    attention = attention_of(lm, [1, 2, 3, 4, 5])
    assert attention.shape == (lm.config.n_layers, lm.config.n_heads, 5, 5)
    assert torch.allclose(attention.sum(-1), torch.ones(attention.shape[:3]), atol=1e-5)
