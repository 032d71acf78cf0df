"""Logit lens, contributions and the stream's sizes against transformers' own forward pass of the same files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import model
from model.analysis.lens import (
    _read,
    best_tokens,
    contributions,
    lens_at_every_depth,
    logit_lens,
    norm_and_head,
    runners_up,
)
from model.analysis.stream import stream_sizes
from model.interventions import Intervention, Patch
from tests.reference import reference, run_reference, sample_ids
from tests.standin import make_checkpoint

SHAPES: dict[str, dict[str, Any]] = {
    "gqa": {},
    "mha": {"num_key_value_heads": 6},
    "tied": {"tie_word_embeddings": True, "num_key_value_heads": 1},
}
TOKENS = 13
CLOSE: dict[str, Any] = {"rtol": 2e-5, "atol": 2e-5}


class Peer:
    """transformers' pass: the stream at every depth (L + 1, T, d), what each sub-layer wrote, and the logits."""

    def __init__(self, directory: Path, ids: torch.Tensor):
        self.net = reference(directory)
        wrote: dict[str, torch.Tensor] = {}
        for name, module in self.net.named_modules():
            if name.endswith(("self_attn", "mlp", "input_layernorm", "post_attention_layernorm")):
                module.register_forward_hook(self._keep(wrote, name))
        self.net.model.norm.register_forward_pre_hook(lambda _module, given: wrote.__setitem__("final", given[0][0]))
        out = run_reference(self.net, ids)
        layers = range(self.net.config.num_hidden_layers)
        self.logits = out.logits[0]
        self.stream = torch.stack([*(state[0] for state in out.hidden_states[:-1]), wrote["final"]])
        self.attention = torch.stack([wrote[f"model.layers.{i}.self_attn"] for i in layers])
        self.ffn = torch.stack([wrote[f"model.layers.{i}.mlp"] for i in layers])
        self.normed = [
            torch.stack([wrote[f"model.layers.{i}.{name}"] for i in layers])
            for name in ("input_layernorm", "post_attention_layernorm")
        ]

    @staticmethod
    def _keep(wrote: dict[str, torch.Tensor], name: str) -> Any:
        def hook(_module: Any, _given: Any, result: Any) -> None:
            wrote[name] = (result[0] if isinstance(result, tuple) else result)[0]

        return hook

    def lens(self, depth: int) -> torch.Tensor:
        """Logits (T, V) read off the stream before layer `depth`."""
        with torch.no_grad():
            return self.net.lm_head(self.net.model.norm(self.stream[depth]))


@pytest.fixture(scope="module", params=SHAPES)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, model.Trace, Peer]:
    """Our model with its trace, and the peer, over the same tokens."""
    directory = make_checkpoint(tmp_path_factory.mktemp("lens") / request.param, **SHAPES[request.param])
    ids = sample_ids(1, TOKENS)
    lm = model.load(directory, device="cpu")
    return lm, model.run_trace(lm, ids[0].tolist()), Peer(directory, ids)


def test_the_lens_reads_what_transformers_norm_and_head_give(pair: tuple[Any, model.Trace, Peer]) -> None:
    lm, trace, peer = pair
    targets = peer.logits.argmax(-1).numpy()
    np.testing.assert_array_equal(best_tokens(lm, trace.residual[-1]), targets)
    for depth in range(trace.n_layers + 1):
        logits = peer.logits if depth == trace.n_layers else peer.lens(depth)
        probabilities = logits.double().softmax(-1)
        ours = logit_lens(lm, trace.residual[depth], targets, 4)
        rows = np.arange(TOKENS)
        np.testing.assert_allclose(ours.logit, logits[rows, targets], **CLOSE)
        np.testing.assert_allclose(ours.probability, probabilities[rows, targets], **CLOSE)
        np.testing.assert_allclose(ours.probabilities, probabilities.topk(4).values, **CLOSE)
        np.testing.assert_array_equal(ours.ids, probabilities.topk(4).indices)
        np.testing.assert_array_equal(ours.rank, (logits > logits[rows, targets][:, None]).sum(-1))
    assert (ours.rank == 0).all()


