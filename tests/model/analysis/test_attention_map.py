"""Weights that are read some rows at a time are those of the layer read whole, and of transformers; tiles hold the
largest."""

import numpy as np
import pytest
import torch

import model
from model.analysis.attention_map import attention_map, attention_rows
from model.interventions import Intervention, Patch
from model.trace import Trace
from model.train.zoo import ZOO
from tests.families import pair_of

TEXT = "Tom is in the kitchen. Lily is in the garden. Tom is in the"
FAMILIES = sorted(path.name for path in ZOO.iterdir() if path.is_dir())


def side_by_side(trace: Trace, layer: int, rows: int) -> np.ndarray:
    """The rows below each other, with zeros where a query sees no key."""
    count = len(trace.token_ids)
    parts = [np.pad(part, ((0, 0), (0, 0), (0, count - part.shape[2]))) for part in attention_rows(trace, layer, rows)]
    assert len(parts) > 1
    assert all(part.shape[1] <= rows for part in parts[1:])
    return np.concatenate(parts, 1)


@pytest.mark.parametrize("family", FAMILIES)
def test_rows_are_those_of_transformers(family: str) -> None:
    pair = pair_of(ZOO / family)
    trace = model.run_trace(pair.lm, TEXT, target=[5, 7, 9, 11, 13] if pair.lm.reads_source else None)
    ids = torch.tensor([trace.token_ids])
    with torch.no_grad():
        if trace.source is None:
            theirs = pair.peer(ids, output_attentions=True).attentions
        else:
            source = torch.tensor([trace.source.token_ids])
            theirs = pair.peer(source, decoder_input_ids=ids, output_attentions=True).decoder_attentions
    for layer in range(trace.n_layers):
        np.testing.assert_allclose(side_by_side(trace, layer, 4), theirs[layer][0].numpy(), atol=1e-5)


@pytest.mark.parametrize("kind", ["off", "prefix", "patch"])
def test_of_a_changed_run_rows_are_those_of_its_layers(kind: str) -> None:
    lm = model.load(ZOO / "glm", device="cpu")
    changes = {
        "off": Intervention(heads=((0, 1), (1, 0)), ffn=(0,)),
        "prefix": Intervention(prefix=6),
        "patch": Intervention(patches=(Patch(1, 9, (0.5,) * lm.config.d_model),)),
    }[kind]
    trace = model.run_trace(lm, TEXT, changes)
    for layer in range(trace.n_layers):
        np.testing.assert_allclose(side_by_side(trace, layer, 4), trace.layer(layer).attention, atol=1e-5)


@pytest.mark.parametrize("tiles", [1, 5, 7, 16, 500])
def test_a_tile_holds_its_largest_weight(tiles: int) -> None:
    trace = model.run_trace(model.load(device="cpu"), TEXT * 3)
    count = len(trace.token_ids)
    edge = -(-count // tiles)
    found, weights = attention_map(trace, 2, tiles), trace.layer(2).attention
    sides = -(-count // edge)
    assert found.shape == (len(weights), sides, sides)
    assert sides <= tiles
    for row in range(sides):
        for column in range(sides):
            tile = weights[:, row * edge : (row + 1) * edge, column * edge : (column + 1) * edge]
            np.testing.assert_allclose(found[:, row, column], tile.max((1, 2)), atol=1e-6)


def test_what_cannot_be_read_in_rows_is_refused() -> None:
    lm = model.load(ZOO / "t5", device="cpu")
    trace = model.run_trace(lm, TEXT, target=[5])
    assert trace.source is not None
    with pytest.raises(ValueError, match="causal"):
        next(attention_rows(trace.source, 0))
    with pytest.raises(IndexError, match="layers 0 to"):
        next(attention_rows(trace, 99))
    with pytest.raises(model.GlassLlamaError, match="rows"):
        next(attention_rows(trace, 0, 0))
    with pytest.raises(model.GlassLlamaError, match="tiles"):
        attention_map(trace, 0, 0)
