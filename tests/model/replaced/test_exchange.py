"""A run with an exchanged part is transformers' run of the network with that part, and leaves our network as it is."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import nn

import model
from model.interventions import Intervention
from model.layer_metadata import network_metadata
from model.positions import alibi_slopes
from model.replaced.exchange import offered, with_parts
from model.replaced.parts import Parts, read_parts
from model.train.zoo import ZOO
from tests.standin import make_checkpoint

IDS = [5, 77, 31, 200, 9, 120, 64]
CLOSE = {"rtol": 0, "atol": 1e-5}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_checkpoint(tmp_path_factory.mktemp("exchange"))


@pytest.fixture(scope="module")
def own(place: Path) -> model.LanguageModel:
    return model.load(place, device="cpu")


def peer(place: Path, **config: Any) -> Any:
    return transformers.LlamaForCausalLM.from_pretrained(place, attn_implementation="eager", **config).eval()


def layer_norm(weight: torch.Tensor, eps: float) -> nn.LayerNorm:
    made = nn.LayerNorm(len(weight), eps)
    made.weight.data.copy_(weight)
    return made


def with_layer_norms(place: Path) -> Any:
    theirs = peer(place)
    stack, eps = theirs.model, theirs.config.rms_norm_eps
    for block in stack.layers:
        block.input_layernorm = layer_norm(block.input_layernorm.weight, eps)
        block.post_attention_layernorm = layer_norm(block.post_attention_layernorm.weight, eps)
    stack.norm = layer_norm(stack.norm.weight, eps)
    return theirs


def without_rotation(place: Path) -> Any:
    theirs = peer(place)
    width = theirs.config.head_dim
    theirs.model.rotary_emb.forward = lambda x, position_ids: (
        torch.ones(1, position_ids.shape[1], width),
        torch.zeros(1, position_ids.shape[1], width),
    )
    return theirs


def with_pooled_heads(place: Path, count: int) -> Any:
    theirs, given = peer(place, num_key_value_heads=count, ignore_mismatched_sizes=True), peer(place)
    config = given.config
    for made, source in zip(theirs.model.layers, given.model.layers, strict=True):
        for name in ("k_proj", "v_proj"):
            heads = getattr(source.self_attn, name).weight.view(config.num_key_value_heads, config.head_dim, -1)
            read = heads.repeat_interleave(config.num_attention_heads // config.num_key_value_heads, 0)
            getattr(made.self_attn, name).weight.data.copy_(
                read.view(count, -1, *heads.shape[1:]).mean(1).flatten(0, 1)
            )
    return theirs


@torch.no_grad()
def check(own: model.LanguageModel, parts: Parts, theirs: Any, mask: torch.Tensor | None = None) -> None:
    ids = torch.tensor([IDS])
    run = theirs(ids, attention_mask=mask, output_attentions=True, output_hidden_states=True)
    trace = model.run_trace(own, IDS, Intervention(parts=parts))
    torch.testing.assert_close(torch.from_numpy(trace.logits), run.logits[0, -1], **CLOSE)
    for i in range(trace.n_layers):
        torch.testing.assert_close(torch.from_numpy(trace.residual[i]), run.hidden_states[i][0], **CLOSE)
        torch.testing.assert_close(torch.from_numpy(trace.layer(i).attention), run.attentions[i][0], **CLOSE)


def test_layer_norm_in_place_of_rms_norm(own: model.LanguageModel, place: Path) -> None:
    check(own, Parts(norm="layer_norm"), with_layer_norms(place))


@pytest.mark.parametrize("name", ["relu", "gelu", "gelu_new"])
def test_another_activation_in_the_gate(own: model.LanguageModel, place: Path, name: str) -> None:
    check(own, Parts(activation=name), peer(place, hidden_act=name))


def test_no_position_and_alibi_in_place_of_rope(own: model.LanguageModel, place: Path) -> None:
    check(own, Parts(position="none"), without_rotation(place))
    far = torch.arange(len(IDS))[None] - torch.arange(len(IDS))[:, None]
    bias = alibi_slopes(own.config.n_heads)[:, None, None] * far
    hidden = torch.finfo(torch.float32).min
    check(own, Parts(position="alibi"), without_rotation(place), bias.masked_fill(far > 0, hidden)[None])


def test_a_network_says_that_it_has_no_position_whatever_it_reads(own: model.LanguageModel) -> None:
    for position, none in (("none", True), ("sinusoidal", True), ("alibi", False)):
        net = with_parts(own, Parts(position=position)).net
        assert [network_metadata(net, tokens).no_position for tokens in (1, 5)] == [none, none], position
    assert not network_metadata(own.net, 1).no_position


def with_added_positions(place: Path) -> Any:
    """PE(pos) written out from the paper's formula, added by a hook to what the embedding gives."""
    theirs = without_rotation(place)
    width = theirs.config.hidden_size

    def added(_module: nn.Module, _args: object, embedded: torch.Tensor) -> torch.Tensor:
        table = torch.zeros(embedded.shape[1], width, dtype=torch.float64)
        for place in range(len(table)):
            for i in range(0, width, 2):
                angle = place / 10_000 ** (i / width)
                table[place, i], table[place, i + 1] = math.sin(angle), math.cos(angle)
        return embedded + table.float()

    theirs.model.embed_tokens.register_forward_hook(added)
    return theirs


