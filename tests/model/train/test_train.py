"""Training goes on exactly where it was cut off, stage by stage, and writes a checkpoint that loads."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import model
from model.checkpoint import BUNDLED
from model.config import LlamaConfig
from model.corpus import MIX, documents
from model.forward_pass import Pass
from model.llama import Llama
from model.tokenizer import Tokenizer
from model.train import trainer as train
from model.train.curriculum import PATTERNS, Stage, recipe
from model.train.initial import initialise
from model.train.optimisers import Average, optimisers
from model.train.packing import END, Rows, pack_rows, tokens_and_answers
from model.train.trainer import SHAPE, Settings, Trainer, loss_of

STAGE = Stage("tiny", tokens=4 * 32, batch_size=2, context=16, warmup=2)
TINY = replace(SHAPE, n_layers=2, d_model=16, n_heads=2, n_kv_heads=1, head_dim=8, ffn_hidden=24)
SETTINGS = Settings((STAGE, replace(STAGE, name="second", tokens=2 * 32)), shape=TINY, save_every=2)
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


def weights(directory: Path) -> dict[str, Tensor]:
    return model.load(directory, device="cpu").net.state_dict()


def killed_after(trainer: Trainer, stage: str, batches: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run until `batches` of a stage are done, then stop as a kill does."""
    whole = trainer._batches

    def cut(of: Stage) -> Iterator[Sequence[Rows]]:
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
    Trainer(SETTINGS, tmp_path / "whole", CPU).run()
    killed_after(Trainer(SETTINGS, tmp_path / "cut", CPU), stage, batches, monkeypatch)
    monkeypatch.setattr(train, "train_tokenizer", None)  # the tokenizer of the run is there already
    resumed = Trainer(SETTINGS, tmp_path / "cut", CPU)
    assert (resumed.stage, resumed.step) == (0, step)
    resumed.run()
    whole, cut = weights(tmp_path / "whole"), weights(tmp_path / "cut")
    assert all(torch.equal(weight, cut[name]) for name, weight in whole.items())
    assert not (tmp_path / "cut" / "training_state.pt").exists()
    logs = [(tmp_path / name / "training_log.jsonl").read_text() for name in ("whole", "cut")]
    assert logs[0] == logs[1]  # no speed, no time of day: the same seed on the same machine writes the same log
    lines = [json.loads(line) for line in logs[0].splitlines()]
    assert [(line["stage"], line["step"], line["tokens"]) for line in lines] == [
        ("tiny", 2, 64), ("tiny", 4, 128), ("second", 2, 192)
    ]  # fmt: skip


