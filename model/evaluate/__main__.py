"""python -m model.evaluate: what the model can do, measured on held-out cases, beside the bars that it must reach.

Cases come from the corpus's held-out part, so training has shown none of their combinations. Skills are judged on
greedy continuations, stories on continuations at temperature 0.8. The exit status is 1 when a bar is missed. With
`--heads` it finds the attention heads that do a job instead, and writes them beside the weights; with `--circuits` it
measures how far few nodes carry an answer; with `--why` how true the why of an answer is; with `--lens` it fits the
Jacobian lens and measures it beside the logit lens.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from model.analysis.head_losses import BUDGET
from model.analysis.kept_lens import FILE as LENS
from model.analysis.kept_lens import TOKENS
from model.analysis.outside import knows_corpus
from model.checkpoint import BUNDLED, LanguageModel, load
from model.evaluate.cases import SKILLS, collect
from model.evaluate.circuit_pairs import report_pairs
from model.evaluate.circuits import report_circuits
from model.evaluate.heads import report_heads
from model.evaluate.judges import Judge, exactly
from model.evaluate.lens import report_lens
from model.evaluate.report import Figure, Typed, skill_figure, story_figure, table
from model.evaluate.stories import openings, tell
from model.evaluate.why import report_why
from model.evaluate.writing import write
from model.head_names import FILE as HEADS

# What a person types in the world's words, not from the generator, and how it must go on.
TYPED = [
    ("Tom is in the kitchen. Lily is in the garden. Tom is in the", " kitchen"),
    ("猫在沙发上睡觉。狗在院子里玩。猫在", "沙发上"),
    ("sun moon rain sun moon", " rain"),
]
OTHERS = ("stories", "typed")


def main() -> int:
    """Print every figure beside its bar; the exit status is 1 if one is missed."""
    given = _arguments()
    lm = load(given.model, device=given.device, dtype="float32")
    if given.heads:
        out = Path(given.model) / HEADS if given.heads is True else Path(given.heads)
        return report_heads(lm, given.seed, given.cases, out)
    if given.circuits:
        return report_circuits(lm, given.seed, given.circuits) if knows_corpus(lm) else report_pairs(lm)
    if given.why is not None:
        return report_why(lm, given.why, given.model)
    if given.lens is not None:
        return report_lens(lm, given.lens)
    figures, typed = evaluate(lm, given.cases, given.seed, given.only)
    print(table(figures, typed))
    if given.json:
        write_json(given.json, lm, given, figures, typed)
    return int(not all(line.met for line in (*figures, *typed)))


def evaluate(lm: LanguageModel, cases: int, seed: int, only: Sequence[str] = ()) -> tuple[list[Figure], list[Typed]]:
    """Measure the skills named in `only`, all by default: `cases` cases of each in each language."""
    wanted = [skill for skill in SKILLS if not only or skill.name in only]
    told = openings(cases, seed) if not only or "stories" in only else []
    figures = skill_figures(lm, cases, seed, [skill.name for skill in wanted]) if wanted else []
    if told:
        with tqdm(total=len(told), desc="stories", unit="story", dynamic_ncols=True) as bar:
            stories = tell(lm, told, seed, bar.update)
        figures += [story_figure(language, stories) for language in ("en", "zh")]
    return figures, typed_prompts(lm) if not only or "typed" in only else []


def skill_figures(lm: LanguageModel, cases: int, seed: int, names: Sequence[str]) -> list[Figure]:
    """The figure of each of these skills in each of its languages."""
    skills = [skill for skill in SKILLS if skill.name in names]
    collected = collect(cases, seed, skills)
    figures = []
    with tqdm(total=sum(map(len, collected.values())), unit="case", dynamic_ncols=True) as bar:
        for skill in skills:
            for language in skill.languages:
                bar.set_description(f"{skill.name} ({language})")
                own = collected[skill.name, language]
                rows = write(lm, own, progress=bar.update)
                figures.append(
                    skill_figure(skill, language, own, [bool(row.verdict) for row in rows], [row.text for row in rows])
                )
    return figures


@dataclass(frozen=True)
class _TypedJob:
    prompt: str
    judge: Judge
    limit: int = 8


def typed_prompts(lm: LanguageModel) -> list[Typed]:
    """The typed prompts with the model's greedy continuation."""
    # An English word must end there; Chinese goes on without a space.
    jobs = [_TypedJob(prompt, exactly(expected, whole=expected.isascii())) for prompt, expected in TYPED]
    rows = write(lm, jobs)
    return [
        Typed(prompt, expected, row.text, bool(row.verdict))
        for (prompt, expected), row in zip(TYPED, rows, strict=True)
    ]


def write_json(
    path: Path, lm: LanguageModel, given: argparse.Namespace, figures: Sequence[Figure], typed: Sequence[Typed]
) -> None:
    """Everything that the table says, and examples of what went wrong."""
    report: dict[str, Any] = {
        "model": lm.name if Path(given.model) == BUNDLED else Path(given.model).name,
        "parameters": lm.n_parameters,
        "command": f"python -m model.evaluate --cases {given.cases} --seed {given.seed}",
        "figures": [figure.as_json() for figure in figures],
        "typed": [asdict(line) for line in typed],
        "met": all(line.met for line in (*figures, *typed)),
    }
    path.write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m model.evaluate", description="Measure the model's skills on held-out cases, against their bars."
    )
    parser.add_argument("--model", default=BUNDLED, help="a checkpoint directory (default: the bundled model)")
    parser.add_argument("--cases", type=int, default=200, help="of each skill and language (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of cases and draws (default: %(default)s)")
    parser.add_argument(
        "--only", action="append", metavar="SKILL", choices=[*(skill.name for skill in SKILLS), *OTHERS],
        help="measure this alone; may be given several times: %(choices)s",
    )  # fmt: skip
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to this file")
    parser.add_argument(
        "--heads", nargs="?", const=True, metavar="FILE",
        help=f"find the heads that do a job and write FILE (default: {HEADS} beside the weights)",
    )  # fmt: skip
    parser.add_argument(
        "--circuits", nargs="?", type=int, const=9, default=0, metavar="N",
        help="measure how far few nodes carry the answer of N held-out prompts of each kind instead (default: 9); of "
        "another than the bundled model, those of 14 pairs of prompts",
    )  # fmt: skip
    parser.add_argument(
        "--why", nargs="?", type=int, const=BUDGET, metavar="N",
        help="measure why the model goes on as it does on 40 prompts instead; heads are run for up to N rows × tokens "
        f"of each (default: {BUDGET})",
    )  # fmt: skip
    parser.add_argument(
        "--lens", nargs="?", type=int, const=TOKENS, metavar="N",
        help=f"fit the Jacobian lens as a mean over N tokens (default: {TOKENS}), write {LENS} beside the weights, and "
        "measure it",
    )  # fmt: skip
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, … (default: %(default)s)")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
