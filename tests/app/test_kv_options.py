"""The calculators' options are the same on the page, for programs (/kv_cache) and on the command line."""

import inspect
import re
from pathlib import Path

import visuals
from app.endpoints import kv_cache
from app.texts import table
from model.kv_math import KvOptions
from model.kv_math.__main__ import parser

PANELS = Path(visuals.__file__).parent / "static" / "panels" / "kv"
KEPT = set(KvOptions.__dataclass_fields__)  # how the cache is kept
ASKED = {"model", "config", "hub", "tokens", "batch", "dtype"}
SERVED = {"gpu", "memory_gb", "bandwidth_gb_per_s", "weights", "embeddings", "usable_percent"}
SERVED |= {"step_tokens", "context_mib", "fragmentation_mib", "weight_bytes", "vllm"}
# The load of the reverse question: the endpoint's is `batch` × `tokens`, the command's --users × --tokens.
LOAD = {"users", "user_tokens"}
# The page's alone: how many K/V heads the comparison of the four kinds takes for GQA, what a pasted config is called,
# and what decides what fits: lines, a share, or vLLM's rule for one; the others go by the share where usable_percent is
# given, and by the rule where `vllm` is, too. V's format is a field of its own there, and a part of dtype elsewhere.
SHOWN = {"n_kv_heads", "config_name", "room", "dtype_v"}
ELSEWHERE = {"vllm"}
COMMAND = {"gpu_memory": "memory_gb", "gpu_bandwidth": "bandwidth_gb_per_s"}


def page_fields() -> set[str]:
    """Fields of the forms, by the functions that make them."""
    files = ("settings-form.js", "cache-format.js", "kv-fit.js")
    sources = "".join((PANELS / name).read_text(encoding="utf-8") for name in files)
    return set(re.findall(r"(?:number|sliding|choice|sought|switch|text)Field\(\s*\"(\w+)\"", sources))


def test_the_page_has_every_option() -> None:
    assert page_fields() == (KEPT | ASKED | SERVED | LOAD | SHOWN) - ELSEWHERE
    for language in ("en", "zh"):
        assert [name for name in page_fields() if f"field_{name}" not in table(language)["kv"]] == []


def test_programs_have_every_option() -> None:
    parameters = set(inspect.signature(kv_cache).parameters)
    assert parameters == ASKED | SERVED | {"options"}
    described = (kv_cache.__doc__ or "").split("Returns:")[0]
    assert [name for name in KEPT | parameters if not re.search(rf"\b{name}\b", described)] == []


def test_the_command_has_every_option() -> None:
    names = {COMMAND.get(action.dest, action.dest) for action in parser()._actions} - {"help", "list", "users"}
    assert names == KEPT | ASKED | SERVED


def test_programs_and_the_command_mean_the_same_by_them() -> None:
    defaults = {name: field.default for name, field in KvOptions.__dataclass_fields__.items()}
    given = vars(parser().parse_args(["Llama-3 8B"]))
    assert {name: given[name] for name in KEPT} == defaults
