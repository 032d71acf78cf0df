"""DeepSeek's files: fine-grained experts beside shared ones (V1), MLA (V2, V3) and its indexer (V3.2, GLM-5)."""

from types import MappingProxyType

from ..expected import expected
from ..spec import AttentionSpec, IndexerSpec, MoeSpec
from .attention import rope
from .fields import MAX_LAYERS, Fields, refusal
from .llama_like import llama
from .shape import Shape, checked_moe, finish, gated_ffn, rms_norm
from .sizes import latent, routed, tied

INDEXED = ("deepseek_v32", "glm_moe_dsa")
GLM5_DEFAULTS = MappingProxyType({"first_k_dense_replace": 3})


def deepseek_v1(f: Fields) -> Shape:
    """DeepSeekMoE: LLaMA's attention, fine-grained experts beside shared ones."""
    return llama(f, moe=deepseek_moe(f, ""))


def deepseek_mla(f: Fields) -> Shape:
    """DeepSeek V2, V3, V3.2: MLA; GLM-5, which is V3.2's, too."""
    kind = f.raw["model_type"]
    sizes, mla = latent(f)
    indexer = None
    if kind in INDEXED:
        indexer = IndexerSpec(f.count("index_n_heads"), f.count("index_head_dim"), f.count("index_topk"))
        f.strings("layer_types", sizes.n_layers)
        _every_layer_indexes(f, sizes.n_layers)
    biased = kind != "deepseek_v2"
    f.only("attention_bias", False, default=False)
    f.only("mlp_bias", False, default=False)
    moe = deepseek_moe(f, "sigmoid, with a bias for selection only" if biased else "softmax")
    return finish(
        f,
        **vars(sizes),
        tied_embeddings=tied(f, False),
        attention=AttentionSpec("MLA"),
        mla=mla,
        indexer=indexer,
        moe=moe,
        mtp_layers=f.maybe_count("num_nextn_predict_layers", high=MAX_LAYERS) or 0,
        norm=rms_norm(f, "pre (+ RMSNorm on the q and kv latents)"),
        ffn=gated_ffn(f),
        position=rope(f, mla.qk_rope_head_dim, layout="interleaved"),
    )


def _every_layer_indexes(f: Fields, n_layers: int) -> None:
    """Refuses layers that take over what an earlier one's indexer chose (GLM-5.2): they cache no key of their own."""
    f.only("index_topk_freq", 1, None, default=None)
    f.only("index_topk_pattern", None, "F" * n_layers, default=None)
    f.get("index_skip_topk_offset", "indexer_rope_interleave")
    f.only("indexer_types", None, ["full"] * n_layers, default=None)


def deepseek_moe(f: Fields, router: str) -> MoeSpec | None:
    """The first first_k_dense_replace layers are dense. transformers 5 writes V3.2's as mlp_layer_types instead."""
    sparse = f.maybe_count("n_routed_experts") is not None
    f.only("moe_layer_freq", 1, None, default=None)
    shared = f.maybe_count("n_shared_experts")
    if not sparse:
        return None
    dense = f.get("first_k_dense_replace", default=0)
    if kinds := f.strings("mlp_layer_types", f.count("num_hidden_layers", high=MAX_LAYERS)):
        dense = kinds.index("sparse") if "sparse" in kinds else len(kinds)
        if kinds != ["dense"] * dense + ["sparse"] * (len(kinds) - dense):
            raise refusal("mlp_layer_types", kinds, expected("dense_first"))
    if not isinstance(dense, int) or isinstance(dense, bool) or dense < 0:
        raise refusal("first_k_dense_replace", dense, expected("whole_from", low=0))
    moe = MoeSpec(
        *routed(f, "n_routed_experts"),
        shared_experts=shared or 0,
        expert_ffn=f.count("moe_intermediate_size"),
        first_dense_layers=dense,
        dense_ffn=f.count("intermediate_size"),
        router=router,
        router_bias=router.startswith("sigmoid"),
        n_group=f.maybe_count("n_group"),
        topk_group=f.maybe_count("topk_group"),
        routed_scaling=None if f.get("routed_scaling_factor") is None else f.number("routed_scaling_factor"),
    )
    return checked_moe(f, moe)
