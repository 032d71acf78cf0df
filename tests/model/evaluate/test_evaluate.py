"""The evaluation: its cases are fair, its judges tell right from wrong, its batches write what one row would.

The stand-in model knows nothing, so what judges answers is tested with an oracle, the document's own text.
"""

import json
import sys
from types import SimpleNamespace

import pytest

import model
from model.corpus.checker.sentences import Fault
from model.corpus.split import is_held_out
from model.evaluate import __main__ as evaluate
from model.evaluate import stories, writing
from model.evaluate.cases import SKILLS, collect
from model.evaluate.judges import closes, content, exactly, mentions, number_of
from model.evaluate.report import Figure, skill_figure, story_figure, table
from tests.standin import make_checkpoint

WANTED = 8


@pytest.fixture(scope="module")
def collected():
    return collect(WANTED, 3, SKILLS)


@pytest.fixture(scope="module")
def roomy(tmp_path_factory):
    """The stand-in with room for every prompt, since it reads one byte a token."""
    return model.load(make_checkpoint(tmp_path_factory.mktemp("roomy"), max_position_embeddings=1024), device="cpu")


def growing(judge, text: str) -> bool:
    """The verdict on a text that comes character by character and then ends."""
    for i in range(1, len(text) + 1):
        if (verdict := judge(text[:i], False)) is not None:
            return verdict
    return bool(judge(text, True))


def test_an_oracle_is_always_right(collected):
    for found in collected.values():
        for case in found:
            assert case.judge(case.reference, True), case
            assert growing(case.judge, case.reference), case
            assert case.limit >= 2


def test_a_constant_answer_is_right_by_chance_alone(collected):
    chance = {"agreement": 0.8, "brackets": 0.7}
    for (skill, _), found in collected.items():
        for answer in (" is", " the", " Tom.", " )", "汤姆。", " 1", ""):
            right = sum(bool(case.judge(answer, True)) for case in found)
            assert right <= max(2, chance.get(skill, 0.0) * len(found)), (skill, answer)


def test_cases_follow_from_the_seed_and_differ(collected):
    skills = [skill for skill in SKILLS if skill.name in ("recall", "questions")]
    again, third, other = (
        [case.prompt for found in collect(4, seed, skills).values() for case in found] for seed in (3, 3, 4)
    )
    assert again == third
    assert not set(again) & set(other)
    for key, found in collected.items():
        assert len({(case.prompt, case.answer) for case in found}) == len(found)
        assert len(found) == WANTED or key[0] in ("counting", "brackets")


def test_a_prompt_is_what_a_person_could_type(collected):
    """English prompts end before a space, so that the space belongs to the word that follows."""
    for (skill, language), found in collected.items():
        for case in found:
            if (skill, language) != ("translation", "zh"):  # "dog = 狗": the space belongs to the sign
                assert case.prompt == case.prompt.rstrip(" "), case


def test_induction_is_asked_after_a_whole_period(collected):
    for language in ("en", "zh"):
        for case in collected["induction", language]:
            assert case.prompt.count(case.answer) == 1, case
            assert case.prompt.index(case.answer) > 0


def test_questions_are_held_out_and_asked_once(collected):
    for case in collected["questions", "en"]:
        question = case.prompt[max(case.prompt.rfind(mark, 0, -1) for mark in ".?\n") + 1 :].strip()
        assert question.endswith("?")
        assert case.prompt.count(question) == 1
        assert question.split()[0] in ("Where", "Who", "What", "Which", "Do")
    for case in collected["pronouns", "en"]:
        assert {" He ", " She "} <= {f" {word} " for word in case.prompt.split()}


def test_recalled_pairs_are_held_out(collected):
    for case in collected["recall", "en"]:
        key = case.prompt.split(". ")[-1].split(", ")[-1]
        key = key.removesuffix(":").removesuffix(" =").removesuffix(" is")
        assert is_held_out(key, case.answer.strip())


def test_agreement_has_words_between(collected):
    for case in collected["agreement", "en"]:
        assert len(case.prompt.split(". ")[-1].split()) >= 4


