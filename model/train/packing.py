"""Documents into the rows of a training batch, with what each token counts in the loss."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ..corpus import Document, documents
from ..corpus.split import SplitName
from ..tokenizer import Tokenizer
from .curriculum import PATTERNS, Stage

END = 0  # the id of `<|end|>`, which follows every document


class Rows(NamedTuple):
    """Token ids, and the weight in the loss of each but the first."""

    ids: Int[Tensor, "rows context_1"]
    weights: Float[Tensor, "rows context"]


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
    encoding = tokenizer.back_end.encode(document.text)
    answers = [any(start < b and a < end for start, end in document.answers) for a, b in encoding.offsets]
    return encoding.ids, answers
