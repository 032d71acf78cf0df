"""Tiny checkpoints of every family, saved by transformers, and what our network and transformers' are compared by.

Every weight is set to a non-trivial value, norms and biases too: a norm left at 1 or a bias at 0 would hide a mistake.
"""

import json
import math
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any, NamedTuple, cast

import numpy as np
import torch
import transformers
from torch import Tensor, nn

import model
from model.analysis.effects import effects
from model.analysis.lens import contributions, logit_lens
from model.analysis.logit_terms import logit_terms
from model.analysis.neurons import activations, firing, neurons_of
from model.analysis.stream_writes import StreamWrites
from model.interventions import Intervention
from model.layer_metadata import NetworkMetadata, ffn_metadata, network_metadata
from model.pieces import finish
from model.taps import capture
from tests.standin import make_tokenizer

transformers.logging.set_verbosity_error()
VOCABULARY = 320
ROOT = TemporaryDirectory(prefix="glass-families-")  # gone when the tests are
TOLERANCE = 1e-5  # absolute, in float32
TOKENS = 20
# Fields that every config of a decoder shares but for what its family calls them.
SIZES: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "max_position_embeddings": 128,
    "bos_token_id": 0,
    "eos_token_id": 0,
    "pad_token_id": 0,
}


class Pair(NamedTuple):
    """Our model of a directory, transformers' of the same, and the directory."""

    lm: model.LanguageModel
    peer: Any
    directory: Path


def liven(net: Any, seed: int = 0, sharpness: float = 1.3) -> None:
    """Seeded weights: matrices that keep activations near 1, norms around 1, biases around 0."""
    random = torch.Generator().manual_seed(seed)
    for name, weight in [*net.named_parameters(), *((n, b) for n, b in net.named_buffers() if "correction" in n)]:
        if weight.dim() > 1:
            scale = 0.3 if "embed" in name else sharpness * weight.shape[-1] ** -0.5
            weight.data = torch.randn(weight.shape, generator=random) * scale
        elif name.endswith("bias"):
            weight.data = torch.randn(weight.shape, generator=random) * 0.2
        else:
            weight.data = torch.rand(weight.shape, generator=random) + 0.5


def save(config: Any, seed: int = 0, sharpness: float = 1.3) -> Path:
    """A directory in Hugging Face's format, written by transformers itself, with a tokenizer."""
    directory = Path(mkdtemp(dir=ROOT.name))
    kind = getattr(config, "is_encoder_decoder", False)
    auto = transformers.AutoModelForSeq2SeqLM if kind else transformers.AutoModelForCausalLM
    net = auto.from_config(config)
    liven(net, seed, sharpness)
    net.tie_weights()
    net.save_pretrained(directory)
    make_tokenizer(VOCABULARY).save(str(directory / "tokenizer.json"))
    return directory


def pair_of(directory: Path) -> Pair:
    """Both models of a directory, float32 on the CPU; transformers' with attention written out."""
    kind = transformers.AutoConfig.from_pretrained(directory).is_encoder_decoder
    auto = transformers.AutoModelForSeq2SeqLM if kind else transformers.AutoModelForCausalLM
    peer = auto.from_pretrained(directory, dtype=torch.float32, attn_implementation="eager").eval()
    return Pair(model.load(directory, device="cpu"), peer, directory)


@cache
def sample(rows: int = 2, tokens: int = TOKENS, seed: int = 0) -> Tensor:
    """Seeded token ids (rows, tokens) without the one that ends a text."""
    return torch.randint(1, VOCABULARY, (rows, tokens), generator=torch.Generator().manual_seed(seed))


def run(peer: Any, ids: Tensor) -> Any:
    """transformers' forward pass: `logits`, `hidden_states` (the last one normalised) and `attentions`."""
    with torch.no_grad():
        return peer(ids, output_hidden_states=True, output_attentions=True)


