"""Named points in the network where a value can be seen, and a context manager that records it.

A Tap does nothing. It gives a value a module of its own, so that an ordinary forward hook can record it; nothing is
ever recorded inside `forward`. Knows nothing about LLaMA.
"""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from threading import get_ident
from typing import cast
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle


class Tap(nn.Module):
    """The identity. Its name within the network (say `layers.3.attn.q_rot`) is the name of the value."""

    _forward_hooks: dict[int, Callable[..., object]]  # torch's own
    watch: Callable[[Tensor], None] | None = None  # `watched` sets it

    def __call__(self, value: Tensor) -> Tensor:
        # A token passes 120 taps; one that nobody watches need not go through the machinery that runs hooks.
        if self._forward_hooks:
            value = super().__call__(value)
        if self.watch is not None:
            self.watch(value)
        return value

    def forward(self, value: Tensor) -> Tensor:
        return value


_TAPS: WeakKeyDictionary[nn.Module, dict[str, Tap]] = WeakKeyDictionary()


def taps_of(net: nn.Module) -> dict[str, Tap]:
    """Every tap of a network, by its name within it. They are looked for once: a network keeps its modules."""
    if (found := _TAPS.get(net)) is None:
        modules = cast(Iterator[tuple[str, nn.Module]], net.named_modules())  # which torch leaves without a type
        found = _TAPS[net] = {name: module for name, module in modules if isinstance(module, Tap)}
    return found


_MATCHING: WeakKeyDictionary[nn.Module, dict[str, list[str]]] = WeakKeyDictionary()


def _matching(net: nn.Module, pattern: str) -> list[str]:
    """The names of a network's taps that match a pattern. They are looked for once."""
    known = _MATCHING.setdefault(net, {})
    if pattern not in known:
        known[pattern] = [name for name in taps_of(net) if fnmatchcase(name, pattern)]
    return known[pattern]


@contextmanager
def watched(watches: Mapping[Tap, Callable[[Tensor], None]]) -> Generator[None, None, None]:
    """Call a function with what passes each of these taps, after all hooks on it, while the context is open.

    One function a tap. For every token that is written: it takes a tenth of the time of `capture`, whose hooks go on
    and off by name.
    """
    try:
        for tap, watch in watches.items():
            tap.watch = watch
        yield
    finally:
        for tap in watches:
            tap.watch = None


@contextmanager
def capture(
    net: nn.Module, *patterns: str, record: Callable[[Tensor], Tensor] = Tensor.detach
) -> Generator[dict[str, Tensor], None, None]:
    """Record the value at every tap whose name matches one of the shell-style patterns, while the context is open.

    Gives a dict from name to `record(value)`, filled as the network runs; a tap that is passed twice keeps the last
    value. What another thread runs meanwhile with the same network is not recorded. The hooks come off when the context
    closes, also after an error. Raises KeyError for a pattern that no tap matches, so that a misspelt name cannot go
    unseen.
    """
    taps, ours = taps_of(net), get_ident()
    seen: dict[str, Tensor] = {}
    handles: list[RemovableHandle] = []
    try:
        for pattern in patterns:
            names = _matching(net, pattern)
            if not names:
                raise KeyError(f"no tap matches {pattern!r}; taps are {sorted(taps)}")
            for name in names:

                def hook(_module: nn.Module, _args: object, value: Tensor, name: str = name) -> None:
                    if get_ident() == ours:
                        seen[name] = record(value)

                handles.append(taps[name].register_forward_hook(hook))
        yield seen
    finally:
        for handle in handles:
            handle.remove()


class StackedValues:
    """What is recorded at several taps, one after the other: `values` (taps, …), in the order in which it was computed.

    float32; empty (0,) before the first value.
    """

    def __init__(self, taps: int):
        self._taps, self._seen = taps, 0
        self.values = torch.empty(0)

    def add(self, value: Tensor) -> Tensor:
        """Put a value in the next place."""
        if not self._seen:
            self.values = torch.empty(self._taps, *value.shape, device=value.device)
        place = self.values[self._seen]
        self._seen += 1
        return place.copy_(value)


@contextmanager
def capture_stacked(
    net: nn.Module, *patterns: str, record: Callable[[Tensor], Tensor] = Tensor.detach
) -> Generator[StackedValues, None, None]:
    """As `capture`, of taps that are passed once each and whose values have one shape: as `StackedValues`.

    Its memory is taken once. Values that are kept one by one, each taken between the large tensors of a layer, leave
    holes that are too small for the next layer's: of 1,024 tokens through SmolLM2 these grow to five times what is
    kept.
    """
    taps = sum(len(_matching(net, pattern)) for pattern in patterns)
    stacked = StackedValues(taps)
    with capture(net, *patterns, record=lambda value: stacked.add(record(value))):
        yield stacked
