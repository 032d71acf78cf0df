"""The cache of every family as the page tells it: measured on the tensors, and by the calculators from config.json."""

import json
from typing import Any

import pytest
import transformers

import model
from app.engine import LocalEngine, Settings
from app.operations import CACHE_CONTENTS
from app.service import Service
from tests.families import SIZES, save

GROUPED = {"num_key_value_heads": 2, "head_dim": 8}
MLA = {"kv_lora_rank": 20, "qk_nope_head_dim": 12, "qk_rope_head_dim": 8, "v_head_dim": 10, "num_key_value_heads": 6}
MOE = {"n_routed_experts": 8, "num_experts_per_tok": 3, "moe_intermediate_size": 24, "first_k_dense_replace": 1}
FALCON = {name: value for name, value in SIZES.items() if name != "max_position_embeddings"}
# Each with how many numbers a layer keeps of a token, worked out by hand.
CONFIGS: dict[str, tuple[Any, int]] = {
    "BLOOM": (transformers.BloomConfig(vocab_size=320, hidden_size=48, n_layer=3, n_head=6), 2 * 6 * 8),
    "Falcon-7B": (transformers.FalconConfig(**FALCON, multi_query=True), 2 * 8),
    "Falcon-40B": (transformers.FalconConfig(**FALCON, new_decoder_architecture=True, num_kv_heads=2), 2 * 2 * 8),
    "GLM": (transformers.GlmConfig(**SIZES, **GROUPED, intermediate_size=80), 2 * 2 * 8),
    "Mixtral": (transformers.MixtralConfig(**SIZES, **GROUPED, intermediate_size=24, num_local_experts=8), 2 * 2 * 8),
    "DeepSeek-V2": (
        transformers.DeepseekV2Config(
            **SIZES, **MLA, **MOE, q_lora_rank=None, n_shared_experts=2, intermediate_size=80
        ),
        20 + 8,
    ),
    "DeepSeek-V3": (
        transformers.DeepseekV3Config(**SIZES, **MLA, **MOE, n_group=4, topk_group=2, intermediate_size=80),
        20 + 8,
    ),
}
LAYERS, BYTES = 3, 4  # of each of them, and of a number


@pytest.mark.parametrize("family", CONFIGS)
def test_the_measured_cache_equals_the_calculators_at_every_step(family: str) -> None:
    config, kept = CONFIGS[family]
    directory = save(config)
    engine = LocalEngine([model.load(directory, device="cpu")])
    service, (name,) = Service(engine), engine.names
    spec = model.spec_from_config((directory / "config.json").read_text())
    messages = list(service.generate("The cat sleeps", name, 9, Settings(), {}))
    run = json.loads(json.dumps(messages[-1]))
    assert len(run["steps"]) > 1
    for step in run["steps"]:
        by_formula = model.kv_cache_bytes(spec, tokens=step["cache_tokens"], batch=1, dtype="fp32")
        assert step["cache_bytes"] == by_formula == LAYERS * step["cache_tokens"] * kept * BYTES
    live = service.detail({"run": run["id"], "what": "kv_live"})["data"]
    tokens = len(run["tokens"]["ids"])
    own = next(row for row in live["kinds"] if row["own"])
    assert live["bytes"] == int(live["formula"]) == int(own["bytes"]) * tokens == LAYERS * tokens * kept * BYTES
    latent = run["model"]["parts"]["latent"]
    assert (latent["rank"] + latent["rope"] if latent else None) == (kept if family.startswith("DeepSeek") else None)
    found = engine.study(name, CACHE_CONTENTS, None, run["tokens"]["ids"])
    assert found.bytes == live["bytes"]
