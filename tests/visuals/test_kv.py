"""The KV cache's messages and charts: numbers by hand, and figures that say what they draw."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from app.remarks import in_languages
from model import catalogue, kv_cache_bytes, spec_from_config
from model.errors import GlassLlamaError
from model.kv_math import KvOptions, kv_breakdown
from model.kv_math.formats import FORMATS, kv_format
from model.kv_math.memory import Setup, gpus_needed, largest_batch, memory_use
from model.kv_math.speed import decode_bound
from model.kv_math.weights import AS_CONFIG
from model.published.hf import FAMILIES
from model.published.parameters import parameter_count
from visuals import kv, kv_charts, kv_fit
from visuals.payload import unpack

LLAMA = "Llama-3 8B"
MIXED = "Gemma-3 12B (text)"
MLA = "DeepSeek-V3"
CONFIG = {
    "model_type": "llama",
    "num_hidden_layers": 3,
    "hidden_size": 48,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "intermediate_size": 80,
    "vocab_size": 320,
    "max_position_embeddings": 128,
}


def question(*names: str, tokens: int = 8192, options: KvOptions | None = None) -> kv_charts.Question:
    specs = [catalogue()[name] for name in names]
    return kv_charts.question(specs, tokens, 1, "bf16", options or KvOptions())


def test_a_breakdown_is_the_sum_of_its_products():
    message = kv.breakdown_message(kv_breakdown(MIXED, 32_768, 4))
    products = [int(np.prod([f["value"] for f in term["factors"]], dtype=object)) for term in message["terms"]]
    assert products == [int(term["bytes"]) for term in message["terms"]]
    # 8 full layers, 40 that keep 1,024 tokens; 8 K/V heads of 256.
    assert products == [8 * 4 * 32_768 * 8 * 2 * 256 * 2, 40 * 4 * 1024 * 8 * 2 * 256 * 2]
    assert int(message["bytes"]) == sum(products)
    json.dumps(message)


def test_the_layers_of_each_stage_are_told():
    message = kv.breakdown_message(kv_breakdown("DeepSeek-V3", 8192, options=KvOptions(tp=8, pp=2)))
    assert (message["tp"], message["pp"], message["stage_layers"]) == (8, 2, [31, 30])
    assert int(message["per_gpu"]) == 31 * (512 + 64) * 2 * 8192


def test_a_cache_that_ranks_keep_whole_is_told_as_so_many_copies():
    def told(name: str, **options: Any) -> tuple[int, int, int]:
        message = kv.breakdown_message(kv_breakdown(name, 8192, dtype="fp8", options=KvOptions(**options)))
        return message["copies"], int(message["bytes"]), int(message["per_token"])

    latent = 61 * (512 + 64)
    assert told("DeepSeek-V3", tp=8, pp=2) == (8, 8 * latent * 8192, 8 * latent)
    assert told("DeepSeek-V3", tp=8, dcp=4) == (2, 2 * latent * 8192, 2 * latent)
    assert told("DeepSeek-V3", tp=8, draft=LLAMA)[0] == 1  # its heads are split
    assert told(LLAMA, tp=8)[0] == 1


def test_what_a_token_adds_before_and_after_the_window_is_full():
    gemma = kv.breakdown_message(kv_breakdown(MIXED, 8192))["growth"]
    products = [[[f["value"] for f in one["factors"]] for one in phase["terms"]] for phase in gemma["phases"]]
    # Of 48 layers every sixth sees all tokens; 8 K/V heads, K and V of 256 numbers of 2 bytes.
    assert products == [[[8, 8, 2, 256, 2], [40, 8, 2, 256, 2]], [[8, 8, 2, 256, 2]]]
    assert [[one["bytes"] for one in phase["terms"]] for phase in gemma["phases"]] == [["65536", "327680"], ["65536"]]
    assert (gemma["kind"], [phase["until"] for phase in gemma["phases"]]) == ("sliding", [1024, None])
    json.dumps(gemma)
    scout = kv.breakdown_message(kv_breakdown("Llama-4 Scout 17B-16E (text)", 8192))["growth"]
    assert (scout["kind"], scout["phases"][0]["until"]) == ("chunked", 8192)
    assert kv.breakdown_message(kv_breakdown(LLAMA, 8192))["growth"] is None
    assert kv.breakdown_message(kv_breakdown(MIXED, 8192, options=KvOptions(window="off")))["growth"] is None


def test_where_no_source_says_how_the_files_are_stored_that_is_told():
    def unknown(name: str, weights: str = AS_CONFIG) -> bool:
        return kv_fit.use_message(memory_use(name, setup=Setup(weights=weights)), in_languages)["format_unknown"]

    assert unknown(LLAMA)
    given = memory_use(LLAMA, setup=Setup(weights=AS_CONFIG, weight_bytes=10**10))
    assert not given.format_unknown  # the files' own bytes count
    assert not unknown(LLAMA, "bf16")  # the reader's own choice
    assert not unknown("DeepSeek-V3.2-Exp")  # fp8


@pytest.mark.parametrize(
    ("named", "stored", "size"),
    [
        ({"torch_dtype": "bfloat16"}, "bf16", 2),
        ({"dtype": "float16"}, "fp16", 2),
        ({"text_config": {"torch_dtype": "float32"}}, "fp32", 4),
    ],
)
def test_a_number_type_that_the_config_names_is_the_weights(named: dict, stored: str, size: int) -> None:
    shape = {"num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4, "intermediate_size": 128}
    spec = spec_from_config({"model_type": "llama", "vocab_size": 100, **shape, **named}, "Own")
    told = kv_fit.use_message(memory_use(spec, 16, setup=Setup(weights=AS_CONFIG)), in_languages)
    assert (told["format_unknown"], told["weights_in"]) == (False, stored)
    assert int(told["all_weights"]) == size * parameter_count(spec)
    assert len(told["stored"]) == 1
    (note,) = told["stored"]
    assert note["en"].startswith(f"config.json names {spec.number_type}. ")
    assert note["zh"].startswith(f"config.json 写明 {spec.number_type}。")
    given = memory_use(spec, 16, setup=Setup(weights=AS_CONFIG, weight_bytes=10**5))
    assert kv_fit.use_message(given, in_languages)["stored"] == []  # the bytes decide, not what the config names


def test_room_says_of_how_many_ranks_it_is():
    need = kv_fit.needs_message(gpus_needed(LLAMA, 1, 8192, ["H100"]), Setup(), in_languages)["gpus"][0]
    alone = memory_use(LLAMA, 8192, 1, "H100")
    # At TP 8 the widest activations are shared by eight; the panel above is of one GPU.
    assert (need["room_tp"], int(need["alone"])) == (8, alone.usable_bytes)
    assert int(need["room"]) - int(need["alone"]) == 8192 * 3 * (14_336 - 14_336 // 8) * 2


def test_bars_beyond_a_models_context_are_marked():
    figure, _ = kv_charts.stack_figure(question(LLAMA, "Llama-2 7B", tokens=8192), "gib", weights=False)
    order, bars = figure["data"]
    assert order["tokens"] == [2048, 2048, 8192, 8192, 32_768, 32_768]
    assert order["models"] == [LLAMA, "Llama-2 7B"] * 3
    assert len(set(order["x"][1])) == 6  # a name of its own for every bar, or plotly puts it where the name was before
    assert set(zip(*bars["x"], strict=True)) <= set(zip(*order["x"], strict=True))
    marked = {(bars["models"][i], bars["tokens"][i]): own for i, own in enumerate(bars["contexts"]) if own}
    beyond_llama_2 = {("Llama-2 7B", tokens): 4096 for tokens in (8192, 32_768)}
    assert marked == beyond_llama_2 | {(LLAMA, 32_768): 8192}
    assert ["†" in name for name in bars["x"][1]] == [own is not None for own in bars["contexts"]]
    assert {text for text, own in zip(bars["hovertemplate"], bars["contexts"], strict=True) if own} == {
        "text:kv-chart.hover_beyond"
    }


def test_a_long_name_under_a_bar_is_broken_at_its_hyphens():
    figure, _ = kv_charts.stack_figure(question("DeepSeek-V3", LLAMA, tokens=131_072), "gib", weights=False)
    names = {name.rstrip("\u200b") for bars in figure["data"] for name in bars["x"][1]}
    assert names == {"DeepSeek-<br>V3", "DeepSeek-<br>V3 †", "Llama-3<br>8B †"}


def test_factors_carry_codes_and_no_words():
    factors = kv.breakdown_message(kv_breakdown(MLA, 100, options=KvOptions(tp=4)))["terms"][0]["factors"]
    assert [f["code"] for f in factors] == [
        "layers",
        "sequences",
        "tokens",
        "ranks_each_with_all_of_it",
        "latent_rope_key",
        "bytes",
    ]
    assert factors[-1]["params"] == {"format": "bf16"}
    assert factors[-2]["how"] == "512 + 64"
    for dcp, copies in ((1, 8), (4, 2), (8, 1)):
        assert kv.breakdown_message(kv_breakdown(MLA, 100, options=KvOptions(tp=8, dcp=dcp)))["copies"] == copies
    shared = kv_breakdown(LLAMA, 100, 3, options=KvOptions(shared_prefix=40))
    count = kv.breakdown_message(shared)["terms"][0]["factors"][1]
    assert count["value"] == 40 + 3 * 60
    assert count["how"] == {"code": "shared", "params": {"shared": "40", "sequences": "3", "each": "60"}}


def test_the_four_kinds_of_one_shape():
    rows = {row["kind"]: row for row in kv.kinds_message(catalogue()[LLAMA], 1024, 2, "bf16")}
    per = 32 * 2 * 1024 * 2  # layers, batch, tokens, bytes of a number
    assert {kind: int(row["bytes"]) for kind, row in rows.items()} == {
        "MHA": per * 32 * 2 * 128,
        "GQA": per * 8 * 2 * 128,
        "MQA": per * 1 * 2 * 128,
        "MLA": per * (4 * 128 + 128 // 2),
    }
    assert [kind for kind, row in rows.items() if row["own"]] == ["GQA"]
    assert rows["MLA"]["assumed"]
    assert rows["MLA"]["latent"] == [512, 64]


def test_a_kind_that_a_format_does_not_fit_says_so():
    rows = {row["kind"]: row for row in kv.kinds_message(catalogue()[MLA], 64, 1, "fp8_ds_mla")}
    assert int(rows["MLA"]["bytes"]) == 61 * 64 * 656
    assert not rows["MLA"]["assumed"]
    assert "fp8_ds_mla" in rows["MHA"]["refused"]["params"]["detail"]
    assert "bytes" not in rows["MHA"]


def test_the_live_message_counts_a_run_of_the_running_model():
    spec = spec_from_config(CONFIG)
    norms = np.arange(3 * 5, dtype=np.float32).reshape(3, 5)
    message = kv.live_message(spec, "bf16", 5, 3 * 5 * 2 * 2 * 8 * 2, norms, norms + 1)
    assert message["dtype"] == "bf16"
    assert int(message["formula"]) == message["bytes"]
    np.testing.assert_array_equal(unpack(message["v_norm"]), norms + 1)
    own = next(row for row in message["kinds"] if row["own"])
    assert own["kind"] == "GQA"
    assert int(own["bytes"]) * 5 == message["bytes"]


def checked(figure: dict[str, Any]) -> dict[str, Any]:
    """The layout as plotly's own classes read the figure, which refuse unknown fields; heights as the page has them."""
    data = [
        {name: value for name, value in trace.items() if name not in ("models", "tokens", "bytes", "contexts")}
        | {"y": [int(count) / figure["unit"] for count in trace["bytes"]]}
        for trace in figure["data"]
    ]
    return go.Figure({"data": data, "layout": figure["layout"]}).to_plotly_json()["layout"]


