"""A small network of every family: trained a few steps, written in its family's format, read back by transformers."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import model
from model.checkpoint import save_weights
from model.corpus import documents
from model.families import FAMILIES, family_of
from model.moe import Experts, Routing
from model.train import balance, zoo
from model.train import trainer as train
from model.train.curriculum import Stage, recipe
from model.train.initial import initialise
from model.train.packing import END, pack_pairs, pack_rows, tokens_and_answers
from model.train.score_scale import scale_scores, unscale_scores
from model.train.trainer import Settings, Trainer
from tests.families import close, liven, pair_of, run, sample

STAGE = Stage("tiny", tokens=4 * 4 * 16, batch_size=4, context=16)  # four steps: every block writes 0 at first
SMALL = {"n_layers": 2, "d_model": 24, "n_heads": 2, "head_dim": 12, "ffn_hidden": 32}
OWN: dict[str, dict[str, Any]] = {  # what the small ones have in place of zoo's
    "bloom": {"n_kv_heads": 2, "ffn_hidden": 96},
    "mixtral": {"ffn_hidden": 8},
    "deepseek": {
        "n_kv_heads": 2, "q_lora_rank": 12, "kv_lora_rank": 8, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4,
        "v_head_dim": 6, "expert_hidden": 8, "shared_hidden": 8,
    },
    "t5": {"n_kv_heads": 2, "encoder_layers": 2},
}  # fmt: skip
TINY = {name: replace(shape, **SMALL | OWN.get(name, {})) for name, shape in zoo.SHAPES.items()}
# Forms of the families that no network of the zoo has, written and read back all the same.
OTHERS: list[Any] = [
    replace(TINY["qwen"], qkv_bias=True, qk_norm=False),
    replace(TINY["falcon"], n_kv_heads=1, grouped=True, two_norms=True, biases=True),
    replace(TINY["deepseek"], q_lora_rank=None, routing=Routing(4, normalised=False)),
    replace(TINY["t5"], gated=False, tied_embeddings=True, head_scale=24**-0.5),
    replace(TINY["llama"], tied_embeddings=False),
]


def trainer(name: str, out: Path, **settings: Any) -> Trainer:
    shape = TINY[name]
    how = Settings((STAGE,), shape, save_every=2, **settings)
    return Trainer(how, out, torch.device("cpu"), family_of(shape.to_hf()).build, zoo.tokenizer(shape))


def agree(directory: Path) -> None:
    """Ours and transformers' of a directory give the same logits."""
    pair, ids = pair_of(directory), sample(2, 11)
    if pair.peer.config.is_encoder_decoder:
        with torch.no_grad():
            close(pair.lm.net(ids, ids[:, :7]), pair.peer(ids, decoder_input_ids=ids[:, :7]).logits)
    else:
        close(pair.lm.net(ids), run(pair.peer, ids).logits)


