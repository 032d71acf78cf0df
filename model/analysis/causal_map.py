"""Where the answer lives: what one place has in the other run is put in its stead, and what that changes.

Activation patching (Meng et al. 2022, arXiv 2202.05262) over a pair of prompts (nodes.py): of the residual stream at
one layer and token, or of what a layer's attention or feed-forward writes there. A network with an encoder has a map
for each of its stacks.

In a causal network a patched run is the first run in all layers below and at all tokens before. So it joins at its own
layer, and reads the tokens before from the first run's keys and values.
Symbols: L n_layers of the stack, T tokens of the text that it reads, d d_model, R rows of a pass.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ..cache import KVCache
from ..forward_pass import Pass
from ..network import Stack, StackName
from ..pieces import Work, in_pieces, rows_of_a_piece
from ..taps import capture
from .nodes import FREE_TOKENS, Pair, Swap, last_logits, rows_of_a_pass, share_of, swapped
from .read_before import ReadBefore, read_text_once

Patched = Literal["stream", "attention", "ffn"]
WRITES: dict[Patched, str] = {"attention": "attn_out", "ffn": "ffn_out"}


@in_pieces
def causal_map(
    pair: Pair, rows: int | None = None, stack: StackName | None = None, what: Patched = "stream"
) -> Work[Float[Tensor, "depths T"]]:
    """The share of the logit difference that is left where one place has what it has in the other run.

    1: nothing is lost; 0: the other run's difference. Of the "stream" (L + 1, T): row l is before layer l (L: before
    the final norm). Of "attention" or "ffn" (L, T): what that part of layer l writes. `stack` is that of two, the
    decoder unless it is named. `rows` patched runs go in one pass, a piece of the work.
    """
    if pair.before is not None:
        return (yield from _joining(pair, rows, what))
    net, (own, ids) = pair.lm.net, _stack(pair, stack)
    names = _names(own, what)
    with torch.inference_mode(), capture(net, *names) as seen:
        last_logits(net, pair.other_texts)
    yield
    places = [(depth, token) for depth in range(len(names)) for token in range(ids.shape[1])]
    rows, found = rows or rows_of_a_pass(pair), []
    for start in range(0, len(places), rows):
        part = places[start : start + rows]
        swaps: dict[str, Swap] = {}
        for depth in sorted({depth for depth, _ in part}):
            here = [(row, token) for row, (at, token) in enumerate(part) if at == depth]
            swaps[names[depth]] = _placed(here, seen[names[depth]][0])
        with torch.inference_mode(), swapped(net, swaps):
            found.append(share_of(pair, pair.lead(len(part))).float().cpu())
        yield
    return torch.cat(found).view(len(names), -1)


def _names(stack: Stack, what: Patched) -> list[str]:
    """The taps at which a map patches, by depth."""
    tap = WRITES.get(what, "resid_in")
    names = [f"{stack.prefix}layers.{i}.{tap}" for i in range(stack.net.config.n_layers)]
    return [*names, f"{stack.prefix}final_resid"] if what == "stream" else names


@dataclass(frozen=True)
class _Joining:
    """A causal pair's first run, `own` (L + 1, T, d) before every layer and after the last, with its `cache`; and by
    depth what is patched in, `theirs` (T, d)."""

    pair: Pair
    what: Patched
    own: Float[Tensor, "depths T d"]
    cache: KVCache
    theirs: Sequence[Float[Tensor, "T d"]]

    def shares(self, token: int, depths: Sequence[int]) -> Float[Tensor, "R"]:
        """What is left where `token` is patched at each of these depths, which follow each other."""
        net, tokens = self.pair.lm.net, self.own.shape[1]
        positions, before = net.positions(token, tokens - token), ReadBefore(self.cache, token)
        x = self.own[:0, token:]
        for layer in range(depths[0], net.config.n_layers):
            x = self._joined(x, layer, token, layer in depths)
            swaps = self._patched_here(layer, token) if layer in depths else {}
            with swapped(net, swaps):
                x = net.block(layer)(x, Pass(positions, layer, before, token))
        x = self._joined(x, net.config.n_layers, token, net.config.n_layers in depths)
        return share_of(self.pair, self.pair.lead_after(x)).float().cpu()

    def _joined(self, x: Float[Tensor, "R S d"], depth: int, token: int, joins: bool) -> Float[Tensor, "_ S d"]:
        """The rows, and one more of the first run where it joins at this depth."""
        if not joins:
            return x
        row = self.own[depth, token:].clone()
        if self.what == "stream":
            row[0] = self.theirs[depth][token]
        return torch.cat([x, row[None]])

    def _patched_here(self, layer: int, token: int) -> dict[str, Swap]:
        """The newest row has the other run's write at its first token."""
        if self.what == "stream":
            return {}

        def place(written: Float[Tensor, "R S d"]) -> Float[Tensor, "R S d"]:
            changed = written.clone()
            changed[-1, 0] = self.theirs[layer][token]
            return changed

        return {f"layers.{layer}.{WRITES[self.what]}": place}


def _joining(pair: Pair, rows: int | None, what: Patched) -> Work[Float[Tensor, "depths T"]]:
    """The map of a causal network: 1 at tokens before the first that differs."""
    net, tokens = pair.lm.net, pair.ids.shape[1]
    names, streams = _names(net.stacks[0], what), _names(net.stacks[0], "stream")
    with torch.inference_mode(), capture(net, *streams) as seen:
        cache = read_text_once(pair.lm, pair.ids)
    yield
    with torch.inference_mode(), capture(net, *names) as theirs:
        last_logits(net, pair.other_texts)
    yield
    run = _Joining(pair, what, torch.cat([seen[name] for name in streams]), cache, [theirs[n][0] for n in names])
    left = torch.ones(len(names), tokens)
    for token in range(pair.start, tokens):
        count = tokens - token
        some = rows or max(rows_of_a_piece(pair.lm, count), FREE_TOKENS // count)
        for start in range(0, len(names), some):
            depths = range(start, min(start + some, len(names)))
            with torch.inference_mode():
                left[start : depths.stop, token] = run.shares(token, depths)
            yield
    return left


def _stack(pair: Pair, name: StackName | None) -> tuple[Stack, Int[Tensor, "1 T"]]:
    """The stack of this name, the last one for None, and the text that it reads."""
    both = list(zip(pair.lm.net.stacks, pair.texts, strict=True))
    return next((one for one in both if one[0].name == name), both[-1])


def _placed(places: list[tuple[int, int]], theirs: Float[Tensor, "T d"]) -> Swap:
    rows, tokens = (list(column) for column in zip(*places, strict=True))

    def place(stream: Float[Tensor, "C T d"]) -> Float[Tensor, "C T d"]:
        changed = stream.clone()
        changed[rows, tokens] = theirs[tokens]
        return changed

    return place
