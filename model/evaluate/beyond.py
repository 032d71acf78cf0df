"""python -m model.evaluate.beyond [MODEL …]: the loss by position, up to and beyond the length seen in training.

Held-out documents stand one after another in rows of as many tokens as a network can read. So every stretch of a row
holds the same kind of text, and what differs between stretches is where the tokens stand, and how much stands before.
"""

import argparse
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from model.checkpoint import BUNDLED, LanguageModel, load
from model.corpus import documents

SEED, ROWS = 11, 24
EDGES = (0, 128, 256, 384, 512, 768, 1024)  # the small networks have seen 256 positions in training


class Stretch(NamedTuple):
    """Mean −log p, in nats, of the tokens at positions `first` … `end` − 1."""

    first: int
    end: int
    loss: float


def rows_of(lm: LanguageModel, rows: int, length: int, seed: int = SEED) -> Int[Tensor, "rows length"]:
    """Held-out documents one after another, each ended as in training."""

    def ids() -> Iterator[int]:
        for document in documents(seed, "heldout"):
            yield from (*lm.tokenizer.encode(document.text), *lm.config.eos_ids[:1])

    return torch.tensor(list(islice(ids(), rows * length))).view(rows, length)


@torch.inference_mode()
def loss_by_position(lm: LanguageModel, rows: Int[Tensor, "rows length"]) -> list[Stretch]:
    """The loss in each stretch, over all rows; position 0 has nothing before it and does not count."""
    losses = []
    for row in rows.to(lm.device):
        logits = lm.net(row[None])[0, :-1].float()
        losses.append(cross_entropy(logits, row[1:], reduction="none").double())
    mean = torch.stack(losses).mean(0).cpu()  # at i: of the token at position i + 1
    edges = [edge for edge in EDGES if edge < rows.shape[1]] + [rows.shape[1]]
    return [Stretch(first, end, float(mean[max(first, 1) - 1 : end - 1].mean())) for first, end in pairwise(edges)]


def main() -> None:
    """A line for each model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="*", default=[str(BUNDLED)], help="directories of checkpoints")
    parser.add_argument("--rows", type=int, default=ROWS)
    given = parser.parse_args()
    for place in given.model:
        lm = load(place, device="cpu", dtype="float32")
        found = loss_by_position(lm, rows_of(lm, given.rows, min(EDGES[-1], lm.config.context_limit)))
        print(lm.name, *(f"{first}–{end - 1}: {loss:.3f}" for first, end, loss in found), sep="  ")


if __name__ == "__main__":
    main()