@pytest.mark.parametrize("name", [LLAMA, MIXED, MLA, "T5-large (v1.0)", "DeepSeek-V3.2-Exp"])
def test_lines_pass_through_the_exact_bytes(name):
    figure, excluded = kv_charts.lines_figure(question(name, tokens=700), "gb", True, False)
    assert excluded == []
    line, mark = figure["data"]
    assert line["x"] == line["tokens"] == sorted(line["x"])
    assert mark["x"] == mark["tokens"] == [700]
    assert figure["unit"] == 10**9
    for tokens, count in zip(line["tokens"] + mark["tokens"], line["bytes"] + mark["bytes"], strict=True):
        assert int(count) == kv_cache_bytes(name, tokens)
    layout = checked(figure)
    assert layout["xaxis"]["type"] == "log"
    assert layout["yaxis"]["type"] == "linear"
    assert layout["yaxis"]["title"]["text"] == "text:kv-chart.bytes_gb"


def test_a_line_ends_at_the_models_context_but_reaches_what_is_asked():
    series, _ = kv_charts.line_series(question(LLAMA, "Llama-2 7B", tokens=20_000))
    assert [one.points[-1].tokens for one in series] == [20_000, 4096]


def test_models_that_the_format_does_not_fit_are_named_and_the_first_one_refused():
    specs = [catalogue()[MLA], catalogue()[LLAMA]]
    asked = kv_charts.question(specs, 4096, 1, "fp8_ds_mla", KvOptions())
    series, excluded = kv_charts.line_series(asked)
    assert [one.name for one in series] == [MLA]
    assert excluded == kv_charts.stack_figure(asked, "gib", False)[1]
    assert [(one["model"], one["refused"]["params"]["field"]) for one in excluded] == [(LLAMA, "dtype")]
    with pytest.raises(GlassLlamaError):
        kv_charts.question(specs[::-1], 4096, 1, "fp8_ds_mla", KvOptions())


