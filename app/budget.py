"""How much long work each visitor may ask for in a span of time, whichever question asks for it."""

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from model import GlassLlamaError

# In multiply–adds. Two cores do some 3e10 in a second: so a visitor may ask for a minute of them at once, and has that
# back after two. The largest causal map of the bundled model takes 2.5e11, all 1,364 edges of its largest circuit 1e12;
# one map of MAP_WORK (app/requests.py), the most that any model's may take, 1e12. Of the page's examples, of some 15
# tokens, why, circuit, edges and map together take 7e10; of one of SmolLM2's, all its 1,074 edges included, 1.1e12. A
# GPU does as much more as `model.pieces` says.
SIZE = 2e12
PER_SECOND = SIZE / 120


class Budgets:
    """What each visitor may still ask for: `size`, less what was asked for, and `per_second` more with every second.

    What costs more than `size` may be asked for when nothing is spent; then there is less than nothing for a while.
    Where budgets are there `for_others`, nobody is refused while all others have back what they asked for. Who goes on
    then owes `size` at most, and waits no longer once another comes.
    """

    def __init__(
        self,
        size: float = SIZE,
        per_second: float = PER_SECOND,
        clock: Callable[[], float] = time.monotonic,
        for_others: bool = False,
    ):
        self.size, self.per_second, self.for_others = size, per_second, for_others
        self._clock = clock
        self._spent: OrderedDict[str, tuple[float, float]] = OrderedDict()  # by visitor: how much, as of when
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._spent)

    def spend(self, visitor: str, cost: float) -> None:
        """Take the cost of what is asked for.

        Raises GlassLlamaError("budget") where the visitor has too little left; `seconds` is when there is enough again.
        """
        with self._lock:
            now = self._clock()
            while self._spent and not self._owed(next(iter(self._spent)), now):
                self._spent.popitem(last=False)
            owed = self._owed(visitor, now)
            over = owed + min(cost, self.size) - self.size
            if over > 0 and self.for_others and not self._others_owe(visitor, now):
                owed -= over
            elif over > 0:
                seconds = math.ceil(over / self.per_second)
                said = f"You have asked for much work in a short time. Try again in {seconds} seconds."
                raise GlassLlamaError("budget", said, seconds=seconds)
            self._keep(visitor, owed + cost, now)

    def charge(self, visitor: str, cost: float) -> None:
        """Take the cost of what was done already, also where there is less than that left."""
        with self._lock:
            now = self._clock()
            self._keep(visitor, self._owed(visitor, now) + cost, now)

    def give_back(self, visitor: str, cost: float) -> None:
        """The work was not done after all."""
        with self._lock:
            now = self._clock()
            self._keep(visitor, max(0.0, self._owed(visitor, now) - cost), now)

    def _others_owe(self, visitor: str, now: float) -> bool:
        return any(self._owed(other, now) > 0 for other in self._spent if other != visitor)

    def _owed(self, visitor: str, now: float) -> float:
        spent, since = self._spent.get(visitor, (0.0, now))
        return max(0.0, spent - (now - since) * self.per_second)

    def _keep(self, visitor: str, spent: float, now: float) -> None:
        self._spent[visitor] = spent, now
        self._spent.move_to_end(visitor)
