"""Those who generate at the same time share steps; each has the text that it would have alone, and leaves alone."""

import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
import torch

import model
from app.engine import LocalEngine, Settings
from app.scheduler import AHEAD, Group, Writer
from model import GlassLlamaError
from model.batch import Batch
from model.generation import Generation
from model.interventions import Intervention

NAME, COUNT = "roomy", 24
PROMPTS = [[5, 6, 7], [9] * 11, [20, 30, 40, 50], [12], [8, 7] * 9, [100, 101]]


@pytest.fixture(scope="module")
def lm(roomy_checkpoint: Path) -> model.LanguageModel:
    """It writes on until it is told to stop."""
    lm = model.load(roomy_checkpoint, device="cpu")
    return replace(lm, name=NAME, config=replace(lm.config, eos_ids=()))


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many texts each step was of."""
    made: list[int] = []
    step = Batch.step

    def counted(batch: Batch, texts: Sequence[Generation]) -> Any:
        made.append(len(texts))
        return step(batch, texts)

    monkeypatch.setattr(Batch, "step", counted)
    return made


def side_by_side(engine: LocalEngine, works: Sequence[Callable[[], None]]) -> None:
    """Each in a thread of its own; they begin while the model has other work."""
    threads = [threading.Thread(target=work) for work in works]
    with engine._turns[NAME].turn():
        for thread in threads:
            thread.start()
        while engine._schedulers[NAME].writing < len(works):
            pass
    for thread in threads:
        thread.join()


def test_a_crowd_shares_steps_and_each_has_its_own_text(lm: model.LanguageModel, steps: list[int]) -> None:
    engine, found = LocalEngine([lm]), dict[int, list[int]]()
    off = Intervention(heads=((1, 2),))

    def write(number: int) -> Callable[[], None]:
        def work() -> None:
            asked, changes = engine.asked_by(f"visitor {number}"), off if number > 3 else Intervention()
            written = asked.generate(NAME, PROMPTS[number], COUNT, Settings(), changes=changes)
            found[number] = [step.token_id for step in written]

        return work

    side_by_side(engine, [write(number) for number in range(len(PROMPTS))])
    shared = list(steps)
    for number, prompt in enumerate(PROMPTS):
        alone = model.generate(lm, prompt, COUNT, intervention=off if number > 3 else Intervention())
        assert found[number] == [step.token_id for step in alone]
    assert sum(shared) == len(PROMPTS) * (COUNT - 1)  # each token is made once, the first ones of the prompts
    assert max(shared) == 4  # two have heads off: they share steps of their own
    assert len(shared) < sum(shared) * 2 / 3
    assert engine._schedulers[NAME].writing == 0
    assert not engine._schedulers[NAME]._groups


def test_prompts_with_the_same_prefix_are_read_in_one_pass(
    lm: model.LanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One with another prefix is read apart, since the first pass masks another part of it. All share the steps."""
    engine, found, passes = LocalEngine([lm]), dict[int, list[int]](), list[list[int]]()
    prompts, prefixes, read = [[5, 6, 7, 30], [9] * 6, [20, 30, 40, 50, 60]], [2, 2, 3], Batch.read

    def noted(batch: Batch, texts: Sequence[Generation]) -> Any:
        passes.append([text.intervention.prefix for text in texts])
        return read(batch, texts)

    monkeypatch.setattr(Batch, "read", noted)

    def write(number: int) -> Callable[[], None]:
        changes = Intervention(prefix=prefixes[number])

        def work() -> None:
            written = engine.asked_by(f"visitor {number}").generate(
                NAME, prompts[number], COUNT, Settings(), changes=changes
            )
            found[number] = [step.token_id for step in written]

        return work

    side_by_side(engine, [write(number) for number in range(len(prompts))])
    assert sorted(passes) == [[2, 2], [3]]
    for number, prompt in enumerate(prompts):
        alone = model.generate(lm, prompt, COUNT, intervention=Intervention(prefix=prefixes[number]))
        assert found[number] == [step.token_id for step in alone]


def test_who_does_not_read_keeps_nobody_waiting(lm: model.LanguageModel) -> None:
    """Nothing is made ahead of a reader but a few tokens; and who goes leaves the others' text as it is."""
    engine = LocalEngine([lm])
    slow, other, quick = (
        engine.asked_by(who).generate(NAME, PROMPTS[i], COUNT, Settings()) for i, who in enumerate("abc")
    )
    begun = [next(slow).token_id, next(other).token_id, next(quick).token_id]
    taken = [step.token_id for step in quick]
    assert [begun[2], *taken] == [step.token_id for step in model.generate(lm, PROMPTS[2], COUNT)]
    (group,) = engine._schedulers[NAME]._groups.values()
    assert [len(writer.made) for writer in group.writers.values()] == [AHEAD, AHEAD]
    cast(Generator[Any], other).close()
    assert engine._schedulers[NAME].writing == len(group.batch) == 1
    assert [begun[0], *(step.token_id for step in slow)] == [
        step.token_id for step in model.generate(lm, PROMPTS[0], COUNT)
    ]
    assert not engine._schedulers[NAME]._groups


def test_visitors_take_turns_where_a_step_has_no_room_for_all(
    lm: model.LanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = Group()
    owners = ["crowd"] * 5 + ["ann", "ben"]
    writers = [Writer(Generation(lm, [5], 9), owner) for owner in owners]
    for writer in writers:
        group.writers[writer.text] = writer
    group.batch.read([writer.text for writer in writers])
    for writer in writers:
        writer.joined = True
    monkeypatch.setattr(Batch, "most_rows", 3)
    leader, served = writers[0], dict.fromkeys(owners, 0)
    for _ in range(6):
        due = group.due(leader)
        assert len(due) == 3
        for one in due:
            served[one.visitor] += 1
    assert served == {"crowd": 6, "ann": 6, "ben": 6}  # one of each, though most texts are one visitor's
    assert [one.visitor for one in group.due(writers[5])] == ["ann", "crowd", "ben"]


def test_a_text_whose_run_is_not_finite_ends_alone(lm: model.LanguageModel) -> None:
    damaged = replace(lm, net=deepcopy(lm.net))
    with torch.no_grad():
        damaged.net.embed.weight[9] = float("inf")
    engine, found = LocalEngine([damaged]), dict[int, Any]()

    def write(number: int) -> Callable[[], None]:
        def work() -> None:
            try:
                found[number] = [step.token_id for step in engine.generate(NAME, PROMPTS[number], 6, Settings())]
            except GlassLlamaError as error:
                found[number] = error.code

        return work

    side_by_side(engine, [write(number) for number in range(3)])
    assert found[1] == "not_finite"
    for number in (0, 2):
        assert found[number] == [step.token_id for step in model.generate(damaged, PROMPTS[number], 6)]


def test_what_goes_wrong_in_a_step_is_told_to_all_who_share_it(
    lm: model.LanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(_batch: Batch, _texts: Sequence[Generation]) -> Iterator[Any]:
        raise MemoryError("no room")

    engine = LocalEngine([lm])
    one, two = (engine.asked_by(who).generate(NAME, [5, 6], 6, Settings()) for who in "ab")
    assert next(one).token_id == next(two).token_id
    monkeypatch.setattr(Batch, "step", failing)
    for text in (one, two):
        with pytest.raises(MemoryError, match="no room"):
            next(text)
    assert engine._schedulers[NAME].writing == 0
