"""The checkpoint that comes with the project: its shape, its files, and that transformers reads the directory too."""

import torch
from safetensors.torch import load_file

import model
from model.checkpoint import BUNDLED
from model.train.trainer import SHAPE
from tests.reference import reference, run_reference

TEXT = "The cat sleeps on the sofa. 猫在沙发上睡觉。"


def test_it_is_what_load_gives() -> None:
    lm = model.load(device="cpu")
    assert lm.name == "Glass Llama (bundled)"
    assert lm.config == SHAPE
    assert len(lm.tokenizer) == lm.config.vocab_size
    assert {tensor.dtype for tensor in load_file(BUNDLED / "model.safetensors").values()} == {torch.float16}


def test_transformers_reads_the_directory_and_agrees() -> None:
    lm = model.load(device="cpu")
    ids = lm.tokenizer.encode(TEXT)
    theirs, trace = run_reference(reference(BUNDLED), torch.tensor([ids])), model.run_trace(lm, ids)
    spread = theirs.logits.abs().max().item()
    assert (torch.from_numpy(trace.logits) - theirs.logits[0, -1]).abs().max().item() <= 1e-5 * spread
    for i in range(SHAPE.n_layers):
        off = torch.from_numpy(trace.layer(i).attention) - theirs.attentions[i][0]
        assert off.abs().max().item() <= 1e-5
