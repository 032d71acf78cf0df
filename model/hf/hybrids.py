"""Models with state-space, linear-attention or short-convolution layers, alone or among layers that attend."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from ..expected import expected
from ..spec import AttentionSpec, ExtraWeights, FfnSpec, MlaSpec, MoeSpec, PositionSpec
from .attention import attention, llama_heads, rope, shortest, tied
from .fields import MAX_LAYERS, Fields, refusal
from .llama_like import outer
from .mixers import Mamba2, delta_net, inner_width, kimi_delta, lightning, mamba1, mamba2_heads, short_convolution
from .shape import Shape, checked_moe, finish, gated_ffn, llama_sizes, rms_norm

# What transformers' classes take for what a file leaves out.
QWEN_DEFAULTS = MappingProxyType(
    {"head_dim": 256, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_value_head_dim": 128}
    | {"linear_num_key_heads": 16, "linear_num_value_heads": 32}
)
JAMBA_DEFAULTS = MappingProxyType({"mamba_d_state": 16, "mamba_d_conv": 4})
MAMBA_DEFAULTS = MappingProxyType({"state_size": 16, "conv_kernel": 4})
MAMBA2_DEFAULTS = MappingProxyType({"conv_kernel": 4, "n_groups": 8})
NEMOTRON_DEFAULTS = MappingProxyType({"head_dim": 128, "conv_kernel": 4})
LFM2_DEFAULTS = MappingProxyType({"conv_L_cache": 3, "rope_theta": 1_000_000.0})
MINIMAX_DEFAULTS = MappingProxyType({"rope_theta": 1_000_000.0})
_WORDS: Mapping[str, str] = MappingProxyType(
    {"full_attention": "full", "attention": "full", "linear_attention": "linear", "mamba": "linear", "conv": "linear"}
    | {"mlp": "none", "moe": "none", "hybrid": "hybrid"}
)
_PATTERN = MappingProxyType({"M": "linear_attention", "E": "moe", "*": "full_attention", "-": "mlp"})
NOPE = PositionSpec("none")


def _kinds(f: Fields, n_layers: int, implied: Iterable[str], name: str = "layer_types") -> tuple[str, ...]:
    """The kind of every layer: as the file lists them, else as `implied`. One at least keeps a state."""
    given = f.strings(name, n_layers)
    for word in given or ():
        if word not in _WORDS:
            raise refusal(f.path + name, word, expected("each_one_of", names=", ".join(_WORDS)))
    kinds = tuple(_WORDS[word] for word in given) if given else tuple(implied)
    if {"linear", "hybrid"}.isdisjoint(kinds):
        raise refusal(f.path + name, given or "all full_attention", expected("with_linear"))
    return kinds


def _of(kinds: tuple[str, ...], *wanted: str) -> tuple[int, ...]:
    return tuple(i for i, kind in enumerate(kinds) if kind in wanted)


def _cycle(kinds: tuple[str, ...], sizes: Mapping[str, int]) -> AttentionSpec:
    return attention(sizes, shortest(kinds))


def _bias(f: Fields) -> str:
    return "attention" if f.flag("attention_bias", default=False) else "none"


def qwen(f: Fields) -> Shape:
    """Qwen3-Next, Qwen 3.5: three gated DeltaNet layers before each layer that attends, whose output is gated."""
    routed = f.get("num_experts") is not None
    n_layers, d = f.count("num_hidden_layers", high=MAX_LAYERS), f.count("hidden_size")
    every = f.count("full_attention_interval", default=4, high=MAX_LAYERS)
    kinds = _kinds(f, n_layers, ("linear" if (i + 1) % every else "full" for i in range(n_layers)))
    sizes = {
        "n_layers": n_layers,
        "d_model": d,
        "ffn_hidden": f.count("moe_intermediate_size" if routed else "intermediate_size"),
        "vocab_size": f.count("vocab_size"),
        "max_context": f.count("max_position_embeddings"),
        **llama_heads(f),
    }
    mixer = delta_net(f, d, _of(kinds, "linear"))
    f.only("attn_output_gate", True, default=True)
    heads = sizes["n_heads"]
    gate = ExtraWeights("attention.gate", (d, heads, sizes["head_dim"]), _of(kinds, "full"), units=heads)
    return finish(
        f,
        **sizes,
        bias=_no_bias(f),
        tied_embeddings=tied(f, False),
        attention=_cycle(kinds, sizes),
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


def qwen_outer(f: Fields) -> Shape:
    """With a vision tower: the text model is under text_config."""
    text = f.part("text_config", QWEN_DEFAULTS)
    kind = f"{f.raw['model_type']}_text"
    text.only("model_type", kind, default=kind)
    return outer(f, text, qwen(text))


def _mamba_spec(f: Fields, d: int, n_layers: int, mixer: Any, **more: Any) -> Shape:
    """Mamba layers alone: no attention, no feed-forward blocks, one norm a layer, no positions."""
    nothing = {"n_heads": 0, "n_kv_heads": 0, "head_dim": 0, "ffn_hidden": 0, "ffn_widths": (0,) * n_layers}
    f.get("num_attention_heads")
    return finish(
        f,
        n_layers=n_layers,
        d_model=d,
        vocab_size=f.count("vocab_size"),
        max_context=None,
        **nothing,
        **more,
        attention=AttentionSpec("none", ("linear",)),
        state=mixer.state,
        extra=mixer.weights,
        norm=rms_norm(f, per_layer=1, names=("layer_norm_epsilon",)),
        ffn=FfnSpec("", gated=False),
        position=NOPE,
    )


def mamba(f: Fields) -> Shape:
    n_layers, d = f.count("num_hidden_layers", high=MAX_LAYERS), f.count("hidden_size")
    f.only("intermediate_size", inner_width(f, d, "expand"), default=inner_width(f, d, "expand"))
    return _mamba_spec(f, d, n_layers, mamba1(f, d, tuple(range(n_layers))), tied_embeddings=tied(f, True))


def mamba2(f: Fields) -> Shape:
    n_layers, d = f.count("num_hidden_layers", high=MAX_LAYERS), f.count("hidden_size")
    heads, width = mamba2_heads(f, inner_width(f, d, "expand"), "num_heads", "head_dim")
    bias = f.flag("use_bias", default=False)
    groups, d_state, kernel = f.count("n_groups"), f.count("state_size"), f.count("conv_kernel")
    sizes = Mamba2(heads, width, groups, d_state, kernel, f.flag("use_conv_bias", default=True), bias, bias)
    return _mamba_spec(f, d, n_layers, sizes.mixer(d, tuple(range(n_layers))), tied_embeddings=tied(f, False))


def _named_mamba2(f: Fields, inner: int, norm: bool = True, bias_out: bool | None = None) -> Mamba2:
    """Mamba-2 as Granite, Falcon-H1 and others name its sizes."""
    heads, width = mamba2_heads(f, inner, "mamba_n_heads", "mamba_d_head")
    bias = f.flag("mamba_proj_bias", default=False)
    groups, d_state, kernel = f.count("mamba_n_groups", default=1), f.count("mamba_d_state"), f.count("mamba_d_conv")
    conv_bias = f.flag("mamba_conv_bias", default=True)
    return Mamba2(heads, width, groups, d_state, kernel, conv_bias, bias, bias if bias_out is None else bias_out, norm)


def jamba(f: Fields) -> Shape:
    """Mamba with norms; one layer of attn_layer_period attends, one of expert_layer_period has experts."""
    sizes = llama_sizes(f)
    n_layers, d = sizes["n_layers"], sizes["d_model"]
    period, offset = _every(f, "attn_layer", 8, 4)
    implied = ("full" if i % period == offset else "linear" for i in range(n_layers))
    kinds = _kinds(f, n_layers, implied, "layers_block_type")
    mixer = mamba1(f, d, _of(kinds, "linear"), "mamba_", norms=True)
    return finish(
        f,
        **sizes,
        tied_embeddings=tied(f, False),
        attention=_cycle(kinds, sizes),
        state=mixer.state,
        extra=mixer.weights,
        moe=_jamba_moe(f, n_layers),
        norm=rms_norm(f),
        ffn=gated_ffn(f),
        position=NOPE,
    )


def _every(f: Fields, name: str, period: int, offset: int) -> tuple[int, int]:
    """(period, offset): which layers are of a kind; the offset is below the period."""
    period = f.count(f"{name}_period", default=period, high=MAX_LAYERS)
    given = f.get(f"{name}_offset", default=offset)
    if not isinstance(given, int) or isinstance(given, bool) or not 0 <= given < period:
        raise refusal(f"{f.path}{name}_offset", given, expected("whole", low=0, high=period - 1))
    return period, given


def _jamba_moe(f: Fields, n_layers: int) -> MoeSpec | None:
    experts = f.count("num_experts", "num_local_experts", default=16)
    period, offset = _every(f, "expert_layer", 2, 1)
    top_k = f.count("num_experts_per_tok", default=2)
    if experts == 1:  # Jamba's dense members
        return None
    width, layers = f.count("intermediate_size"), tuple(i for i in range(n_layers) if i % period == offset)
    return checked_moe(f, MoeSpec(experts, top_k, 0, width, dense_ffn=width, expert_layers=layers))


def nemotron_h(f: Fields) -> Shape:
    """One part a layer: a Mamba-2 mixer (M), attention (*), a feed-forward block (-) or experts (E)."""
    words = _nemotron_words(f)
    n_layers, d = len(words), f.count("hidden_size")
    kinds = tuple(_WORDS[word] for word in words)
    f.get("num_hidden_layers", "expand", "mamba_expand")  # the pattern's length and the heads count instead
    f.only("sliding_window", None, default=None)
    f.only("mlp_bias", False, default=False)
    bias = f.flag("use_bias", default=False)
    heads, width = f.count("mamba_num_heads"), f.count("mamba_head_dim")
    groups, kernel = f.count("n_groups", "mamba_n_groups", default=8), f.count("conv_kernel", "mamba_d_conv")
    conv_bias = f.flag("use_conv_bias", "mamba_conv_bias", default=True)
    sizes = Mamba2(heads, width, groups, f.count("ssm_state_size"), kernel, conv_bias, bias, bias)
    mixer, hidden = sizes.mixer(d, _of(kinds, "linear")), f.count("intermediate_size")
    moe = _nemotron_moe(f, tuple(i for i, word in enumerate(words) if word == "moe"))
    n_heads = f.count("num_attention_heads")
    named = {"n_heads": n_heads, "n_kv_heads": f.count("num_key_value_heads", default=n_heads)}
    f.get("num_nextn_predict_layers")
    latent = ()
    if moe and moe.expert_width:
        latent = (ExtraWeights("experts.latent", (2, d, moe.expert_width), moe.expert_layers or ()),)
    return finish(
        f,
        n_layers=n_layers,
        d_model=d,
        **named,
        head_dim=f.count("head_dim", "attention_head_dim"),
        ffn_hidden=hidden,
        ffn_widths=tuple(hidden if word == "mlp" else 0 for word in words),
        vocab_size=f.count("vocab_size"),
        max_context=f.count("max_position_embeddings"),
        bias=_bias(f),
        tied_embeddings=tied(f, False),
        attention=_cycle(kinds, named),
        state=mixer.state,
        extra=(*mixer.weights, *latent),
        moe=moe,
        norm=rms_norm(f, per_layer=1, names=("layer_norm_epsilon", "norm_eps", "rms_norm_eps")),
        ffn=FfnSpec(f.word("mlp_hidden_act", among=("relu2",), default="relu2"), gated=False),
        position=NOPE,
    )


def _nemotron_words(f: Fields) -> list[str]:
    """What each layer is: as layers_block_type lists it, else as the letters of hybrid_override_pattern say."""
    pattern, listed = f.get("hybrid_override_pattern"), f.get("layers_block_type", "layer_types")
    if listed is None:
        if not isinstance(pattern, str) or not 0 < len(pattern) <= MAX_LAYERS or set(pattern) - set(_PATTERN):
            raise refusal("hybrid_override_pattern", pattern, expected("letters_a_layer", letters=", ".join(_PATTERN)))
        listed = [_PATTERN[letter] for letter in pattern]
    if not isinstance(listed, list) or not 0 < len(listed) <= MAX_LAYERS:
        raise refusal("layers_block_type", listed, expected("each_one_of", names=", ".join(_WORDS)))
    name = "layers_block_type" if f.raw.get("layers_block_type") is not None else "layer_types"
    if pattern is None:
        _kinds(f, len(listed), (), name)
    elif not {"linear_attention", "mamba"} & {str(word) for word in listed}:
        raise refusal("hybrid_override_pattern", pattern, expected("with_linear"))
    return listed


def _nemotron_moe(f: Fields, layers: tuple[int, ...]) -> MoeSpec | None:
    names = ("n_routed_experts", "n_shared_experts", "num_experts_per_tok", "moe_intermediate_size", "n_group")
    f.get(*names, "moe_shared_expert_intermediate_size", "moe_latent_size")
    if not layers:  # the class writes these fields into every file
        return None
    moe = MoeSpec(
        n_experts=f.count("n_routed_experts"),
        top_k=f.count("num_experts_per_tok"),
        shared_experts=1,
        expert_ffn=f.count("moe_intermediate_size"),
        router="sigmoid, with a bias for selection only",
        router_bias=True,
        expert_layers=layers,
        shared_ffn=f.count("moe_shared_expert_intermediate_size"),
        expert_width=f.maybe_count("moe_latent_size"),
    )
    return checked_moe(f, moe)


def granite(f: Fields) -> Shape:
    """Granite 4: Mamba-2 among layers that attend; a feed-forward block in all of them, beside experts if there are."""
    sizes = llama_sizes(f)
    n_layers, d, shared = sizes["n_layers"], sizes["d_model"], f.count("shared_intermediate_size")
    kinds = _kinds(f, n_layers, ("linear",) * n_layers)
    mixer = _named_mamba2(f, inner_width(f, d, "mamba_expand")).mixer(d, _of(kinds, "linear"))
    experts, top_k, moe = f.maybe_count("num_local_experts"), f.maybe_count("num_experts_per_tok"), None
    if experts:
        expert = sizes["ffn_hidden"]
        moe = checked_moe(f, MoeSpec(experts, top_k or f.count("num_experts_per_tok"), 1, expert, shared_ffn=shared))
    rotated = f.word("position_embedding_type", among=("rope", "nope"), default="nope") == "rope"
    return finish(
        f,
        **{**sizes, "ffn_hidden": sizes["ffn_hidden"] if moe else shared},
        bias=_bias(f),
        tied_embeddings=tied(f, False),
        attention=_cycle(kinds, sizes),
        state=mixer.state,
        extra=mixer.weights,
        moe=moe,
        norm=rms_norm(f),
        ffn=gated_ffn(f),
        position=rope(f, sizes["head_dim"]) if rotated else NOPE,
    )


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
    kinds = _kinds(f, n_layers, implied)
    mixer = lightning(sizes["n_heads"], sizes["head_dim"], d, _of(kinds, "linear"))
    moe = MoeSpec(f.count("num_local_experts", "num_experts"), f.count("num_experts_per_tok"), 0, sizes["ffn_hidden"])
    return finish(
        f,
        **sizes,
        tied_embeddings=tied(f, False),
        attention=_cycle(kinds, sizes),
        state=mixer.state,
        extra=mixer.weights,
        moe=checked_moe(f, moe),
        norm=rms_norm(f),
        ffn=gated_ffn(f),
        position=rope(f, sizes["head_dim"]),
    )


def falcon_h1(f: Fields) -> Shape:
    """Attention and Mamba-2 side by side in every layer, both reading the same input."""
    sizes = llama_sizes(f)
    n_layers, d = sizes["n_layers"], sizes["d_model"]
    inner = f.maybe_count("mamba_d_ssm") or inner_width(f, d, "mamba_expand")
    norm, out = f.flag("mamba_rms_norm", default=False), f.flag("projectors_bias", default=False)
    mixer = _named_mamba2(f, inner, norm, out).mixer(d, tuple(range(n_layers)))
    f.only("mlp_bias", False, default=False)
    kinds = _kinds(f, n_layers, ("hybrid",) * n_layers)
    if set(kinds) != {"hybrid"}:
        raise refusal("layer_types", f.raw["layer_types"], expected("each_one_of", names="hybrid"))
    return finish(
        f,
        **sizes,
        bias=_bias(f),
        tied_embeddings=tied(f, False),
        attention=_cycle(kinds, sizes),
        state=mixer.state,
        extra=mixer.weights,
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
        **llama_heads(f),
    }
    attending = f.get("full_attn_idxs")
    if attending is not None and not isinstance(attending, list):
        raise refusal("full_attn_idxs", attending, expected("strings_a_layer", count=n_layers))
    kinds = _kinds(f, n_layers, ("full" if attending is None or i in attending else "linear" for i in range(n_layers)))
    kernel, bias = f.count("conv_L_cache"), f.flag("conv_bias", default=False)
    f.only("conv_dim", d, default=d)
    mixer = short_convolution(kernel, bias, d, _of(kinds, "linear"))
    return finish(
        f,
        **sizes,
        tied_embeddings=f.flag("tie_embedding", "tie_word_embeddings", default=True),
        attention=_cycle(kinds, sizes),
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
    if not f.flag("block_auto_adjust_ff_dim", default=True):
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


def kimi_linear(f: Fields) -> Shape:
    """Kimi Linear: three layers of Kimi Delta Attention to each one of MLA without RoPE."""
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
    kinds = _kinds(f, n_layers, _kimi_kinds(inner, n_layers))
    mixer = kimi_delta(f, heads, width, kernel, d, _of(kinds, "linear"))
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
        extra=mixer.weights,
        moe=_kimi_moe(f, n_layers, hidden),
        norm=rms_norm(f, "pre (+ RMSNorm on the kv latents)"),
        ffn=gated_ffn(f),
        position=NOPE,
    )


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
    return tuple("full" if i in full else "linear" for i in every)


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
        expert_ffn=f.count("moe_intermediate_size"),
        first_dense_layers=dense,
        dense_ffn=hidden,
        router="sigmoid, with a bias for selection only",
        router_bias=True,
    )
    return checked_moe(f, moe)
