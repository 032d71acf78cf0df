"""The named endpoints, called as programs call them."""

import json
import re
from pathlib import Path

import httpx
import numpy as np
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from app import endpoints
from app.engine import LocalEngine, Settings
from model.kv_math.gpus import GPUS, find_gpu

SHARE = {"usable_percent": 90}


@pytest.fixture(scope="module")
def client(site: str) -> Client:
    return Client(site, verbose=False)


def test_only_the_named_endpoints_are_public(client: Client) -> None:
    api = client.view_api(return_format="dict", print_info=False)
    assert set(api["named_endpoints"]) == {"/trace", "/generate", "/kv_cache"}
    assert not api["unnamed_endpoints"]


def test_trace(client: Client, engine: LocalEngine) -> None:
    answer = client.predict("The cat", api_name="/trace")
    trace = engine.trace("roomy", answer["token_ids"])
    np.testing.assert_allclose(answer["attn_norm_rms"], trace.attn_norm_rms, rtol=1e-6)
    np.testing.assert_allclose(answer["final_norm_rms"], trace.final_norm_rms, rtol=1e-6)
    assert answer["next"][0]["id"] == int(trace.logits.argmax())
    assert answer["model"]["device"] == "CPU"


def test_generate(client: Client, engine: LocalEngine) -> None:
    answer = client.predict("The cat", 6, 0.7, 10, 0.9, 5, api_name="/generate")
    steps = list(engine.generate("roomy", engine.encode("roomy", "The cat"), 6, Settings(0.7, 10, 0.9, 5)))
    assert [s["token_id"] for s in answer["steps"]] == [s.token_id for s in steps]
    assert answer["steps"][-1]["cache_bytes"] == steps[-1].cache_bytes
    assert answer["stop"] == steps[-1].stop


@pytest.mark.parametrize(
    ("prompt", "count", "says"),
    [("", 4, "empty"), ("\x00", 4, "U.0000"), ("a", 0, "max_new_tokens"), ("a", 9999, "256")],
)
def test_mistakes_are_explained(client: Client, prompt: str, count: int, says: str) -> None:
    with pytest.raises(AppError, match=says):
        client.predict(prompt, count, api_name="/generate")


def test_a_count_that_is_no_whole_number_is_refused_by_its_name(site: str) -> None:
    """Over plain HTTP, as gradio_client would say more of it than programs of other languages do."""
    http = httpx.Client(base_url=f"{site.rstrip('/')}/gradio_api/call/", timeout=60)
    for count in (2.9, None, "3", "many", True, [4], {"a": 4}):
        joined = http.post("generate", json={"data": ["The cat", count, 0, 0, 1, 0]})
        assert joined.status_code == 200
        with http.stream("GET", f"generate/{joined.json()['event_id']}") as told:
            lines = list(told.iter_lines())
        assert "event: complete" not in lines
        assert "event: error" in lines
        said = json.loads(next(line for line in lines if line.startswith("data: {")).removeprefix("data: "))
        assert re.match(r"max_new_tokens is .*; expected a whole number", said["error"]), (count, said)


def test_kv_cache(client: Client) -> None:
    answer = client.predict("Llama-2 7B", 1024, 16, "fp16", api_name="/kv_cache")
    assert answer["bytes"] == 8_589_934_592 == sum(product["bytes"] for product in answer["products"])
    assert answer["bytes_per_token"] == 524_288
    with pytest.raises(AppError, match="Llama-3 8B"):
        client.predict("Llama-3 8b", 1024, api_name="/kv_cache")


@pytest.mark.parametrize(
    ("name", "options", "filling", "full", "at"),
    [
        # 48 layers, of which every sixth sees all tokens and 40 keep 1,024; 8 K/V heads, K and V of 256, 2 bytes.
        ("Gemma-3 12B (text)", {}, 48 * 8 * 2 * 256 * 2, 8 * 8 * 2 * 256 * 2, 1024),
        ("Gemma-3 12B (text)", {"window": "off"}, 48 * 8 * 2 * 256 * 2, 48 * 8 * 2 * 256 * 2, None),
        # 32 layers of 8 K/V heads of 128, each keeping 4,096 tokens: later ones add nothing.
        ("Mistral-7B v0.1", {}, 32 * 8 * 2 * 128 * 2, 0, 4096),
        # The last window to be full is the draft model's.
        ("Gemma-3 12B (text)", {"draft": "Mistral-7B v0.1"}, 393_216 + 131_072, 65_536, 4096),
        # 32 layers of 32 heads of 128, no window.
        ("Llama-2 7B", {}, 32 * 32 * 2 * 128 * 2, 32 * 32 * 2 * 128 * 2, None),
    ],
)
def test_kv_cache_tells_what_a_token_adds_before_and_after_its_windows_are_full(
    client: Client, name: str, options: dict, filling: int, full: int, at: int | None
) -> None:
    answer = client.predict(name, 8192, options=options, api_name="/kv_cache")
    assert answer["bytes_per_token"] == filling
    assert answer["bytes_per_token_windows_full"] == full
    assert answer["windows_full_at"] == at
    later = client.predict(name, 8193, options=options, api_name="/kv_cache")
    assert later["bytes"] - answer["bytes"] == full


