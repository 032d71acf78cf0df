"""How a model comes by an answer: it copies it, it recalls it, or it goes by grammar or habit. Told by knock-out alone.

A last token first gathers its own phrase, in the lower layers; what it fetches in the upper half goes into the answer
(Geva et al. 2023, arXiv 2304.14767: an attribute is extracted late, from a subject that was enriched early). So
attention is knocked out in the upper half of the layers, to several tokens at once.

- "copied": the answer stands in the text, and its places carry FETCHED nats or more of log p(answer).
- "recalled": other tokens than these do, sinks apart. They carry the answer, and do not spell it. Not all is fetched in
  the upper half: some answers have come by then ("The largest planet in the solar system is": without any look in the
  upper half 0.1 nats are lost). So it is "recalled", too, where the last FEW tokens by themselves, which see each other
  and the sinks in all layers, leave less than half of the probability: GIVEN nats or more are lost.
- "habit": neither. The last few words say it.

What places carry is their Shapley value beside all other tokens: the mean of what is lost without them, and of what is
lost without all less what is lost without the others. Where heads make up for each other, the first alone says too
little ("Mary and John ..., John gave it to": without Mary 1.4 nats are lost, without both names 6).
"""

import math
from collections.abc import Collection
from typing import Literal, NamedTuple

import torch

from .last_token import Few, TextRead, last_token_logs

Form = Literal["copied", "recalled", "habit"]
FETCHED = 0.5  # nats of log p(answer) from which on something is fetched
FEW = 3  # tokens, the last one among them
GIVEN = math.log(2)  # nats of log p(answer) up to which the last few give it


class Fetched(NamedTuple):
    """Nats of log p(answer) lost without attention in the upper layers to all tokens before the last but the sinks;
    what the `places` carry of it, where the answer stands; these; nats lost in all layers where the last FEW tokens see
    each other and the sinks `alone`; and `from_hidden`, those lost in all layers without attention to exactly the
    places: where that is little, the answer need not be read there."""

    from_all: float
    from_places: float
    places: tuple[int, ...]
    alone: float
    from_hidden: float

    @property
    def form(self) -> Form:
        """What these numbers say."""
        if self.from_places >= FETCHED:
            return "copied"
        return "recalled" if self.from_all >= FETCHED or self.alone > GIVEN else "habit"


def fetched(read: TextRead, target: int, sinks: Collection[int]) -> Fetched:
    """What the last token of a text fetches for the next token `target`: in the upper half of the layers, and from
    before the last few."""
    places = answer_places(read, target, sinks)
    last, half = len(read.ids) - 1, read.lm.config.n_layers // 2
    every = [token for token in range(last) if token not in sinks]
    off = torch.zeros(5, last + 1, dtype=torch.bool, device=read.lm.device)
    others = [token for token in every if token not in places]
    for row, hidden in enumerate(([], every, list(places), others, list(places))):
        off[row, hidden] = True
    always = off.clone()
    always[:-1] = False  # the last row's places are hidden in the lower half, too
    few = Few(FEW, sinks) if last >= FEW else None
    with torch.inference_mode():
        logs = last_token_logs(read, len(off), lambda layer: off if layer >= half else always, few=few)[:, target]
    from_all, without, without_others, from_hidden, *alone = (logs[0] - logs[1:]).tolist()
    return Fetched(from_all, (without + from_all - without_others) / 2, places, sum(alone), from_hidden)


def answer_places(read: TextRead, target: int, sinks: Collection[int]) -> tuple[int, ...]:
    """Where the answer stands before the last token, sinks apart: with or without the space before it. Of a blank, such
    as a line's end, the same one."""
    *pieces, answer = read.lm.tokenizer.pieces([*read.ids[:-1], target])

    def is_answer(piece: str) -> bool:
        return piece.strip() == answer.strip() if answer.strip() else piece == answer

    return tuple(t for t, piece in enumerate(pieces) if is_answer(piece) and t not in sinks)
