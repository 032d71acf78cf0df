"""T5 1.0 and 1.1 against transformers: two stacks, buckets of distance, cross-attention, the head's scale."""

import json
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

import model
from model.analysis.lens import contributions
from model.analysis.logit_terms import logit_terms
from model.interventions import Intervention
from model.kv_math import KvOptions
from model.positions import buckets
from tests.families import Pair, check_layer, close, pair_of, refusal, sample, save

FIELDS = {
    "vocab_size": 320,
    "d_model": 48,
    "d_kv": 10,
    "d_ff": 80,
    "num_heads": 4,
    "num_layers": 2,
    "num_decoder_layers": 3,
    "relative_attention_num_buckets": 8,
    "relative_attention_max_distance": 12,
    "pad_token_id": 0,
    "eos_token_id": 0,
    "decoder_start_token_id": 0,
}
CONFIGS: dict[str, Any] = {
    "1.0": transformers.T5Config(**FIELDS),
    "1.1": transformers.T5Config(**FIELDS, feed_forward_proj="gated-gelu", tie_word_embeddings=False),
}
SOURCE, TARGET = sample(2, 23, seed=1), sample(2, 17, seed=2)


@pytest.fixture(scope="module", params=CONFIGS)
def pair(request: pytest.FixtureRequest) -> Pair:
    return pair_of(save(CONFIGS[request.param], sharpness=0.8))


def both(pair: Pair, source: torch.Tensor = SOURCE, target: torch.Tensor = TARGET) -> Any:
    """transformers' pass with everything that it shows."""
    with torch.no_grad():
        return pair.peer(source, decoder_input_ids=target, output_hidden_states=True, output_attentions=True)


def test_the_two_differ_as_they_shall(pair: Pair) -> None:
    config = pair.lm.config
    assert isinstance(config, type(pair.lm.net.config))
    newer = pair.peer.config.feed_forward_proj == "gated-gelu"
    assert pair.lm.net.head_scale == (1.0 if newer else 48**-0.5)
    assert hasattr(pair.lm.net.block(0).ffn, "gate") == newer


def test_the_forward_pass_agrees(pair: Pair) -> None:
    theirs = both(pair)
    close(pair.lm.net(SOURCE, TARGET), theirs.logits)
    for row in range(2):
        trace = model.run_trace(pair.lm, SOURCE[row].tolist(), target=TARGET[row, 1:].tolist())
        target = torch.cat((torch.zeros(1, 1, dtype=torch.long), TARGET[row : row + 1, 1:]), 1)
        theirs = both(pair, SOURCE[row : row + 1], target)
        close(torch.from_numpy(trace.logits), theirs.logits[0, -1])
        for i in range(3):
            layer = trace.layer(i)
            close(torch.from_numpy(layer.resid_in), theirs.decoder_hidden_states[i][0])
            close(torch.from_numpy(layer.attention), theirs.decoder_attentions[i][0])
            close(torch.from_numpy(layer.cross_attention), theirs.cross_attentions[i][0])
            wrote = layer.resid_in + layer.attn_out + layer.cross_out + layer.ffn_out
            close(torch.from_numpy(wrote), torch.from_numpy(layer.resid_out))
            assert layer.arrays.keys() == model.trace.shapes(trace.lm.net, i).keys()
            for absent in ("q_rot", "attn_norm_mean"):
                assert not hasattr(layer, absent)
        assert trace.source is not None
        assert trace.source.logits.shape == (0,)
        for i in range(2):
            layer = trace.source.layer(i)
            close(torch.from_numpy(layer.resid_in), theirs.encoder_hidden_states[i][0])
            close(torch.from_numpy(layer.attention), theirs.encoder_attentions[i][0])
            assert not hasattr(layer, "cross_attention")
            check_layer(trace.source, i)


def test_generation_and_cache_agree(pair: Pair) -> None:
    source = SOURCE[:1]
    steps = list(model.generate(pair.lm, source[0].tolist(), max_new_tokens=64))
    chosen = torch.tensor([[0, *(step.token_id for step in steps)]])
    assert torch.equal(chosen[:, 1:], both(pair, source, chosen[:, :-1]).logits.argmax(-1))
    spec = model.spec_from_config((pair.directory / "config.json").read_text())
    for step in steps:
        options = KvOptions(encoder_tokens=23)
        assert step.cache_bytes == model.kv_cache_bytes(spec, step.cache_tokens, dtype="fp32", options=options)
    net = pair.lm.net.encode_source(SOURCE)
    cache = net.cache(17, batch=2)
    parts = [net(TARGET[:, :6], cache), net(TARGET[:, 6:9], cache, 6)]
    parts += [net(TARGET[:, i : i + 1], cache, i) for i in range(9, 17)]
    close(torch.cat(parts, 1), both(pair).logits)


def test_the_bias_is_transformers_own(pair: Pair) -> None:
    trace = model.run_trace(pair.lm, SOURCE[0].tolist(), target=TARGET[0].tolist())
    decoder = pair.peer.decoder.block[0].layer[0].SelfAttention.compute_bias(18, 18)[0]
    encoder = pair.peer.encoder.block[0].layer[0].SelfAttention.compute_bias(23, 23)[0]
    assert trace.source is not None
    close(torch.from_numpy(trace.layer(2).position_bias), decoder.detach(), 0)
    close(torch.from_numpy(trace.source.layer(1).position_bias), encoder.detach(), 0)


