"""What others are told of the corpus: its words and some held-out texts, as `little_world.json` holds them."""

from itertools import islice
from typing import Any

from . import documents, lexicon
from .glosses import glosses
from .words import known_words

SEED, TEXTS = 5, 128
_GROUPS = (
    lexicon.PLACES, lexicon.ANIMALS, lexicon.THINGS, lexicon.FOODS, lexicon.COLOURS, lexicon.NATURE, lexicon.FURNITURE,
    lexicon.FEELINGS, lexicon.NUMBERS, lexicon.NAMES,
)  # fmt: skip


def summary() -> dict[str, Any]:
    """The fields of model.little_world.LittleWorld as JSON holds them."""
    words, parts = glosses()
    return {
        "known_words": {language: sorted(known_words(language)) for language in ("en", "zh")},
        "kinds": [[row[i].replace(" ", "") for row in group] for group in _GROUPS for i in (0, 1)],
        "held_out": [document.text for document in islice(documents(SEED, "heldout"), TEXTS)],
        "glosses": {"words": words, "parts": parts},
    }
