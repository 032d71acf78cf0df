"""What hangs on a config.json's faults: the cache, the weights alone, or nothing that is counted."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from ...errors import GlassLlamaError
from ..expected import expected
from ..unstated import unstated_in
from .fields import Faults, refusal
from .shape import Shape

# What of a ModelSpec only its weights are counted from, and what nothing is: all else is the cache's.
_OF_WEIGHTS = ("d_model", "ffn_hidden", "vocab_size", "tied_embeddings", "bias", "ffn", "ffn_widths", "moe", "extra")
_OF_NOTHING = ("max_context", "norm", "position")
# Flags, words and lists, by the last part of their names, that change weights and never K or V.
_WEIGHT_FIELDS = frozenset(
    (
        "add_bias_linear", "add_qkv_bias", "attention_bias", "attention_out_bias", "bias", "conv_bias",
        "enable_bias", "expansion_ratio", "feed_forward_proj", "lm_head_bias", "mlp_bias", "mlp_layer_types",
        "mlp_only_layers", "moe_layer_end_index", "moe_layer_freq", "moe_layer_num_skipped", "moe_layers",
        "moe_num_experts", "n_routed_experts", "n_shared_experts", "num_experts", "num_local_experts",
        "qk_norm", "qkv_bias", "shared_expert_intermediate_size", "shared_intermediate_size", "tie_embedding",
        "tie_word_embeddings", "use_bias", "use_qk_norm", "use_routing_bias", "word_embed_proj_dim",
    )
)  # fmt: skip
# The activation's name, which no number depends on.
ACTIVATIONS = frozenset(("activation", "activation_function", "hidden_act", "hidden_activation"))
# Names of the longest context and of what a norm adds, by which nothing is counted but a table of learned positions.
_LIMITS = frozenset(("max_position_embeddings", "max_seq_len", "model_max_length", "seq_length"))
_EPS = ("_eps", "_epsilon")
_LEARNED = ("gpt2", "opt")


class Judged(NamedTuple):
    """Faults that the cache depends on, that the weights alone do, and that nothing does."""

    cache: list[GlassLlamaError]
    weights: list[GlassLlamaError]
    nothing: list[GlassLlamaError]


def judged(shape: Shape, faults: Faults, kind: str) -> Judged:
    """Each fault by what hangs on it: what of the shape is Unstated for it, else what its name says.

    A fault of which nothing in the shape is worked out counts as the cache's, as long as its name does not say that it
    cannot be: what was read by it may have been a number of layers. `kind` is the file's model_type.
    """
    of_weights, of_nothing, of_cache = _hanging(shape.spec)
    found = Judged([], [], list(faults.aside))
    for error in [*faults.found, *unread(faults, kind)]:
        name = str(error.params["field"])
        last = name.rpartition(".")[2]
        if name in of_cache:
            found.cache.append(error)
        elif name in of_weights or last in _WEIGHT_FIELDS:
            found.weights.append(error)
        elif name in of_nothing or last in ACTIVATIONS:
            found.nothing.append(error)
        else:
            found.cache.append(error)
    return found


def by_name(faults: Faults, kind: str) -> Judged:
    """As `judged`, of a file that could not be read to the end, so that there is no shape: by the names alone."""
    found = Judged([], [], list(faults.aside))
    for error in [*faults.found, *unread(faults, kind)]:
        last = str(error.params["field"]).rpartition(".")[2]
        if last in _WEIGHT_FIELDS or (last in _LIMITS and kind in _LEARNED):
            found.weights.append(error)
        elif last in ACTIVATIONS or last in _LIMITS or last.endswith(_EPS):
            found.nothing.append(error)
        else:
            found.cache.append(error)
    return found


def unread(faults: Faults, kind: str) -> list[GlassLlamaError]:
    """The fields that no reader asked for, as faults."""
    return [refusal(one.field, one.value, expected("absent", kind=kind)) for one in faults.unread]


def _hanging(spec: dict[str, Any]) -> tuple[frozenset[str], ...]:
    """The unstated fields of which the weights, nothing, and the cache are worked out."""
    nothing = [name for name in _OF_NOTHING if name != "max_context" or spec["position"].kind != "learned"]
    if spec["position"].kind == "t5_bias":
        nothing.remove("position")  # its buckets are rows of a table
    weights = [*_OF_WEIGHTS, *(name for name in _OF_NOTHING if name not in nothing)]
    mla, indexer = spec.get("mla"), spec.get("indexer")
    beside = [mla and mla.q_lora_rank, indexer and indexer.n_heads]
    held = [mla and _without(mla, "q_lora_rank"), indexer and indexer.head_dim]
    others = [value for name, value in spec.items() if name not in {*weights, *nothing, "mla", "indexer"}]
    return (
        unstated_in([*_values(spec, weights), *beside]),
        unstated_in([*_values(spec, nothing), indexer and indexer.top_k]),
        unstated_in([*others, *held]),
    )


def _values(spec: dict[str, Any], names: Iterable[str]) -> list[Any]:
    return [spec.get(name) for name in names]


def _without(part: Any, name: str) -> dict[str, Any]:
    return {key: value for key, value in vars(part).items() if key != name}
