"""What one more token adds before and after a window is full: numbers by hand, and differences of whole caches."""

from itertools import pairwise
from typing import Any

import pytest

from model.kv_math import KvOptions, kv_bytes_per_token, kv_cache_bytes
from model.kv_math.growth import kv_growth
from model.published.catalogue import catalogue

MISTRAL, GEMMA, SCOUT = "Mistral-7B v0.1", "Gemma-3 12B (text)", "Llama-4 Scout 17B-16E (text)"


@pytest.mark.parametrize(
    ("name", "options", "phases"),
    [
        # 32 layers, 8 K/V heads, K and V of 128 numbers of 2 bytes; every layer keeps 4,096 tokens.
        (MISTRAL, {}, [(4096, [[32, 8, 2, 128, 2]], 131_072), (None, [], 0)]),
        (MISTRAL, {"window": "transformers"}, [(4095, [[32, 8, 2, 128, 2]], 131_072), (None, [], 0)]),
        # vLLM keeps W - 1 past tokens and the batch that it schedules: 4,095 + 2,048.
        (MISTRAL, {"window": "vllm", "batched_tokens": 2048},
         [(6143, [[32, 8, 2, 128, 2]], 131_072), (None, [], 0)]),
        (MISTRAL, {"window": "off"}, [(None, [[32, 8, 2, 128, 2]], 131_072)]),
        # 48 layers, of which every sixth sees all tokens and 40 keep 1,024; 8 K/V heads of 256.
        (GEMMA, {}, [(1024, [[8, 8, 2, 256, 2], [40, 8, 2, 256, 2]], 393_216), (None, [[8, 8, 2, 256, 2]], 65_536)]),
        # 48 layers, of which every fourth sees all tokens and 36 attend within chunks of 8,192; 8 K/V heads of 128.
        (SCOUT, {}, [(8192, [[12, 8, 2, 128, 2], [36, 8, 2, 128, 2]], 196_608), (None, [[12, 8, 2, 128, 2]], 49_152)]),
        (SCOUT, {"window": "vllm", "batched_tokens": 2048},
         [(10_240, [[12, 8, 2, 128, 2], [36, 8, 2, 128, 2]], 196_608), (None, [[12, 8, 2, 128, 2]], 49_152)]),
        ("Llama-3 8B", {}, [(None, [[32, 8, 2, 128, 2]], 131_072)]),
        # Mistral drafts for Gemma: its window is full later.
        (GEMMA, {"draft": MISTRAL},
         [(1024, [[8, 8, 2, 256, 2], [40, 8, 2, 256, 2], [32, 8, 2, 128, 2]], 524_288),
          (4096, [[8, 8, 2, 256, 2], [32, 8, 2, 128, 2]], 196_608), (None, [[8, 8, 2, 256, 2]], 65_536)]),
    ],
)  # fmt: skip
def test_phases_by_hand(name: str, options: dict[str, Any], phases: list[Any]) -> None:
    found = kv_growth(name, options=KvOptions(**options))
    products = [
        [[factor.value for factor in term.factors if factor.code not in ("sequences", "tokens")] for term in one.terms]
        for one in found
    ]
    assert [(one.until, values, one.bytes) for one, values in zip(found, products, strict=True)] == phases


@pytest.mark.parametrize("name", list(catalogue()))
@pytest.mark.parametrize(
    "options",
    [{}, {"window": "transformers"}, {"window": "vllm", "batched_tokens": 500}, {"draft": GEMMA}],
    ids=["ideal", "transformers", "vllm", "draft"],
)
def test_a_cache_grows_by_each_phases_bytes(name: str, options: dict[str, Any]) -> None:
    kept = KvOptions(**options, encoder_tokens=7 if catalogue()[name].is_encoder_decoder else None)
    phases = kv_growth(name, options=kept)
    assert phases[0].bytes == kv_bytes_per_token(name, options=kept)
    for phase, following in pairwise(phases):
        assert phase.until is not None
        sizes = [kv_cache_bytes(name, phase.until + i, options=kept) for i in (-1, 0, 1)]
        assert [sizes[1] - sizes[0], sizes[2] - sizes[1]] == [phase.bytes, following.bytes]
    sizes = [kv_cache_bytes(name, tokens, options=kept) for tokens in (99_999, 100_000)]
    assert sizes[1] - sizes[0] == phases[-1].bytes