def test_kv_cache_of_a_pasted_config_on_a_gpu(client: Client) -> None:
    config = (Path(__file__).parents[1] / "model/published/hub_configs.json").read_text(encoding="utf-8")
    text = json.dumps(json.loads(config)["Llama-3 8B"])
    answer = client.predict("Mine", 8192, 1, "bf16", text, "H100", "bf16", **SHARE, api_name="/kv_cache")
    assert (answer["model"], answer["bytes"]) == ("Mine", 1_073_741_824)
    memory = answer["memory"]
    assert memory["weights_bytes"] == 16_060_522_496 == sum(product["bytes"] for product in memory["weights_products"])
    assert (memory["fits"], memory["largest_batch"], memory["largest_context"]) == (True, 56, 464_692)
    assert memory["tokens_per_second_at_most"] == pytest.approx(208.287, abs=0.001)
    assert {need["gpu"]: need["fits_on"] for need in memory["gpus_needed"]}["T4 16 GB"] == 2
    too_much = client.predict("Llama-3 70B", 8192, 64, "bf16", "", "T4", "bf16", **SHARE, api_name="/kv_cache")[
        "memory"
    ]
    assert (too_much["fits"], too_much["largest_batch"], too_much["tokens_per_second_at_most"]) == (False, 0, None)


