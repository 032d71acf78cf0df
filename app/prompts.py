"""Checks a prompt before it is run, and says what is wrong in a way that the reader can mend."""

import unicodedata

from model import GlassLlamaError

from .engine import Engine

MAX_TOKENS = 512
# Longer texts are refused before they are tokenized, so that a pasted book costs nothing.
MAX_CHARACTERS = 10_000
KEPT_CONTROLS = "\n\t\r"


def check_text(text: object) -> str:
    """The prompt, unchanged. Raises GlassLlamaError for what no model should be asked to read."""
    if not isinstance(text, str) or not text:
        raise GlassLlamaError("prompt_empty", "The prompt is empty. Type a few words.")
    if len(text) > MAX_CHARACTERS:
        message = f"The prompt has {len(text):,} characters; this page reads up to {MAX_CHARACTERS:,}. Shorten it."
        raise GlassLlamaError("prompt_too_many_characters", message, characters=len(text), limit=MAX_CHARACTERS)
    for position, character in enumerate(text, 1):
        kind = unicodedata.category(character)
        if kind == "Cs":
            message = f"Character {position} of the prompt is half of a surrogate pair. Delete it and type it again."
            raise GlassLlamaError("prompt_surrogate", message, position=position)
        if kind == "Cc" and character not in KEPT_CONTROLS:
            code = f"U+{ord(character):04X}"
            message = f"Character {position} of the prompt is the control character {code}. Delete it."
            raise GlassLlamaError("prompt_control", message, position=position, character=code)
    if not text.strip():
        raise GlassLlamaError("prompt_blank", "The prompt holds only spaces. Type a few words.")
    return text


def checked_ids(engine: Engine, model: str, text: object) -> list[int]:
    """Token ids of the prompt. Raises GlassLlamaError for a bad text, or for more than the page or the model take."""
    ids = engine.encode(model, check_text(text))
    limit = min(MAX_TOKENS, engine.about(model).config.context_limit)
    if not ids:
        raise GlassLlamaError("prompt_empty", "The prompt is empty. Type a few words.")
    if len(ids) > limit:
        message = f"The prompt has {len(ids):,} tokens; this page runs up to {limit:,}. Shorten it."
        raise GlassLlamaError("prompt_too_long", message, tokens=len(ids), limit=limit)
    return ids
