"""How many bytes a model's weights take in each number format, with every multiplication shown. Pure integers."""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import prod
from types import MappingProxyType
from typing import NamedTuple

from ..errors import GlassLlamaError
from ..published.expected import any_of, expected
from ..published.parameters import WeightPart, not_counted, weight_parts
from ..published.quantised import NUMBER_TYPES
from ..published.spec import ModelSpec, QuantSpec
from .factors import Factor, how
from .formats import FORMATS, SIXTEEN_BIT, KvFormat
from .options import MAX_RANKS, refusal, whole
from .spread import Layers, Share, Spread, counts_before, in_stages
from .stages import find_spec
from .stored import leading, plain_factors, stored_products

_PLAIN = ("fp32", "fp16", "bf16")
_OCP = "OCP Microscaling formats (MX) v1.0"
_ALL = (
    *(FORMATS[name] for name in _PLAIN),
    KvFormat(name="fp8", block=1, block_bytes=1, about="1 byte a weight; its few scales are not counted"),
    KvFormat(name="int8", block=1, block_bytes=1, about="1 byte a weight; its few scales are not counted"),
    KvFormat(name="int4", block=2, block_bytes=1, about="2 weights a byte; no scale counted"),
    KvFormat(
        name="int4_g128",
        block=256,
        block_bytes=133,
        about="two groups of 128 4-bit weights, each with a 16-bit scale and a 4-bit zero",
        engine="AWQ, GPTQ",
        source="AutoAWQ and GPTQ with group_size 128: qweight, scales, qzeros",
    ),
    KvFormat(
        name="nvfp4",
        block=16,
        block_bytes=9,
        about="16 4-bit weights and their fp8 scale",
        engine="TensorRT Model Optimizer",
        source=FORMATS["nvfp4"].source,
    ),
    KvFormat(
        name="mxfp4",
        block=32,
        block_bytes=17,
        about="32 4-bit weights and their 8-bit scale",
        engine="OCP MX",
        source=_OCP,
    ),
    FORMATS["q8_0"],
    FORMATS["q4_0"],
)
WEIGHT_FORMATS: Mapping[str, KvFormat] = MappingProxyType({fmt.name: fmt for fmt in _ALL})
AS_CONFIG = "config"
MAX_BYTES = 10**15
MOST_KEPT = 128  # numbers of stages of which the bytes are kept; one made up with thousands must not fill the memory
_QUANTISED_TABLES = ("q8_0", "q4_0")  # llama.cpp quantises embeddings too; the others keep them in 16 bits
# What llama.cpp quantises the output matrix to in a file of q4_0, an embedding that is used as such too.
OUTPUT = KvFormat(
    name="q6_K",
    block=256,
    block_bytes=210,
    about="256 6-bit weights, 16 8-bit scales and their fp16 scale",
    engine="llama.cpp",
    source="ggml-org/llama.cpp src/llama-quant.cpp @ 007dbbf3fd, llama_tensor_get_type_impl",
)


