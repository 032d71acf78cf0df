"""How alike tokens are to the network: cosines of rows of the embedding.

Symbols: V vocabulary.
"""

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..checkpoint import LanguageModel

# The lengths of all rows, measured once. Where the matrix lies by columns (checkpoint.py) that takes as long as ten
# products with a row.
_lengths: WeakKeyDictionary[nn.Module, Float[Tensor, "V"]] = WeakKeyDictionary()


def cosines(lm: LanguageModel, tokens: Sequence[int]) -> Float[Tensor, "n V"]:
    """Cosine of each of these tokens' rows of the embedding with every row; 0 where one of them has no length."""
    with torch.inference_mode():
        embed = lm.net.embed
        rows = embed.weight.float()
        if embed not in _lengths:
            _lengths[embed] = rows.norm(dim=-1).clamp(min=1e-9)
        lengths = _lengths[embed]
        return rows[list(tokens)] @ rows.T / lengths / lengths[list(tokens), None]
