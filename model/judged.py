"""Stories that a network in training tells by itself: what the checker finds faulty in them becomes less probable.

A policy gradient (Williams 1992, "REINFORCE"): the reward of each sentence is 0, that of the first faulty one -1, with
its question where it is an answer, and what is told after it counts for nothing. The mean reward is the baseline.
Nothing rewards an early end, as the choice to end a text is left out; and a price on leaving the network's own way of
telling (the divergence of Kullback and Leibler from what it was at the start of the stage) keeps it from telling only
what is safe. So does a price on each token that more of its stories hold, or hold so many times, than of the corpus's.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from .checker import first_fault
from .checkpoint import LanguageModel
from .corpus.lexicon import Language
from .curriculum import Judged
from .evaluation.stories import openings
from .evaluation.writing import write
from .llama import Llama
from .packing import END
from .tokenizer import Tokenizer
from .variety import Usage, corpus_usage, overused, usage

ROWS = 16  # stories whose loss is computed at once


class Told(NamedTuple):
    """A story, and what the checker says of it.

    `rewards` has one number for each token after the opening, up to the end of the first faulty part, a sentence or a
    question with its answer: -1 in that part, else 0.
    """

    language: Language
    temperature: float
    ids: list[int]
    opening: int  # how many of `ids` the network did not write itself
    rewards: list[float]

    @property
    def way(self) -> tuple[Language, float]:
        """How it was told; stories told in the same way have a mean reward of their own."""
        return self.language, self.temperature

    @property
    def sound(self) -> bool:
        """Whether the checker found no fault. Where there are no rewards, the opening has one."""
        return min(self.rewards, default=-1.0) == 0


class Storyteller:
    """A network in training that tells stories and learns from what the checker says of them.

    `before` is the network at the start of the stage, `sound` the share of the last stories that had no fault.
    """

    def __init__(self, net: Llama, before: Llama, tokenizer: Tokenizer):
        device = net.embed.weight.device
        self.net, self.before = net, before
        teller = Llama(net.config).requires_grad_(False).to(device, torch.bfloat16)  # tells them quicker
        self.telling = LanguageModel("in training", net.config, tokenizer, teller)
        self.usual: Usage | None = None  # counted with the first stories
        self.sound: float | None = None

    def losses(self, judged: Judged, seed: int) -> Iterator[Float[Tensor, ""]]:
        """The loss of `judged.stories` new stories in parts: see `losses`."""
        if self.usual is None or len(self.usual["en"]) != judged.occurrences:
            self.usual = corpus_usage(self.telling.tokenizer, self.net.config.vocab_size, judged.occurrences)
        self.telling.net.load_state_dict(self.net.state_dict())
        told = tell(self.telling, judged, seed)
        self.sound = round(sum(story.sound for story in told) / len(told), 3)
        yield from losses(self.net, self.before, told, judged, self.usual)


def tell(lm: LanguageModel, judged: Judged, seed: int) -> list[Told]:
    """`judged.stories` stories, half of them in each language, on openings of the corpus's training part."""
    jobs = openings(judged.stories // 2, seed, "train")
    temperatures = list(islice(cycle(judged.temperatures), len(jobs)))
    told = []
    for job, row in zip(jobs, write(lm, jobs, temperatures, seed), strict=True):
        fault = first_fault(job.prompt + row.text, job.language, row.ended)
        rewards = _rewards(_starts(lm, row.prompt, row.new, len(job.prompt)), fault)
        told.append(Told(job.language, row.temperature, [*row.prompt, *row.new], len(row.prompt), rewards))
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


def losses(
    net: Llama, before: Llama, told: Sequence[Told], judged: Judged, usual: Usage
) -> Iterator[Float[Tensor, ""]]:
    """The loss in parts, whose sum it is: each is to be taken back through the network before the next is computed.

    `before` is the network as it was at the start of the stage, `usual` how many of the corpus's stories hold a token.
    """
    count = sum(len(story.rewards) for story in told)
    ordered = sorted(_weighed(told, judged, usual), key=lambda one: len(one.ids))
    device = net.embed.weight.device
    explicit = device.type == "cpu"  # short rows: see EXPLICIT_UP_TO of train.py
    for start in range(0, len(ordered), ROWS):
        part = ordered[start : start + ROWS]
        ids, weights, stands_for = _padded(part)
        counted = stands_for > 0
        chosen = ids[:, 1:][counted].to(device)
        with torch.autocast(device.type, dtype=torch.bfloat16):
            with torch.no_grad():
                old = before(ids[:, :-1].to(device), explicit=explicit)[counted].float()
            logits = net(ids[:, :-1].to(device), explicit=explicit)[counted].float()
        divergences = F.kl_div(
            logits.log_softmax(-1),
            (old / judged.likeness_temperature).log_softmax(-1),
            reduction="none",
            log_target=True,
        ).sum(-1)
        divergence = (stands_for[counted].to(device) * divergences).sum()
        # Among the tokens that do not end the text; where that was chosen, the weight is 0.
        temperatures = torch.tensor([[one.story.temperature] for one in part]).expand_as(counted)[counted].to(device)
        going_on = (logits / temperatures[:, None]).index_fill(-1, torch.tensor(END, device=device), -torch.inf)
        unlikely = F.cross_entropy(going_on, chosen.where(chosen != END, END + 1), reduction="none")
        gradient = (weights[counted].to(device) * unlikely).sum()
        yield (judged.weight * gradient + judged.likeness * divergence) / count


class _Weighed(NamedTuple):
    """A story, each token's reward over the mean of those told in the same way, and for how many stories it stands."""

    story: Told
    advantages: list[float]
    stands_for: int

    @property
    def ids(self) -> list[int]:
        """The tokens that count, and those before them: what follows a fault does not."""
        return self.story.ids[: self.story.opening + len(self.advantages)]


def _weighed(told: Sequence[Told], judged: Judged, usual: Usage) -> list[_Weighed]:
    """All faulty stories and every `judged.sound_each`th sound one, which stands for so many."""
    rewards = priced_rewards(told, judged, usual)
    mean = {}
    for way in {story.way for story in told}:
        own = [r for story, row in zip(told, rewards, strict=True) if story.way == way for r in row]
        mean[way] = sum(own) / max(1, len(own))
    weighed, sound = [], 0
    for story, row in zip(told, rewards, strict=True):
        sound += story.sound
        if not story.sound or sound % judged.sound_each == 0:
            advantages = [reward - mean[story.way] for reward in row]
            weighed.append(_Weighed(story, advantages, judged.sound_each if story.sound else 1))
    return weighed


def priced_rewards(told: Sequence[Told], judged: Judged, usual: Usage) -> list[list[float]]:
    """The rewards of each story, less the prices of overused tokens: of the first time in the story, the second …"""
    times, size = usual["en"].shape
    over = overused(usage(((story.language, story.ids) for story in told), size, times), usual)
    priced = []
    for story in told:
        had, row = Counter(story.ids[: story.opening]), []
        price = over[story.language].tolist()
        for token, reward in zip(story.ids[story.opening :], story.rewards, strict=False):  # none after a fault
            row.append(reward - (judged.variety * price[had[token]][token] if had[token] < times else 0.0))
            had[token] += 1
        priced.append(row)
    return priced


def _padded(
    told: Sequence[_Weighed],
) -> tuple[Int[Tensor, "rows T"], Float[Tensor, "rows T_1"], Float[Tensor, "rows T_1"]]:
    """Ids with END after each shorter story; of every token but the first its weight, and for how many it stands."""
    width = max(len(one.ids) for one in told)
    ids = torch.full((len(told), width), END)
    weights = torch.zeros(len(told), width - 1)
    stands_for = torch.zeros(len(told), width - 1)
    for row, one in enumerate(told):
        story, advantages, many = one
        ids[row, : len(one.ids)] = torch.tensor(one.ids)
        part = slice(story.opening - 1, story.opening - 1 + len(advantages))
        weights[row, part] = many * torch.tensor(advantages)
        stands_for[row, part] = many
    return ids, weights.where(ids[:, 1:] != END, 0.0), stands_for
