"""Continuous batching: texts of different lengths share each step of decoding (Yu et al. 2022, Orca, OSDI).

A network's weights are read from memory once a step, however many texts the step is of: for one new token that reading
is most of the work. Texts come and go between any two steps. Each keeps its place, its own keys and values (a row of
model/batch_cache.py), its sampling and its seed.

What is the same as alone, and what is not. The linear maps multiply B rows in place of one, by kernels that add up in
another order: their results differ in the last bit, and so does all that follows (of the bundled model up to 2e-6 in a
query of the first layer and 6e-6 in the logits; embedding and norms are the same bit by bit). Attention with a mask may
add in other blocks. A greedy choice differs only where two logits are that close.

Read apart are: prompts under different interventions (a prefix, say, or patches), since these change the first pass;
sources of an encoder, each of its own length; and prompts that dynamic NTK stretches, each by its own length. The steps
after them are shared, but for texts whose lasting interventions differ: each kind has a Batch.

Knows nothing about who waits for the tokens.
"""

import time
from collections.abc import Hashable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from .batch_cache import BatchCache
from .cache import KVCache
from .config import LlamaConfig
from .errors import GlassLlamaError
from .generation import Generation, Step
from .growth import Recorder
from .interventions import intervened
from .masks import Starts
from .network import Network
from .pieces import rows_of_a_piece
from .sampling import candidates_of_each
from .taps import watched

Outcome = Step | GlassLlamaError | None
MOST_ROWS = 64  # texts of one step; more make it no cheaper for each on a CPU
SMALL, WIDER = 256, 4  # tokens of the shortest class of texts, and by how much the next class's are more
PADDING = 2.0  # prompts are read together while their padded tokens are at most so many times their own


def kind_of(text: Generation) -> Hashable:
    """What texts must have in common to share steps: what lasts of their interventions, prefixes aside, and about how
    long they may become.

    A prefix is a mask of the first pass; after it the network is the one without. Every row of a cache is as long as
    the longest text may become: so a row takes at most WIDER times what its own text would, or that of SMALL tokens.
    """
    return replace(text.intervention.lasting, prefix=0), _length_class(text.most_tokens)


def _length_class(tokens: int) -> int:
    """The tokens of the class: SMALL, or that times a power of WIDER."""
    most = SMALL
    while most < tokens:
        most *= WIDER
    return most


