"""What a network in training can do so far, on held-out documents: its loss, and its answers kind by kind.

Quick and teacher-forced, to steer training by; `python -m model.evaluate` is the measure.
"""

import random
from functools import lru_cache

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from ..corpus import MIX, documents
from ..network import Network
from ..tokenizer import Tokenizer
from .packing import END, cut, start_of, tokens_and_answers

_LOSS_DOCUMENTS, _DOCUMENTS_A_KIND, _SEED = 256, 24, 0
_Sample = tuple[list[int], list[bool]]


@torch.inference_mode()
def heldout_loss(net: Network, tokenizer: Tokenizer, continued: bool = False) -> float:
    """Mean loss in nats a token over the same documents of entities and sequences that training never shows.

    With `continued`, only over what follows a point of each document, for every network the same one: all that a
    network can be measured by that reads the text before it with an encoder.
    """
    stream, rng = documents(_SEED, "heldout"), random.Random(_SEED)
    total, count = 0.0, 0
    for _ in range(_LOSS_DOCUMENTS):
        ids, answers = tokens_and_answers(tokenizer, next(stream))
        point = cut(answers, rng)
        given = point if continued or _start(net) is not None else 1
        ids = [*ids, END]
        total += float(F.cross_entropy(_logits(net, ids, given), _targets(net, ids)[given:], reduction="sum"))
        count += len(ids) - given
    return total / count


@torch.inference_mode()
def heldout_answers(net: Network, tokenizer: Tokenizer) -> dict[str, float]:
    """Of each kind of document, the share of answers whose every token is the most probable one."""
    shares = {}
    for kind, samples in _samples(tokenizer).items():
        right = count = 0
        for ids, answers in samples:
            if not (spans := _spans(answers)):  # a story may hold none
                continue
            given = spans[0][0] if _start(net) is not None else 1  # an encoder reads what is before the first answer
            hits = (_logits(net, ids, given).argmax(-1) == _targets(net, ids)[given:]).tolist()
            for start, end in spans:
                right += all(hits[start - given : end - given])
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


def _logits(net: Network, ids: list[int], given: int) -> Float[Tensor, "tokens V"]:
    """Of every token but the first `given`, which stand before them; an encoder reads those as a text of its own."""
    device, start = net.embed.weight.device, _start(net)
    texts = [ids] if start is None else [[*ids[:given], END], [start, *ids[given:-1]]]
    with torch.autocast(device.type, dtype=torch.bfloat16):
        logits = net(*(torch.tensor([text], device=device) for text in texts))[0].float()
    return logits[given - 1 : -1] if start is None else logits


def _targets(net: Network, ids: list[int]) -> Tensor:
    return torch.tensor(ids, device=net.embed.weight.device)


def _start(net: Network) -> int | None:
    return start_of(getattr(net, "config", None))