def test_chunks_change_nothing(pair: tuple[Any, model.Trace, Peer], monkeypatch: pytest.MonkeyPatch) -> None:
    lm, trace, _ = pair
    targets = np.arange(TOKENS)
    whole = logit_lens(lm, trace.residual[1], targets)
    monkeypatch.setattr("model.analysis.lens.CHUNK", 5 * lm.config.vocab_size)
    for ours, theirs in zip(logit_lens(lm, trace.residual[1], targets), whole, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)


@pytest.mark.parametrize("versus", [False, True])
def test_contributions_are_each_parts_share_and_sum_to_the_logit(
    pair: tuple[Any, model.Trace, Peer], versus: bool
) -> None:
    lm, trace, peer = pair
    targets = (np.arange(TOKENS) * 17 + 3) % lm.config.vocab_size
    against = runners_up(lm, trace.residual[-1], targets) if versus else None
    ours = contributions(lm, trace.residual, targets, against)

    head, gain = peer.net.lm_head.weight.detach().double(), peer.net.model.norm.weight.detach().double()
    reads = head[targets] if against is None else head[targets] - head[against]
    final = peer.stream[-1].double()
    scale = (final.square().mean(-1) + peer.net.config.rms_norm_eps).sqrt()
    share = lambda written: ((written.double() * gain / scale[:, None]) * reads).sum(-1)  # noqa: E731
    np.testing.assert_allclose(ours.scale, scale, **CLOSE)
    np.testing.assert_allclose(ours.embedding, share(peer.stream[0]), **CLOSE)
    np.testing.assert_allclose(ours.attention, torch.stack([share(x) for x in peer.attention]), **CLOSE)
    np.testing.assert_allclose(ours.ffn, torch.stack([share(x) for x in peer.ffn]), **CLOSE)

    rows = np.arange(TOKENS)
    logit = peer.logits[rows, targets] - (0 if against is None else peer.logits[rows, against])
    np.testing.assert_allclose(ours.logit, logit, **CLOSE)
    np.testing.assert_allclose(ours.embedding + ours.attention.sum(0) + ours.ffn.sum(0), ours.logit, **CLOSE)


def test_the_runner_up_is_the_best_other_token(pair: tuple[Any, model.Trace, Peer]) -> None:
    lm, trace, peer = pair
    first, second = peer.logits.topk(2).indices.T.numpy()
    np.testing.assert_array_equal(runners_up(lm, trace.residual[-1], first), second)
    np.testing.assert_array_equal(runners_up(lm, trace.residual[-1], second), first)


def test_sizes_along_the_stream(pair: tuple[Any, model.Trace, Peer]) -> None:
    lm, trace, peer = pair
    ours = stream_sizes(lm, trace.residual)
    middle = peer.stream[:-1] + peer.attention
    cosine = torch.nn.functional.cosine_similarity
    with torch.no_grad():
        final_normed = peer.net.model.norm(peer.stream[-1])
    expected = {
        "resid": peer.stream.norm(dim=-1),
        "attn_normed": peer.normed[0].norm(dim=-1),
        "attn_out": peer.attention.norm(dim=-1),
        "resid_mid": middle.norm(dim=-1),
        "ffn_normed": peer.normed[1].norm(dim=-1),
        "ffn_out": peer.ffn.norm(dim=-1),
        "final_normed": final_normed.norm(dim=-1),
        "attn_cosine": cosine(peer.attention, peer.stream[:-1], dim=-1),
        "ffn_cosine": cosine(peer.ffn, middle, dim=-1),
    }
    assert set(expected) == {name for name, values in ours._asdict().items() if values is not None}
    for name, values in expected.items():
        np.testing.assert_allclose(getattr(ours, name), values, err_msg=name, **CLOSE)


