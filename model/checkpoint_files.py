"""The files of a checkpoint: a directory in Hugging Face's format, or one GGUF file. `open_checkpoint` finds which.

Weights are read from safetensors and GGUF alone: both hold numbers, where other formats can run code.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from huggingface_hub import snapshot_download
from huggingface_hub.errors import GatedRepoError, HFValidationError, RepositoryNotFoundError
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import Tensor

from .checkpoint_checks import check_header, damaged_file
from .errors import GlassLlamaError, clipped, reason, several, shortly
from .gguf.file import GgufFile
from .gguf.reader import is_gguf
from .loading import Done, untold
from .tokenizer import Tokenizer

MOST_FILES = 4096
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
# Bytes of config.json and of an index: published ones have some 100 kB and 15 MB at most.
MOST_CONFIG, MOST_INDEX = 4 * 2**20, 32 * 2**20


class CheckpointFiles(Protocol):
    """What a network is loaded from.

    `place` is the directory or file itself, `directory` where a checkpoint's own records are, if it has any. `config`
    is its config.json, parsed.
    """

    @property
    def place(self) -> Path: ...
    @property
    def directory(self) -> Path | None: ...
    @property
    def config(self) -> dict[str, Any]: ...

    def shapes(self) -> Mapping[str, list[int]]:
        """The shape of every tensor, by Hugging Face's name. Raises GlassLlamaError for a damaged file."""
        ...

    def tensors(self, done: Done = untold) -> dict[str, Tensor]:
        """Every tensor, by Hugging Face's name; `done` is told what is read. Raises GlassLlamaError for a damaged
        file."""
        ...

    def tokenizer(self, vocab_size: int) -> Tokenizer:
        """The tokenizer. Raises GlassLlamaError where it has tokens beyond `vocab_size`, or is damaged."""
        ...


def open_checkpoint(where: str | Path) -> CheckpointFiles:
    """The files at a path (a directory, or a GGUF file under any name), or of a Hub id. Raises GlassLlamaError."""
    path = Path(os.path.expanduser(where))
    return GgufFile(path) if is_gguf(path) else SafetensorsDirectory(_directory(where))


class SafetensorsDirectory:
    """A checkpoint in Hugging Face's format: config.json, tokenizer.json and safetensors files."""

    def __init__(self, directory: Path):
        self.place = self.directory = directory
        self.config = _read_json(directory / "config.json", MOST_CONFIG)
        index = directory / INDEX
        self._files = weight_files(directory, _read_json(index, MOST_INDEX) if index.exists() else None)

    def shapes(self) -> dict[str, list[int]]:
        """As CheckpointFiles: from the headers alone."""
        shapes: dict[str, list[int]] = {}
        for file in self._files:
            try:
                check_header(file)
                with safe_open(file, framework="pt") as opened:
                    shapes |= {name: opened.get_slice(name).get_shape() for name in opened.keys()}  # noqa: SIM118
            except (SafetensorError, OSError) as error:
                raise damaged_file(file, error) from error
        return shapes

    def tensors(self, done: Done = untold) -> dict[str, Tensor]:
        """As CheckpointFiles."""
        found: dict[str, Tensor] = {}
        for file in self._files:
            try:
                read = load_file(file)
            except (SafetensorError, OSError) as error:
                raise damaged_file(file, error) from error
            found |= read
            done(sum(tensor.numel() for tensor in read.values()))
        return found

    def tokenizer(self, vocab_size: int) -> Tokenizer:
        """As CheckpointFiles."""
        return Tokenizer.from_file(self.directory / "tokenizer.json", vocab_size)


