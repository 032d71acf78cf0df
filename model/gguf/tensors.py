"""The tensors of a GGUF file under Hugging Face's names, dequantised, with the rows in Hugging Face's order."""

from collections.abc import Iterable, Mapping

import numpy as np
import torch
from gguf import MODEL_ARCH, ReaderTensor, dequantize, get_tensor_name_map
from torch import Tensor

from ..errors import GlassLlamaError, shortly

# Which of gguf's architectures each of ours is.
ARCHITECTURES = {"llama": MODEL_ARCH.LLAMA, "qwen2": MODEL_ARCH.QWEN2, "qwen3": MODEL_ARCH.QWEN3}
# llama.cpp rotates neighbouring pairs (2i, 2i + 1) in this one, Hugging Face the halves (i, i + head_dim/2), and the
# rows of W_Q and W_K follow suit: convert_hf_to_gguf.py, LlamaModel.permute. Qwen's are left as they are.
NEIGHBOURS = frozenset({"llama"})
# Factors of RoPE's frequencies, which follow from a scaling (model/gguf/scaling.py).
ROPE_FACTORS = "rope_freqs.weight"


def names_in_file(architecture: str, n_layers: int, wanted: Iterable[str]) -> dict[str, str]:
    """llama.cpp's name of each tensor that Hugging Face calls so; of those that it has a name for."""
    table = get_tensor_name_map(ARCHITECTURES[architecture], n_layers)
    found = {name: table.get_name(name, (".weight", ".bias")) for name in wanted}
    return {name: theirs for name, theirs in found.items() if theirs is not None}


def shape_of(tensor: ReaderTensor) -> list[int]:
    """A tensor's shape; the file has the fastest dimension first."""
    return [int(size) for size in reversed(tensor.shape)]


def values_of(tensor: ReaderTensor) -> Tensor:
    """A tensor's numbers in float32, dequantised. Raises GlassLlamaError for a quantisation that gguf does not know."""
    try:
        numbers = dequantize(tensor.data, tensor.tensor_type)
    except (NotImplementedError, ValueError) as error:
        kind = tensor.tensor_type.name
        said = f"tensor {shortly(tensor.name)} is stored as {kind}, which cannot be read; fetch another quantisation."
        raise GlassLlamaError("checkpoint", f"GGUF: {said}") from error
    return torch.from_numpy(np.array(numbers, dtype=np.float32, copy=True)).reshape(shape_of(tensor))


def in_halves(rows: Tensor, heads: int) -> Tensor:
    """The rows of W_Q or W_K (or of its bias) as Hugging Face orders them: of each head first those of every pair's
    first channel, then those of its second.

    A tensor (heads · head_dim, …), whose pairs lie next to each other.
    """
    return torch.unflatten(rows, 0, (heads, -1, 2)).transpose(1, 2).reshape(rows.shape)


def heads_of(name: str, config: Mapping[str, int]) -> int | None:
    """How many heads the rows of this tensor belong to, by llama.cpp's name; None where nothing rotates them."""
    if ".attn_q." in name:
        return config["num_attention_heads"]
    return config["num_key_value_heads"] if ".attn_k." in name else None
