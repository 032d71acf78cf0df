"""Two runs: how far their residual streams lie apart where they are of one model, and what each network costs."""

from math import prod
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from model import LanguageModel, Trace
from model.analysis.lens import unembed
from model.kv_math import kv_token_terms
from model.kv_math.terms import KvTerm
from model.kv_math.weights import WeightBreakdown, WeightTerm, weight_breakdown
from model.pieces import Work, in_pieces

from .kv import FORMAT_OF, factor_message, spec_of, token_message
from .messages.compare import CostDetail, DifferenceDetail, LossDetail
from .messages.sums import Product
from .payload import pack


class Difference(NamedTuple):
    """‖B - A‖ and ‖A‖ of the residual stream before each layer and after the last, at tokens that both runs have."""

    apart: Float[np.ndarray, "L_1 T"]
    first: Float[np.ndarray, "L_1 T"]


def difference_info(first: Trace, second: Trace) -> Difference:
    """B is `second`, A is `first`; tokens are compared by their position."""
    tokens = min(first.residual.shape[1], second.residual.shape[1])
    a, b = (trace.residual[:, :tokens].astype(np.float64) for trace in (first, second))
    return Difference(np.linalg.norm(b - a, axis=-1), np.linalg.norm(a, axis=-1))


def difference_payload(info: Difference) -> DifferenceDetail:
    """The two norms, float32."""
    return {"apart": pack(info.apart, "f4"), "first": pack(info.first, "f4")}


@in_pieces
def loss_info(lm: LanguageModel, trace: Trace) -> Work[Float[np.ndarray, "T_1"]]:
    """−log p of every token after the first, by the stream that the run recorded one token earlier; nats, float64."""
    ids = torch.tensor(trace.token_ids[1:], device=lm.device)
    found = [np.empty(0)]
    for rows, logits in unembed(lm, trace.residual[-1, :-1]):
        chosen = logits.double().log_softmax(-1).gather(-1, ids[rows, None])[:, 0]
        found.append(-chosen.cpu().numpy())
        yield
    return np.concatenate(found)


def loss_payload(nats: Float[np.ndarray, "T_1"]) -> LossDetail:
    """Of each token, and the mean; 0 for a text of one token, of which nothing is foretold."""
    return {"nats": pack(nats, "f4"), "mean": float(nats.mean()) if len(nats) else 0.0}


class Cost(NamedTuple):
    """What a network costs, in the number format it runs in: the parameters held, counted in the network itself, and by
    its config the products of the weights that one token's step reads, and of what the KV cache keeps of a token.
    """

    parameters: int
    weights: WeightBreakdown
    cache: tuple[KvTerm, ...]


def cost_info(lm: LanguageModel) -> Cost:
    """The cost of this network, by the config.json that it was read from."""
    dtype = FORMAT_OF[str(lm.dtype).removeprefix("torch.")]
    spec = spec_of(lm)
    return Cost(lm.n_parameters, weight_breakdown(spec, dtype), kv_token_terms(spec, dtype))


def cost_payload(cost: Cost) -> CostDetail:
    """Every product with its factors, in whole bytes, and their sums."""
    top_k = cost.weights.spec.moe.top_k if cost.weights.spec.moe else 1

    def read(term: WeightTerm) -> Product | None:
        factors = term.read_factors(top_k=top_k)
        if not factors:
            return None
        told = [factor_message(factor) for factor in factors]
        return {"label": term.label, "factors": told, "bytes": str(prod(factor.value for factor in factors))}

    weights = [told for term in cost.weights.terms if (told := read(term))]
    cache = [token_message(term) for term in cost.cache]
    return {
        "parameters": cost.parameters,
        "weights": weights,
        "read": sum(int(term["bytes"]) for term in weights),
        "cache": cache,
        "kept": sum(int(term["bytes"]) for term in cache),
    }
