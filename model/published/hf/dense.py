"""Dense families of LLaMA's kind: what each does differently with norms, biases, windows and RoPE."""

from typing import Any

from ..expected import expected
from ..spec import Bias, FfnSpec, NormSpec, PositionSpec
from .attention import attention, layer_cycle, rope
from .fields import MAX_LAYERS, Fields, refusal
from .shape import PLAIN, Shape, finish, gated_ffn, llama_sizes, rms_norm
from .sizes import tied


def dense(
    f: Fields,
    norm: NormSpec,
    bias: Bias = "none",
    tie: bool = False,
    ffn: FfnSpec | None = None,
    cycle: tuple[str, ...] = ("full",),
    window: int | None = None,
    layout: Any = "half",
    position: PositionSpec | None = None,
    limits: tuple[str, ...] = ("max_position_embeddings",),
    **more: Any,
) -> Shape:
    """LLaMA's names for the sizes, and what differs. `cycle` is what the layers are where layer_types says nothing,
    `limits` are names for the longest context; RoPE where no `position` is given."""
    sizes = llama_sizes(f, *limits)
    kinds = layer_cycle(f, sizes["n_layers"], *cycle)
    return finish(
        f,
        **sizes,
        **more,
        bias=bias,
        tied_embeddings=tied(f, tie),
        attention=attention(f, sizes, kinds, window if "sliding" in kinds else None),
        norm=norm,
        ffn=ffn or gated_ffn(f),
        position=position or rope(f, sizes["head_dim"], layout=layout),
    )


def with_attention_bias(f: Fields, kind: Bias = "attention", default: bool = False) -> Bias:
    return kind if f.flag("attention_bias", default=default) else "none"


def every(pattern: int) -> tuple[str, ...]:
    """Full attention in every `pattern`-th layer, sliding in those before it."""
    return ("sliding",) * (pattern - 1) + ("full",)


def windowed(f: Fields) -> Shape:
    """Phi-3 and Ministral 3: LLaMA without biases, each layer with the window that is given, if any."""
    window = f.maybe_count("sliding_window")
    return dense(f, rms_norm(f), cycle=("sliding",) if window else ("full",), window=window)


def phi(f: Fields) -> Shape:
    """Attention and feed-forward block read one LayerNorm's output; even the logits have a bias."""
    f.only("qk_layernorm", False, default=False)
    norm = NormSpec("LayerNorm", "pre, parallel attention+MLP sharing one LayerNorm", _eps(f, "layer_norm_eps"), 1)
    ffn = FfnSpec(PLAIN[f.word("hidden_act", among=tuple(PLAIN), default="gelu_new")], gated=False, parallel=True)
    return dense(f, norm, "all", ffn=ffn, unembedding_bias=True)


def olmo(f: Fields) -> Shape:
    """Its LayerNorms learn nothing."""
    return dense(f, NormSpec("LayerNorm", "pre, without weights", 1e-5, vectors=0), with_attention_bias(f))


def olmo2(f: Fields) -> Shape:
    """Norms after attention and feed-forward block, and one over all heads of q and of k together."""
    return dense(f, _after(f, "rms_whole"), with_attention_bias(f))


def olmo3(f: Fields) -> Shape:
    """As OLMo 2, with three sliding layers before each full one."""
    cycle, window = every(4), f.count("sliding_window")
    return dense(f, _after(f, "rms_whole"), with_attention_bias(f), cycle=cycle, window=window)


def _after(f: Fields, qk: Any) -> NormSpec:
    return rms_norm(f, "post (after attention and MLP)", qk=qk)


def smollm3(f: Fields) -> Shape:
    """Every fourth layer has no RoPE (no_rope_layers); with use_sliding_window it slides, too."""
    n_layers, window = f.count("num_hidden_layers", high=MAX_LAYERS), f.maybe_count("sliding_window")
    interval = f.count("no_rope_layer_interval", default=4, high=MAX_LAYERS)
    rotated = f.get("no_rope_layers") or [int((i + 1) % interval != 0) for i in range(n_layers)]
    if not isinstance(rotated, list) or len(rotated) != n_layers or not all(one in (0, 1) for one in rotated):
        raise refusal("no_rope_layers", rotated, expected("ones_and_zeros", count=n_layers))
    slides = f.flag("use_sliding_window", default=False) and window is not None
    cycle = tuple("sliding" if slides and not one else "full" for one in rotated)
    f.only("mlp_bias", False, default=False)
    return dense(f, rms_norm(f), with_attention_bias(f), tie=True, cycle=cycle, window=window)


def cohere(f: Fields) -> Shape:
    """Command R: attention and feed-forward block read one LayerNorm without a shift; RoPE is interleaved."""
    qk = "layer_per_head" if f.flag("use_qk_norm", default=False) else "none"
    return dense(f, _cohere_norm(f, qk), with_attention_bias(f), True, _parallel(f), layout="interleaved")


