"""Where each tensor is made, read from the source and held against it; and that every panel names real tensors."""

import re

import numpy as np

import model
from model.trace import SHAPES
from tests.panels import tensors
from visuals.tensors import ROOT, tensor_places


def test_every_array_of_a_layer_has_its_line(lm: model.LanguageModel) -> None:
    places = tensor_places()
    assert places.keys() == {*SHAPES, "logits"}
    for name, (_, file, line) in places.items():
        source = (ROOT / file).read_text().splitlines()[line - 1]
        assert re.search(r"return torch.sqrt" if name.endswith("_rms") else rf"self\.{name}\(|self\.head\(", source)
    layer = model.run_trace(lm, [1, 2, 3]).layer(0)
    config = lm.config
    sizes = {"T": 3, "d": config.d_model, "f": config.ffn_hidden, "n_heads": config.n_heads}
    sizes |= {"n_kv_heads": config.n_kv_heads, "head_dim": config.head_dim}
    for name in SHAPES:
        assert np.shape(getattr(layer, name)) == tuple(sizes[dim] for dim in places[name].dims)


def test_panels_name_tensors_that_there_are() -> None:
    assert {name for names in tensors().values() for name in names} <= {*SHAPES, "logits"}
