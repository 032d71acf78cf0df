"""Writing on with and without a KV cache, timed side by side; and what a cache really holds after reading tokens.

Without a cache every step runs the whole text through the network again and keeps the last position's logits; with one
it runs the newest token alone. Both give the same logits, so the same greedy token. Knows nothing about pages.
"""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from ..cache import KVCache
from ..checkpoint import LanguageModel
from ..config import NetworkConfig
from ..forward_pass import Pass
from ..interventions import NOTHING, Intervention, intervened
from ..pieces import Work, in_pieces

REPEATS = 3


class Race(NamedTuple):
    """One token written twice, after `tokens` tokens: seconds each way, and whether both ways chose the same token.

    `cached_work` and `full_work` count multiply–adds by `multiply_adds`.
    """

    tokens: int
    token_id: int
    cached_seconds: float
    full_seconds: float
    cached_work: int
    full_work: int
    same: bool


class CacheContents(NamedTuple):
    """What the cache tensors hold after `tokens` tokens were read: bytes, and the length of each token's K and V rows.

    `k_norm` and `v_norm` are over all K/V heads of a layer together, (L, T).
    """

    tokens: int
    bytes: int
    k_norm: Float[Tensor, "L T"]
    v_norm: Float[Tensor, "L T"]


@in_pieces
def race(lm: LanguageModel, ids: Sequence[int], count: int, seconds: float = 0.3) -> Work[list[Race]]:
    """Write up to `count` greedy tokens after `ids` both ways, and fewer where `seconds` are over; at least one.

    Each time is that of the fastest of REPEATS passes, which other work on the machine disturbs least; the choice of
    the token is in it, which waits for a GPU to finish. The prefill is not: it is the same work either way. A pass is a
    piece of the work; `seconds` are those of passes. Raises IndexError where the context has no room.
    """
    if len(ids) >= lm.config.context_limit:
        raise IndexError(f"{len(ids)} tokens leave no room in a context of {lm.config.context_limit}")
    text, spent = list(ids), 0.0
    room = min(count, lm.config.context_limit - len(text))
    cache = lm.net.cache(len(text) + room)
    steps: list[Race] = []
    if len(text) > 1:
        with torch.inference_mode():
            lm.net(_row(lm, text[:-1]), cache, 0, last_only=True)
        yield
    _choice(lm, text, None)  # the first pass of a new length is slower; it is not counted
    yield
    while len(steps) < room and (not steps or spent < seconds):
        n = len(text)
        with_cache, token = yield from _times(lambda: _choice(lm, text[-1:], cache, len(text) - 1))
        without, again = yield from _times(lambda: _choice(lm, text, None))
        work = multiply_adds(lm.config, 1, n - 1), multiply_adds(lm.config, n, 0)
        steps.append(Race(n, token, min(with_cache), min(without), *work, token == again))
        spent += sum(with_cache) + sum(without)
        text.append(token)
    return steps


def multiply_adds(config: NetworkConfig, new: int, past: int) -> int:
    """Multiplications (each with an addition) to read `new` tokens after `past`, and to score one next token.

    new × (weights of all layers) + V·d + L × n_heads × 2·head_dim × (query, key) pairs: q·k takes head_dim of them, and
    so does weight·v. A query meets every key up to its own. Norms, RoPE and softmax are left out, being far smaller.
    """
    pairs = new * past + new * (new + 1) // 2
    attention = config.n_layers * config.n_heads * 2 * config.head_dim * pairs
    return new * layer_weights(config) + config.vocab_size * config.d_model + attention


def layer_weights(config: NetworkConfig) -> int:
    """Entries of all matrices that a token is multiplied with in the layers: Q, K, V, O, gate, up and down."""
    heads = (2 * config.n_heads + 2 * config.n_kv_heads) * config.head_dim
    return config.n_layers * config.d_model * (heads + 3 * config.ffn_hidden)


@in_pieces
def cache_contents(lm: LanguageModel, ids: Sequence[int], what: Intervention = NOTHING) -> Work[CacheContents]:
    """Read `ids`, with the run's intervention, into a cache made for them, and look at its tensors.

    A layer is a piece of the work.
    """
    net, cache = lm.net, lm.net.cache(len(ids))
    with torch.inference_mode():
        x, positions = net.embed_tokens(_row(lm, ids)), net.positions(0, len(ids))
    for i in range(lm.config.n_layers):
        with torch.inference_mode(), intervened(net, what):
            x = net.block(i)(x, Pass(positions, i, cache))
        yield
    return CacheContents(len(ids), cache.nbytes(len(ids)), _norms(cache.keys), _norms(cache.values))


def _norms(tensors: Sequence[Tensor]) -> Float[Tensor, "L T"]:
    return torch.stack([tensor[0].float().square().sum(dim=(0, 2)).sqrt() for tensor in tensors]).cpu()


def _row(lm: LanguageModel, ids: Sequence[int]) -> Tensor:
    return torch.tensor([list(ids)], device=lm.device)


def _choice(lm: LanguageModel, ids: Sequence[int], cache: KVCache | None, position: int = 0) -> int:
    """The greedy next token after `ids`, which stand at `position` on."""
    with torch.inference_mode():
        return int(lm.net(_row(lm, ids), cache, position, last_only=True)[0, -1].argmax())


def _times(work: Callable[[], int]) -> Work[tuple[list[float], int]]:
    """Seconds of each of REPEATS runs, and what the last one gave."""
    times, result = [], 0
    for _ in range(REPEATS):
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
        yield
    return times, result
