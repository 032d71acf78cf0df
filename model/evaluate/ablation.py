"""Switching heads off, and what that does to induction."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

import torch
import torch.nn.functional as F

from model.checkpoint import LanguageModel
from model.evaluate.cases import Case
from model.interventions import Intervention, intervened

Head = tuple[int, int]  # layer and query head, both from 0


@dataclass(frozen=True)
class Accuracy:
    """Of induction cases: the share whose every token is the most probable one, and the mean loss of those tokens."""

    share: float
    nats: float


@dataclass(frozen=True)
class Comparison:
    """Accuracy with every head, without some, and for each draw without as many others."""

    whole: Accuracy
    without: Accuracy
    random: list[Accuracy]


@torch.inference_mode()
def accuracy(lm: LanguageModel, cases: Sequence[Case]) -> Accuracy:
    """Each case read whole, in one pass: greedy writing would give its answer if each token of it is the likeliest."""
    right, losses = [], []
    for case in cases:
        start, ids = len(lm.tokenizer.encode(case.prompt)), lm.tokenizer.encode(case.prompt + case.answer)
        logits = lm.net(torch.tensor([ids], device=lm.device))[0, start - 1 : -1].float()
        answer = torch.tensor(ids[start:], device=lm.device)
        right.append(bool((logits.argmax(-1) == answer).all()))
        losses.append(float(F.cross_entropy(logits, answer)))
    return Accuracy(mean(right), mean(losses))


def compare(lm: LanguageModel, cases: Sequence[Case], heads: Sequence[Head], seed: int, draws: int = 5) -> Comparison:
    """What it costs to switch off `heads`, and as many others drawn at random, `draws` times."""
    every = [(layer, head) for layer in range(lm.config.n_layers) for head in range(lm.config.n_heads)]
    others = [head for head in every if head not in heads]
    rng = random.Random(seed)

    def without(off: Sequence[Head]) -> Accuracy:
        with intervened(lm.net, Intervention(heads=tuple(off))):
            return accuracy(lm, cases)

    by_chance = [without(rng.sample(others, min(len(heads), len(others)))) for _ in range(draws)]
    return Comparison(without([]), without(heads), by_chance)
