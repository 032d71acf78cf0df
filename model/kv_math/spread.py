"""Bytes spread over the layers, and what pipeline stages hold of them: differences of running sums. Pure integers.

A sum over every layer, of every product, for every number of stages would cost a second for a model of a thousand
layers that are all different. Here layers that one product covers are counted together, and each number of stages
takes one step a stage.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, starmap
from operator import sub

Layers = tuple[int, ...]


@lru_cache(maxsize=1024)
def counts_before(layers: Layers, end: int) -> tuple[int, ...]:
    """How many of the ascending `layers` stand before layer 0, 1, … `end`."""
    marks = [0] * (end + 1)
    for layer in layers:
        marks[layer + 1] += 1
    return tuple(accumulate(marks))


def in_stages(running: Sequence[int], n_layers: int, pp: int, short: int = 1) -> list[int]:
    """What each of `pp` stages has, from a sum over the layers before 0, 1, …; the last one has all layers after
    `n_layers` as well.

    The (n_layers mod pp) layers that are left over go one each to the stages before the last `short` ones: before the
    last, as in vLLM, whose first and last stage hold the tables, too (vllm/distributed/utils.py, get_pp_indices).
    """
    each, more = divmod(n_layers, pp)
    short = short if more else 0
    longer, end = (pp - short - more) * each, n_layers - short * each  # where stages with a layer more begin and end
    starts = [*running[:longer:each], *running[longer : end : each + 1], *running[end:n_layers:each]]
    return [*starmap(sub, zip(starts[1:], starts, strict=False)), running[-1] - starts[-1]]


@dataclass(frozen=True)
class Share:
    """Bytes of one product on one rank, over all of its layers: a stage with n of them holds its part, rounded up."""

    layers: Layers
    bytes: int


class Spread:
    """Shares of one rank, and what stands outside the layers: `first` bytes on the first stage, `last` on the last,
    `both` on either (once where they are one).
    """

    def __init__(self, n_layers: int, extra: int, shares: Iterable[Share], first: int, last: int, both: int = 0):
        """`extra` layers after the model's `n_layers` belong to the last stage."""
        self.n_layers, self.end = n_layers, n_layers + extra
        self.first, self.last, self.both = first, last, both
        self._shares: dict[Layers, list[int]] = {}
        for share in shares:
            self._shares.setdefault(share.layers, []).append(share.bytes)

    @cached_property
    def least_before(self) -> tuple[int, ...]:
        """The bytes of all layers before 0, 1, … end, where a layer counts a whole number of bytes, rounded down."""
        each = [0] * self.end
        for layers, shares in self._shares.items():
            of_one = sum(share // len(layers) for share in shares)
            for layer in layers:
                each[layer] += of_one
        return (0, *accumulate(each))

    @cached_property
    def _uneven(self) -> list[tuple[tuple[int, ...], dict[int, int], list[tuple[int, int]]]]:
        """Of shares that no whole number of bytes a layer makes: layers before each, bytes by count as they are worked
        out, and (what is left over, layers) of each."""
        found = []
        for layers, shares in self._shares.items():
            if left := [(share % len(layers), len(layers)) for share in shares if share % len(layers)]:
                found.append((counts_before(layers, self.end), {}, left))
        return found

    def in_stages(self, pp: int, short: int = 1) -> tuple[int, ...]:
        """Bytes on one rank of each of `pp` stages; `short` as in the function."""
        held = in_stages(self.least_before, self.n_layers, pp, short)
        for before, known, left in self._uneven:
            for stage, count in enumerate(in_stages(before, self.n_layers, pp, short)):
                if count not in known:
                    known[count] = sum(-(-over * count // layers) for over, layers in left)
                held[stage] += known[count]
        held[0] += self.first + self.both
        held[-1] += self.last + (self.both if pp > 1 else 0)
        return tuple(held)
