"""GGUF files of tiny networks with seeded weights, written by the gguf package as convert_hf_to_gguf.py does."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from gguf import GGML_QUANT_SIZES, MODEL_ARCH, GGMLQuantizationType, GGUFWriter, get_tensor_name_map, quantize
from tokenizers import Tokenizer as BackEnd

from tests.families import liven

ARCHITECTURES = {"llama": MODEL_ARCH.LLAMA, "qwen2": MODEL_ARCH.QWEN2, "qwen3": MODEL_ARCH.QWEN3}
CONFIGS: dict[str, type[Any]] = {
    "llama": transformers.LlamaConfig,
    "qwen2": transformers.Qwen2Config,
    "qwen3": transformers.Qwen3Config,
}
WIDTH, LAYERS, HEADS, KV_HEADS, FFN = 256, 2, 4, 2, 512  # K-quants come in blocks of 256 numbers
# transformers' loader takes 128 for Qwen 3's, whatever the file states.
HEAD_DIMS = {"llama": WIDTH // HEADS, "qwen2": WIDTH // HEADS, "qwen3": 128}
Kind = GGMLQuantizationType
# At which bytes of a block its scales stand, in float16 (ggml-common.h).
SCALES = {Kind.Q2_K: [80, 82], Kind.Q3_K: [108], Kind.Q4_K: [0, 2], Kind.Q5_K: [0, 2], Kind.Q6_K: [208]}
CONTROL, NORMAL = 3, 1


def network(architecture: str, vocab_size: int, tied: bool = False, **fields: Any) -> Any:
    """A tiny network of transformers' with seeded weights."""
    config = CONFIGS[architecture](
        vocab_size=vocab_size,
        hidden_size=WIDTH,
        intermediate_size=FFN,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS,
        head_dim=HEAD_DIMS[architecture],
        max_position_embeddings=128,
        rms_norm_eps=1e-5,
        tie_word_embeddings=tied,
        bos_token_id=0,
        eos_token_id=0,
        **fields,
    )
    net = transformers.AutoModelForCausalLM.from_config(config)
    liven(net)
    net.tie_weights()
    return net.eval()


def neighbours(rows: np.ndarray[Any, Any], heads: int) -> np.ndarray[Any, Any]:
    """The rows of W_Q or W_K as llama.cpp wants a LLaMA's (LlamaModel.permute in convert_hf_to_gguf.py)."""
    return rows.reshape(heads, 2, rows.shape[0] // heads // 2, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def stored(values: np.ndarray[Any, Any], kind: Kind, seed: int) -> np.ndarray[Any, Any]:
    """The numbers as a file holds them; K-quants, which gguf writes none of, as blocks with seeded bits."""
    if kind in (Kind.F32, Kind.F16):
        return values.astype(np.float32 if kind is Kind.F32 else np.float16)
    try:
        return quantize(values, kind)
    except NotImplementedError:
        size, nbytes = GGML_QUANT_SIZES[kind]
        blocks = np.random.default_rng(seed).integers(0, 256, (values.size // size, nbytes), dtype=np.uint8)
        small = np.frombuffer(np.float16(0.002).tobytes(), dtype=np.uint8)
        for place in SCALES[kind]:
            blocks[:, place : place + 2] = small
        return blocks.reshape(values.shape[0], -1)


def write(
    path: Path,
    net: Any,
    architecture: str,
    tokenizer: Mapping[str, Any],
    kinds: Sequence[Kind] = (Kind.F32,),
    **extra: Any,
) -> Path:
    """Write the network; its matrices are stored in these kinds in turn. `extra` keys replace or leave out (None)."""
    config = net.config
    rope = config.rope_parameters
    keys: dict[str, Any] = {
        f"{architecture}.block_count": config.num_hidden_layers,
        f"{architecture}.context_length": config.max_position_embeddings,
        f"{architecture}.embedding_length": config.hidden_size,
        f"{architecture}.feed_forward_length": config.intermediate_size,
        f"{architecture}.attention.head_count": config.num_attention_heads,
        f"{architecture}.attention.head_count_kv": config.num_key_value_heads,
        f"{architecture}.attention.key_length": config.head_dim,
        f"{architecture}.attention.value_length": config.head_dim,
        f"{architecture}.attention.layer_norm_rms_epsilon": config.rms_norm_eps,
        f"{architecture}.rope.freq_base": float(rope["rope_theta"]),
        f"{architecture}.vocab_size": config.vocab_size,
        **tokenizer,
        **extra,
    }
    writer = GGUFWriter(path, architecture)
    for key, value in keys.items():
        if isinstance(value, list):
            writer.add_array(key, value)
        elif value is not None:
            add = {bool: writer.add_bool, int: writer.add_uint32, float: writer.add_float32, str: writer.add_string}
            add[type(value)](key, value)
    table = get_tensor_name_map(ARCHITECTURES[architecture], config.num_hidden_layers)
    heads = {"attn_q.": config.num_attention_heads, "attn_k.": config.num_key_value_heads}
    matrices = 0
    for name, weight in net.state_dict().items():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        theirs = table.get_name(name, (".weight", ".bias"))
        assert theirs is not None, name
        values = weight.detach().to(torch.float32).numpy()
        turned = next((count for part, count in heads.items() if part in theirs), None)
        if architecture == "llama" and turned:
            values = neighbours(values, turned)
        kind = kinds[matrices % len(kinds)] if values.ndim == 2 else Kind.F32
        matrices += values.ndim == 2
        data = stored(values, kind, matrices)
        writer.add_tensor(theirs, data, raw_dtype=None if kind in (Kind.F32, Kind.F16) else kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def byte_level(back_end: BackEnd, split: str, ends: Sequence[str] = ()) -> dict[str, Any]:
    """The keys of a byte-level BPE tokenizer; `ends` are its control tokens."""
    stated = json.loads(back_end.to_str())["model"]
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in stated["merges"]]
    vocabulary = back_end.get_vocab(with_added_tokens=True)
    tokens = sorted(vocabulary, key=lambda token: vocabulary[token])
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": split,
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [CONTROL if token in ends else NORMAL for token in tokens],
        "tokenizer.ggml.merges": merges,
        "tokenizer.ggml.bos_token_id": 0,
        "tokenizer.ggml.eos_token_id": 0,
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.chat_template": "{{ messages }}",
    }
