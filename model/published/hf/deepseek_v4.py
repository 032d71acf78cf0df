"""DeepSeek-V4: a sliding window in every layer, and compressed entries beside it in most (CSA, HCA).

Shapes as in transformers 5.23, models/deepseek_v4; sections are those of the DeepSeek-V4 report.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ..expected import expected
from ..spec import AttentionSpec, CompressedSpec, ExtraWeights, IndexerSpec, MoeSpec, PositionSpec
from .attention import rope, turned
from .fields import MAX_LAYERS, Fields, refusal
from .layers import layers_of
from .shape import Shape, checked_moe, finish, gated_ffn, rms_norm
from .sizes import tied

# What transformers' class takes for what a file leaves out.
DEFAULTS = MappingProxyType({"compress_rope_theta": 160_000.0})
SPARSE, HEAVY = "compressed_sparse_attention", "heavily_compressed_attention"
KINDS: Mapping[str, str] = MappingProxyType({"sliding_attention": "sliding", SPARSE: "csa", HEAVY: "hca"})
# compress_ratios in the vendor's files, by layer; transformers takes the words for the same, rates apart.
RATIOS: Mapping[int, str] = MappingProxyType({0: "sliding", 4: "csa", 128: "hca"})
RATES: Mapping[str, int] = MappingProxyType({SPARSE: 4, HEAVY: 128})

SCORES = ("sqrtsoftplus", "softmax", "sigmoid")


def deepseek_v4(f: Fields) -> Shape:
    """One K/V head, whose K is V as well; experts in every layer, chosen by a table of tokens in the first ones."""
    n_layers, d = f.count("num_hidden_layers", high=MAX_LAYERS), f.count("hidden_size")
    n_heads, width = f.count("num_attention_heads"), f.count("head_dim")
    f.only("num_key_value_heads", 1, default=1)
    for name in ("attention_bias", "mlp_bias"):
        f.only(name, False, default=False)
    window = f.count("sliding_window")
    if window < 2:
        raise refusal("sliding_window", window, expected("window_size", kind="sliding"))
    compressed = _compressed(f, _kinds(f, n_layers))
    ahead = f.get("num_nextn_predict_layers")  # transformers does not load these layers, and they are not counted
    if ahead is not None and (isinstance(ahead, bool) or not isinstance(ahead, int) or ahead < 0):
        raise refusal("num_nextn_predict_layers", ahead, expected("whole_from", low=0))
    moe, scored = _moe(f, n_layers)
    return finish(
        f,
        n_layers=n_layers,
        d_model=d,
        n_heads=n_heads,
        n_kv_heads=1,
        head_dim=width,
        ffn_hidden=moe.expert_ffn,
        vocab_size=f.count("vocab_size"),
        max_context=f.count("max_position_embeddings"),
        tied_embeddings=tied(f, False),
        attention=AttentionSpec("MQA", ("sliding",), window, sinks=True, k_is_v=True),
        compressed=compressed,
        extra=(*_attention(f, n_layers, d, n_heads, width), *_compressors(f, d, compressed), *_streams(f, n_layers, d))
        + ((ExtraWeights("router", (moe.n_experts,), scored, "vector"),) if scored else ()),
        moe=moe,
        norm=rms_norm(f, "pre (+ RMSNorm on q's latent and on the K/V head)"),
        ffn=gated_ffn(f),
        position=turned(f, lambda strict: _position(strict, width)),
    )


def _kinds(f: Fields, n_layers: int) -> tuple[str, ...]:
    """Each layer's kind: as layer_types lists them, else compress_ratios (which may go on with the MTP layers), else as
    transformers' class does."""
    ratios, words = f.get("compress_ratios"), f.strings("layer_types", n_layers)
    if words is not None:
        for word in words:
            if word not in KINDS:
                raise refusal("layer_types", word, expected("each_one_of", names=", ".join(KINDS)))
        return tuple(KINDS[word] for word in words)
    if ratios is not None:
        whole = isinstance(ratios, list) and all(isinstance(r, int) and not isinstance(r, bool) for r in ratios)
        if not whole or len(ratios) < n_layers or not set(ratios) <= set(RATIOS):
            names = ", ".join(map(str, RATIOS))
            raise refusal("compress_ratios", ratios, expected("one_of_a_layer", count=n_layers, names=names))
        return tuple(RATIOS[ratio] for ratio in ratios[:n_layers])
    f.assumed["layer_types"] = f"2 × {HEAVY}, then it and {SPARSE} by turns"
    return tuple("csa" if i >= 2 and i % 2 else "hca" for i in range(n_layers))


def _compressed(f: Fields, kinds: tuple[str, ...]) -> tuple[CompressedSpec, ...]:
    given = f.get("compress_rates", default=RATES)
    if not isinstance(given, Mapping):
        raise refusal("compress_rates", given, expected("object"))
    rates = f.inner(given, "compress_rates", RATES)
    sparse, heavy = (
        f.count(old, default=None) or rates.count(name)
        for name, old in ((SPARSE, "compress_rate_csa"), (HEAVY, "compress_rate_hca"))
    )
    if heavy % sparse:
        raise refusal(rates.path + HEAVY, heavy, expected("multiple", name=SPARSE, value=sparse))
    indexer = IndexerSpec(f.count("index_n_heads"), f.count("index_head_dim"), f.count("index_topk"))
    branches = (
        CompressedSpec("csa", sparse, layers_of(kinds, "csa"), overlap=True, indexer=indexer),
        CompressedSpec("hca", heavy, layers_of(kinds, "hca")),
    )
    return tuple(branch for branch in branches if branch.layers)


