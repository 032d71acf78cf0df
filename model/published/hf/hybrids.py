"""Linear attention and short convolutions among layers that attend: Qwen3-Next, Qwen 3.5, MiniMax-01, LFM2, Kimi."""

from collections.abc import Iterable, Iterator
from types import MappingProxyType

from ..expected import expected
from ..spec import AttentionSpec, ExtraWeights, MlaSpec, MoeSpec
from ..unstated import Unstated
from .attention import checked_heads, rope, shortest
from .class_heads import text_part
from .fields import MAX_LAYERS, Fields, refusal
from .layers import NOPE, kinds_of, layers_of, mixed
from .llama_like import outer
from .mixers import delta_net, kimi_delta, lightning, short_convolution
from .shape import Shape, checked_moe, finish, gated_ffn, llama_sizes, rms_norm
from .sizes import llama_heads, tied

# What transformers' classes take for what a file leaves out.
QWEN_DEFAULTS = MappingProxyType(
    {"linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_value_head_dim": 128}
    | {"linear_num_key_heads": 16, "linear_num_value_heads": 32}
)
LFM2_DEFAULTS = MappingProxyType({"conv_L_cache": 3, "rope_theta": 1_000_000.0})
MINIMAX_DEFAULTS = MappingProxyType({"rope_theta": 1_000_000.0})


def qwen_hybrid(f: Fields) -> Shape:
    """Qwen3-Next, Qwen 3.5: three gated DeltaNet layers before each layer that attends, whose output is gated."""
    routed = f.get("num_experts") is not None
    n_layers, d = f.count("num_hidden_layers", high=MAX_LAYERS), f.count("hidden_size")
    every = f.count("full_attention_interval", default=4, high=MAX_LAYERS)
    kinds = kinds_of(f, n_layers, ("linear" if (i + 1) % every else "full" for i in range(n_layers)))
    sizes = {
        "n_layers": n_layers,
        "d_model": d,
        "ffn_hidden": f.count("moe_intermediate_size" if routed else "intermediate_size"),
        "vocab_size": f.count("vocab_size"),
        "max_context": f.count("max_position_embeddings"),
        **checked_heads(f, llama_heads(f)),
    }
    mixer = delta_net(f, d, layers_of(kinds, "linear"))
    f.only("attn_output_gate", True, default=True)
    heads = sizes["n_heads"]
    gate = ExtraWeights("attention.gate", (d, heads, sizes["head_dim"]), layers_of(kinds, "full"), units=heads)
    return finish(
        f,
        **sizes,
        bias=_no_bias(f),
        tied_embeddings=tied(f, False),
        attention=mixed(f, kinds, sizes),
        state=mixer.state,
        extra=(*mixer.weights, *((gate,) if gate.layers else ())),
        moe=_qwen_moe(f) if routed else None,
        norm=rms_norm(f, qk="rms_per_head"),
        ffn=gated_ffn(f),
        position=rope(f, sizes["head_dim"]),
    )


def _no_bias(f: Fields) -> str:
    """A bias on a gated query is no shape that is counted."""
    f.only("attention_bias", False, default=False)
    return "none"


def _qwen_moe(f: Fields) -> MoeSpec:
    f.only("mlp_only_layers", [], default=[])
    every = f.count("decoder_sparse_step", default=1)
    moe = MoeSpec(
        n_experts=f.count("num_experts"),
        top_k=f.count("num_experts_per_tok"),
        shared_experts=1,
        expert_ffn=f.count("moe_intermediate_size"),
        dense_ffn=f.count("intermediate_size") if every > 1 else None,
        moe_every=every,
        shared_gate=True,
        shared_ffn=f.count("shared_expert_intermediate_size"),
    )
    return checked_moe(f, moe)


def qwen_hybrid_outer(f: Fields) -> Shape:
    """With a vision tower: the text model is under text_config."""
    text = text_part(f, f"{f.raw['model_type']}_text", defaults=QWEN_DEFAULTS)
    return outer(f, text, qwen_hybrid(text))


def minimax(f: Fields) -> Shape:
    """MiniMax-Text-01 and M1: seven lightning-attention layers before each one that attends; experts in all."""
    sizes = llama_sizes(f)
    n_layers, d = sizes["n_layers"], sizes["d_model"]
    f.only("sliding_window", None, default=None)
    f.only("shared_intermediate_size", 0, None, default=None)
    implied: Iterable[str] = ("linear" if i % 2 else "full" for i in range(n_layers))
    if (own := f.get("attn_type_list")) is not None:  # the vendor's files: 1 attends, 0 does not
        if not isinstance(own, list) or len(own) != n_layers or not all(one in (0, 1) for one in own):
            raise refusal("attn_type_list", own, expected("ones_and_zeros", count=n_layers))
        implied = ("full" if one else "linear" for one in own)
    kinds = kinds_of(f, n_layers, implied)
    mixer = lightning(sizes["n_heads"], sizes["head_dim"], d, layers_of(kinds, "linear"))
    moe = MoeSpec(f.count("num_local_experts", "num_experts"), f.count("num_experts_per_tok"), 0, sizes["ffn_hidden"])
    return finish(
        f,
        **sizes,
        tied_embeddings=tied(f, False),
        attention=mixed(f, kinds, sizes),
        state=mixer.state,
        extra=mixer.weights,
        moe=checked_moe(f, moe),
        norm=rms_norm(f),
        ffn=gated_ffn(f),
        position=rope(f, sizes["head_dim"]),
    )


