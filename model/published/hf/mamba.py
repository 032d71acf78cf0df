"""Mamba and Mamba-2: alone, among layers that attend (Jamba, Nemotron-H, Granite 4), or beside attention."""

from dataclasses import replace
from types import MappingProxyType
from typing import Any

from ..expected import expected
from ..spec import AttentionSpec, ExtraWeights, FfnSpec, MoeSpec
from .attention import rope
from .fields import MAX_LAYERS, Fields, refusal
from .layers import KINDS, NOPE, attention_bias, kinds_of, layers_of, mixed
from .mixers import Mamba2, inner_width, mamba1, mamba2_heads
from .shape import Shape, checked_moe, finish, gated_ffn, llama_sizes, rms_norm
from .sizes import tied

# What transformers' classes take for what a file leaves out.
JAMBA_DEFAULTS = MappingProxyType({"mamba_d_state": 16, "mamba_d_conv": 4})
MAMBA_DEFAULTS = MappingProxyType({"state_size": 16, "conv_kernel": 4})
MAMBA2_DEFAULTS = MappingProxyType({"conv_kernel": 4, "n_groups": 8})
NEMOTRON_DEFAULTS = MappingProxyType({"conv_kernel": 4})
_PATTERN = MappingProxyType({"M": "linear_attention", "E": "moe", "*": "full_attention", "-": "mlp"})


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
    kinds = kinds_of(f, n_layers, implied, "layers_block_type")
    mixer = mamba1(f, d, layers_of(kinds, "linear"), "mamba_", norms=True)
    return finish(
        f,
        **sizes,
        tied_embeddings=tied(f, False),
        attention=mixed(f, kinds, sizes),
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
    kinds = tuple(KINDS[word] for word in words)
    f.get("num_hidden_layers", "expand", "mamba_expand")  # the pattern's length and the heads count instead
    f.only("sliding_window", None, default=None)
    f.only("mlp_bias", False, default=False)
    f.only("attention_bias", False, default=False)  # transformers' class has the field and no such biases
    bias = f.flag("use_bias", default=False)
    heads, width = f.count("mamba_num_heads"), f.count("mamba_head_dim")
    groups, kernel = f.count("n_groups", "mamba_n_groups", default=8), f.count("conv_kernel", "mamba_d_conv")
    conv_bias = f.flag("use_conv_bias", "mamba_conv_bias", default=True)
    sizes = Mamba2(heads, width, groups, f.count("ssm_state_size"), kernel, conv_bias, bias, bias)
    mixer, hidden = sizes.mixer(d, layers_of(kinds, "linear")), f.count("intermediate_size")
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
        tied_embeddings=tied(f, False),
        attention=mixed(f, kinds, named),
        state=replace(mixer.state, vllm_fp32=f.get("mamba_ssm_cache_dtype", default="float32") == "float32"),
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
        raise refusal("layers_block_type", listed, expected("each_one_of", names=", ".join(KINDS)))
    name = "layers_block_type" if f.raw.get("layers_block_type") is not None else "layer_types"
    if pattern is None:
        kinds_of(f, len(listed), (), name)
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
    kinds = kinds_of(f, n_layers, ("linear",) * n_layers)
    mixer = _named_mamba2(f, inner_width(f, d, "mamba_expand")).mixer(d, layers_of(kinds, "linear"))
    experts, top_k, moe = f.maybe_count("num_local_experts"), f.maybe_count("num_experts_per_tok"), None
    if experts:
        expert = sizes["ffn_hidden"]
        moe = checked_moe(f, MoeSpec(experts, top_k or f.count("num_experts_per_tok"), 1, expert, shared_ffn=shared))
    rotated = f.word("position_embedding_type", among=("rope", "nope"), default="nope") == "rope"
    return finish(
        f,
        **{**sizes, "ffn_hidden": sizes["ffn_hidden"] if moe else shared},
        bias=attention_bias(f),
        tied_embeddings=tied(f, False),
        attention=mixed(f, kinds, sizes),
        state=mixer.state,
        extra=mixer.weights,
        moe=moe,
        norm=rms_norm(f),
        ffn=gated_ffn(f),
        position=rope(f, sizes["head_dim"]) if rotated else NOPE,
    )


def falcon_h1(f: Fields) -> Shape:
    """Attention and Mamba-2 side by side in every layer, both reading the same input."""
    sizes = llama_sizes(f)
    n_layers, d = sizes["n_layers"], sizes["d_model"]
    inner = f.maybe_count("mamba_d_ssm") or inner_width(f, d, "mamba_expand")
    norm, out = f.flag("mamba_rms_norm", default=False), f.flag("projectors_bias", default=False)
    mixer = _named_mamba2(f, inner, norm, out).mixer(d, tuple(range(n_layers)))
    f.only("mlp_bias", False, default=False)
    kinds = kinds_of(f, n_layers, ("hybrid",) * n_layers)
    if set(kinds) != {"hybrid"}:
        raise refusal("layer_types", f.raw["layer_types"], expected("each_one_of", names="hybrid"))
    return finish(
        f,
        **sizes,
        bias=attention_bias(f),
        tied_embeddings=tied(f, False),
        attention=mixed(f, kinds, sizes),
        state=mixer.state,
        extra=mixer.weights,
        norm=rms_norm(f),
        ffn=gated_ffn(f),
        position=rope(f, sizes["head_dim"]),
    )
