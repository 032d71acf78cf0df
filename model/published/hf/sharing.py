"""Models whose layers share K and V: Gemma 3n and 4 (the last layers read earlier ones'), Hunyuan (every other one)."""

from types import MappingProxyType
from typing import Any

from ..expected import expected
from ..spec import ExtraWeights, FfnSpec, FullHeads, MoeSpec, PositionSpec
from .attention import attention, layer_cycle, rope, turned
from .class_heads import text_part
from .fields import Fields, UnreadFieldError, refusal
from .llama_like import outer
from .shape import GATED, Shape, checked_moe, finish, gated_ffn, llama_sizes, rms_norm
from .sizes import tied

# What transformers' text classes take for what a file leaves out.
GEMMA3N_DEFAULTS = MappingProxyType(
    {"vocab_size": 262_400, "hidden_size": 2048, "intermediate_size": 16_384, "num_hidden_layers": 35}
    | {"num_attention_heads": 8, "max_position_embeddings": 32_768}
    | {"sliding_window": 512, "num_kv_shared_layers": 15, "laurel_rank": 64, "altup_num_inputs": 4}
    | {"vocab_size_per_layer_input": 262_144, "hidden_size_per_layer_input": 256}
)
GEMMA4_DEFAULTS = MappingProxyType(
    {"vocab_size": 262_144, "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 30}
    | {"num_attention_heads": 8, "max_position_embeddings": 131_072}
    | {"sliding_window": 512, "vocab_size_per_layer_input": 262_144, "hidden_size_per_layer_input": 256}
    | {"global_head_dim": 512}
)

MOST_WIDTHS = 100  # Gemma 3n has two; each makes a product of its own in the sum of the weights


def gemma3n_text(f: Fields) -> Shape:
    """Every fifth layer attends to all; per-layer embeddings, AltUp and LAuReL beside the blocks."""
    widths, hidden = _widths(f)
    sizes = _sizes(f, hidden)
    n_layers = sizes["n_layers"]
    kinds = layer_cycle(f, n_layers, "sliding", "sliding", "sliding", "sliding", "full")
    shared = _shared(f, n_layers, kinds)
    return finish(
        f,
        **sizes,
        ffn_widths=widths,
        kv_shared_layers=shared,
        **_gemma(f, sizes, kinds, None),
        extra=(*_altup(f, sizes), *_per_layer(f, sizes, f.count("hidden_size_per_layer_input"))),
        position=rope(f, sizes["head_dim"], local=True),
    )


def gemma4_text(f: Fields) -> Shape:
    """Every sixth layer attends to all, with K/V heads of its own, whose K may serve as V; experts beside the
    feed-forward block in some sizes."""
    sizes = _sizes(f, f.count("intermediate_size"))
    n_layers = sizes["n_layers"]
    kinds = layer_cycle(f, n_layers, "sliding", "sliding", "sliding", "sliding", "sliding", "full")
    layers = [kinds[i % len(kinds)] for i in range(n_layers)]
    if layers[-1] != "full":  # transformers makes it so, whatever the file says
        raise refusal(f"{f.path}layer_types", layers[-1], expected("exactly", value="full_attention in the last layer"))
    f.only("use_bidirectional_attention", None, "vision", default=None)
    shared = _shared(f, n_layers, kinds)
    full, moe = _full_heads(f, sizes, layers), _gemma_moe(f, sizes["ffn_hidden"])
    widths = None
    if f.flag("use_double_wide_mlp", default=False) and shared:
        if moe:
            raise refusal(f"{f.path}use_double_wide_mlp", True, expected("exactly", value="False"))
        hidden = sizes["ffn_hidden"]
        widths = (hidden,) * (n_layers - shared) + (2 * hidden,) * shared
    each = f.maybe_count("hidden_size_per_layer_input")
    f.get("vocab_size_per_layer_input")  # the class writes it where there are no such embeddings too
    extra = [*(_per_layer(f, sizes, each) if each else ())]
    if moe:
        vectors = 4 * sizes["d_model"] + moe.n_experts
        extra.append(ExtraWeights("norms.experts", (vectors,), tuple(range(n_layers)), "vector"))
    return finish(
        f,
        **sizes,
        ffn_widths=widths,
        kv_shared_layers=shared,
        moe=moe,
        **_gemma(f, sizes, kinds, full if "full" in kinds else None),
        extra=tuple(extra),
        position=turned(f, _gemma4_rope),
    )


def gemma_outer(f: Fields) -> Shape:
    """With vision and audio towers: the text model is under text_config."""
    kind = str(f.raw["model_type"])
    gemma3n = kind == "gemma3n"
    text = text_part(f, f"{kind}_text", defaults=GEMMA3N_DEFAULTS if gemma3n else GEMMA4_DEFAULTS)
    return outer(f, text, gemma3n_text(text) if gemma3n else gemma4_text(text))


def _sizes(f: Fields, hidden: int) -> dict[str, Any]:
    """LLaMA's names, but for a feed-forward width that may be a list."""
    raw = {**f.raw, "intermediate_size": hidden}
    inner = f.again(raw)
    sizes = llama_sizes(inner)
    f.assumed.update(inner.assumed)
    f.get("head_dim", "num_key_value_heads")
    return sizes


def _widths(f: Fields) -> tuple[tuple[int, ...] | None, int]:
    """The feed-forward widths, one a layer, where the file lists them; and the widest."""
    given = f.get("intermediate_size")
    if not isinstance(given, list):
        return None, f.count("intermediate_size")
    good = given and all(
        isinstance(width, int) and not isinstance(width, bool) and 0 < width < 10**9 for width in given
    )
    if not good or len(given) != f.count("num_hidden_layers"):
        raise refusal(f"{f.path}intermediate_size", given, expected("whole", low=1, high=10**9))
    if len(set(given)) > MOST_WIDTHS:
        raise refusal(f"{f.path}intermediate_size", given, expected("different_widths", value=MOST_WIDTHS))
    return (tuple(given) if len(set(given)) > 1 else None), max(given)


def _shared(f: Fields, n_layers: int, kinds: tuple[str, ...]) -> int:
    """How many of the last layers share K and V; each kind of layer must have one before them that keeps its own."""
    given = f.get("num_kv_shared_layers", default=0)
    layers = [kinds[i % len(kinds)] for i in range(n_layers)]
    good = isinstance(given, int) and not isinstance(given, bool) and 0 <= given < n_layers
    if not good or set(layers[: n_layers - given]) != set(layers):
        raise refusal(
            f"{f.path}num_kv_shared_layers", given, expected("whole", low=0, high=n_layers - len(set(layers)))
        )
    return given


def _gemma(f: Fields, sizes: dict[str, Any], kinds: tuple[str, ...], full: FullHeads | None) -> dict[str, Any]:
    """What Gemma 3n and 4 have in common."""
    window = f.maybe_count("sliding_window") if "sliding" in kinds else None
    f.get("sliding_window", "hidden_act")
    f.only("attention_bias", False, default=False)
    plain = attention(f, sizes, kinds, window)
    words = ("hidden_activation", "hidden_act")
    return {
        "tied_embeddings": tied(f, True),
        "attention": plain.__class__(plain.kind, plain.layer_cycle, window, full=full),
        "norm": rms_norm(f, "pre + post (sandwich)", per_layer=4, qk="rms_per_head"),
        "ffn": FfnSpec(GATED[f.word(*words, among=tuple(GATED), default="gelu_pytorch_tanh")], gated=True),
    }


def _per_layer(f: Fields, sizes: dict[str, Any], each: int) -> tuple[ExtraWeights, ...]:
    """Per-layer embeddings: a table of `each` numbers a layer, read by rows, and what brings them in."""
    n_layers, d, layers = sizes["n_layers"], sizes["d_model"], tuple(range(sizes["n_layers"]))
    return (
        ExtraWeights("embedding.layers", (f.count("vocab_size_per_layer_input"), n_layers, each), (), "table"),
        ExtraWeights("embedding.projection", (d, n_layers, each)),
        ExtraWeights("norms.embedding", (each,), (), "vector"),
        ExtraWeights("embedding.layer", (2, d, each), layers),
        ExtraWeights("norms.layer", (d,), layers, "vector"),
    )


def _altup(f: Fields, sizes: dict[str, Any]) -> tuple[ExtraWeights, ...]:
    """AltUp (arXiv 2301.13310) with its projections between streams, and LAuReL (arXiv 2411.07501)."""
    d, layers, streams, rank = sizes["d_model"], tuple(range(sizes["n_layers"])), *_altup_sizes(f)
    vectors = 2 * d + streams**2 + streams**3 + streams * d + d
    return (
        ExtraWeights("altup", (2, streams - 1, d, d)),
        ExtraWeights("altup.laurel", (2, d, rank), layers),
        ExtraWeights("norms.altup", (vectors,), layers, "vector"),
    )


def _altup_sizes(f: Fields) -> tuple[int, int]:
    return f.count("altup_num_inputs"), f.count("laurel_rank")


def _full_heads(f: Fields, sizes: dict[str, Any], layers: list[str]) -> FullHeads:
    """The full layers' K/V heads: as the vendor's fields say, or as transformers 5 writes them, layer by layer."""
    one = f.flag("attention_k_eq_v", default=False)
    heads = f.maybe_count("num_global_key_value_heads") if one else None
    f.get("num_global_key_value_heads")
    given = f.get("per_layer_config")
    if given is None:
        return FullHeads(heads or sizes["n_kv_heads"], f.count("global_head_dim"), one)
    name, full = f"{f.path}per_layer_config", {i for i, kind in enumerate(layers) if kind == "full"}
    same = isinstance(given, dict) and all(str(key).isdigit() and isinstance(of, dict) for key, of in given.items())
    if (
        not same
        or {int(key) for key in given} != full
        or any(of != next(iter(given.values())) for of in given.values())
    ):
        raise refusal(name, given, expected("object"))
    inner = f.inner(next(iter(given.values())), "per_layer_config")
    if others := set(inner.raw) - {"head_dim", "num_key_value_heads"}:
        first = min(map(str, others))
        raise UnreadFieldError(f"{name}.{first}", inner.raw.get(first))
    return FullHeads(
        inner.count("num_key_value_heads", default=sizes["n_kv_heads"]),
        inner.count("head_dim", default=sizes["head_dim"]),
        one,
    )


def _gemma_moe(f: Fields, hidden: int) -> MoeSpec | None:
    """Experts beside the feed-forward block, which so counts as a shared one; the class writes null without them."""
    names = ("num_experts", "top_k_experts", "moe_intermediate_size")
    if not f.flag("enable_moe_block", default=False):
        f.get(*names)
        return None
    experts, top_k, width = (f.count(name) for name in names)
    return checked_moe(f, MoeSpec(experts, top_k, 1, width, shared_ffn=hidden))


def _gemma4_rope(f: Fields) -> PositionSpec:
    """The bases of full and of sliding layers. Full layers turn a quarter of the head ("proportional")."""
    given = f.get("rope_parameters", default={})
    bases = []
    for kind, base in (("full_attention", 1_000_000.0), ("sliding_attention", 10_000.0)):
        part = given.get(kind) if isinstance(given, dict) else None
        if part is not None and not isinstance(part, dict):
            raise refusal(f"{f.path}rope_parameters.{kind}", part, expected("object"))
        bases.append(Fields(part or {}, f"{f.path}rope_parameters.{kind}.").number("rope_theta", default=base))
    return PositionSpec("rope", *bases)


def hunyuan(f: Fields) -> Shape:
    """Tencent's Hunyuan, dense or with experts; with use_cla, of every cla_share_factor layers the first alone makes K
    and V (vLLM's hunyuan_v1.py), and the others have no matrices for them."""
    hidden, routed = f.count("intermediate_size"), f.get("num_experts", default=1) not in (1, [1])
    sizes = llama_sizes(f)
    n_layers = sizes["n_layers"]
    f.only("attention_head_dim", sizes["head_dim"], None, default=None)
    f.get("cla_share_factor")  # stands in files without use_cla too, where it says nothing
    every = f.count("cla_share_factor", high=n_layers) if f.flag("use_cla", default=False) else 1
    f.only("mlp_bias", False, default=False)
    f.only("bias", False, default=False)
    # transformers' v1 classes always have these norms; the vendor's own code asks the file
    norms = f.flag("use_qk_norm", default="v1" in str(f.raw["model_type"]))
    return finish(
        f,
        **sizes,
        bias="attention" if f.flag("attention_bias", default=False) else "none",
        tied_embeddings=tied(f, False),
        attention=attention(f, sizes),
        kv_share_every=every,
        moe=_hunyuan_moe(f, n_layers, hidden) if routed else None,
        norm=rms_norm(f, qk="rms_per_head" if norms else "none"),
        ffn=gated_ffn(f),
        position=rope(f, sizes["head_dim"]),
    )


def _hunyuan_moe(f: Fields, n_layers: int, hidden: int) -> MoeSpec:
    """Its files state numbers a layer, all of them equal, or one number for all."""
    f.only("moe_layer_num_skipped", 0, None, default=None)
    f.only("moe_drop_tokens", False, True, default=False)
    mixed = f.flag("use_mixed_mlp_moe", default=True)
    shared = _same(f, "num_shared_expert", n_layers, 1) if mixed else 0
    f.get("num_shared_expert")
    moe = MoeSpec(
        n_experts=_same(f, "num_experts", n_layers, None),
        top_k=_same(f, "moe_topk", n_layers, None, "num_experts_per_tok"),
        shared_experts=1 if shared else 0,
        expert_ffn=_same(f, "moe_intermediate_size", n_layers, hidden),
        shared_ffn=hidden * shared if shared else None,
    )
    return checked_moe(f, moe)


def _same(f: Fields, name: str, n_layers: int, default: int | None, *others: str) -> int:
    """One number for all layers, or a list of `n_layers` equal ones."""
    given = f.get(name, *others, default=default)
    if isinstance(given, list):
        if len(given) != n_layers or any(one != given[0] for one in given):
            raise refusal(f.path + name, given, expected("equal_a_layer", count=n_layers))
        return f.again({name: given[0]}).count(name)
    return f.count(name, *others) if default is None else f.count(name, *others, default=default)
