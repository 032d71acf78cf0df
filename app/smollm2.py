"""The real LLaMA that the page offers where its weights have been fetched: by `make smollm2`, or by a visitor where the
operator allows that (`--fetch-models`)."""

import logging
import threading
from collections.abc import Callable
from pathlib import Path

from model import GlassLlamaError
from model.on_demand import OnDemand, WeightCache
from model.smollm2 import COMMAND, NAME, PACKAGE_BYTES, WEIGHTS, FetchError, Reason, fetch
from visuals.messages.page import RealModelState

from .memory import give_back

Download = Callable[[Path, Callable[[int], object], Callable[[], bool]], object]
log = logging.getLogger("glass_llama")


def smollm2(weights: Path = WEIGHTS, device: str = "auto", dtype: str = "auto") -> list[OnDemand]:
    """SmolLM2, whose weights are read at first use and then stay; nothing where they are not there.

    Raises GlassLlamaError for a damaged file.
    """
    return [OnDemand(weights, WeightCache(0, give_back), NAME, device, dtype)] if weights.is_file() else []


class RealModel:
    """SmolLM2 as a page offers it: whether its weights are there, and their download, one at a time for all visitors.

    Weights that come while the server runs, by this or by `make smollm2`, are handed to `add`, once.
    """

    def __init__(
        self,
        weights: Path = WEIGHTS,
        device: str = "auto",
        dtype: str = "auto",
        may_fetch: bool = False,
        download: Download = fetch,
    ):
        self.may_fetch = may_fetch
        self.add: Callable[[OnDemand], None] = lambda _: None
        self._where = (weights, device, dtype)
        self._download = download
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._wanted = False
        self._bytes = 0
        self._failed: Reason | None = None
        self._added = False

    def state(self) -> RealModelState:
        """Where it stands; weights that are there are on offer from now on. Raises GlassLlamaError for damaged ones."""
        with self._lock:
            fetching = self._thread is not None
            if not self._added and not fetching:
                for lm in smollm2(*self._where):
                    self.add(lm)
                    self._added = True
            return {
                "name": NAME,
                "state": "there" if self._added else "fetching" if fetching else "absent",
                "command": COMMAND,
                "mayFetch": self.may_fetch,
                "bytes": self._bytes,
                "total": PACKAGE_BYTES,
                "failed": self._failed,
            }

    def fetch(self) -> None:
        """Begin the download where it is not under way. Raises GlassLlamaError where the operator does not allow it."""
        if not self.may_fetch:
            raise GlassLlamaError(
                "bad_request", "This server fetches no models; its operator allows it by --fetch-models."
            )
        with self._lock:
            if self._thread is not None or self._added:
                return
            self._wanted, self._bytes, self._failed = True, 0, None
            self._thread = threading.Thread(target=self._run, name="smollm2")
            self._thread.start()

    def cancel(self) -> None:
        """End the download under way, if there is one, within a few tenths of a second."""
        self._wanted = False

    def wait(self) -> None:
        """Until no download is under way."""
        if (thread := self._thread) is not None:
            thread.join()

    def _run(self) -> None:
        failed: Reason | None = None
        try:
            self._download(self._where[0], self._tell, self._is_wanted)
        except FetchError as error:
            failed = error.reason
            log.warning("%s", error)
        except Exception:
            failed = "other"
            log.exception("SmolLM2 cannot be fetched")
        finally:
            with self._lock:
                self._failed, self._thread = failed, None

    def _tell(self, count: int) -> None:
        self._bytes = count

    def _is_wanted(self) -> bool:
        """Not where the server goes down, which waits for this thread."""
        return self._wanted and threading.main_thread().is_alive()