def test_what_is_still_to_come_may_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run whose end was moved while it was on ends as one that was planned so."""
    longer = replace(SETTINGS, stages=(STAGE, replace(SETTINGS.stages[1], tokens=4 * 32)))
    killed_after(Trainer(SETTINGS, tmp_path / "moved", CPU), "tiny", 3, monkeypatch)
    Trainer(longer, tmp_path / "moved", CPU).run()
    Trainer(longer, tmp_path / "planned", CPU).run()
    moved, planned = weights(tmp_path / "moved"), weights(tmp_path / "planned")
    assert all(torch.equal(weight, moved[name]) for name, weight in planned.items())


def test_other_settings_do_not_take_over_a_saved_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed_after(Trainer(SETTINGS, tmp_path, CPU), "tiny", 3, monkeypatch)
    for other in (replace(SETTINGS, seed=1), replace(SETTINGS, stages=(replace(STAGE, lr=1e-3), *SETTINGS.stages[1:]))):
        with pytest.raises(SystemExit, match="other settings"):
            Trainer(other, tmp_path, CPU)


def test_a_batch_in_parts_gives_the_gradient_of_the_whole(tmp_path: Path, tokenizer: Tokenizer) -> None:
    rows = pack_rows(tokenizer, STAGE, seed=3)
    reference = Llama(TINY)
    initialise(reference, 0)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        (loss_of(reference, rows) / rows.weights.sum()).backward()
    for parts in (1, 2):
        trainer = Trainer(
            replace(SETTINGS, parts=parts, clip=1e9, stages=(replace(STAGE, warmup=0, lr=0.0),)), tmp_path, CPU
        )
        with train.ThreadPoolExecutor(parts) as pool:
            trainer._update(trainer.settings.stages[0], [rows], pool)
        for ours, theirs in zip(trainer.net.parameters(), reference.parameters(), strict=True):
            assert ours.grad is not None
            assert theirs.grad is not None
            assert (ours.grad - theirs.grad).norm() <= 0.02 * theirs.grad.norm()  # bfloat16


def test_any_network_and_shape_can_be_trained(tmp_path: Path) -> None:
    class Wider(Llama):
        """Stands for another family."""

        def __init__(self, config: LlamaConfig):
            super().__init__(config)
            self.extra = nn.Linear(config.d_model, config.d_model, bias=False)

        def forward(self, ids: Tensor, *cached: Any, **how: Any) -> Tensor:
            return super().forward(ids, *cached, **how) + self.extra(self.embed(ids)).sum(-1, keepdim=True)

    trainer = Trainer(replace(SETTINGS, shape=replace(TINY, tied_embeddings=False)), tmp_path, CPU, Wider)
    begun = {name: weight.clone() for name, weight in trainer.net.named_parameters()}
    with train.ThreadPoolExecutor(2) as pool:
        for step, batch in enumerate(trainer._batches(STAGE)):
            trainer.step = step
            trainer._update(STAGE, batch, pool)
    for name, weight in trainer.net.named_parameters():
        assert not torch.equal(weight, begun[name]), name


def test_every_weight_has_one_optimiser_and_muon_the_matrices_of_the_blocks() -> None:
    net = Llama(TINY)
    adamw, *muons = optimisers(net, 0.1, parts=2)
    names = {id(weight): name for name, weight in net.named_parameters()}
    own = [[names[id(p)] for group in one.param_groups for p in group["params"]] for one in (adamw, *muons)]
    assert sorted(chain.from_iterable(own)) == sorted(names.values())
    assert own[0] == ["embed.weight", *(name for name in names.values() if "norm" in name)]
    assert [len(names) for names in own[1:]] == [4, 4]
    assert [group["weight_decay"] for group in adamw.param_groups] == [0.1, 0.0]


def test_a_step_of_muon_moves_every_direction_alike() -> None:
    """Its singular values lie near each other, and its RMS near 0.2 of the learning rate (arXiv 2502.16982, eq. 4)."""
    net = Llama(TINY)
    weight = net.layers[0].get_parameter("attn.o_proj.weight")
    before = weight.detach().clone()
    random = torch.Generator().manual_seed(0)
    for other in net.parameters():
        other.grad = torch.randn(other.shape, generator=random)
    for one in optimisers(net, weight_decay=0.0):
        for group in one.param_groups:
            group["lr"] = 0.01
        one.step()
    moved = before - weight.detach()
    singular = torch.linalg.svdvals(moved)
    assert singular.max() / singular.min() < 2
    assert torch.linalg.svdvals(weight.grad).max() / torch.linalg.svdvals(weight.grad).min() > 5  # type: ignore[arg-type]
    assert float(moved.square().mean().sqrt()) == pytest.approx(0.2 * 0.01, rel=0.2)


def test_the_average_follows_the_weights() -> None:
    net = nn.Linear(1, 1, bias=False)
    average = Average(net, decay=0.9)
    for step in range(1, 400):
        nn.init.constant_(net.weight, step)
        average.update(net, step)
    assert float(average.net.weight) == pytest.approx(399 - 9, abs=0.1)  # decay / (1 - decay) steps behind


def test_a_block_begins_as_the_identity() -> None:
    net = Llama(TINY)
    initialise(net, seed=0)
    x = torch.randn(1, 5, TINY.d_model)
    for block in net.layers:
        assert torch.equal(block(x, Pass(net.positions(0, 5))), x)
    again = Llama(TINY)
    initialise(again, seed=0)
    assert all(torch.equal(a, b) for a, b in zip(net.parameters(), again.parameters(), strict=True))


def test_rows_start_with_a_document_and_depend_on_the_seed_alone(tokenizer: Tokenizer) -> None:
    rows = pack_rows(tokenizer, STAGE, seed=5)
    assert rows.ids.shape == (2, STAGE.context + 1)
    assert rows.weights.shape == (2, STAGE.context)
    assert torch.equal(rows.ids, pack_rows(tokenizer, STAGE, seed=5).ids)
    assert not torch.equal(rows.ids, pack_rows(tokenizer, STAGE, seed=6).ids)
    begins = [*tokenizer.encode(next(documents(5)).text), END][: STAGE.context]
    assert rows.ids[0, : len(begins)].tolist() == begins


def test_answers_count_more_and_random_words_less(tokenizer: Tokenizer) -> None:
    stage = replace(STAGE, context=200, answer_weight=5, random_weight=0.1, mix={"recall": 1})
    document = next(documents(0, mix=stage.mix))
    ids, answers = tokens_and_answers(tokenizer, document)
    spans = "".join(document.text[start:end] for start, end in document.answers)
    assert tokenizer.decode([i for i, answer in zip(ids, answers, strict=True) if answer]) == spans
    counted = pack_rows(tokenizer, stage, seed=0).weights[0, : len(ids) - 1]
    assert counted.tolist() == pytest.approx([5.0 if answer else 0.1 for answer in answers[1:]])
    story = replace(stage, mix={"story-en": 1})
    assert set(pack_rows(tokenizer, story, seed=0).weights.flatten().tolist()) == {1.0, 5.0}


def test_what_a_story_names_for_the_first_time_may_count_less(tokenizer: Tokenizer) -> None:
    stage = replace(STAGE, context=60, answer_weight=1.0, first_weight=0.25, mix={"story-en": 1})
    ids = tokenizer.encode(next(documents(0, mix=stage.mix)).text)[:60]
    counted = pack_rows(tokenizer, stage, seed=0).weights[0, : len(ids) - 1].tolist()
    assert counted == [1.0 if ids[i] in ids[:i] else 0.25 for i in range(1, len(ids))]


def test_the_loss_is_the_weighted_sum_in_float32() -> None:
    logits = torch.randn(2, 3, 7, generator=torch.Generator().manual_seed(0))
    ids = torch.tensor([[0, 1, 2, 3], [4, 5, 6, 0]])
    counted = torch.tensor([[1.0, 0.0, 2.0], [0.5, 1.0, 0.0]])
    each = [
        float(counted[r, t]) * float(F.cross_entropy(logits[r, t], ids[r, t + 1])) for r in range(2) for t in range(3)
    ]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert float(loss_of(lambda _: logits, Rows(ids, counted))) == pytest.approx(sum(each), rel=1e-6)


def test_the_learning_rate_warms_up_and_goes_down_to_the_last() -> None:
    stage = Stage("x", tokens=100, batch_size=1, context=1, warmup=10, lr=1.0, last_lr=0.0)
    assert [stage.lr_at(step) for step in (0, 4, 9)] == pytest.approx([0.1, 0.5, 1.0])
    assert [stage.lr_at(step) for step in (10, 55, 100)] == pytest.approx([1.0, 0.5, 0.0])
    assert {Stage("x", tokens=100).lr_at(step) for step in (0, 50, 99)} == {2e-3}


def test_the_recipe_is_at_most_four_stages_of_kinds_that_there_are() -> None:
    assert len(recipe()) <= 4
    assert recipe()[-1].last_lr == 0
    for stage in recipe():
        assert set(stage.mix) <= set(MIX)
    kinds = {next(documents(0, mix={name: 1})).kind for name in MIX}
    assert kinds >= PATTERNS
    assert [stage.tokens for stage in recipe(1_000_000)] == pytest.approx(
        [stage.tokens * 1_000_000 / sum(stage.tokens for stage in recipe()) for stage in recipe()], abs=1
    )