@pytest.mark.parametrize(
    ("text", "right"),
    [(" 10, 12", True), (" 10", True), (" 100", False), (" 1", False), (" 11", False), (" 10 11", True)],
)
def test_a_number_must_end(text, right):
    assert growing(exactly(" 10", whole=True), text) is right


def test_a_word_must_end():
    assert not growing(exactly("花", whole=True), "花园\n")
    assert growing(exactly("花", whole=True), "花\n")
    assert not growing(exactly(" rain", whole=True), " rainbow")
    assert growing(exactly("沙发上"), "沙发上睡觉")


WHERE = "Where is Tom?"
GAVE = "Who gave the ball to Lily?"
TOOK = "Who did Tom give the ball to?"


@pytest.mark.parametrize(
    ("question", "answer", "said", "right"),
    [
        (WHERE, "kitchen", " In the kitchen. Lily is in the park.", True),
        (WHERE, "kitchen", " Tom is in the kitchen.", True),
        (WHERE, "kitchen", " He is in the kitchen", True),
        (WHERE, "kitchen", " She is in the kitchen.", False),
        (WHERE, "kitchen", " Lily is in the kitchen.", False),
        (WHERE, "kitchen", " In the park.", False),
        (WHERE, "kitchen", " In the kitchen in the park.", False),
        (WHERE, "kitchen", "", False),
        (GAVE, "Tom", " Tom gave the ball to Lily.", True),
        (GAVE, "Tom", " Tom did.", True),
        (GAVE, "Tom", " Lily gave the ball to Tom.", False),
        (TOOK, "Lily", " Tom gave the ball to Lily.", True),
        (TOOK, "Lily", " Lily.", True),
        (TOOK, "Lily", " Lily gave the ball to Tom.", False),
        (TOOK, "Lily", " Tom.", False),
        ("What colour is the ball?", "red", " It is red.", True),
        ("What colour is the ball?", "red", " Blue.", False),
        ("What is in the box?", "ball", " The ball is in the box.", True),
        ("What is in the box?", "ball", " The box.", False),
        ("Where is the bell?", "basket", " The bell is in the basket.", True),
        ("Where is the bell?", "basket", " The basket is in the bell.", False),
        ("铃铛在哪儿？", "篮子", "铃铛在篮子里。", True),
        ("铃铛在哪儿？", "篮子", "在铃铛里。", False),
        ("汤姆在哪里？", "厨房", "他在厨房里。", True),
        ("汤姆在哪里？", "厨房", "她在厨房里。", False),
        ("汤姆在哪里？", "厨房", "在花园里。", False),
        ("本有什么？", "书", "一本书。", True),
        ("谁有书？", "本", "是本。", True),
        ("谁把书给了莉莉？", "本", "本把书给了莉莉。", True),
        ("本把书给了谁？", "莉莉", "本把书给了莉莉。", True),
        ("本把书给了谁？", "莉莉", "莉莉把书给了本。", False),
    ],
)
def test_the_content_of_an_answer_is_judged(question, answer, said, right):
    language = "en" if question.isascii() else "zh"
    assert growing(content(question, answer, language), said) is right


def test_a_measure_word_is_no_name():
    assert [key for key, _ in mentions("本有一本书。", "zh")] == ["Ben", "book"]


def test_number_is_judged_in_any_tense_and_after_more_words():
    judge = number_of("are")
    assert growing(judge, " on the table were red.")
    assert not growing(judge, " is red.")
    assert not growing(judge, " red. The keys are old.")
    assert not growing(judge, " isare")


def test_brackets_close_in_order():
    assert growing(closes("(["), " dog ( cat ) ] )")
    assert not growing(closes("(["), " dog ) ]")
    assert not growing(closes("(["), " dog ( cat ]")
    assert not growing(closes("(["), " dog")


