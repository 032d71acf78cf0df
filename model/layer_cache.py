"""A cache of one run's recomputed layers. Knows nothing about networks: a layer is anything that has `nbytes`."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar


class Sized(Protocol):
    """Anything with a fixed size in bytes."""

    @property
    def nbytes(self) -> int: ...


T = TypeVar("T", bound=Sized)


class LayerCache(Generic[T]):
    """The layers looked at last, within `max_bytes`; the newest always stays. Safe to use from several threads.

    `nbytes` is what they hold, kept as a sum: reading it costs the same however many there are.
    """

    def __init__(self, max_bytes: int):
        self.max_bytes = max_bytes
        self.nbytes = 0
        self._layers: OrderedDict[int, T] = OrderedDict()
        self._lock = threading.Lock()
        self._grew: Callable[[int], None] | None = None

    def __len__(self) -> int:
        return len(self._layers)

    def get(self, index: int, make: Callable[[], T]) -> T:
        """The layer, made where it is not here."""
        with self._lock:
            if index in self._layers:
                self._layers.move_to_end(index)
                return self._layers[index]
        layer = make()  # outside the lock: it takes long, and a second one made meanwhile only takes its place
        with self._lock:
            before, grew = self.nbytes, self._grew
            self._drop(index)
            self._layers[index] = layer
            self.nbytes += layer.nbytes
            while len(self._layers) > 1 and self.nbytes > self.max_bytes:
                self._drop(next(iter(self._layers)))
            change = self.nbytes - before
        # Outside the lock too: who is told may have a lock of its own, and may be asking for `nbytes` under it.
        if grew and change:
            grew(change)
        return layer

    def watch(self, grew: Callable[[int], None] | None) -> int:
        """From now on tell `grew` (instead of who was told before) by how many bytes this grew; `nbytes` as of now."""
        with self._lock:
            self._grew = grew
            return self.nbytes

    def _drop(self, index: int) -> None:
        if (layer := self._layers.pop(index, None)) is not None:
            self.nbytes -= layer.nbytes