class Batch:
    """Texts of one model and one kind that are written together.

    A text joins when its prompt is read, and leaves at its end, at an error, or when it is told to. A pass has an
    outcome for each text: its next Step, or the GlassLlamaError of a run that is not finite, which ends that text
    alone. It is None for a text at its end whose last token was read for the run that grows (model/growth.py).
    """

    def __init__(self) -> None:
        self.texts: list[Generation] = []  # by row of the cache
        self._cache = BatchCache()
        self._net: Network | None = None
        self._recorder: Recorder | None = None
        self._bytes: dict[Generation, tuple[int, int]] = {}  # of a source, and of a token

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def most_rows(self) -> int:
        """How many texts a step may have: one step is one piece of work."""
        return min(MOST_ROWS, rows_of_a_piece(self.texts[0].lm, 1)) if self.texts else MOST_ROWS

    def read(self, texts: Sequence[Generation]) -> dict[Generation, Outcome]:
        """Read the prompts of texts that `readable` chose, in one pass; each has its first token then, and joins."""
        since, first = time.perf_counter(), texts[0]
        with torch.inference_mode():
            nets = [text.begin() for text in texts]
            lengths = [len(text.feed) for text in texts]
            most = max(lengths)
            # Padding is a token of the text itself: causal attention never looks at what follows.
            padded = [text.feed + text.feed[-1:] * (most - len(text.feed)) for text in texts]
            cache = nets[0].cache(most, len(texts))
            with intervened(nets[0], first.intervention):
                ids = torch.tensor(padded, device=first.lm.device)
                if len(texts) == 1:
                    logits = nets[0](ids, cache, 0, last_only=True)[:, -1]
                else:
                    logits = _last_of_each(nets[0], ids, cache, lengths)
            self._join(texts, nets, cache, lengths)
        return self._taken(texts, logits.float(), since)

    def step(self, texts: Sequence[Generation]) -> dict[Generation, Outcome]:
        """One more token for each of these texts, which have all joined."""
        since = time.perf_counter()
        assert self._net is not None
        with torch.inference_mode(), intervened(self._net, texts[0].intervention.lasting):
            texts = self._to_front(texts)
            places, device = [text.position for text in texts], texts[0].lm.device
            ids = torch.tensor([text.feed for text in texts], device=device)
            start = places[0] if len(places) == 1 else Starts.of(places, device)
            with self._recording(texts) as recorder:
                logits = self._net(ids, self._cache, start, last_only=True)[:, -1].float()
            if recorder is not None:
                record = recorder.record()
                for row, text in enumerate(texts):
                    if text.growth is not None:
                        text.growth.add(text.feed[0], record.of(row))
        return self._taken(texts, logits, since)

    def _recording(self, texts: Sequence[Generation]) -> AbstractContextManager[Recorder | None]:
        if all(text.growth is None for text in texts):
            return nullcontext()
        if self._recorder is None:
            assert self._net is not None
            self._recorder = Recorder(self._net)
        return self._recorder.recording()

    def leave(self, text: Generation) -> None:
        """This text is written no further."""
        if text in self._bytes:
            del self._bytes[text]
            row = self.texts.index(text)
            with torch.inference_mode():
                self._cache.drop(row)
            last = self.texts.pop()
            if row < len(self.texts):
                self.texts[row] = last

    def _join(self, texts: Sequence[Generation], nets: Sequence[Network], cache: KVCache, lengths: list[int]) -> None:
        whole, source = (cache.nbytes(count) // len(texts) for count in (1, 0))
        room = max(text.limit for text in (*self.texts, *texts))
        self._cache.join(cache, lengths, room)
        self._net = self._net or (nets[0] if texts[0].lm.reads_source else texts[0].unprefixed.net)
        for text in texts:
            self.texts.append(text)
            self._bytes[text] = source, whole - source

    def _to_front(self, texts: Iterable[Generation]) -> list[Generation]:
        """Have the rows of these texts stand first; gives the texts in the order of their rows."""
        wanted = set(texts)
        count = len(wanted)
        free = [row for row in range(count) if self.texts[row] not in wanted]
        behind = [row for row in range(count, len(self.texts)) if self.texts[row] in wanted]
        for one, other in zip(free, behind, strict=True):
            self._cache.swap(one, other)
            self.texts[one], self.texts[other] = self.texts[other], self.texts[one]
        return self.texts[:count]

    def _taken(self, texts: Sequence[Generation], logits: Tensor, since: float) -> dict[Generation, Outcome]:
        found: dict[Generation, Outcome] = {}
        for text, row, offered in zip(texts, logits, candidates_of_each(logits), strict=True):
            if text.stop is not None:
                found[text] = None
                continue
            source, token = self._bytes[text]
            try:
                held = source + token * (text.position + len(text.feed))
                found[text] = text.take(row, offered, held, since)
            except GlassLlamaError as error:
                found[text] = error
        for text, outcome in found.items():
            ended = text.stop is not None and not (isinstance(outcome, Step) and text.reads_last)
            if isinstance(outcome, GlassLlamaError) or ended:
                self.leave(text)
        return found


def readable(waiting: Sequence[Generation]) -> list[Generation]:
    """The first of these texts, and those whose prompts can be read in the same pass: one piece of work at most."""
    first = waiting[0]
    most = rows_of_a_piece(first.lm, 1)
    chosen, own, longest = [first], len(first.given), len(first.given)
    for text in waiting[1:]:
        length = len(text.given)
        padded = max(longest, length) * (len(chosen) + 1)
        if len(chosen) == MOST_ROWS or padded > min(most, PADDING * (own + length)) or not _read_alike(first, text):
            continue
        chosen.append(text)
        own, longest = own + length, max(longest, length)
    return chosen


def _read_alike(one: Generation, other: Generation) -> bool:
    return not one.lm.reads_source and one.intervention == other.intervention and not _stretched(one, other)


def _stretched(*texts: Generation) -> bool:
    """Whether dynamic NTK turns the tokens of one of these prompts by its length."""
    config = texts[0].lm.config
    scaling = config.rope_scaling if isinstance(config, LlamaConfig) else None
    grows = scaling is not None and scaling.kind == "dynamic"
    return grows and any(len(text.given) > config.max_context for text in texts)


def _last_of_each(net: Network, ids: Tensor, cache: KVCache, lengths: list[int]) -> Float[Tensor, "B V"]:
    """The logits of each row's last own token."""
    seen: list[Tensor] = []
    with watched({net.final_resid: seen.append}):
        net(ids, cache, 0, last_only=True)
    return net.logits(seen[0][torch.arange(len(ids)), torch.tensor(lengths) - 1])
