"""A GGUF file as a checkpoint: the config.json that it amounts to, its weights, and its tokenizer."""

import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from torch import Tensor

from ..errors import GlassLlamaError, shortly
from ..families import family_of
from ..loading import Done, untold
from ..published.hf import gguf as metadata_reader
from ..tokenizer import Tokenizer
from .reader import GgufContent
from .scaling import scaling_of
from .tensors import ARCHITECTURES, NEIGHBOURS, ROPE_FACTORS, heads_of, in_halves, names_in_file, shape_of, values_of
from .tokenizer import chat_template, special_ids, tokenizer_of

_LAYER = re.compile(r"(?<=^blk\.)(\d+)(?=\.)")


class GgufFile:
    """A checkpoint in one file of llama.cpp's, as model.checkpoint_files has them.

    Raises GlassLlamaError for a damaged file, and by its name for an architecture, a key or a tensor that is not read
    here.
    """

    directory: Path | None = None  # nothing beside the file is its own

    def __init__(self, path: Path):
        self.place = path
        self._content = content = GgufContent(path)
        self.config = self._config(content.metadata)

    def _config(self, metadata: Mapping[str, Any]) -> dict[str, Any]:
        """What config.json would state. Errors name the file's own keys."""
        known = ", ".join(ARCHITECTURES)
        architecture = metadata.get(metadata_reader.PLACE)
        if not isinstance(architecture, str) or architecture not in ARCHITECTURES:
            said = f"{metadata_reader.PLACE} is {shortly(architecture)}; expected one of: {known}."
            raise GlassLlamaError("checkpoint", f"{self.place}: {said}", field=metadata_reader.PLACE)
        if experts := metadata.get(key := f"{architecture}.expert_count"):
            said = f"{key} is {shortly(experts)}; expected 0: a mixture of experts is not read from GGUF."
            raise GlassLlamaError("checkpoint", f"{self.place}: {said}", field=key)
        keys: dict[str, str] = {}
        try:
            config, keys, unread = metadata_reader.config_of(metadata)
            if unread:
                raise unread[0]
            tensors = self._content.tensors
            config["tie_word_embeddings"] = metadata_reader.tied_of({**metadata, "tensors": list(tensors)})
            config |= special_ids(metadata)
            if ROPE_FACTORS in tensors:
                config["rope_scaling"] = scaling_of(values_of(tensors[ROPE_FACTORS]), config)
            family_of(config).read(config)
        except GlassLlamaError as error:
            told, key = metadata_reader.told_by_keys(error, keys)
            raise GlassLlamaError("checkpoint", f"{self.place}: {told}", field=key) from error
        return config

    @cached_property
    def _names(self) -> dict[str, str]:
        """Hugging Face's name of every tensor in the file; one that it has no name for keeps its own."""
        family = family_of(self.config)
        wanted = [name.format(i=0) for names in family.names(family.read(self.config)).values() for name in names]
        table = names_in_file(self._content.metadata[metadata_reader.PLACE], 1, wanted)
        theirs = {name: hf for hf, name in table.items()}

        def name_of(name: str) -> str:
            layer = _LAYER.search(name)
            hf = theirs.get(_LAYER.sub("0", name), name)
            return hf.replace(".layers.0.", f".layers.{layer[0]}.", 1) if layer else hf

        return {name: name_of(name) for name in self._content.tensors if name != ROPE_FACTORS}

    def shapes(self) -> dict[str, list[int]]:
        """As CheckpointFiles."""
        return {hf: shape_of(self._content.tensors[name]) for name, hf in self._names.items()}

    def tensors(self, done: Done = untold) -> dict[str, Tensor]:
        """As CheckpointFiles: in float32, dequantised."""
        neighbours = self._content.metadata[metadata_reader.PLACE] in NEIGHBOURS
        found: dict[str, Tensor] = {}
        for name, hf in self._names.items():
            values, heads = values_of(self._content.tensors[name]), heads_of(name, self.config)
            fits = heads is not None and values.shape[0] % (2 * heads) == 0  # else its shape is refused by its name
            found[hf] = in_halves(values, heads) if neighbours and heads is not None and fits else values
            done(values.numel())
        return found

    def tokenizer(self, vocab_size: int) -> Tokenizer:
        """As CheckpointFiles."""
        metadata = self._content.metadata
        try:
            return Tokenizer(tokenizer_of(metadata, vocab_size), chat_template(metadata))
        except GlassLlamaError as error:
            raise GlassLlamaError("checkpoint", f"{self.place}: {error}", **error.params) from error
