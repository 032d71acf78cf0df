"""Which parts of a network are exchanged for others."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

from ..errors import GlassLlamaError, shortly


@dataclass(frozen=True)
class Parts:
    """The parts that stand in place of a network's own; "" and 0 leave its own.

    - `norm`: "layer_norm", with γ as it is and no bias; "rms_norm", without the mean and the bias.
    - `activation`: one of feedforward.ACTIVATIONS.
    - `position`: "none", "alibi" with its slopes, or "sinusoidal", added to the embedding, in place of RoPE.
    - `kv_heads`: so many K/V heads, by mean pooling (pooled_heads.py).
    - `window`: how many keys a query sees, its own token's among them (a sliding window).
    - `top_k`: how many experts read a token.
    """

    norm: str = ""
    activation: str = ""
    position: str = ""
    kv_heads: int = 0
    window: int = 0
    top_k: int = 0

    def __bool__(self) -> bool:
        return any(vars(self).values())


OWN = Parts()


def read_parts(given: Iterable[str]) -> Parts:
    """Parts from texts such as "norm:layer_norm" and "kv_heads:1"; the last of a field counts.

    Raises GlassLlamaError for a field that there is none of, and for a count that is no number.
    """
    found: dict[str, str | int] = {}
    kinds = {field.name: type(field.default) for field in fields(Parts)}
    for one in given:
        name, _, value = one.partition(":")
        if name not in kinds:
            raise GlassLlamaError("bad_request", f"parts: there is no {shortly(name)}; expected {', '.join(kinds)}.")
        if kinds[name] is int and not re.fullmatch("[0-9]{1,6}", value):
            raise GlassLlamaError("bad_request", f"parts: {name} is {shortly(value)}; expected a whole number.")
        found[name] = int(value) if kinds[name] is int else value
    return replace(OWN, **found)  # pyright: ignore[reportArgumentType]