def test_batches_write_what_one_row_writes(lm):
    prompts = ["The cat", "Tom is in the kitchen. Lily is in the", "猫在沙发上", "a", "The dog plays"]
    jobs = [SimpleNamespace(prompt=p, judge=lambda text, ended: None, limit=5 + i) for i, p in enumerate(prompts)]
    for job, row in zip(jobs, writing.write(lm, jobs), strict=True):
        steps = list(model.generate(lm, job.prompt, max_new_tokens=job.limit))
        assert row.text == "".join(step.text for step in steps)
        assert len(row.new) == len(steps)
        assert row.ended == (steps[-1].stop == "end_of_text")


def test_draws_do_not_depend_on_the_batch(lm, monkeypatch):
    jobs = [SimpleNamespace(prompt="The cat sleeps"[:n], judge=lambda t, e: None, limit=12) for n in range(1, 12)]
    whole = [row.text for row in writing.write(lm, jobs, temperature=0.8, seed=1)]
    monkeypatch.setattr(writing, "ROWS", 3)
    assert [row.text for row in writing.write(lm, jobs, temperature=0.8, seed=1)] == whole
    assert [row.text for row in writing.write(lm, jobs, temperature=0.8, seed=2)] != whole
    assert [row.text for row in writing.write(lm, jobs, seed=1)] != whole


def test_writing_stops_at_the_verdict(lm):
    told = []
    job = SimpleNamespace(prompt="The cat", judge=lambda text, ended: len(text) > 3 or None, limit=50)
    (row,) = writing.write(lm, [job], progress=told.append)
    assert row.verdict
    assert len(row.new) < 50
    assert told == [1]


def test_openings_are_two_whole_sentences():
    told = stories.openings(8, 1)
    assert [opening.language for opening in told] == ["en"] * 8 + ["zh"] * 8
    for opening in told:
        assert sum(opening.prompt.count(mark) for mark in ".。") == 2
        assert opening.prompt[-1] in ".。"
        assert stories.faults_of(opening, "", True) == [Fault("silent", opening.prompt)]
    first = told[0]
    assert stories.faults_of(first, " It is raining.", True) in ([], stories.faults_of(first, " It was raining.", True))
    assert {fault.kind for fault in stories.faults_of(first, " zzz.", True)} >= {"word"}


def test_a_figure_counts_and_is_met(collected):
    skill, found = SKILLS[0], collected["induction", "en"]
    figure = skill_figure(skill, "en", found, [True] * (len(found) - 1) + [False], ["x"] * len(found))
    assert figure.right == len(found) - 1
    assert not figure.met
    assert figure.as_json()["wrong"] == [{"prompt": found[-1].prompt, "expected": found[-1].answer, "written": "x"}]
    assert Figure("x", "en", "", 0, 0, 0.0).met is False
    told = [stories.Story("en", "", "a", []), stories.Story("en", "", "b", [Fault("place", "s")] * 2)]
    figure = story_figure("en", told)
    assert (figure.right, figure.cases) == (1, 2)
    assert figure.detail["faults"][0]["stories"] == 1
    lines = table([figure], []).splitlines()
    assert "50.0 %  ≥ 95 %  NOT met" in lines[1]


def run(monkeypatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["evaluate", *map(str, arguments)])
    return evaluate.main()


def test_the_command_writes_its_figures(roomy, monkeypatch, tmp_path, capsys):
    out = tmp_path / "figures.json"
    given = ["--model", roomy.name, "--device", "cpu", "--cases", 2, "--json", out]
    assert run(monkeypatch, *given, "--only", "agreement", "--only", "typed", "--only", "stories") == 1
    report = json.loads(out.read_text())
    assert [(figure["name"], figure["language"]) for figure in report["figures"]] == [
        ("agreement", "en"),
        ("free stories", "en"),
        ("free stories", "zh"),
    ]
    assert len(report["typed"]) == 3
    assert report["met"] is False
    assert str(tmp_path) not in out.read_text()
    assert "NOT met" in capsys.readouterr().out


def test_the_exit_status_is_0_when_every_bar_is_met(roomy, monkeypatch):
    monkeypatch.setattr(evaluate, "evaluate", lambda *_: ([Figure("x", "en", "", 1, 1, 1.0)], []))
    assert run(monkeypatch, "--model", roomy.name, "--device", "cpu") == 0
