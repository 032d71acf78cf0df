"""How the layers of a model attend, and with how many K/V heads."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

LayerKind = Literal["full", "sliding", "chunked", "linear", "hybrid", "none"]
AttentionKind = Literal["MHA", "GQA", "MQA", "MLA", "none"]


@dataclass(frozen=True)
class FullHeads:
    """The K/V heads of full layers, where sliding layers have others (Gemma 4).

    `k_is_v`: one matrix makes both K and V. They are cached apart all the same: V is neither scaled nor rotated.
    """

    n_kv_heads: int
    head_dim: int
    k_is_v: bool = False


@dataclass(frozen=True)
class AttentionSpec:
    """How the layers attend. `layer_cycle` repeats over the layers, beginning with layer 0.

    - "sliding" layers see `window` tokens, the query's own included; "chunked" ones see `chunk` tokens.
    - "linear" layers keep a state of constant size (StateSpec) and no token.
    - "hybrid" layers keep such a state, and K and V of every token (Falcon-H1).
    - "none" layers keep nothing at all (Nemotron-H's feed-forward layers).

    The `kind` is "none" where no layer attends. `sinks`: each head has one learned logit beside its scores (gpt-oss);
    it caches nothing. `k_is_v`: K serves as V as well, and is cached once (DeepSeek-V4).
    """

    kind: AttentionKind
    layer_cycle: tuple[LayerKind, ...] = ("full",)
    window: int | None = None
    chunk: int | None = None
    note: str = ""
    sinks: bool = False
    full: FullHeads | None = None
    k_is_v: bool = False


HeadsOrigin = Literal["class", "as_heads", "null", "unknown", "gguf"]


class AssumedHeads(NamedTuple):
    """K/V heads that a file does not count, or a head's width that it does not state: the `field` that would, and
    where the number comes from.

    `origin`: transformers' class for `kind` has a number of its own, or takes as many as heads; the field is null,
    which means as many as heads; no class of transformers says, and as many as heads are assumed; or, in GGUF
    metadata, llama.cpp takes as many as heads.
    """

    field: str
    origin: HeadsOrigin
    kind: str
