"""python -m model.evaluate.experts [MODEL …]: are experts about subjects? Their load by kind of document and of token.

Held-out documents of every kind are read, and the router's choices of each layer counted. A group of tokens (those of
one kind of document, or Chinese characters, Latin letters, digits, marks) has its own share of the choices for each
expert; how far these shares are from those of all tokens is the part of its choices that would have to move, half the
sum of the differences: 0 where the group is sent as all are, near 1 where it has experts to itself. Kinds of document
are compared by their words alone, since some have more marks or digits than others. Beside it stand two controls: what
the same groups come to where each token is sent as that token is on average, wherever it stands, which is all that a
kind's own vocabulary does; and the same documents dealt into as many groups by lot.

Mixtral's authors counted by subject, too, and found hardly a pattern (arXiv 2401.04088, section 5).
"""

import argparse
import random
import statistics
from collections.abc import Hashable, Sequence
from itertools import islice
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from model.checkpoint import BUNDLED, LanguageModel, load
from model.corpus import MIX, documents
from model.moe import Experts
from model.taps import capture

SEED, DOCUMENTS = 11, 24  # of each kind
WORDS = ("Chinese", "Latin")  # kinds of token
ZOO = [str(BUNDLED.parent / "zoo" / name) for name in ("mixtral", "deepseek")]


class Read(NamedTuple):
    """A document's `kind`, its tokens' texts, and by layer with experts the choices of each token, (T, E) counts."""

    kind: str
    pieces: list[str]
    chosen: dict[str, Float[Tensor, "T E"]]


def kind_of(piece: str) -> str:
    """What a token's text is: of its first character that is no space."""
    first = piece.strip()[:1]
    if not first:
        return "space"
    if "一" <= first <= "鿿":
        return "Chinese"
    return "digits" if first.isdigit() else "Latin" if first.isalpha() else "marks"


@torch.inference_mode()
def read(lm: LanguageModel, of_each: int = DOCUMENTS, seed: int = SEED) -> list[Read]:
    """So many held-out documents of every kind. Raises ValueError for a network without experts."""
    if not any(isinstance(module, Experts) for module in lm.net.modules()):
        raise ValueError(f"{lm.name} has no experts")
    found: list[Read] = []
    for kind in MIX:
        for document in islice(documents(seed, "heldout", {kind: 1}), of_each):
            ids = lm.tokenizer.encode(document.text)[: lm.config.context_limit]
            with capture(lm.net, "*.router_scores", "*.experts", record=lambda value: value) as seen:
                lm.net(torch.tensor([ids], device=lm.device))
            layers = [name.removesuffix(".experts") for name in seen if name.endswith(".experts")]
            found.append(
                Read(
                    kind,
                    [lm.tokenizer.decode([one]) for one in ids],
                    {
                        layer: torch.zeros(seen[f"{layer}.router_scores"].shape[1:])
                        .scatter_(1, seen[f"{layer}.experts"][0].cpu(), 1.0)
                        .double()
                        for layer in layers
                    },
                )
            )
    return found


def moved(choices: Float[Tensor, "N E"], groups: Sequence[Hashable]) -> dict[Hashable, float]:
    """For each group of the N tokens, how far its experts' shares of the choices are from those of all tokens, 0…1."""
    of_all = choices.sum(0) / choices.sum()
    places: dict[Hashable, list[int]] = {}
    for i, group in enumerate(groups):
        places.setdefault(group, []).append(i)
    shares = {group: choices[rows].sum(0) / choices[rows].sum() for group, rows in places.items()}
    return {group: float((share - of_all).abs().sum()) / 2 for group, share in shares.items()}


def usual_choices(choices: Float[Tensor, "N E"], pieces: Sequence[str]) -> Float[Tensor, "N E"]:
    """For each token the mean of the choices of all tokens with its text."""
    number = {piece: i for i, piece in enumerate(dict.fromkeys(pieces))}
    which = torch.tensor([number[piece] for piece in pieces])
    sums = torch.zeros(len(number), choices.shape[1], dtype=choices.dtype).index_add_(0, which, choices)
    return (sums / which.bincount()[:, None])[which]


def dealt_by_lot(found: Sequence[Read], seed: int = SEED) -> list[str]:
    """For each document the kind of another: the groups' sizes stay, what they have in common goes."""
    kinds = [document.kind for document in found]
    random.Random(seed).shuffle(kinds)
    return kinds


def report(found: Sequence[Read]) -> str:
    """A line for each layer: what moves by kind of token; then, of the words, by kind of document, and its controls."""
    pieces = [piece for document in found for piece in document.pieces]
    each_kind, each_by_lot = (
        [kind for kind, document in zip(kinds, found, strict=True) for _ in document.pieces]
        for kinds in ([document.kind for document in found], dealt_by_lot(found))
    )
    tokens = [kind_of(piece) for piece in pieces]
    words = [i for i, kind in enumerate(tokens) if kind in WORDS]
    lines = []
    for layer in found[0].chosen:
        choices = torch.cat([document.chosen[layer] for document in found])
        of_tokens = ", ".join(f"{kind} {far:.3f}" for kind, far in sorted(moved(choices, tokens).items()))
        told = [f"{layer}: kind of token: {of_tokens}"]
        own = choices[words]
        usual = usual_choices(own, [pieces[i] for i in words])
        by_kind, by_lot = ([kinds[i] for i in words] for kinds in (each_kind, each_by_lot))
        for name, rows, groups in (
            ("kind of document", own, by_kind),
            ("by its vocabulary", usual, by_kind),
            ("by lot", own, by_lot),
        ):
            told.append(f"{name} {statistics.mean(moved(rows, groups).values()):.3f}")
        lines.append("; ".join(told))
    return "\n".join(lines)


def main() -> None:
    """A block of lines for each model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="*", default=ZOO, help="directories of checkpoints with experts")
    parser.add_argument("--documents", type=int, default=DOCUMENTS, help="of each kind (default: %(default)s)")
    given = parser.parse_args()
    for place in given.model:
        lm = load(place, device="cpu", dtype="float32")
        print(lm.name, report(read(lm, given.documents)), sep="\n", flush=True)


if __name__ == "__main__":
    main()