def cohere2(f: Fields) -> Shape:
    """Command R7B and A: three sliding layers with RoPE before each full one, which has none."""
    cycle = every(f.count("sliding_window_pattern", "_sliding_window_pattern", default=4, high=MAX_LAYERS))
    window, bias = f.count("sliding_window"), with_attention_bias(f)
    return dense(f, _cohere_norm(f), bias, True, _parallel(f), cycle, window, "interleaved")


def _cohere_norm(f: Fields, qk: Any = "none") -> NormSpec:
    placement = "pre, parallel attention+MLP sharing one LayerNorm"
    return NormSpec("LayerNorm", placement, _eps(f, "layer_norm_eps"), 1, qk=qk, vectors=1)


def _parallel(f: Fields) -> FfnSpec:
    return FfnSpec(gated_ffn(f).activation, gated=True, parallel=True)


def _eps(f: Fields, name: str) -> float:
    return f.number(name, default=1e-5)


def starcoder2(f: Fields) -> Shape:
    f.only("mlp_type", "default", default="default")
    f.only("norm_type", "layer_norm", default="layer_norm")
    ffn = FfnSpec(PLAIN[f.word("hidden_act", among=tuple(PLAIN), default="gelu_pytorch_tanh")], gated=False)
    bias: Bias = "all" if f.flag("use_bias", default=True) else "none"
    window, norm = f.maybe_count("sliding_window"), NormSpec("LayerNorm", "pre", _eps(f, "norm_epsilon"))
    return dense(f, norm, bias, True, ffn, ("sliding",) if window else ("full",), window)


def glm(f: Fields) -> Shape:
    """GLM-4 9B in transformers' own form: half of each head is rotated, interleaved."""
    return dense(f, rms_norm(f), with_attention_bias(f, "qkv", True), layout="interleaved")


def glm4(f: Fields) -> Shape:
    """GLM-4-0414: as GLM-4, with a norm after each block, too."""
    norm = rms_norm(f, "pre + post (sandwich: 4 RMSNorms per layer)", per_layer=4)
    return dense(f, norm, with_attention_bias(f, "qkv", True), layout="interleaved")


def seed_oss(f: Fields) -> Shape:
    bias: Bias = with_attention_bias(f, "qkv", True)
    f.only("mlp_bias", False, default=False)
    if f.flag("attention_out_bias", default=False):
        if bias == "none":
            f.fault(refusal("attention_out_bias", True, expected("false_or_attention_bias")))
        bias = "attention"
    return dense(f, rms_norm(f), bias)


def exaone4(f: Fields) -> Shape:
    """Sliding layers by sliding_window_pattern: a number, or letters such as "LLLG" (the last layer is full)."""
    n_layers, window = f.count("num_hidden_layers", high=MAX_LAYERS), f.maybe_count("sliding_window")
    pattern = f.get("sliding_window_pattern", default=4)
    if not window:
        cycle: tuple[str, ...] = ("full",)
    elif isinstance(pattern, str) and pattern and set(pattern) <= {"L", "G"}:
        kinds = [{"L": "sliding", "G": "full"}[pattern[i % len(pattern)]] for i in range(n_layers)]
        cycle = (*kinds[:-1], "full")
    else:
        cycle = every(f.count("sliding_window_pattern", default=4, high=MAX_LAYERS))
    return dense(f, _after(f, "rms_per_head"), cycle=cycle, window=window)


def ernie(f: Fields) -> Shape:
    bias: Bias = "all" if f.flag("use_bias", default=False) else "none"
    return dense(f, rms_norm(f), bias, True, layout="interleaved")


def internlm2(f: Fields) -> Shape:
    """modeling_internlm2.py: `bias` is that of wqkv and wo."""
    return dense(f, rms_norm(f), "attention" if f.flag("bias", default=False) else "none")


def internlm3(f: Fields) -> Shape:
    """modeling_internlm3.py: `qkv_bias` is that of q, k and v, `bias` that of the output and the feed-forward block."""
    qkv, rest = (f.flag(*names, default=False) for names in (("qkv_bias", "attention_bias"), ("bias", "mlp_bias")))
    if rest and not qkv:
        f.fault(refusal("bias", True, expected("false_or_attention_bias")))
    return dense(f, rms_norm(f), "all" if rest else "qkv" if qkv else "none")


def baichuan(f: Fields) -> Shape:
    """Baichuan 1 and 2: the 7B rotates and states max_position_embeddings; the 13B uses ALiBi and states
    model_max_length alone (modeling_baichuan.py of each)."""
    rotates = f.get("max_position_embeddings") is not None
    position = None if rotates else PositionSpec("alibi")
    return dense(f, rms_norm(f), position=position, limits=("max_position_embeddings", "model_max_length"))