def test_sinusoidal_positions_added_to_the_embedding(own: model.LanguageModel, place: Path) -> None:
    check(own, Parts(position="sinusoidal"), with_added_positions(place))


def with_sliding_window(place: Path, window: int) -> Any:
    """Mistral 7B's own model class on the same weights."""
    theirs = peer(place)
    same = theirs.config.to_dict()
    del same["model_type"], same["architectures"]
    config = transformers.MistralConfig(**same | {"sliding_window": window}, attn_implementation="eager")
    made = transformers.MistralForCausalLM(config)
    made.load_state_dict(theirs.state_dict())
    return made.eval()


@pytest.mark.parametrize("window", [2, 4, 8])
def test_a_sliding_window(own: model.LanguageModel, place: Path, window: int) -> None:
    check(own, Parts(window=window), with_sliding_window(place, window))


@torch.no_grad()
def test_a_prefix_and_what_the_answer_needs_keep_to_the_window(own: model.LanguageModel, place: Path) -> None:
    count, theirs = len(IDS), peer(place)

    def logits_under(mask: torch.Tensor) -> torch.Tensor:
        added = torch.where(mask, 0.0, torch.finfo(torch.float32).min)[None, None]
        return theirs(torch.tensor([IDS]), attention_mask=added).logits[0, -1]

    seen = torch.ones(count, count, dtype=torch.bool).tril().triu(-3)
    for prefix in (0, 5):
        mask = seen.clone()
        mask[:prefix, :prefix] = True
        trace = model.run_trace(own, IDS, Intervention(prefix=prefix, parts=Parts(window=4)))
        torch.testing.assert_close(torch.from_numpy(trace.logits), logits_under(mask), **CLOSE)
    lost = model.knock_out(with_parts(own, Parts(window=4)), IDS)
    logs = logits_under(seen).log_softmax(-1)
    for token in range(count):
        mask = seen.clone()
        mask[-1, token] = False
        expected = logs.max() - logits_under(mask).log_softmax(-1)[logs.argmax()]
        assert float(lost[token]) == pytest.approx(float(expected), abs=2e-5), token
    with pytest.raises(model.GlassLlamaError, match="expected one from 3 on"):
        model.score_terms(trace, 1, 0, count - 1, 2)


@pytest.mark.parametrize("count", [1, 3, 6])
def test_key_and_value_heads_pooled(own: model.LanguageModel, place: Path, count: int) -> None:
    check(own, Parts(kv_heads=count), with_pooled_heads(place, count))


def test_a_network_goes_on_as_it_was_and_writes_on_as_it_is_read(own: model.LanguageModel) -> None:
    before = model.run_trace(own, IDS).logits
    for parts in (
        Parts(norm="layer_norm", activation="relu", position="alibi", kv_heads=1),
        Parts(position="sinusoidal", window=4),
        Parts(window=2),
    ):
        written_on(own, parts)
    assert (model.run_trace(own, IDS).logits == before).all()


def written_on(own: model.LanguageModel, parts: Parts) -> None:
    steps = list(model.generate(own, IDS, 5, intervention=Intervention(parts=parts)))
    for i, step in enumerate(steps):
        read = IDS + [one.token_id for one in steps[:i]]
        logits = torch.from_numpy(model.run_trace(own, read, Intervention(parts=parts)).logits)
        assert step.token_id == int(logits.argmax())
        assert step.probability == pytest.approx(float(logits.softmax(-1).max()), abs=1e-5)


@pytest.mark.parametrize("family", sorted(path.name for path in ZOO.iterdir() if path.is_dir()))
def test_every_part_that_a_family_offers_runs(family: str) -> None:
    lm = model.load(ZOO / family, device="cpu")
    own = model.run_trace(lm, "The cat sleeps on the sofa.").logits
    for field, choices in offered(lm.net).items():
        for value in choices:
            changes = Intervention(parts=read_parts([f"{field}:{value}"]))
            trace = model.run_trace(lm, "The cat sleeps on the sofa.", changes)
            trace.check_finite()
            assert trace.layer(1).arrays.keys() >= {"resid_in", "attention", "ffn_out"}
            reaches = field == "window" and value >= len(trace.token_ids)
            assert field == "kv_heads" or reaches or (trace.logits != own).any(), (field, value)
    assert bool(offered(lm.net)) == (family != "t5")


def test_what_a_network_cannot_have_is_refused(own: model.LanguageModel) -> None:
    for given, said in (
        (["norm:batch"], "norm is .batch.; expected layer_norm"),
        (["kv_heads:4"], "kv_heads is 4; expected 1, 3, 6"),
        (["window:3"], "window is 3; expected 2, 4, 8, 16, 32"),
        (["top_k:1"], "top_k is 1; expected none"),
        (["x:1"], "there is no .x.; expected norm, activation"),
        (["kv_heads:many"], "kv_heads is .many.; expected a whole number"),
    ):
        with pytest.raises(model.GlassLlamaError, match=said):
            model.run_trace(own, IDS, Intervention(parts=read_parts(given)))
