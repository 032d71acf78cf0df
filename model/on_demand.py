"""Checkpoints whose weights are read at first use, and dropped again to stay below a number of bytes.

Config, number of parameters and device are known at once, without the weights. A kept run names its checkpoint and
holds no weights: they are read again when somebody looks into the run.
"""

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from .checkpoint import INT8, Outline, count_steps, load_weights, pick_device, pick_dtype, read_outline, read_tokenizer
from .errors import GlassLlamaError
from .loading import Loading
from .network import Network
from .tiled import bytes_held, count_weights
from .tokenizer import Tokenizer
from .weight_error import TEXT


class WeightCache:
    """Keeps the weights of the networks used last, in `max_bytes` together; the least recently used go first.

    Two are never dropped: a network at work, and the one asked for last, whatever its size. Safe to use from several
    threads: one thread reads a network, and the others that want it wait.
    """

    def __init__(self, max_bytes: int, when_read: Callable[[], None] | None = None):
        """`when_read` is called whenever weights have been read, which leaves much memory behind that nothing is in."""
        self.max_bytes = max_bytes
        self._when_read = when_read
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
        with lm.read_lock:
            with self._lock:
                if (net := self._held.get(lm)) is not None:
                    self._held.move_to_end(lm)
                    return net
            try:
                net = self._read(lm)
                with self._lock:
                    self._held[lm] = net
                    self._evict(lm)
                return net
            finally:
                lm.steps_done = 0

    def _read(self, lm: "OnDemand") -> Network:
        try:
            plan = lm.take_outline()  # and reads the tokenizer
            net = load_weights(plan, lm.device, lm.dtype, lm.int8_measured_on, lm.count)
        except GlassLlamaError as error:  # which says where the files are, no visitor's business
            said = f"The weights of {lm.name} cannot be read any more on the machine that this runs on."
            raise GlassLlamaError("model_unreadable", said, name=lm.name) from error
        if self._when_read is not None:
            self._when_read()
        return net

    def holds(self, lm: "OnDemand") -> bool:
        """Whether this network's weights are held now; does not wait for those that are being read."""
        with self._lock:
            return lm in self._held

    @contextmanager
    def at_work(self, lm: "OnDemand") -> Iterator[None]:
        """A context in which this network is not dropped once it is held."""
        with self._lock:
            self._at_work[lm] += 1
        try:
            yield
        finally:
            with self._lock:
                self._at_work[lm] -= 1
                self._evict()

    def _evict(self, newest: "OnDemand | None" = None) -> None:
        newest = newest or next(reversed(self._held), None)
        for lm in list(self._held):
            if sum(one.nbytes for one in self._held) <= self.max_bytes:
                return
            if lm is not newest and not self._at_work[lm]:
                del self._held[lm]


class OnDemand:
    """A checkpoint in place of a LanguageModel: it reads tokenizer and weights at first use.

    `nbytes` is the size of its weights in memory; `weight_cache` says whether they are there now.
    """

    def __init__(
        self, where: str | Path, weight_cache: WeightCache, name: str, device: str = "auto", dtype: str = "auto"
    ):
        """Reads config.json and the headers of the weights. Raises GlassLlamaError as `load` does."""
        plan = read_outline(where)
        self._plan: Outline | None = plan  # until the weights are read; of a GGUF file it holds the whole file mapped
        if plan.config.tied_embeddings:
            plan.net.head.weight = plan.net.embed.weight
        self.name = name
        self.config = plan.config
        self.where = where
        self.directory = plan.files.directory
        self.stated = plan.files.config
        self.device = pick_device(device)
        self.dtype = pick_dtype(dtype, self.device)
        self.n_parameters = count_weights(plan.net)
        self._int8 = dtype == INT8
        self.nbytes = bytes_held(plan.net, self.device, self.dtype, self._int8)
        self._steps = count_steps(plan, self.device, self.dtype, self._int8)
        self.steps_done = 0  # of reading the weights, while they are read
        self.reads_source = hasattr(plan.net, "encoder")
        self.weight_cache = weight_cache
        self.read_lock = threading.Lock()
        self._tokenizer: Tokenizer | None = None

    @property
    def net(self) -> Network:
        """The network with its weights, read where they are not held."""
        return self.weight_cache.network(self)

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer, which is small and stays."""
        with self.read_lock:
            return self._read_tokenizer()

    def _read_tokenizer(self) -> Tokenizer:
        if self._tokenizer is None:
            assert self._plan is not None
            self._tokenizer = read_tokenizer(self._plan)
        return self._tokenizer

    @property
    def int8_measured_on(self) -> list[int] | None:
        """What the error of int8 weights is measured on, None of others; to be asked for under `read_lock`."""
        return self._read_tokenizer().encode(TEXT) if self._int8 else None

    def take_outline(self) -> Outline:
        """The checkpoint's outline: that of the start for the first weights, read anew for all others.

        To be called under `read_lock`. Raises GlassLlamaError.
        """
        self._read_tokenizer()
        plan, self._plan = self._plan, None
        return plan or read_outline(self.where)

    def count(self, numbers: int) -> None:
        """So many numbers more are through a step of reading the weights."""
        self.steps_done += numbers

    def loading(self) -> Loading | None:
        """How far the reading of the weights is, nothing being done before it begins; None where they are held.

        Asked from another thread, it does not wait.
        """
        return None if self.weight_cache.holds(self) else Loading(self.steps_done, self._steps)

    def in_use(self) -> AbstractContextManager[None]:
        """A context in which the weights are not dropped."""
        return self.weight_cache.at_work(self)
