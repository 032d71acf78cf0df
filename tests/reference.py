"""The independent implementation that ours is held to: transformers' LLaMA, reading the same files."""

import logging
from pathlib import Path

import torch
import transformers
from torch import Tensor
from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding

transformers.logging.set_verbosity(logging.ERROR)


def reference(directory: Path) -> transformers.LlamaForCausalLM:
    """transformers' model of a checkpoint directory, in float32, with attention written out."""
    net = transformers.LlamaForCausalLM.from_pretrained(directory, dtype=torch.float32, attn_implementation="eager")
    return net.eval()


def run_reference(net: transformers.LlamaForCausalLM, ids: Tensor) -> transformers.modeling_outputs.ModelOutput:
    """One forward pass: `logits`, `hidden_states` (L + 1, the last one normalised) and `attentions` (L)."""
    with torch.no_grad():
        return net(ids, output_hidden_states=True, output_attentions=True)


def sample_ids(rows: int, tokens: int, vocabulary: int = 320, seed: int = 0) -> Tensor:
    """Seeded token ids (rows, tokens), the end-of-text token left out."""
    return torch.randint(1, vocabulary, (rows, tokens), generator=torch.Generator().manual_seed(seed))


def sinusoids_of_marian(tokens: int, width: int) -> Tensor:
    """transformers' sinusoidal positions (tokens, width), with its sines and cosines put next to each other, as the
    paper has them. The width is even."""
    made = MarianSinusoidalPositionalEmbedding(tokens, width).create_weight().detach()
    return torch.stack(made.chunk(2, 1), -1).flatten(1)
