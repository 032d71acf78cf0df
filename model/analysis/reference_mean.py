"""What heads write on average, in ordinary text: what stands in for a head in mean ablation.

A head that writes nothing at all is further from its usual self than one that writes its mean (Wang et al. 2022, arXiv
2211.00593, appendix). The mean is over a few ordinary sentences, and for the bundled model over held-out documents of
its own world; the first token of each, where heads park, is left out.
"""

from itertools import islice
from weakref import WeakKeyDictionary

import torch
from jaxtyping import Float
from torch import Tensor

from ..checkpoint import LanguageModel
from ..little_world import little_world
from ..network import Network
from ..taps import capture
from .outside import knows_corpus

SENTENCES = (
    "The train left the station early in the morning, and nobody noticed that one of the passengers was missing.",
    "Water boils at 100 degrees, but on a high mountain it needs less heat. Why is that?",
    "She bought three apples, some bread and a bottle of milk, then walked home along the river.",
    "Our company was founded in 1987 by two engineers who had met at a conference in Boston.",
    'He said, "I will call you tomorrow," but the phone never rang.',
    "for name in names:\n    print(len(name), name)",
    "今天天气很好，我们去公园散步，看见很多孩子在湖边玩。",
)
DOCUMENTS, TOKENS = 12, 32
_measured: WeakKeyDictionary[Network, dict[int, Tensor]] = WeakKeyDictionary()


def reference_mean(lm: LanguageModel) -> dict[int, Float[Tensor, "n_heads width"]]:
    """By layer, each head's mean output before W_O. Measured once for a network."""
    net = lm.net
    if net not in _measured:
        _measured[net] = _measure(lm)
    return _measured[net]


def _measure(lm: LanguageModel) -> dict[int, Float[Tensor, "n_heads width"]]:
    texts = islice(little_world().held_out, DOCUMENTS) if knows_corpus(lm) else SENTENCES
    encoded = [lm.tokenizer.encode(text)[:TOKENS] for text in texts]
    sums: dict[int, Tensor] = {}
    for ids in encoded:
        with (
            torch.inference_mode(),
            capture(lm.net, "layers.*.attn.mixed", record=lambda mixed: mixed[0, 1:].sum(0)) as seen,
        ):
            lm.net(torch.tensor([ids], device=lm.device), last_only=True)
        for layer in range(lm.config.n_layers):
            sums[layer] = sums.get(layer, 0) + seen[f"layers.{layer}.attn.mixed"]
    count = sum(len(ids) - 1 for ids in encoded)
    return {layer: total / count for layer, total in sums.items()}