@pytest.mark.parametrize("first", ["DeepSeek-V3", "Gemma-3 27B (text)"])
def test_every_line_is_drawn_for_as_many_gpus_and_with_the_same_pages(first):
    # One token's numbers of 2 bytes, over 8 ranks: a latent of 512 and a RoPE key of 64 on each; heads are not copied.
    each = {
        "DeepSeek-V3": 8 * 61 * (512 + 64) * 2,
        "Gemma-3 27B (text)": 62 * 16 * 2 * 128 * 2,
        "Llama-2 7B": 32 * 32 * 2 * 128 * 2,
    }
    names = sorted(each, key=lambda name: name != first)
    series, excluded = kv_charts.line_series(question(*names, options=KvOptions(tp=8, pp=2, block_size=256)))
    assert excluded == []
    short = {one.name: point.bytes for one in series for point in one.points if point.tokens == 181}
    assert short == {name: 256 * count for name, count in each.items()}  # a page


def test_what_only_the_chosen_model_has_does_not_exclude_the_others():
    options = KvOptions(mtp=True, layout="expanded_mla", draft="Llama-3.2 1B", window="ideal")
    series, excluded = kv_charts.line_series(question("DeepSeek-V3", LLAMA, options=options))
    assert excluded == []
    assert series[1].points[-1].bytes == 32 * 8192 * 2 * 8 * 128 * 2


