"""Fits the Jacobian lens and measures it beside the logit lens: what it says at each depth, and by intervention.

A lens that says at an early layer what the network says at last is near in KL divergence. Whether what it names is
also what the stream does is another question, which an intervention answers: a small vector is added to the stream
where the lens would raise a token's logit most, and the network runs on.

Symbols: C cases, T tokens, V vocabulary, d d_model, L n_layers.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from tqdm import tqdm

from model.analysis.jacobian_lens import JacobianLens, jacobians_at, mean_lens, places_in
from model.analysis.kept_lens import keep_lens, lens_texts
from model.analysis.outside import knows_corpus
from model.checkpoint import LanguageModel
from model.forward_pass import Pass
from model.tiled import weight_rows
from model.trace import run_trace

# Other texts than those that the lens of a model without a corpus of its own is fitted on (reference_mean.py).
OTHER_TEXTS = (
    "The old man walked slowly down the hill, looking at the lights of the village below him. He had lived there all "
    "his life, and now he was going to leave it for the first time.",
    "Photosynthesis is the process by which green plants use sunlight to make food from carbon dioxide and water.",
    "In 1969, two astronauts landed on the Moon, while a third stayed in orbit around it.",
    "My brother plays the piano every evening, although the neighbours have complained about it more than once.",
    "The capital of Italy is Rome, and the capital of Germany is Berlin. The capital of Spain is",
    "If it rains tomorrow, we will stay at home and read; otherwise we will go to the beach.",
)
JUDGED = 64  # texts, at most
CANDIDATES = 8  # most probable tokens of a text, whose logits are raised
STEP = 0.05  # length of what is added, as a share of the stream's own


class Agreement(NamedTuple):
    """How near each lens is to the network's own prediction at one depth: mean KL divergence in nats, and the share of
    tokens at which the most probable one is the same."""

    depth: int
    logit_kl: float
    jacobian_kl: float
    logit_same: float
    jacobian_same: float


class Effect(NamedTuple):
    """What a token's logit gains at one depth, the mean over cases, by what was added: `jacobian`, the direction of the
    Jacobian lens; `logit`, that of the logit lens; `random`, any. `predicted` is what the Jacobian lens promises of its
    own. `jacobian_r` and `logit_r` are the correlations, over all of these, of the gain with what a lens promises."""

    depth: int
    predicted: float
    jacobian: float
    logit: float
    random: float
    jacobian_r: float
    logit_r: float


def report_lens(lm: LanguageModel, tokens: int) -> int:
    """Fit the lens on so many tokens, write it, and print both tables."""
    places = places_in(lens_texts(lm), tokens)
    total = sum(jacobians_at(lm, place) for place in tqdm(places, desc="Jacobian lens", unit="token"))
    assert isinstance(total, Tensor)
    lens = mean_lens(total, len(places))
    keep_lens(lm, lens)
    texts = judged_texts(lm)
    print(f"The Jacobian lens, a mean over {lens.tokens} tokens, on {len(texts)} other texts\n")
    print("depth   KL logit lens   KL Jacobian lens   same token: logit lens   Jacobian lens")
    for row in agreement(lm, lens, texts):
        shares = f"{row.logit_same:22.1%} {row.jacobian_same:15.1%}"
        print(f"{row.depth:5} {row.logit_kl:15.2f} {row.jacobian_kl:18.2f} {shares}")
    print(f"\nLogit gained by a step of {STEP} of the stream's length, and r of the gain with what a lens promises")
    print("depth   promised   Jacobian direction   logit lens' direction   random   r Jacobian   r logit lens")
    for one in effects(lm, lens, texts):
        gains = f"{one.predicted:10.3f} {one.jacobian:20.3f} {one.logit:23.3f} {one.random:8.3f}"
        print(f"{one.depth:5} {gains} {one.jacobian_r:12.3f} {one.logit_r:14.3f}")
    return 0


def judged_texts(lm: LanguageModel) -> list[Sequence[int]]:
    """Texts, as ids, that the lens was not fitted on."""
    if knows_corpus(lm):
        return lens_texts(lm, held_back=True)[:JUDGED]
    return [lm.tokenizer.encode(text) for text in OTHER_TEXTS]


def agreement(lm: LanguageModel, lens: JacobianLens, texts: Sequence[Sequence[int]]) -> list[Agreement]:
    """Both lenses at every depth that is fitted, on all tokens of the texts but the first."""
    stream = torch.cat([torch.from_numpy(run_trace(lm, list(ids)).residual[:, 1:]) for ids in texts], 1).to(lm.device)
    with torch.inference_mode():
        final = lm.net.logits(stream[-1]).float().log_softmax(-1)

        def judge(vectors: Float[Tensor, "T d"]) -> tuple[float, float]:
            read = lm.net.logits(vectors).float().log_softmax(-1)
            divergence = (final.exp() * (final - read)).sum(-1).mean()
            return float(divergence), float((read.argmax(-1) == final.argmax(-1)).float().mean())

        rows = []
        for depth in range(lens.first, lm.config.n_layers):
            plain, carried = judge(stream[depth]), judge(lens.carry(depth, stream[depth]))
            rows.append(Agreement(depth, plain[0], carried[0], plain[1], carried[1]))
    return rows


def effects(lm: LanguageModel, lens: JacobianLens, texts: Sequence[Sequence[int]], seed: int = 0) -> list[Effect]:
    """What a small step in the stream of each text's last token does to the logits of its most probable next tokens."""
    random = torch.Generator().manual_seed(seed)
    rows = []
    runs = [torch.from_numpy(run_trace(lm, list(ids)).residual).to(lm.device) for ids in texts]
    for depth in range(lens.first, lm.config.n_layers):
        found = [_steps(lm, lens, stream, depth, random) for stream in runs]
        gained, promised, plainly = (torch.cat(part, 1) for part in zip(*found, strict=True))
        means = gained.mean(1).tolist()
        rs = [float(torch.corrcoef(torch.stack([gained.flatten(), p.flatten()]))[0, 1]) for p in (promised, plainly)]
        rows.append(Effect(depth, float(promised[0].mean()), *means, *rs))
    return rows


