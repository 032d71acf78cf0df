"""Whose work is next: the address with the least work under way; of equal ones, the one that was served longest ago.

Within an address its pages take turns the same way. Whoever makes up sessions shares the turns of one address.
"""

from collections import Counter, OrderedDict
from collections.abc import Hashable
from typing import NamedTuple

from .visitors import Visitor

# So many addresses and sessions are remembered as served; who is forgotten counts as one who never was.
REMEMBERED = 4096


class Rank(NamedTuple):
    """The place in the order of what waits: the lowest is next."""

    at_work: int
    address_served: int
    session_served: int


class Fairness:
    """What each visitor has at work, and when each was last served. For use from one thread."""

    def __init__(self) -> None:
        self.at_work: Counter[str] = Counter()
        self._served: OrderedDict[Hashable, int] = OrderedDict()
        self._tick = 0

    def rank(self, visitor: Visitor) -> Rank:
        """How soon a piece of this visitor's work is due."""
        served = self._served
        return Rank(self.at_work[visitor.address], served.get(visitor.address, 0), served.get(visitor, 0))

    def begin(self, visitor: Visitor) -> None:
        """A piece of the visitor's work begins."""
        self.at_work[visitor.address] += 1
        self._tick += 1
        for name in (visitor.address, visitor):
            self._served[name] = self._tick
            self._served.move_to_end(name)
        while len(self._served) > 2 * REMEMBERED:
            self._served.popitem(last=False)

    def end(self, visitor: Visitor) -> None:
        """It is over."""
        self.at_work[visitor.address] -= 1
        if self.at_work[visitor.address] <= 0:
            del self.at_work[visitor.address]
