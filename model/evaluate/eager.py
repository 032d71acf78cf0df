"""Knock-out held to an independent implementation: transformers' attention, written out, under a mask of its own.

Transformers computes in float64. In float32 it is itself up to 1.5e-4 nats off where the last token may not attend to a
sink: streams of 20,000 round coarsely.

Symbols: T tokens.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from model.analysis.knock_out import knock_out
from model.checkpoint import LanguageModel
from model.config import LlamaConfig
from model.gguf.reader import is_gguf

BAR = 1e-4  # nats: how far the two may be apart


def knocked_out_by(net: Any, ids: list[int]) -> Float[np.ndarray, "T"]:
    """(T,): nats lost of log p of the most probable next token when the last token may not attend to token t.

    `net` is transformers' causal network with eager attention. One row for each token has a 4D mask that hides it from
    the last token alone.
    """
    count = len(ids)
    mask = torch.full((count, count), float("-inf"), dtype=net.dtype).triu(1).repeat(count + 1, 1, 1, 1)
    for token in range(count):
        mask[1 + token, 0, -1, token] = float("-inf")
    with torch.no_grad():
        logs = net(torch.tensor([ids] * (count + 1)), attention_mask=mask).logits[:, -1].log_softmax(-1)
    answer = int(logs[0].argmax())
    return (logs[0, answer] - logs[1:, answer]).numpy()


def peer(where: str | Path) -> Any:
    """transformers' network of a checkpoint directory, a Hub id or a GGUF file: on the CPU, in float64, with eager
    attention."""
    from transformers import AutoModelForCausalLM

    place = Path(where)
    named = (place.parent, {"gguf_file": place.name}) if is_gguf(place) else (where, {})
    return AutoModelForCausalLM.from_pretrained(
        named[0], **named[1], dtype=torch.float64, attn_implementation="eager"
    ).eval()


def largest_difference(lm: LanguageModel, net: Any, prompts: list[str]) -> float:
    """Nats: how far knock-out and transformers' are apart at most, over all tokens of these prompts."""
    differences = [
        np.abs(knock_out(lm, prompt) - knocked_out_by(net, lm.tokenizer.encode(prompt))).max() for prompt in prompts
    ]
    return float(max(differences))


def report_eager(lm: LanguageModel, where: str | Path, prompts: list[str]) -> bool:
    """Print the largest difference beside its bar; whether it is met. It is measured for LLaMA's architecture, where
    transformers is installed."""
    if type(lm.config) is not LlamaConfig or not find_spec("transformers"):
        print("knock-out was not held to transformers: it is not installed, or the model is no LLaMA")
        return True
    found = largest_difference(lm, peer(where), prompts)
    print(
        f"knock-out and transformers' eager attention under a 4D mask differ by {found:.1e} nats at most "
        f"(bar {BAR:.0e}; {len(prompts)} prompts)"
    )
    return found <= BAR
