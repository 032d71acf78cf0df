"""A network's sizes as its config.json states them: read once, for the network and for the calculators.

The class of Fields that a reader is given says how what is refused is worded (the calculators' own, or
model.fields.NetworkFields) and which fields may be left out. Each field is checked by itself. Whether fields suit each
other is for whoever builds on them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ..expected import expected
from ..spec import MlaSpec
from .fields import Fields


@dataclass(frozen=True)
class Heads:
    """How many heads there are, and their width, where the file states it."""

    n_heads: int
    n_kv_heads: int
    head_dim: int | None


@dataclass(frozen=True)
class Sizes(Heads):
    """The sizes that every decoder has. `max_context` is in tokens, None where the file states no limit."""

    n_layers: int
    d_model: int
    ffn_hidden: int
    vocab_size: int
    max_context: int | None


def llama_heads(f: Fields) -> Heads:
    """By LLaMA's names. There are as many K/V heads as heads where the file does not count them."""
    n_heads = f.count("num_attention_heads")
    if f.get("num_key_value_heads") is None:
        f.assumed[f.path + "num_key_value_heads"] = n_heads
    return Heads(n_heads, f.count("num_key_value_heads", default=n_heads), f.count("head_dim", default=None))


def llama_sizes(f: Fields, *limits: str) -> Sizes:
    """What LLaMA and its many relatives call by the same names; `limits` are names for the longest context."""
    return Sizes(
        n_layers=f.layers("num_hidden_layers"),
        d_model=f.count("hidden_size"),
        ffn_hidden=f.count("intermediate_size"),
        vocab_size=f.count("vocab_size"),
        max_context=f.count(*(limits or ("max_position_embeddings",))),
        **vars(llama_heads(f)),
    )


def rms_eps(f: Fields, *names: str) -> float:
    """What an RMSNorm adds inside the root."""
    return f.number(*(names or ("rms_norm_eps",)), default=1e-6)


def tied(f: Fields, default: bool) -> bool:
    """Whether the output reuses the embedding; `default` is that of the family's class."""
    return f.flag("tie_word_embeddings", default=default)


def rope_part(f: Fields) -> Fields:
    """The object that says how RoPE turns, empty where there is none.

    It is `rope_scaling`, else `rope_parameters` (transformers 5), which is the order that transformers takes them in.
    """
    name = "rope_scaling" if f.get("rope_scaling") else "rope_parameters"
    given = f.get(name) or {}
    if not isinstance(given, Mapping):
        raise f.wrong(name, given, expected("object"))
    return f.inner(given, name)


def rope_base(f: Fields, part: Fields, *names: str) -> float:
    """RoPE's base, as its own object states it, else the file by one of `names`, else 10,000."""
    if part.get("rope_theta") is not None:
        return part.number("rope_theta")
    return f.number(*(names or ("rope_theta",)), default=10_000.0)


def rope_share(f: Fields, part: Fields, *names: str) -> float:
    """The share of a head that RoPE turns, as its own object states it, else the file by one of `names`, else all."""
    names = names or ("partial_rotary_factor",)
    share = part.get("partial_rotary_factor")
    if share is None:
        share = f.get(*names, default=1)
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
        raise f.wrong(names[0], share, expected("share"))
    return share


class Routed(NamedTuple):
    """A layer's experts, and how many of them read a token."""

    n_experts: int
    top_k: int


def routed(f: Fields, *names: str) -> Routed:
    """`names` are those of the number of experts."""
    return Routed(f.count(*names), f.count("num_experts_per_tok"))


class Latent(NamedTuple):
    """What DeepSeek's files state from V2 on: the widths of MLA beside the sizes that every decoder has."""

    sizes: Sizes
    mla: MlaSpec


def latent(f: Fields) -> Latent:
    """`head_dim` in newer files is the RoPE part alone, and MLA has no K/V heads: neither counts."""
    f.get("head_dim", "num_key_value_heads")
    mla = MlaSpec(
        kv_lora_rank=f.count("kv_lora_rank"),
        qk_rope_head_dim=f.count("qk_rope_head_dim"),
        qk_nope_head_dim=f.count("qk_nope_head_dim"),
        v_head_dim=f.count("v_head_dim"),
        q_lora_rank=f.maybe_count("q_lora_rank"),
    )
    n_heads = f.count("num_attention_heads")
    sizes = Sizes(
        n_layers=f.layers("num_hidden_layers"),
        d_model=f.count("hidden_size"),
        n_heads=n_heads,
        n_kv_heads=n_heads,
        head_dim=mla.qk_nope_head_dim + mla.qk_rope_head_dim,
        ffn_hidden=f.count("intermediate_size"),
        vocab_size=f.count("vocab_size"),
        max_context=f.count("max_position_embeddings"),
    )
    return Latent(sizes, mla)


@dataclass(frozen=True)
class ChatGlm:
    """What ChatGLM's files have names of their own for."""

    sizes: Sizes
    norm_eps: float
    qkv_bias: bool


