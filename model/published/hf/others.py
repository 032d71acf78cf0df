"""Families with names of their own for the same things: Falcon, BLOOM, GPT-2, T5, ChatGLM."""

from dataclasses import replace
from typing import Any

from ..expected import expected
from ..spec import FfnSpec, NormSpec, PositionSpec
from . import sizes
from .attention import attention, rope
from .fields import MAX_LAYERS, Fields
from .shape import PLAIN, Shape, finish, head_width
from .sizes import tied

FALCON_DEFAULTS = {"max_position_embeddings": 2048}


def _shape(f: Fields, stated: sizes.Sizes, heads: str, kv: str = "") -> dict[str, Any]:
    """ModelSpec's sizes; `heads` and `kv` are the family's names for the counts of heads and K/V heads."""
    if stated.n_heads % stated.n_kv_heads:
        n_kv_heads = f.fault(f.wrong(kv, stated.n_kv_heads, expected("divisor_of_heads", value=stated.n_heads)))
        stated = replace(stated, n_kv_heads=n_kv_heads)
    width = stated.head_dim or head_width(stated.d_model, stated.n_heads, heads)
    return vars(stated) | {"head_dim": width}


def falcon(f: Fields) -> Shape:
    """Parallel blocks under one norm or two; RoPE or ALiBi."""
    read = sizes.falcon(f)
    shape = _shape(f, read.sizes, "num_attention_heads", "num_kv_heads")
    separate = read.grouped and read.norms == 2
    placements = ("pre", "pre, parallel attention+MLP sharing one LayerNorm",
                  "pre, parallel attention+MLP with two LayerNorms (ln_attn, ln_mlp)")  # fmt: skip
    norms = 2 if separate or not read.parallel else 1
    activation = PLAIN[f.word("activation", among=tuple(PLAIN), default="gelu")]
    return finish(
        f,
        **shape,
        bias="all" if read.biases else "none",
        tied_embeddings=read.tied_embeddings,
        attention=attention(f, shape),
        norm=NormSpec("LayerNorm", placements[read.parallel and norms], read.norm_eps, norms),
        ffn=FfnSpec(activation, gated=False, parallel=read.parallel),
        position=PositionSpec("alibi") if read.alibi else rope(f, shape["head_dim"]),
    )


def bloom(f: Fields) -> Shape:
    read = sizes.bloom(f)
    shape = _shape(f, read.sizes, "n_head") | {"ffn_hidden": f.count("n_inner", default=read.sizes.ffn_hidden)}
    placement = "pre + extra LayerNorm right after the embedding"
    return finish(
        f,
        **shape,
        bias="all",
        tied_embeddings=read.tied_embeddings,
        attention=attention(f, shape),
        norm=NormSpec("LayerNorm", placement, read.norm_eps, after_embedding=True),
        ffn=FfnSpec("GELU (tanh approximation)", gated=False),
        position=PositionSpec("alibi"),
    )


def gpt2(f: Fields) -> Shape:
    d_model, n_heads = f.count("n_embd", "hidden_size"), f.count("n_head", "num_attention_heads")
    shape = {
        "n_layers": f.count("n_layer", "num_hidden_layers", high=MAX_LAYERS),
        "d_model": d_model,
        "n_heads": n_heads,
        "n_kv_heads": n_heads,
        "head_dim": head_width(d_model, n_heads, "n_head"),
        "ffn_hidden": f.count("n_inner", default=4 * d_model),
        "vocab_size": f.count("vocab_size"),
        "max_context": f.count("n_positions", "n_ctx"),
    }
    return finish(
        f,
        **shape,
        bias="all",
        tied_embeddings=tied(f, True),
        attention=attention(f, shape),
        norm=NormSpec("LayerNorm", "pre (+ final ln_f)", f.number("layer_norm_epsilon", default=1e-5)),
        ffn=FfnSpec(PLAIN[f.word("activation_function", among=tuple(PLAIN), default="gelu_new")], gated=False),
        position=PositionSpec("learned"),
    )


def t5(f: Fields) -> Shape:
    """The decoder's sizes, and how many layers the encoder has."""
    f.only("is_encoder_decoder", True, default=True)
    read = sizes.t5(f)
    shape = _shape(f, read.sizes, "num_heads")
    words = {
        "relu": ("ReLU (not gated)", False),
        "gated-gelu": ("GeGLU (tanh GELU)", True),
        "gated-silu": ("SwiGLU", True),
    }
    activation, is_gated = words[f.word("feed_forward_proj", among=tuple(words), default="relu")]
    return finish(
        f,
        **shape,
        encoder_layers=read.encoder_layers,
        tied_embeddings=read.tied_embeddings,
        attention=attention(f, shape),
        norm=NormSpec("RMSNorm", "pre", read.norm_eps),
        ffn=FfnSpec(activation, is_gated),
        position=PositionSpec("t5_bias", buckets=read.buckets),
    )


def chatglm(f: Fields) -> Shape:
    """ChatGLM 2 and 3, GLM-4: multi_query_group_num counts K/V heads; RoPE turns half of each head, interleaved."""
    f.only("rmsnorm", True, default=None)
    f.only("add_bias_linear", False, default=False)
    f.only("apply_residual_connection_post_layernorm", False, default=False)
    f.only("post_layer_norm", True, default=True)
    read = sizes.chatglm(f)
    shape = _shape(f, read.sizes, "num_attention_heads", "multi_query_group_num")
    theta = 10_000.0 * f.number("rope_ratio", default=1)
    return finish(
        f,
        **shape,
        bias="qkv" if read.qkv_bias else "none",
        tied_embeddings=tied(f, False),
        attention=attention(f, shape),
        norm=NormSpec("RMSNorm", "pre", read.norm_eps),
        ffn=FfnSpec("SwiGLU", gated=True),
        position=PositionSpec("rope", theta, rotary_dim=shape["head_dim"] // 2, layout="interleaved"),
    )
