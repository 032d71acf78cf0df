"""Which layers of a model keep a state and which attend; what readers of such models share."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from ..expected import expected
from ..spec import AttentionSpec, PositionSpec
from ..unstated import Unstated
from .attention import attention, shortest
from .fields import Fields, refusal

# Words of layer_types and layers_block_type, transformers 5's and older ones.
KINDS: Mapping[str, str] = MappingProxyType(
    {"full_attention": "full", "attention": "full", "linear_attention": "linear", "mamba": "linear", "conv": "linear"}
    | {"mlp": "none", "moe": "none", "hybrid": "hybrid"}
)
NOPE = PositionSpec("none")


def kinds_of(f: Fields, n_layers: int, implied: Iterable[str], name: str = "layer_types") -> tuple[str, ...]:
    """The kind of every layer: as the file lists them, else as `implied`. One at least keeps a state."""
    given = f.strings(name, n_layers)
    for word in given or ():
        if word not in KINDS:
            raise refusal(f.path + name, word, expected("each_one_of", names=", ".join(KINDS)))
    kinds = tuple(KINDS[word] for word in given) if given else tuple(implied)
    if {"linear", "hybrid"}.isdisjoint(kinds) and not isinstance(n_layers, Unstated):
        raise refusal(f.path + name, given or "all full_attention", expected("with_linear"))
    return kinds


def layers_of(kinds: tuple[str, ...], *wanted: str) -> tuple[int, ...]:
    return tuple(i for i, kind in enumerate(kinds) if kind in wanted)


def mixed(f: Fields, kinds: tuple[str, ...], sizes: Mapping[str, int]) -> AttentionSpec:
    return attention(f, sizes, shortest(kinds))


def attention_bias(f: Fields) -> str:
    return "attention" if f.flag("attention_bias", default=False) else "none"
