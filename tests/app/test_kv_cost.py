"""What a question about any pasted model costs the server, and that layers counted together give what each gives alone.

The worst that were found: a thousand layers, each of another kind than its neighbours.
`python -m tests.app.test_kv_cost` prints the table.
"""

import json
import random
from collections.abc import Callable, Iterator
from functools import _lru_cache_wrapper, partial
from gc import get_objects
from time import thread_time
from typing import Any

import pytest

from app.chapters import CALCULATORS
from app.endpoints import kv_cache
from model import GlassLlamaError, ModelSpec, catalogue
from model.kv_math import KvBreakdown, KvOptions, kv_breakdown
from model.kv_math.memory import Setup, fewest_stages, memory_use
from model.kv_math.weights import WeightBreakdown, weight_breakdown
from model.published.hf.attention import shortest
from model.published.hf.fields import MAX_LAYERS
from model.published.hf.sharing import MOST_WIDTHS
from model.published.hf_spec import spec_from_config, spec_from_text
from model.published.spec import ModelSpec as Spec

NOBODY: Any = None  # these calculators ask no engine
SECONDS = 3.0  # of processor, for what takes at most one here: a machine may be slower, and others run beside the test
SIZES = {"num_hidden_layers": MAX_LAYERS, "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8}
SIZES |= {"intermediate_size": 11008, "vocab_size": 32000, "max_position_embeddings": 10**8}
MIXED: dict[str, Any] = {"use_sliding_window": True, "sliding_window": 4096}


def worst() -> dict[str, dict[str, Any]]:
    """Configs whose layers follow no rule, by what they are."""
    chance = random.Random(7)

    def draw(*among: Any) -> list[Any]:
        return [chance.choice(among) for _ in range(MAX_LAYERS)]

    gemma = {"model_type": "gemma3n_text", "num_hidden_layers": MAX_LAYERS, "hidden_size": 64,
             "num_kv_shared_layers": 0, "layer_types": draw("full_attention", "sliding_attention")}  # fmt: skip
    moe = {"n_routed_experts": 256, "num_experts_per_tok": 8, "moe_intermediate_size": 2048}
    mla = {**moe, "kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128}
    v4 = {"head_dim": 512, "sliding_window": 128, "compress_ratios": draw(0, 4, 128), "index_n_heads": 64,
          "hc_mult": 4, "index_head_dim": 128, "index_topk": 512, "q_lora_rank": 1024, "o_groups": 8,
          "o_lora_rank": 1024}  # fmt: skip
    return {
        "a kind and a width a layer": {**gemma, "intermediate_size": draw(*range(999, 999 + MOST_WIDTHS))},
        "heavy layers here and there": {**gemma, "intermediate_size": draw(1, 2, 3, 10**7, 10**7 + 1)},
        "windows here and there": {
            "model_type": "qwen3", **SIZES, **MIXED, "layer_types": draw("full_attention", "sliding_attention"),
        },
        "three kinds of entries": {"model_type": "deepseek_v4", **SIZES, **moe, **v4, "num_key_value_heads": 1},
        "a thousand layers ahead": {"model_type": "deepseek_v3", **SIZES, **mla, "num_nextn_predict_layers": 1000},
    }  # fmt: skip


def questions(text: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What a visitor may ask of a pasted config, with settings that make it long."""
    own = {"model": ":config", "config": text, "gpu": ":gpu", "memory_gb": 24, "bandwidth_gb_per_s": 1}
    own |= {"weights": "q8_0" if "gemma" in text else "bf16", "mtp": True if "nextn" in text else None}
    for what, more in (("kv", {}), ("kv_chart", {"view": "stack", "weights": True}), ("kv_fit", {}), ("kv_needs", {}),
                       ("kv_fit", {"pp": 997}), ("kv_needs", {"users": 20_000})):  # fmt: skip
        yield f"{what} {more or ''}", partial(CALCULATORS[what], NOBODY, {**own, **more})
    for asked, along in (("kv", "tokens"), ("kv_chart", "batch"), ("kv_fit", "batch"), ("kv_needs", "users")):
        places = {"asked": asked, "along": along, "values": [1 + 37 * i for i in range(200)]}
        yield f"kv_places {asked}", partial(CALCULATORS["kv_places"], NOBODY, {**own, **places})
    yield "/kv_cache", partial(kv_cache, "", config=text, memory_gb=24, bandwidth_gb_per_s=1, weights=own["weights"])


def table() -> Iterator[tuple[str, str, float]]:
    """Each question about each config, and its seconds of processor, nothing being known from before."""
    for name, config in worst().items():
        for asked, ask in questions(json.dumps(config)):
            for kept in get_objects():
                if isinstance(kept, _lru_cache_wrapper) and (kept.__module__ or "").startswith(("model.kv", "app.")):
                    kept.cache_clear()
            start = thread_time()
            ask()
            yield name, asked, thread_time() - start


@pytest.mark.thorough
def test_no_question_takes_the_server_long() -> None:
    slow = [row for row in table() if row[2] > SECONDS]
    assert not slow


def test_places_that_would_take_too_long_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.chapters.kv.PLACES_SECONDS", 0)
    asked = {"model": "Llama-3 8B", "asked": "kv", "along": "tokens", "values": [1, 2, 3]}
    assert CALCULATORS["kv_places"](NOBODY, asked)["changes"] == [None]


def test_what_would_make_the_layers_too_many_is_refused() -> None:
    configs = worst()
    ahead = configs["a thousand layers ahead"] | {"num_nextn_predict_layers": 10**9}
    widths = configs["heavy layers here and there"] | {"intermediate_size": list(range(1, MAX_LAYERS + 1))}
    for config, expected in (
        (ahead, "num_nextn_predict_layers is 1000000000; expected a whole number from 1 to 1,000"),
        (widths, "expected at most 100 different widths"),
    ):
        with pytest.raises(GlassLlamaError, match=expected):
            spec_from_config(config)


def plain_weights(found: WeightBreakdown, pp: int) -> tuple[int, ...]:
    """Stage by stage, term by term: a stage with n of a term's layers holds its part of the bytes, rounded up."""
    stages, edges = [0] * pp, edges_of(found.spec, pp)
    for term in found.terms:
        each = term.rank_bytes(found.tp)
        if not term.layers or term.label.startswith("encoder"):
            tied = {0, pp - 1} if term.label == "embedding.tied" else {pp - 1 if term.part.last else 0}
            for stage in tied:
                stages[stage] += each
            continue
        for stage, (start, end) in enumerate(edges):
            count = sum(start <= layer < end for layer in term.layers)
            stages[stage] += -(-each * count // len(term.layers))
    return tuple(stages)


def plain_cache(found: KvBreakdown, pp: int) -> tuple[int, ...]:
    """Layer by layer."""
    stages, edges = [0] * pp, edges_of(found.spec, pp)
    for term in found.terms:
        each = term.bytes // len(term.layers) // found.options.tp
        for layer in term.layers:
            stage = pp - 1 if term.draft else next(i for i, (start, end) in enumerate(edges) if start <= layer < end)
            stages[stage] += each
    return tuple(stages)


def edges_of(spec: ModelSpec, pp: int) -> list[tuple[int, int]]:
    """The first layer of each stage, and the one after its last: a layer more from the second-last stage backwards."""
    each, more = divmod(spec.n_layers, pp)
    counts = [each + (pp - 1 - more <= stage < pp - 1) for stage in range(pp)]
    starts = [sum(counts[:stage]) for stage in range(pp)]
    return list(zip(starts, [*starts[1:], spec.n_layers + spec.mtp_layers], strict=True))


def small(config: dict[str, Any], n_layers: int) -> dict[str, Any]:
    lists = {name: value[:n_layers] for name, value in config.items() if isinstance(value, list)}
    lists |= {"num_nextn_predict_layers": 3} if "num_nextn_predict_layers" in config else {}
    return {**config, **lists, "num_hidden_layers": n_layers}


SPECS: dict[str, Spec] = {
    **{name: spec_from_config(small(config, 23)) for name, config in worst().items()},
    **{name: catalogue()[name] for name in ("Llama-3 8B", "DeepSeek-V3", "Gemma-2 9B", "T5-11B (v1.0)", "Falcon-7B")},
}


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize(("dtype", "tp"), [("bf16", 1), ("int4_g128", 1), ("bf16", 2), ("int8", 3)])
def test_stages_are_the_sum_over_their_layers(name: str, dtype: str, tp: int) -> None:
    spec, mtp = SPECS[name], SPECS[name].mtp_layers > 0
    try:
        weights = weight_breakdown(spec, dtype, None, tp, 1, mtp)
    except GlassLlamaError:  # blocks that do not divide a width
        return
    tp = tp if spec.n_heads % tp == 0 and (spec.n_kv_heads % tp == 0 or tp % spec.n_kv_heads == 0) else 1
    draft = "TinyLlama-1.1B" if tp < 3 else None
    cache = kv_breakdown(spec, 5000, 3, "fp8", KvOptions(tp=tp, mtp=mtp, draft=draft))
    for pp in range(1, spec.n_layers + 1):
        assert weights.in_stages(pp) == plain_weights(weights, pp)
        assert cache.in_stages(pp) == plain_cache(cache, pp)
    use = memory_use(spec, 5000, 3, "H100", Setup("fp8", dtype, options=cache.options))
    assert [use.fullest(pp) for pp in range(1, spec.n_layers + 1)] == [
        max(use.in_stages(pp)) for pp in range(1, spec.n_layers + 1)
    ]


@pytest.mark.parametrize("name", SPECS)
def test_the_fewest_stages_are_those_of_trying_each(name: str) -> None:
    use = memory_use(SPECS[name], 20_000, 7, "H100")
    n_layers, of_one = use.weights.spec.n_layers, max(use.in_stages(use.weights.spec.n_layers))
    chance = random.Random(name)
    for _ in range(40):
        usable = chance.randrange(of_one, 3 * of_one)
        tried = next(pp for pp in range(1, n_layers + 1) if max(use.in_stages(pp)) <= usable)
        assert fewest_stages(use, usable, n_layers, use.fullest) == tried
        assert fewest_stages(use, usable, tried - 1, use.fullest) is None


def test_the_shortest_run_is_that_of_trying_each_length() -> None:
    chance = random.Random(3)
    for _ in range(2000):
        kinds = tuple(chance.choices("ab", k=chance.randrange(1, 12)))
        lengths = range(1, len(kinds) + 1)
        right = next(n for n in lengths if all(kinds[i] == kinds[i % n] for i in range(len(kinds))))
        assert shortest(kinds) == kinds[:right]


def test_a_config_of_the_worst_kinds_is_read_at_once() -> None:
    start = thread_time()
    for config in worst().values():
        spec_from_text(json.dumps(config))
    assert thread_time() - start < SECONDS


if __name__ == "__main__":
    for row in table():
        print("{:32} {:42} {:6.2f} s".format(*row))