def lfm2(f: Fields) -> Shape:
    """LFM2: short convolutions among layers that attend; the file's feed-forward width is adjusted as LLaMA 1's was."""
    routed = f.raw["model_type"] == "lfm2_moe"
    f.get("block_ff_dim")
    n_layers, d = f.count("num_hidden_layers", high=MAX_LAYERS), f.count("hidden_size")
    given = f.count("intermediate_size") if routed else f.count("block_ff_dim", "intermediate_size")
    sizes = {
        "n_layers": n_layers,
        "d_model": d,
        "ffn_hidden": given if routed else _adjusted(f, given),
        "vocab_size": f.count("vocab_size"),
        "max_context": f.count("max_position_embeddings"),
        **checked_heads(f, llama_heads(f)),
    }
    attending = f.get("full_attn_idxs")
    if attending is not None and not isinstance(attending, list):
        raise refusal("full_attn_idxs", attending, expected("strings_a_layer", count=n_layers))
    kinds = kinds_of(
        f, n_layers, ("full" if attending is None or i in attending else "linear" for i in range(n_layers))
    )
    kernel, bias = f.count("conv_L_cache"), f.flag("conv_bias", default=False)
    f.only("conv_dim", d, default=d)
    mixer = short_convolution(kernel, bias, d, layers_of(kinds, "linear"))
    return finish(
        f,
        **sizes,
        tied_embeddings=f.flag("tie_embedding", "tie_word_embeddings", default=True),
        attention=mixed(f, kinds, sizes),
        state=mixer.state,
        extra=mixer.weights,
        moe=_lfm2_moe(f, given) if routed else None,
        norm=rms_norm(f, qk="rms_per_head", names=("norm_eps", "block_norm_eps")),
        ffn=gated_ffn(f),
        position=rope(f, sizes["head_dim"]),
    )


