"""What a family's reader gives, and the parts that readers share: sizes, norms, feed-forward blocks."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from ..expected import expected
from ..spec import AssumedHeads, FfnSpec, MoeSpec, NormSpec
from . import sizes
from .attention import checked_heads, head_dim_by_another_name, passed_over
from .class_heads import assumed_heads, assumed_width
from .fields import Fields, refusal

GATED = MappingProxyType(
    {"silu": "SwiGLU", "swish": "SwiGLU", "gelu": "GeGLU", "gelu_new": "GeGLU (tanh GELU)", "relu": "ReGLU"}
    | {"gelu_pytorch_tanh": "GeGLU (tanh GELU)", "situ": "SiTU-GLU"}
)
PLAIN = MappingProxyType(
    {"gelu": "GELU", "relu": "ReLU", "gelu_new": "GELU (tanh approximation)", "gelu_fast": "GELU (tanh approximation)"}
    | {"gelu_pytorch_tanh": "GELU (tanh approximation)"}
)


@dataclass(frozen=True)
class Shape:
    """Keyword arguments of ModelSpec, and the objects of the file that they were read from."""

    spec: dict[str, Any]
    parts: tuple[Fields, ...]

    def assumed(self) -> Iterable[tuple[str, Any]]:
        """(field, value) of what the file left to transformers' class."""
        return [item for part in self.parts for item in part.assumed.items()]

    def assumed_heads(self) -> AssumedHeads | None:
        """Where the K/V heads come from, None where the file counts them."""
        return next(filter(None, (assumed_heads(part, str(part.raw.get("model_type"))) for part in self.parts)), None)

    def assumed_width(self) -> AssumedHeads | None:
        """Where a head's width comes from, None where transformers' class has no say in it."""
        return next(filter(None, (assumed_width(part, str(part.raw.get("model_type"))) for part in self.parts)), None)

    def misspelt(self) -> Iterable[tuple[str, str]]:
        """(key, field) of keys that are nearly a field that the file lacks."""
        return [item for part in self.parts for item in part.misspelt()]

    def passed_over(self) -> Iterable[tuple[str, str]]:
        """(key, model_type) of keys that are a head's width by another class's name, and that nothing read."""
        named = [(part, head_dim_by_another_name(part)) for part in self.parts]
        return [
            (part.path + key, str(part.raw["model_type"]))
            for part, key in named
            if passed_over(part, key) and not part.has_read(key)
        ]


@dataclass(frozen=True)
class Family:
    """How a model_type is read, and what transformers' class takes for fields that its files may leave out."""

    read: Callable[[Fields], Shape]
    defaults: Mapping[str, Any] = field(default_factory=dict)


def finish(f: Fields, *others: Fields, **spec: Any) -> Shape:
    """The finished shape, once no field that matters was left unread."""
    f.refuse_unread()
    return Shape(spec, (*others, f))


def llama_sizes(f: Fields, *limits: str) -> dict[str, Any]:
    """ModelSpec's sizes, of a file that names them as LLaMA's does; `limits` are names for the longest context."""
    stated = sizes.llama_sizes(f, *limits)
    return vars(stated) | checked_heads(f, stated)


def rms_norm(f: Fields, placement: str = "pre", names: tuple[str, ...] = ("rms_norm_eps",), **more: Any) -> NormSpec:
    return NormSpec("RMSNorm", placement, sizes.rms_eps(f, *names), **more)


def gated_ffn(f: Fields, *names: str) -> FfnSpec:
    return FfnSpec(GATED[f.word(*(names or ("hidden_act",)), among=tuple(GATED), default="silu")], gated=True)


def checked_moe(f: Fields, moe: MoeSpec) -> MoeSpec:
    if moe.top_k > moe.n_experts:
        right = expected("at_most_experts", value=moe.n_experts)
        top_k = f.fault(refusal(f"{f.path}num_experts_per_tok", moe.top_k, right))
        return replace(moe, top_k=top_k)
    return moe


def head_width(d_model: int, n_heads: int, name: str) -> int:
    """d_model / n_heads, in the families whose code defines it so."""
    if d_model % n_heads:
        raise refusal(name, n_heads, expected("divisor_of_width", value=d_model))
    return d_model // n_heads


def kv_heads(f: Fields, n_heads: int, *names: str) -> int:
    if n_heads % (n_kv := f.count(*names)):
        return f.fault(refusal(f.path + names[0], n_kv, expected("divisor_of_heads", value=n_heads)))
    return n_kv
