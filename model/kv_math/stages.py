"""Which model, which one drafts for it, and how another one is cached beside it."""

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
    return draft, replace(options_beside(draft, options), pp=1)


def options_beside(spec: ModelSpec, options: KvOptions) -> KvOptions:
    """How `spec` is cached by the engine, and on the GPUs, that `options` describe for another model.

    What belongs to the other model is left out: its encoder's tokens, its draft model and MTP layers, its shared
    layers, and how an engine stores its latents or heads and its indexer's key. So are windows and states that `spec`
    lacks.
    """
    kept = replace(
        options,
        draft=None,
        mtp=False,
        layout="formula",
        indexer="fp8",
        encoder_tokens=None,
        shared_layers=None,
    )
    if set(spec.attention.layer_cycle) == {"full"}:
        kept = replace(kept, window="ideal", batched_tokens=None)
    if spec.state is None:
        kept = replace(kept, state="own")
    return kept
