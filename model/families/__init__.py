"""The families whose checkpoints run here, one file each; `FAMILIES` finds a family by a config's model_type."""

from typing import Any

from ..fields import refusal
from . import bloom, deepseek, falcon, glm, llama, mixtral, qwen, t5
from .family import Family

_FILES = (llama, qwen, bloom, falcon, glm, mixtral, deepseek, t5)
FAMILIES: dict[str, Family] = {kind: family for file in _FILES for kind, family in file.FAMILIES.items()}


def family_of(raw: dict[str, Any]) -> Family:
    """The family of a parsed config.json. Raises GlassLlamaError for a model_type that does not run here."""
    kind = raw.get("model_type")
    if not isinstance(kind, str) or kind not in FAMILIES:
        raise refusal("model_type", kind, "one of " + ", ".join(f'"{name}"' for name in FAMILIES))
    return FAMILIES[kind]
