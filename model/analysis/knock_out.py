"""Which tokens an answer rests on: attention to one of them is knocked out, and the answer's probability falls.

Geva et al. 2023 (arXiv 2304.14767, section 5): the last token may not attend to token t, in all layers or in some of
them; its scores there are masked before the softmax, so that the other weights are renormalised. Other tokens still
read token t, so what they took from it stays. A window of layers that slides up tells at which depth a token is read.

Symbols: T tokens, R rows of a pass, L n_layers, W windows.
"""

from collections.abc import Collection, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ..checkpoint import LanguageModel
from ..errors import check_index
from ..pieces import Work, in_pieces
from .last_token import MOST_ROWS, TextRead, last_token_logs, read_text
from .sinks import last_attention, seeing_last_attention

WINDOW = 5  # a window has so manieth a part of all layers
MOST_WINDOW_ROWS = 2048  # rows of all windows: of a longer text fewer windows are measured
A_PASS = MOST_ROWS - 1  # tokens: one row is the last token as it is
PART = 3 * A_PASS  # tokens, after which a page is told how far the work is


class Windows(NamedTuple):
    """Knock-out in windows of `width` layers, each from one of `starts` on: `lost` (W, T), as that of `knock_out`."""

    width: int
    starts: tuple[int, ...]
    lost: Float[np.ndarray, "W T"]


class KnockedOut(NamedTuple):
    """What is known of a text of which the first n tokens are knocked out by now, one at a time.

    `lost` (n,) is that of `knock_out`, and `attention` what `last_attention` of sinks.py gives, on the CPU.
    """

    lost: Float[np.ndarray, "n"]
    attention: Float[Tensor, "L n_heads T"]


@in_pieces
def knock_out(
    lm: LanguageModel, text: str | Sequence[int], layers: Collection[int] | None = None
) -> Work[Float[np.ndarray, "T"]]:
    """(T,): nats of log p(answer) lost when the last token may not attend to token t; negative where p rises.

    The answer is the most probable next token of the run as it is. `layers` are those in which attention is masked, all
    by default. The last number is for the last token's attention to itself: it keeps its own stream, so this is not
    what the token is worth. NaN where nothing is left to attend to, as in a text of one token. Raises GlassLlamaError
    for a layer that is not there, for a network with an encoder, and as `prompt_ids` does.
    """
    read = read_text(lm, text)
    yield
    return (yield from knocked_out(read, read.answer, layers))


def knocked_out(read: TextRead, target: int, layers: Collection[int] | None = None) -> Work[Float[np.ndarray, "T"]]:
    """As `knock_out`, of a text that was read, for any next token `target`."""
    n_layers = read.lm.config.n_layers
    masked = set(range(n_layers) if layers is None else layers)
    for layer in masked:
        check_index("layer", layer, n_layers)
    if len(read.ids) == 1:
        return np.full(1, 0.0 if not masked else np.nan)
    lost: list[float] = []
    for tokens in _passes(read):
        lost += _lost(read, target, tokens, masked)
        yield
    return np.array(lost)


@in_pieces
def knocked_out_and_seen(read: TextRead, target: int, so_far: KnockedOut | None = None) -> Work[KnockedOut]:
    """As `knocked_out`, in all layers, of every token; `so_far` is what is known of the same text and `target`."""
    return (yield from _further(read, target, so_far))


