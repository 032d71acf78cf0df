"""A trace in a file is what transformers computes, and numpy and safetensors read it without this package."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import safetensors
import torch
import transformers

import model
from model.trace_files import main
from model.train.zoo import ZOO
from tests.reference import reference, run_reference

PROMPT = "The cat sleeps, 猫在沙发上睡觉。"
CLOSE = {"rtol": 0, "atol": 1e-4}


def as_numpy(path: Path) -> tuple[dict[str, np.ndarray], dict]:
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files if name != "about"}, json.loads(str(file["about"]))


def as_safetensors(path: Path) -> tuple[dict[str, np.ndarray], dict]:
    with safetensors.safe_open(path, "numpy") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, json.loads(file.metadata()["about"])  # noqa: SIM118


READERS = {"run.npz": as_numpy, "run.safetensors": as_safetensors}


@pytest.mark.parametrize("name", READERS)
def test_a_file_holds_the_run_as_transformers_computes_it(checkpoint: Path, tmp_path: Path, name: str) -> None:
    trace = model.run_trace(model.load(checkpoint, device="cpu"), PROMPT)
    model.save_trace(trace, tmp_path / name)
    arrays, about = READERS[name](tmp_path / name)
    theirs = run_reference(reference(checkpoint), torch.tensor([about["token_ids"]]))
    for i, attention in enumerate(theirs.attentions):
        np.testing.assert_allclose(arrays[f"layers.{i}.attention"], attention[0].numpy(), **CLOSE)
        np.testing.assert_allclose(arrays[f"layers.{i}.resid_in"], theirs.hidden_states[i][0].numpy(), **CLOSE)
    np.testing.assert_allclose(arrays["residual"][:-1], torch.cat(theirs.hidden_states[:-1]).numpy(), **CLOSE)
    np.testing.assert_allclose(arrays["logits"], theirs.logits[0, -1].numpy(), **CLOSE)
    assert "".join(about["pieces"]) == PROMPT
    assert about["dtype"] == "float32"
    assert not about["changed"]


@pytest.mark.parametrize("name", READERS)
def test_each_axis_is_named_and_as_long_as_every_other_of_its_name(checkpoint: Path, tmp_path: Path, name: str) -> None:
    lm = model.load(checkpoint, device="cpu")
    model.save_trace(model.run_trace(lm, PROMPT), tmp_path / name, layers=[1])
    arrays, about = model.read_trace(tmp_path / name)
    dimensions = about["dimensions"]
    assert dimensions.keys() == arrays.keys()
    assert {name.split(".")[1] for name in arrays if name.startswith("layers.")} == {"1"}
    stated = json.loads((checkpoint / "config.json").read_text())
    long = {
        "T": len(about["token_ids"]),
        "d": stated["hidden_size"],
        "f": stated["intermediate_size"],
        "V": stated["vocab_size"],
        "L": stated["num_hidden_layers"],
        "L+1": stated["num_hidden_layers"] + 1,
        "n_heads": stated["num_attention_heads"],
        "n_kv_heads": stated["num_key_value_heads"],
        "head_dim": stated.get("head_dim", stated["hidden_size"] // stated["num_attention_heads"]),
    }
    for array, dims in dimensions.items():
        assert arrays[array].shape == tuple(long[dim] for dim in dims), array


def test_an_encoders_run_is_in_the_file_of_its_decoders(tmp_path: Path) -> None:
    lm = model.load(ZOO / "t5", device="cpu")
    trace = model.run_trace(lm, "The cat sleeps.", target="The")
    model.save_trace(trace, tmp_path / "t5.npz")
    arrays, about = model.read_trace(tmp_path / "t5.npz")
    theirs = transformers.AutoModelForSeq2SeqLM.from_pretrained(
        ZOO / "t5", dtype=torch.float32, attn_implementation="eager"
    ).eval()
    ids = torch.tensor([about["source"]["token_ids"]]), torch.tensor([about["token_ids"]])
    with torch.no_grad():
        out = theirs(input_ids=ids[0], decoder_input_ids=ids[1], output_attentions=True)
    for i, attention in enumerate(out.encoder_attentions):
        np.testing.assert_allclose(arrays[f"source.layers.{i}.attention"], attention[0].numpy(), **CLOSE)
    for i, attention in enumerate(out.cross_attentions):
        np.testing.assert_allclose(arrays[f"layers.{i}.cross_attention"], attention[0].numpy(), **CLOSE)
    assert "source.logits" not in arrays
    assert about["dimensions"]["layers.0.cross_attention"] == ["n_heads", "T", "S"]


def test_what_was_changed_in_the_run_is_said(checkpoint: Path, tmp_path: Path) -> None:
    lm = model.load(checkpoint, device="cpu")
    off = model.Intervention(heads=((1, 0),))
    model.save_trace(model.run_trace(lm, PROMPT, off), tmp_path / "off.npz", layers=[])
    assert model.read_trace(tmp_path / "off.npz").about["changed"] == {"heads": [[1, 0]]}


def test_a_name_or_a_file_that_will_not_do_is_refused(checkpoint: Path, tmp_path: Path) -> None:
    trace = model.run_trace(model.load(checkpoint, device="cpu"), PROMPT)
    with pytest.raises(model.GlassLlamaError, match=r"path is 'run\.pt'; expected a name that ends with \.npz or"):
        model.save_trace(trace, tmp_path / "run.pt")
    with pytest.raises(IndexError, match="layer 99"):
        model.save_trace(trace, tmp_path / "run.npz", layers=[99])
    assert not list(tmp_path.iterdir())
    np.savez(tmp_path / "other.npz", x=np.zeros(2))
    with pytest.raises(model.GlassLlamaError, match="a file that save_trace wrote"):
        model.read_trace(tmp_path / "other.npz")


def test_the_command_writes_a_file_and_lists_it(
    checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.safetensors"
    monkeypatch.setattr(sys, "argv", ["trace_files", PROMPT, str(path), "--model", str(checkpoint), "--layer", "0"])
    assert main() == 0
    assert any(
        "layers.0.attention" in line and "n_heads × T × T" in line for line in capsys.readouterr().out.split("\n")
    )
    assert path.exists()
