"""The small networks of the families that come with the project: transformers reads each directory and agrees."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

import model
from model.evaluate.zoo import BEGIN, END, FIGURES, README, table
from model.kv_math import KvOptions
from model.taps import capture
from model.train.zoo import SHAPES, ZOO
from tests.families import Pair, close, pair_of

TEXTS = ("Tom is in the kitchen. Lily is in the garden. Tom is in the", "猫在沙发上睡觉。狗在院子里玩。猫在")
DIRECTORIES = sorted(path.parent for path in ZOO.glob("*/config.json"))


@cache
def pair(directory: Path) -> Pair:
    return pair_of(directory)


def theirs(peer: Any, source: torch.Tensor, target: torch.Tensor | None = None) -> Any:
    """transformers' pass over a text; an encoder reads it whole, and the decoder writes `target`."""
    shown: dict[str, Any] = {"output_hidden_states": True, "output_attentions": True}
    with torch.no_grad():
        if target is None:
            return peer(source, **shown)
        return peer(source, decoder_input_ids=target, **shown)


def test_what_there_is_fits_into_60_mb() -> None:
    assert {path.name for path in DIRECTORIES} <= SHAPES.keys()
    assert sum(file.stat().st_size for file in ZOO.rglob("*") if file.is_file()) <= 60e6


@pytest.mark.parametrize("directory", DIRECTORIES, ids=lambda path: path.name)
def test_a_directory_is_what_the_trainer_makes(directory: Path) -> None:
    assert pair(directory).lm.config == SHAPES[directory.name]
    assert {tensor.dtype for tensor in load_file(directory / "model.safetensors").values()} == {torch.float16}
    last = json.loads((directory / "training_log.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    assert last["stage"] == "stories"
    for name in ("README.md", "evaluation.json", "tokenizer.json"):
        assert (directory / name).is_file(), name


@pytest.mark.parametrize("directory", DIRECTORIES, ids=lambda path: path.name)
def test_transformers_reads_the_directory_and_agrees(directory: Path) -> None:
    """Logits and hidden states within 1e-5 of the largest, float32; attention within 1e-5."""
    lm, peer, _ = pair(directory)
    for text in TEXTS:
        ids = torch.tensor([lm.tokenizer.encode(text)])
        encoded = peer.config.is_encoder_decoder
        target = torch.tensor([[lm.config.start_id, *lm.tokenizer.encode(TEXTS[0])[:7]]]) if encoded else None
        found = theirs(peer, ids, target)
        trace = model.run_trace(lm, ids[0].tolist(), **({} if target is None else {"target": target[0, 1:].tolist()}))
        near(torch.from_numpy(trace.logits), found.logits[0, -1])
        check_stack(trace, found.decoder_hidden_states if encoded else found.hidden_states,
                    found.decoder_attentions if encoded else found.attentions)  # fmt: skip
        if encoded:
            assert trace.source is not None
            check_stack(trace.source, found.encoder_hidden_states, found.encoder_attentions)
            for i in range(trace.n_layers):
                close(torch.from_numpy(trace.layer(i).cross_attention), found.cross_attentions[i][0])


def check_stack(trace: model.Trace, hidden: Any, attentions: Any) -> None:
    for i in range(trace.n_layers):
        near(torch.from_numpy(trace.residual[i]), hidden[i][0])
        close(torch.from_numpy(trace.layer(i).attention), attentions[i][0])


def near(ours: torch.Tensor, found: torch.Tensor) -> None:
    """Within 1e-5 of the largest value, or of 1 where all are smaller."""
    close(ours, found, 1e-5 * max(1.0, float(found.abs().max())))


@pytest.mark.parametrize("directory", DIRECTORIES, ids=lambda path: path.name)
def test_in_double_nothing_is_1e_5_apart(directory: Path) -> None:
    """In float32 transformers' own rounding moves logits of 20 by as much: in double, 1e-5 holds as it stands."""
    lm, peer, _ = pair_of(directory)
    encoded = peer.config.is_encoder_decoder
    peer.config._experts_implementation = "eager"  # the grouped product knows no double
    peer.double()
    lm.net.double()
    for text in TEXTS:
        source = lm.tokenizer.encode(text)
        target = torch.tensor([[lm.config.start_id, *lm.tokenizer.encode(TEXTS[0])[:7]]]) if encoded else None
        found = theirs(peer, torch.tensor([source]), target)
        hidden = found.decoder_hidden_states if encoded else found.hidden_states
        net, ids = lm.net.start_decoding(source)
        with torch.inference_mode(), capture(net, "layers.*.resid_in") as seen:
            close(net(torch.tensor([ids]) if target is None else target, eager=True), found.logits)
        for i in range(lm.config.n_layers):
            close(seen[f"layers.{i}.resid_in"], hidden[i])


@pytest.mark.parametrize("directory", DIRECTORIES, ids=lambda path: path.name)
def test_64_greedy_tokens_are_transformers_and_the_cache_is_the_formulas(directory: Path) -> None:
    lm, peer, _ = pair(directory)
    prompt = torch.tensor([lm.tokenizer.encode(TEXTS[0])])
    endless = model.LanguageModel(lm.name, _endless(lm.config), lm.tokenizer, lm.net, lm.directory)
    steps = list(model.generate(endless, prompt[0].tolist(), max_new_tokens=64))
    chosen = torch.tensor([[step.token_id for step in steps]])
    assert chosen.shape == (1, 64)
    if peer.config.is_encoder_decoder:
        target = torch.cat((torch.tensor([[lm.config.start_id]]), chosen[:, :-1]), 1)
        logits, options = theirs(peer, prompt, target).logits, KvOptions(encoder_tokens=prompt.shape[1])
    else:
        logits, options = theirs(peer, torch.cat((prompt, chosen), 1)[:, :-1]).logits[:, -64:], KvOptions()
    assert torch.equal(logits.argmax(-1), chosen)
    spec = model.spec_from_config((directory / "config.json").read_text(encoding="utf-8"))
    for step in steps:
        assert step.cache_bytes == model.kv_cache_bytes(spec, step.cache_tokens, dtype="fp32", options=options)


def _endless(config: Any) -> Any:

    return replace(config, eos_ids=())


def test_the_table_is_what_was_measured() -> None:
    if not DIRECTORIES:
        return
    found = json.loads(FIGURES.read_text(encoding="utf-8"))
    assert found.keys() == {path.name for path in DIRECTORIES}
    written = README.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0]
    assert written.strip() == table(found)
    for name, one in found.items():
        assert one["parameters"] == pair(ZOO / name).lm.n_parameters
        assert one["kv_token"] == one["kv_token_measured"]
        assert one["kv_source"] == one["kv_source_measured"]
