"""Which model, and which of its layers each pipeline stage holds."""

from bisect import bisect_left

from ..catalogue import catalogue
from ..spec import ModelSpec
from .options import refusal


def find_spec(spec: object, field: str = "spec") -> ModelSpec:
    """`spec` itself, or the model of that name in the catalogue. Raises GlassLlamaError for anything else."""
    if isinstance(spec, str):
        return catalogue()[spec]
    if not isinstance(spec, ModelSpec):
        raise refusal(field, spec, "a ModelSpec")
    return spec


def stage_bounds(spec: ModelSpec, pp: int, extra: int = 0) -> list[tuple[int, int]]:
    """[first, end) layers of each of `pp` stages: the first (n_layers mod pp) hold one more.

    The last one takes the `extra` multi-token-prediction layers as well.
    """
    each, more = divmod(spec.n_layers, pp)
    starts = [stage * each + min(stage, more) for stage in range(pp)]
    return list(zip(starts, [*starts[1:], spec.n_layers + extra], strict=True))


def layers_within(layers: tuple[int, ...], low: int, high: int) -> int:
    """How many of the ascending `layers` are from `low` to below `high`."""
    return bisect_left(layers, high) - bisect_left(layers, low)
