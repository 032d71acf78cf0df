"""Earlier families with names of their own: OPT, GPT-NeoX (Pythia), MPT, and the first Qwen."""

from ..spec import Bias, FfnSpec, NormSpec, PositionSpec
from .attention import attention, rope
from .fields import MAX_LAYERS, Fields
from .shape import PLAIN, Shape, finish, head_width, llama_sizes
from .sizes import tied

NEOX_DEFAULTS = {"rotary_pct": 0.25}
OPT_OFFSET = 2  # OPTLearnedPositionalEmbedding: positions begin at row 2


def opt(f: Fields) -> Shape:
    """All but OPT-350m, whose norms stand after the blocks and whose embedding is narrower."""
    d_model, n_heads = f.count("hidden_size"), f.count("num_attention_heads")
    f.only("do_layer_norm_before", True, default=True)
    f.only("_remove_final_layer_norm", False, default=False)
    f.only("layer_norm_elementwise_affine", True, default=True)
    f.only("word_embed_proj_dim", d_model, default=d_model)
    bias: Bias = "all" if f.flag("enable_bias", default=True) else "none"
    sizes = {
        "n_layers": f.count("num_hidden_layers", high=MAX_LAYERS),
        "d_model": d_model,
        "n_heads": n_heads,
        "n_kv_heads": n_heads,
        "head_dim": head_width(d_model, n_heads, "num_attention_heads"),
        "ffn_hidden": f.count("ffn_dim"),
        "vocab_size": f.count("vocab_size"),
        "max_context": f.count("max_position_embeddings"),
    }
    return finish(
        f,
        **sizes,
        bias=bias,
        tied_embeddings=tied(f, True),
        attention=attention(f, sizes),
        norm=NormSpec("LayerNorm", "pre (+ final LayerNorm)", 1e-5),
        ffn=FfnSpec(PLAIN[f.word("activation_function", among=tuple(PLAIN), default="relu")], gated=False),
        position=PositionSpec("learned", unused_rows=OPT_OFFSET),
    )


def gpt_neox(f: Fields) -> Shape:
    """Every head has K and V of its own; a quarter of each is rotated unless rotary_pct says otherwise."""
    f.only("attention_bias", True, default=True)
    sizes, parallel = llama_sizes(f), f.flag("use_parallel_residual", default=True)
    placement = "pre, parallel attention+MLP with two LayerNorms" if parallel else "pre"
    base, share = ("rope_theta", "rotary_emb_base"), ("rotary_pct", "partial_rotary_factor")
    return finish(
        f,
        **sizes,
        bias="all",
        tied_embeddings=tied(f, False),
        attention=attention(f, sizes),
        norm=NormSpec("LayerNorm", placement, f.number("layer_norm_eps", default=1e-5)),
        ffn=FfnSpec(PLAIN[f.word("hidden_act", among=tuple(PLAIN), default="gelu")], gated=False, parallel=parallel),
        position=rope(f, sizes["head_dim"], base=base, share=share),
    )


def mpt(f: Fields) -> Shape:
    """transformers' MPT: ALiBi, no biases, LayerNorms without a shift, a feed-forward block four times as wide."""
    if f.get("attn_config") is not None:
        own = f.part("attn_config")
        for name, value in (
            ("attn_type", "multihead_attention"),
            ("alibi", True),
            ("qk_ln", False),
            ("prefix_lm", False),
        ):
            own.only(name, value, default=value)
        own.refuse_unread()
    f.only("no_bias", True, default=True)
    f.only("expansion_ratio", 4, default=4)
    d_model, n_heads = f.count("d_model", "hidden_size"), f.count("n_heads", "num_attention_heads")
    sizes = {
        "n_layers": f.count("n_layers", "num_hidden_layers", high=MAX_LAYERS),
        "d_model": d_model,
        "n_heads": n_heads,
        "n_kv_heads": n_heads,
        "head_dim": head_width(d_model, n_heads, "n_heads"),
        "ffn_hidden": 4 * d_model,
        "vocab_size": f.count("vocab_size"),
        "max_context": f.count("max_seq_len"),
    }
    eps = f.number("layer_norm_epsilon", default=1e-5)
    return finish(
        f,
        **sizes,
        tied_embeddings=tied(f, True),
        attention=attention(f, sizes),
        norm=NormSpec("LayerNorm", "pre, without a shift", eps, vectors=1),
        ffn=FfnSpec("GELU", gated=False),
        position=PositionSpec("alibi"),
    )


def qwen1(f: Fields) -> Shape:
    """modeling_qwen.py: kv_channels is a head's width; w1 and w2 are each half as wide as intermediate_size; q, k and v
    alone have a bias."""
    f.only("no_bias", True, default=True)
    n_heads, inner = f.count("num_attention_heads"), f.count("intermediate_size")
    sizes = {
        "n_layers": f.count("num_hidden_layers", high=MAX_LAYERS),
        "d_model": f.count("hidden_size"),
        "n_heads": n_heads,
        "n_kv_heads": n_heads,
        "head_dim": f.count("kv_channels"),
        "ffn_hidden": max(1, inner // 2),
        "vocab_size": f.count("vocab_size"),
        "max_context": f.count("seq_length", "max_position_embeddings"),
    }
    return finish(
        f,
        **sizes,
        bias="qkv",
        tied_embeddings=tied(f, False),
        attention=attention(f, sizes),
        norm=NormSpec("RMSNorm", "pre", f.number("layer_norm_epsilon", default=1e-6)),
        ffn=FfnSpec("SwiGLU", gated=True),
        position=rope(f, sizes["head_dim"], base=("rotary_emb_base",), share=("rotary_pct",)),
    )
