"""From a user's prompt to token ids that the network can run on, or a clear refusal."""

from collections.abc import Sequence

from .checkpoint import LanguageModel
from .errors import GlassLlamaError


def target_ids(lm: LanguageModel, target: str | Sequence[int] | None) -> list[int]:
    """Token ids of what a network with an encoder has written so far, none where `target` is None.

    Raises GlassLlamaError as `prompt_ids` does, and where there is no encoder.
    """
    if target is None:
        return []
    if not lm.reads_source:
        raise GlassLlamaError("target", "target: this network has no encoder; it continues the prompt alone.")
    return prompt_ids(lm, target)


def prompt_ids(lm: LanguageModel, prompt: str | Sequence[int]) -> list[int]:
    """Token ids of a text, or the given ids once checked.

    Raises GlassLlamaError for an empty prompt, one longer than the model's context, and ids outside its vocabulary.
    """
    ids = lm.tokenizer.encode(prompt) if isinstance(prompt, str) else [int(i) for i in prompt]
    if not ids:
        raise GlassLlamaError("prompt_empty", "prompt: it is empty; type at least one character.")
    if len(ids) > lm.config.context_limit:
        raise GlassLlamaError(
            "prompt_too_long",
            f"prompt: {len(ids)} tokens; this model reads at most {lm.config.context_limit}. Shorten the text.",
            tokens=len(ids),
            limit=lm.config.context_limit,
        )
    if wrong := [i for i in ids if not 0 <= i < lm.config.vocab_size]:
        raise GlassLlamaError(
            "token_id", f"prompt: token id {wrong[0]} is outside the vocabulary (0 to {lm.config.vocab_size - 1})."
        )
    return ids
