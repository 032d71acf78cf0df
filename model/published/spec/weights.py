"""Weights that the other parts of a spec do not say: extra ones, how they are stored, what the vendor counts."""

from dataclasses import dataclass
from typing import Literal

Bias = Literal["none", "qkv", "attention", "all"]


@dataclass(frozen=True)
class ExtraWeights:
    """Weights that follow from no other field: the product of `sizes`, once in each of `layers`.

    `layers` is () for weights outside the layers. `label` is as in kv_math.weights.WeightTerm, such as "linear.in". A
    "table" is read row by row. Tensor parallelism splits them into `units`.
    """

    label: str
    sizes: tuple[int, ...]
    layers: tuple[int, ...] = ()
    kind: Literal["matrix", "table", "vector"] = "matrix"
    units: int = 1


@dataclass(frozen=True)
class QuantSpec:
    """How a checkpoint stores the matrices of its linear layers: `bits` a weight, and what stands beside them.

    - One scale of `scale_bytes` belongs to `group_in` inputs × `group_out` outputs (None: all of them), or to `flat`
      consecutive weights, wherever they stand. `nested` of those scales share one fp32 scale.
    - `zero_bits`: a zero point for each group.
    - `order`: 32 bits for each input say to which group it belongs.
    - `each_bytes` stand beside each matrix.
    - `kept` names modules that stay in 16 bits, (layer, module); layer -1 is every layer. `only`, where given, names
      those that do not.

    Embeddings, norms, routers and the output layer stay in 16 bits.
    """

    name: str
    bits: int
    group_in: int | None = None
    group_out: int | None = 1
    flat: int | None = None
    scale_bytes: int = 2
    nested: int = 0
    zero_bits: int = 0
    order: bool = False
    each_bytes: int = 0
    experts_alone: bool = False
    only: tuple[str, ...] = ()
    kept: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True)
class PublishedParameters:
    """How many parameters the vendor states. `exact`: the source gives every digit."""

    total: int
    exact: bool
    active: int | None = None
