"""LLaMA and its relatives: Mistral, Mixtral, Qwen 2 and 3, Gemma 1 to 3, Llama 4, dense or with experts."""

from types import MappingProxyType
from typing import Any

from ..expected import expected
from ..spec import FfnSpec, MoeSpec
from .attention import attention, layer_cycle, rope
from .class_heads import text_part
from .fields import MAX_LAYERS, Fields, refusal
from .shape import GATED, Shape, checked_moe, finish, gated_ffn, llama_sizes, rms_norm
from .sizes import routed, tied

# What Gemma 3's files with a vision tower leave out of text_config: transformers' Gemma3TextConfig.
GEMMA3_DEFAULTS = MappingProxyType(
    {"vocab_size": 262_208, "num_attention_heads": 8}
    | {"max_position_embeddings": 131_072, "rope_theta": 1_000_000.0, "rope_local_base_freq": 10_000.0}
)


def llama(f: Fields, window: int | None = None, qk: Any = "none", bias: str | None = None, **more: Any) -> Shape:
    """LLaMA, and what differs from it in a window, norms on q and k, or biases."""
    sizes = llama_sizes(f)
    cycle = layer_cycle(f, sizes["n_layers"], "sliding" if window else "full")
    if bias is None:
        attention_bias, mlp_bias = f.flag("attention_bias", default=False), f.flag("mlp_bias", default=False)
        if mlp_bias and not attention_bias:
            f.fault(refusal("mlp_bias", True, expected("false_or_attention_bias")))
        bias = "all" if mlp_bias else "attention" if attention_bias else "none"
    position = rope(f, sizes["head_dim"])
    return finish(
        f,
        **sizes,
        **more,
        bias=bias,
        tied_embeddings=tied(f, False),
        attention=attention(f, sizes, cycle, window if "sliding" in cycle else None),
        norm=rms_norm(f, qk=qk),
        ffn=gated_ffn(f),
        position=position,
    )


def mistral(f: Fields) -> Shape:
    """The window is required, null where there is none: the class's own default, 4,096, is that of v0.1 alone."""
    if "sliding_window" not in f.raw:
        f.fault(f.absent("sliding_window", expected("tokens_or_null")))
    return llama(f, window=f.maybe_count("sliding_window"))


def mixtral(f: Fields) -> Shape:
    moe = MoeSpec(*routed(f, "num_local_experts"), shared_experts=0, expert_ffn=f.count("intermediate_size"))
    return llama(f, window=f.maybe_count("sliding_window"), moe=checked_moe(f, moe))


def qwen(f: Fields, qk: Any, bias: str | None) -> Shape:
    """Qwen 2, 2.5 and 3, dense or with experts: with use_sliding_window, layers from max_window_layers on slide."""
    window = f.maybe_count("sliding_window") if f.flag("use_sliding_window", default=False) else None
    f.get("sliding_window")
    sizes = llama_sizes(f)
    full = 0
    if window and f.get("layer_types") is None:
        full = f.get("max_window_layers", default=None)
        if not isinstance(full, int) or isinstance(full, bool) or full < 0:
            raise refusal("max_window_layers", full, expected("whole_from", low=0))
    n_layers = sizes["n_layers"]
    sliding = ("full",) * min(full, n_layers) + ("sliding",) * max(0, n_layers - full) if window else ("full",)
    cycle = layer_cycle(f, n_layers, *sliding)
    if bias is None:
        bias = "attention" if f.flag("attention_bias", default=False) else "none"
    return finish(
        f,
        **sizes,
        bias=bias,
        tied_embeddings=tied(f, False),
        attention=attention(f, sizes, cycle, window if "sliding" in cycle else None),
        norm=rms_norm(f, qk=qk),
        ffn=gated_ffn(f),
        position=rope(f, sizes["head_dim"]),
        moe=_qwen_moe(f) if "_moe" in str(f.raw["model_type"]) else None,
    )


def _qwen_moe(f: Fields) -> MoeSpec:
    f.only("mlp_only_layers", [], default=[])
    width, shared = f.count("moe_intermediate_size"), f.maybe_count("shared_expert_intermediate_size")
    if shared and shared % width:
        right = expected("multiple", name="moe_intermediate_size", value=width)
        shared = f.fault(refusal("shared_expert_intermediate_size", shared, right))
    every = f.count("decoder_sparse_step", default=1)
    moe = MoeSpec(
        n_experts=f.count("num_experts", "num_local_experts"),
        top_k=f.count("num_experts_per_tok"),
        shared_experts=(shared or 0) // width,
        expert_ffn=width,
        dense_ffn=f.count("intermediate_size") if every > 1 else None,
        moe_every=every,
        shared_gate=bool(shared),
    )
    return checked_moe(f, moe)


