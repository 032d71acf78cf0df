"""What a network in training can do so far, on held-out documents: its loss, and its answers kind by kind.

Quick and teacher-forced, to steer training by; `python -m model.evaluate` is the measure.
"""

from functools import lru_cache

import torch
import torch.nn.functional as F

from ..corpus import MIX, documents
from ..llama import Llama
from ..tokenizer import Tokenizer
from .packing import END, tokens_and_answers

_LOSS_DOCUMENTS, _DOCUMENTS_A_KIND, _SEED = 256, 24, 0
_Sample = tuple[list[int], list[bool]]


@torch.inference_mode()
def heldout_loss(net: Llama, tokenizer: Tokenizer) -> float:
    """Mean loss in nats a token over the same documents of entities and sequences that training never shows."""
    stream = documents(_SEED, "heldout")
    total, count = 0.0, 0
    for _ in range(_LOSS_DOCUMENTS):
        ids = [*tokens_and_answers(tokenizer, next(stream))[0], END]
        logits = _logits(net, ids)
        total += float(F.cross_entropy(logits[:-1], _targets(net, ids), reduction="sum"))
        count += len(ids) - 1
    return total / count


@torch.inference_mode()
def heldout_answers(net: Llama, tokenizer: Tokenizer) -> dict[str, float]:
    """Of each kind of document, the share of answers whose every token is the most probable one."""
    shares = {}
    for kind, samples in _samples(tokenizer).items():
        right = count = 0
        for ids, answers in samples:
            hits = (_logits(net, ids)[:-1].argmax(-1) == _targets(net, ids)).tolist()
            for start, end in _spans(answers):
                right += all(hits[start - 1 : end - 1])
                count += 1
        shares[kind] = round(right / count, 3)
    return shares


@lru_cache(maxsize=1)
def _samples(tokenizer: Tokenizer) -> dict[str, list[_Sample]]:
    """The same held-out documents of each kind every time."""
    return {
        kind: [tokens_and_answers(tokenizer, next(stream)) for _ in range(_DOCUMENTS_A_KIND)]
        for kind in MIX
        for stream in [documents(_SEED, "heldout", {kind: 1})]
    }


def _spans(answers: list[bool]) -> list[tuple[int, int]]:
    """The runs of True: (start, end)."""
    edges = [i for i in range(1, len(answers)) if answers[i] != answers[i - 1]]
    if answers[-1]:
        edges.append(len(answers))
    return list(zip(edges[::2], edges[1::2], strict=True))


def _logits(net: Llama, ids: list[int]) -> torch.Tensor:
    device = net.embed.weight.device
    with torch.autocast(device.type, dtype=torch.bfloat16):
        return net(torch.tensor([ids], device=device))[0].float()


def _targets(net: Llama, ids: list[int]) -> torch.Tensor:
    return torch.tensor(ids[1:], device=net.embed.weight.device)
