"""The Little World corpus: an endless, seeded stream of short English and Chinese texts that the project writes itself.

Stories and facts come from one simulated world; patterns and translations follow from rules. The words are in
`lexicon.json`, the sentence forms in `phrases.json`. Nothing here knows about tokens: a document gives its text and the
places where words end.
"""

import random
from collections.abc import Callable, Iterator, Mapping

from model.corpus import facts, patterns, pronouns, stories, translation
from model.corpus.split import SplitName
from model.corpus.writer import Document

__all__ = ["MIX", "Document", "documents"]

Maker = Callable[[random.Random, SplitName], Document]

# Each kind of document, who makes it, and its share of all documents: not of tokens, as a story is about three times as
# long as a pattern.
_KINDS: dict[str, tuple[Maker, float]] = {
    "story-en": (lambda rng, split: stories.story_document(rng, "en", split), 14),
    "story-zh": (lambda rng, split: stories.story_document(rng, "zh", split), 15.5),
    "facts-en": (lambda rng, split: facts.facts_document(rng, "en", split), 11),
    "facts-zh": (lambda rng, split: facts.facts_document(rng, "zh", split), 11),
    "pronouns-en": (lambda rng, split: pronouns.pronoun_document(rng, "en", split), 3),
    "pronouns-zh": (lambda rng, split: pronouns.pronoun_document(rng, "zh", split), 3),
    "induction": (patterns.induction, 18),
    "recall": (patterns.recall, 5),
    "counting": (patterns.counting, 3),
    "series": (patterns.series, 1.5),
    "sums": (patterns.sums, 2),
    "alphabet": (patterns.alphabet, 1.5),
    "brackets": (patterns.brackets, 2),
    "opposites": (patterns.opposites, 1.5),
    "agreement": (patterns.agreement, 2),
    "copying": (patterns.copying, 1.5),
    "translation-words": (translation.words, 6),
    "translation-phrases": (translation.phrases, 2.5),
    "translation-sentences": (translation.sentence_pairs, 4),
    # These stand in the mix of some stages only.
    "who-en": (lambda rng, split: facts.who_document(rng, "en", split), 0),
    "who-zh": (lambda rng, split: facts.who_document(rng, "zh", split), 0),
    "reversal": (patterns.reversal, 0),
    "made-up": (patterns.made_up_induction, 0),
    "counting-words": (patterns.counting_in_words, 0),
    "asked-en": (lambda rng, split: stories.story_document(rng, "en", split, thorough=True), 0),
    "asked-zh": (lambda rng, split: stories.story_document(rng, "zh", split, thorough=True), 0),
}
MIX: Mapping[str, float] = {name: share for name, (_, share) in _KINDS.items()}


def documents(seed: int, split: SplitName = "train", mix: Mapping[str, float] = MIX) -> Iterator[Document]:
    """Documents without end, kinds in the shares of `mix`: the same texts for the same seed and mix.

    Training texts hold no held-out combination. KeyError for a kind that there is not.
    """
    rng = random.Random(f"{split}-{seed}")
    makers = [_KINDS[name][0] for name in mix]
    shares = list(mix.values())
    while True:
        maker = rng.choices(makers, shares)[0]
        try:
            yield maker(rng, split)
        except ValueError:
            continue  # Some subjects have no held-out partner in a short list; draw another document.