def test_why(pair: Pair) -> None:
    trace = model.run_trace(pair.lm, SOURCE[0].tolist(), target=TARGET[0].tolist())
    target = torch.cat((torch.zeros(1, 1, dtype=torch.long), TARGET[:1]), 1)
    theirs = both(pair, SOURCE[:1], target)
    for layer, head in ((0, 3), (1, 0), (2, 1)):
        found = [model.score_terms(trace, layer, head, 16, key) for key in (3, 16)]
        sums = torch.tensor([float(one.terms.sum()) for one in found])
        weights = theirs.decoder_attentions[layer][0, head, 16, [3, 16]].log()
        close(sums[:1] - sums[1:], weights[:1] - weights[1:], 1e-4)
    assert {"cross 0.3", "cross 1.0", "position"} <= set(found[0].names)
    best, second = theirs.logits[0, 9].topk(2).indices.tolist()
    terms = logit_terms(trace, best, second, position=9)
    assert abs(terms.total - float(theirs.logits[0, 9, best] - theirs.logits[0, 9, second])) < 2e-5
    assert terms.cross is not None
    assert terms.cross.shape == (3, 4, 23)
    parts = contributions(trace.lm, trace.residual, theirs.logits[0].argmax(-1).numpy())
    assert parts.cross is not None
    total = parts.embedding + parts.attention.sum(0) + parts.ffn.sum(0) + parts.cross.sum(0)
    close(torch.from_numpy(total), theirs.logits[0].max(-1).values.double(), 2e-5)


def test_parts_switched_off(pair: Pair) -> None:
    other = pair_of(pair.directory)
    block = other.peer.decoder.block[1].layer
    with torch.no_grad():
        block[0].SelfAttention.o.weight[:, 20:30] = 0
        block[2].DenseReluDense.wo.weight[:, 7] = 0
    what = Intervention(heads=((1, 2),), neurons=((1, 7),))
    trace = model.run_trace(pair.lm, SOURCE[0].tolist(), what, target=TARGET[0].tolist())
    target = torch.cat((torch.zeros(1, 1, dtype=torch.long), TARGET[:1]), 1)
    close(torch.from_numpy(trace.logits), both(other, SOURCE[:1], target).logits[0, -1])


def test_a_head_of_its_own_as_published_files_have_it(pair: Pair) -> None:
    """1.1's say tie_word_embeddings false and hold lm_head; transformers 5 writes scale_decoder_outputs instead."""
    if pair.lm.config.tied_embeddings:
        assert "lm_head.weight differs from the embedding" in refusal_with_head(pair, {})
        return
    directory = pair.directory
    tensors, config = load_file(directory / "model.safetensors"), json.loads((directory / "config.json").read_text())
    own = {"lm_head.weight": torch.randn(320, 48, generator=torch.Generator().manual_seed(5)) * 0.1}
    own["encoder.embed_tokens.weight"] = tensors["shared.weight"].clone()  # older files repeat it
    save_file(tensors | own, directory / "model.safetensors", metadata={"format": "pt"})
    older = {name: value for name, value in config.items() if name != "scale_decoder_outputs"}
    (directory / "config.json").write_text(json.dumps(older | {"tie_word_embeddings": False}))
    again = pair_of(directory)
    save_file(tensors, directory / "model.safetensors", metadata={"format": "pt"})
    (directory / "config.json").write_text(json.dumps(config))
    theirs = both(again).logits
    close(again.lm.net(SOURCE, TARGET), theirs)
    assert (theirs - both(pair).logits).abs().max() > 0.1


def refusal_with_head(pair: Pair, fields: dict[str, Any]) -> str:
    """What `load` says where the file holds a head although it is tied."""
    file = pair.directory / "model.safetensors"
    tensors = load_file(file)
    save_file(tensors | {"lm_head.weight": tensors["shared.weight"] * 2}, file, metadata={"format": "pt"})
    message = refusal(pair.directory, **fields)
    save_file(tensors, file, metadata={"format": "pt"})
    return message


def test_what_is_not_implemented_is_refused(pair: Pair) -> None:
    for field, value in {"feed_forward_proj": "gated-silu", "is_encoder_decoder": False, "d_model": None}.items():
        assert field in refusal(pair.directory, **{field: value})
    with pytest.raises(ValueError, match="no source"):
        pair.lm.net(TARGET)


@pytest.mark.parametrize("both_ways", [True, False])
def test_buckets_of_the_published_t5(both_ways: bool) -> None:
    """32 buckets up to a distance of 128: in the encoder 8 to 11 share one and 12 to 15 the next."""
    tokens = 200
    ahead = torch.arange(tokens)[None] - torch.arange(tokens)[:, None]
    theirs = transformers.models.t5.modeling_t5.T5Attention._relative_position_bucket(ahead, both_ways, 32, 128)
    own = buckets(0, tokens, 32, 128, both_ways, torch.device("cpu"))
    assert torch.equal(own, theirs)
    if both_ways:
        assert own[20, [12, 9, 8, 5]].tolist() == [8, 8, 9, 9]  # distances 8, 11, 12 and 15
