"""The recipe of `python -m model.train`: what a network is trained on, and in what order.

Easy patterns come first, since binding a person to a place builds on the heads that repeat a sequence; then short facts
with many questions; then, for a while and almost alone, who it is that something is true of, which does not come by
itself; then, in wider rows, everything with stories, while the learning rate goes down to zero.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..corpus import MIX

TOKENS = 35_000_000

# Kinds of document of which everything but the answers is random.
PATTERNS = frozenset({
    "induction", "recall", "reversal", "counting", "series", "sums", "alphabet", "brackets", "opposites", "agreement",
    "copying", "who-en", "who-zh",
})  # fmt: skip


@dataclass(frozen=True)
class Stage:
    """One part of the training. A batch is `batch_size` rows of `context` tokens.

    `mix` gives each kind of document its share. An answer, which the text before it determines, counts
    `answer_weight` times as much in the loss as the rest of a story, and the rest of a pattern, which is random words,
    counts `random_weight`. A token that a story has not had before counts `first_weight`: below 1 the model learns to
    stay with whom and what it has named, rather than who else might come. The learning rate goes up to `lr` over
    `warmup` steps and down a straight line to `last_lr`.
    """

    name: str
    tokens: int
    batch_size: int = 16
    context: int = 128
    lr: float = 2e-3
    last_lr: float = 2e-3
    warmup: int = 0
    answer_weight: float = 5.0
    random_weight: float = 0.1
    first_weight: float = 1.0
    mix: Mapping[str, float] = field(default_factory=lambda: dict(MIX))

    @property
    def steps(self) -> int:
        return -(-self.tokens // (self.batch_size * self.context))

    def lr_at(self, step: int) -> float:
        """The learning rate of a step."""
        if step < self.warmup:
            return self.lr * (step + 1) / self.warmup
        done = (step - self.warmup) / max(1, self.steps - self.warmup)
        return self.lr + (self.last_lr - self.lr) * min(1.0, done)


_PATTERNS_FIRST = {
    "induction": 40, "recall": 16, "reversal": 4, "copying": 4, "brackets": 4, "counting": 4, "series": 1, "sums": 1,
    "alphabet": 1, "opposites": 1, "agreement": 3, "translation-words": 8, "facts-en": 8, "facts-zh": 8, "who-en": 4,
    "who-zh": 4, "pronouns-en": 1, "pronouns-zh": 1, "story-en": 2, "story-zh": 2,
}  # fmt: skip
_BINDINGS = {
    "induction": 12, "made-up": 4, "recall": 7, "reversal": 5, "copying": 1, "brackets": 4, "counting": 4,
    "counting-words": 2, "series": 1, "sums": 1.5, "alphabet": 1, "opposites": 1, "agreement": 3,
    "translation-words": 8, "translation-phrases": 1, "translation-sentences": 2, "facts-en": 18, "facts-zh": 18,
    "who-en": 9, "who-zh": 9, "pronouns-en": 7, "pronouns-zh": 7, "story-en": 6, "story-zh": 6,
}  # fmt: skip
_BACKWARDS = {"who-en": 30, "who-zh": 30, "reversal": 16, "induction": 10, "pronouns-en": 7, "pronouns-zh": 7}
_STORIES = _BINDINGS | {
    "induction": 30, "made-up": 10, "recall": 5, "reversal": 4, "counting": 6, "counting-words": 4,
    "translation-words": 5, "facts-en": 17, "facts-zh": 16, "who-en": 14, "who-zh": 14, "asked-en": 15, "asked-zh": 14,
    "pronouns-en": 14, "pronouns-zh": 14, "story-en": 18, "story-zh": 18,
}  # fmt: skip


def recipe(tokens: int = TOKENS) -> tuple[Stage, ...]:
    """The four stages of one run of so many tokens."""
    share = tokens / 35
    return (
        Stage("patterns", round(6.0 * share), warmup=100, mix=_PATTERNS_FIRST),
        Stage("bindings", round(7.2 * share), mix=_BINDINGS),
        Stage("backwards", round(1.8 * share), mix=_BACKWARDS),
        Stage(
            "stories", round(20.0 * share), batch_size=12, context=256, lr=2.5e-3, last_lr=0.0, warmup=20,
            first_weight=0.5, mix=_STORIES,
        ),
    )  # fmt: skip
