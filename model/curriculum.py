"""What the bundled model is trained on, and in what order: the stages of `python -m model.train`.

Easy patterns come first, since binding a person to a place builds on the heads that repeat a sequence; then short facts
with many questions, then stories. What had not come by then, who-questions, is shown by itself for a while
("backwards"), and after it everything again. At the end the network tells stories by itself, and learns from the
checker.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .corpus import MIX

# Kinds of document of which everything but the answers is random.
PATTERNS = frozenset({
    "induction", "recall", "reversal", "counting", "series", "sums", "alphabet", "brackets", "opposites", "agreement",
    "copying", "who-en", "who-zh",
})  # fmt: skip


@dataclass(frozen=True)
class Judged:
    """What the network tells by itself in every step of a stage, for the checker to judge (judged.py).

    `stories`, in turn at each of the `temperatures`. A faulty sentence weighs `weight` beside the loss on the corpus,
    and a nat of divergence from the network as it was at the start of the stage `likeness`, both as means over the
    tokens told. Below 1, `likeness_temperature` makes that network's choices surer than they were.
    A token that more of its stories hold than of the corpus's costs the difference of the two shares, `variety` times;
    so it does where more hold it twice, and so on up to `occurrences`.
    Sound stories have little to teach: the loss is that of every faulty one and of one in `sound_each` of the others.
    """

    stories: int = 128
    temperatures: tuple[float, ...] = (0.8,)
    weight: float = 5.0
    likeness: float = 0.1
    likeness_temperature: float = 1.0
    variety: float = 0.0
    occurrences: int = 1
    sound_each: int = 1


@dataclass(frozen=True)
class Stage:
    """One part of the training. A batch is `rows` rows of `context` tokens.

    `mix` gives each kind of document its share. An answer, which the text before it determines, counts
    `answer_weight` times as much in the loss as the rest of a story, and the rest of a pattern, which is random words,
    counts `random_weight`. A token that a story has not had before counts `first_weight`: below 1 the model learns to
    stay with whom and what it has named, rather than who else might come. The learning rate goes up to `rate` over
    `warmup` steps and down a cosine to `last_rate`. With `judged` every step also has stories that the network tells.
    `averaged_with` names an earlier stage: this one ends with the mean of its weights and of that one's last, often
    better at everything than either (Wortsman et al. 2022, arXiv 2203.05482).
    """

    name: str
    tokens: int
    rows: int = 16
    context: int = 128
    rate: float = 2e-3
    last_rate: float = 2e-3
    warmup: int = 100
    answer_weight: float = 1.0
    random_weight: float = 1.0
    first_weight: float = 1.0
    mix: Mapping[str, float] = field(default_factory=lambda: dict(MIX))
    judged: Judged | None = None
    averaged_with: str = ""

    @property
    def steps(self) -> int:
        return -(-self.tokens // (self.rows * self.context))


_PATTERNS_FIRST = {
    "induction": 40, "recall": 16, "copying": 4, "brackets": 4, "counting": 4, "series": 1, "sums": 1, "alphabet": 1,
    "opposites": 1, "agreement": 3, "translation-words": 8, "facts-en": 8, "facts-zh": 8,
    "pronouns-en": 1, "pronouns-zh": 1, "story-en": 2, "story-zh": 2,
}  # fmt: skip
_BINDINGS = {
    "induction": 10, "recall": 10, "copying": 2, "brackets": 4, "counting": 4, "series": 1, "sums": 1.5, "alphabet": 1,
    "opposites": 1, "agreement": 3, "translation-words": 8, "translation-phrases": 1, "translation-sentences": 2,
    "facts-en": 18, "facts-zh": 18, "pronouns-en": 6, "pronouns-zh": 6, "story-en": 4, "story-zh": 4,
}  # fmt: skip
_PRONOUNS = _BINDINGS | {"induction": 14, "facts-en": 15, "facts-zh": 14, "pronouns-en": 10, "pronouns-zh": 10}
_STORIES = _BINDINGS | {
    "induction": 14, "recall": 7, "counting": 5, "facts-en": 12, "facts-zh": 12, "pronouns-en": 8, "pronouns-zh": 8,
    "story-en": 14, "story-zh": 15,
}  # fmt: skip

_TELLING = _STORIES | {
    "recall": 5, "facts-en": 15, "facts-zh": 15, "pronouns-en": 9, "pronouns-zh": 9, "story-en": 22, "story-zh": 22,
}  # fmt: skip
_BACKWARDS = {"who-en": 35, "who-zh": 35, "reversal": 20, "induction": 10}
_WHO = {
    "who-en": 12, "who-zh": 12, "reversal": 6, "induction": 14, "recall": 4, "copying": 1, "brackets": 3,
    "counting": 6, "series": 1, "sums": 1, "alphabet": 1, "opposites": 1, "agreement": 3, "translation-words": 6,
    "translation-phrases": 1, "translation-sentences": 1.5, "facts-en": 16, "facts-zh": 16, "pronouns-en": 8,
    "pronouns-zh": 8, "story-en": 10, "story-zh": 10,
}  # fmt: skip

_SETTLING = _WHO | {
    "who-en": 8, "who-zh": 8, "reversal": 3, "induction": 16, "counting": 7, "facts-en": 17, "facts-zh": 15,
    "pronouns-en": 9, "story-en": 19, "story-zh": 19,
}  # fmt: skip

_CLOSING = _SETTLING | {"who-en": 6, "who-zh": 6, "induction": 18, "story-en": 22, "story-zh": 22}
_LONG = _CLOSING | {"who-en": 4, "who-zh": 4, "induction": 24, "story-en": 30, "story-zh": 30}
_JUDGED = _LONG | {"induction": 36}
_VARIED = _JUDGED | {"induction": 40, "counting": 16, "facts-en": 24, "facts-zh": 18, "story-en": 24, "story-zh": 24}
_WEAKEST = _LONG | {
    "induction": 20, "made-up": 16, "counting": 6, "counting-words": 8, "asked-en": 20, "asked-zh": 20, "story-en": 24,
    "story-zh": 24, "facts-en": 20, "facts-zh": 17,
}  # fmt: skip
_WARMER = _WEAKEST | {"induction": 44}
_ASKING = _WARMER | {"made-up": 30}

STAGES = (
    Stage("everything", 8_000_000, rows=8, context=512, last_rate=2e-4, warmup=200),
    Stage("patterns", 3_000_000, answer_weight=5, random_weight=0.1, mix=_PATTERNS_FIRST),
    Stage("bindings", 2_048_000, answer_weight=5, random_weight=0.1, mix=_BINDINGS),
    Stage("pronouns", 3_276_800, rate=1e-3, last_rate=7e-4, answer_weight=5, random_weight=0.1, mix=_PRONOUNS),
    Stage("stories", 4_700_000, rate=8e-4, last_rate=5e-5, answer_weight=4, random_weight=0.2, mix=_STORIES),
    Stage("telling", 3_400_000, rate=5e-4, last_rate=4e-5, answer_weight=3, random_weight=0.1, mix=_TELLING),
    Stage("backwards", 1_433_600, rate=1e-3, last_rate=1e-3, answer_weight=5, random_weight=0.05, mix=_BACKWARDS),
    Stage("who", 3_072_000, rate=1e-3, last_rate=8e-4, answer_weight=4, random_weight=0.1, mix=_WHO),
    Stage(
        "settling", 1_638_400, rows=8, context=256, rate=8e-4, last_rate=7e-4, answer_weight=4, random_weight=0.1,
        mix=_SETTLING,
    ),
    Stage(
        "closing", 3_686_400, rows=8, context=256, rate=7e-4, last_rate=1e-4, answer_weight=3, random_weight=0.1,
        first_weight=0.4, mix=_CLOSING,
    ),
    Stage(
        "long rows", 1_228_800, rows=4, context=512, rate=1.2e-4, last_rate=1e-5, warmup=20, answer_weight=3,
        random_weight=0.1, mix=_LONG,
    ),
    Stage(
        "steady", 1_024_000, rows=8, context=256, rate=2e-4, last_rate=1e-5, warmup=20, answer_weight=4,
        random_weight=0.1, first_weight=0.15, mix=_LONG,
    ),
    Stage(
        "judged", 307_200, rows=10, context=256, rate=2e-4, last_rate=1e-4, warmup=5, answer_weight=4,
        random_weight=0.1, first_weight=0.3, mix=_JUDGED, judged=Judged(),
    ),
    Stage(
        "judged again", 230_400, rows=10, context=256, rate=1.5e-4, last_rate=1e-5, warmup=5, answer_weight=4,
        random_weight=0.1, first_weight=0.5, mix=_JUDGED, judged=Judged(weight=10),
    ),
    Stage(
        "varied", 1_740_800, rows=20, context=256, rate=3e-4, last_rate=1e-5, warmup=10, answer_weight=4,
        random_weight=0.1, first_weight=0.5, mix=_VARIED,
        judged=Judged(weight=10, likeness=0.05, variety=1, sound_each=4),
        averaged_with="judged again",
    ),
    Stage(
        "weakest", 8_192_000, rows=16, context=256, rate=8e-4, last_rate=1e-5, answer_weight=4, random_weight=0.1,
        first_weight=0.3, mix=_WEAKEST, averaged_with="varied",
    ),
    Stage(
        "warmer", 1_228_800, rows=16, context=256, rate=3e-4, last_rate=1e-5, warmup=10, answer_weight=4,
        random_weight=0.1, first_weight=0.5, mix=_WARMER,
        judged=Judged(stories=160, temperatures=(1.0,), weight=10, likeness=0.05, variety=1, sound_each=4),
        averaged_with="weakest",
    ),
    Stage(
        "asking", 1_228_800, rows=16, context=256, rate=3e-4, last_rate=1e-5, warmup=10, answer_weight=4,
        random_weight=0.1, first_weight=0.5, mix=_ASKING,
        judged=Judged(stories=160, temperatures=(0.9,), weight=10, likeness=0.5, variety=1, sound_each=4),
        averaged_with="weakest",
    ),
    Stage(
        "answering", 716_800, rows=16, context=256, rate=3e-4, last_rate=1e-5, warmup=5, answer_weight=4,
        random_weight=0.1, first_weight=0.5, mix=_ASKING,
        judged=Judged(stories=160, weight=10, likeness=0.25, variety=1, sound_each=4),
        averaged_with="asking",
    ),
    Stage(
        "surer", 1_843_200, rows=16, context=256, rate=2e-4, last_rate=1e-5, warmup=10, answer_weight=4,
        random_weight=0.1, first_weight=0.2, mix=_ASKING,
        judged=Judged(
            stories=160, temperatures=(0.8, 0.4), weight=10, likeness=0.25, likeness_temperature=0.7, variety=1,
            occurrences=12, sound_each=4,
        ),
        averaged_with="answering",
    ),
)  # fmt: skip