def gemma(f: Fields) -> Shape:
    return _gemma_like(f, ("full",), None, per_layer=2, placement="pre")


def gemma2(f: Fields) -> Shape:
    """Layers slide by turns, the first one too (transformers' Gemma2Config.layer_types)."""
    placement = "pre + post (sandwich: 4 RMSNorms per layer)"
    window = f.count("sliding_window")
    f.only("sliding_window_size", window, None, default=None)  # an older name that Google's files carry as well
    return _gemma_like(f, ("sliding", "full"), window, per_layer=4, placement=placement)


def gemma3_text(f: Fields) -> Shape:
    """Five sliding layers before each full one; the full ones have their own RoPE base."""
    pattern = f.count("sliding_window_pattern", "_sliding_window_pattern", default=6, high=MAX_LAYERS)
    cycle = ("sliding",) * (pattern - 1) + ("full",)
    window = f.count("sliding_window")
    norm = {"per_layer": 4, "placement": "pre + post (sandwich)", "qk": "rms_per_head"}
    return _gemma_like(f, cycle, window, local=True, **norm)


def _gemma_like(f: Fields, cycle: tuple[str, ...], window: int | None, local: bool = False, **norm: Any) -> Shape:
    sizes = llama_sizes(f)
    kinds = layer_cycle(f, sizes["n_layers"], *cycle)
    f.get("hidden_act")  # Gemma's files carry it beside hidden_activation, which counts
    return finish(
        f,
        **sizes,
        bias="attention" if f.flag("attention_bias", default=False) else "none",
        tied_embeddings=tied(f, True),
        attention=attention(f, sizes, kinds, window if "sliding" in kinds else None),
        norm=rms_norm(f, **norm),
        ffn=FfnSpec(
            GATED[f.word("hidden_activation", "hidden_act", among=tuple(GATED), default="gelu_pytorch_tanh")], True
        ),
        position=rope(f, sizes["head_dim"], local),
    )


def gemma3(f: Fields) -> Shape:
    """With a vision tower: the text model is under text_config, without the fields that equal the class's defaults."""
    text = text_part(f, "gemma3_text", defaults=GEMMA3_DEFAULTS)
    return outer(f, text, gemma3_text(text))


def llama4(f: Fields) -> Shape:
    text = text_part(f, "llama4_text")
    return outer(f, text, llama4_text(text))


def outer(f: Fields, text: Fields, shape: Shape) -> Shape:
    """The text model's shape; the outer object may state tied embeddings for it."""
    if "tie_word_embeddings" in f.raw and "tie_word_embeddings" not in text.raw:
        shape.spec["tied_embeddings"] = tied(f, False)
    f.refuse_unread()
    return shape


def llama4_text(f: Fields) -> Shape:
    """RoPE layers attend within chunks; every fourth layer has no RoPE and attends to all (no_rope_layers: 0)."""
    sizes = llama_sizes(f)
    n_layers, chunk = sizes["n_layers"], f.maybe_count("attention_chunk_size")
    interval = f.count("no_rope_layer_interval", default=4, high=MAX_LAYERS)
    rotated = f.get("no_rope_layers") or [int((i + 1) % interval != 0) for i in range(n_layers)]
    if not isinstance(rotated, list) or len(rotated) != n_layers or not all(one in (0, 1) for one in rotated):
        raise refusal("no_rope_layers", rotated, expected("ones_and_zeros", count=n_layers))
    kinds = layer_cycle(f, n_layers, *("chunked" if one and chunk else "full" for one in rotated))
    step = f.count("interleave_moe_layer_step", default=1, high=MAX_LAYERS)
    f.only("moe_layers", list(range(step - 1, n_layers, step)), None, default=None)
    moe = MoeSpec(
        n_experts=f.count("num_local_experts"),
        top_k=f.count("num_experts_per_tok"),
        shared_experts=1,
        expert_ffn=f.count("intermediate_size"),
        dense_ffn=f.count("intermediate_size_mlp") if step > 1 else None,
        router="sigmoid",
        moe_every=step,
    )
    position = rope(f, sizes["head_dim"], layout="interleaved")
    return finish(
        f,
        **sizes,
        bias="attention" if f.flag("attention_bias", default=False) else "none",
        tied_embeddings=tied(f, False),
        attention=attention(f, sizes, kinds, chunk=chunk if "chunked" in kinds else None),
        norm=rms_norm(f, qk="l2" if f.flag("use_qk_norm", default=True) else "none"),
        ffn=gated_ffn(f),
        position=position,
        moe=checked_moe(f, moe),
    )
