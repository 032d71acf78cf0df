"""docs/calculators.md: every row counted again, and within 2 % of what was published."""

import re
from pathlib import Path
from typing import Any

import pytest

from model.kv_math.weights import weight_breakdown
from model.published.hf_spec import spec_from_config
from tests.model.published.test_quantised import AWQ, CONFIGS, FP8, GPT_OSS_20B, GPT_OSS_120B, GPTQ, MXFP4, NF4, counted

PAGE = Path(__file__).parents[3] / "docs" / "calculators.md"
ROW = re.compile(r"\| ([^|]+) \| (mxfp4|GPTQ|AWQ|NF4|fp8|q8_0|q4_0) \| ([\d.]+) \| ([\d.]+) \| ([−+][\d.]+) \|")
ROWS = ROW.findall(PAGE.read_text(encoding="utf-8"))
STORED: dict[str, dict[str, Any]] = {
    "mxfp4": MXFP4, "GPTQ": GPTQ, "AWQ": AWQ, "NF4": NF4 | {"bnb_4bit_use_double_quant": True}, "fp8": FP8
}  # fmt: skip
SHAPES = {
    "gpt-oss-20b": GPT_OSS_20B,
    "gpt-oss-120b": GPT_OSS_120B,
    "Qwen2.5 7B": CONFIGS["Qwen2.5-7B"],
    "Llama-3 8B": CONFIGS["Llama-3 8B"],
    "DeepSeek-V3": CONFIGS["DeepSeek-V3"],
    "Llama-3.1 70B": CONFIGS["Llama-3.1 70B"],
    "Qwen3-32B": CONFIGS["Qwen3-8B"]
    | {"num_hidden_layers": 64, "hidden_size": 5120, "num_attention_heads": 64, "intermediate_size": 25_600},
}


def test_six_or_more_are_listed() -> None:
    assert len(ROWS) >= 6


@pytest.mark.parametrize(("model", "stored", "said", "published", "off"), ROWS)
def test_a_row_is_what_is_counted(model: str, stored: str, said: str, published: str, off: str) -> None:
    if stored in STORED:
        gigabytes = counted(SHAPES[model], STORED[stored]).total_bytes / 1e9
    else:  # a format of llama.cpp, which its files name and no config.json does
        gigabytes = weight_breakdown(spec_from_config(SHAPES[model]), stored).total_bytes / 1e9
    assert f"{gigabytes:.4g}" == f"{float(said):.4g}"
    share = gigabytes / float(published) - 1
    assert abs(share) < 0.02
    assert f"{100 * share:+.2f}".replace("-", "−") == off
