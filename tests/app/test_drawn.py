"""The page opens for networks whose parts it draws; another one is refused, with what differs and what to do."""

import pytest
import transformers

import model
from app.engine import drawn
from tests.families import SIZES, save

GQA = SIZES | {"num_key_value_heads": 2, "intermediate_size": 80}


def test_networks_with_other_parts_are_refused(lm: model.LanguageModel) -> None:
    assert drawn(lm) is lm
    qwen = model.load(save(transformers.Qwen2Config(**GQA)), device="cpu")
    assert drawn(qwen) is qwen
    others = {
        "q_rot, k_rot, gate, position_bias": transformers.BloomConfig(
            vocab_size=320, hidden_size=48, n_layer=1, n_head=6
        ),
        "in q_rot;": transformers.GlmConfig(**GQA, head_dim=16),
        "gate, up, router_scores, experts, expert_weight": transformers.MixtralConfig(**GQA, num_local_experts=4),
    }
    for differs, config in others.items():
        with pytest.raises(model.GlassLlamaError, match="run it from Python") as caught:
            drawn(model.load(save(config), device="cpu"))
        assert all(name in str(caught.value) for name in differs.split(", ")), caught.value