def chatglm(f: Fields) -> ChatGlm:
    """ChatGLM 2 and 3, GLM-4: there are as many K/V heads as heads without multi_query_attention."""
    n_heads, shared = f.count("num_attention_heads"), f.flag("multi_query_attention", default=False)
    f.get("multi_query_group_num")  # stands in files without multi_query_attention too, where it says nothing
    sizes = Sizes(
        n_layers=f.layers("num_layers"),
        d_model=f.count("hidden_size"),
        n_heads=n_heads,
        n_kv_heads=f.count("multi_query_group_num") if shared else n_heads,
        head_dim=f.count("kv_channels"),
        ffn_hidden=f.count("ffn_hidden_size"),
        vocab_size=f.count("padded_vocab_size", "vocab_size"),
        max_context=f.count("seq_length"),
    )
    return ChatGlm(sizes, f.number("layernorm_epsilon", default=1e-5), f.flag("add_qkv_bias", default=False))


@dataclass(frozen=True)
class Bloom:
    """What BLOOM's files have names of their own for."""

    sizes: Sizes
    norm_eps: float
    tied_embeddings: bool


def bloom(f: Fields) -> Bloom:
    """Every head has K and V of its own. ALiBi sets no limit to the context, and most files name none."""
    d_model = f.count("n_embed" if f.get("n_embed") is not None else "hidden_size")
    n_heads = f.count("num_attention_heads" if f.get("num_attention_heads") is not None else "n_head")
    sizes = Sizes(
        n_layers=f.layers("num_hidden_layers" if f.get("num_hidden_layers") is not None else "n_layer"),
        d_model=d_model,
        n_heads=n_heads,
        n_kv_heads=n_heads,
        head_dim=None,
        ffn_hidden=4 * d_model,
        vocab_size=f.count("vocab_size"),
        max_context=f.count("seq_length", default=None),
    )
    return Bloom(sizes, f.number("layer_norm_epsilon", default=1e-5), tied(f, True))


@dataclass(frozen=True)
class Falcon:
    """What Falcon's files have names of their own for.

    `grouped`: the new architecture (40B). `norms` of a layer, in which attention and feed-forward are `parallel` or
    follow each other. `alibi` in place of RoPE. `biases` on all linear maps.
    """

    sizes: Sizes
    grouped: bool
    multi_query: bool
    parallel: bool
    norms: int
    alibi: bool
    biases: bool
    norm_eps: float
    tied_embeddings: bool


def falcon(f: Fields) -> Falcon:
    """K/V heads: num_kv_heads in the new architecture (40B), else one with multi_query (7B), else as many as heads."""
    grouped = f.flag("new_decoder_architecture", default=f.raw["model_type"] == "RefinedWeb")
    multi_query = f.flag("multi_query", default=True)
    d_model, n_heads = f.count("hidden_size"), f.count("num_attention_heads", "n_head")
    f.get("num_kv_heads", "n_head_kv")  # the old architecture's files carry it too, where multi_query decides
    parallel = grouped or f.flag("parallel_attn", default=True)
    sizes = Sizes(
        n_layers=f.layers("num_hidden_layers", "n_layer"),
        d_model=d_model,
        n_heads=n_heads,
        n_kv_heads=f.count("num_kv_heads", "n_head_kv", default=n_heads) if grouped else 1 if multi_query else n_heads,
        head_dim=None,
        ffn_hidden=f.count("ffn_hidden_size", default=4 * d_model),
        vocab_size=f.count("vocab_size"),
        max_context=f.count("max_position_embeddings"),
    )
    return Falcon(
        sizes,
        grouped,
        multi_query,
        parallel,
        f.count("num_ln_in_parallel_attn", default=2 if grouped else 1),
        f.flag("alibi", default=False),
        f.flag("bias", default=False),
        f.number("layer_norm_epsilon", default=1e-5),
        tied(f, True),
    )


@dataclass(frozen=True)
class T5:
    """What T5's files have names of their own for. `sizes` are the decoder's; `buckets` of distances."""

    sizes: Sizes
    encoder_layers: int
    buckets: int
    norm_eps: float
    tied_embeddings: bool


def t5(f: Fields, least_buckets: int = 1) -> T5:
    """n_positions is the length of pre-training; a relative bias has no limit, and newer files name none."""
    n_heads, layers = f.count("num_heads"), f.layers("num_layers")
    sizes = Sizes(
        n_layers=f.layers("num_decoder_layers", default=layers),
        d_model=f.count("d_model"),
        n_heads=n_heads,
        n_kv_heads=n_heads,
        head_dim=f.count("d_kv"),
        ffn_hidden=f.count("d_ff"),
        vocab_size=f.count("vocab_size"),
        max_context=f.count("n_positions", default=None),
    )
    buckets = f.count("relative_attention_num_buckets", default=32, low=least_buckets)
    return T5(sizes, layers, buckets, f.number("layer_norm_epsilon", default=1e-6), tied(f, True))
