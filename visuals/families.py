"""The families beside each other: what their networks are made of, how large they are, what they cache.

A published config.json builds a network here, and that network says what it is made of (model/architecture.py). Sizes
and sources come from the catalogue. Words do not travel: a line of a cell is a code with its numbers, and the page has
the words. A line that LLaMA's cell does not have is marked.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from model import families as implemented
from model.architecture import ArchitectureSummary, Position, architecture_summary, network_without_weights
from model.kv_math import kv_bytes_per_token, kv_token_terms
from model.published.catalogue import active_parameter_count, catalogue
from model.published.hf_spec import spec_from_config
from model.published.history import History, histories
from model.published.parameters import WeightPart, weight_parts
from model.published.spec import ModelSpec
from model.published.transformer_2017 import TRANSFORMER

from .claims import CLAIMS
from .kv import published_message, token_message
from .messages.families import (
    Cell,
    FamiliesTable,
    FamilyColumn,
    ParametersMessage,
    TokenCache,
    WeightGroup,
    WeightPartMessage,
)

CONFIGS: dict[str, dict[str, Any]] = json.loads(
    (Path(implemented.__file__).parent / "published.json").read_text(encoding="utf-8")
)
REFERENCE = "llama3"
DTYPE = "bf16"


@dataclass(frozen=True)
class Column:
    """A published model: its family, as trained networks of it are called, and its name in the catalogue or CONFIGS."""

    family: str
    name: str


COLUMNS: dict[str, Column] = {
    "llama3": Column("llama", "Llama-3 8B"),
    "qwen3": Column("qwen", "Qwen3-8B"),
    "bloom": Column("bloom", "BLOOM-176B"),
    "falcon": Column("falcon", "Falcon-7B"),
    "mixtral": Column("mixtral", "Mixtral-8x7B v0.1"),
    "t5": Column("t5", "T5-large (v1.0)"),
    "deepseek3": Column("deepseek", "DeepSeek-V3"),
    "glm": Column("glm", "ChatGLM3-6B"),
    "llama2": Column("llama", "Llama-2 7B"),
    "llama2_70b": Column("llama", "Llama-2 70B"),
    "llama1": Column("llama", "LLaMA-1 7B"),
    "gpt3": Column("", "GPT-3 175B"),
    "transformer": Column("", TRANSFORMER.name),
    "qwen2": Column("qwen", "Qwen2.5-7B"),
    "falcon_40b": Column("falcon", "Falcon-40B"),
    "t5_1_1": Column("t5", "Flan-T5-small (1.1)"),
    "deepseek2": Column("deepseek", "DeepSeek-V2-Lite"),
}
VIEWS: dict[str, tuple[str, ...]] = {
    "eight": ("llama3", "qwen3", "bloom", "falcon", "mixtral", "t5", "deepseek3", "glm"),
    "llamas": ("llama3", "llama2_70b", "llama2", "llama1", "gpt3", "transformer"),
    "kin": ("llama3", "qwen2", "qwen3", "falcon", "falcon_40b", "t5", "t5_1_1", "deepseek2", "deepseek3"),
}
# What the papers say of the two networks that are not built here: arXiv 1706.03762, sections 3.1 to 3.5, and GPT-3's
# (arXiv 2005.14165, section 2.1), which is GPT-2's but for its sparse layers (openai/gpt-2, src/model.py).
FIRST = ArchitectureSummary(
    encoder=True,
    norm="LayerNorm",
    norm_bias=True,
    norms=("post",),
    parallel=False,
    position=Position("sinusoidal"),
    attention="MHA",
    n_heads=TRANSFORMER.n_heads,
    n_kv_heads=TRANSFORMER.n_kv_heads,
    latent=None,
    scaled=True,
    prefix=False,
    activation="relu",
    gated=False,
    experts=None,
    biases=("ffn",),
    tied=True,
)
GPT3 = replace(
    FIRST,
    encoder=False,
    norms=("attn", "ffn"),
    position=Position("learned"),
    n_heads=96,
    n_kv_heads=96,
    activation="gelu_new",
    biases=("qkv", "out", "ffn"),
)
BUILT_NOWHERE = {TRANSFORMER.name: FIRST, "GPT-3 175B": GPT3}

# Meta's own code of LLaMA pairs neighbours (llama3, model.py, apply_rotary_emb); Hugging Face reorders the rows of W_Q
# and W_K for pairs of halves. The function is the same.
PAIRS_NEXT = "pairs_next"

Line = tuple[str, Mapping[str, int | str]]


def stack_lines(p: ArchitectureSummary) -> list[Line]:
    """Which stacks there are."""
    return [("encoder_decoder" if p.encoder else "decoder", {})]


def norm_lines(p: ArchitectureSummary) -> list[Line]:
    """What the norms compute."""
    return [("layer_norm" if p.norm == "LayerNorm" else "rms_norm", {})]


def place_lines(p: ArchitectureSummary) -> list[Line]:
    """Where the norms stand."""
    if "post" in p.norms:
        first = "norm_after"
    elif "both" in p.norms:
        first = "norm_shared"
    else:
        first = "norm_two_parallel" if p.parallel else "norm_before"
    further = ("cross", "embedding", "q_k", "latents")
    return [(first, {}), *((f"norm_{place}", {}) for place in further if place in p.norms)]


def layer_lines(p: ArchitectureSummary) -> list[Line]:
    """In which order attention and feed-forward run."""
    return [("side_by_side" if p.parallel else "in_turn", {})]


def position_lines(p: ArchitectureSummary) -> list[Line]:
    """How a token's place enters."""
    at = p.position
    if at.kind != "rope":
        return [(at.kind, {"buckets": at.buckets} if at.buckets else {})]
    counts = {"turned": at.turned, "width": at.width, "theta": int(at.theta or 0)}
    lines: list[Line] = [("rope" if at.turned == at.width else "rope_part", counts)]
    if at.interleaved:
        lines.append((PAIRS_NEXT, {}))
    if at.stretched:
        stretched = {"factor": int(at.stretched.factor), "context": at.stretched.original_max_context}
        lines.append((f"stretched_{at.stretched.kind}", stretched))
    return lines


