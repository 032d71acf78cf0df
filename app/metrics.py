"""What the server counts of itself, for an operator's Prometheus and for the log: kinds of work, seconds, refusals.

Knows kinds and addresses alone, and nothing of what is asked.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

from .logs import alias, requests
from .visitors import Visitor

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
PREFIX = "glass_llama_"


class Metrics:
    """The figures of one page. Safe to use from several threads."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        given = {"registry": self.registry, "buckets": SECONDS}
        self._seconds = Histogram(f"{PREFIX}seconds", "Seconds of work, by kind of request.", ["kind"], **given)
        self._waited = Histogram(f"{PREFIX}waited_seconds", "Seconds until work began, by kind.", ["kind"], **given)
        names = ["kind", "reason"]
        self._refused = Counter(f"{PREFIX}refused", "Requests refused.", names, registry=self.registry)

    def gauge(self, name: str, what: str, read: Callable[[], float]) -> None:
        """A figure that is read off when it is asked for."""
        Gauge(PREFIX + name, what, registry=self.registry).set_function(read)

    @contextmanager
    def work(self, kind: str, visitor: Visitor, since: float | None = None) -> Iterator[None]:
        """A context that is the work on a request, which was taken in at `since` (time.monotonic)."""
        begun = time.monotonic()
        waited = begun - (begun if since is None else since)
        try:
            yield
        finally:
            seconds = time.monotonic() - begun
            self._seconds.labels(kind).observe(seconds)
            self._waited.labels(kind).observe(waited)
            requests.info("kind=%s seconds=%.3f waited=%.3f visitor=%s", kind, seconds, waited, alias(visitor))

    def refused(self, kind: str, reason: str, visitor: Visitor) -> None:
        """A request was refused."""
        self._refused.labels(kind, reason).inc()
        requests.info("kind=%s refused=%s visitor=%s", kind, reason, alias(visitor))

    def text(self) -> bytes:
        """All figures, in Prometheus's text format."""
        return generate_latest(self.registry)