def weight_files(directory: Path, index: dict[str, Any] | None) -> list[Path]:
    """The safetensors files of a checkpoint, those of its `index` where it has one. Raises where one is missing."""
    if index is not None:
        weight_map = index.get("weight_map")
        if not isinstance(weight_map, dict) or not all(isinstance(name, str) for name in weight_map.values()):
            raise GlassLlamaError("checkpoint", f"{directory / INDEX} has no weight_map of file names; fetch it again.")
        names = sorted(set(weight_map.values()))
        if len(names) > MOST_FILES:
            said = f"weight_map names {len(names):,} files; expected at most {MOST_FILES:,}"
            raise GlassLlamaError("checkpoint", f"{directory / INDEX}: {said}.")
        if outside := [name for name in names if Path(name).name != name or not name.endswith(".safetensors")]:
            said = f"weight_map names {shortly(outside[0])}; expected the name of a safetensors file beside it"
            raise GlassLlamaError("checkpoint", f"{directory / INDEX}: {said}.")
        files = [directory / name for name in names]
    else:
        files = [directory / WEIGHTS]
    if missing := [file.name for file in files if not os.path.isfile(file)]:
        raise GlassLlamaError("checkpoint", f"{directory}: {several(missing, 3)} missing; only safetensors files are "
                              "loaded (convert other formats with transformers' save_pretrained).")  # fmt: skip
    return files


def _directory(where: str | Path) -> Path:
    """The directory itself, or where the Hub's client put the files of a Hub id."""
    path = Path(os.path.expanduser(where))
    if os.path.isdir(path):  # Path's own methods raise for an unknown ~user and for a name that is too long
        return path
    if isinstance(where, Path) or path.is_absolute() or where.startswith((".", "~")) or where.count("/") > 1:
        raise GlassLlamaError("checkpoint", f"{where}: no such directory; give a directory that holds config.json, "
                              "tokenizer.json and safetensors files, or a GGUF file.")  # fmt: skip
    try:
        patterns = ["config.json", "tokenizer.json", "*.safetensors", INDEX]
        return Path(snapshot_download(str(where), allow_patterns=patterns))
    except GatedRepoError as error:
        hint = "it is gated: accept its terms on its page, then run `hf auth login`"
        raise GlassLlamaError("hub", f"{where}: {hint}.") from error
    except (RepositoryNotFoundError, HFValidationError) as error:
        hint = "there is no such directory here and no such model on the Hub"
        raise GlassLlamaError("hub", f"{where}: {hint}; check the spelling (OWNER/NAME).") from error
    except Exception as error:  # the client lets errors of its HTTP library through, under their own classes
        said = str(error).partition("\n")[0].rstrip(".") or type(error).__name__
        hint = f"the Hub cannot be reached and the model is not in the local cache ({clipped(said, 200)})"
        raise GlassLlamaError("hub", f"{where}: {hint}; download it elsewhere and give its directory.") from error


def _read_json(path: Path, most: int) -> dict[str, Any]:
    """The object in a file of up to `most` bytes. Raises GlassLlamaError, also where a field stands twice in it."""
    if not os.path.isfile(path):
        raise GlassLlamaError("checkpoint", f"{path} is missing; a checkpoint needs config.json, tokenizer.json and "
                              "safetensors files.")  # fmt: skip
    if (size := path.stat().st_size) > most:
        raise GlassLlamaError("checkpoint", f"{path} has {size:,} bytes; expected at most {most:,}.")
    try:
        raw = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_once)
    except (ValueError, RecursionError, OSError) as error:
        said = clipped(reason(error), 200)
        raise GlassLlamaError("checkpoint", f"{path} cannot be read as JSON ({said}); fetch it again.") from error
    if not isinstance(raw, dict):
        raise GlassLlamaError("checkpoint", f"{path} holds no JSON object; fetch it again.")
    return raw


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object's fields. Raises ValueError where one stands there twice with two values: which one counts?"""
    found = dict(pairs)
    for name, value in pairs if len(found) < len(pairs) else ():
        if found[name] != value:
            raise ValueError(f"{clipped(name)} is {shortly(value)} and {shortly(found[name])}")
    return found
