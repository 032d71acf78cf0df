"""Which model, and which one drafts for it."""

from dataclasses import replace

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
