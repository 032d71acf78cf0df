"""Checkpoints whose weights are read when they are first used, and let go of again, within a bound of bytes.

What is known without weights (config, parameters, device) is known at once. A run that is kept names the checkpoint and
not its weights, so it holds none of them: they are read again when the run is looked into.
"""

import threading
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from .checkpoint import filled, outline, pick_device, pick_dtype, tokenizer_of
from .errors import GlassLlamaError
from .network import Network
from .tokenizer import Tokenizer


class Keeper:
    """The networks whose weights are held, least recently used first, in `max_bytes` together.

    What is at work is never let go of, and neither is what was asked for last, whatever its size. Safe to use from
    several threads; a network is read by one of them while the others that want it wait.
    """

    def __init__(self, max_bytes: int):
        self.max_bytes = max_bytes
        self._held: OrderedDict[OnDemand, Network] = OrderedDict()
        self._at_work: Counter[OnDemand] = Counter()
        self._lock = threading.Lock()

    @property
    def held(self) -> list[str]:
        """The names of the networks whose weights are held, least recently used first."""
        with self._lock:
            return [lm.name for lm in self._held]

    @property
    def nbytes(self) -> int:
        """Bytes of all weights held."""
        with self._lock:
            return sum(lm.nbytes for lm in self._held)

    def network(self, lm: "OnDemand") -> Network:
        """The network with its weights, now the most recently used one. Raises GlassLlamaError("model_unreadable")."""
        with lm.reading:
            with self._lock:
                if (net := self._held.get(lm)) is not None:
                    self._held.move_to_end(lm)
                    return net
            try:
                net = filled(outline(lm.directory), lm.device, lm.dtype)
            except GlassLlamaError as error:  # which says where the files are, no visitor's business
                said = f"The weights of {lm.name} cannot be read any more on the machine that this runs on."
                raise GlassLlamaError("model_unreadable", said, name=lm.name) from error
            with self._lock:
                self._held[lm] = net
                self._let_go(lm)
            return net

    @contextmanager
    def at_work(self, lm: "OnDemand") -> Iterator[None]:
        """A context in which this network is not let go of once it is held."""
        with self._lock:
            self._at_work[lm] += 1
        try:
            yield
        finally:
            with self._lock:
                self._at_work[lm] -= 1
                self._let_go()

    def _let_go(self, newest: "OnDemand | None" = None) -> None:
        newest = newest or next(reversed(self._held), None)
        for lm in list(self._held):
            if sum(one.nbytes for one in self._held) <= self.max_bytes:
                return
            if lm is not newest and not self._at_work[lm]:
                del self._held[lm]


class OnDemand:
    """A checkpoint that stands where a LanguageModel does; tokenizer and weights are read when they are first used.

    `nbytes` is what its weights take where they are held; `keeper` says whether they are.
    """

    def __init__(self, where: str | Path, keeper: Keeper, name: str, device: str = "auto", dtype: str = "auto"):
        """Reads config.json and the headers of the weights. Raises GlassLlamaError as `load` does."""
        self._plan = plan = outline(where)
        if plan.config.tied_embeddings:
            plan.net.head.weight = plan.net.embed.weight
        self.name = name
        self.config = plan.config
        self.directory = plan.directory
        self.device = pick_device(device)
        self.dtype = pick_dtype(dtype, self.device)
        self.n_parameters = sum(weight.numel() for weight in plan.net.parameters())
        self.nbytes = self.n_parameters * self.dtype.itemsize
        self.reads_source = hasattr(plan.net, "encoder")
        self.keeper = keeper
        self.reading = threading.Lock()
        self._tokenizer: Tokenizer | None = None

    @property
    def net(self) -> Network:
        """The network with its weights, read where they are not held."""
        return self.keeper.network(self)

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer, which is small and stays."""
        with self.reading:
            self._tokenizer = self._tokenizer or tokenizer_of(self._plan)
            return self._tokenizer

    def in_use(self) -> AbstractContextManager[None]:
        """A context in which the weights are not let go of."""
        return self.keeper.at_work(self)
