"""The shape of a LLaMA, and reading it from Hugging Face's config.json. Knows nothing about torch."""

from dataclasses import dataclass
from typing import Any, Literal

from .errors import GlassLlamaError
from .fields import count, eos, expect_fixed, expect_type, flag, number, refusal

RopeKind = Literal["linear", "dynamic", "yarn", "llama3"]

# Fields of a config.json that change the result and that this code implements in one way only. Anything else in such
# a field is refused by name, never ignored.
FIXED_FIELDS: dict[str, tuple[Any, ...]] = {
    "hidden_act": ("silu", "swish"),
    "attention_bias": (False, None),
    "mlp_bias": (False, None),
    "qkv_bias": (False, None),
    "use_qk_norm": (False, None),
    "qk_norm": (False, None),
    "rope_interleaved": (False, None),
    "partial_rotary_factor": (1, None),
    "sliding_window": (None, 0),
    "use_sliding_window": (False, None),
    "no_rope_layers": (None, []),
    "quantization_config": (None,),
    "auto_map": (None, {}),
    "num_local_experts": (None, 0, 1),
    "logit_scale": (None, 1),
    "embedding_multiplier": (None, 1),
    "residual_multiplier": (None, 1),
    "attention_multiplier": (None,),
    "is_encoder_decoder": (False, None),
}
# What each kind of RoPE scaling reads. A field that is not named here is refused.
ROPE_FIELDS: dict[str, tuple[set[str], set[str]]] = {
    "default": (set(), set()),
    "linear": ({"factor"}, set()),
    "dynamic": ({"factor"}, set()),
    "yarn": (
        {"factor"},
        {"original_max_position_embeddings", "attention_factor", "beta_fast", "beta_slow"}
        | {"mscale", "mscale_all_dim", "truncate"},
    ),
    "llama3": ({"factor", "low_freq_factor", "high_freq_factor"}, {"original_max_position_embeddings"}),
}


@dataclass(frozen=True)
class RopeScaling:
    """How RoPE's frequencies are stretched beyond the context of pre-training; fields as in Hugging Face's config.

    `original_max_context` is in tokens. The factors are ratios; None where the kind does not use them.
    """

    kind: RopeKind
    factor: float
    original_max_context: int
    low_freq_factor: float | None = None
    high_freq_factor: float | None = None
    attention_factor: float | None = None
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    mscale: float | None = None
    mscale_all_dim: float | None = None
    truncate: bool = True


@dataclass(frozen=True)
class NetworkConfig:
    """What decides the shape of any network here. Names as in docs/ARCHITECTURE.md, Notation.

    `head_dim` is its own field, never d_model / n_heads. `max_context` is in tokens. `eos_ids` are the tokens that end
    a text (empty where the checkpoint names none).
    """

    n_layers: int
    d_model: int
    n_heads: int
    n_kv_heads: int
    head_dim: int
    ffn_hidden: int
    vocab_size: int
    norm_eps: float = 1e-5
    max_context: int = 2048
    tied_embeddings: bool = False
    eos_ids: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name in (
            "n_layers",
            "d_model",
            "n_heads",
            "n_kv_heads",
            "head_dim",
            "ffn_hidden",
            "vocab_size",
            "max_context",
        ):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise refusal(name, value, "a whole number of at least 1")
        if self.n_heads % self.n_kv_heads:
            raise GlassLlamaError(
                "config", f"n_heads ({self.n_heads}) is not a multiple of n_kv_heads ({self.n_kv_heads})."
            )

    @property
    def group_size(self) -> int:
        """Query heads that share one K/V head: 1 is MHA, n_heads is MQA, anything between is GQA."""
        return self.n_heads // self.n_kv_heads

    @property
    def context_limit(self) -> int:
        """Tokens that a prompt and its continuation may have."""
        return self.max_context

    @property
    def depths(self) -> dict[str, tuple[str, int]]:
        """How many layers each stack has, by the name of its layers here, with config.json's name for that."""
        return {"layers": ("num_hidden_layers", self.n_layers)}

    def to_hf(self) -> dict[str, Any]:
        """The `config.json` that transformers reads for this network."""
        raise NotImplementedError

    def common_fields(self) -> dict[str, Any]:
        """What every family's config.json calls by the same name."""
        return {
            "vocab_size": self.vocab_size,
            "tie_word_embeddings": self.tied_embeddings,
            "bos_token_id": self.eos_ids[0] if self.eos_ids else None,
            "eos_token_id": list(self.eos_ids) if len(self.eos_ids) > 1 else next(iter(self.eos_ids), None),
            "torch_dtype": "float16",
        }


