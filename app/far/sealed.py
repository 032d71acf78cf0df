"""What a page and its replicas send each other is sealed with a key that both have: who lacks it is not listened to.

Nothing is unpickled before its seal is found right, since to unpickle is to run what the sender likes. An answer's seal
holds for one question and one place in the answer. What is sent can be read on its way: the network between is ours.
"""

import hmac
import os
import struct
from collections.abc import Iterator

KEY = "GLASS_LLAMA_KEY"  # the environment's name of it
FEWEST = 16  # characters of a key
REFUSED = 403  # the status of a response to a question whose seal is wrong
NONCE_BYTES = SEAL_BYTES = 32
HEAD = struct.Struct(">Q")  # of a frame: how many bytes of data there are


class SealError(ValueError):
    """A seal that is not ours."""

    def __init__(self) -> None:
        super().__init__(f"{KEY} is not the same for the page and for its models")


def key_from_environment() -> bytes:
    """The key. Raises ValueError where there is none, or one that is soon guessed."""
    key = os.environ.get(KEY, "")
    if len(key) < FEWEST:
        raise ValueError(f"{KEY} has {len(key)} characters; expected a secret of {FEWEST} or more in the environment")
    return key.encode()


def _seal(key: bytes, *parts: bytes) -> bytes:
    told = b"".join(HEAD.pack(len(part)) + part for part in parts)
    return hmac.digest(key, told, "sha256")


def sealed_question(key: bytes, nonce: bytes, data: bytes) -> bytes:
    """A question as it is sent; `nonce` is of NONCE_BYTES and new for each."""
    return _seal(key, b"question", nonce, data) + nonce + data


def opened_question(key: bytes, sent: bytes) -> tuple[bytes, bytes]:
    """The nonce and the data. Raises SealError."""
    seal, nonce, data = sent[:SEAL_BYTES], sent[SEAL_BYTES:][:NONCE_BYTES], sent[SEAL_BYTES + NONCE_BYTES :]
    if not hmac.compare_digest(seal, _seal(key, b"question", nonce, data)):
        raise SealError
    return nonce, data


def frame(key: bytes, nonce: bytes, number: int, data: bytes) -> bytes:
    """The part of this number of the answer to the question with this nonce."""
    return HEAD.pack(len(data)) + _seal(key, b"answer", nonce, HEAD.pack(number), data) + data


class Frames:
    """Puts an answer's parts together from the bytes as they come."""

    def __init__(self, key: bytes, nonce: bytes):
        self._key, self._nonce = key, nonce
        self._number = 0
        self._bytes = bytearray()

    def feed(self, came: bytes) -> Iterator[bytes]:
        """The data of each part that is whole by now. Raises SealError."""
        self._bytes += came
        start = HEAD.size + SEAL_BYTES
        while len(self._bytes) >= start and len(self._bytes) >= (end := start + HEAD.unpack_from(self._bytes)[0]):
            seal, data = bytes(self._bytes[HEAD.size : start]), bytes(self._bytes[start:end])
            number = HEAD.pack(self._number)
            if not hmac.compare_digest(seal, _seal(self._key, b"answer", self._nonce, number, data)):
                raise SealError
            del self._bytes[:end]
            self._number += 1
            yield data
