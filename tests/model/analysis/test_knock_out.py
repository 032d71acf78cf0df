"""Attention knocked out, against transformers under a mask of its own, and against whole runs with changed scores."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import model
from model import GlassLlamaError, LanguageModel
from model.analysis.knock_out import PART, KnockedOut, knocked_out, part_knocked_out, windows_knocked_out
from model.analysis.last_token import MOST_ROWS, read_text
from model.analysis.nodes import swapped
from model.analysis.sinks import last_attention
from model.checkpoint import BUNDLED
from model.evaluate.eager import knocked_out_by
from model.pieces import in_pieces
from model.view import with_prefix_mask
from tests.reference import reference, sample_ids
from tests.standin import make_checkpoint

ZOO = Path(model.__file__).parent / "zoo"
DECODERS = sorted({path.parent.name for path in ZOO.glob("*/config.json")} - {"t5"})
SHAPES: dict[str, dict[str, Any]] = {
    "gqa": {},
    "mha": {"num_key_value_heads": 6, "tie_word_embeddings": True},
    "yarn": {
        "num_key_value_heads": 1,
        "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32},
    },
}


def of_transformers(directory: Path, ids: list[int], layers: Collection[int] | None = None) -> np.ndarray:
    """A run for each token, whose 4D mask hides it from the last token alone, with attention written out: in these
    layers, or in all."""
    net, count = reference(directory), len(ids)
    causal = torch.full((count, count), float("-inf")).triu(1).repeat(count + 1, 1, 1, 1)
    for number, layer in enumerate(net.model.layers):
        if layers is not None and number not in layers:
            attention: Any = layer.self_attn
            attention.register_forward_pre_hook(with_mask(causal), with_kwargs=True)
    return knocked_out_by(net, ids)


def with_mask(mask: torch.Tensor) -> Any:
    def replace(_: Any, given: Any, named: dict[str, Any]) -> Any:
        assert "attention_mask" in named
        return given, named | {"attention_mask": mask}

    return replace


def of_whole_runs(lm: LanguageModel, ids: list[int], layers: Collection[int]) -> np.ndarray:
    """By itself: the whole text in a row for each token, with the last token's score of it -inf in these layers."""

    def hide(scores: torch.Tensor) -> torch.Tensor:
        changed = scores.clone()
        for token in range(len(ids)):
            changed[1 + token, :, -1, token] = float("-inf")
        return changed

    with torch.inference_mode(), swapped(lm.net, {f"layers.{layer}.attn.scores": hide for layer in layers}):
        rows = torch.tensor([ids] * (len(ids) + 1))
        logs = lm.net(rows, eager=True)[:, -1].float().log_softmax(-1)
    answer = int(logs[0].argmax())
    return (logs[0, answer] - logs[1:, answer]).numpy()


def test_in_parts_it_is_as_transformers_has_it(tmp_path: Path) -> None:
    directory = make_checkpoint(tmp_path / "long", max_position_embeddings=256)
    lm, ids = model.load(directory, device="cpu"), sample_ids(1, PART + 20, seed=3)[0].tolist()
    read, parts = read_text(lm, ids), list[KnockedOut]()
    while not parts or len(parts[-1].lost) < len(ids):
        parts.append(part_knocked_out(read, read.answer, parts[-1] if parts else None))
    assert [len(part.lost) for part in parts] == [PART, len(ids)]
    np.testing.assert_allclose(parts[-1].lost, of_transformers(directory, ids), atol=1e-4)
    torch.testing.assert_close(parts[-1].attention, last_attention(read))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("tokens", [2, 11, MOST_ROWS + 5])
def test_as_transformers_has_it_under_a_mask(tmp_path: Path, shape: str, tokens: int) -> None:
    directory = make_checkpoint(tmp_path / shape, **SHAPES[shape])
    ids = sample_ids(1, tokens, seed=tokens)[0].tolist()
    lost = model.knock_out(model.load(directory, device="cpu"), ids)
    assert lost.shape == (tokens,)
    np.testing.assert_allclose(lost, of_transformers(directory, ids), atol=1e-4)
    assert np.abs(lost).max() > 0.01


