"""What fits on which GPUs, as messages: one GPU's memory, the largest batch and context, what a load needs, the bound.

Bytes travel as decimal texts, as in visuals/kv.py. A question without an answer (a reserved batch cannot be sought) is
{"refused": …}, so that the others still stand.
"""

from collections.abc import Callable
from typing import TypeVar

from model.errors import GlassLlamaError
from model.kv_math.gpus import GPUS, Gpu
from model.kv_math.memory import GpuNeed, Largest, MemoryUse, Needs, Setup
from model.kv_math.options import plain_number
from model.kv_math.speed import DecodeBound
from model.kv_math.vllm_rule import DEFAULT_SHARE, GRAPHS, VllmRule
from model.kv_math.weights import OUTPUT, WEIGHT_FORMATS, WeightTerm
from model.published.quantised import stored_note

from .kv import InLanguages, factor_message, notes_message, refused_message
from .messages.kv import (
    BesideMessage,
    BoundMessage,
    DefaultShare,
    GpuMessage,
    GpuNeedMessage,
    KvGpusAnswer,
    KvNeedsAnswer,
    LargestMessage,
    Unanswered,
    UseMessage,
    VllmMessage,
)
from .messages.sums import Product

Found = TypeVar("Found")
Told = TypeVar("Told")


def choices_message() -> KvGpusAnswer:
    """The GPUs and the weights' formats to choose from."""
    return {
        "gpus": list(GPUS),
        "weights": [{"name": f.name, "engine": f.engine, "about": f.about} for f in WEIGHT_FORMATS.values()],
    }


def message_or_reason(work: Callable[[], Found], message: Callable[[Found], Told]) -> Told | Unanswered:
    """The message of what `work` gives, or why it gives nothing."""
    try:
        return message(work())
    except GlassLlamaError as error:
        return {"refused": refused_message(error)}


def gpu_message(gpu: Gpu, say: InLanguages) -> GpuMessage:
    """A GPU's figures and where they were read."""
    return {
        "name": gpu.name,
        "memory": str(gpu.memory),
        "bandwidth": str(gpu.bandwidth),
        "source": say(gpu.source),
        "reported": gpu.reported,
        "reported_in": gpu.reported_in,
        "reporter": gpu.reporter,
        "stated": str(gpu.stated),
        "interface": gpu.interface,
        "step_tokens": gpu.step_tokens,
    }


def use_message(use: MemoryUse, say: InLanguages) -> UseMessage:
    """The GPU that decides: what its weights and its cache take, and what is left; then the weights, product by
    product."""
    stage = use.shown_stage
    return {
        "gpu": gpu_message(use.gpu, say),
        "gpus": use.gpus,
        "tp": use.weights.tp,
        "pp": use.weights.pp,
        "by": use.by,
        "percent": plain_number(use.percent),
        "share": str(use.share_bytes),
        "usable": str(use.usable_bytes),
        "weights": str(use.weight_stage_bytes[stage]),
        "cache": str(use.cache.stage_bytes[stage]),
        "free": str(use.free_bytes),
        "stated_free": None if use.stated_free_bytes is None else str(use.stated_free_bytes),
        "vllm": vllm_message(use.vllm),
        "vllm_default": default_message(use.vllm_by_default) if use.by == "lines" else None,
        "fits": use.fits,
        "all_weights": str(use.weights.counted_bytes) if use.weights.terms else None,
        "measured": None if use.weights.measured is None else str(use.weights.measured),
        "without_mtp": None if use.without_mtp_bytes is None else str(use.without_mtp_bytes),
        "all_cache": str(use.cache.total_bytes),
        "weights_in": use.weights.dtype if use.weights.terms else "",
        "output_in": use.weights.output if use.weights.output != use.weights.embeddings else "",
        "output_source": OUTPUT.source,
        "stored": [say(note) for note in [_counted_note(use)] if note],
        "format_unknown": use.format_unknown,
        "lacks_bf16": use.lacks_bf16,
        "weight_terms": [weight_message(term) for term in use.weights.terms],
    }


def _counted_note(use: MemoryUse) -> str:
    """What the config says of how the weights are stored; nothing where their bytes are given and decide instead."""
    return "" if use.weights.measured is not None else stored_note(use.weights.spec)