def attention_lines(p: ArchitectureSummary) -> list[Line]:
    """How heads share keys and values."""
    counts = {"heads": p.n_heads, "kv": p.n_kv_heads}
    if p.latent:
        counts |= {"latent": p.latent[0], "rope": p.latent[1]}
    lines: list[Line] = [(p.attention.lower(), counts)]
    if p.encoder:
        lines.append(("cross", {}))
    return lines if p.scaled else [*lines, ("unscaled", {})]


def mask_lines(p: ArchitectureSummary) -> list[Line]:
    """Who may look at whom."""
    lines: list[Line] = [("causal", {})]
    if p is GPT3:
        lines.append(("banded", {}))
    if p.encoder:
        lines.append(("encoder_sees_all", {}))
    return [*lines, ("prefix", {})] if p.prefix else lines


ACTIVATIONS = {
    ("silu", True): "swiglu",
    ("gelu_new", True): "geglu",
    ("gelu", False): "gelu",
    ("gelu_new", False): "gelu_tanh",
    ("relu", False): "relu",
}


def ffn_lines(p: ArchitectureSummary) -> list[Line]:
    """The feed-forward's function, and its experts."""
    lines: list[Line] = [(ACTIVATIONS[p.activation, p.gated], {})]
    if p.experts is None:
        return lines
    lines.append(("experts", {"top_k": p.experts.top_k, "experts": p.experts.experts}))
    if p.experts.shared:
        lines.append(("shared_expert", {}))
    if p.experts.dense_layers:
        lines.append(("dense_first", {"layers": p.experts.dense_layers}))
    return [*lines, ("balanced", {})] if p.experts.balanced else lines


def bias_lines(p: ArchitectureSummary) -> list[Line]:
    """Which parts add a learned vector."""
    known: dict[tuple[str, ...], str] = {(): "no_biases", ("qkv",): "bias_qkv", ("ffn",): "bias_ffn"}
    lines: list[Line] = [(known.get(p.biases, "bias_all"), {})]
    return [*lines, ("bias_norms", {})] if p.norm_bias else lines


