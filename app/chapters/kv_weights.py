"""What the page asks of a model's own files: it reads their headers itself, and sends what tensors they name."""

from typing import Annotated, Any

from pydantic import Field

from model import GlassLlamaError
from model.kv_math.from_files import FileWeights, TensorGroup
from model.kv_math.options import MAX_BATCH, refusal, whole
from model.kv_math.weights import MAX_BYTES
from visuals.kv_weights import weights_message
from visuals.messages.kv_weights import KvWeightsAnswer

from ..engine import Engine
from ..fields import checked, is_object, listed, read
from ..requests import Sent
from .kv_requests import OnGpu

MOST_GROUPS = 4096
MOST_DIMENSIONS = 8
LONGEST = 300  # characters of a tensor's name


def _group(value: object) -> TensorGroup:
    """One of the page's groups: {name, dtype, shape, count}. Raises GlassLlamaError, naming the field."""
    if not is_object(value):
        raise refusal("tensors", value, "objects with name, dtype, shape and count")
    name, dtype, shape = value.get("name"), value.get("dtype"), value.get("shape")
    if not isinstance(name, str) or not isinstance(dtype, str) or max(len(name), len(dtype)) > LONGEST:
        raise refusal("tensors", name, f"name and dtype as texts of up to {LONGEST} characters")
    if not isinstance(shape, list) or len(shape) > MOST_DIMENSIONS:
        raise refusal(f"{name}.shape", shape, f"a list of up to {MOST_DIMENSIONS} numbers")
    sizes = tuple(whole(f"{name}.shape", size, 0, MAX_BYTES) for size in shape)
    return TensorGroup(name, dtype, sizes, whole(f"{name}.count", value.get("count"), 1, MAX_BATCH))


def _groups(value: list[Any]) -> tuple[TensorGroup, ...]:
    return tuple(_group(one) for one in value)


Groups = Annotated[
    list[object],
    listed("{name}: expected a list of up to {most} groups of tensors.", MOST_GROUPS),
    Field(default_factory=list),
]


class Weights(OnGpu):
    """The tensors of a model's files in groups, or the total_size that an index states."""

    tensors: Groups
    total_size: Annotated[int, checked(lambda name, value: whole(name, value, 1, MAX_BYTES))] | None = None


def kv_weights(_engine: Engine, data: Sent) -> KvWeightsAnswer:
    """What the files hold beside the calculator's own count: {tensors or total_size, and the calculator's settings}.

    Raises GlassLlamaError, naming the field, for a format or a shape that cannot be.
    """
    asked = read(Weights, data)
    groups = _groups(asked.tensors)
    if not groups and asked.total_size is None:
        raise GlassLlamaError(
            "kv_value", "tensors: expected at least one tensor.", field="tensors", expected="a tensor"
        )
    spec = asked.spec()
    own = None if spec.unstated else asked.setup().weight_breakdowns(spec)[0]
    return weights_message(FileWeights(groups, asked.total_size), own)
