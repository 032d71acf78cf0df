"""Families with experts in LLaMA's frame: gpt-oss, GLM-4.5, MiniMax-M2, ERNIE 4.5, Phi-3.5-MoE, OLMoE, DBRX."""

from dataclasses import replace

from ..expected import expected
from ..spec import MoeSpec, NormSpec
from .attention import attention, rope
from .deepseek import deepseek_moe
from .dense import dense, with_attention_bias
from .fields import MAX_LAYERS, Fields, missing, refusal
from .shape import GATED, Shape, checked_moe, finish, gated_ffn, head_width, kv_heads, rms_norm


def _routed(f: Fields, router: str, *names: str, bias: bool = False) -> MoeSpec:
    """Experts in every layer, as wide as intermediate_size; `names` are those of their number."""
    moe = MoeSpec(
        n_experts=f.count(*names),
        top_k=f.count("num_experts_per_tok", "experts_per_token"),
        shared_experts=0,
        expert_ffn=f.count("intermediate_size"),
        router=router,
        router_bias=bias,
    )
    return checked_moe(f, moe)


def gpt_oss(f: Fields) -> Shape:
    """Sliding and full layers by turns, the first one sliding; a learned sink a head; biases everywhere, also on the
    experts and the router."""
    f.only("attention_bias", True, default=True)
    moe, window = (
        _routed(f, "softmax over the chosen", "num_local_experts", "num_experts", bias=True),
        f.count("sliding_window"),
    )
    shape = dense(f, rms_norm(f), "all", cycle=("sliding", "full"), window=window, moe=moe)
    shape.spec["attention"] = replace(shape.spec["attention"], sinks=True)
    return shape


def glm4_moe(f: Fields) -> Shape:
    """GLM-4.5 to 4.7: DeepSeek-V3's experts on grouped-query attention."""
    qk = "rms_per_head" if f.flag("use_qk_norm", default=False) else "none"
    moe = deepseek_moe(f, "sigmoid, with a bias for selection only")
    if moe is None:
        raise missing("n_routed_experts", expected("whole_from", low=1))
    mtp = f.maybe_count("num_nextn_predict_layers", "num_mtp_layers", high=MAX_LAYERS) or 0
    return dense(f, rms_norm(f, qk=qk), with_attention_bias(f, "qkv"), moe=moe, mtp_layers=mtp)