@in_pieces
def part_knocked_out(read: TextRead, target: int, so_far: KnockedOut | None = None) -> Work[KnockedOut]:
    """The same of as many tokens more as are a PART."""
    return (yield from _further(read, target, so_far, PART // A_PASS))


def _further(read: TextRead, target: int, so_far: KnockedOut | None, passes: int | None = None) -> Work[KnockedOut]:
    """So many passes more, or all that are left. The first has the last token as it is, too."""
    if len(read.ids) == 1:
        return KnockedOut(np.full(1, np.nan), last_attention(read).cpu())
    every = range(read.lm.config.n_layers)
    for tokens in _passes(read, 0 if so_far is None else len(so_far.lost))[:passes]:
        if so_far is None:
            with seeing_last_attention(read) as seen:
                lost = _lost(read, target, tokens, every, eager=True)
            so_far = KnockedOut(np.array(lost), torch.stack([*seen.values()]).cpu())
        else:
            lost = _lost(read, target, tokens, every)
            so_far = so_far._replace(lost=np.append(so_far.lost, lost))
        yield
    assert so_far is not None, "a text has a token"
    return so_far


def _passes(read: TextRead, begin: int = 0) -> list[range]:
    """The tokens of a text from `begin` on, as many together as one pass has rows for."""
    count = len(read.ids)
    return [range(start, min(count, start + A_PASS)) for start in range(begin, count, A_PASS)]


def _lost(read: TextRead, target: int, tokens: range, layers: Collection[int], eager: bool = False) -> list[float]:
    """Nats lost without each of these tokens, in one pass."""
    off = _one_each(tokens, len(read.ids), read.lm.device)
    nothing = torch.zeros_like(off)
    with torch.inference_mode():
        logs = last_token_logs(read, len(off), lambda layer: off if layer in layers else nothing, eager)[:, target]
    return (logs[0] - logs[1:]).tolist()


@in_pieces
def windows_knocked_out(read: TextRead, target: int) -> Work[Windows]:
    """Knock-out in each window of layers, of a text that was read, for any next token `target`.

    Windows begin at every layer, or at fewer, evenly spread, where their rows would be more than MOST_WINDOW_ROWS.
    Below its window a row is the run as it is, so a pass begins at the lowest window of its rows.
    """
    count = len(read.ids)
    width, starts = _windows(read.lm.config.n_layers, count)
    if count == 1:
        return Windows(width, starts, np.full((len(starts), 1), np.nan))
    rows = [*product(starts, range(count))]
    lost: list[float] = []
    for begin in range(0, len(rows), MOST_ROWS - 1):
        some = rows[begin : begin + MOST_ROWS - 1]
        starting = torch.tensor([start for start, _ in some], device=read.lm.device)
        off = torch.zeros(1 + len(some), count, dtype=torch.bool, device=read.lm.device)
        off[torch.arange(1, len(off)), torch.tensor([token for _, token in some])] = True

        def hidden(
            layer: int, off: Bool[Tensor, "R T"] = off, starting: Int[Tensor, "rows"] = starting
        ) -> Bool[Tensor, "R T"]:
            within = (starting <= layer) & (layer < starting + width)
            return off & torch.cat([within.new_zeros(1), within])[:, None]

        with torch.inference_mode():
            logs = last_token_logs(read, len(off), hidden, begin=some[0][0])[:, target]
        lost += (logs[0] - logs[1:]).tolist()
        yield
    return Windows(width, starts, np.array(lost).reshape(len(starts), count))


def window_rows(n_layers: int, tokens: int) -> int:
    """How many rows of the last token all windows take."""
    return len(_windows(n_layers, tokens)[1]) * tokens


def _windows(n_layers: int, tokens: int) -> tuple[int, tuple[int, ...]]:
    """How wide windows are, and the layers from which on they are measured, the lowest and the highest among them."""
    width = max(1, round(n_layers / WINDOW))
    places = n_layers - width + 1
    count = min(places, max(2, MOST_WINDOW_ROWS // tokens))
    return width, tuple(sorted({int(i) for i in np.linspace(0, places - 1, count).round()}))


def _one_each(tokens: range, count: int, device: torch.device) -> Bool[Tensor, "R T"]:
    """What is hidden: nothing from the first row, and from each other row one of these tokens."""
    off = torch.zeros(1 + len(tokens), count, dtype=torch.bool, device=device)
    off[torch.arange(1, len(off)), torch.tensor(tokens)] = True
    return off
