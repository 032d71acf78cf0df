"""What the server writes of itself: one line a request, and no more of what goes wrong than anyone would read.

Whoever makes a server fail on purpose would fill its disk with tracebacks: a record has up to MOST_CHARACTERS, and of
those that are alike MOST_ALIKE are written in WINDOW_SECONDS, then how many there were.
"""

import logging
import secrets
import time
from hashlib import blake2b

from .visitors import Visitor

MOST_CHARACTERS = 2_000
MOST_ALIKE, WINDOW_SECONDS = 10, 10.0
# Kinds of records that are told apart; beyond them the oldest is forgotten.
KINDS = 256
LAYOUT = "%(asctime)s %(levelname)s %(name)s %(message)s"
# Tells visitors apart in one run of the server, and never who they are.
_SALT = secrets.token_bytes(16)

requests = logging.getLogger("glass_llama.requests")


def alias(visitor: Visitor) -> str:
    """A few characters that stand for a visitor's address in the log."""
    return blake2b(visitor.address.encode(), key=_SALT, digest_size=4).hexdigest()


class Bounded(logging.Filter):
    """Shortens records, and holds back those that are alike."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[tuple[str, int, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is written; shortened where it is."""
        if record.name == requests.name:
            return True
        now, kind = time.monotonic(), (record.name, record.levelno, str(record.msg)[:200])
        begun, count = self._seen.pop(kind, (now, 0))
        more = count - MOST_ALIKE if now - begun > WINDOW_SECONDS else 0
        if now - begun > WINDOW_SECONDS:
            begun, count = now, 0
        self._seen[kind] = begun, count + 1
        while len(self._seen) > KINDS:
            del self._seen[next(iter(self._seen))]
        if count >= MOST_ALIKE:
            return False
        text = record.getMessage() + (f" (and {more} like it before)" if more > 0 else "")
        record.msg, record.args = text[:MOST_CHARACTERS], ()
        if record.exc_info and not record.exc_text:
            # The end says what failed, and the beginning in which request.
            record.exc_text = ends_of(logging.Formatter().formatException(record.exc_info))
        return True


def ends_of(text: str) -> str:
    """A text of up to MOST_CHARACTERS, or its two ends."""
    half = MOST_CHARACTERS // 2
    return (
        text
        if len(text) <= MOST_CHARACTERS
        else f"{text[:half]}\n… {len(text) - 2 * half} characters …\n{text[-half:]}"
    )


def set_up(each_request: bool) -> None:
    """Write all records to the terminal in one layout, bounded; of requests a line each where that is asked for."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter(LAYOUT))
    handler.addFilter(Bounded())
    root = logging.getLogger()
    root.handlers = [handler]
    requests.setLevel(logging.INFO if each_request else logging.WARNING)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [], True
