"""The bound on decoding against schedules: micro-batches that pass stage after stage, simulated event by event."""

import random
from collections.abc import Sequence
from fractions import Fraction

import pytest

from model.kv_math import KvOptions
from model.kv_math.memory import Setup
from model.kv_math.speed import decode_bound

BANDWIDTH = 3_350 * 10**9  # H100
ROUNDS = 24
# Llama-3 70B in bf16, by hand: one layer, what stands after the last one, and a row of the embedding.
LAYER = 2 * (2 * 8192**2 + 2 * 8192 * 1024 + 3 * 8192 * 28_672 + 2 * 8192)
HEAD, ROW = 2 * (128_256 * 8192 + 8192), 2 * 8192
TOKEN = 2 * 8 * 128 * 2  # K and V of one token in one layer
LAYERS = 80


def step_time(sizes: Sequence[int], stages: Sequence[tuple[int, int, int]]) -> Fraction:
    """Bytes' worth of time that a step takes in the long run, where micro-batches of `sizes` sequences go round.

    A stage takes (weights, rows, cache): bytes that a pass reads once, and for each of its sequences. It works on one
    micro-batch at a time, first come first served; a micro-batch starts its next token when it leaves the last stage.
    """
    free = [Fraction(0)] * len(stages)
    ready = [Fraction(0)] * len(sizes)
    ended = []
    for _ in range(ROUNDS):
        for index, size in enumerate(sizes):
            at = ready[index]
            for stage, (weights, row, cache) in enumerate(stages):
                at = free[stage] = max(at, free[stage]) + weights + size * (row + cache)
            ready[index] = at
        ended.append(max(ready))
    return (ended[-1] - ended[ROUNDS // 2 - 1]) / (ROUNDS - ROUNDS // 2)


def stages_of(counts: Sequence[int], tokens: int) -> list[tuple[int, int, int]]:
    """Stages of so many layers each, with the embedding before the first and the output matrix after the last."""
    last = len(counts) - 1
    return [
        (count * LAYER + HEAD * (i == last), ROW * (i == 0), count * TOKEN * tokens) for i, count in enumerate(counts)
    ]


def splits(batch: int, seed: int) -> list[list[int]]:
    """Ways to cut a batch: every number of about equal micro-batches, and some unequal ones."""
    even = [[batch // m + (i < batch % m) for i in range(m)] for m in range(1, batch + 1)]
    rng = random.Random(seed)
    cuts = [
        sorted(rng.sample(range(1, batch), rng.randint(1, min(batch - 1, 12)))) for _ in range(8 if batch > 1 else 0)
    ]
    return even + [[b - a for a, b in zip([0, *cut], [*cut, batch], strict=True)] for cut in cuts]


@pytest.mark.parametrize(
    ("pp", "batch", "tokens"),
    [(8, 9, 30_000), (4, 3, 8192), (2, 7, 100), (5, 1, 8192), pytest.param(8, 64, 8192, marks=pytest.mark.thorough)],
)
def test_no_schedule_is_faster_than_the_bound(pp: int, batch: int, tokens: int) -> None:
    gpu = "H100" if pp > 2 else "H200"
    bound = decode_bound("Llama-3 70B", tokens, batch, gpu, Setup(options=KvOptions(pp=pp)))
    least = bound.seconds * bound.use.gpu.bandwidth
    each, more = divmod(LAYERS, pp)
    layouts = [[each + (i < more) for i in range(pp)], [each] * (pp - 1) + [LAYERS - each * (pp - 1)]]
    layouts.append([each + more + pp - 1, *[each - 1] * (pp - 1)])
    found = []
    for counts in layouts:
        stages = stages_of(counts, tokens)
        found.append(min(step_time(sizes, stages) for sizes in splits(batch, pp)))
        assert found[-1] >= least, (counts, float(found[-1] / least))
    # The best way found comes near it, so that the bound says something.
    assert found[0] < Fraction(4, 3) * least


def test_even_stages_reach_the_bound() -> None:
    """What every stage reads alike, with as many micro-batches as stages: the formula itself, W + C / pp."""
    stages = [(1000, 0, 70)] * 8
    assert step_time([8] * 8, stages) == 8 * 1000 + Fraction(64 * 8 * 70, 8)
    assert min(step_time(sizes, stages) for sizes in splits(64, 0)) == 8 * 1000 + Fraction(64 * 8 * 70, 8)


def test_llama_3_70b_in_eight_stages() -> None:
    bound = decode_bound("Llama-3 70B", 8192, 64, "H100", Setup(options=KvOptions(pp=8)))
    weights, cache = LAYERS * LAYER + HEAD + 8 * ROW, 64 * 8192 * LAYERS * TOKEN
    assert (bound.weight_bytes, bound.cache_bytes, bound.micro_batches) == (weights, cache, 8)
    assert bound.seconds == (weights + Fraction(cache, 8)) / BANDWIDTH
    assert round(bound.batch_tokens_per_second) == 1336
    assert bound.tokens_per_second == pytest.approx(1336 / 64, abs=0.01)


def test_drafting_adds_tokens_to_a_step_not_bytes_to_the_bound() -> None:
    """The bound is of the model's own step: a draft model or MTP must fit, and changes no figure."""
    alone, drafted = (
        decode_bound("Llama-3 8B", 8192, 4, "H100", Setup(options=KvOptions(draft=draft)))
        for draft in (None, "Llama-3.2 1B")
    )
    assert alone.seconds == drafted.seconds
