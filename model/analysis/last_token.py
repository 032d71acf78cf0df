"""Many versions of a text's last token, read in one pass behind the tokens before it, which are read once.

With causal attention no token before the last one sees it. So what is changed in the last token alone leaves the keys
and values of all others as they are. The versions stand behind these as R rows of one sequence, all at the last
token's position; each row sees the tokens before and itself, and no other row. So R versions cost no more than R
tokens.

Symbols: T tokens of the text, R rows, L n_layers, d d_model, V vocabulary.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

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

MOST_ROWS = 32  # of one pass: the cache has room for so many
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

    def spikes(self) -> Float[Tensor, "T"]:
        """How large a token's residual stream becomes: over the layers that enter with a channel beyond LARGE, the most
        that its largest |x| is of the median |x| of that layer; 0 where no channel is."""
        return torch.stack([spike(stream) for stream in self.streams]).amax(0)


@dataclass(frozen=True)
class _OnePosition:
    """Rows that all stand where `single`, the encoding of one token, stands; `mask` says what each sees, by head or for
    all."""

    single: PositionEncoding
    mask: Bool[Tensor, "*heads R S"]

    @property
    def bias(self) -> Float[Tensor, "n_heads R S"] | None:
        """That of the single token: each row has its own last column, which is at distance 0 from it."""
        bias, (rows, seen) = self.single.bias, self.mask.shape[-2:]
        if bias is None:
            return None
        return torch.cat([bias, bias[..., -1:].expand(-1, -1, seen - bias.shape[-1])], -1).expand(-1, rows, -1)

    def rotate(self, x: Float[Tensor, "B heads R head_dim"]) -> Float[Tensor, "B heads R head_dim"]:
        """Queries or keys, all rotated to the one position."""
        return self.single.rotate(x.transpose(0, 2)).transpose(0, 2)

    def at(self, position: int) -> PositionEncoding:
        """The encoding of one row, in float64 on the CPU: the same for all."""
        return self.single.at(0)


@dataclass(frozen=True)
class _LastPositions:
    """Rows that stand where the last tokens stand, behind all tokens but the last; `mask` says what each sees."""

    own: PositionEncoding
    mask: Bool[Tensor, "R S"]

    @property
    def bias(self) -> Float[Tensor, "n_heads R S"] | None:
        """That of these tokens: of the keys that are read, then of the rows' own."""
        bias, rows = self.own.bias, len(self.mask)
        return None if bias is None else torch.cat([bias[..., :-1], bias[..., -rows:]], -1)

    def rotate(self, x: Float[Tensor, "B heads R head_dim"]) -> Float[Tensor, "B heads R head_dim"]:
        """Queries or keys, rotated to their positions."""
        return self.own.rotate(x)

    def at(self, position: int) -> PositionEncoding:
        """The encoding of one row, in float64 on the CPU."""
        return self.own.at(position)


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
) -> Float[Tensor, "R V"]:
    """Log-probabilities after each of 2 to MOST_ROWS rows of the last token.

    `hidden(layer)` is True where a row may not look at a token in that layer, with all heads or (n_heads, R, T) with
    each; the last column is the row itself. With `eager` the taps of scores and weights are passed, each
    (1, n_heads, R, T - 1 + R). Below layer `begin` all rows are the last token as it was read. To be called in
    inference mode.
    """
    assert 2 <= rows <= MOST_ROWS  # a single query would see all keys, whatever its mask
    net, before = read.lm.net, len(read.ids) - 1
    single = net.positions(before, 1)
    own = torch.eye(rows, dtype=torch.bool, device=read.lm.device)
    with intervened(net, read.changed.lasting):
        x = read.streams[begin, -1].expand(1, rows, -1)
        for layer in range(begin, net.config.n_layers):
            off = hidden(layer)
            sees = torch.cat([~off[..., :-1], own & ~off[..., -1:]], -1)
            x = net.block(layer)(x, Pass(_OnePosition(single, sees), layer, read.cache, before, eager))
        return net.unembed(net.apply_final_norm(x))[0].float().log_softmax(-1)


def logs_of_last(read: TextRead, few: int, seen: Collection[int]) -> Float[Tensor, "V"]:
    """Log-probabilities after a text whose last 2 to MOST_ROWS tokens see each other and the tokens at `seen` alone.

    The tokens before them are as they were read. To be called in inference mode.
    """
    assert 2 <= few <= min(MOST_ROWS, len(read.ids))
    net, before, first = read.lm.net, len(read.ids) - 1, len(read.ids) - few
    sees = torch.zeros(few, before + few, dtype=torch.bool, device=read.lm.device)
    sees[:, [token for token in seen if token < first]] = True
    sees[:, before:] = torch.ones(few, few, dtype=torch.bool, device=read.lm.device).tril()
    positions = _LastPositions(net.positions(first, few), sees)
    with intervened(net, read.changed.lasting):
        x = read.streams[0, first:][None]
        for layer in range(net.config.n_layers):
            x = net.block(layer)(x, Pass(positions, layer, read.cache, before))
        return net.unembed(net.apply_final_norm(x[:, -1:]))[0, 0].float().log_softmax(-1)
