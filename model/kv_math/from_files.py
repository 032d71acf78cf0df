"""The bytes of a model's weights as its files have them: products of tensors, and why a count by parameters differs.

Tensors come as the header of a .safetensors file, its index, or the tensor infos of GGUF list them: names, formats and
shapes. What llama.cpp packs into blocks is as large as gguf-py's GGML_QUANT_SIZES says. Pure integers.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from types import MappingProxyType
from typing import Literal, NamedTuple

from gguf import GGML_QUANT_SIZES

from ..published.expected import any_of, expected
from ..published.spec import ModelSpec
from .factors import Factor
from .options import refusal
from .weights import WeightBreakdown, WeightTerm

# Bits of a number in each dtype of safetensors (safetensors/src/tensor.rs, Dtype).
_BITS = {"BOOL": 8, "C64": 64, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "BF16": 16}
_BITS |= {f"{kind}{bits}": bits for kind in "IUF" for bits in (8, 16, 32, 64) if (kind, bits) != ("F", 8)}
_BITS |= {f"F8_{form}": 8 for form in ("E4M3", "E5M2", "E8M0", "E4M3FNUZ", "E5M2FNUZ")}
_PACKED = frozenset(
    {"BOOL", "U8", "I8", "U16", "I16", "U32", "I32", "I64", "U64"}
)  # several weights in a number, or none
# (numbers of a block, its bytes) by name, as safetensors and GGUF write it.
BLOCKS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {kind.name: sizes for kind, sizes in GGML_QUANT_SIZES.items()}
    | {name: (1, bits // 8) if bits % 8 == 0 else (8, bits) for name, bits in _BITS.items()}
)
_TABLE = re.compile(
    r"(^|\.)(embed_tokens|wte|wpe|word_embeddings|tok_embeddings|embed_in|embed_out|lm_head|shared)\.weight$"
    r"|^(token_embd|position_embd|output)\.weight$"
)
_OUTPUT = re.compile(r"(^|\.)(lm_head|embed_out)\.weight$|^output\.weight$")
_BUFFER = re.compile(r"inv_freq|rope_freqs|masked_bias|(^|\.)attn\.bias$|attention\.bias$|rotary_emb")

Kind = Literal["table", "vector", "matrix", "buffer", "tied"]


@dataclass(frozen=True)
class TensorGroup:
    """`count` tensors of one format and shape, whose names differ in their numbers alone: "#" stands for these."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    count: int

    @property
    def elements(self) -> int:
        """Numbers of all of them."""
        return self.count * prod(self.shape)

    @property
    def factors(self) -> tuple[Factor, ...]:
        """The product of their bytes. Raises GlassLlamaError for a format that is not known or does not divide."""
        if self.dtype not in BLOCKS:
            raise refusal(f"{self.name}.dtype", self.dtype, any_of(BLOCKS))
        (block, size), each = BLOCKS[self.dtype], prod(self.shape)
        shape = " × ".join(f"{n:,}" for n in self.shape)
        if each % block:
            raise refusal(f"{self.name}.shape", shape, expected("multiple", name=self.dtype, value=block))
        how = shape if len(self.shape) > 1 else ""
        tensors, last = Factor(self.count, "tensors"), {"format": self.dtype}
        if block == 1:
            return tensors, Factor(each, "weights", how), Factor(size, "bytes", params=last)
        blocks = Factor(each // block, "blocks_of_weights", f"{shape} / {block}", {"count": block})
        return tensors, blocks, Factor(size, "bytes_per_block", params=last)

    @property
    def bytes(self) -> int:
        return prod(factor.value for factor in self.factors)


class Difference(NamedTuple):
    """A reason why the files hold more (or, below 0, less) than is counted: `bytes`, and in which formats they are.

    `code` begins with the kind ("table", "vector", "matrix") and ends with "format" (as many weights, another format),
    "count" (another number of weights) or "packed" (codes in whole numbers, which count for no weights); or it is
    "buffer" (tensors that are no weights), "tied" (an output that repeats the embedding) or "total" (an index, which
    names no shapes).
    """

    code: str
    bytes: int
    dtypes: tuple[str, ...]


@dataclass(frozen=True)
class FileWeights:
    """What the files hold, beside what is counted. `total` is an index's own sum, which then stands for all."""

    groups: tuple[TensorGroup, ...]
    total: int | None = None

    @property
    def bytes(self) -> int:
        """All tensors together."""
        return sum(group.bytes for group in self.groups) if self.total is None else self.total

    @property
    def has_output(self) -> bool | None:
        """Whether an output matrix is among them; None where no tensor is named."""
        return any(_OUTPUT.search(group.name) for group in self.groups) if self.groups else None

    @property
    def by_dtype(self) -> dict[str, tuple[TensorGroup, ...]]:
        """The groups of each format, the largest format first."""
        found: dict[str, list[TensorGroup]] = {}
        for group in () if self.total is not None else self.groups:
            found.setdefault(group.dtype, []).append(group)
        heaviest = sorted(found, key=lambda dtype: -sum(group.bytes for group in found[dtype]))
        return {dtype: tuple(found[dtype]) for dtype in heaviest}

    def differences(self, counted: WeightBreakdown) -> tuple[Difference, ...]:
        """Reasons that sum to bytes − counted bytes."""
        if self.total is not None:
            return _some(Difference("total", self.total - counted.counted_bytes, ()))
        found: list[Difference] = []
        for kind in ("table", "vector", "matrix"):
            groups = [group for group in self.groups if kind_of(group, counted.spec) == kind]
            terms = [term for term in counted.terms if _kind_of_term(term) == kind]
            found += _explained(kind, groups, terms)
        for kind in ("buffer", "tied"):
            groups = [group for group in self.groups if kind_of(group, counted.spec) == kind]
            found.append(Difference(kind, sum(group.bytes for group in groups), _dtypes(groups)))
        return _some(*found)


def kind_of(group: TensorGroup, spec: ModelSpec) -> Kind:
    """What tensors are, by their names and shapes."""
    if _BUFFER.search(group.name):
        return "buffer"
    if _OUTPUT.search(group.name) and spec.tied_embeddings is not False:
        return "tied"
    if _TABLE.search(group.name):
        return "table"
    return "vector" if sum(n > 1 for n in group.shape) <= 1 else "matrix"


def _kind_of_term(term: WeightTerm) -> Kind:
    """The same of a counted product: routers are matrices in files, whatever format they are counted in."""
    return "matrix" if term.label == "router" else term.part.kind


def _explained(kind: str, groups: list[TensorGroup], terms: list[WeightTerm]) -> Iterable[Difference]:
    """How much of a difference comes from the format, and how much from the number of weights."""
    held, numbers = sum(group.bytes for group in groups), sum(group.elements for group in groups)
    counted, weights = sum(term.bytes for term in terms), sum(term.part.weights for term in terms)
    dtypes = _dtypes(groups)
    if any(dtype in _PACKED for dtype in dtypes):
        return [Difference(f"{kind}_packed", held - counted, dtypes)]
    if not numbers or not weights:
        return [Difference(f"{kind}_count", held - counted, dtypes)]
    form = round(held - Fraction(numbers * counted, weights))
    return [
        Difference(f"{kind}_format", form, dtypes),
        Difference(f"{kind}_count", held - counted - form, dtypes),
    ]


def _dtypes(groups: Iterable[TensorGroup]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(group.dtype for group in groups))


def _some(*found: Difference) -> tuple[Difference, ...]:
    return tuple(one for one in found if one.bytes)
