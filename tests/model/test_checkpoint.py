"""Checkpoints that load, in every layout and dtype, and what is said about those that do not."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import AutoModelForCausalLM

import model
from model.checkpoint import pick_device, pick_dtype, save_weights
from tests.reference import reference, sample_ids
from tests.standin import make_checkpoint, make_tokenizer

WEIGHTS = "model.safetensors"
Q = "model.layers.1.self_attn.q_proj.weight"
EMBED, HEAD, NORM = "model.embed_tokens.weight", "lm_head.weight", "model.norm.weight"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return make_checkpoint(tmp_path / "checkpoint")


def rewrite(directory: Path, change: Callable[[dict[str, Tensor]], Any]) -> None:
    tensors = load_file(directory / WEIGHTS)
    change(tensors)
    save_file(tensors, directory / WEIGHTS)


def set_config(directory: Path, **fields: Any) -> None:
    path = directory / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def shard(directory: Path) -> list[Path]:
    """Cut the weights into two files with an index, as large checkpoints have them."""
    tensors = load_file(directory / WEIGHTS)
    names, parts = sorted(tensors), []
    weight_map = {}
    for n, part in enumerate((names[::2], names[1::2]), 1):
        parts.append(directory / f"model-0000{n}-of-00002.safetensors")
        save_file({name: tensors[name] for name in part}, parts[-1])
        weight_map |= dict.fromkeys(part, parts[-1].name)
    (directory / f"{WEIGHTS}.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
    (directory / WEIGHTS).unlink()
    return parts


def logits(lm: model.LanguageModel) -> Tensor:
    return lm.net(sample_ids(1, 6))


def refusal(where: Path | str, **settings: str) -> str:
    """The message of the one error that may come, which is one line."""
    with pytest.raises(model.GlassLlamaError) as caught:
        model.load(where, **{"device": "cpu"} | settings)
    assert "\n" not in str(caught.value)
    assert caught.value.code in ("checkpoint", "config", "device", "dtype")
    return str(caught.value)


@pytest.mark.parametrize("stored", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("used", ["float32", "bfloat16", "float16"])
def test_dtypes_of_files_and_of_the_network(directory: Path, stored: torch.dtype, used: str) -> None:
    rewrite(directory, lambda tensors: tensors.update({name: t.to(stored) for name, t in tensors.items()}))
    lm = model.load(directory, device="cpu", dtype=used)
    wanted = getattr(torch, used)
    assert lm.dtype == wanted
    assert {parameter.dtype for parameter in lm.net.parameters()} == {wanted}
    assert torch.equal(lm.net.embed.weight, load_file(directory / WEIGHTS)[EMBED].to(wanted))
    assert logits(lm).isfinite().all()
    step = next(model.generate(lm, "The cat"))
    assert step.cache_bytes == 2 * 3 * 2 * 8 * wanted.itemsize * step.cache_tokens


def test_what_is_loaded_is_described(directory: Path) -> None:
    lm = model.load(str(directory))
    assert lm.name == str(directory)
    assert lm.n_parameters == sum(t.numel() for t in load_file(directory / WEIGHTS).values())
    assert not any(parameter.requires_grad for parameter in lm.net.parameters())
    if not torch.cuda.is_available() and not torch.backends.mps.is_available():
        assert (lm.device.type, lm.dtype) == ("cpu", torch.float32)


def test_shards_are_followed(directory: Path) -> None:
    whole = logits(model.load(directory, device="cpu"))
    shard(directory)
    assert torch.equal(logits(model.load(directory, device="cpu")), whole)


def test_a_missing_shard_is_named(directory: Path) -> None:
    _, second = shard(directory)
    second.unlink()
    assert re.search(r"model-00002-of-00002\.safetensors missing", refusal(directory))


@pytest.mark.parametrize("weight_map", [None, [], {"a": 5}, {"a": ["b"]}, "x"])
def test_an_index_without_file_names(directory: Path, weight_map: object) -> None:
    shard(directory)
    (directory / f"{WEIGHTS}.index.json").write_text(json.dumps({"weight_map": weight_map}))
    assert "has no weight_map of file names" in refusal(directory)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.9999])
def test_a_file_that_is_cut_short(directory: Path, share: float) -> None:
    path = directory / WEIGHTS
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    assert re.search(r"model\.safetensors is damaged or cut short \(.+\); fetch it again\.$", refusal(directory))


def test_only_a_bin_file(directory: Path) -> None:
    (directory / WEIGHTS).rename(directory / "pytorch_model.bin")
    message = refusal(directory)
    assert "model.safetensors missing; only safetensors files are loaded" in message
    assert "save_pretrained" in message


def test_all_that_is_wrong_with_the_tensors_is_listed_in_one_error(directory: Path) -> None:
    def spoil(tensors: dict[str, Tensor]) -> None:
        del tensors[NORM], tensors["model.layers.2.mlp.up_proj.weight"]
        tensors["model.layers.0.self_attn.q_proj.bias"] = torch.zeros(48)
        tensors["model.layers.3.input_layernorm.weight"] = torch.ones(48)
        tensors[Q] = tensors[Q][:-8].clone()
        tensors["model.layers.0.mlp.down_proj.weight"][3, 4] = float("nan")
        tensors["model.layers.1.mlp.down_proj.weight"][0, 0] = float("-inf")
        tensors[HEAD] = torch.zeros(320, 48, dtype=torch.int8)

    rewrite(directory, spoil)
    message = refusal(directory)
    for problem in (
        f"missing tensor {NORM}",
        "missing tensor model.layers.2.mlp.up_proj.weight",
        "unknown tensor model.layers.0.self_attn.q_proj.bias",
        "unknown tensor model.layers.3.input_layernorm.weight",
        f"{Q} has shape [40, 48], expected [48, 48]",
        "model.layers.0.mlp.down_proj.weight holds NaN or infinite values",
        "model.layers.1.mlp.down_proj.weight holds NaN or infinite values",
        f"{HEAD} is torch.int8, expected float32, float16 or bfloat16",
    ):
        assert problem in message
    assert message.count(";") == 7  # and nothing else


def test_stored_rotary_frequencies_are_ignored(directory: Path) -> None:
    before = logits(model.load(directory, device="cpu"))
    rewrite(directory, lambda t: t.update({"model.layers.0.self_attn.rotary_emb.inv_freq": torch.full((4,), 9.0)}))
    assert torch.equal(logits(model.load(directory, device="cpu")), before)


def test_a_tied_head_may_be_stored_if_it_is_the_embedding(tmp_path: Path) -> None:
    directory = make_checkpoint(tmp_path, tie_word_embeddings=True)
    lm = model.load(directory, device="cpu")
    assert lm.net.head.weight is lm.net.embed.weight
    assert lm.n_parameters == sum(t.numel() for t in load_file(directory / WEIGHTS).values())
    rewrite(directory, lambda tensors: tensors.update({HEAD: tensors[EMBED].clone()}))
    again = model.load(directory, device="cpu")
    assert torch.equal(logits(again), logits(lm))
    assert again.n_parameters == lm.n_parameters
    rewrite(directory, lambda tensors: tensors[HEAD].add_(0.25))
    assert f"{HEAD} differs from the embedding, yet config.json says tie_word_embeddings" in refusal(directory)


def test_an_untied_head_may_not_be_missing(directory: Path) -> None:
    rewrite(directory, lambda tensors: tensors.pop(HEAD))
    assert f"missing tensor {HEAD}" in refusal(directory)


def test_another_architecture(directory: Path) -> None:
    set_config(directory, model_type="mistral")
    assert "model_type is 'mistral'; expected one of \"llama\", " in refusal(directory)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json"])
def test_files_that_are_missing_or_malformed(directory: Path, name: str) -> None:
    path = directory / name
    for content in (b"", b"{", b"\xff\xfe\x00", b"[" * 100_000, b"[1, 2]", b'"llama"'):
        path.write_bytes(content)
        assert name in refusal(directory)
    path.unlink()
    assert f"{name} is missing; a checkpoint needs config.json, tokenizer.json" in refusal(directory)


def test_a_tokenizer_of_another_model(tmp_path: Path) -> None:
    directory = make_checkpoint(tmp_path, vocab_size=300)
    make_tokenizer(320).save(str(directory / "tokenizer.json"))
    said = "tokenizer.json: model.vocab: 'Ġplays' has id 319, but config.json's vocab_size is 300; the two files do not"
    assert said in refusal(directory)


@pytest.mark.parametrize(
    "where", ["/no/such/place", "./here", "~/nothing", "~nobody/at/home", "a/b/c", Path("org/name")]
)
def test_a_directory_that_is_not_there(where: str | Path) -> None:
    message = refusal(where)
    assert message.startswith(f"{where}: no such directory; give a directory that holds config.json")


@pytest.mark.parametrize("device", ["quantum", "cuda:99", "", "meta", "cpu:x"])
def test_an_unknown_device(directory: Path, device: str) -> None:
    message = refusal(directory, device=device)
    assert re.match(rf"device '{device}' cannot be used: .+\. Try 'auto' or 'cpu'\.$", message)


@pytest.mark.parametrize("dtype", ["float64", "int4", "fp16", ""])
def test_an_unknown_dtype(directory: Path, dtype: str) -> None:
    message = refusal(directory, dtype=dtype)
    assert message == f"dtype {dtype!r} is unknown; expected 'auto', 'float32', 'float16', 'bfloat16', 'int8'."


def test_device_and_dtype_can_be_forced() -> None:
    assert pick_device("cpu") == torch.device("cpu")
    assert pick_dtype("auto", torch.device("cpu")) == torch.float32
    assert pick_dtype("auto", torch.device("mps")) == torch.float32
    assert pick_dtype("float16", torch.device("cpu")) == torch.float16


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_what_is_saved_is_read_back_also_by_transformers(tmp_path: Path, tied: bool, dtype: torch.dtype) -> None:
    source = make_checkpoint(tmp_path / "source", sharpness=1.2, tie_word_embeddings=tied)
    rewrite(source, lambda tensors: tensors.update({name: t.to(dtype).float() for name, t in tensors.items()}))
    lm, saved = model.load(source, device="cpu"), tmp_path / "deep" / "saved"
    save_weights(lm.net, saved, dtype)
    (saved / "tokenizer.json").write_bytes((source / "tokenizer.json").read_bytes())
    again = model.load(saved, device="cpu")
    assert again.config == lm.config
    assert torch.equal(logits(again), logits(lm))
    assert load_file(saved / WEIGHTS).keys() == load_file(source / WEIGHTS).keys()
    assert {tensor.dtype for tensor in load_file(saved / WEIGHTS).values()} == {dtype}
    assert AutoModelForCausalLM.from_pretrained(saved).dtype == dtype  # what config.json says
    torch.testing.assert_close(reference(saved)(sample_ids(1, 6)).logits, logits(lm), rtol=0, atol=1e-5)
    assert {path.name for path in saved.iterdir()} == {"config.json", "tokenizer.json", WEIGHTS}


def test_more_layers_than_the_files_hold_are_refused_before_anything_is_built(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def built(_net: object, _config: object) -> None:
        raise AssertionError("a network was built")

    monkeypatch.setattr("model.llama.Llama.__init__", built)
    for layers in (4, 1000, 10**9, 2**53):
        set_config(directory, num_hidden_layers=layers)
        assert f"num_hidden_layers is {layers}, but the files hold 3 layers" in refusal(directory)
    lone = {"model.layers.999999999.input_layernorm.weight": torch.ones(48)}
    for tensors in (lone, {NORM: torch.ones(48)}):
        save_file(tensors, directory / WEIGHTS)
        set_config(directory, num_hidden_layers=10**9)
        assert f"but the files hold {len(lone.keys() & tensors.keys())} layers" in refusal(directory)


@pytest.mark.parametrize(
    "fields",
    [
        {"hidden_size": 6 * 10**9},
        {"vocab_size": 10**12},
        {"intermediate_size": 10**12},
        {"num_attention_heads": 2 * 10**9, "head_dim": 2 * 10**6},
        {"head_dim": 10**15},
        {"max_position_embeddings": 10**15},
    ],
)
def test_widths_that_no_file_holds_are_refused_by_a_tensors_name(directory: Path, fields: dict[str, int]) -> None:
    set_config(directory, **fields)
    if "max_position_embeddings" in fields:
        assert logits(model.load(directory, device="cpu")).isfinite().all()
    else:
        assert re.search(r"the weights do not fit config.json: model\.\S+ has shape", refusal(directory))


def test_sizes_that_no_tensor_can_have(directory: Path) -> None:
    for field in ("intermediate_size", "num_key_value_heads", "head_dim"):
        before = (directory / "config.json").read_text()
        set_config(directory, **{field: 10**30} | ({"num_attention_heads": 10**30} if "heads" in field else {}))
        assert re.search(r"^config\.json: \w+ is 10{30}; expected a whole number of at most 2", refusal(directory))
        (directory / "config.json").write_text(before)
        set_config(directory, num_attention_heads=2**50, num_key_value_heads=2**50, head_dim=2**50)
        assert "config.json states sizes that no tensor can have" in refusal(directory)
        (directory / "config.json").write_text(before)


@pytest.mark.parametrize(
    "name", ["../checkpoint/a.safetensors", "/etc/passwd", "sub/a.safetensors", "..", "", "model.bin", "a\x00.bin"]
)
def test_an_index_stays_inside_its_directory(directory: Path, name: str) -> None:
    shard(directory)
    (directory / f"{WEIGHTS}.index.json").write_text(json.dumps({"weight_map": {NORM: name}}))
    assert f"weight_map names {name!r}; expected the name of a safetensors file beside it" in refusal(directory)


def test_weights_beyond_the_dtype_are_refused(directory: Path) -> None:
    rewrite(directory, lambda tensors: tensors["model.layers.1.mlp.down_proj.weight"][0, 0].fill_(70_000.0))
    message = refusal(directory, dtype="float16")
    assert "layers.1.ffn.down_proj.weight holds values up to 7e+04, and float16 ends at 6.55e+04" in message
    assert model.load(directory, device="cpu", dtype="bfloat16").dtype == torch.bfloat16
