"""Documents into the rows of a training batch, with what each token counts in the loss."""

import random
from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ..corpus import Document, documents
from ..corpus.split import SplitName
from ..tokenizer import Tokenizer
from .curriculum import PATTERNS, Stage

END = 0  # the id of `<|end|>`, which follows every document


GROUP, ALIKE = 8, 24  # documents that are filled up to one length, of so many whose sources are about as long


class Rows(NamedTuple):
    """Token ids, and the weight in the loss of each but the first; `source` is what an encoder reads before."""

    ids: Int[Tensor, "rows context_1"]
    weights: Float[Tensor, "rows context"]
    source: Int[Tensor, "rows source"] | None = None

    @property
    def texts(self) -> tuple[Tensor, ...]:
        """What a network is given to predict each token but the first."""
        return (self.ids[:, :-1],) if self.source is None else (self.source, self.ids[:, :-1])

    def parts(self, count: int) -> list["Rows"]:
        """The rows in so many shares, as even as may be; fewer where there are fewer rows."""
        ids, weights = self.ids.chunk(count), self.weights.chunk(count)
        sources = [None] * len(ids) if self.source is None else self.source.chunk(count)
        return [Rows(*share) for share in zip(ids, weights, sources, strict=True)]

    def to(self, device: torch.device) -> "Rows":
        """The same on a device."""
        source = None if self.source is None else self.source.to(device)
        return Rows(self.ids.to(device), self.weights.to(device), source)


def pack_rows(tokenizer: Tokenizer, stage: Stage, seed: int, split: SplitName = "train") -> Rows:
    """The rows of one batch: whole documents end to end, each row from the start of one and cut at context + 1.

    The batch depends on its arguments alone, so an interrupted run goes on exactly where it was.
    """
    stream = documents(seed, split, stage.mix)
    width = stage.context + 1
    rows, weights = [], []
    for _ in range(stage.batch_size):
        row: list[int] = []
        weight: list[float] = []
        while len(row) < width:
            document = next(stream)
            ids, answers = tokens_and_answers(tokenizer, document)
            row += [*ids, END]
            weight += weights_of(stage, document.kind, ids, answers)
        rows.append(row[:width])
        weights.append(weight[1:width])
    return Rows(torch.tensor(rows), torch.tensor(weights))


def start_of(config: object) -> int | None:
    """The token that a target begins with; None where nothing is read with an encoder."""
    return getattr(config, "start_id", None)


class Pair(NamedTuple):
    """A document in two: what the encoder reads, what the decoder goes on with, and what each token of that counts."""

    source: list[int]
    target: list[int]
    weights: list[float]


def pack_pairs(tokenizer: Tokenizer, stage: Stage, seed: int, start: int, split: SplitName = "train") -> list[Rows]:
    """The same batch for a network that reads with an encoder: every document in two, as many as hold its tokens.

    The encoder reads a document up to a point and `END`, as T5's own sources end; the decoder, from `start` on, what
    follows. A document is cut to context + 1 tokens, as a row is. Documents of about one length stand in one group;
    shorter sources begin with further `END`s, shorter targets end with some that count nothing.
    """
    stream, rng = documents(seed, split, stage.mix), random.Random(f"points-{seed}")
    pairs: list[Pair] = []
    held = 0
    while held < stage.batch_size * stage.context:
        document = next(stream)
        ids, answers = tokens_and_answers(tokenizer, document)
        weights = weights_of(stage, document.kind, ids, answers)
        whole = [*ids, END][: stage.context + 1]
        point = cut(answers[: len(whole)], rng)
        pairs.append(Pair([*whole[:point], END], whole[point:], weights[point : len(whole)]))
        held += len(whole)
    pairs.sort(key=lambda pair: len(pair.source))
    alike = [sorted(pairs[i : i + ALIKE], key=lambda pair: len(pair.target)) for i in range(0, len(pairs), ALIKE)]
    return [_group(some[i : i + GROUP], start) for some in alike for i in range(0, len(some), GROUP)]


def cut(answers: list[bool], rng: random.Random) -> int:
    """How many of a document's tokens the encoder reads: up to an answer, so that the decoder has to give it.

    Half of the documents are cut at their first answer, so that all are the decoder's; a quarter at any; the others,
    and those without one, anywhere, since a prompt may end anywhere.
    """
    starts = [i for i in range(1, len(answers)) if answers[i] and not answers[i - 1]]
    kind = rng.random()
    if not starts or kind >= 0.75:
        return rng.randint(1, max(1, len(answers) - 1))
    return starts[0] if kind < 0.5 else rng.choice(starts)


def _group(pairs: Sequence[Pair], start: int) -> Rows:
    source, target = (max(len(pair[part]) for pair in pairs) for part in (0, 1))
    sources = [[END] * (source - len(pair.source)) + pair.source for pair in pairs]
    targets = [[start, *pair.target] + [END] * (target - len(pair.target)) for pair in pairs]
    weights = [pair.weights + [0.0] * (target - len(pair.target)) for pair in pairs]
    return Rows(torch.tensor(targets), torch.tensor(weights), torch.tensor(sources))


def weights_of(stage: Stage, kind: str, ids: list[int], answers: list[bool]) -> list[float]:
    """What each token of a document counts in the loss of this stage, and the end of text after it."""
    pattern = kind in PATTERNS
    weights: list[float] = []
    had: set[int] = set()
    for token, answer in zip(ids, answers, strict=True):
        rest = stage.random_weight if pattern else 1.0 if token in had else stage.first_weight
        weights.append(stage.answer_weight if answer else rest)
        had.add(token)
    return [*weights, stage.random_weight if pattern else 1.0]


def tokens_and_answers(tokenizer: Tokenizer, document: Document) -> tuple[list[int], list[bool]]:
    """A document's token ids, and which of them hold a part of an answer."""
    encoding = tokenizer.back_end.encode(document.text, add_special_tokens=False)
    answers = [any(start < b and a < end for start, end in document.answers) for a, b in encoding.offsets]
    return encoding.ids, answers