@dataclass(frozen=True)
class LlamaConfig(NetworkConfig):
    """Everything that decides the shape and the arithmetic of a LLaMA: NetworkConfig's fields, and RoPE's."""

    rope_theta: float = 10_000.0
    rope_scaling: RopeScaling | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rotary_dim % 2:
            raise refusal("head_dim", self.head_dim, "even, since RoPE rotates pairs")
        if self.rope_scaling is not None and self.rope_scaling.kind == "dynamic" and self.rotary_dim == 2:
            raise refusal("head_dim", 2, "at least 4, since dynamic NTK leaves the first pair as it is")

    @property
    def rotary_dim(self) -> int:
        """The part of a head that RoPE rotates: in a LLaMA all of it."""
        return self.head_dim

    @property
    def context_limit(self) -> int:
        """Tokens that a prompt and its continuation may have: dynamic NTK reaches past what was trained."""
        scaling = self.rope_scaling
        if scaling is not None and scaling.kind == "dynamic":
            return max(self.max_context, int(self.max_context * scaling.factor))
        return self.max_context

    @classmethod
    def from_hf(cls, raw: dict[str, Any]) -> "LlamaConfig":
        """Read a Hugging Face `config.json` (both its older and its newer form) that is already parsed.

        Raises GlassLlamaError, naming the field, for what is missing, malformed, or would change the result and is not
        implemented.
        """
        expect_type(raw, "llama")
        expect_fixed(raw, FIXED_FIELDS)
        return cls(**read_shape(raw))

    def to_hf(self) -> dict[str, Any]:
        """The `config.json` that transformers reads for this model; only unscaled RoPE is written."""
        if self.rope_scaling is not None:
            raise GlassLlamaError("config", "rope_scaling: only an unscaled RoPE can be written to config.json.")
        return {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "hidden_act": "silu",
            "num_hidden_layers": self.n_layers,
            "hidden_size": self.d_model,
            "num_attention_heads": self.n_heads,
            "num_key_value_heads": self.n_kv_heads,
            "head_dim": self.head_dim,
            "intermediate_size": self.ffn_hidden,
            "rms_norm_eps": self.norm_eps,
            "rope_theta": self.rope_theta,
            "max_position_embeddings": self.max_context,
            **self.common_fields(),
        }


def read_shape(raw: dict[str, Any]) -> dict[str, Any]:
    """LlamaConfig's fields from a config.json that names them as LLaMA's does; its relatives' configs do."""
    n_heads, d_model = count(raw, "num_attention_heads"), count(raw, "hidden_size")
    if d_model % n_heads and raw.get("head_dim") is None:
        raise refusal("head_dim", None, f"a number: hidden_size ({d_model}) is no multiple of the heads ({n_heads})")
    max_context = count(raw, "max_position_embeddings", 2048)
    theta, scaling = rope(raw, max_context)
    return {
        "n_layers": count(raw, "num_hidden_layers"),
        "d_model": d_model,
        "n_heads": n_heads,
        "n_kv_heads": count(raw, "num_key_value_heads", n_heads),
        "head_dim": count(raw, "head_dim", d_model // n_heads),
        "ffn_hidden": count(raw, "intermediate_size"),
        "vocab_size": count(raw, "vocab_size"),
        "norm_eps": number(raw.get("rms_norm_eps", 1e-6), "rms_norm_eps"),
        "rope_theta": theta,
        "rope_scaling": scaling,
        "max_context": max_context,
        "tied_embeddings": flag(raw.get("tie_word_embeddings"), "tie_word_embeddings", False),
        "eos_ids": eos(raw.get("eos_token_id")),
    }


def rope(raw: dict[str, Any], max_context: int) -> tuple[float, RopeScaling | None]:
    """(rope_theta, scaling) from `rope_parameters` (transformers 5) or `rope_theta` and `rope_scaling` (before)."""
    given = raw.get("rope_scaling") or raw.get("rope_parameters") or {}
    if not isinstance(given, dict):
        raise refusal("rope_scaling", given, "an object with a rope_type")
    fields = {name: value for name, value in given.items() if value is not None}
    theta = number(fields.pop("rope_theta", raw.get("rope_theta", 10_000.0)), "rope_theta", above=1.0, most=1e15)
    kind = fields.pop("rope_type", fields.get("type", "default"))
    fields.pop("type", None)
    if (rotated := fields.pop("partial_rotary_factor", 1)) != 1:
        raise refusal("partial_rotary_factor", rotated, "1 (all of head_dim is rotated)")
    if not isinstance(kind, str) or kind not in ROPE_FIELDS:
        raise refusal("rope_scaling.rope_type", kind, "one of " + ", ".join(ROPE_FIELDS))
    required, optional = ROPE_FIELDS[kind]
    for name in sorted(required - fields.keys()):
        raise GlassLlamaError("config", f"config.json: rope_scaling.{name} is missing.", field=name)
    if kind == "default":  # what the other kinds read is without effect here
        optional = {name for needed, free in ROPE_FIELDS.values() for name in needed | free}
    for name in sorted(fields.keys() - required - optional):
        raise refusal(f"rope_scaling.{name}", fields[name], f"no such field for {kind} scaling")
    return theta, None if kind == "default" else _scaling(kind, fields, raw, max_context)


def _scaling(kind: Any, fields: dict[str, Any], raw: dict[str, Any], max_context: int) -> RopeScaling:
    """The scaling from its fields, once their names are known to be right."""
    original = "original_max_position_embeddings"  # some checkpoints keep it beside the scaling; that one then counts
    original_max_context = count(raw if raw.get(original) is not None else fields, original, max_context)
    truncate = flag(fields.get("truncate"), "rope_scaling.truncate", True)
    numbers = {
        name: number(value, f"rope_scaling.{name}", above=1e-6)
        for name, value in fields.items()
        if name not in (original, "truncate")
    }
    return RopeScaling(kind=kind, original_max_context=original_max_context, truncate=truncate, **numbers)