def check_forward(pair: Pair) -> None:
    """Logits, hidden states and attention of a batch, and those of a trace, within TOLERANCE of transformers'."""
    lm, ids = pair.lm, sample()
    theirs = run(pair.peer, ids)
    with torch.inference_mode(), capture(lm.net, "*.resid_in", "final_normed", "*.attention") as seen:
        lm.net(ids, eager=True)
        fused = lm.net(ids)
    close(fused, theirs.logits)
    close(seen["final_normed"], theirs.hidden_states[-1])
    trace = model.run_trace(lm, ids[1].tolist())
    close(torch.from_numpy(trace.logits), theirs.logits[1, -1])
    for i in range(lm.config.n_layers):
        close(seen[f"layers.{i}.resid_in"], theirs.hidden_states[i])
        close(seen[f"layers.{i}.attn.attention"], theirs.attentions[i])
        close(torch.from_numpy(trace.residual[i]), theirs.hidden_states[i][1])
        close(torch.from_numpy(trace.layer(i).attention), theirs.attentions[i][1])
        check_layer(trace, i)


def check_layer(trace: model.Trace, i: int) -> None:
    """A recomputed layer has the arrays that `shapes` says, finds its own output again, and its rows sum to 1."""
    layer, shapes = trace.layer(i), model.trace.shapes(trace.lm.net, i)
    assert layer.arrays.keys() == shapes.keys()
    for name, dimensions in shapes.items():
        array = layer.arrays[name]
        assert array.ndim == len(dimensions), name
        assert array.shape[dimensions.index("T")] == len(trace.token_ids), name
        assert array.dtype == ("int64" if name == "experts" else "float32"), name
    close(torch.from_numpy(layer.resid_out), torch.from_numpy(trace.residual[i + 1]))
    wrote = torch.from_numpy(layer.resid_in + layer.attn_out + layer.ffn_out)
    close(wrote, torch.from_numpy(layer.resid_out))
    assert abs(layer.attention.sum(-1) - 1).max() < 1e-5
    check_parts(trace, i)
    mean = layer.arrays.get("attn_norm_mean", 0)
    gone = layer.resid_in - (mean[:, None] if isinstance(mean, type(layer.resid_in)) else 0)
    divisor = torch.from_numpy(gone).double().square().mean(-1)
    assert (torch.from_numpy(layer.attn_norm_rms).double().square() - divisor).abs().max() < 1e-3


