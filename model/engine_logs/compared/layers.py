"""What one rank keeps of a token in one layer of each kind, in any format, K and V apart; and what a state takes."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ...kv_math import KvOptions, kv_breakdown
from ...kv_math.formats import FORMATS, KvFormat, kv_format
from ...kv_math.options import Layout, StateFormat, check, own_layers
from ...kv_math.terms import PLACE_OF, SELF, SelfPlace, stores
from ...published.spec import ModelSpec
from ..lines import trouble
from ..llama_cpp import FORMATS as GGML_NAMES

GGML: Mapping[str, KvFormat] = MappingProxyType({name: FORMATS[ours] for name, ours in GGML_NAMES.items()})


@dataclass(frozen=True)
class Layers:
    """`count` layers of one kind; `each` is the bytes of a token in one of them, on one rank, and `how` its product.
    `of_k` and `of_v` are those of K and of V, where a layer keeps both and nothing else; else 0."""

    kind: SelfPlace
    count: int
    each: int
    how: str
    of_k: int = 0
    of_v: int = 0


def layers_of(
    spec: ModelSpec, k: KvFormat, v: KvFormat, tp: int = 1, stage: range | None = None, layout: Layout = "formula"
) -> list[Layers]:
    """What every kind of layer keeps of a token, kinds without layers left out; of one pipeline `stage` alone where one
    is given; `layout` as in KvOptions.

    Raises GlassLlamaError for a model whose tokens do not each take the same, and for formats that do not fit it.
    """
    if spec.compressed or spec.is_encoder_decoder:
        said = f"{spec.name} keeps entries that are not one a token; its log is not compared yet."
        raise trouble("model", said, model=spec.name)
    options = KvOptions(tp=tp, layout=layout)
    check(spec, 1, 1, k, options)
    kinds: dict[SelfPlace, int] = dict.fromkeys(SELF, 0)
    for index in own_layers(spec, None):
        if stage is not None and index not in stage:
            continue
        if place := PLACE_OF.get(spec.layer_kinds[index]):
            kinds[place] += 1
    return [_layers(spec, kind, number, k, v, options) for kind, number in kinds.items() if number]


def _layers(spec: ModelSpec, kind: SelfPlace, number: int, k: KvFormat, v: KvFormat, options: KvOptions) -> Layers:
    each, parts, apart = 0, [], (0, 0)
    for of_k, of_v in zip(stores(spec, k, options, kind), stores(spec, v, options, kind), strict=True):
        heads = max(1, of_k.heads // options.tp) if of_k.per_head else of_k.heads
        formats = [of_k.formats[0], of_v.formats[-1]] if of_k.label == "kv" else list(of_k.formats)
        vectors = [fmt.vector_bytes(width) for width, fmt in zip(of_k.widths, formats, strict=True)]
        apart = (heads * vectors[0], heads * vectors[1]) if of_k.label == "kv" and len(vectors) == 2 else apart
        each += heads * sum(vectors)
        written = [fmt.vector_formula(width) for width, fmt in zip(of_k.widths, formats, strict=True)]
        inner = f"2 × {written[0]}" if len(written) == 2 and written[0] == written[1] else f"({' + '.join(written)})"
        parts.append(f"{heads} × {inner}" if heads > 1 else inner)
    of_k, of_v = apart if sum(apart) == each else (0, 0)
    return Layers(kind, number, each, " + ".join(parts), of_k, of_v)


def rate(layers: list[Layers]) -> int:
    """Bytes of one token in all layers, on one rank."""
    return sum(one.count * one.each for one in layers)


def rate_how(layers: list[Layers]) -> str:
    """The product of `rate`."""
    factors = (f"({one.how})" if _is_sum(one.how) else one.how for one in layers)
    return " + ".join(f"{one.count} × {how}" for one, how in zip(layers, factors, strict=True))


def _is_sum(how: str) -> bool:
    """Whether a product is to stand in brackets: it adds up, and not within brackets of its own."""
    depth = 0
    for sign in how:
        depth += (sign == "(") - (sign == ")")
        if sign == "+" and not depth:
            return True
    return False


def kept_tokens(spec: ModelSpec, kind: SelfPlace, tokens: int) -> int:
    """The tokens that a layer of this kind needs of a sequence of `tokens`."""
    size = {"sliding": spec.attention.window, "chunked": spec.attention.chunk}.get(kind)
    return tokens if size is None else min(tokens, size)


def state_bytes(spec: ModelSpec, dtype: str, tp: int = 1, stage: range | None = None, kept: StateFormat = "own") -> int:
    """What all linear layers keep of a sequence, on one rank, as the model's own code stores it, or as `kept` says; 0
    without any. Of one pipeline `stage` alone where one is given."""
    whole = sum(term.bytes for term in _states(spec, dtype, kept)) // tp
    return whole if stage is None or not whole else whole // linear_layers(spec) * linear_layers(spec, stage)


def state_elements(spec: ModelSpec) -> int:
    """How many numbers that is."""
    return sum(term.elements for term in _states(spec, "bf16"))


def linear_layers(spec: ModelSpec, stage: range | None = None) -> int:
    """The layers that keep a state; of one pipeline `stage` alone where one is given."""
    counts = (len([one for one in term.layers if stage is None or one in stage]) for term in _states(spec, "bf16"))
    return max(counts, default=0)


def _states(spec: ModelSpec, dtype: str, kept: StateFormat = "own"):
    if spec.state is None:
        return []
    terms = kv_breakdown(spec, 1, 1, dtype, KvOptions(state=kept)).terms
    return [term for term in terms if term.place == "state"]


def plain(dtype: str) -> KvFormat:
    """A format of the calculator's, or one of ggml's."""
    return GGML[dtype] if dtype in GGML else kv_format(dtype)
