"""Widths of the feed-forward in published models, with what LLaMA's rule says of those that follow it."""

from model.published.catalogue import catalogue
from model.published.spec import ModelSpec
from model.published.transformer_2017 import TRANSFORMER
from model.replaced.width import PUBLISHED

from .messages.ffn import PublishedWidth, WidthsDetail

# Beside those with a rule: gated ones whose width is a free choice, and such without a gate.
OTHERS = (
    "Mistral-7B v0.1",
    "Qwen2.5-7B",
    "Qwen3-8B",
    "Gemma-2 9B",
    "DeepSeek LLM 7B",
    "GPT-2 (124M)",
    "GPT-3 175B",
    "BLOOM-176B",
    "Falcon-7B",
)


def widths_payload() -> WidthsDetail:
    """The published widths, those with a rule first."""

    def row(spec: ModelSpec) -> PublishedWidth:
        rule = PUBLISHED.get(spec.name)
        return {
            "model": spec.name,
            "d_model": spec.d_model,
            "width": spec.ffn_hidden,
            "gated": spec.ffn.gated,
            "multiplier": None if rule is None else rule.multiplier,
            "multiple_of": None if rule is None else rule.multiple_of,
            "source": spec.source[0],
        }

    return {"rows": [*(row(catalogue()[name]) for name in (*PUBLISHED, *OTHERS)), row(TRANSFORMER)]}