@pytest.mark.parametrize("shape", SHAPES)
def test_windows_of_layers_as_transformers_has_them_under_a_mask_in_these(tmp_path: Path, shape: str) -> None:
    directory = make_checkpoint(tmp_path / shape, **SHAPES[shape], num_hidden_layers=10)
    ids = sample_ids(1, 17, seed=3)[0].tolist()
    read = read_text(model.load(directory, device="cpu"), ids)
    found = windows_knocked_out(read, read.answer)
    assert (found.width, found.starts) == (2, tuple(range(9)))
    assert found.lost.shape == (9, 17)  # so rows of two windows share a pass
    for start, lost in zip(found.starts, found.lost, strict=True):
        np.testing.assert_allclose(lost, of_transformers(directory, ids, range(start, start + 2)), atol=1e-4)
    assert np.abs(found.lost).max() > 0.01


def test_of_a_long_text_fewer_windows_are_measured(
    tmp_path: Path, lm: LanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model.analysis.knock_out.MOST_WINDOW_ROWS", 33)
    directory = make_checkpoint(tmp_path / "deep", num_hidden_layers=10)
    ids = sample_ids(1, 11, seed=3)[0].tolist()
    read = read_text(model.load(directory, device="cpu"), ids)
    found = windows_knocked_out(read, 7)
    assert found.starts == (0, 4, 8)
    np.testing.assert_allclose(found.lost[1], in_pieces(knocked_out)(read, 7, (4, 5)), atol=1e-5)
    alone = windows_knocked_out(read_text(lm, [5]), 7)
    assert np.isnan(alone.lost).all()
    assert alone.lost.shape == (3, 1)


@pytest.mark.parametrize(
    "text", ["Tom is in the kitchen. Lily is in the garden. Tom is in the", "猫在沙发上睡觉。狗在院子里玩。猫在"]
)
def test_of_the_bundled_model(text: str) -> None:
    lm = model.load(device="cpu")
    lost = model.knock_out(lm, text)
    np.testing.assert_allclose(lost, of_transformers(BUNDLED, lm.tokenizer.encode(text)), atol=1e-4)


@pytest.mark.parametrize("family", DECODERS)
def test_every_decoder_in_all_layers_and_in_some(family: str) -> None:
    lm = model.load(ZOO / family, device="cpu")
    ids = lm.tokenizer.encode("Tom is in the kitchen. Lily is in the garden. Tom is in the")
    every = range(lm.config.n_layers)
    np.testing.assert_allclose(model.knock_out(lm, ids), of_whole_runs(lm, ids, every), atol=1e-4)
    some = every[1:3]
    np.testing.assert_allclose(model.knock_out(lm, ids, layers=some), of_whole_runs(lm, ids, some), atol=1e-4)
    assert np.abs(model.knock_out(lm, ids, layers=[])).max() < 1e-5


def test_the_only_token_has_nothing_left_to_look_at(lm: LanguageModel) -> None:
    assert np.isnan(model.knock_out(lm, [5])).all()
    assert model.knock_out(lm, [5], layers=[]).tolist() == [0]


def test_what_cannot_be_is_refused(lm: LanguageModel) -> None:
    with pytest.raises(GlassLlamaError, match="layer 3 is not there; expected 0 to 2"):
        model.knock_out(lm, [5, 6], layers=[0, 3])
    with pytest.raises(GlassLlamaError, match="it is empty"):
        model.knock_out(lm, "")
    with pytest.raises(GlassLlamaError, match="encoder"):
        model.knock_out(model.load(ZOO / "t5", device="cpu"), "The cat")
    glm = model.load(ZOO / "glm", device="cpu")
    with pytest.raises(GlassLlamaError, match="all see each other"):
        model.knock_out(with_prefix_mask(glm, 2), "The cat")