def test_kv_cache_says_what_decides_and_line_by_line_what_is_kept_back(client: Client) -> None:
    """8,192 × (2 × 4,096 + 3 × 14,336) × 2 B and 2 × 128,256 × 4 B; the GPU, context and the rest in MiB."""
    h100, given = 81_559 << 20, {"gpu": "H100", "context_mib": 400, "fragmentation_mib": 1024}
    memory = client.predict("Llama-3 8B", 8192, 2, **given, api_name="/kv_cache")["memory"]
    lines = 8192 * (2 * 4096 + 3 * 14_336) * 2 + 2 * 128_256 * 4 + (400 + 1024) * 2**20
    assert (memory["decided_by"], memory["usable_bytes"]) == ("lines", h100 - lines)
    assert memory["free_bytes"] == h100 - lines - 2 * 8_030_261_248 - 2 * 2**30
    kept = memory["kept_back"]
    assert sum(one["bytes"] for one in kept["activations"]) == lines - (400 + 1024) * 2**20
    assert (kept["bytes"], kept["context_bytes"], kept["fragmentation_bytes"]) == (lines, 400 * 2**20, 2**30)
    assert "× 14,336 width of the feed-forward × 2 bytes (bf16)" in kept["activations"][1]["product"]
    fewer = client.predict("Llama-3 8B", 8192, 2, step_tokens=2048, **given, api_name="/kv_cache")["memory"]
    assert fewer["free_bytes"] - memory["free_bytes"] == 6144 * (2 * 4096 + 3 * 14_336) * 2
    shared = client.predict("Llama-3 8B", 8192, 2, **given, **SHARE, api_name="/kv_cache")["memory"]
    assert (shared["decided_by"], shared["usable_bytes"]) == ("share", h100 * 9 // 10)
    assert shared["kept_back"]["fragmentation_bytes"] == h100 - h100 * 9 // 10 - (lines - 2**30)


def test_the_gpus_that_kv_cache_names_are_those_it_knows() -> None:
    told = re.search(r"gpu: (.*?): count the weights", endpoints.kv_cache.__doc__ or "", re.DOTALL)
    assert [find_gpu(name).name for name in re.findall('"([^"]+)"', told[1] if told else "")] == [*GPUS]


def test_kv_cache_with_every_option(client: Client) -> None:
    options = {"tp": 16, "block_size": 16, "shared_prefix": 1024, "pp": 2}
    answer = client.predict("Llama-3 70B", 5000, 4, "fp8", options=options, api_name="/kv_cache")
    # 80 layers; 64 shared blocks and 4 × 249 own ones of 16 tokens; 16 ranks with one head of 128 each; 1 byte.
    assert answer["bytes"] == 80 * (64 + 4 * 249) * 16 * 16 * 1 * 2 * 128
    assert answer["bytes_per_gpu"] == answer["bytes"] // 32
    own = {"memory_gb": 192, "bandwidth_gb_per_s": 8000, "usable_percent": 100, "embeddings": "fp32"}
    memory = client.predict("Llama-3 8B", options={"tp": 2}, **own, api_name="/kv_cache")["memory"]
    assert (memory["usable_bytes"], memory["gpus"], memory["fits"]) == (192 * 10**9, 2, True)
    mine = memory["gpus_needed"][-1]
    assert (mine["at_least"], mine["fits_on"]) == (1, 1)
    assert [need["gpu"] for need in memory["gpus_needed"]] == [*GPUS, memory["gpu"]]
    assert memory["weights_bytes"] == 2 * 8_030_261_248 + 2 * 2 * 128_256 * 4096  # two tables of 4 bytes instead of 2
    fixed = client.predict("Llama-3 8B", options={"reserved_batch": 8}, gpu="H100", api_name="/kv_cache")["memory"]
    assert (fixed["largest_batch"], fixed["largest_context"] > 0) == (None, True)
    for wrong, says in (({"tpp": 2}, "options is 'tpp'; expected one of encoder_tokens"), ({"tp": 3}, "tp is 3")):
        with pytest.raises(AppError, match=re.escape(says)):
            client.predict("Llama-3 8B", options=wrong, api_name="/kv_cache")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("Llama-3 8B", 10**9, 1, "bf16"), "tokens is 1,000,000,000; expected a whole number from 1"),
        (("Llama-3 8B", 10, 1, "q9"), "dtype is 'q9'; expected one of"),
        (("Llama-3 8B", 10, 1, "bf16", "", "V100"), "gpu is 'V100'; expected one of"),
        (("x", 10, 1, "bf16", "{"), "config.json: the text is no JSON at line 1, column 2"),
    ],
)
def test_kv_cache_names_the_wrong_field(client: Client, given: tuple, says: str) -> None:
    with pytest.raises(AppError, match=re.escape(says)):
        client.predict(*given, api_name="/kv_cache")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        # Nothing is passed over because no GPU is asked for.
        ({"weights": "foo"}, "weights is 'foo'; expected one of fp32"),
        ({"weights": ""}, "weights is ''; expected one of fp32"),
        ({"embeddings": "foo"}, "embeddings is 'foo'; expected one of fp32"),
        ({"usable_percent": 0}, "usable_percent is 0; expected a percentage from 1 to 100"),
        ({"usable_percent": 101}, "usable_percent is 101; expected a percentage from 1 to 100"),
        ({"usable_percent": "most"}, "usable_percent is 'most'; expected a percentage from 1 to 100"),
        ({"step_tokens": 0}, "step_tokens is 0; expected a whole number from 1 to 100,000,000."),
        ({"context_mib": -1}, "context_mib is -1; expected a whole number from 0 to 1,000,000."),
        ({"fragmentation_mib": "few"}, "fragmentation_mib is 'few'; expected a whole number from 0 to 1,000,000."),
        ({"gpu": "H100", "memory_gb": 80}, "gpu is 'H100'; expected a name, or memory_gb and bandwidth_gb_per_s"),
        ({"gpu": "H100", "bandwidth_gb_per_s": 9}, "gpu is 'H100'; expected a name, or memory_gb and bandwidth_gb_per"),
        ({"hub": "org/mine"}, "hub is 'org/mine'; expected a model of the Hub alone, with model and config empty"),
        ({"memory_gb": 80}, "bandwidth_gb_per_s is 0; expected a whole number from 1"),
        ({"options": "x"}, "options is 'x'; expected an object."),
        ({"options": [8]}, "options is [8]; expected an object."),
    ],
    ids=lambda value: ", ".join(value) if isinstance(value, dict) else "",
)
def test_kv_cache_passes_over_nothing_that_is_given(client: Client, given: dict, says: str) -> None:
    with pytest.raises(AppError, match=re.escape(says)):
        client.predict("Llama-3 8B", **given, api_name="/kv_cache")
