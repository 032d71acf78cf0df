"""Models looked up on the Hub for visitors: in a few threads of their own, few at once, and only for seconds.

A Hub that does not answer takes these threads and nothing else: whoever asks beyond them is told so at once.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from ipaddress import ip_address

from model import ModelSpec
from model.published.hf_spec import spec_from_hub
from model.published.hub import SECONDS, checked_id, hub_refusal

THREADS, WAITING = 4, 4
REMEMBERED = 64


class Lookups:
    """The shapes of models on the Hub. Two who ask for one model share one look-up; what was found is remembered."""

    def __init__(self, fetch: Callable[[str], ModelSpec] = spec_from_hub, seconds: float = SECONDS + 2):
        """`seconds` is how long anyone waits for an answer; a look-up ends by itself a little earlier."""
        self.allowed = "SPACE_ID" not in os.environ
        self.fetch = fetch
        self.seconds = seconds
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="hub")
        self._asked: dict[str, Future[ModelSpec]] = {}
        self._found: OrderedDict[str, ModelSpec] = OrderedDict()
        self._waiting = 0
        self._lock = threading.Lock()

    def spec(self, model_id: object) -> ModelSpec:
        """The shape of a model by its id, OWNER/NAME.

        Raises GlassLlamaError (code "hub"): as spec_from_hub does, and with the reason "off" where this server asks no
        Hub, "busy" where THREADS + WAITING others wait or as many look-ups are under way, "slow" where it takes too
        long.
        """
        if not self.allowed:
            raise hub_refusal(str(model_id), "off")
        name = checked_id(model_id)
        with self._lock:
            if name in self._found:
                self._found.move_to_end(name)
                return self._found[name]
            if self._waiting >= THREADS + WAITING:
                raise hub_refusal(name, "busy")
            answer = self._asked.get(name) or self._ask(name)
            self._waiting += 1
        try:
            return answer.result(self.seconds)
        except NotYet as error:
            raise hub_refusal(name, "slow") from error
        finally:
            with self._lock:
                self._waiting -= 1

    def _ask(self, name: str) -> Future[ModelSpec]:
        if len(self._asked) >= THREADS + WAITING:
            raise hub_refusal(name, "busy")
        self._asked[name] = answer = self._pool.submit(self._look_up, name)
        return answer

    def _look_up(self, name: str) -> ModelSpec:
        try:
            spec = self.fetch(name)
            with self._lock:
                self._found[name] = spec
                while len(self._found) > REMEMBERED:
                    self._found.popitem(last=False)
            return spec
        finally:
            with self._lock:
                del self._asked[name]


def allowed_at(host: str) -> bool:
    """Whether a server that listens on `host` looks models up unless it is told otherwise: where only this machine
    reaches it, and not on a Space."""
    if "SPACE_ID" in os.environ:
        return False
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


LOOKUPS = Lookups()