def minimax_m2(f: Fields) -> Shape:
    """RMSNorm over all heads of q and of k together; `rotary_dim` of each head is rotated."""
    f.only("use_qk_norm", True, default=True)
    f.only("qk_norm_type", "per_layer", default="per_layer")
    f.only("use_routing_bias", True, default=True)
    f.only("shared_intermediate_size", 0, default=0)
    n_layers = f.count("num_hidden_layers", high=MAX_LAYERS)
    f.only("attn_type_list", [1] * n_layers, None, default=None)  # 0 marks MiniMax-01's lightning attention
    moe = _routed(f, "sigmoid, with a bias for selection only", "num_local_experts", "num_experts", bias=True)
    modules, each = (f.maybe_count(name) or 0 for name in ("num_mtp_modules", "mtp_transformer_layers"))
    mtp = modules * each if f.flag("use_mtp", default=False) else 0
    if mtp > MAX_LAYERS:
        raise refusal("num_mtp_modules", modules, expected("whole", low=0, high=MAX_LAYERS // each))
    bias, rotated = with_attention_bias(f), f.maybe_count("rotary_dim")
    shape = dense(f, rms_norm(f, qk="rms_whole"), bias, moe=moe, mtp_layers=mtp)
    if rotated:
        shape.spec["position"] = replace(shape.spec["position"], rotary_dim=rotated)
    return shape


def ernie_moe(f: Fields) -> Shape:
    """Experts from layer moe_layer_start_index on, in every moe_layer_interval-th; layers before it are dense."""
    n_layers, width = f.count("num_hidden_layers", high=MAX_LAYERS), f.count("moe_intermediate_size")
    f.only("moe_layer_end_index", -1, n_layers - 1, default=-1)
    f.get("num_nextn_predict_layers")  # one draft layer of its own shape, which transformers does not load
    start = f.get("moe_layer_start_index", default=1)
    if not isinstance(start, int) or isinstance(start, bool) or start < 0:
        raise refusal("moe_layer_start_index", start, expected("whole_from", low=0))
    moe = MoeSpec(
        n_experts=f.count("moe_num_experts", "num_experts"),
        top_k=f.count("moe_k", "num_experts_per_tok"),
        shared_experts=f.maybe_count("moe_num_shared_experts") or 0,
        expert_ffn=width,
        first_dense_layers=start,
        dense_ffn=f.count("intermediate_size"),
        router="softmax, with a bias for selection only",
        router_bias=True,
        moe_every=f.count("moe_layer_interval", default=1, high=MAX_LAYERS),
    )
    f.only("use_bias", False, default=False)
    return dense(f, rms_norm(f), tie=True, layout="interleaved", moe=checked_moe(f, moe))


def phimoe(f: Fields) -> Shape:
    """Phi-3.5-MoE: LayerNorms, a window where one is given, and a bias on the logits with lm_head_bias."""
    window, moe = f.maybe_count("sliding_window"), _routed(f, "SparseMixer", "num_local_experts", "num_experts")
    norm = NormSpec("LayerNorm", "pre", f.number("rms_norm_eps", default=1e-5))
    bias, last = with_attention_bias(f), f.flag("lm_head_bias", default=False)
    cycle = ("sliding",) if window else ("full",)
    return dense(f, norm, bias, cycle=cycle, window=window, moe=moe, unembedding_bias=last)


def olmoe(f: Fields) -> Shape:
    moe = _routed(f, "softmax", "num_experts", "num_local_experts")
    return dense(f, rms_norm(f, qk="rms_whole"), with_attention_bias(f), moe=moe)


def dbrx(f: Fields) -> Shape:
    """Sizes under attn_config and ffn_config; LayerNorms without a shift."""
    own, ffn = f.part("attn_config"), f.part("ffn_config")
    d_model, n_heads = f.count("d_model", "hidden_size"), f.count("n_heads", "num_attention_heads")
    n_kv = kv_heads(own, n_heads, "kv_n_heads")
    f.only("num_key_value_heads", n_kv, None, default=None)  # transformers writes it a second time
    f.only("tie_word_embeddings", False, default=False)
    act = ffn.get("ffn_act_fn", default={"name": "silu"})
    if not isinstance(act, dict) or act.get("name") not in GATED:
        raise refusal("ffn_config.ffn_act_fn", act, expected("object"))
    width = ffn.count("ffn_hidden_size")
    moe = MoeSpec(ffn.count("moe_num_experts"), ffn.count("moe_top_k"), 0, width, router="softmax")
    sizes = {
        "n_layers": f.count("n_layers", "num_hidden_layers", high=MAX_LAYERS),
        "d_model": d_model,
        "n_heads": n_heads,
        "n_kv_heads": n_kv,
        "head_dim": head_width(d_model, n_heads, "n_heads"),
        "ffn_hidden": width,
        "vocab_size": f.count("vocab_size"),
        "max_context": f.count("max_seq_len", "max_position_embeddings"),
    }
    position = rope(own if own.get("rope_theta") is not None else f, sizes["head_dim"])
    own.refuse_unread()
    ffn.refuse_unread()
    return finish(
        f,
        **sizes,
        tied_embeddings=False,
        attention=attention(f, sizes),
        norm=NormSpec("LayerNorm", "pre, without a shift", 1e-5, vectors=1),
        ffn=replace(gated_ffn(Fields({"hidden_act": act["name"]}))),
        position=position,
        moe=checked_moe(f, moe),
    )
