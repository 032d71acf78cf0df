"""Weights counted from a model's own files: against the files' sizes and gguf's own reader."""

import json
import os
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from playwright.sync_api import Browser, Page, expect
from safetensors.torch import save, save_file

from app.chapters import CALCULATORS
from app.texts import text
from model import GlassLlamaError
from model.kv_math.from_files import BLOCKS, FileWeights, TensorGroup
from model.kv_math.memory import Setup, memory_use
from model.kv_math.weights import weight_breakdown
from tests.app.kv_chapter import field, opened, panel
from tests.app.looking import shown
from tests.page import ROOT, leave, open_page, watched

BUNDLED = ROOT / "model/bundled"
SMOLLM2 = ROOT / ".weights/SmolLM2-135M-Instruct.Q4_1.gguf"
NOBODY: Any = None  # this calculator asks no engine
LLAMA_8B = {"model": "Llama-3 8B"}
CONFIG = {"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
          "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 96, "head_dim": 16,
          "max_position_embeddings": 512, "tie_word_embeddings": True}  # fmt: skip


def header_of(path: Path) -> dict[str, Any]:
    """The JSON header, and with it how much of the file is tensors."""
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    return {**json.loads(raw[8 : 8 + length]), "bytes": os.path.getsize(path) - 8 - length}


def tensors(layers: int = 2) -> dict[str, torch.Tensor]:
    """A LLaMA of CONFIG's shape: norms in fp32, a copy of the tied output, a buffer."""
    half, found = torch.bfloat16, {"model.embed_tokens.weight": torch.zeros(96, 64, dtype=torch.bfloat16)}
    shapes = {"self_attn.q_proj": (64, 64), "self_attn.k_proj": (32, 64), "self_attn.v_proj": (32, 64),
              "self_attn.o_proj": (64, 64), "mlp.gate_proj": (128, 64), "mlp.up_proj": (128, 64),
              "mlp.down_proj": (64, 128)}  # fmt: skip
    for i in range(layers):
        found |= {f"model.layers.{i}.{name}.weight": torch.zeros(shape, dtype=half) for name, shape in shapes.items()}
        for name in ("input_layernorm", "post_attention_layernorm"):
            found[f"model.layers.{i}.{name}.weight"] = torch.zeros(64)
        found[f"model.layers.{i}.self_attn.rotary_emb.inv_freq"] = torch.zeros(8)
    return found | {"model.norm.weight": torch.zeros(64), "lm_head.weight": torch.zeros(96, 64, dtype=half)}


def groups_of(header: dict[str, Any]) -> list[dict[str, Any]]:
    """A header's tensors as the page sends them, each for itself."""
    return [
        {"name": re.sub(r"\d+", "#", name), "dtype": one["dtype"], "shape": one["shape"], "count": 1}
        for name, one in header.items()
        if isinstance(one, dict) and "dtype" in one
    ]


def test_the_bytes_are_the_files_and_each_difference_has_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_file(tensors(), path)
    header = header_of(path)
    asked = {"model": ":config", "config": json.dumps(CONFIG), "tensors": groups_of(header)}
    answer: Any = CALCULATORS["kv_weights"](NOBODY, asked)
    assert int(answer["bytes"]) == header["bytes"] == sum(int(one["bytes"]) for one in answer["dtypes"])
    assert {one["code"]: int(one["bytes"]) for one in answer["differences"]} == {
        "vector_format": 5 * 64 * 2,  # five norms, four bytes a weight and not two
        "buffer": 2 * 8 * 4,
        "tied": 96 * 64 * 2,
    }
    assert int(answer["bytes"]) - int(answer["counted"]) == sum(int(one["bytes"]) for one in answer["differences"])


