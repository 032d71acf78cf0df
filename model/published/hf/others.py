"""Families with names of their own for the same things: Falcon, BLOOM, GPT-2, T5, ChatGLM."""

from ..spec import FfnSpec, NormSpec, PositionSpec
from .attention import attention, rope, tied
from .fields import MAX_LAYERS, Fields
from .shape import PLAIN, Shape, finish, head_width, kv_heads

FALCON_DEFAULTS = {"max_position_embeddings": 2048}


def falcon(f: Fields) -> Shape:
    """K/V heads: num_kv_heads in the new architecture (40B), else one with multi_query (7B), else as many as heads."""
    new = f.flag("new_decoder_architecture", default=f.raw["model_type"] == "RefinedWeb")
    n_heads, d_model = f.count("num_attention_heads", "n_head"), f.count("hidden_size")
    one = f.flag("multi_query", default=True)
    f.get("num_kv_heads", "n_head_kv")  # the old architecture's files carry it too, where multi_query decides
    n_kv = kv_heads(f, n_heads, "num_kv_heads", "n_head_kv") if new else 1 if one else n_heads
    parallel = new or f.flag("parallel_attn", default=True)
    separate = new and f.count("num_ln_in_parallel_attn", default=2) == 2
    alibi = f.flag("alibi", default=False)
    sizes = {
        "n_layers": f.count("num_hidden_layers", "n_layer", high=MAX_LAYERS),
        "d_model": d_model,
        "n_heads": n_heads,
        "n_kv_heads": n_kv,
        "head_dim": head_width(d_model, n_heads, "num_attention_heads"),
        "ffn_hidden": f.count("ffn_hidden_size", default=4 * d_model),
        "vocab_size": f.count("vocab_size"),
        "max_context": f.count("max_position_embeddings"),
    }
    placements = ("pre", "pre, parallel attention+MLP sharing one LayerNorm",
                  "pre, parallel attention+MLP with two LayerNorms (ln_attn, ln_mlp)")  # fmt: skip
    norms = 2 if separate or not parallel else 1
    return finish(
        f,
        **sizes,
        bias="all" if f.flag("bias", default=False) else "none",
        tied_embeddings=tied(f, True),
        attention=attention(sizes),
        norm=NormSpec("LayerNorm", placements[parallel and norms], f.number("layer_norm_epsilon", default=1e-5), norms),
        ffn=FfnSpec(PLAIN[f.word("activation", among=tuple(PLAIN), default="gelu")], gated=False, parallel=parallel),
        position=PositionSpec("alibi") if alibi else rope(f, sizes["head_dim"]),
    )


def bloom(f: Fields) -> Shape:
    d_model, n_heads = f.count("hidden_size", "n_embed"), f.count("n_head", "num_attention_heads")
    sizes = {
        "n_layers": f.count("n_layer", "num_hidden_layers", high=MAX_LAYERS),
        "d_model": d_model,
        "n_heads": n_heads,
        "n_kv_heads": n_heads,
        "head_dim": head_width(d_model, n_heads, "n_head"),
        "ffn_hidden": f.count("n_inner", default=4 * d_model),
        "vocab_size": f.count("vocab_size"),
        "max_context": f.count("seq_length", default=None),  # ALiBi sets no limit, and most files name none
    }
    eps = f.number("layer_norm_epsilon", default=1e-5)
    return finish(
        f,
        **sizes,
        bias="all",
        tied_embeddings=tied(f, True),
        attention=attention(sizes),
        norm=NormSpec("LayerNorm", "pre + extra LayerNorm right after the embedding", eps, after_embedding=True),
        ffn=FfnSpec("GELU (tanh approximation)", gated=False),
        position=PositionSpec("alibi"),
    )


def gpt2(f: Fields) -> Shape:
    d_model, n_heads = f.count("n_embd", "hidden_size"), f.count("n_head", "num_attention_heads")
    sizes = {
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
        **sizes,
        bias="all",
        tied_embeddings=tied(f, True),
        attention=attention(sizes),
        norm=NormSpec("LayerNorm", "pre (+ final ln_f)", f.number("layer_norm_epsilon", default=1e-5)),
        ffn=FfnSpec(PLAIN[f.word("activation_function", among=tuple(PLAIN), default="gelu_new")], gated=False),
        position=PositionSpec("learned"),
    )


def t5(f: Fields) -> Shape:
    """n_positions is the length of pre-training; a relative bias has no limit, and newer files name none."""
    f.only("is_encoder_decoder", True, default=True)
    n_heads, layers = f.count("num_heads"), f.count("num_layers", high=MAX_LAYERS)
    sizes = {
        "n_layers": f.count("num_decoder_layers", default=layers, high=MAX_LAYERS),
        "d_model": f.count("d_model"),
        "n_heads": n_heads,
        "n_kv_heads": n_heads,
        "head_dim": f.count("d_kv"),
        "ffn_hidden": f.count("d_ff"),
        "vocab_size": f.count("vocab_size"),
        "max_context": f.count("n_positions", default=None),
    }
    words = {
        "relu": ("ReLU (not gated)", False),
        "gated-gelu": ("GeGLU (tanh GELU)", True),
        "gated-silu": ("SwiGLU", True),
    }
    activation, is_gated = words[f.word("feed_forward_proj", among=tuple(words), default="relu")]
    return finish(
        f,
        **sizes,
        encoder_layers=layers,
        tied_embeddings=tied(f, True),
        attention=attention(sizes),
        norm=NormSpec("RMSNorm", "pre", f.number("layer_norm_epsilon", default=1e-6)),
        ffn=FfnSpec(activation, is_gated),
        position=PositionSpec("t5_bias", buckets=f.count("relative_attention_num_buckets", default=32)),
    )


def chatglm(f: Fields) -> Shape:
    """ChatGLM 2 and 3, GLM-4: multi_query_group_num counts K/V heads; RoPE turns half of each head, interleaved."""
    f.only("rmsnorm", True, default=None)
    f.only("add_bias_linear", False, default=False)
    f.only("apply_residual_connection_post_layernorm", False, default=False)
    f.only("post_layer_norm", True, default=True)
    n_heads, shared = f.count("num_attention_heads"), f.flag("multi_query_attention", default=False)
    f.get("multi_query_group_num")  # stands in files without multi_query_attention too, where it says nothing
    sizes = {
        "n_layers": f.count("num_layers", high=MAX_LAYERS),
        "d_model": f.count("hidden_size"),
        "n_heads": n_heads,
        "n_kv_heads": kv_heads(f, n_heads, "multi_query_group_num") if shared else n_heads,
        "head_dim": f.count("kv_channels"),
        "ffn_hidden": f.count("ffn_hidden_size"),
        "vocab_size": f.count("padded_vocab_size", "vocab_size"),
        "max_context": f.count("seq_length"),
    }
    theta = 10_000.0 * f.number("rope_ratio", default=1)
    return finish(
        f,
        **sizes,
        bias="qkv" if f.flag("add_qkv_bias", default=False) else "none",
        tied_embeddings=tied(f, False),
        attention=attention(sizes),
        norm=NormSpec("RMSNorm", "pre", f.number("layernorm_epsilon", default=1e-5)),
        ffn=FfnSpec("SwiGLU", gated=True),
        position=PositionSpec("rope", theta, rotary_dim=sizes["head_dim"] // 2, layout="interleaved"),
    )