def _adjusted(f: Fields, width: int) -> int:
    """Two thirds of the width, scaled and rounded up to a multiple, unless the file says not to."""
    multiple, scale = f.count("block_multiple_of", default=256), f.number("block_ffn_dim_multiplier", default=1.0)
    if not f.flag("block_auto_adjust_ff_dim", default=True) or isinstance(width, Unstated):
        return width
    width = int(scale * int(2 * width / 3))
    return -(-width // multiple) * multiple


def _lfm2_moe(f: Fields, dense: int) -> MoeSpec:
    first = f.get("num_dense_layers", default=2)
    if not isinstance(first, int) or isinstance(first, bool) or first < 0:
        raise refusal("num_dense_layers", first, expected("whole_from", low=0))
    moe = MoeSpec(
        n_experts=f.count("num_experts"),
        top_k=f.count("num_experts_per_tok"),
        shared_experts=0,
        expert_ffn=f.count("moe_intermediate_size"),
        first_dense_layers=first,
        dense_ffn=dense,
        router_bias=f.flag("use_expert_bias", default=True),
    )
    return checked_moe(f, moe)


def kimi_k3(f: Fields) -> Shape:
    """Kimi K3: Kimi Linear's text model under text_config; what sees is not counted."""
    text = text_part(f, "kimi_linear")
    return outer(f, text, kimi_linear(text))


def kimi_linear(f: Fields) -> Shape:
    """Kimi Linear: three layers of Kimi Delta Attention to each one of MLA without RoPE.

    Kimi K3's text model (arXiv 2607.24653) is one, with a gate on what MLA gives, experts in a narrower space, and
    attention over the streams of earlier blocks of layers.
    """
    n_heads, n_layers = f.count("num_attention_heads"), f.count("num_hidden_layers", high=MAX_LAYERS)
    d, hidden = f.count("hidden_size"), f.count("intermediate_size")
    f.get("head_dim", "num_key_value_heads", "num_nextn_predict_layers", "qk_head_dim")
    f.only("attention_bias", False, default=False)
    mla = MlaSpec(
        kv_lora_rank=f.count("kv_lora_rank"),
        qk_rope_head_dim=f.count("qk_rope_head_dim"),
        qk_nope_head_dim=f.count("qk_nope_head_dim"),
        v_head_dim=f.count("v_head_dim"),
        q_lora_rank=f.maybe_count("q_lora_rank"),
    )
    inner = f.part("linear_attn_config") if f.get("linear_attn_config") else f
    names = ("num_heads", "head_dim", "short_conv_kernel_size")
    if inner is f:
        names = ("linear_num_heads", "linear_head_dim", "linear_conv_kernel_dim")
    heads, width, kernel = (inner.count(name) for name in names)
    kinds = kinds_of(f, n_layers, _kimi_kinds(inner, n_layers))
    full_gate = inner.flag("use_full_rank_gate", default=False)
    inner.get("gate_lower_bound")
    f.only("mla_use_nope", True, default=True)
    mixer = kimi_delta(f, heads, width, kernel, d, layers_of(kinds, "linear"), full_gate)
    moe = _kimi_moe(f, n_layers, hidden)
    further = _k3_extras(f, d, n_heads * mla.v_head_dim, n_heads, layers_of(kinds, "full"), n_layers, moe)
    return finish(
        f,
        n_layers=n_layers,
        d_model=d,
        n_heads=n_heads,
        n_kv_heads=n_heads,
        head_dim=mla.qk_nope_head_dim + mla.qk_rope_head_dim,
        ffn_hidden=hidden,
        vocab_size=f.count("vocab_size"),
        max_context=f.count("model_max_length", "max_position_embeddings"),
        tied_embeddings=tied(f, False),
        attention=AttentionSpec("MLA", shortest(kinds)),  # type: ignore[arg-type]
        mla=mla,
        state=mixer.state,
        extra=(*mixer.weights, *further),
        moe=moe,
        norm=rms_norm(f, "pre (+ RMSNorm on the kv latents)"),
        ffn=gated_ffn(f),
        position=NOPE,
    )


def _k3_extras(
    f: Fields, d: int, inner: int, heads: int, attending: tuple[int, ...], n_layers: int, moe: MoeSpec
) -> Iterator[ExtraWeights]:
    """What Kimi K3 has besides: a gate on MLA's output, a norm of what the experts read, and, before each sub-layer and
    at the end, a norm and a query of the streams that it attends over."""
    if f.flag("mla_use_output_gate", default=False):
        yield ExtraWeights("attention.gate", (d, inner), attending, units=heads)
    if moe.expert_width:
        yield ExtraWeights("experts.latent", (2, d, moe.expert_width), moe.routed_layers(range(n_layers)))
    if f.flag("latent_moe_use_norm", default=False) and moe.expert_width:
        yield ExtraWeights("norms.experts", (moe.expert_width,), moe.routed_layers(range(n_layers)), "vector")
    if f.maybe_count("attn_res_block_size"):
        yield ExtraWeights("attention.residuals", (2, 2, d), tuple(range(n_layers)), "vector")
        yield ExtraWeights("attention.residuals", (2, d), (), "vector")


def _kimi_kinds(inner: Fields, n_layers: int) -> tuple[str, ...]:
    """Which layers attend, counted from 1 in the vendor's file; without a list, every fourth after the first."""
    full, delta = inner.get("full_attn_layers"), inner.get("kda_layers")
    if full is None and delta is None:
        return tuple("full" if i and i % 4 == 0 else "linear" for i in range(n_layers))
    every = list(range(1, n_layers + 1))
    if (
        not isinstance(full, list)
        or not isinstance(delta, list)
        or sorted(map(str, full + delta)) != sorted(map(str, every))
    ):
        raise refusal(f"{inner.path}full_attn_layers", full, expected("halves", count=n_layers))
    attending = {str(layer) for layer in full}
    return tuple("full" if str(i) in attending else "linear" for i in every)


def _kimi_moe(f: Fields, n_layers: int, hidden: int) -> MoeSpec:
    f.only("moe_layer_freq", 1, None, default=None)
    dense = f.get("first_k_dense_replace", default=1)
    if kinds := f.strings("mlp_layer_types", n_layers):
        dense = kinds.index("sparse") if "sparse" in kinds else len(kinds)
        if kinds != ["dense"] * dense + ["sparse"] * (len(kinds) - dense):
            raise refusal("mlp_layer_types", kinds, expected("dense_first"))
    if not isinstance(dense, int) or isinstance(dense, bool) or dense < 0:
        raise refusal("first_k_dense_replace", dense, expected("whole_from", low=0))
    moe = MoeSpec(
        n_experts=f.count("num_experts", "num_local_experts", "n_routed_experts"),
        top_k=f.count("num_experts_per_token", "num_experts_per_tok"),
        shared_experts=f.count("num_shared_experts", "n_shared_experts"),
        expert_width=f.maybe_count("routed_expert_hidden_size"),
        expert_ffn=f.count("moe_intermediate_size"),
        first_dense_layers=dense,
        dense_ffn=hidden,
        router="sigmoid, with a bias for selection only",
        router_bias=True,
    )
    return checked_moe(f, moe)