@dataclass(frozen=True)
class WeightTerm:
    """One product: `bytes` is that of all factor values. `part` says which weights these are and who reads them.

    `label` is the part's: "embedding", "embedding.tied", "unembedding", "positions", "attention.q_o", "attention.k_v",
    "attention.latents", "attention.heads", "attention.groups", "attention.out", "compressor", "indexer", "streams",
    "ffn", "experts", "shared_experts", "router", "position_bias", or one that begins with "norms", "biases", "cross",
    "encoder", "mtp", "linear" or "altup"; ".scales", ".zeros", ".order" or ".tables" after it for what a checkpoint's
    own quantisation keeps beside them (kv_math/stored.py).
    """

    part: WeightPart
    factors: tuple[Factor, ...]

    @property
    def label(self) -> str:
        return self.part.label

    @property
    def layers(self) -> tuple[int, ...]:
        """Indices of the layers that it covers, () for what stands outside them."""
        return self.part.layers

    @property
    def bytes(self) -> int:
        return prod(factor.value for factor in self.factors)

    def rank_bytes(self, tp: int) -> int:
        """Bytes that one of `tp` ranks holds: a whole number of heads, columns or rows, or all."""
        units = self.part.units
        return -(-self.bytes * -(-units // tp) // units)

    def read_factors(self, batch: int = 1, spread: bool = False, top_k: int = 1) -> tuple[Factor, ...]:
        """The product that one decoding step of `batch` sequences reads of it; () where it reads nothing.

        Of the experts at the least `top_k`, all tokens choosing the same; `spread`, as many as they can choose.
        """
        reading, factors = self.part.reading, self.factors
        if reading == "none":
            return ()
        if reading == "experts":
            count = min(self.part.copies, top_k * batch) if spread else top_k
            copies = self.part.copies
            came = f"min({copies}, {top_k} × {batch:,})" if spread else how("top", chosen=top_k, all=copies)
            return tuple(Factor(count, "experts_read", came) if f.code == "experts" else f for f in factors)
        if reading == "rows":
            return (Factor(batch, "rows"), Factor(-(-self.bytes // self.part.rows), "bytes_per_row"))
        return factors

    def __str__(self) -> str:
        return " × ".join(map(str, self.factors)) + f" = {self.bytes:,} B"


class StageKind(NamedTuple):
    """Bytes of weights on one GPU of a pipeline stage, and how many layers it holds of each group that is asked for."""

    weights: int
    layers: tuple[int, ...]
    last: bool = False


@dataclass(frozen=True)
class WeightBreakdown:
    """The weights' bytes as a sum of products. `stage_bytes[s]` is what one GPU of pipeline stage s holds.

    `embeddings` is the format of the embedding tables, `output` that of the output matrix, which an embedding may be as
    well, and `small` that of norms, biases and routers. `measured` are the
    bytes that the model's files have, where they are known: they stand in the place of the sum, and are spread over
    ranks and stages as it is. Where a config lacks what the sum is made of, there are no `terms`, and they are spread
    evenly over layers and ranks.
    """

    spec: ModelSpec
    dtype: str
    embeddings: str
    output: str
    small: str
    tp: int
    pp: int
    mtp: bool
    terms: tuple[WeightTerm, ...]
    measured: int | None = None
    _held: dict[tuple[int, tuple[Layers, ...]], tuple[StageKind, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def total_bytes(self) -> int:
        """Bytes of the weights, each once: all experts, tied embeddings once, without copies on further ranks."""
        return self.counted_bytes if self.measured is None else self.measured

    @property
    def counted_bytes(self) -> int:
        """The sum of the products."""
        return sum(term.bytes for term in self.terms)

    @property
    def weights(self) -> int:
        """Numbers held: the parameter count."""
        return sum(term.part.weights for term in self.terms)

    @property
    def stage_bytes(self) -> tuple[int, ...]:
        return self.in_stages(self.pp)

    def in_stages(self, pp: int, short: int = 1) -> tuple[int, ...]:
        """What one GPU of each of `pp` stages holds of the same weights; `short` as in kv_math/spread.py."""
        return self.spread.in_stages(pp, short)

    def heaviest(self, pp: int, groups: tuple[Layers, ...]) -> tuple[StageKind, ...]:
        """The `pp` stages by how many layers of each of `groups` they hold: the fullest of each kind, the last stage
        apart.

        A cache that these layers keep is as large on every stage of a kind, so no other stage can be the fullest. Kept
        for whoever asks again: a search for GPUs does, and every place of a slider.
        """
        found = self._held.get((pp, groups))
        if found is None:
            if len(self._held) >= MOST_KEPT:
                self._held.clear()
            found = self._held[pp, groups] = tuple(self._stage_kinds(pp, groups))
        return found

    def _stage_kinds(self, pp: int, groups: tuple[Layers, ...]) -> Iterator[StageKind]:
        spread = self.spread
        counts = [in_stages(counts_before(layers, spread.end), spread.n_layers, pp) for layers in groups]
        *others, (of_last, *last) = zip(self.in_stages(pp), *counts, strict=True)
        fullest: dict[tuple[int, ...], int] = {}
        for held, *layers in others:
            fullest[tuple(layers)] = max(held, fullest.get(tuple(layers), 0))
        yield from (StageKind(held, layers) for layers, held in fullest.items())
        yield StageKind(of_last, tuple(last), last=True)

    @cached_property
    def spread(self) -> Spread:
        """One rank's weights over the layers."""
        return self._spread([(term, term.rank_bytes(self.tp)) for term in self.terms])

    @property
    def per_gpu_bytes(self) -> int:
        """Bytes on the fullest GPU."""
        return max(self.stage_bytes)

    def read_bytes(self, batch: int = 1, spread: bool = False) -> tuple[int, ...]:
        """Bytes that one decoding step of `batch` sequences reads on one GPU of each stage; see WeightTerm. Raises
        GlassLlamaError where only the files' bytes are known."""
        top_k = self.spec.moe.top_k if self.spec.moe else 1
        if not self.terms:
            raise not_counted(self.spec)
        shares = []
        for term in self.terms:
            if factors := term.read_factors(batch, spread, top_k):
                read = prod(factor.value for factor in factors)
                shares.append((term, -(-term.rank_bytes(self.tp) * read // term.bytes)))
        return self._spread(shares, decoding=True).in_stages(self.pp)

    def _spread(self, shares: list[tuple[WeightTerm, int]], decoding: bool = False) -> Spread:
        """One rank's share of every term, over the layers.

        What stands outside the layers is on the first stage or on the last; a tied table on both, but decoding reads
        all of it on the last alone. The encoder is on the first.
        """
        inside, outside = [], {"first": 0, "last": 0, "both": 0}
        if not self.terms:
            each_rank = -(-(self.measured or 0) // self.tp)
            return Spread(self.spec.n_layers, 0, [Share(tuple(range(self.spec.n_layers)), each_rank)], **outside)
        if self.measured is not None:
            shares, outside["first"] = self._scaled(shares, self.measured)
        for term, each in shares:
            if term.layers and not term.label.startswith("encoder"):
                inside.append(Share(term.layers, each))
            elif term.label == "embedding.tied":
                outside["last" if decoding else "both"] += each
            else:
                outside["last" if term.part.last else "first"] += each
        return Spread(self.spec.n_layers, self.spec.mtp_layers, inside, **outside)

    def _scaled(self, shares: list[tuple[WeightTerm, int]], measured: int) -> tuple[list[tuple[WeightTerm, int]], int]:
        """Shares of the measured bytes in the same proportions, rounded down, and what is left over by that."""
        counted = self.counted_bytes
        scaled = [(term, each * measured // counted) for term, each in shares]
        whole_share = -(-sum(each for _, each in shares) * measured // counted)
        return scaled, whole_share - sum(each for _, each in scaled)


def weight_breakdown(
    spec: ModelSpec | str,
    dtype: str = "bf16",
    embeddings: str | None = None,
    tp: int = 1,
    pp: int = 1,
    mtp: bool = False,
    measured: int | None = None,
) -> WeightBreakdown:
    """What the weights of `spec` take in `dtype`, a name in WEIGHT_FORMATS, over `tp` ranks and `pp` stages.

    AS_CONFIG: as the model's own config.json says that they are stored (`spec.quantised`), else in the number type
    that it names, else in bf16.
    `embeddings` is the format of the embedding tables; None: 16 bits under every quantised format except llama.cpp's
    q8_0 and q4_0, which quantise them too, the output matrix as OUTPUT says. Norms, biases and routers keep 16 bits
    under every quantised format. `mtp` counts the multi-token-prediction layers. `measured`: what the model's files
    take. Raises GlassLlamaError, naming the field.
    """
    spec = find_spec(spec)
    tp, pp = whole("tp", tp, 1, MAX_RANKS), whole("pp", pp, 1, MAX_RANKS)
    quant = spec.quantised if dtype == AS_CONFIG else None
    if dtype == AS_CONFIG:  # what a quantised file leaves as it is has 16 bits
        dtype = SIXTEEN_BIT.name if quant else NUMBER_TYPES.get(spec.number_type, SIXTEEN_BIT.name)
    fmt = weight_format("weights", dtype)
    if pp > spec.n_layers:
        raise refusal("pp", pp, expected("at_most", name="n_layers", value=spec.n_layers))
    small = fmt if dtype in _PLAIN else SIXTEEN_BIT
    tables = small if dtype not in _QUANTISED_TABLES else fmt
    output = _output(spec) if dtype == "q4_0" else tables
    if embeddings is not None:
        tables = output = weight_format("embeddings", embeddings)
    if measured is not None:
        whole("weight_bytes", measured, 1, MAX_BYTES)
    return _breakdown(spec, quant, fmt, tables, output, small, tp, pp, mtp, measured)


def _output(spec: ModelSpec) -> KvFormat:
    """As llama.cpp has it in a file of q4_0: q8_0 for Falcon and where no rows of OUTPUT's blocks are."""
    falcon = spec.family.lower() in ("falcon", "refinedweb", "refinedwebmodel")  # Falcon-H1 is not of that kind
    return FORMATS["q8_0"] if falcon or spec.d_model % OUTPUT.block else OUTPUT


@lru_cache(maxsize=64)  # what does not change with the load, while a slider passes over a hundred loads
def _breakdown(
    spec: ModelSpec,
    quant: QuantSpec | None,
    fmt: KvFormat,
    tables: KvFormat,
    output: KvFormat,
    small: KvFormat,
    tp: int,
    pp: int,
    mtp: bool,
    measured: int | None,
) -> WeightBreakdown:
    formats = {"matrix": fmt, "vector": small, "table": tables}
    terms: list[WeightTerm] = []
    for part in () if spec.unstated and measured is not None else weight_parts(spec, mtp):
        if quant and part.matrices:
            terms += (WeightTerm(one, factors) for one, factors in stored_products(part, quant))
        else:
            stored = output if part.label in ("unembedding", "embedding.tied") else formats[part.kind]
            terms.append(WeightTerm(part, _factors(part, stored)))
    name = quant.name if quant else fmt.name
    return WeightBreakdown(spec, name, tables.name, output.name, small.name, tp, pp, mtp, tuple(terms), measured)


def weight_format(field: str, name: str) -> KvFormat:
    """The weights' format called `name`. Raises GlassLlamaError, naming `field` and all formats, for any other."""
    if isinstance(name, str) and name in WEIGHT_FORMATS:
        return WEIGHT_FORMATS[name]
    close = difflib.get_close_matches(name.lower()[:40], WEIGHT_FORMATS, n=1) if isinstance(name, str) else []
    raise refusal(field, name, any_of(WEIGHT_FORMATS, close))


def _factors(part: WeightPart, fmt: KvFormat) -> tuple[Factor, ...]:
    if fmt.block == 1:
        return plain_factors(part, fmt)
    if part.each % fmt.block:
        raise GlassLlamaError(
            "weight_format",
            f"weights {fmt.name} store blocks of {fmt.block}, which do not divide the {part.each:,} weights of "
            f"{part.label}; expected a format without blocks, such as bf16 or fp8.",
            field="weights",
            value=fmt.name,
            block=fmt.block,
            count=f"{part.each:,}",
            part=part.label,
        )
    came = f"{part.how or f'{part.each:,}'} / {fmt.block}"
    blocks = Factor(part.each // fmt.block, "blocks_of_weights", came, {"count": fmt.block})
    return (*leading(part), blocks, Factor(fmt.block_bytes, "bytes_per_block", params={"format": fmt.name}))
