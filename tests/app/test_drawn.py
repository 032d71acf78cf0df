"""The page opens for networks that continue a text; one that reads a source text first is refused, with what to do."""

import pytest
import transformers

import model
from app.engine import drawn
from tests.families import SIZES, save


def test_a_network_with_a_source_is_refused(lm: model.LanguageModel) -> None:
    assert drawn(lm) is lm
    bloom = model.load(
        save(transformers.BloomConfig(vocab_size=320, hidden_size=48, n_layer=1, n_head=6)), device="cpu"
    )
    assert drawn(bloom) is bloom
    sizes = {name: SIZES[name] for name in ("vocab_size", "bos_token_id", "eos_token_id", "pad_token_id")}
    t5 = transformers.T5Config(
        **sizes, d_model=48, num_layers=1, num_heads=6, d_kv=8, d_ff=80, decoder_start_token_id=0
    )
    with pytest.raises(model.GlassLlamaError, match="run it from Python"):
        drawn(model.load(save(t5), device="cpu"))