def check_parts(trace: model.Trace, i: int) -> None:
    """From what the network says of its parts, the layer's scores and its feed-forward are found again by hand."""
    net, layer = trace.lm.net, trace.layer(i)
    made, ffn = network_metadata(net, len(trace.token_ids)), net.block(i).ffn
    q, k = (
        turned(made, layer.arrays.get(f"{name}_rot", layer.arrays.get(name)), layer.arrays.get(name)) for name in "qk"
    )
    scores = q @ np.repeat(k, len(q) // len(k), axis=0).transpose(0, 2, 1) * made.scale
    distance = np.subtract.outer(np.arange(len(trace.token_ids)), np.arange(len(trace.token_ids)))
    seen = (distance >= 0) | (not made.causal)
    if made.bias is not None:
        after = made.bias if made.bias_after is None else made.bias_after
        by_distance = np.concatenate([after.numpy()[:, :0:-1], made.bias.numpy()], axis=1)  # from the latest key on
        scores = scores + by_distance[:, distance + len(distance) - 1]
    np.testing.assert_allclose(scores[:, seen], layer.scores[:, seen], atol=1e-4)
    inner = torch.from_numpy(activations(neurons_of(layer, made.ffn[i]), made.ffn[i]))
    columns = torch.stack([cast(nn.Linear, part).weight[:, own[0]]
                           for n in range(ffn.neurons) for part, own in ffn.output_columns([n])])  # fmt: skip
    wrote = inner @ columns.detach().double() + (0 if ffn.out_bias is None else ffn.out_bias.detach().double())
    close(wrote.float(), torch.from_numpy(layer.ffn_out))


def turned(made: NetworkMetadata, rotated: np.ndarray, plain: np.ndarray | None) -> np.ndarray:
    """Queries or keys in their places: worked out where they are known before, and then the recorded ones too."""
    if plain is None or made.rotary is None:
        return rotated
    (inv_freq, scaling), first, interleaved = made.rotary
    pairs, out = len(inv_freq), plain.astype(np.float64)
    a = first + np.arange(pairs) * (2 if interleaved else 1)
    b = a + (1 if interleaved else pairs)
    turn = scaling * np.exp(1j * np.outer(np.arange(plain.shape[1]), inv_freq))
    pair = (plain[..., a] + 1j * plain[..., b]) * turn
    out[..., a], out[..., b] = pair.real, pair.imag
    np.testing.assert_allclose(out, rotated, atol=2e-5)
    return out


def check_generation(pair: Pair, tokens: int = 64) -> None:
    """Greedy tokens are transformers'; cached logits the whole pass's; the cache is as large as the formula says.

    Each token that was chosen is the best one in a pass of transformers' over the whole text: so it would choose them.
    """
    lm, prompt = pair.lm, sample(1, 9, seed=6)
    steps = list(model.generate(lm, prompt[0].tolist(), max_new_tokens=tokens))
    chosen = torch.tensor([[step.token_id for step in steps]])
    with torch.no_grad():
        theirs = pair.peer(torch.cat((prompt, chosen), 1)[:, :-1]).logits[:, 8:].argmax(-1)
    assert torch.equal(chosen, theirs)
    assert len(steps) > tokens // 2
    spec = model.spec_from_config((pair.directory / "config.json").read_text())
    for step in steps:
        assert step.cache_bytes == model.kv_cache_bytes(spec, step.cache_tokens, dtype="fp32")
    check_cache(lm)
    half = model.load(pair.directory, device="cpu", dtype="bfloat16")
    for step, same in zip(model.generate(half, prompt[0].tolist(), max_new_tokens=2), steps, strict=False):
        assert abs(step.probability - same.probability) < 0.2
        assert 2 * step.cache_bytes == same.cache_bytes
    assert np.isfinite(model.run_trace(half, prompt[0].tolist()).layer(1).ffn_out).all()


def check_cache(lm: model.LanguageModel) -> None:
    """Decoding over the cache, a chunk and then token by token, gives the logits of the whole pass."""
    ids = sample(2, 14, seed=7)
    with torch.inference_mode():
        whole, cache = lm.net(ids), lm.net.cache(14, batch=2)
        parts = [lm.net(ids[:, :5], cache, 0), lm.net(ids[:, 5:9], cache, 5)]
        parts += [lm.net(ids[:, i : i + 1], cache, i) for i in range(9, 14)]
    # Of products in another order: float32 rounds by what the values reach.
    close(torch.cat(parts, 1), whole, TOLERANCE * max(1.0, whole.abs().max().item()))


def close(ours: Tensor, theirs: Tensor, tolerance: float = TOLERANCE) -> None:
    """Within the tolerance everywhere, and of the same shape."""
    assert ours.shape == theirs.shape
    worst = (ours - theirs).abs().max().item()
    assert worst <= tolerance, f"{worst:.2g}, where values reach {theirs.abs().max():.3g}"


def check_why(pair: Pair) -> None:
    """Scores and logits taken apart sum to transformers'; a circuit of all nodes carries all of the answer."""
    lm, ids, last = pair.lm, sample(1, 11, seed=5), 10
    theirs = run(pair.peer, ids)
    trace = model.run_trace(lm, ids[0].tolist())
    for layer, head in zip(range(lm.config.n_layers), (0, lm.config.n_heads - 1, 2), strict=True):
        found = [model.score_terms(trace, layer, head, last, key) for key in (3, last)]
        sums = torch.tensor([float(one.terms.sum()) for one in found])
        close(sums, torch.tensor([one.score for one in found]), 2e-5)
        weights = theirs.attentions[layer][0, head, -1, [3, last]].log()
        close(sums - sums[0], weights - weights[0], 1e-4)
    for position in (4, last):
        best, second = theirs.logits[0, position].topk(2).indices.tolist()
        one = logit_terms(trace, best, position=position)
        assert abs(one.total - float(theirs.logits[0, position, best])) < 2e-5
        less = logit_terms(trace, best, second, position)
        assert abs(less.total - float(theirs.logits[0, position, best] - theirs.logits[0, position, second])) < 2e-5
    targets = theirs.logits[0].argmax(-1).numpy()
    parts = contributions(lm, trace.residual, targets)
    total = parts.embedding + parts.attention.sum(0) + parts.ffn.sum(0)
    total = total if parts.constant is None else total + parts.constant
    close(torch.from_numpy(total), theirs.logits[0].max(-1).values.double(), 2e-5)
    read = logit_lens(lm, trace.residual[-1], targets)
    assert (read.rank == 0).all()
    fires = firing(lm, trace.residual)
    if not any(
        ffn_metadata(lm.net.block(i).ffn).shared for i in range(lm.config.n_layers)
    ):  # whose neurons `gate_open` leaves out
        np.testing.assert_allclose(fires.open, trace.gate_open, atol=1e-6)
    check_circuit(lm)
    check_effects(trace)


def check_effects(trace: model.Trace) -> None:
    """What a head or a neuron is worth for the answer is what a run without it says."""
    found = effects(trace, heads=2, neurons=2)
    for part, _, loss in found.parts:
        what = {"heads" if part.kind == "head" else "neurons": ((part.layer, part.number),)}
        again = torch.from_numpy(model.run_trace(trace.lm, trace.token_ids, Intervention(**what)).logits)
        left = float(again.log_softmax(-1)[found.target])
        assert abs(math.log(found.probability) - left - loss) < 2e-5


def check_circuit(lm: model.LanguageModel) -> None:
    """All nodes of a pair of prompts carry the answer whole; a node's paths lose no more than the node does."""
    ids = next(ids for ids in map(_two, range(50)) if len(set(lm.net(ids)[:, -1].argmax(-1).tolist())) == 2)
    layers, heads = lm.config.n_layers, lm.config.n_heads
    every = model.circuit(lm, ids[0].tolist(), ids[1].tolist(), nodes=layers * 7 * (heads + 1))
    assert abs(every.recovered - 1) < 1e-3
    few = model.circuit(lm, ids[0].tolist(), ids[1].tolist(), nodes=8, with_edges=True)
    assert len({*few.nodes}) == 8
    assert few.edges
    same = {(edge.source.layer, edge.source.kind, edge.target.kind) for edge in few.edges
            if edge.source.layer == edge.target.layer}  # fmt: skip
    assert not (lm.net.block(0).parallel and same)


def _two(seed: int) -> Tensor:
    """Two prompts of seven tokens that differ in two."""
    ids = sample(1, 7, seed=seed).repeat(2, 1)
    ids[1, [1, 4]] = sample(1, 2, seed=1000 + seed)
    return ids


def check_off(pair: Pair, out: Callable[[Any, int], nn.Linear], down: Callable[[Any, int], nn.Linear]) -> None:
    """A head, a neuron and a whole attention switched off: transformers' network with those weights at zero.

    `out` and `down` find W_O and the last matrix of the feed-forward in a layer of transformers' network.
    """
    lm, ids = pair.lm, sample(1, 11, seed=8)
    peer = deepcopy(pair.peer)
    width = out(peer, 1).weight.shape[1] // lm.config.n_heads
    with torch.no_grad():
        out(peer, 1).weight[:, 2 * width : 3 * width] = 0
        down(peer, 0).weight[:, 5] = 0
        for part in out(peer, 2).parameters():
            part.zero_()
    what = Intervention(heads=((1, 2),), neurons=((0, 5),), attention=(2,))
    trace = model.run_trace(lm, ids[0].tolist(), what)
    close(torch.from_numpy(trace.logits), run(peer, ids).logits[0, -1])
    terms = logit_terms(trace, 7)
    assert abs(terms.total - float(trace.logits[7])) < 2e-5
    assert float(terms.heads[1, 2].abs().max()) == float(terms.neurons[0][5]) == 0
    _, written = finish(StreamWrites(trace).before(2, [5, 7]))
    close(written.sum(1), torch.from_numpy(trace.residual[2, [5, 7]]).double())


def refusal(directory: Path, **fields: Any) -> str:
    """What `load` says of the directory with these fields changed in its config.json, which is put back after."""
    file = directory / "config.json"
    text = file.read_text()
    file.write_text(json.dumps(json.loads(text) | fields))
    try:
        model.load(directory, device="cpu")
    except model.GlassLlamaError as error:
        return str(error)
    finally:
        file.write_text(text)
    raise AssertionError(f"{fields} was not refused")