def _steps(
    lm: LanguageModel, lens: JacobianLens, stream: Float[Tensor, "depths T d"], depth: int, random: torch.Generator
) -> tuple[Float[Tensor, "3 C"], Float[Tensor, "3 C"], Float[Tensor, "3 C"]]:
    """Logits gained, what the Jacobian lens promises and what the logit lens does, for steps along the Jacobian lens'
    direction, the logit lens' and a random one; a case is a candidate.

    A lens promises g · J · step: g is the direction that the logit reads after the last layer, with what the final norm
    divides by frozen.
    """
    with torch.inference_mode():
        last = stream[-1, -1]
        before = lm.net.logits(last).float()
        ids = before.topk(CANDIDATES).indices
        reads, _ = lm.net.norm.fold_into(weight_rows(lm.net.head, ids.tolist()).double() * lm.net.head_scale)
        g = (reads / lm.net.norm.divisor(last).double()).float()
        back = lens.carry(depth, torch.eye(len(last), device=last.device)).T  # J
        ways = torch.stack([g @ back, g, torch.randn(g.shape, generator=random).to(g)])
        size = STEP * stream[depth, -1].float().norm()
        steps = size * ways / ways.norm(dim=-1, keepdim=True)
        x = stream[depth].repeat(3 * CANDIDATES, 1, 1)
        x[:, -1] += steps.flatten(0, 1).to(x.dtype)
        positions = lm.net.positions(0, x.shape[1])
        for layer in range(depth, lm.config.n_layers):
            x = lm.net.block(layer)(x, Pass(positions, layer))
        after = lm.net.logits(x[:, -1]).float().unflatten(0, (3, CANDIDATES))
        gained = after.gather(-1, ids.expand(3, -1)[..., None])[..., 0] - before[ids]
        return gained.cpu(), (steps @ back.T * g).sum(-1).cpu(), (steps * g).sum(-1).cpu()