def _moe(f: Fields, n_layers: int) -> tuple[MoeSpec, tuple[int, ...]]:
    """The experts, and the layers whose router adds a bias; the others look their experts up by token."""
    words = f.strings("mlp_layer_types", n_layers)
    for word in words or ():
        if word not in ("hash_moe", "moe"):
            raise refusal("mlp_layer_types", word, expected("each_one_of", names="hash_moe, moe"))
    looked_up = f.get("num_hash_layers", default=3)
    if isinstance(looked_up, bool) or not isinstance(looked_up, int) or looked_up < 0:
        raise refusal("num_hash_layers", looked_up, expected("whole_from", low=0))
    by_score = [word == "moe" for word in words] if words else [i >= looked_up for i in range(n_layers)]
    f.only("n_shared_experts", 1, default=1)
    moe = MoeSpec(
        n_experts=f.count("n_routed_experts", "num_local_experts"),
        top_k=f.count("num_experts_per_tok"),
        shared_experts=1,
        expert_ffn=f.count("moe_intermediate_size"),
        router=f"{f.word('scoring_func', among=SCORES, default=SCORES[0])}, with a bias for selection only; "
        "the first layers choose by token",
        routed_scaling=None if f.get("routed_scaling_factor") is None else f.number("routed_scaling_factor"),
    )
    return checked_moe(f, moe), tuple(i for i, scored in enumerate(by_score) if scored)


def _attention(f: Fields, n_layers: int, d: int, heads: int, width: int) -> tuple[ExtraWeights, ...]:
    """Queries through a latent, one K/V head, and an output projected in groups of heads (section 2.3.1)."""
    rank, groups, out = f.count("q_lora_rank"), f.count("o_groups"), f.count("o_lora_rank")
    if heads % groups:
        raise refusal("o_groups", groups, expected("divisor_of_heads", value=heads))
    every = tuple(range(n_layers))
    return (
        ExtraWeights("attention.latents", (d, rank + width), every),
        ExtraWeights("attention.heads", (rank, heads, width), every, units=heads),
        ExtraWeights("attention.groups", (heads * width, out), every, units=groups),
        ExtraWeights("attention.out", (groups, out, d), every, units=groups),
        ExtraWeights("norms.latents", (rank + width,), every, "vector"),
    )


def _compressors(f: Fields, d: int, compressed: tuple[CompressedSpec, ...]) -> tuple[ExtraWeights, ...]:
    """Value and gate of each token, a bias by its place in the entry, a norm; the indexer's own and its queries."""
    width, weights = f.count("head_dim"), []
    for branch in compressed:
        series = 2 if branch.overlap else 1
        widths = (width, branch.indexer.head_dim) if branch.indexer else (width,)
        for label, each in zip(("compressor", "indexer"), widths, strict=False):
            weights.append(ExtraWeights(label, (2, d, series * each), branch.layers))
            weights.append(
                ExtraWeights(f"norms.{label}", (branch.rate * series * each + each,), branch.layers, "vector")
            )
        if branch.indexer:
            queries = f.count("q_lora_rank") * branch.indexer.head_dim + d
            weights.append(ExtraWeights("indexer", (branch.indexer.n_heads, queries), branch.layers))
    return tuple(weights)


def _streams(f: Fields, n_layers: int, d: int) -> tuple[ExtraWeights, ...]:
    """Hyper-connections (section 2.2): the residual is `hc_mult` streams, mixed twice a layer and joined at the end."""
    streams = f.count("hc_mult", high=1000)
    mixed = (2 + streams) * streams
    return (
        ExtraWeights("streams", (2, mixed * (streams * d + 1) + 3), tuple(range(n_layers)), "vector"),
        ExtraWeights("streams", (streams * (streams * d + 1) + 1,), (), "vector"),
    )


def _position(f: Fields, width: int) -> PositionSpec:
    """RoPE on the last `qk_rope_head_dim` of a head; layers that compress have a base and a scaling of their own."""
    share = f.get("partial_rotary_factor", default=64 / 512)
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
        raise refusal("partial_rotary_factor", share, expected("share"))
    rotated = f.count("qk_rope_head_dim", default=max(1, int(width * share)))
    f.only("qk_nope_head_dim", width - rotated, default=width - rotated)
    if rotated > width:
        raise refusal("qk_rope_head_dim", rotated, expected("at_most", name="head_dim", value=width))
    name = "rope_parameters" if f.raw.get("rope_parameters") is not None else "rope_scaling"
    given: Any = f.get("rope_parameters", "rope_scaling", default={})
    if not isinstance(given, Mapping):
        raise refusal(name, given, expected("object"))
    inner = given.get("compress")
    scaling = {
        k: v for k, v in (inner if isinstance(inner, Mapping) else given).items() if k != "partial_rotary_factor"
    }
    main = given.get("main")
    local = main.get("rope_theta") if isinstance(main, Mapping) else None
    if not isinstance(inner, Mapping):  # the file's own rope_theta is that of the other layers
        scaling["rope_theta"] = f.number("compress_rope_theta")
    context = {"max_position_embeddings": f.raw.get("max_position_embeddings")}
    found = rope(Fields({name: scaling, **context}), rotated, layout="interleaved")
    own = (
        Fields({"rope_theta": local}).number("rope_theta") if local is not None else f.number("rope_theta", default=1e4)
    )
    note = "theta and scaling are those of layers that compress; the others use local_theta, unscaled."
    return PositionSpec("rope", found.theta, own, rotated, "interleaved", found.scaling, note=note)
