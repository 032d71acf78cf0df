"""The scaling of RoPE that a GGUF file holds as factors of the frequencies, one a pair.

convert_hf_to_gguf.py writes them for Llama 3.1 and later (Llama3Model), and leaves out what they were made from.
"""

from typing import Any

import torch
from torch import Tensor

from ..config import LlamaConfig
from ..errors import GlassLlamaError
from ..families import family_of
from ..positions import rope_frequencies

# What every published Llama 3.1, 3.2 and 3.3 states beside its factor.
LLAMA_3 = {"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}


def scaling_of(factors: Tensor, config: dict[str, Any]) -> dict[str, Any]:
    """The rope_scaling of config.json that gives these factors (head_dim/2,), for a model with this config.

    Raises GlassLlamaError where Llama 3's scaling does not give them.
    """
    scaling = {"rope_type": "llama3", "factor": round(float(factors.max()), 6), **LLAMA_3}
    family = family_of(config)
    plain, scaled = (family.read({**config, "rope_scaling": given}) for given in (None, scaling))
    assert isinstance(plain, LlamaConfig)
    assert isinstance(scaled, LlamaConfig)
    expected = rope_frequencies(plain).inv_freq / rope_frequencies(scaled).inv_freq
    if factors.shape != expected.shape or not torch.allclose(factors, expected, rtol=1e-4):
        said = "GGUF: rope_freqs.weight holds factors that Llama 3's scaling of RoPE does not give; they are not read."
        raise GlassLlamaError("checkpoint", said, field="rope_freqs.weight")
    return scaling