def test_the_finish_of_one_vector(pair: tuple[Any, model.Trace, Peer]) -> None:
    lm, trace, peer = pair
    normed, gain, logits = norm_and_head(lm, trace.residual[-1, 4])
    np.testing.assert_allclose(logits, peer.logits[4], **CLOSE)
    np.testing.assert_array_equal(gain, peer.net.model.norm.weight.detach())
    assert normed.shape == (lm.config.d_model,)


def test_a_changed_run_is_taken_apart_as_it_ran(lm: model.LanguageModel) -> None:
    other = model.run_trace(lm, sample_ids(1, 9, seed=4)[0].tolist())
    patch = Patch(2, 3, tuple(other.residual[2, 3].tolist()))
    what = Intervention(heads=((0, 1),), ffn=(1,), patches=(patch,))
    trace = model.run_trace(lm, sample_ids(1, 9)[0].tolist(), what)
    targets = best_tokens(lm, trace.residual[-1])
    parts = contributions(lm, trace.residual, targets, what=what)
    whole = parts.embedding + parts.attention.sum(0) + parts.ffn.sum(0) + parts.patched
    np.testing.assert_allclose(whole, parts.logit, atol=1e-4)
    assert np.abs(parts.ffn[1]).max() == 0
    assert np.abs(parts.patched[3]) > 0
    assert np.abs(np.delete(parts.patched, 3)).max() < 1e-6
    sizes = stream_sizes(lm, trace.residual, what)
    for layer in range(trace.n_layers):
        seen = trace.layer(layer)
        np.testing.assert_allclose(sizes.attn_out[layer], np.linalg.norm(seen.attn_out, axis=-1), rtol=1e-4)
        np.testing.assert_allclose(sizes.ffn_out[layer], np.linalg.norm(seen.ffn_out, axis=-1), rtol=1e-4, atol=1e-6)
    # What is switched off adds the zero vector, which has no angle to the stream.
    np.testing.assert_array_equal(np.isnan(sizes.ffn_cosine), [[layer == 1] * 9 for layer in range(trace.n_layers)])
    assert np.isfinite(sizes.attn_cosine).all()


def test_every_depth_is_read_as_by_itself(pair: tuple[Any, model.Trace, Peer], monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of the work end within a depth; the peer reads each depth alone."""
    lm, trace, peer = pair
    targets = (np.arange(TOKENS) * 11 + 2) % lm.config.vocab_size
    monkeypatch.setattr("model.pieces.PIECE", 5 * lm.config.vocab_size * lm.config.d_model)
    found = lens_at_every_depth(lm, trace.residual, targets)
    assert len(found) == trace.n_layers + 1
    rows = np.arange(TOKENS)
    for depth, ours in enumerate(found):
        logits = peer.logits if depth == trace.n_layers else peer.lens(depth)
        probabilities = logits.double().softmax(-1)
        np.testing.assert_array_equal(ours.ids, probabilities.topk(5).indices)
        np.testing.assert_allclose(ours.probability, probabilities[rows, targets], **CLOSE)
        np.testing.assert_allclose(ours.probabilities, probabilities.topk(5).values, **CLOSE)


def test_probabilities_are_those_of_a_softmax_in_float64() -> None:
    """Of logits as many and as far apart as those of a large vocabulary, flat ones among them; as a share of each."""
    rng = torch.Generator().manual_seed(0)
    sizes = torch.tensor([0.0, 0.1, 1, 3, 6, 12, 18, 24])[:, None]
    logits = sizes * torch.randn(8, 49_152, generator=rng) + torch.randn(8, 1, generator=rng) * 20
    targets = torch.randint(49_152, (8,), generator=rng).numpy()
    exact = logits.double().softmax(-1).numpy()
    ours = _read(logits, targets, 5)
    for found, ids in ((ours.probabilities, ours.ids), (ours.probability[:, None], targets[:, None])):
        expected = np.take_along_axis(exact, ids, 1)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-35)