def vllm_message(rule: VllmRule) -> VllmMessage:
    """What vLLM's own rule leaves for the cache, and in how many whole blocks."""
    blocks = rule.blocks
    return {
        "free": str(rule.free),
        "graphs": str(GRAPHS),
        "room": str(rule.room),
        "blocks": blocks
        and {
            "size": blocks.size,
            "size_from": blocks.size_from,
            "each": str(blocks.each),
            "count": blocks.count,
            "rest": str(blocks.rest),
            "per_sequence": blocks.per_sequence,
            "needed": blocks.needed,
        },
        "uncounted": rule.uncounted,
    }


def default_message(rule: VllmRule | None) -> DefaultShare | None:
    """What vLLM's rule leaves of the share that it takes by default."""
    return rule and {"percent": DEFAULT_SHARE, "free": str(rule.free)}


def beside_message(use: MemoryUse) -> BesideMessage:
    """What the memory kept back is for, with each product of the activations."""
    found = use.beside
    return {
        "kept_back": str(use.kept_back),
        "step_tokens": use.step_tokens,
        "activations": [
            {"label": term.label, "factors": [factor_message(one) for one in term.factors], "bytes": str(term.bytes)}
            for term in found.activations
        ],
        "activation_bytes": str(found.activation_bytes),
        "context": str(found.context),
        "left": str(use.left_bytes),
        "lacking": list(found.lacking),
    }


def weight_message(term: WeightTerm) -> Product:
    """One product of the weights' sum."""
    return {
        "label": term.label,
        "factors": [factor_message(factor) for factor in term.factors],
        "bytes": str(term.bytes),
    }


def largest_message(found: Largest) -> LargestMessage:
    """The largest batch or context, and what one more would take on the fullest GPU."""
    spec, blocks = found.use.cache.spec, found.next_use and found.next_use.vllm.blocks
    in_blocks = blocks if found.use.by == "vllm" else None
    return {
        "value": found.value,
        "unlimited": found.unlimited,
        "per_gpu": str(found.use.per_gpu_bytes),
        "next": str(found.next_use.taken_bytes) if found.next_use else None,
        "next_blocks": in_blocks.needed + 1 if in_blocks else None,
        "max_context": spec.max_context,
    }


def needs_message(needs: Needs, setup: Setup, say: InLanguages) -> KvNeedsAnswer:
    """What a load takes, and how many GPUs of each kind."""
    return {
        "by": setup.by,
        "users": needs.cache.batch,
        "tokens": needs.cache.tokens,
        "weights": str(needs.weights.total_bytes),
        "cache": str(needs.cache.total_bytes),
        "total": str(needs.total_bytes),
        "gpus": [_need_message(need, setup, say) for need in needs.gpus],
        "notes": notes_message(needs.cache),
    }


def _need_message(need: GpuNeed, setup: Setup, say: InLanguages) -> GpuNeedMessage:
    message: GpuNeedMessage = {
        "name": need.gpu.name,
        "own": need.gpu.own,
        "memory": str(need.gpu.memory),
        "percent": plain_number(need.gpu.percent_of(setup.percent)),
        "reported": need.gpu.reported,
        "reported_in": need.gpu.reported_in,
        "reporter": need.gpu.reporter,
        "source": say(need.gpu.source),
        "room": str(need.room),
        "room_tp": need.room_tp,
        "alone": str(need.alone),
        "at_least": need.at_least,
        "layout": None,
        "one_server": None,
    }
    if need.one_server:
        message["one_server"] = need.one_server.gpus
    if need.use:
        options = need.use.cache.options
        message["layout"] = {"gpus": need.use.gpus, "tp": options.tp, "pp": options.pp, "dcp": options.dcp}
        message["per_gpu"] = str(need.use.per_gpu_bytes)
    return message


def bound_message(bound: DecodeBound) -> BoundMessage:
    """The least time of a decoding step, (weights + cache / micro_batches) / (ranks × bandwidth), and its speed."""
    return {
        "weights": str(bound.weight_bytes),
        "cache": str(bound.cache_bytes),
        "micro_batches": bound.micro_batches,
        "ranks": bound.use.weights.tp,
        "bandwidth": str(bound.use.gpu.bandwidth),
        "milliseconds": float(bound.seconds * 1000),
        "spread_weights": str(bound.spread_weight_bytes),
        "spread_milliseconds": float(bound.spread_seconds * 1000),
        "each": bound.tokens_per_second,
        "all": bound.batch_tokens_per_second,
        "batch": bound.use.cache.batch,
    }
