"""What was measured, as a table for people and as JSON for the model card and the page."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from model.evaluate.cases import Case, Skill
from model.evaluate.stories import BAR, CASE, FAULT_NAMES, Story

LANGUAGES = {"en": "English", "zh": "Chinese", "digits": "digits"}
EXAMPLES = 5


@dataclass(frozen=True)
class Figure:
    """One line of the table: `right` of `cases`; the share must reach `bar`. `detail` goes into the JSON."""

    name: str
    language: str
    case: str
    cases: int
    right: int
    bar: float
    detail: dict[str, Any] = field(default_factory=dict)

    @property
    def share(self) -> float:
        return self.right / self.cases if self.cases else 0.0

    @property
    def met(self) -> bool:
        return self.cases > 0 and self.share >= self.bar

    def as_json(self) -> dict[str, Any]:
        """Everything about the figure; shares lie between 0 and 1."""
        plain = {name: getattr(self, name) for name in ("name", "language", "case", "cases", "right", "bar", "met")}
        return plain | {"share": round(self.share, 4)} | self.detail


@dataclass(frozen=True)
class Typed:
    """A prompt that a person would type, how it must go on, and how the model went on."""

    prompt: str
    expected: str
    written: str
    met: bool


def skill_figure(
    skill: Skill, language: str, cases: Sequence[Case], right: Sequence[bool], texts: Sequence[str]
) -> Figure:
    """The figure of one skill in one language, with its parts and the first few cases that went wrong."""
    of = Counter(case.part for case in cases if case.part)
    good = Counter(case.part for case, ok in zip(cases, right, strict=True) if ok)
    wrong = [
        {"prompt": case.prompt, "expected": case.answer, "written": text}
        for case, ok, text in zip(cases, right, texts, strict=True)
        if not ok
    ]
    detail: dict[str, Any] = {"wrong": wrong[:EXAMPLES]}
    if of:
        detail["parts"] = {part: {"cases": n, "right": good[part]} for part, n in sorted(of.items())}
    return Figure(skill.name, language, skill.case, len(cases), sum(right), skill.bar, detail)


def story_figure(language: str, stories: Sequence[Story]) -> Figure:
    """The share of stories without a fault, and the commonest faults by the number of stories that have them."""
    own = [story for story in stories if story.language == language]
    kinds = Counter(kind for story in own for kind in {fault.kind for fault in story.faults})
    faults = []
    for kind, n in kinds.most_common():
        story, fault = next((s, f) for s in own for f in s.faults if f.kind == kind)
        faults.append(
            {"fault": kind, "means": FAULT_NAMES[kind], "stories": n, "sentence": fault.sentence, "text": story.text}
        )
    right = sum(not story.faults for story in own)
    return Figure("free stories", language, CASE, len(own), right, BAR, {"faults": faults})


def table(figures: Sequence[Figure], typed: Sequence[Typed]) -> str:
    """The figures and the typed prompts, each with whether its bar is met."""
    lines = [f"{'skill':<14}{'language':<10}{'cases':>6}{'right':>9}     bar"] if figures else []
    for figure in figures:
        share = f"{figure.share:.1%}".replace("%", " %")
        lines.append(
            f"{figure.name:<14}{LANGUAGES[figure.language]:<10}{figure.cases:>6}{share:>9}  ≥ {figure.bar:.0%}".replace(
                "%", " %"
            ).replace("  %", " %")
            + ("  met" if figure.met else "  NOT met")
        )
    for figure in figures:
        for fault in figure.detail.get("faults", [])[:EXAMPLES]:
            lines.append(
                f"  {LANGUAGES[figure.language]}, {fault['stories']} stories: {fault['means']}: {fault['sentence']}"
            )
    for line in typed:
        lines.append(
            f"{line.prompt!r} → {line.written!r}, expected {line.expected!r}  {'met' if line.met else 'NOT met'}"
        )
    return "\n".join(lines)