def test_a_model_whose_heads_the_ranks_do_not_divide_is_named_with_the_calculators_reason():
    asked = question(LLAMA, "Qwen2.5-7B", options=KvOptions(tp=8))  # 28 heads
    for excluded in (kv_charts.line_series(asked)[1], kv_charts.stack_figure(asked, "gib", False)[1]):
        [one] = excluded
        with pytest.raises(GlassLlamaError) as refused:
            kv_breakdown("Qwen2.5-7B", 8192, options=KvOptions(tp=8))
        assert one == {"model": "Qwen2.5-7B", "refused": kv.refused_message(refused.value)}


def test_lines_of_reserved_tokens_end_where_the_reservation_does():
    series, excluded = kv_charts.line_series(question(LLAMA, MLA, tokens=5000, options=KvOptions(reserved_tokens=6000)))
    assert excluded == []
    assert [one.points[-1].tokens for one in series] == [6000, 6000]
    assert {point.bytes for point in series[0].points} == {32 * 6000 * 2 * 8 * 128 * 2}


def test_stacks_add_up_to_the_cache_and_the_weights():
    figure, _ = kv_charts.stack_figure(question(MIXED, LLAMA), "gib", weights=True)
    sums: dict[tuple[str, int], int] = {}
    for bar in figure["data"]:
        for name, tokens, count in zip(bar["models"], bar["tokens"], bar["bytes"], strict=True):
            sums[name, tokens] = sums.get((name, tokens), 0) + int(count)
    assert {tokens for _, tokens in sums} == {2048, 8192, 32_768}
    # 8,030,261,248 weights of 2 bytes, as published by Meta.
    assert sums[LLAMA, 8192] == kv_cache_bytes(LLAMA, 8192) + 2 * 8_030_261_248
    assert sums[MIXED, 2048] - sums[MIXED, 8192] == kv_cache_bytes(MIXED, 2048) - kv_cache_bytes(MIXED, 8192)
    few, _ = kv_charts.stack_figure(question(MIXED), "gb", weights=False, few=True)
    assert {tokens for bar in few["data"] for tokens in bar["tokens"]} == {8192}
    assert checked(figure)["barmode"] == "stack"


