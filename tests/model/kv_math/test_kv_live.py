"""The formula against our own live cache, at every length."""

import pytest
import torch

from model.cache import KVCache
from model.config import LlamaConfig
from model.kv_math import KvOptions, kv_cache_bytes
from model.published.spec import AttentionSpec, FfnSpec, ModelSpec, NormSpec, PositionSpec


@pytest.mark.parametrize(("kind", "n_kv_heads"), [("MHA", 6), ("GQA", 2), ("MQA", 1)])
@pytest.mark.parametrize(("dtype", "torch_dtype"), [("fp32", torch.float32), ("bf16", torch.bfloat16)])
def test_live_bytes_equal_the_formula(kind, n_kv_heads, dtype, torch_dtype):
    sizes = {"n_layers": 3, "d_model": 24, "n_heads": 6, "n_kv_heads": n_kv_heads, "head_dim": 8}
    sizes |= {"ffn_hidden": 40, "vocab_size": 50, "max_context": 64}
    cache = KVCache(LlamaConfig(**sizes), capacity=20, batch=2, dtype=torch_dtype)
    spec = ModelSpec(
        name="live",
        tied_embeddings=False,
        **sizes,
        attention=AttentionSpec(kind),
        norm=NormSpec("RMSNorm", "pre"),
        ffn=FfnSpec("SwiGLU", gated=True),
        position=PositionSpec("rope"),
    )
    for tokens in range(1, 21):
        assert cache.nbytes(tokens) == kv_cache_bytes(spec, tokens, 2, dtype)
    allocated = sum(tensor.untyped_storage().nbytes() for tensor in (*cache.keys, *cache.values))
    assert allocated == kv_cache_bytes(spec, 1, 2, dtype, KvOptions(reserved_tokens=20))
