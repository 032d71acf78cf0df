"""Linear maps whose weights lie in tiles, as a CPU reads them fastest, and may take 16 or 8 bits each.

W x is the sum of W's columns, each times its number of x. PyTorch's `embedding_bag` computes just such sums of a
table's rows, reads 32, 16 and 8 bits a number, and adds in float32. So W's columns stand as rows of a table, cut into
tiles of outputs that lie one after another: a core takes some of the tiles, and reads each from its beginning to its
end. Of several tokens a product of matrices is done for each tile. `F.linear` takes up to twice as long
(docs/decisions/weights-in-tiles.md).

8 bits: w is scale · (code - 128), one scale for each output, the largest |w| of its row / 127 (symmetric, by channel:
Krishnamoorthi 2018, arXiv 1806.08342, section 3). Activations stay float32: nothing else is rounded.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from .loading import Done, untold
from .network import Network
from .stacked import StackedLinear

WIDEST = 384  # outputs of a tile: as many as stay in a core's registers while it goes down the columns, or near it
MANY = 10_000_000  # weights of 32 bits; fewer are read as fast without tiles (docs/decisions/weights-in-tiles.md)
OFFSET, LEVELS = 128, 127
TAIL = 8  # bytes at the end of a table's row of codes, in which embedding_bag finds a factor and what it adds
ADD_CODES = torch.ops.quantized.embedding_bag_byte_rowwise_offsets.default


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


class Tiled(nn.Module):
    """x Wᵀ + b. `weight` is W written out, which is no parameter: it cannot be trained."""

    in_features: int
    outputs: int  # d_out; the last tile is filled up with zeros
    bias: Tensor | None
    table: Tensor  # (tiles · d_in, width), of codes (…, width + TAIL)
    scale: Tensor | None  # (d_out,), of codes
    order: Tensor  # of the table's rows: as they stand
    begins: Tensor  # (tiles,), the first row of each tile

    def _take(self, given: nn.Linear | StackedLinear, int8: bool) -> None:
        weight = given.weight.detach()
        self.outputs, self.in_features = weight.shape
        self.width = _width(self.outputs)
        kept, scale = quantise(weight) if int8 else (weight, None)
        tiles = -(-self.outputs // self.width)
        kept = F.pad(kept, (0, 0, 0, tiles * self.width - self.outputs))
        table = kept.unflatten(0, (-1, self.width)).transpose(1, 2).flatten(0, 1)
        if int8:
            tail = torch.tensor([1.0, -OFFSET]).view(torch.uint8)
            table = torch.cat((table, tail.expand(len(table), TAIL)), 1)
        self.register_buffer("table", table.contiguous())
        self.register_buffer("scale", scale)
        self.register_buffer("order", torch.arange(len(table), dtype=torch.int32))
        self.register_buffer("begins", torch.arange(tiles, dtype=torch.int32) * self.in_features)
        self.bias = given.bias

    @property
    def tiles(self) -> Float[Tensor, "tiles d_in width"]:
        """The table as numbers; of codes, each less OFFSET and without its scale."""
        return self._numbers(self._stored)

    @property
    def _stored(self) -> Tensor:
        return self.table.unflatten(0, (-1, self.in_features))[..., : self.width]

    def _numbers(self, stored: Tensor) -> Tensor:
        return stored if self.scale is None else stored.to(self.scale.dtype) - OFFSET

    @property
    def shape(self) -> torch.Size:
        """Of `weight`."""
        return torch.Size((self.outputs, self.in_features))

    @property
    def weight(self) -> Float[Tensor, "d_out d_in"]:
        whole = self.tiles.transpose(1, 2).flatten(0, 1)[: self.outputs]
        return whole if self.scale is None else whole * self.scale[:, None]

    def rows_of(self, outputs: Int[Tensor, "*some"]) -> Float[Tensor, "*some d_in"]:
        """Some rows of `weight`, without writing out the others."""
        rows = self._numbers(self._stored[outputs // self.width, :, outputs % self.width])
        return rows if self.scale is None else rows * self.scale[outputs, None]

    def product(self, x: Float[Tensor, "*batch d_in"]) -> Float[Tensor, "*batch d_out"]:
        """x Wᵀ + b."""
        if x.numel() == self.in_features and not x.requires_grad:
            y = self._of_one(x.flatten()).view(*x.shape[:-1], -1)
        else:
            # Not `@`: it would copy the tiles where a gradient goes through.
            tiles = self.tiles
            y = torch.bmm(x.reshape(1, -1, self.in_features).expand(len(tiles), -1, -1), tiles)
            y = y.transpose(0, 1).reshape(*x.shape[:-1], -1)
        y = y if y.shape[-1] == self.outputs else y[..., : self.outputs]
        y = y if self.scale is None else y * self.scale
        return y if self.bias is None else y + self.bias

    def _of_one(self, x: Float[Tensor, "d_in"]) -> Float[Tensor, "tiles width"]:
        factors = x.expand(len(self.begins), -1).flatten()
        if self.scale is None:
            return torch.embedding_bag(self.table, self.order, self.begins, False, 0, False, factors)[0]
        return ADD_CODES(self.table, self.order, self.begins, False, 0, False, factors)


class TiledLinear(Tiled, nn.Linear):  # pyright: ignore[reportIncompatibleVariableOverride]  # of a property
    """One linear map, as torch.nn.Linear."""

    def __init__(self, given: nn.Linear, int8: bool):
        nn.Module.__init__(self)
        self.out_features = given.out_features
        self._take(given, int8)

    def forward(self, input: Float[Tensor, "*batch d_in"]) -> Float[Tensor, "*batch d_out"]:
        return self.product(input)


class TiledStacked(Tiled, StackedLinear):
    """Several linear maps of one input, as stacked.StackedLinear."""

    def __init__(self, given: StackedLinear, int8: bool):
        nn.Module.__init__(self)
        self.rows = given.rows
        self._take(given, int8)

    def forward(self, x: Float[Tensor, "*batch d_in"]) -> tuple[Float[Tensor, "*batch _"], ...]:
        return self.product(x).split_with_sizes(self.rows, -1)


def _width(d_out: int) -> int:
    """Outputs of a tile: as many as make all tiles full and their number even, so that two cores have as much to do.

    WIDEST where that would make small ones.
    """
    widest = min(d_out, WIDEST)
    even = [size for size in range(widest // 2, widest + 1) if d_out % (2 * size) == 0]
    return max(even, default=widest)


def tile(net: Network, int8: bool, done: Done = untold) -> Network:
    """Have every linear map of a network keep its weights in tiles; as bytes where `int8`. Gives the network.

    The embedding stays as it is: of it a token reads one row. So a head that shared its matrix has its own now.
    `done` is told of each map.
    """
    for parent, name, child in [*_linear_maps(net)]:
        tiled = TiledLinear(child, int8) if isinstance(child, nn.Linear) else TiledStacked(child, int8)
        setattr(parent, name, tiled)
        done(tiled.shape.numel())
    return net


def count_to_tile(net: Network) -> int:
    """How many numbers `tile` lays out."""
    return sum(child.weight.numel() for _, _, child in _linear_maps(net))


def _linear_maps(net: Network) -> Iterator[tuple[nn.Module, str, nn.Linear | StackedLinear]]:
    """The maps that are not in tiles: where each stands, by which name, and itself."""
    for parent in net.modules():
        for name, child in parent.named_children():
            if type(child) is nn.Linear or type(child) is StackedLinear:
                yield parent, name, child


def lies_in_tiles(net: Network, device: torch.device, dtype: torch.dtype) -> bool:
    """Whether the weights of this network, which are not rounded to 8 bits, are to be held in tiles."""
    many = dtype == torch.float32 and count_weights(net) > MANY
    return device.type == "cpu" and (dtype == torch.bfloat16 or many)


def bytes_held(net: Network, device: torch.device, dtype: torch.dtype, int8: bool) -> int:
    """The bytes that the weights of this network take once they are read, but for scales and what fills up a tile."""
    embedding = net.embed.weight.numel()
    own_head = net.config.tied_embeddings and (int8 or lies_in_tiles(net, device, dtype))
    others = count_weights(net) - embedding + (embedding if own_head else 0)
    return embedding * dtype.itemsize + others * (1 if int8 else dtype.itemsize)


def weight_rows(linear: nn.Linear, outputs: Sequence[int] | int) -> Float[Tensor, "*some d_in"]:
    """Some rows of a map's matrix, in tiles or not."""
    if isinstance(linear, Tiled):
        return linear.rows_of(torch.tensor(outputs))
    return linear.weight[outputs]


def named_weights(net: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """Every weight by its name, as `named_parameters`, those in tiles written out; a tied head is left out."""
    for name, weight in _named(net):
        yield name, weight.weight if isinstance(weight, Tiled) else weight


def count_weights(net: nn.Module) -> int:
    """How many numbers these are together."""
    return sum(one.shape.numel() for _, one in _named(net))


def own_weights(module: nn.Module) -> Iterator[tuple[str, Tensor | Tiled]]:
    """The weights of one module by their names; a matrix in tiles is not written out."""
    if isinstance(module, Tiled):
        yield "weight", module
    yield from module.named_parameters(recurse=False)


def _named(net: nn.Module) -> Iterator[tuple[str, Tensor | Tiled]]:
    tied = isinstance(net, Network) and net.config.tied_embeddings
    seen: set[int] = set()
    for path, module in net.named_modules():
        for own, weight in own_weights(module):
            if id(weight) not in seen and not (tied and weight is module and path == "head"):
                seen.add(id(weight))
                yield f"{path}.{own}" if path else own, weight