@pytest.mark.parametrize("name", TINY)
def test_every_family_learns_and_transformers_reads_what_is_written(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(train, "heldout_answers", lambda *_: {})
    monkeypatch.setattr(train, "heldout_loss", lambda *_: 1.0)
    one = trainer(name, tmp_path)
    begun = {key: weight.clone() for key, weight in one.net.named_parameters()}
    one.run()
    for key, weight in one.net.named_parameters():
        assert not torch.equal(weight, begun[key]), key
        assert torch.isfinite(weight).all(), key
    agree(tmp_path)
    assert model.load(tmp_path, device="cpu").config == TINY[name]


@pytest.mark.parametrize("shape", [*TINY.values(), *OTHERS], ids=lambda shape: type(shape).__name__)
def test_a_network_is_written_in_its_familys_format(shape: Any, tmp_path: Path) -> None:
    family = family_of(shape.to_hf())
    net = family.build(shape).requires_grad_(False)
    liven(net)
    save_weights(net, tmp_path, torch.float32)
    zoo.tokenizer(shape).back_end.save(str(tmp_path / "tokenizer.json"))
    lm = model.load(tmp_path, device="cpu")
    assert lm.config == shape
    for (name, ours), read in zip(net.named_parameters(), lm.net.parameters(), strict=True):
        assert torch.equal(ours, read), name
    agree(tmp_path)


def test_the_zoos_networks_are_of_one_size_and_order() -> None:
    sizes = {name: sum(p.numel() for p in family_of(s.to_hf()).build(s).parameters()) for name, s in zoo.SHAPES.items()}
    assert set(sizes) == {Path(str(f.build.__module__)).suffix[1:] for f in FAMILIES.values()} - {"llama"} | {"llama"}
    assert all(0.9 < size / sizes["llama"] < 1.1 for size in sizes.values()), sizes
    names = [stage.name for stage in zoo.stages()]
    assert names == [stage.name for stage in recipe() if stage.name in names]
    assert sum(stage.tokens for stage in zoo.stages(1000)) == 1000


@pytest.mark.parametrize("name", TINY)
def test_a_network_begins_as_the_embedding_alone(name: str) -> None:
    """Nothing is written to the stream; scores have the size of a LLaMA's; the same seed gives the same weights."""
    net, again = (family_of(TINY[name].to_hf()).build(TINY[name]) for _ in range(2))
    for one in (net, again):
        initialise(one, seed=3)
    assert all(torch.equal(a, b) for a, b in zip(net.parameters(), again.parameters(), strict=True))
    for layer in (*net.layers, *(net.encoder.layers if hasattr(net, "encoder") else ())):
        for key, weight in layer.named_parameters():
            if key.endswith(("o_proj.weight", "down_proj.weight", ".bias", ".balance")):
                assert not weight.any(), key
            elif weight.dim() == 2:
                assert weight.std() > 0, key


def test_scores_that_are_not_divided_are_so_while_a_network_learns() -> None:
    shape = TINY["t5"]
    build = family_of(shape.to_hf()).build
    net = scale_scores(build)(shape)
    initialise(net, seed=0)
    for weight in net.parameters():
        torch.nn.init.normal_(weight, std=0.3)  # also what writes to the stream, which begins at 0
    block: Any = net.block(0)
    assert (block.attn.scale, block.cross.scale, net.encoder.block(0).attn.scale) == (None, None, None)
    ids = torch.randint(0, shape.vocab_size, (2, 1, 9))
    with torch.no_grad():
        same = unscale_scores(net, build, shape)
        block = same.block(0)
        assert (block.attn.scale, block.cross.scale, same.encoder.block(0).attn.scale) == (1.0, 1.0, 1.0)
        close(net(*ids), same(*ids), 1e-5)


def test_experts_for_all_tokens_at_once_come_to_the_same() -> None:
    for routing in (Routing(2), Routing(3, "sigmoid", True, 2.5, 4, 2, 2, balanced=True)):
        experts, x = Experts(12, 6, 8, routing, shared_hidden=5), torch.randn(2, 9, 12)
        if experts.balance is not None:
            nn.init.normal_(experts.balance, std=0.1)
        given = [experts.train()(x), experts.eval()(x)]
        close(*given, 1e-6)
        own = [torch.autograd.grad(out.square().sum(), experts.router.weight)[0] for out in given]
        close(*own, 1e-4)


def test_a_routers_bias_goes_to_who_has_too_few() -> None:
    net = nn.ModuleDict({"ffn": Experts(4, 4, 4, Routing(1, "sigmoid", balanced=True))})
    experts: Any = net["ffn"]
    with balance.watched(net) as seen:
        experts(torch.randn(1, 6, 4))
    seen["ffn.experts"] = torch.tensor([[[0], [0], [0], [0], [1], [2]]])
    balance.correct(net, [seen])
    assert experts.balance.tolist() == pytest.approx([-balance.SPEED, balance.SPEED, balance.SPEED, balance.SPEED])
    assert float(balance.loss(net, seen)) == 0


def test_the_loss_of_an_even_router_is_its_least() -> None:
    """E · Σ share · mean score is top_k where both are even (Switch Transformer, eq. 4), and E where one has all."""
    net = nn.ModuleDict({"ffn": Experts(4, 4, 4, Routing(1))})
    even = {"ffn.router_scores": torch.full((1, 8, 4), 0.25), "ffn.experts": torch.arange(8).view(1, 8, 1) % 4}
    one = {
        "ffn.router_scores": torch.eye(4)[torch.zeros(1, 8, dtype=torch.long)],
        "ffn.experts": torch.zeros(1, 8, 1).long(),
    }
    assert float(balance.loss(net, even)) == pytest.approx(balance.LOSS)
    assert float(balance.loss(net, one)) == pytest.approx(4 * balance.LOSS)


def test_pairs_hold_the_documents_of_a_batch() -> None:
    """Source, then target, is a document up to context + 1 tokens; its answers' weights are the target's."""
    tokenizer, stage = zoo.tokenizer(zoo.SHAPES["t5"]), replace(STAGE, context=90, mix={"recall": 1, "story-en": 1})
    plain, start = zoo.tokenizer(zoo.SHAPES["llama"]), 7
    groups = pack_pairs(tokenizer, stage, 5, start)
    whole, weights, answered = [], {}, 0
    for rows in groups:
        assert rows.source is not None
        for source, ids, counts in zip(rows.source.tolist(), rows.ids.tolist(), rows.weights.tolist(), strict=True):
            assert ids[0] == start
            assert source[-1] == END
            first = next(i for i, token in enumerate(source) if token != END)
            target = ids[1:]
            while counts and counts[-1] == 0:
                target, counts = target[:-1], counts[:-1]
            assert min(counts) > 0
            whole.append((*source[first:-1], *target))
            weights[whole[-1]] = counts
            answered += counts[0] == stage.answer_weight
    stream = documents(5, mix=stage.mix)
    expected = [tokens_and_answers(plain, next(stream)) for _ in whole]
    assert sorted(whole) == sorted(tuple([*ids, END][:91]) for ids, _ in expected)
    assert answered >= len(whole) / 3
    assert sum(map(len, whole)) >= stage.batch_size * stage.context
    same = pack_pairs(tokenizer, stage, 5, start)
    assert all(torch.equal(a.ids, b.ids) for a, b in zip(groups, same, strict=True))


def test_the_end_of_a_source_is_the_tokenizers() -> None:
    text = "Tom is in the kitchen."
    plain, ended = (zoo.tokenizer(zoo.SHAPES[name]).encode(text) for name in ("llama", "t5"))
    assert ended == [*plain, END]


def test_a_batch_in_two_parts_gives_the_gradient_of_the_whole(tmp_path: Path) -> None:
    for name in ("deepseek", "t5"):  # the loss of Mixtral's router is of each part by itself
        ends = []
        for parts in (1, 2):
            one = trainer(name, tmp_path / name / str(parts), parts=parts, clip=1e9)
            batch = next(one._batches(STAGE))
            with train.ThreadPoolExecutor(parts) as pool:
                one._update(STAGE, batch, pool)
            ends.append({key: weight.grad for key, weight in one.net.named_parameters()})
        for key, grad in ends[0].items():
            other = ends[1][key]
            assert (grad is None) == (other is None), key
            if grad is not None and other is not None:
                assert (grad - other).norm() <= 0.05 * grad.norm() + 1e-4, (name, key)


def test_rows_are_those_of_every_other_network() -> None:
    rows = [pack_rows(zoo.tokenizer(zoo.SHAPES[name]), STAGE, 3) for name in ("llama", "falcon")]
    assert torch.equal(rows[0].ids, rows[1].ids)


def test_the_load_of_experts_is_counted() -> None:
    """All scores the same: topk takes the same two for every token, of two layers alike."""
    net = family_of(TINY["mixtral"].to_hf()).build(TINY["mixtral"])
    for layer in net.layers:
        nn.init.zeros_(layer.ffn.router.weight)
    for share in balance.loads(net, [[1, 2, 3], [4]]):
        assert sorted(share.tolist()) == [0.0] * 6 + [0.5] * 2
    plain = family_of(TINY["llama"].to_hf()).build(TINY["llama"])
    assert balance.loads(plain, [[1, 2]]) == []
