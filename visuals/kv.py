"""The KV cache as messages: what a run holds, what any model would hold, and every multiplication on the way.

Bytes travel as decimal texts, since JavaScript's numbers are exact only up to 2⁵³. Words do not travel: a factor or a
note carries a code, and the page has its name in the reader's language.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from model import LanguageModel, spec_from_config
from model.errors import GlassLlamaError
from model.kv_math import Factor, KvBreakdown, KvOptions, KvTerm, kv_breakdown, kv_bytes_per_token
from model.kv_math.formats import FORMATS, PAIRS
from model.kv_math.growth import kv_growth
from model.kv_math.kinds import attention_kinds
from model.kv_math.options import has_indexer
from model.kv_math.spread import in_stages
from model.published.catalogue import catalogue, parameter_count
from model.published.hf import MODEL_TYPES
from model.published.spec import AttentionKind, ModelSpec
from model.published.unstated import Unstated

from .messages.kv import (
    Breakdown,
    Card,
    Growth,
    KindRow,
    KvModelsAnswer,
    LiveCacheDetail,
    NoteMessage,
    Refused,
    Remark,
)
from .messages.sums import FactorMessage, Product, PublishedCount, TermMessage
from .payload import pack

FORMAT_OF = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}
WHOLE = ("ranks_each_with_all_of_it", "ranks_each_with_its_share")
KINDS: tuple[AttentionKind, ...] = ("MHA", "GQA", "MQA", "MLA")
# Says an English remark of the catalogue, of a config or of a GPU's entry in each of the page's languages.
InLanguages = Callable[[str], Remark]


def spec_of(lm: LanguageModel) -> ModelSpec:
    """A model that runs here as the calculators see one: from the config.json beside its weights, not from its network.

    Raises GlassLlamaError where it was not loaded from files, or where the calculators do not read its config.
    """
    if not lm.stated:
        raise GlassLlamaError("checkpoint", f"{lm.name}: no config.json beside the weights says what its cache is.")
    spec, heads = spec_from_config(lm.stated, lm.name), lm.config.n_kv_heads
    if heads == spec.n_kv_heads:
        return spec
    kind: AttentionKind = "MQA" if heads == 1 else "MHA" if heads == spec.n_heads else "GQA"  # exchanged in a run
    return replace(spec, n_kv_heads=heads, attention=replace(spec.attention, kind=kind))


def factor_message(factor: Factor) -> FactorMessage:
    """A number of a product: its value, its name's code and particulars, and its own arithmetic, where that has words
    in it as a code with particulars too.
    """
    return {
        "value": factor.value,
        "code": factor.code,
        "params": dict(factor.params),
        "how": factor.how
        if isinstance(factor.how, str)
        else {"code": factor.how.code, "params": dict(factor.how.params)},
    }


def term_message(term: KvTerm) -> TermMessage:
    """One product of the sum, such as label "self.full.kv"."""
    factors = [factor_message(factor) for factor in term.factors]
    return {"label": term.label, "layers": len(term.layers), "factors": factors, "bytes": str(term.bytes)}


def breakdown_message(breakdown: KvBreakdown) -> Breakdown:
    """A KV cache's bytes: the sum and its products, per token, per GPU, and what a reader should know about them."""
    options = breakdown.options
    return {
        "model": breakdown.spec.name,
        "tokens": breakdown.tokens,
        "batch": breakdown.batch,
        "dtype": breakdown.dtype,
        "bytes": str(breakdown.total_bytes),
        "copies": copies_of(breakdown),
        "per_token": str(kv_bytes_per_token(breakdown.spec, breakdown.dtype, options)),
        "growth": growth_message(breakdown),
        "gpus": options.tp * options.pp,
        "tp": options.tp,
        "pp": options.pp,
        "stage_layers": in_stages(range(breakdown.spec.n_layers + 1), breakdown.spec.n_layers, options.pp),
        "per_gpu": str(breakdown.per_gpu_bytes),
        "terms": [term_message(term) for term in breakdown.terms],
        "notes": notes_message(breakdown),
    }


def copies_of(breakdown: KvBreakdown) -> int:
    """How often the whole cache is stored: tensor-parallel ranks keep an MLA latent whole, where they do not split the
    tokens."""
    whole = all(any(factor.code in WHOLE for factor in term.factors) for term in breakdown.terms)
    return breakdown.options.tp // breakdown.options.dcp if whole and breakdown.terms else 1


def growth_message(breakdown: KvBreakdown) -> Growth | None:
    """What one more token of a sequence adds before and after a window is full, None where no layer drops tokens.

    {kind: "sliding" or "chunked", phases: each {until, terms}}: `until` is the token that fills a window, null in the
    last phase; the terms are products, one a kind of layer, none where all of them drop tokens.
    """
    phases = kv_growth(breakdown.spec, breakdown.dtype, breakdown.options)
    if len(phases) == 1:
        return None
    return {
        "kind": next(term.place for term in phases[0].terms if term.place in ("sliding", "chunked")),
        "phases": [{"until": phase.until, "terms": [token_message(term) for term in phase.terms]} for phase in phases],
    }


def notes_message(breakdown: KvBreakdown) -> list[NoteMessage]:
    """What is remarked on the cache."""
    return [{"code": note.code, "text": note.text, "params": note.params} for note in breakdown.notes]


def token_message(term: KvTerm) -> Product:
    """One product of what a single token takes, without its factors for the one sequence and the one token."""
    factors = [factor_message(factor) for factor in term.factors if factor.code not in ("sequences", "tokens")]
    return {"label": term.label, "factors": factors, "bytes": str(term.bytes)}


