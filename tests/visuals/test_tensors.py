"""Where each tensor is made, read from the source and held against it, for a network of each family; and that every
panel names real tensors."""

import re

import numpy as np
import transformers

import model
from model.shapes import EXTRA_SHAPES, SHAPES
from model.train.zoo import ZOO
from tests.families import save
from tests.panels import tensors
from visuals.tensors import ROOT, tensors_payload


def check(lm: model.LanguageModel) -> None:
    trace = model.run_trace(lm, [1, 2, 3])
    for index in range(lm.config.n_layers):
        places, arrays = tensors_payload(lm, trace, index), trace.layer(index).arrays
        assert places.keys() == {*arrays, "logits"}
        for name, place in places.items():
            line = (ROOT / place["file"]).read_text().splitlines()[place["line"] - 1]
            statistic = name.endswith(("_rms", "_mean"))
            tap = name.removeprefix("shared_").removeprefix("cross_") if name.startswith(("shared", "cross")) else name
            assert re.search(r"return (rms|x\.float\(\)\.mean)" if statistic else rf"self\.({name}|{tap}|head)\(", line)
            assert len(place["dims"]) == len(place["shape"])
            assert place["shape"] == list(np.shape(arrays.get(name, trace.logits)))


def test_every_array_of_a_layer_has_its_line(lm: model.LanguageModel) -> None:
    check(lm)
    t5 = save(transformers.T5Config(vocab_size=320, d_model=48, d_kv=8, d_ff=64, num_layers=2, num_heads=6))
    for directory in (t5, *(ZOO / name for name in ("bloom", "falcon", "mixtral", "deepseek"))):
        check(model.load(directory, device="cpu"))


def test_panels_name_tensors_that_there_are() -> None:
    assert {name for names in tensors().values() for name in names} <= {*SHAPES, *EXTRA_SHAPES, "logits"}
