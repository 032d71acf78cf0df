"""Training goes on exactly where it was cut off, stage by stage, and writes a checkpoint that loads."""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

import model
from model import train
from model.checkpoint import BUNDLED
from model.corpus import MIX, documents
from model.curriculum import PATTERNS, STAGES, Judged, Stage
from model.packing import END, Rows, pack, tokens_and_answers
from model.tokenizer import Tokenizer
from model.train import Settings, Trainer, loss_of, rate, scaled, stage_number

STAGE = Stage("tiny", tokens=4 * 16, rows=1, context=16, warmup=2)
TINY = Settings((STAGE, replace(STAGE, name="second", tokens=2 * 16)), save_every=2)
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(BUNDLED / "tokenizer.json")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, tokenizer: Tokenizer) -> None:
    """The bundled tokenizer stands in for one trained on the spot; what is measured on the way is tested by itself."""
    monkeypatch.setattr(train, "train_tokenizer", lambda *_: tokenizer.back_end)
    monkeypatch.setattr(train, "heldout_answers", lambda *_: {})
    monkeypatch.setattr(train, "heldout_loss", lambda *_: 1.0)


def killed_after(trainer: Trainer, stage: str, batches: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run until `batches` of a stage are done, then stop as a kill does."""
    whole = trainer._batches

    def cut(of: Stage) -> Iterator[Rows]:
        if of.name != stage:
            yield from whole(of)
        else:
            yield from islice(whole(of), batches)
            raise KeyboardInterrupt

    monkeypatch.setattr(trainer, "_batches", cut)
    with pytest.raises(KeyboardInterrupt):
        trainer.run()


@pytest.mark.parametrize(("stage", "batches", "step"), [("tiny", 3, 2), ("second", 1, 4)])
def test_an_interrupted_run_ends_as_one_that_was_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str, batches: int, step: int
) -> None:
    Trainer(TINY, tmp_path / "whole", CPU).run()
    killed_after(Trainer(TINY, tmp_path / "cut", CPU), stage, batches, monkeypatch)
    monkeypatch.setattr(train, "train_tokenizer", None)  # the tokenizer of the run is there already
    again = Trainer(TINY, tmp_path / "cut", CPU)
    assert (again.stage, again.step) == (0, step)
    again.run()
    whole, resumed = (model.load(tmp_path / name, device="cpu") for name in ("whole", "cut"))
    for name, weight in whole.net.state_dict().items():
        torch.testing.assert_close(resumed.net.state_dict()[name], weight, rtol=0, atol=0)
    assert not (tmp_path / "cut" / "training_state.pt").exists()
    log = [json.loads(line) for line in (tmp_path / "cut" / "training_log.jsonl").read_text().splitlines()]
    assert [(line["stage"], line["step"], line["tokens"]) for line in log] == [
        ("tiny", 2, 32), ("tiny", 4, 64), ("second", 2, 96)
    ]  # fmt: skip


def test_a_stage_with_stories_of_its_own_goes_on_where_it_was_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model.variety.STORIES", 20)  # counting a thousand takes longer than all else here
    stage = replace(STAGE, tokens=3 * 16, judged=Judged(stories=2))
    settings = Settings((stage,), save_every=10)
    Trainer(settings, tmp_path / "whole", CPU, start=BUNDLED).run()
    killed_after(Trainer(settings, tmp_path / "cut", CPU, start=BUNDLED), "tiny", 2, monkeypatch)
    again = Trainer(settings, tmp_path / "cut", CPU, start=BUNDLED)
    assert again.step == 2
    again.run()
    whole, resumed = (model.load(tmp_path / name, device="cpu") for name in ("whole", "cut"))
    for name, weight in whole.net.state_dict().items():
        torch.testing.assert_close(resumed.net.state_dict()[name], weight, rtol=0, atol=0)
    log = [json.loads(line) for line in (tmp_path / "cut" / "training_log.jsonl").read_text().splitlines()]
    assert [0 <= line["sound"] <= 1 for line in log[-3:]] == [True] * 3


def test_an_averaged_stage_ends_halfway(tmp_path: Path) -> None:
    begin = replace(STAGE, name="begin")
    for name, other in (("far", ""), ("half", "begin")):
        settings = Settings((begin, replace(STAGE, averaged_with=other)), first=1)
        Trainer(settings, tmp_path / name, CPU, start=BUNDLED).run()
    begun, far, half = (
        model.load(path, device="cpu").net.state_dict() for path in (BUNDLED, tmp_path / "far", tmp_path / "half")
    )
    assert any(not torch.equal(far[name], begun[name]) for name in begun)
    for name, weight in half.items():
        torch.testing.assert_close(weight, (begun[name] + far[name]) / 2, rtol=2e-3, atol=1e-3)


def test_an_average_with_an_earlier_stage_outlives_an_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stages = (STAGE, replace(STAGE, name="second"), replace(STAGE, name="third", averaged_with="tiny"))
    settings = Settings(stages, save_every=2)
    Trainer(Settings(stages[:1]), tmp_path / "first", CPU).run()
    Trainer(replace(settings, stages=(*stages[:2], replace(stages[2], averaged_with=""))), tmp_path / "far", CPU).run()
    killed_after(Trainer(settings, tmp_path / "cut", CPU), "third", 3, monkeypatch)
    Trainer(settings, tmp_path / "cut", CPU).run()
    first, far, cut = (model.load(tmp_path / name, device="cpu").net.state_dict() for name in ("first", "far", "cut"))
    for name, weight in cut.items():
        torch.testing.assert_close(weight, (first[name] + far[name]) / 2, rtol=2e-3, atol=1e-3)


def test_an_average_needs_the_other_stage(tmp_path: Path) -> None:
    stages = (STAGE, replace(STAGE, name="second"), replace(STAGE, name="third", averaged_with="tiny"))
    with pytest.raises(SystemExit, match="'third' is averaged with the weights after 'tiny'"):
        Trainer(Settings(stages, first=2), tmp_path, CPU, start=BUNDLED)
    Trainer(Settings(stages, first=1), tmp_path, CPU, start=BUNDLED)


def test_more_rows_are_more_stories_too() -> None:
    stage = scaled(replace(STAGE, judged=Judged(stories=2)), tokens=2, rows=4)
    assert (stage.tokens, stage.rows, stage.judged) == (2 * STAGE.tokens, 4, Judged(stories=8))
    assert scaled(STAGE, 1, 1) == STAGE


def test_a_later_stage_starts_from_given_weights(tmp_path: Path) -> None:
    Trainer(replace(TINY, stages=TINY.stages[:1]), tmp_path / "first", CPU).run()
    begun = Trainer(replace(TINY, first=1), tmp_path / "second", CPU, start=tmp_path / "first")
    assert (begun.stage, begun.step) == (1, 0)
    weights = model.load(tmp_path / "first", device="cpu").net.state_dict()
    assert all(torch.equal(weight, weights[name]) for name, weight in begun.net.state_dict().items())
    begun.run()
    log = [json.loads(line) for line in (tmp_path / "second" / "training_log.jsonl").read_text().splitlines()]
    assert [line["tokens"] for line in log] == [32, 64, 96]  # the first stage's log goes along


def test_other_settings_do_not_take_over_a_saved_run(tmp_path: Path) -> None:
    trainer = Trainer(TINY, tmp_path, CPU)
    trainer.step = 2
    trainer._save(loss=1.0, speed=1.0)
    with pytest.raises(SystemExit, match="other settings"):
        Trainer(replace(TINY, seed=1), tmp_path, CPU)


def test_an_unknown_stage_is_refused_by_name() -> None:
    assert stage_number(STAGES, STAGES[2].name) == 2
    with pytest.raises(SystemExit, match=r"no stage 'x'; there are .*bindings"):
        stage_number(STAGES, "x")


def test_rows_start_with_a_document_and_depend_on_the_seed_alone(tokenizer: Tokenizer) -> None:
    rows = pack(tokenizer, STAGE, seed=5)
    assert rows.ids.shape == (1, STAGE.context + 1)
    assert rows.weights.shape == (1, STAGE.context)
    assert torch.equal(rows.ids, pack(tokenizer, STAGE, seed=5).ids)
    assert not torch.equal(rows.ids, pack(tokenizer, STAGE, seed=6).ids)
    begins = [*tokenizer.encode(next(documents(5)).text), END][: STAGE.context]
    assert rows.ids[0, : len(begins)].tolist() == begins


def test_answers_count_more_and_random_words_less(tokenizer: Tokenizer) -> None:
    stage = replace(STAGE, context=200, answer_weight=5, random_weight=0.1, mix={"recall": 1})
    document = next(documents(0, mix=stage.mix))
    ids, answers = tokens_and_answers(tokenizer, document)
    spans = "".join(document.text[start:end] for start, end in document.answers)
    assert tokenizer.decode([i for i, answer in zip(ids, answers, strict=True) if answer]) == spans
    weights = pack(tokenizer, stage, seed=0).weights[0, : len(ids) - 1]
    assert weights.tolist() == pytest.approx([5.0 if answer else 0.1 for answer in answers[1:]])
    story = replace(stage, mix={"story-en": 1})
    assert set(pack(tokenizer, story, seed=0).weights.flatten().tolist()) == {1.0, 5.0}


def test_what_a_story_names_for_the_first_time_may_count_less(tokenizer: Tokenizer) -> None:
    stage = replace(STAGE, context=60, first_weight=0.25, mix={"story-en": 1})
    ids = tokenizer.encode(next(documents(0, mix=stage.mix)).text)[:60]
    weights = pack(tokenizer, stage, seed=0).weights[0, : len(ids) - 1].tolist()
    assert weights == [1.0 if ids[i] in ids[:i] else 0.25 for i in range(1, len(ids))]


def test_the_loss_is_the_weighted_mean() -> None:
    logits = torch.randn(2, 3, 7, generator=torch.Generator().manual_seed(0))
    ids = torch.tensor([[0, 1, 2, 3], [4, 5, 6, 0]])
    weights = torch.tensor([[1.0, 0.0, 2.0], [0.5, 1.0, 0.0]])
    each = [
        float(weights[r, t]) * float(F.cross_entropy(logits[r, t], ids[r, t + 1])) for r in range(2) for t in range(3)
    ]
    assert float(loss_of(lambda _: logits, Rows(ids, weights))) == pytest.approx(sum(each) / 4.5, rel=1e-6)


def test_the_rate_warms_up_and_goes_down_to_the_last() -> None:
    stage = Stage("x", tokens=100, rows=1, context=1, warmup=10, rate=1.0, last_rate=0.1)
    assert [rate(stage, step) for step in (0, 4, 9)] == pytest.approx([0.1, 0.5, 1.0])
    assert rate(stage, 55) == pytest.approx(0.55)
    assert rate(stage, 100) == pytest.approx(0.1)


def test_the_stages_name_kinds_that_there_are() -> None:
    for stage in STAGES:
        assert set(stage.mix) <= set(MIX)
        assert next(documents(0, mix=stage.mix)).text
    kinds = {next(documents(0, mix={name: 1})).kind for name in MIX}
    assert kinds >= PATTERNS
