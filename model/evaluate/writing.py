"""Many continuations at once: prompts of different lengths in one batch, over one KV cache, without padding.

All rows stand at the same position. A row whose prompt is longer than that reads its next prompt token, any other the
token that it has just chosen; so each row sees exactly what it would see alone. Where an encoder reads the prompts, the
rows of a batch have prompts of one length.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Protocol

import torch
from jaxtyping import Float
from torch import Tensor

from model.checkpoint import LanguageModel
from model.evaluate.judges import Judge
from model.prompt import prompt_ids
from model.tokenizer import TextStream

ROWS = 128


class Job(Protocol):
    """What to continue until `judge` has a verdict, for at most `limit` new tokens."""

    @property
    def prompt(self) -> str: ...
    @property
    def judge(self) -> Judge: ...
    @property
    def limit(self) -> int: ...


@dataclass
class Row:
    """One continuation: `new` and `text` are what has been written, `ended` whether the model itself ended it.

    `prompt` is what it goes on from: after an encoder has read it, the token that a target begins with.
    """

    prompt: list[int]
    limit: int
    judge: Judge
    temperature: float
    stream: TextStream
    random: torch.Generator
    text: str = ""
    new: list[int] = field(default_factory=list)
    ended: bool = False
    done: bool = False
    verdict: bool | None = None

    def take(self, token: int, ends: bool) -> None:
        """The model's choice for the next token."""
        self.new.append(token)
        self.ended = ends
        self.done = ends or len(self.new) >= self.limit
        self.text += self.stream.feed(token, last=self.done)
        self.verdict = self.judge(self.text, self.done)
        self.done |= self.verdict is not None


def write(
    lm: LanguageModel,
    jobs: Sequence[Job],
    temperature: float = 0.0,
    seed: int = 0,
    progress: Callable[[int], object] = lambda _: None,
) -> list[Row]:
    """Continue every job's prompt until its judge has a verdict, the text ends, or its limit is reached.

    Temperature 0 is greedy. Otherwise a row's draws depend on the seed and on its place in the list, not on the batch.
    `progress` hears the number of rows that have just been finished.
    """
    rows = []
    for i, job in enumerate(jobs):
        ids = prompt_ids(lm, job.prompt)
        limit = min(job.limit, max(1, lm.config.context_limit - len(ids)))
        random = torch.Generator().manual_seed(seed * 1_000_003 + i)
        rows.append(Row(ids, limit, job.judge, temperature, lm.tokenizer.stream(ids), random))
    for batch in _batches(lm, rows):
        _write_batch(lm, batch, progress)
    return rows


def _batches(lm: LanguageModel, rows: list[Row]) -> Iterator[list[Row]]:
    by_length = sorted(rows, key=lambda row: len(row.prompt))
    encoded = lm.reads_source
    for _, alike in groupby(by_length, key=lambda row: len(row.prompt) if encoded else 0):
        some = list(alike)
        yield from (some[start : start + ROWS] for start in range(0, len(some), ROWS))


@torch.inference_mode()
def _write_batch(lm: LanguageModel, rows: list[Row], progress: Callable[[int], object]) -> None:
    net, begun = lm.net.start_decoding_all([row.prompt for row in rows])
    for row, prompt in zip(rows, begun, strict=True):
        row.prompt = prompt
    position, seen = 0, min(len(row.prompt) for row in rows)
    cache = net.cache(max(len(row.prompt) + row.limit for row in rows), len(rows))
    feed = [row.prompt[:seen] for row in rows]
    while rows:
        logits = net(torch.tensor(feed, device=lm.device), cache, position, last_only=True)[:, -1].float()
        position = seen
        writing = [i for i, row in enumerate(rows) if len(row.prompt) <= position]
        for i, token in zip(writing, _choose(logits, rows, writing), strict=True):
            rows[i].take(token, token in lm.config.eos_ids)
        alive = [i for i, row in enumerate(rows) if not row.done]
        if len(alive) < len(rows):
            progress(len(rows) - len(alive))
            rows = [rows[i] for i in alive]
            cache.keep(alive)
        feed = [[row.prompt[position] if position < len(row.prompt) else row.new[-1]] for row in rows]
        seen = position + 1


def _choose(logits: Float[Tensor, "B V"], rows: list[Row], writing: list[int]) -> list[int]:
    """The next token of each row that is writing."""
    temperature = rows[0].temperature
    if not temperature:
        return logits[writing].argmax(-1).tolist()
    probabilities = (logits[writing] / temperature).softmax(-1).cpu()
    return [
        int(torch.multinomial(own, 1, generator=rows[i].random)) for i, own in zip(writing, probabilities, strict=True)
    ]
