"""The figures of a run, against transformers' own pass over the same tokens, and against sums done by hand."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
import torch

import model
import visuals
from model import GlassLlamaError, LanguageModel, Trace
from tests.peer import Peer
from visuals.figures.look import WORDS

TEXT = "The cat <b>sleeps</b> & 猫在\n沙发"
CLOSE = {"rtol": 1e-4, "atol": 1e-5}
LAYER, HEAD, PAIR = 1, 3, 2
ZOO = Path(model.__file__).parent / "zoo"


@pytest.fixture(scope="module")
def trace(lm: LanguageModel) -> Trace:
    return model.run_trace(lm, TEXT)


@pytest.fixture(scope="module")
def peer(checkpoint: Path, trace: Trace) -> Peer:
    return Peer(checkpoint, trace.token_ids)


def test_attention_is_transformers_own_and_empty_where_the_mask_hides(trace: Trace, peer: Peer) -> None:
    theirs = peer.run.attentions[LAYER][0].numpy()
    hidden = np.triu(np.ones(theirs.shape[1:], bool), 1)
    one = visuals.attention_figure(trace, LAYER, HEAD).data[0]
    assert np.array_equal(np.isnan(one.z), hidden)
    np.testing.assert_allclose(one.z[~hidden], theirs[HEAD][~hidden], **CLOSE)
    every = visuals.heads_figure(trace, LAYER).data
    assert len(every) == len(theirs)
    for head, of_head in enumerate(every):
        np.testing.assert_allclose(of_head.z[~hidden], theirs[head][~hidden], **CLOSE)


def test_the_stream_and_what_norms_divide_by(trace: Trace, peer: Peer) -> None:
    eps, layers = peer.config.rms_norm_eps, range(trace.n_layers)

    def rms(of: torch.Tensor) -> np.ndarray:
        return (of.double().square().mean(-1) + eps).sqrt().numpy()

    names = ("input_layernorm", "post_attention_layernorm")
    read = [[peer.inputs[f"model.layers.{layer}.{name}"][0] for layer in layers] for name in names]
    attn, ffn, final = visuals.rms_figure(trace).data
    for drawn, streams in zip((attn, ffn), read, strict=True):
        np.testing.assert_allclose(drawn.z, np.stack([rms(x) for x in streams], axis=1), **CLOSE)
    last = peer.inputs["model.norm"][0]
    np.testing.assert_allclose(final.z[:, 0], rms(last), **CLOSE)
    lengths = torch.stack([*read[0], last]).double().norm(dim=-1).T
    np.testing.assert_allclose(visuals.stream_figure(trace).data[0].z, lengths, **CLOSE)


@pytest.mark.parametrize("vector", ["q", "k"])
def test_a_pair_is_turned_by_its_angle_at_every_position(trace: Trace, peer: Peer, vector: Any) -> None:
    width, head = peer.config.head_dim, HEAD if vector == "q" else 1
    made = peer.outputs[f"model.layers.{LAYER}.self_attn.{vector}_proj"][:, head * width : (head + 1) * width].numpy()
    before = made[:, PAIR] + 1j * made[:, PAIR + width // 2]
    angle = peer.config.rope_parameters["rope_theta"] ** (-2 * PAIR / width)
    after = before * np.exp(1j * angle * np.arange(len(before)))
    arcs, *points = visuals.rotation_figure(trace, LAYER, head, PAIR, vector).data
    for drawn, expected in zip(points, (before, after), strict=True):
        np.testing.assert_allclose(np.array(drawn.x) + 1j * np.array(drawn.y), expected, **CLOSE)
    ways = (np.array(arcs.x) + 1j * np.array(arcs.y)).reshape(len(before), -1)
    np.testing.assert_allclose(ways[:, 0], before, **CLOSE)
    np.testing.assert_allclose(ways[:, -2], after, **CLOSE)


def test_a_neuron_is_where_its_gate_and_up_put_it(trace: Trace, peer: Peer) -> None:
    token = 4
    gate, up = (peer.outputs[f"model.layers.{LAYER}.mlp.{name}_proj"][token] for name in ("gate", "up"))
    (drawn,) = visuals.gates_figure(trace, LAYER, token).data
    np.testing.assert_allclose(drawn.x, gate, **CLOSE)
    np.testing.assert_allclose(drawn.y, up, **CLOSE)
    np.testing.assert_allclose(drawn.marker.color, torch.nn.functional.silu(gate) * up, **CLOSE)


def test_what_comes_next_and_what_the_lens_reads(trace: Trace, peer: Peer) -> None:
    with torch.no_grad():
        streams = torch.stack([*peer.run.hidden_states[:-1], peer.inputs["model.norm"]])[:, 0]
        read = peer.net.lm_head(peer.net.model.norm(streams)).double().softmax(-1)
    best = read[-1, -1].topk(5)
    (bars,) = visuals.next_token_figure(trace, 5).data
    np.testing.assert_allclose(bars.x[:5], best.values, **CLOSE)
    assert sum(bars.x) == pytest.approx(1, abs=1e-9)
    (lens,) = visuals.lens_figure(trace).data
    np.testing.assert_allclose(lens.z, read.max(-1).values.T, **CLOSE)
    assert lens.z.shape == (len(trace.token_ids), trace.n_layers + 1)
    named = trace.lm.tokenizer.pieces(read[1].argmax(-1).tolist())
    assert [word.replace("·", " ").replace("⏎", "\n") for word in lens.text[:, 1]] == [
        name.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") for name in named
    ]


def test_the_caches_bytes_by_kind(trace: Trace) -> None:
    config, tokens = trace.lm.config, len(trace.token_ids)
    (bars,) = visuals.cache_figure(trace).data
    expected = {"MHA": config.n_heads, "GQA": config.n_kv_heads, "MQA": 1}
    drawn = {name.split("<br>")[0].split(",")[0]: bytes_ for name, bytes_ in zip(bars.x, bars.y, strict=True)}
    for kind, heads in expected.items():
        assert drawn[kind] == 2 * config.n_layers * tokens * heads * config.head_dim * 4, kind
    # In the proportions of DeepSeek-V2's report: a latent of 4 and a rotated key of 1/2 of a head.
    assert drawn["MLA"] == config.n_layers * tokens * (4 * config.head_dim + config.head_dim // 2) * 4
    for name, total in zip(bars.x, bars.y, strict=True):
        assert product_of(name.split("<br>")[1]) == total


def product_of(text: str) -> int:
    """A product as the figure writes it."""
    return int(np.prod([int(factor.replace(",", "")) for factor in text.split(" · ")]))


FIGURES: dict[str, Callable[[Trace, visuals.Look], go.Figure]] = {
    "attention": lambda trace, look: visuals.attention_figure(trace, 0, 0, look),
    "heads": lambda trace, look: visuals.heads_figure(trace, 0, look),
    "rms": visuals.rms_figure,
    "stream": visuals.stream_figure,
    "rotation": lambda trace, look: visuals.rotation_figure(trace, 0, 0, 0, "q", look),
    "gates": lambda trace, look: visuals.gates_figure(trace, 0, 0, look),
    "next": lambda trace, look: visuals.next_token_figure(trace, 3, look),
    "lens": visuals.lens_figure,
    "cache": visuals.cache_figure,
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_has_words_in_each_language_and_no_markup_of_a_visitors(trace: Trace, name: str) -> None:
    made = {code: FIGURES[name](trace, visuals.Look(code, "dark")) for code in ("en", "zh")}
    titles = {code: figure.layout.title.text for code, figure in made.items()}
    assert titles["en"] != titles["zh"]
    for figure in made.values():  # plotly would read a token's own "<" as markup
        told = figure.to_json(engine="json").replace(r"\u003c", "<").replace(r"\u003e", ">").replace(r"\u002f", "/")
        assert "<" not in told.replace("<br>", "").replace("<extra></extra>", "")


def test_both_languages_have_the_same_words_and_each_is_used() -> None:
    words = json.loads(WORDS.read_text(encoding="utf-8"))
    assert words["en"].keys() == words["zh"].keys()
    code = "".join(path.read_text(encoding="utf-8") for path in WORDS.parent.glob("*.py"))
    assert [name for name in words["en"] if not re.search(f"[\"']{name}[\"']", code)] == []
    with pytest.raises(AttributeError, match="no attribute 'unheard_of'"):
        _ = visuals.unheard_of


def test_what_a_network_does_not_have_is_refused() -> None:
    bloom = model.run_trace(model.load(ZOO / "bloom"), [5, 9, 11])
    for draw in (lambda: visuals.rotation_figure(bloom, 0, 0, 0), lambda: visuals.gates_figure(bloom, 0, 0)):
        with pytest.raises(GlassLlamaError, match="has none"):
            draw()
    t5 = model.run_trace(model.load(ZOO / "t5"), [5, 9, 11], target=[4, 6])
    assert t5.source is not None
    assert not np.isnan(visuals.attention_figure(t5.source, 0, 0).data[0].z).any()  # an encoder's token sees them all
    for draw in (visuals.next_token_figure, visuals.lens_figure):
        with pytest.raises(GlassLlamaError, match="has none"):
            draw(t5.source)
    for wrong in (lambda: visuals.attention_figure(bloom, 0, 99), lambda: visuals.next_token_figure(bloom, 0)):
        with pytest.raises(GlassLlamaError, match="expected"):
            wrong()