@pytest.mark.parametrize("dtype", ["Q4_K", "Q6_K", "Q8_0", "Q4_1", "MXFP4", "F16"])
def test_blocks_are_as_large_as_gguf_stores_them(dtype: str, tmp_path: Path) -> None:
    kind = gguf.GGMLQuantizationType[dtype]
    block, size = gguf.GGML_QUANT_SIZES[kind]
    writer = gguf.GGUFWriter(tmp_path / "one.gguf", "llama")
    raw = np.zeros((6, 512 // block * size), dtype=np.uint8)
    writer.add_tensor("blk.0.ffn_down.weight", raw, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    read = gguf.GGUFReader(tmp_path / "one.gguf").tensors[0]
    group = TensorGroup(read.name, read.tensor_type.name, tuple(int(n) for n in read.shape), 1)
    assert group.bytes == read.n_bytes == raw.nbytes


def test_every_dtype_of_safetensors_has_its_size() -> None:
    for dtype in (torch.float64, torch.float32, torch.bfloat16, torch.int64, torch.int32, torch.uint8, torch.bool,
                  torch.float8_e4m3fn, torch.float8_e5m2):  # fmt: skip
        raw = save({"x": torch.zeros(8, 4).to(dtype)})
        (length,) = struct.unpack("<Q", raw[:8])
        one = json.loads(raw[8 : 8 + length])["x"]
        assert TensorGroup("x", one["dtype"], tuple(one["shape"]), 1).bytes == one["data_offsets"][1]
    assert BLOCKS["F4"] == (8, 4)


def test_an_index_states_its_total_and_no_more() -> None:
    """Meta-Llama-3-8B's model.safetensors.index.json: total_size 16,060,522,496, as counted."""
    counted = weight_breakdown("Llama-3 8B")
    assert FileWeights((), 16_060_522_496).differences(counted) == ()
    assert [(one.code, one.bytes) for one in FileWeights((), 16_060_522_500).differences(counted)] == [("total", 4)]


def test_the_files_bytes_decide_and_are_spread_as_the_count_is() -> None:
    for bytes_ in (5_000_000_000, 16_060_522_497):
        one = memory_use("Llama-3 8B", 8192, 1, "H100", Setup(weight_bytes=bytes_))
        assert one.per_gpu_bytes == bytes_ + 2**30
        assert sum(one.in_stages(4)) >= bytes_ + 2**30
    with pytest.raises(GlassLlamaError, match=r"^weight_bytes is 0; expected a whole number from 1"):
        Setup(weight_bytes=0)


@pytest.mark.parametrize(
    ("group", "says"),
    [
        ({"dtype": "Q9_Z", "shape": [64]}, "x.dtype is 'Q9_Z'; expected one of F32"),
        ({"dtype": "Q4_K", "shape": [100]}, "x.shape is '100'; expected a multiple of Q4_K (256)"),
        ({"dtype": "F32", "shape": [-1]}, "x.shape is -1; expected a whole number from 0"),
        ({"dtype": "F32", "shape": "64"}, "x.shape is '64'; expected a list"),
        ({"dtype": "F32", "shape": [64], "count": 0}, "x.count is 0; expected a whole number from 1"),
        ({"dtype": 3, "shape": [64]}, "expected name and dtype as texts"),
    ],
)
def test_what_is_wrong_is_named(group: dict[str, Any], says: str) -> None:
    asked = {**LLAMA_8B, "tensors": [{"name": "x", "count": 1, **group}]}
    with pytest.raises(GlassLlamaError, match=re.escape(says)):
        CALCULATORS["kv_weights"](NOBODY, asked)


@pytest.fixture(scope="module")
def chapter(browser: Browser, panels_alone: str) -> Iterator[Page]:
    page = open_page(browser, f"{panels_alone}#lang=en")
    with watched(page):
        opened(page)
        panel(page, "kv-fit").locator(".kv-files > summary").click()
        yield page
    leave(page)


def of_config(page: Page, config: str) -> None:
    field(page, "kv-calculator", "model").select_option(":config")
    field(page, "kv-calculator", "config").fill(config)
    of = json.loads(config)
    token = of["num_hidden_layers"] * of["num_key_value_heads"] * 2 * of["head_dim"] * 2
    shown(page, "kv-calculator", f"text:kv.pasted tokens=8192 batch=1 dtype=bf16 bytes={8192 * token}")


def test_a_files_header_is_read_in_the_browser(chapter: Page) -> None:
    page, path = chapter, BUNDLED / "model.safetensors"
    of_config(page, (BUNDLED / "config.json").read_text(encoding="utf-8"))
    page.set_input_files("#kv-files-picker", path)
    size = header_of(path)["bytes"]
    expect(field(page, "kv-fit", "weight_bytes")).to_have_value(str(size))
    fit = panel(page, "kv-fit")
    expect(fit.locator(".kv-files-result")).to_contain_text(f"{size:,}\xa0B")
    expect(fit.locator(".kv-measured")).to_contain_text(f"{size:,}\xa0B")
    field(page, "kv-calculator", "model").select_option("Llama-3 8B")  # the files were of another model
    expect(field(page, "kv-fit", "weight_bytes")).to_have_value("")
    expect(fit.locator(".kv-files-result li")).to_have_count(0)


@pytest.mark.thorough
def test_a_gguf_of_several_megabytes_of_vocabulary(chapter: Page) -> None:
    if not SMOLLM2.exists():
        pytest.skip("SmolLM2 is not fetched")
    page, read = chapter, gguf.GGUFReader(SMOLLM2)
    size = sum(int(tensor.n_bytes) for tensor in read.tensors)
    config = {"model_type": "llama", "num_hidden_layers": 30, "hidden_size": 576, "num_attention_heads": 9,
              "num_key_value_heads": 3, "head_dim": 64, "intermediate_size": 1536, "vocab_size": 49_152,
              "max_position_embeddings": 8192, "tie_word_embeddings": True}  # fmt: skip
    of_config(page, json.dumps(config))
    page.set_input_files("#kv-files-picker", SMOLLM2)
    expect(field(page, "kv-fit", "weight_bytes")).to_have_value(str(size))
    found = panel(page, "kv-fit").locator(".kv-files-result")
    vectors = sum(int(t.n_elements) for t in read.tensors if len(t.shape) == 1)
    expect(found.locator("[data-code=vector_format]")).to_contain_text(f"{2 * vectors:,}\xa0B")
    for kind in {tensor.tensor_type.name for tensor in read.tensors}:
        of_kind = [int(tensor.n_bytes) for tensor in read.tensors if tensor.tensor_type.name == kind]
        expect(found.locator(f"[data-dtype={kind}] summary")).to_contain_text(f"{len(of_kind)} tensor")
    field(page, "kv-calculator", "model").select_option("Llama-3 8B")


def test_what_is_pasted_and_what_is_wrong_with_it(chapter: Page) -> None:
    page, fit = chapter, panel(chapter, "kv-fit")
    box, trouble = field(page, "kv-fit", "weight_header"), fit.locator(".kv-files .kv-trouble").last

    shown(page, "kv-calculator", "Llama-3 8B ")
    index = {"metadata": {"total_size": 16_060_522_496}, "weight_map": {"lm_head.weight": "a"}}
    box.fill(json.dumps(index))  # as a paste does, it makes an input event, and leaves the box focused
    expect(field(page, "kv-fit", "weight_bytes")).to_have_value("16060522496")
    expect(fit.locator(".kv-files-result")).to_contain_text("Exactly what is counted from the parameters in bf16")
    for wrong, reason, told in (
        ("", "empty", {}),
        ("nothing", "no_header", {}),
        ('{"weight_map": {}}', "no_total", {}),
        ('{"a": 1}', "no_tensor", {"name": "a"}),
        ('{"a": {"shape": [1]}}', "no_dtype", {"name": "a", "field": "dtype"}),
        ('{"a": {"dtype": "F32", "shape": [1.5]}}', "no_shape", {"name": "a"}),
    ):
        box.fill(wrong)
        expect(trouble).to_have_text(text(f"kv-fit.header_{reason}", **told))
        expect(field(page, "kv-fit", "weight_bytes")).to_have_value("")
    box.fill('{"a.weight": {"dtype": "F99", "shape": [4]}}')
    expect(trouble).to_contain_text("F32")
    box.fill("    1:    1769472 |   576,   3072,     1,     1 | Q8_0    | blk.0.ffn_down.weight")
    expect(field(page, "kv-fit", "weight_bytes")).to_have_value(str(576 * 3072 // 32 * 34))
    few = text("kv-fit.measured_few", format="bf16", counted="14.96 GiB = 16.06 GB")  # 2 × 8,030,261,248 bytes
    expect(fit.locator(".kv-few")).to_have_text(few)
    for bytes_, warned in ((8_030_261_247, 1), (8_030_261_248, 0)):
        field(page, "kv-fit", "weight_bytes").fill(str(bytes_))
        expect(fit.locator(".kv-measured")).to_contain_text(f"{bytes_:,}\xa0B")
        expect(fit.locator(".kv-few")).to_have_count(warned)