def tied_lines(p: ArchitectureSummary) -> list[Line]:
    """Whether embedding and unembedding are one table."""
    return [("tied" if p.tied else "untied", {})]


ROWS: dict[str, Callable[[ArchitectureSummary], list[Line]]] = {
    "stack": stack_lines,
    "norm": norm_lines,
    "place": place_lines,
    "layer": layer_lines,
    "position": position_lines,
    "attention": attention_lines,
    "mask": mask_lines,
    "ffn": ffn_lines,
    "biases": bias_lines,
    "tied": tied_lines,
}


def goal_lines(_spec: ModelSpec, history: History) -> list[Line]:
    """What it was trained to do; where its makers do not say, what the model before it was."""
    if history.goals:
        return [(f"goal_{goal}", {}) for goal in history.goals]
    return [("goal_unsaid", {}), (f"goal_kin_{history.kin_goal}", {})]


def data_lines(_spec: ModelSpec, history: History) -> list[Line]:
    """How much it read in training."""
    if history.pairs:
        return [("pairs", {"pairs": history.pairs})]
    if history.tokens is None:
        return [("data_unsaid", {})]
    if history.tokens_larger is None:
        return [("data", {"tokens": history.tokens})]
    larger = {"larger": history.tokens_larger, "sizes": " · ".join(history.larger)}
    return [("data", {"tokens": history.tokens}), ("data_larger", larger)]


def context_lines(spec: ModelSpec, _history: History) -> list[Line]:
    """How many tokens it can have before it."""
    return [("context_open", {}) if spec.max_context is None else ("context", {"tokens": spec.max_context})]


def vocabulary_lines(spec: ModelSpec, _history: History) -> list[Line]:
    """How many entries its vocabulary has, and which share of the parameters they are."""
    if spec is TRANSFORMER:
        return [("vocabulary_about", {"entries": spec.vocab_size})]
    parts = weight_parts(spec)
    share = sum(part.weights for part in parts if group_of(part.label) == "embedding") / sum(p.weights for p in parts)
    return [("vocabulary", {"entries": spec.vocab_size, "percent": f"{100 * share:.1f}"})]


def size_lines(_spec: ModelSpec, history: History) -> list[Line]:
    """The sizes of its generation."""
    return [("sizes", {"sizes": " · ".join(history.sizes)})]


def known_lines(_spec: ModelSpec, history: History) -> list[Line]:
    """What it is known for."""
    return [(f"known_{history.known}", {})]


# What is no part of the network: there a cell is not compared with LLaMA's, but in what it was trained to.
HISTORY_ROWS: dict[str, Callable[[ModelSpec, History], list[Line]]] = {
    "goal": goal_lines,
    "data": data_lines,
    "context": context_lines,
    "vocabulary": vocabulary_lines,
    "sizes": size_lines,
    "known": known_lines,
}
# Where the parts of a model's weights belong; all else (norms, biases, routers) is "rest".
GROUPS = {
    "embedding": ("embedding", "unembedding", "positions"),
    "attention": ("attention", "cross", "encoder.q_o", "encoder.k_v"),
    "ffn": ("ffn", "encoder.ffn"),
    "experts": ("experts",),
    "shared_experts": ("shared_experts",),
}


def group_of(label: str) -> str:
    """The group that a part of the weights belongs to, by its label."""
    found = (name for name, starts in GROUPS.items() if any(f"{label}.".startswith(f"{start}.") for start in starts))
    return next(found, "rest")


def sizes_of(column: Column) -> ModelSpec:
    """A column's sizes."""
    if column.name == TRANSFORMER.name:
        return TRANSFORMER
    if column.name in catalogue():
        return catalogue()[column.name]
    return replace(spec_from_config(CONFIGS[column.name], column.name), release="", source=())


def summary_of(column: Column) -> ArchitectureSummary:
    """What a column's network is made of."""
    if column.name in BUILT_NOWHERE:
        return BUILT_NOWHERE[column.name]
    return architecture_summary(network_without_weights(CONFIGS[column.name]))


