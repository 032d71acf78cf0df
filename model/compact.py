"""Linear maps whose weights take 16 or 8 bits each, laid out for decoding on a CPU.

W x is the sum of W's columns, each times its number of x. PyTorch's `embedding_bag` computes just such sums of a
table's rows, reads 16 and 8 bits a number, and adds in float32. So W's columns stand as rows of a table, cut into
blocks of outputs that lie one after another: a core takes some of the blocks, and reads each from its beginning to its
end. `F.linear` takes about twice as long in bfloat16 (docs/decisions/weights-by-column.md).

8 bits: w is scale · (code - 128), one scale for each output, the largest |w| of its row / 127 (symmetric, by channel:
Krishnamoorthi 2018, arXiv 1806.08342, section 3). Activations stay float32: nothing else is rounded.
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from .network import Network
from .stacked import StackedLinear

WIDEST = 384  # outputs of a block: as many as stay in a core's registers while it goes down the columns, or near it
OFFSET, LEVELS = 128, 127
TAIL = 8  # bytes at the end of a table's row of codes, in which embedding_bag finds a factor and what it adds


class Codes(NamedTuple):
    """A matrix as bytes: w = scale · (code - OFFSET)."""

    codes: Int[Tensor, "d_out d_in"]
    scale: Float[Tensor, "d_out"]


def quantise(weight: Float[Tensor, "d_out d_in"]) -> Codes:
    """The nearest code of every weight, a half to the even one; a row of zeros has the scale 1."""
    largest = weight.abs().amax(1)
    scale = torch.where(largest == 0, 1.0, largest / LEVELS)
    codes = (weight / scale[:, None]).round_() + OFFSET
    return Codes(codes.to(torch.uint8), scale)


class Compact(nn.Module):
    """x Wᵀ + b. `weight` is W written out, which is no parameter: it cannot be trained."""

    in_features: int
    bias: Tensor | None
    table: Tensor  # (blocks · d_in, block), of codes (…, block + TAIL)
    scale: Tensor | None  # (d_out,), of codes
    order: Tensor  # of the table's rows: as they stand
    begins: Tensor  # (blocks,), the first row of each block

    def _take(self, given: nn.Linear | StackedLinear, int8: bool) -> None:
        weight = given.weight.detach()
        d_out, self.in_features = weight.shape
        self.block = max(size for size in range(1, min(d_out, WIDEST) + 1) if d_out % size == 0)
        kept, scale = quantise(weight) if int8 else (weight, None)
        table = kept.unflatten(0, (-1, self.block)).transpose(1, 2).flatten(0, 1)
        if int8:
            tail = torch.tensor([1.0, -OFFSET]).view(torch.uint8)
            table = torch.cat((table, tail.expand(len(table), TAIL)), 1)
        blocks = d_out // self.block
        self.register_buffer("table", table.contiguous())
        self.register_buffer("scale", scale)
        self.register_buffer("order", torch.arange(len(table), dtype=torch.int32))
        self.register_buffer("begins", torch.arange(blocks, dtype=torch.int32) * self.in_features)
        self.bias = given.bias

    @property
    def blocks(self) -> Float[Tensor, "blocks d_in block"]:
        """The table as numbers; of codes, each less OFFSET and without its scale."""
        table = self.table.unflatten(0, (-1, self.in_features))
        return table if self.scale is None else table[..., : self.block].to(self.scale.dtype) - OFFSET

    @property
    def weight(self) -> Float[Tensor, "d_out d_in"]:
        whole = self.blocks.transpose(1, 2).flatten(0, 1)
        return whole if self.scale is None else whole * self.scale[:, None]

    def product(self, x: Float[Tensor, "*batch d_in"]) -> Float[Tensor, "*batch d_out"]:
        """x Wᵀ + b."""
        if x.numel() == self.in_features and not x.requires_grad:
            y = self._of_one(x.flatten()).view(*x.shape[:-1], -1)
        else:
            y = (x.reshape(-1, self.in_features) @ self.blocks).transpose(0, 1).reshape(*x.shape[:-1], -1)
        y = y if self.scale is None else y * self.scale
        return y if self.bias is None else y + self.bias

    def _of_one(self, x: Float[Tensor, "d_in"]) -> Float[Tensor, "blocks block"]:
        factors = x.repeat(len(self.begins))
        if self.scale is None:
            return torch.embedding_bag(self.table, self.order, self.begins, False, 0, False, factors)[0]
        add = torch.ops.quantized.embedding_bag_byte_rowwise_offsets.default
        return add(self.table, self.order, self.begins, False, 0, False, factors)


class CompactLinear(Compact, nn.Linear):  # pyright: ignore[reportIncompatibleVariableOverride]  # of a property
    """One linear map, as torch.nn.Linear."""

    def __init__(self, given: nn.Linear, int8: bool):
        nn.Module.__init__(self)
        self.out_features = given.out_features
        self._take(given, int8)

    def forward(self, input: Float[Tensor, "*batch d_in"]) -> Float[Tensor, "*batch d_out"]:
        return self.product(input)


class CompactStacked(Compact, StackedLinear):
    """Several linear maps of one input, as stacked.StackedLinear."""

    def __init__(self, given: StackedLinear, int8: bool):
        nn.Module.__init__(self)
        self.rows = given.rows
        self._take(given, int8)

    def forward(self, x: Float[Tensor, "*batch d_in"]) -> tuple[Float[Tensor, "*batch _"], ...]:
        return self.product(x).split_with_sizes(self.rows, -1)


def compact(net: Network, int8: bool) -> Network:
    """Have every linear map of a network keep its weights so; as bytes where `int8`. Gives the network.

    The embedding stays as it is: of it a token reads one row. So a head that shared its matrix has its own now.
    """
    for parent in [*net.modules()]:
        for name, child in [*parent.named_children()]:
            if type(child) is nn.Linear:
                setattr(parent, name, CompactLinear(child, int8))
            elif type(child) is StackedLinear:
                setattr(parent, name, CompactStacked(child, int8))
    return net


def named_weights(net: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """Every weight by its name, as `named_parameters`, compact ones written out; a tied head is left out."""
    tied = isinstance(net, Network) and net.config.tied_embeddings
    seen: set[int] = set()
    for name, module in net.named_modules():
        prefix = f"{name}." if name else ""
        if isinstance(module, Compact) and not (tied and name == "head"):
            yield f"{prefix}weight", module.weight
        for own, weight in module.named_parameters(recurse=False):
            if id(weight) not in seen:
                seen.add(id(weight))
                yield prefix + own, weight