def test_a_draft_models_cache_is_one_part_of_the_stack():
    asked = question(LLAMA, options=KvOptions(draft=MIXED))
    figure, _ = kv_charts.stack_figure(asked, "gib", weights=False, few=True)
    parts = {bar["name"]: [int(count) for count in bar["bytes"]] for bar in figure["data"][1:]}
    # At 8,192 tokens Llama-3 8B takes 1 GiB; Gemma's 8 full layers and its 40 with windows, 832 MiB.
    assert parts == {"text:kv.stack_self_full_kv": [2**30], "text:kv.stack_draft_cache": [832 * 2**20]}


def test_a_draft_models_weights_are_a_part_of_the_stack_with_weights():
    names = (MLA, LLAMA)
    asked = question(*names, options=KvOptions(draft="Llama-3.2 1B", mtp=True))
    figure, _ = kv_charts.stack_figure(asked, "gib", weights=True, few=True)
    parts = {bar["name"]: dict(zip(bar["models"], map(int, bar["bytes"]), strict=True)) for bar in figure["data"][1:]}
    # Meta publishes 1,235,814,400 weights. It drafts for the first model alone.
    assert parts["text:kv.stack_draft_weights"] == {MLA: 2 * 1_235_814_400}
    # DeepSeek-V3's 671,026,419,200 weights and its MTP layer's, whose cache is counted too; 16 bits each.
    layer = parts["text:kv.stack_own_weights"][MLA] / 2 - 671_026_419_200
    assert layer / 1e9 == pytest.approx(11.6, abs=0.05)
    assert parts["text:kv.stack_own_weights"][LLAMA] == 2 * 8_030_261_248
    for bar in figure["data"][1:3]:  # at the bottom, the one on the other
        assert "weights" in bar["name"]
    without, _ = kv_charts.stack_figure(asked, "gib", weights=False, few=True)
    assert not [bar for bar in without["data"][1:] if "weights" in bar["name"]]


def test_every_model_can_draft_with_its_weights():
    for name, spec in catalogue().items():
        if not spec.is_encoder_decoder:
            asked = question(LLAMA, tokens=64, options=KvOptions(draft=name))
            figure, _ = kv_charts.stack_figure(asked, "gib", weights=True, few=True)
            (drafts,) = [bar["bytes"] for bar in figure["data"][1:] if bar["name"] == "text:kv.stack_draft_weights"]
            assert drafts == [str(2 * parameter_count(spec))]


def test_markup_in_a_models_name_is_text_wherever_plotly_writes_it():
    """Of a figure plotly writes the axes, and by the pointer what the texts' templates name."""
    name, written = "<b>A</b> &amp; B<br>", "&lt;b&gt;A&lt;/b&gt; &amp;amp; B&lt;br&gt;"
    asked = kv_charts.question([replace(catalogue()[LLAMA], name=name)], 8192, 1, "bf16", KvOptions())
    lines, _ = kv_charts.lines_figure(asked, "gib", True, True)
    stack, _ = kv_charts.stack_figure(asked, "gib", weights=True)
    for trace in (*lines["data"], *stack["data"]):
        checked({"data": [trace], "layout": {}, "unit": 1})
        assert set(trace["models"]) == {name}  # what a click asks about
        assert trace["hovertext"] == [written] * len(trace["models"])
    for trace in stack["data"]:
        names = {place.rstrip("\u200b").removesuffix(" †") for place in trace["x"][1]}
        assert names == {written.replace(" ", "<br>")}
    for language in ("en", "zh"):
        words = json.loads((Path("app") / f"{language}.on-demand.json").read_text(encoding="utf-8"))["kv-chart"]
        for template in (words["hover"], words["hover_beyond"]):
            assert template.startswith("%{hovertext}<br>")
            assert "customdata[0]" not in template


def test_figures_hold_no_colour_or_word_of_their_own():
    figures = [
        kv_charts.lines_figure(question(LLAMA, MLA), "gib", False, True)[0],
        kv_charts.stack_figure(question(MIXED), "gib", True)[0],
    ]
    for figure in figures:
        text = json.dumps(figure)
        assert not re.search(r"#[0-9a-fA-F]{6}", text)
        assert "text:kv-chart.hover" in text
        checked(figure)


