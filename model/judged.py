"""Stories that a network in training tells by itself: what the checker finds faulty in them becomes less probable.

A policy gradient (Williams 1992, "REINFORCE"): the reward of each sentence is 0, that of the first faulty one -1, and
what is told after it counts for nothing. The mean reward is the baseline. Nothing rewards an early end, as the choice
to end a text is left out; and a price on leaving the network's own way of telling (the divergence of Kullback and
Leibler from what it was at the start of the stage) keeps it from telling only what is safe.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

from .checker import first_fault
from .checkpoint import LanguageModel
from .corpus.lexicon import Language
from .curriculum import Judged
from .evaluation.stories import openings
from .evaluation.writing import write
from .llama import Llama
from .packing import END

ROWS = 16  # stories whose loss is computed at once


class Told(NamedTuple):
    """A story, and what the checker says of it.

    `rewards` has one number for each token after the opening, up to the end of the first faulty sentence: -1 in that
    sentence, else 0.
    """

    language: Language
    ids: list[int]
    opening: int  # how many of `ids` the network did not write itself
    rewards: list[float]

    @property
    def sound(self) -> bool:
        """Whether the checker found no fault. Where there are no rewards, the opening has one."""
        return min(self.rewards, default=-1.0) == 0


def tell(lm: LanguageModel, judged: Judged, seed: int) -> list[Told]:
    """`judged.stories` stories, half of them in each language, on openings of the corpus's training part."""
    jobs = openings(judged.stories // 2, seed, "train")
    told = []
    for job, row in zip(jobs, write(lm, jobs, judged.temperature, seed), strict=True):
        fault = first_fault(job.prompt + row.text, job.language, row.ended)
        rewards = _rewards(_starts(lm, row.prompt, row.new, len(job.prompt)), fault)
        told.append(Told(job.language, [*row.prompt, *row.new], len(row.prompt), rewards))
    return told


def _starts(lm: LanguageModel, prompt: list[int], new: list[int], length: int) -> list[int]:
    """At which character of the story each new token begins."""
    stream = lm.tokenizer.stream(prompt)
    starts = []
    for token in new:
        starts.append(length)
        length += len(stream.feed(token))
    return starts


def _rewards(starts: list[int], fault: tuple[int, int] | None) -> list[float]:
    """The reward of each token that begins there, up to the end of the fault."""
    if fault is None:
        return [0.0] * len(starts)
    begin, end = fault
    # A token brings the space before its word along: the fault's first one begins a character before it.
    return [-1.0 if start >= begin - 1 else 0.0 for start in starts if start < end]


def losses(net: Llama, before: Llama, told: Sequence[Told], judged: Judged) -> Iterator[Float[Tensor, ""]]:
    """The loss in parts, whose sum it is: each is to be taken back through the network before the next is computed.

    `before` is the network as it was at the start of the stage.
    """
    count = sum(len(story.rewards) for story in told)
    ordered = sorted(told, key=lambda story: len(story.ids))
    advantages = _advantages(ordered)
    device = net.embed.weight.device
    for start in range(0, len(ordered), ROWS):
        part = slice(start, start + ROWS)
        ids, weights, counted = _padded(ordered[part], advantages[part])
        chosen = ids[:, 1:][counted].to(device)
        with torch.autocast(device.type, dtype=torch.bfloat16):
            with torch.no_grad():
                old = before(ids[:, :-1].to(device))[counted].float().log_softmax(-1)
            logits = net(ids[:, :-1].to(device))[counted].float()
        divergence = F.kl_div(logits.log_softmax(-1), old, reduction="sum", log_target=True)
        # Among the tokens that do not end the text; where that was chosen, the weight is 0.
        going_on = (logits / judged.temperature).index_fill(-1, torch.tensor(END, device=device), -torch.inf)
        unlikely = F.cross_entropy(going_on, chosen.where(chosen != END, END + 1), reduction="none")
        gradient = (weights[counted].to(device) * unlikely).sum()
        yield (judged.weight * gradient + judged.likeness * divergence) / count


def _advantages(told: Sequence[Told]) -> list[list[float]]:
    """Each token's reward over the mean of its language."""
    mean = {}
    for language in {story.language for story in told}:
        rewards = [reward for story in told if story.language == language for reward in story.rewards]
        mean[language] = sum(rewards) / max(1, len(rewards))
    return [[reward - mean[story.language] for reward in story.rewards] for story in told]


def _padded(
    told: Sequence[Told], advantages: Sequence[list[float]]
) -> tuple[Int[Tensor, "rows T"], Float[Tensor, "rows T_1"], Bool[Tensor, "rows T_1"]]:
    """Ids with END after each shorter story; of every token but the first its weight, and whether it counts."""
    width = max(len(story.ids) for story in told)
    ids = torch.full((len(told), width), END)
    weights = torch.zeros(len(told), width - 1)
    counted = torch.zeros(len(told), width - 1, dtype=torch.bool)
    for row, (story, advantage) in enumerate(zip(told, advantages, strict=True)):
        ids[row, : len(story.ids)] = torch.tensor(story.ids)
        part = slice(story.opening - 1, story.opening - 1 + len(advantage))
        weights[row, part] = torch.tensor(advantage)
        counted[row, part] = True
    return ids, weights.where(ids[:, 1:] != END, 0.0), counted
