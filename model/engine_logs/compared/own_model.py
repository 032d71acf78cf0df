"""The model that a log describes itself: by its file's metadata, or by what the engine prints of its shape."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ...errors import GlassLlamaError
from ...published.hf import gguf
from ...published.hf_spec import spec_from_config
from ...published.spec import ModelSpec
from ..facts import EngineLog
from ..model_info import metadata_of

Origin = Literal["metadata", "printed", "chosen"]


@dataclass(frozen=True)
class OwnModel:
    """The log's own model, None where it describes none that can be read; `unread` says why not, "" without a try."""

    spec: ModelSpec | None
    origin: Origin
    unread: str = ""


@dataclass(frozen=True)
class Mismatch:
    """What a line says of the model's shape, and what the model that is compared has."""

    said: str
    line: int
    has: int


def own_model(log: EngineLog, text: str) -> OwnModel:
    """The model of the log's metadata, else of what is printed of it (llama.cpp's print_info)."""
    unread = ""
    tried: tuple[tuple[Origin, object], ...] = (
        ("metadata", gguf.metadata_in(text) if gguf.PLACE in text else None),
        ("printed", metadata_of(log.printed)),
    )
    for origin, metadata in tried:
        if not isinstance(metadata, dict) or not metadata:
            continue
        try:
            name = metadata.get("general.name") or metadata[gguf.PLACE]
            return OwnModel(spec_from_config(metadata, str(name)[:100]), origin)
        except GlassLlamaError as error:  # the calculator's model stands in, and the page says so
            unread = unread or str(error)
    return OwnModel(None, "chosen", unread)


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