def test_contexts_are_powers_of_two_and_their_halfway_points():
    assert kv_charts.contexts(2048) == [128, 181, 256, 362, 512, 724, 1024, 1448, 2048]


def test_fit_messages_are_the_sums():
    share = Setup(usable_percent=90)
    use = memory_use(LLAMA, 8192, 4, "L40S 48 GB", share)
    message = kv_fit.use_message(use, in_languages)
    assert message["fits"] is True
    assert int(message["weights"]) + int(message["cache"]) + int(message["free"]) == (46_068 << 20) * 9 // 10
    assert sum(int(term["bytes"]) for term in message["weight_terms"]) == 2 * 8_030_261_248
    found = kv_fit.largest_message(largest_batch(LLAMA, 8192, "L40S 48 GB", share))
    # (46,068 MiB × 90 % - 16,060,522,496) / 2^30 = 25.5 sequences
    assert found["value"] == 25
    assert int(found["next"]) == 2 * 8_030_261_248 + 26 * 2**30
    bound = kv_fit.bound_message(decode_bound(LLAMA, 8192, 1, "H100 80 GB"))
    assert bound["milliseconds"] == pytest.approx((int(bound["weights"]) + int(bound["cache"])) / 3.35e9)
    staged = kv_fit.bound_message(decode_bound(LLAMA, 8192, 6, "H100 80 GB", Setup(options=KvOptions(pp=4, tp=2))))
    read = int(staged["weights"]) + int(staged["cache"]) / staged["micro_batches"]
    assert (staged["micro_batches"], staged["ranks"]) == (4, 2)
    assert staged["milliseconds"] == pytest.approx(read / (staged["ranks"] * 3.35e9))
    assert staged["each"] == pytest.approx(1000 / staged["milliseconds"])


def test_what_a_load_needs():
    setup = Setup(usable_percent=90)
    needs = kv_fit.needs_message(gpus_needed(LLAMA, 64, 32_768, ["H100 80 GB"], setup), setup, in_languages)
    assert int(needs["cache"]) == 64 * 32_768 * 131_072
    assert needs["gpus"][0]["at_least"] == -(-int(needs["total"]) // ((81_559 << 20) * 9 // 10))
    assert needs["gpus"][0]["layout"]["gpus"] >= needs["gpus"][0]["at_least"]
    # What a class compares in the lesson: the sum, and what of a card's memory is for weights and cache.
    load = kv_fit.needs_message(gpus_needed(LLAMA, 64, 8192), Setup(), in_languages)
    for gpu in load["gpus"]:
        assert 0 < int(gpu["alone"]) < int(gpu["memory"])
        assert gpu["layout"]
        assert (gpu["layout"]["gpus"] == 1) == (int(load["total"]) <= int(gpu["alone"])), gpu["name"]


def test_a_question_without_an_answer_says_why():
    setup = Setup(options=KvOptions(reserved_batch=8))
    message = kv_fit.message_or_reason(lambda: largest_batch(LLAMA, 64, "H100 80 GB", setup), kv_fit.largest_message)
    assert message["refused"]["params"]["field"] == "reserved_batch"


def test_every_model_and_format_is_offered():
    message = kv.models_message(in_languages)
    assert [card["name"] for card in message["models"]] == list(catalogue())
    assert [fmt["name"] for fmt in message["formats"]] == list(FORMATS)
    assert {part for pair in message["pairs"] for part in (pair["k"], pair["v"])} < set(FORMATS)
    for pair in message["pairs"]:
        fmt = kv_format(pair["name"])
        assert (fmt.of_k.name, fmt.of_v.name) == (pair["k"], pair["v"])
        assert pair["k"] != pair["v"]
    assert sorted(message["families"]) == sorted(FAMILIES)
    told = {card["name"]: (card["parameters"], card["published"]) for card in message["models"]}
    assert told["Llama-3 8B"][0] == 8_030_261_248
    assert told["LLaMA-1 7B"] == (6_738_415_616, {"total": 6_700_000_000, "exact": False, "active": None})
    options = {card["name"]: card["options"] for card in message["models"]}
    assert options["Llama-2 7B"] == []
    assert "encoder_tokens" in options["T5-large (v1.0)"]
    assert "window" in options[MIXED]
    assert "indexer" in options["DeepSeek-V3.2-Exp"]
