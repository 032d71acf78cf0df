"""The model that a log describes itself: by its file's metadata, or by what the engine prints of its shape."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ...errors import GlassLlamaError
from ...kv_math.formats import kv_format
from ...published.catalogue import catalogue
from ...published.hf import gguf
from ...published.hf_spec import spec_from_config
from ...published.spec import ModelSpec
from ..facts import EngineLog
from ..model_info import metadata_of
from .layers import layers_of

Origin = Literal["metadata", "printed", "named", "chosen"]


@dataclass(frozen=True)
class OwnModel:
    """The log's own model, None where it describes none that can be read; `unread` says why not, "" without a try.
    `config`: what describes it, as JSON that the calculator reads; "" where it is of the list, or not told whole."""

    spec: ModelSpec | None
    origin: Origin
    unread: str = ""
    config: str = ""


@dataclass(frozen=True)
class Mismatch:
    """What a line says of the model's shape, and what the model that is compared has."""

    said: str
    line: int
    has: int


def own_model(log: EngineLog, text: str) -> OwnModel:
    """The model of the log's metadata, else of what is printed of it (llama.cpp's print_info).

    Of metadata that is cut short, what is printed of the same model fills in the rest.
    """
    unread = ""
    stated = (gguf.metadata_in(text) if gguf.PLACE in text else None) or {}
    if stated:
        stated = metadata_of(log.printed, str(stated[gguf.PLACE])) | stated
    tried: tuple[tuple[Origin, dict[str, object]], ...] = (
        ("metadata", stated),
        ("printed", metadata_of(log.printed)),
    )
    for origin, metadata in tried:
        if not metadata:
            continue
        try:
            name = metadata.get("general.name") or metadata[gguf.PLACE]
            return OwnModel(spec_from_config(metadata, str(name)[:100]), origin, config=gguf.json_of(metadata))
        except GlassLlamaError as error:  # the calculator's model stands in, and the page says so
            unread = unread or str(error)
    return OwnModel(None, "chosen", unread)


def listed(named: str) -> str:
    """The catalogue's model that a log calls `named`, a path or an id of the Hub; "" for none.

    A name that goes on, as "Llama-3.1-8B-Instruct" does, is of the same shape, and so is one of `ModelSpec.also`.
    """
    words = _words(named.rstrip("/").rpartition("/")[2])
    if words[:1] == ["meta"]:
        words = words[1:]
    names = [(one, spec.name) for spec in catalogue().values() for one in (spec.name, *spec.also)]
    found = [(len(known), name) for one, name in names if (known := _words(one)) == words[: len(known)]]
    return max(found, default=(0, ""))[1]


def _words(name: str) -> list[str]:
    """Such as ["llama", "3.1", "8b"]; what stands in brackets does not count."""
    return [word for word in re.split(r"[\s_-]+", name.lower().partition("(")[0]) if word]


def same_cache(one: ModelSpec, other: ModelSpec) -> bool:
    """Whether each token takes the same in both, layer by layer."""
    plain_format = kv_format("bf16")
    if any(spec.compressed or spec.is_encoder_decoder for spec in (one, other)):  # whose layers no log is compared with
        return one == other
    layers = [layers_of(spec, plain_format, plain_format) for spec in (one, other)]
    windows = [(spec.attention.window, spec.attention.chunk, spec.state) for spec in (one, other)]
    return layers[0] == layers[1] and windows[0] == windows[1]


def mismatches(log: EngineLog, spec: ModelSpec) -> Iterator[Mismatch]:
    """Where the model that is compared is not the one of which the log prints the shape."""
    shape = {"n_layer": spec.n_layers, "n_embd": spec.d_model, "n_head": spec.n_heads}
    if spec.mla is None:
        shape |= {"n_head_kv": spec.n_kv_heads, "n_embd_head_k": spec.head_dim, "n_embd_head_v": spec.head_dim}
    for name, has in shape.items():
        one = log.printed.get(name)
        value = one["value"].strip() if one else ""
        if one and value.isdigit() and int(value) != has:
            yield Mismatch(f"{name} = {int(value):,}", one.line, has)