def kind_of(column: Column) -> type:
    """The kind of config that networks of a column's family have."""
    raw = CONFIGS[column.name]
    return type(implemented.family_of(raw).read(raw))


@cache
def families_message() -> FamiliesTable:
    """Rows, columns, views and claims.

    {columns: each {id, family, name, release, cells by row, cache, parameters, sources}}.

    A cell is {lines: each {code, params, differs}, differs}: differs from LLaMA 3's by its codes, not by its numbers.
    Which channels pair up is no difference: LLaMA 3 has both orders, Meta's own and Hugging Face's.
    """
    summaries = {name: summary_of(column) for name, column in COLUMNS.items()}
    cells = {name: {row: lines(summary) for row, lines in ROWS.items()} for name, summary in summaries.items()}
    codes = {row: {code for code, _ in lines} for row, lines in cells[REFERENCE].items()}
    reference = COLUMNS[REFERENCE]
    goal = {code for code, _ in goal_lines(sizes_of(reference), histories()[reference.name])}
    columns: list[FamilyColumn] = []
    for name, column in COLUMNS.items():
        spec, history = sizes_of(column), histories()[column.name]
        told = {row: lines(spec, history) for row, lines in HISTORY_ROWS.items()}
        own = {row: {code for code, _ in lines} for row, lines in told.items()}
        if history.goals:  # what is not known differs from nothing
            own["goal"] = goal
        columns.append(
            {
                "id": name,
                "family": column.family,
                "name": column.name,
                "release": spec.release,
                "cells": {
                    **{row: cell_message(lines, codes[row]) for row, lines in cells[name].items()},
                    **{row: cell_message(lines, own[row]) for row, lines in told.items()},
                },
                "cache": cache_message(spec),
                "parameters": parameters_message(spec),
                "sources": [*spec.source, history.source],
            }
        )
    rows = [*ROWS, *HISTORY_ROWS]
    return {"reference": REFERENCE, "rows": rows, "views": VIEWS, "columns": columns, "claims": CLAIMS}


def cell_message(lines: list[Line], reference: set[str]) -> Cell:
    """A cell's lines, each marked where LLaMA has none such."""
    alike = reference | {PAIRS_NEXT}
    return {
        "lines": [{"code": code, "params": dict(params), "differs": code not in alike} for code, params in lines],
        "differs": {code for code, _ in lines} - {PAIRS_NEXT} != reference,
    }


def cache_message(spec: ModelSpec) -> TokenCache:
    """What a token takes in the KV cache, with its products; of an encoder's source, every token as much again."""
    return {
        "dtype": DTYPE,
        "bytes": kv_bytes_per_token(spec, DTYPE),
        "terms": [token_message(term) for term in kv_token_terms(spec, DTYPE)],
        "source": spec.is_encoder_decoder,
    }


def parameters_message(spec: ModelSpec) -> ParametersMessage:
    """All weights by group and part, each with its product; those that read one token; the total as published.

    Of the Transformer of 2017 the published total alone: its vocabulary is known roughly.
    """
    published = published_message(spec)
    if spec is TRANSFORMER:
        return {"published": published, "total": None, "active": None, "groups": []}
    parts = weight_parts(spec)
    groups: list[WeightGroup] = []
    for group in (*GROUPS, "rest"):
        own = [part for part in parts if group_of(part.label) == group]
        if own:
            weights = sum(part.weights for part in own)
            groups.append({"group": group, "weights": weights, "parts": [part_message(part) for part in own]})
    total, active = sum(part.weights for part in parts), active_parameter_count(spec)
    return {"published": published, "total": total, "active": None if active == total else active, "groups": groups}


def part_message(part: WeightPart) -> WeightPartMessage:
    """One product of the sum: layers × experts × what one of them holds."""
    return {
        "label": part.label,
        "layers": len(part.layers),
        "copies": part.copies,
        "how": part.how,
        "each": part.each,
        "weights": part.weights,
    }
