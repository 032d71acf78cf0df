"""Which model, which one drafts for it, and which of its layers each pipeline stage holds."""

from bisect import bisect_left
from dataclasses import replace
from functools import lru_cache

from ..published.catalogue import UnknownModelError, catalogue
from ..published.expected import expected
from ..published.spec import ModelSpec
from .options import KvOptions, refusal


def find_spec(spec: object, field: str = "spec") -> ModelSpec:
    """`spec` itself, or the catalogue's model of that name. Raises GlassLlamaError, naming `field`, for all else."""
    if isinstance(spec, str):
        try:
            return catalogue()[spec]
        except UnknownModelError as error:
            raise UnknownModelError(error.code, f"{field}: {error}", field=field, **error.params) from error
    if not isinstance(spec, ModelSpec):
        raise refusal(field, spec, "a ModelSpec")
    return spec


def draft_setup(options: KvOptions) -> tuple[ModelSpec, KvOptions]:
    """The model that drafts, and how it is cached: in the same way, on the ranks of the last pipeline stage.

    Raises GlassLlamaError for a draft model that is unknown or has an encoder.
    """
    draft = find_spec(options.draft, "draft")
    if draft.is_encoder_decoder:
        raise refusal("draft", draft.name, expected("decoder"))
    kept = replace(
        options,
        draft=None,
        mtp=False,
        layout="formula",
        indexer="fp8",
        encoder_tokens=None,
        shared_layers=None,
        pp=1,
    )
    if set(draft.attention.layer_cycle) == {"full"}:
        kept = replace(kept, window="ideal", batched_tokens=None)
    if draft.state is None:
        kept = replace(kept, state="own")
    return draft, kept


def stage_counts(spec: ModelSpec, pp: int, layers: tuple[int, ...]) -> tuple[int, ...]:
    """How many of the ascending `layers` each of `pp` stages holds: the first (n_layers mod pp) have one layer more.

    The last one takes the multi-token-prediction layers as well.
    """
    return _counts(layers, spec.n_layers, spec.mtp_layers, pp)


@lru_cache(maxsize=4096)  # a search for the fewest GPUs asks for the same stages again and again
def _counts(layers: tuple[int, ...], n_layers: int, extra: int, pp: int) -> tuple[int, ...]:
    each, more = divmod(n_layers, pp)
    starts = [bisect_left(layers, stage * each + min(stage, more)) for stage in range(pp)]
    ends = [*starts[1:], bisect_left(layers, n_layers + extra)]
    return tuple(end - start for start, end in zip(starts, ends, strict=True))