def published_message(spec: ModelSpec) -> PublishedCount | None:
    """A model's parameters as published; None where that is not known."""
    counted = spec.parameters
    return counted and {"total": counted.total, "exact": counted.exact, "active": counted.active}


def refused_message(error: GlassLlamaError) -> Refused:
    """Why a part of a question has no answer."""
    return {"code": error.code, "params": {"detail": str(error), **error.params}}


def card_message(spec: ModelSpec, say: InLanguages) -> Card:
    """A model's shape as far as its cache depends on it, its parameters as counted from all of its shapes and as
    published, remarks on it, and which options it has."""
    return {
        "name": spec.name,
        "family": spec.family,
        "kind": spec.attention.kind,
        "n_layers": spec.n_layers,
        "d_model": 0 if isinstance(spec.d_model, Unstated) else spec.d_model,
        "n_heads": spec.n_heads,
        "n_kv_heads": spec.n_kv_heads,
        "head_dim": spec.head_dim,
        "group_size": spec.group_size,
        "max_context": spec.max_context,
        "window": spec.attention.window,
        "chunk": spec.attention.chunk,
        "latent": [spec.mla.kv_lora_rank, spec.mla.qk_rope_head_dim] if spec.mla else None,
        "parameters": None if spec.unstated else parameter_count(spec),
        "published": published_message(spec),
        "source": [say(remark) for remark in spec.source],
        "not_verified": [say(remark) for remark in spec.not_verified],
        "notes": [say(remark) for remark in spec.notes],
        "options": options_of(spec),
        "also": list(spec.also),
    }


def options_of(spec: ModelSpec) -> list[str]:
    """The fields of KvOptions that mean something for this model; the others hold for any."""
    windowed = bool(spec.compressed) or not {"sliding", "chunked"}.isdisjoint(spec.attention.layer_cycle)
    meaningful = {
        "encoder_tokens": spec.is_encoder_decoder,
        "window": windowed,
        "batched_tokens": windowed,
        "layout": spec.mla is not None or (spec.group_size > 1 and not spec.compressed),
        "indexer": has_indexer(spec),
        "mtp": spec.mtp_layers > 0,
        "state": spec.state is not None,
    }
    return [name for name, holds in meaningful.items() if holds]


def models_message(say: InLanguages) -> KvModelsAnswer:
    """Every model of the catalogue, every format, those that K and V may have apart, and every model_type whose
    config.json is read."""
    return {
        "models": [card_message(spec, say) for spec in catalogue().values()],
        "formats": [{"name": f.name, "engine": f.engine, "about": f.about} for f in FORMATS.values()],
        "pairs": [{"name": pair.name, "k": pair.of_k.name, "v": pair.of_v.name} for pair in PAIRS.values()],
        "families": list(MODEL_TYPES),
    }


def kinds_message(
    spec: ModelSpec,
    tokens: int,
    batch: int,
    dtype: str,
    n_kv_heads: int | None = None,
    options: KvOptions | None = None,
) -> list[KindRow]:
    """The same shape as MHA, GQA, MQA and MLA: bytes and products of each, or why it has none.

    `own` marks the model's own kind; the others keep its layers, query heads and head_dim. `latent` are the widths that
    MLA caches, `assumed` where they are the DeepSeek-V2 report's proportions and not the model's own.
    """
    rows: list[KindRow] = []
    for kind, variant in attention_kinds(spec, n_kv_heads).items():
        row: KindRow = {
            "kind": kind,
            "own": kind == spec.attention.kind and (kind == "MLA" or variant.n_kv_heads == spec.n_kv_heads),
            "n_kv_heads": 0 if variant.mla else variant.n_kv_heads,
            "head_dim": spec.v_head_dim,
            "key_width": variant.head_dim,
            "latent": [variant.mla.kv_lora_rank, variant.mla.qk_rope_head_dim] if variant.mla else None,
            "assumed": kind == "MLA" and spec.mla is None,
        }
        try:
            found = kv_breakdown(variant, tokens, batch, dtype, options or KvOptions())
            row["bytes"] = str(found.total_bytes)
            row["per_token"] = str(kv_bytes_per_token(variant, dtype))
            row["terms"] = [term_message(term) for term in found.terms]
        except GlassLlamaError as error:  # a format that this kind's vectors do not fit
            row["refused"] = refused_message(error)
        rows.append(row)
    return sorted(rows, key=lambda row: KINDS.index(row["kind"]))


def live_message(
    spec: ModelSpec,
    dtype: str,
    tokens: int,
    held_bytes: int,
    k_norm: Float[np.ndarray, "L T"],
    v_norm: Float[np.ndarray, "L T"],
    source: int = 0,
) -> LiveCacheDetail:
    """What a run's cache holds after `tokens` tokens, measured, what the calculators say of `spec` at as many, and the
    four kinds at one token (all grow linearly, save what is kept of the source). `dtype` is one of FORMATS; `source`
    counts the tokens of an encoder."""
    options = KvOptions(encoder_tokens=source) if source else KvOptions()
    return {
        "tokens": tokens,
        "bytes": held_bytes,
        "formula": str(kv_breakdown(spec, tokens, 1, dtype, options).total_bytes),
        "dtype": dtype,
        "k_norm": pack(k_norm, "f4"),
        "v_norm": pack(v_norm, "f4"),
        "kinds": kinds_message(spec, 1, 1, dtype, options=options),
    }
