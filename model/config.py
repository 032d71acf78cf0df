"""The shape of a LLaMA, and reading it from Hugging Face's config.json. Knows nothing about torch."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .errors import GlassLlamaError
from .fields import NetworkFields, eos, expect_fixed, expect_type, refusal
from .published.expected import expected
from .published.hf.fields import Fields
from .published.hf.sizes import Sizes, llama_sizes, rms_eps, rope_base, rope_part, tied

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
        return cls(**read_shape(network_fields(raw)))

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


# What stands in for a field that is absent or null, where LLaMA's class has a value for it.
BLANKS = {"max_position_embeddings": 2048}


def network_fields(raw: Mapping[str, Any], defaults: Mapping[str, Any] | None = None, **blanks: Any) -> NetworkFields:
    """The fields of a config.json that names them as LLaMA's does.

    `defaults` stand in for fields that are absent, `blanks` and BLANKS for those that are absent or null.
    """
    return NetworkFields(raw, defaults=defaults, blanks=BLANKS | blanks)


def read_shape(f: NetworkFields, share: float = 1) -> dict[str, Any]:
    """LlamaConfig's fields from a config.json that names them as LLaMA's does; its relatives' configs do.

    Raises where RoPE turns another `share` of a head.
    """
    sizes = llama_sizes(f)
    return config_fields(f, sizes, rms_eps(f), tied(f, False)) | rope_fields(f, sizes.max_context, share)


def config_fields(f: NetworkFields, sizes: Sizes, norm_eps: float, tied_embeddings: bool) -> dict[str, Any]:
    """NetworkConfig's fields. Raises where a head's width is neither stated nor what the heads share evenly."""
    if sizes.head_dim is None and sizes.d_model % sizes.n_heads:
        evenly = f"a number: hidden_size ({sizes.d_model}) is no multiple of the heads ({sizes.n_heads})"
        raise refusal("head_dim", None, evenly)
    return vars(sizes) | {
        "head_dim": sizes.head_dim or sizes.d_model // sizes.n_heads,
        "norm_eps": norm_eps,
        "tied_embeddings": tied_embeddings,
        "eos_ids": eos(f.get("eos_token_id")),
    }


def rope_fields(f: NetworkFields, max_context: int | None, share: float = 1) -> dict[str, Any]:
    """LlamaConfig's `rope_theta` and `rope_scaling`, from both forms of config.json. Raises as `read_shape`."""
    part = rope_part(f)
    given = {name for name, value in part.raw.items() if value is not None}
    theta = rope_base(f, part)
    if (rotated := part.get("partial_rotary_factor", default=share)) != share:
        raise refusal("partial_rotary_factor", rotated, "1 (all of head_dim is rotated)")
    kind = part.word("rope_type", "type", among=tuple(ROPE_FIELDS), default="default")
    required, optional = ROPE_FIELDS[kind]
    for name in sorted(required - given):
        raise part.absent(name, expected("above_zero"))
    if kind == "default":  # what the other kinds read is without effect here
        optional = {name for needed, free in ROPE_FIELDS.values() for name in needed | free}
    for name in sorted(given - {"rope_theta", "rope_type", "type", "partial_rotary_factor"} - required - optional):
        raise refusal(f"rope_scaling.{name}", part.raw[name], f"no such field for {kind} scaling")
    scaling = None if kind == "default" else _scaling(kind, f, part, given & (required | optional), max_context)
    return {"rope_theta": theta, "rope_scaling": scaling}


def _scaling(kind: Any, f: NetworkFields, part: Fields, given: Collection[str], max_context: int | None) -> RopeScaling:
    """The scaling from its fields, once their names are known to be right."""
    original = "original_max_position_embeddings"  # some checkpoints keep it beside the scaling; that one then counts
    holder = f if f.get(original) is not None else part
    return RopeScaling(
        kind=kind,
        original_max_context=holder.count(original, default=max_context),
        truncate=part.flag("truncate", default=True),
        **{name: part.number(name) for name in given if name not in (original, "truncate")},
    )
