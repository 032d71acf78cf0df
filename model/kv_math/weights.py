"""How many bytes a model's weights take in each number format, with every multiplication shown. Pure integers."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from types import MappingProxyType

from ..errors import GlassLlamaError
from ..published.expected import any_of, expected
from ..published.parameters import WeightPart, weight_parts
from ..published.spec import ModelSpec
from .factors import Factor, how
from .formats import FORMATS, SIXTEEN_BIT, KvFormat
from .options import MAX_RANKS, refusal, whole
from .stages import find_spec, stage_counts

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
KEPT_STAGES = 256  # more than any published model has layers; one made up with thousands must not fill the memory
_QUANTISED_TABLES = ("q8_0", "q4_0")  # llama.cpp quantises embeddings too; the others keep them in 16 bits


@dataclass(frozen=True)
class WeightTerm:
    """One product: `bytes` is that of all factor values. `part` says which weights these are and who reads them.

    `label` is the part's: "embedding", "embedding.tied", "unembedding", "positions", "attention.q_o", "attention.k_v",
    "attention.latents", "attention.heads", "attention.groups", "attention.out", "compressor", "indexer", "streams",
    "ffn", "experts", "shared_experts", "router", "position_bias", or one that begins with "norms", "biases", "cross",
    "encoder", "mtp", "linear" or "altup".
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


@dataclass(frozen=True)
class WeightBreakdown:
    """The weights' bytes as a sum of products. `stage_bytes[s]` is what one GPU of pipeline stage s holds.

    `embeddings` is the format of the embedding tables, `small` that of norms, biases and routers.
    """

    spec: ModelSpec
    dtype: str
    embeddings: str
    small: str
    tp: int
    pp: int
    mtp: bool
    terms: tuple[WeightTerm, ...]
    _held: dict[int, tuple[int, ...]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def total_bytes(self) -> int:
        """Bytes of the weights, each once: all experts, tied embeddings once, without copies on further ranks."""
        return sum(term.bytes for term in self.terms)

    @property
    def weights(self) -> int:
        """Numbers held: the parameter count."""
        return sum(term.part.weights for term in self.terms)

    @property
    def stage_bytes(self) -> tuple[int, ...]:
        return self.in_stages(self.pp)

    def in_stages(self, pp: int) -> tuple[int, ...]:
        """What one GPU of each of `pp` stages holds of the same weights. Kept: a search for GPUs asks it again."""
        if pp in self._held:
            return self._held[pp]
        held = self._stages([(term, term.rank_bytes(self.tp)) for term in self.terms], pp)
        if pp <= KEPT_STAGES:
            self._held[pp] = held
        return held

    @property
    def per_gpu_bytes(self) -> int:
        """Bytes on the fullest GPU."""
        return max(self.stage_bytes)

    def read_bytes(self, batch: int = 1, spread: bool = False) -> tuple[int, ...]:
        """Bytes that one decoding step of `batch` sequences reads on one GPU of each stage; see WeightTerm."""
        top_k = self.spec.moe.top_k if self.spec.moe else 1
        shares = []
        for term in self.terms:
            if factors := term.read_factors(batch, spread, top_k):
                read = prod(factor.value for factor in factors)
                shares.append((term, -(-term.rank_bytes(self.tp) * read // term.bytes)))
        return self._stages(shares, self.pp, decoding=True)

    def _stages(self, shares: list[tuple[WeightTerm, int]], pp: int, decoding: bool = False) -> tuple[int, ...]:
        """What each of `pp` stages has of every term, from one rank's share of the whole.

        What stands outside the layers is on the first stage or on the last; a tied table on both, but decoding reads
        all of it on the last alone. The encoder is on the first.
        """
        stages, last = [0] * pp, pp - 1
        for term, each in shares:
            if not term.layers or term.label.startswith("encoder"):
                if term.label == "embedding.tied":
                    held = {last} if decoding else {0, last}
                else:
                    held = {last if term.part.last else 0}
                for stage in held:
                    stages[stage] += each
                continue
            counts = stage_counts(self.spec, pp, term.layers)
            of_count = {count: -(-each * count // len(term.layers)) for count in set(counts)}
            stages = [held + of_count[count] for held, count in zip(stages, counts, strict=True)]
        return tuple(stages)


def weight_breakdown(
    spec: ModelSpec | str,
    dtype: str = "bf16",
    embeddings: str | None = None,
    tp: int = 1,
    pp: int = 1,
    mtp: bool = False,
) -> WeightBreakdown:
    """What the weights of `spec` take in `dtype`, a name in WEIGHT_FORMATS, over `tp` ranks and `pp` stages.

    `embeddings` is the format of the embedding tables; None: 16 bits under every quantised format except llama.cpp's
    q8_0 and q4_0, which quantise them too. Norms, biases and routers keep 16 bits under every quantised format. `mtp`
    counts the multi-token-prediction layers. Raises GlassLlamaError, naming the field.
    """
    spec = find_spec(spec)
    fmt, tp, pp = weight_format("weights", dtype), whole("tp", tp, 1, MAX_RANKS), whole("pp", pp, 1, MAX_RANKS)
    if pp > spec.n_layers:
        raise refusal("pp", pp, expected("at_most", name="n_layers", value=spec.n_layers))
    small = fmt if dtype in _PLAIN else SIXTEEN_BIT
    tables = small if dtype not in _QUANTISED_TABLES else fmt
    if embeddings is not None:
        tables = weight_format("embeddings", embeddings)
    return _breakdown(spec, fmt, tables, small, tp, pp, mtp)


@lru_cache(maxsize=256)  # what does not change with the load, while a slider passes over a hundred loads
def _breakdown(
    spec: ModelSpec, fmt: KvFormat, tables: KvFormat, small: KvFormat, tp: int, pp: int, mtp: bool
) -> WeightBreakdown:
    formats = {"matrix": fmt, "vector": small, "table": tables}
    terms = tuple(WeightTerm(part, _factors(part, formats[part.kind])) for part in weight_parts(spec, mtp))
    return WeightBreakdown(spec, fmt.name, tables.name, small.name, tp, pp, mtp, terms)


def weight_format(field: str, name: str) -> KvFormat:
    """The weights' format called `name`. Raises GlassLlamaError, naming `field` and all formats, for any other."""
    if isinstance(name, str) and name in WEIGHT_FORMATS:
        return WEIGHT_FORMATS[name]
    close = difflib.get_close_matches(name.lower()[:40], WEIGHT_FORMATS, n=1) if isinstance(name, str) else []
    raise refusal(field, name, any_of(WEIGHT_FORMATS, close))


def _factors(part: WeightPart, fmt: KvFormat) -> tuple[Factor, ...]:
    leading = [Factor(len(part.layers), "layers")] if part.layers else []
    if part.copies > 1 or part.reading == "experts":
        leading.append(Factor(part.copies, "experts"))
    if fmt.block == 1:
        size = Factor(fmt.block_bytes, "bytes", params={"format": fmt.name})
        return (*leading, Factor(part.each, "weights", part.how), size)
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
    return (*leading, blocks, Factor(fmt.block_bytes, "bytes_per_block", params={"format": fmt.name}))
