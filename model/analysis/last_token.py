"""Many versions of a text's last token, read in one pass behind the tokens before it, which are read once.

With causal attention no token before the last one sees it. So what is changed in the last token alone leaves the keys
and values of all others as they are. The versions stand behind these as R rows of one sequence, all at the last
token's position; each row sees the tokens before and itself, and no other row. So R versions cost no more than R
tokens.

Symbols: T tokens of the text, R rows, L n_layers, d d_model, V vocabulary.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ..cache import KVCache
from ..checkpoint import LanguageModel
from ..errors import GlassLlamaError
from ..forward_pass import Pass
from ..interventions import NOTHING, Intervention, intervened
from ..positions import PositionEncoding
from ..prompt import prompt_ids
from ..taps import capture
from .read_before import is_causal

MOST_ROWS = 64  # of one pass: the cache has room for so many
LARGE = 100  # |x| of the residual stream


@dataclass(frozen=True)
class TextRead:
    """A text that was read once: `cache` holds its keys and values and has room for MOST_ROWS rows of the last token.

    `log_p` (V,) are the log-probabilities of the token that follows, in float32, and `streams` (L + 1, T, d) the
    residual stream before each layer and after the last. `changed` is what is changed in the network meanwhile.
    """

    lm: LanguageModel
    ids: list[int]
    cache: KVCache
    log_p: Float[Tensor, "V"]
    streams: Float[Tensor, "depths T d"]
    changed: Intervention

    @property
    def answer(self) -> int:
        """The most probable next token."""
        return int(self.log_p.argmax())

    @property
    def nbytes(self) -> int:
        """What its arrays take."""
        return sum(one.nbytes for one in (self.streams, *self.cache.keys, *self.cache.values))

    def spikes(self) -> Float[Tensor, "T"]:
        """How large a token's residual stream becomes: over the layers that enter with a channel beyond LARGE, the most
        that its largest |x| is of the median |x| of that layer; 0 where no channel is."""
        return torch.stack([spike(stream) for stream in self.streams]).amax(0)


class Few(NamedTuple):
    """The last `tokens` of a text, which see each other and those at `seen` alone."""

    tokens: int
    seen: Collection[int]


@dataclass(frozen=True)
class _RowPositions:
    """`rows` rows that all stand where `single`, the encoding of one token, stands, and behind them the last tokens,
    if there are any, where `own` has them; `mask` says what each sees, by head or for all."""

    rows: int
    single: PositionEncoding
    own: PositionEncoding | None
    mask: Bool[Tensor, "*heads R S"]

    @property
    def bias(self) -> Float[Tensor, "n_heads R S"] | None:
        """That of the single token: each row has its own last column, which is at distance 0 from it. The last tokens
        have theirs; no row sees any of these columns but its own."""
        bias = self.single.bias
        if bias is None:
            return None
        seen, count = self.mask.shape[-1], self.mask.shape[-2] - self.rows
        wide = torch.cat([bias, bias[..., -1:].expand(-1, -1, seen - bias.shape[-1])], -1).expand(-1, self.rows, -1)
        if self.own is None or self.own.bias is None:
            return wide
        last = self.own.bias
        between = last.new_zeros(len(last), count, self.rows)
        return torch.cat([wide, torch.cat([last[..., :-1], between, last[..., -count:]], -1)], -2)

    def rotate(self, x: Float[Tensor, "B heads R head_dim"]) -> Float[Tensor, "B heads R head_dim"]:
        """Queries or keys, rotated: rows to the one position, the last tokens to theirs."""
        rows = self.single.rotate(x[:, :, : self.rows].transpose(0, 2)).transpose(0, 2)
        return rows if self.own is None else torch.cat([rows, self.own.rotate(x[:, :, self.rows :])], 2)

    def at(self, position: int) -> PositionEncoding:
        """The encoding of one row, in float64 on the CPU: the same for all."""
        return self.single.at(0)


def read_text(lm: LanguageModel, text: str | Sequence[int], changed: Intervention = NOTHING) -> TextRead:
    """One pass over a text. Raises GlassLlamaError as `prompt_ids`, `check_causal` and `intervened` do."""
    check_causal(lm)
    ids = prompt_ids(lm, text)
    with torch.inference_mode(), intervened(lm.net, changed):
        cache = lm.net.cache(len(ids) - 1 + MOST_ROWS)
        with capture(lm.net, "layers.*.resid_in", "final_resid", record=lambda stream: stream[0]) as seen:
            logits = lm.net(torch.tensor([ids], device=lm.device), cache, last_only=True)[0, -1]
        streams = torch.stack([*seen.values()])
    return TextRead(lm, ids, cache, logits.float().log_softmax(-1), streams, changed)


def spike(stream: Float[Tensor, "T d"]) -> Float[Tensor, "T"]:
    """By token, its largest |x| as a multiple of the median |x| of all tokens; 0 where it is not beyond LARGE."""
    size = stream.float().abs()
    largest = size.amax(-1)
    return torch.where(largest > LARGE, largest / size.median(), 0)


def check_causal(lm: LanguageModel) -> None:
    """Raises GlassLlamaError for a network in which a token sees those after it: one with an encoder or a prefix."""
    if lm.reads_source:
        raise GlassLlamaError(
            "bad_request",
            "this network reads its text with an encoder; expected one whose tokens see those before alone.",
        )
    if not is_causal(lm.net):
        raise GlassLlamaError(
            "bad_request", "the first tokens of this network all see each other; expected a causal mask (prefix 0)."
        )


def last_token_logs(
    read: TextRead,
    rows: int,
    hidden: Callable[[int], Bool[Tensor, "*heads R T"]],
    eager: bool = False,
    begin: int = 0,
    few: Few | None = None,
) -> Float[Tensor, "R V"]:
    """Log-probabilities after each of 2 to MOST_ROWS rows of the last token.

    `hidden(layer)` is True where a row may not look at a token in that layer, with all heads or (n_heads, R, T) with
    each; the last column is the row itself. With `eager` the taps of scores and weights are passed, each
    (1, n_heads, R, T - 1 + R). Below layer `begin` all rows are the last token as it was read. With `few` one row more
    is told: the last token where the last few see each other and some tokens alone, in all layers (`hidden` is (R, T)
    and `begin` 0 then). To be called in inference mode.
    """
    last = 0 if few is None else few.tokens
    assert 2 <= rows <= MOST_ROWS - last  # a single query would see all keys, whatever its mask
    net, before = read.lm.net, len(read.ids) - 1
    single = net.positions(before, 1)
    own_positions = net.positions(before + 1 - last, last) if last else None
    own = torch.eye(rows, dtype=torch.bool, device=read.lm.device)
    with intervened(net, read.changed.lasting):
        x = read.streams[begin, -1].expand(1, rows, -1)
        if last:
            x = torch.cat([x, read.streams[0, -last:][None]], 1)
        for layer in range(begin, net.config.n_layers):
            off = hidden(layer)
            if single.mask is not None:  # a window
                off = off | ~single.mask
            sees = torch.cat([~off[..., :-1], own & ~off[..., -1:]], -1)
            if few is not None:
                sees = _with_few(sees, few, before, None if own_positions is None else own_positions.mask)
            positions = _RowPositions(rows, single, own_positions, sees)
            x = net.block(layer)(x, Pass(positions, layer, read.cache, before, eager))
        told = torch.cat([x[:, :rows], x[:, -1:]], 1) if last else x
        return net.unembed(net.apply_final_norm(told))[0].float().log_softmax(-1)


def _with_few(
    sees: Bool[Tensor, "R S"], few: Few, before: int, mask: Bool[Tensor, "few T"] | None
) -> Bool[Tensor, "all_rows all_seen"]:
    """What rows see, and behind them what the last few tokens see: of the tokens before them some, and each other, so
    far as their own mask lets them."""
    rows, seen = sees.shape
    found = sees.new_zeros(rows + few.tokens, seen + few.tokens)
    found[:rows, :seen] = sees
    first = before + 1 - few.tokens
    found[rows:, [token for token in few.seen if token < first]] = True
    found[rows:, seen:] = sees.new_ones(few.tokens, few.tokens).tril()
    if mask is not None:
        found[rows:, :first] &= mask[:, :first]
        found[rows:, seen:] &= mask[:, first:]
    return found
