"""The nodes of a run, what each is worth for an answer, and runs in which only some of them keep their part.

Two prompts of as many tokens differ in what they tell or ask, and so in the answer. A *node* is what one head, or one
layer's FFN, writes to the residual stream at one token. Where an encoder reads the prompt, its nodes stand at the
prompt's tokens and the decoder's at those that are written so far, which are the same in both runs. Nodes are ranked by
node-level attribution with integrated gradients: |Σ (v - v')·g|, with v and v' a node's values in the two runs and g
the gradient of the logit difference, averaged over POINTS runs between the two prompts' embeddings (Hanna, Pezzelle and
Belinkov 2024, arXiv 2403.17806, do so for edges: EAP-IG). A gradient only promises; what some nodes recover is run.

No token before the first that differs has another value in any of these runs. A causal network reads them once.

Symbols: L n_layers, T tokens of the text that a stack reads, S those from the first that differs on (T of a network
that is not causal), d d_model, C circuits measured at once, V vocabulary.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ..checkpoint import LanguageModel
from ..errors import GlassLlamaError
from ..forward_pass import Pass
from ..network import Network, StackName, Writer
from ..pieces import Work, in_pieces, rows_of_a_piece
from ..prompt import prompt_ids, target_ids
from ..tiled import weight_rows
from .read_before import ReadBefore, is_causal, read_text_once

POINTS = 8
FREE_TOKENS = 32  # in one pass: about as many as take no longer than reading the weights does
Swap = Callable[[Tensor], Tensor]
NodeKind = Literal[Writer, "embedding", "logits"]


class Node(NamedTuple):
    """What one head ("head") or one layer's feed-forward ("ffn", `head` None) writes at one token.

    At the ends of edges also stand a token's embedding ("embedding", layer -1) and the logits ("logits", layer L).
    """

    kind: NodeKind
    layer: int
    head: int | None
    token: int

    stack = None


class StackNode(NamedTuple):
    """The same in a network with an encoder, and in which of its stacks; "cross" is a head that looks at the source."""

    kind: NodeKind
    layer: int
    head: int | None
    token: int
    stack: StackName


AnyNode = Node | StackNode


class Site(NamedTuple):
    """Where nodes are: all heads of a kind, or the feed-forward, of one layer of a stack."""

    stack: StackName | None
    kind: Writer
    layer: int


# A value for each node of a run: of every site, by token and head, (T, n_heads, width). A feed-forward is one head.
Values = dict[Site, Float[Tensor, "T n_heads width"]]
# Which nodes keep their own values, for each of C circuits; as floats, how much of them (exchange.py).
NodeMask = dict[Site, Bool[Tensor, "C T n_heads"] | Float[Tensor, "C T n_heads"]]


@dataclass(frozen=True)
class Pair:
    """Two prompts of as many tokens, their runs' values, and the two answers.

    `first` and `second` are the logits of `answer` less that of `other`, where each prompt runs as it is. `written` are
    the tokens that follow on what an encoder reads, the start token first; None where there is no encoder. `before`
    are the tokens before the first that differs, read once, for a causal network.
    """

    lm: LanguageModel
    ids: Int[Tensor, "1 T"]
    other_ids: Int[Tensor, "1 T"]
    written: Int[Tensor, "1 W"] | None
    answer: int
    other: int
    first: float
    second: float
    values: Values
    other_values: Values
    before: ReadBefore | None

    @property
    def start(self) -> int:
        """The first token that runs; the ones before have the same values in all runs."""
        return 0 if self.before is None else self.before.capacity

    @property
    def texts(self) -> tuple[Int[Tensor, "1 _"], ...]:
        """What each stack of the network reads in the first run."""
        return _texts(self.ids, self.written)

    @property
    def other_texts(self) -> tuple[Int[Tensor, "1 _"], ...]:
        """What each stack reads in the other run."""
        return _texts(self.other_ids, self.written)

    def lead(self, rows: int = 1) -> Float[Tensor, "C"]:
        """The logit of `answer` less that of `other` after the first run's texts, in as many rows, changed by whatever
        hangs on the network."""
        net = self.lm.net
        if self.before is None:
            return self.lead_of(last_logits(net, [ids.expand(rows, -1) for ids in self.texts]))
        x = net.embed_tokens(self.ids[:, self.start :].expand(rows, -1), self.start)
        for layer in range(net.config.n_layers):
            x = net.block(layer)(x, self.at(layer))
        return self.lead_after(x)

    def at(self, layer: int) -> Pass:
        """What a layer of a causal network must know of a run from `start` on."""
        positions = self.lm.net.positions(self.start, self.ids.shape[1] - self.start)
        return Pass(positions, layer, self.before, self.start)

    def lead_after(self, stream: Float[Tensor, "C S d"]) -> Float[Tensor, "C"]:
        """The same from the stream after the last layer: the head reads the last token for two answers alone."""
        net = self.lm.net
        normed = net.apply_final_norm(stream)[:, -1] * net.head_scale
        both = [self.answer, self.other]
        bias = None if net.head.bias is None else net.head.bias[both]
        one, two = F.linear(normed, weight_rows(net.head, both), bias).float().unbind(-1)
        return one - two

    def lead_of(self, logits: Float[Tensor, "C V"]) -> Float[Tensor, "C"]:
        """The logit of `answer` less that of `other`, of these."""
        return logits[:, self.answer].float() - logits[:, self.other].float()


def tokens_of_a_row(pair: Pair) -> int:
    """How many tokens of the pair's texts run in a row."""
    return sum(ids.shape[1] for ids in pair.texts) - pair.start


def rows_of_a_pass(pair: Pair) -> int:
    """How many rows of the pair's texts run in one piece of work."""
    tokens = tokens_of_a_row(pair)
    return max(rows_of_a_piece(pair.lm, tokens), FREE_TOKENS // tokens)


@in_pieces
def run_pair(
    lm: LanguageModel,
    prompt: str | Sequence[int],
    other: str | Sequence[int],
    target: str | Sequence[int] | None = None,
) -> Work[Pair]:
    """Both prompts run; the answers are the most probable next tokens of the two.

    Where an encoder reads the prompt, `target` is what is written so far (nothing), as in run_trace. Raises
    GlassLlamaError where the prompts have different numbers of tokens or the same answer.
    """
    after = target_ids(lm, target)
    one, two = (torch.tensor([prompt_ids(lm, text)], device=lm.device) for text in (prompt, other))
    if one.shape != two.shape:
        counts = one.shape[1], two.shape[1]
        raise GlassLlamaError(
            "circuit_tokens",
            f"other: it has {counts[1]} tokens; expected {counts[0]}, as many as the prompt has.",
            tokens=counts[1],
            expected=counts[0],
        )
    written, before, shared = None, None, dict[Site, Tensor]()
    if lm.reads_source:
        _, begun = lm.net.start_decoding(one[0].tolist())
        written = torch.tensor([begun + after], device=lm.device)
    if is_causal(lm.net):
        differ = (one != two)[0].nonzero()[:, 0].tolist()
        before, shared = _read_before(lm, one[:, : differ[0] if differ else one.shape[1] - 1])
        yield
    start = 0 if before is None else before.capacity
    at_once = 2 if one.shape[1] - start <= FREE_TOKENS else 1  # both in one pass, where one leaves the machine waiting
    ran: list[tuple[Tensor, Values]] = []
    for rows in torch.cat([one, two])[:, start:].split(at_once):
        ran += _values(lm.net, _texts(rows, None if written is None else written.expand(len(rows), -1)), before)
        yield
    (first, values), (second, other_values) = [
        (logits, {site: torch.cat([shared[site], own]) if shared else own for site, own in rest.items()})
        for logits, rest in ran
    ]
    answer, other_answer = int(first.argmax()), int(second.argmax())
    if answer == other_answer:
        raise GlassLlamaError(
            "circuit_answer",
            f"other: the most probable next token is the same ({lm.tokenizer.pieces([answer])[0]!r}); expected a text "
            "with another answer.",
            piece=lm.tokenizer.pieces([answer])[0],
        )
    one_way, other_way = (float(logits[answer] - logits[other_answer]) for logits in (first, second))
    return Pair(lm, one, two, written, answer, other_answer, one_way, other_way, values, other_values, before)


@in_pieces
def rank(pair: Pair, points: int = POINTS) -> Work[tuple[list[AnyNode], list[float]]]:
    """Every node, the largest attribution in size first, and its attribution in logits (see above)."""
    way = [(point + 0.5) / points for point in range(points)]
    # A pass back takes twice as long as one forth, and reading the weights for it, too.
    rows = max(1, rows_of_a_pass(pair) // 2, 2 * FREE_TOKENS // tokens_of_a_row(pair))
    slopes: dict[Site, Tensor] = {}
    for start in range(0, points, rows):
        for site, slope in _slopes(pair, way[start : start + rows]).items():
            slopes[site] = slope + slopes.get(site, 0)
        yield
    scores: list[float] = []
    for site, value in pair.values.items():
        push = (value - pair.other_values[site]).float()
        push[: pair.start] = 0
        push[pair.start :] *= slopes.get(site, 0) / points
        scores += push.sum(-1).flatten().tolist()
    best = sorted(zip(all_nodes(pair), scores, strict=True), key=lambda one: -abs(one[1]))
    return [node for node, _ in best], [score for _, score in best]


def _slopes(pair: Pair, way: Sequence[float]) -> dict[Site, Float[Tensor, "S n_heads width"]]:
    """The gradient of the logit difference at every node that it follows, summed over points of the way from the other
    prompt's embeddings (0) to the first's (1)."""
    net = pair.lm.net
    reader = net.stacks[0]
    with torch.inference_mode(False), torch.enable_grad():
        both = (pair.ids, pair.other_ids)
        ends = [reader.net.embed_tokens(ids[:, pair.start :], pair.start).detach().clone() for ids in both]
        parts = torch.tensor(way, device=pair.lm.device, dtype=ends[0].dtype)[:, None, None]
        nudges, swaps = _nudges(net)
        between = {f"{reader.prefix}layers.0.resid_in": lambda _: ends[1] + parts * (ends[0] - ends[1])}
        with swapped(net, swaps | between):
            pair.lead(len(way)).sum().backward()
    return {site: nudge.grad.float().sum(0) for site, nudge in nudges.items() if nudge.grad is not None}


def all_nodes(pair: Pair) -> list[AnyNode]:
    """Every node of a pair's runs, in the order of `Values`: site by site, by token and head."""
    return [
        node_at(site, None if site.kind == "ffn" else head, token)
        for site, value in pair.values.items()
        for token in range(value.shape[0])
        for head in range(value.shape[1])
    ]


def node_at(site: Site, head: int | None, token: int) -> AnyNode:
    """One of a site's nodes."""
    node = Node(site.kind, site.layer, head, token)
    return node if site.stack is None else StackNode(*node, site.stack)


def site_of(node: AnyNode) -> Site:
    """Where a head or feed-forward is, whatever its token."""
    assert node.kind not in ("embedding", "logits")
    return Site(node.stack, node.kind, node.layer)


def keep(pair: Pair, circuits: Sequence[Iterable[AnyNode]]) -> NodeMask:
    """Circuits as masks."""
    kept = {
        site: torch.zeros(len(circuits), *value.shape[:2], dtype=torch.bool, device=value.device)
        for site, value in pair.values.items()
    }
    for i, nodes in enumerate(circuits):
        for node in nodes:
            kept[site_of(node)][i, node.token, node.head or 0] = True
    return kept


def others_swapped(pair: Pair, kept: NodeMask, swap: Callable[[Tensor, Tensor], Swap] | None = None) -> dict[str, Swap]:
    """What sets every node outside of C circuits to the other run's value, in a pass of C rows.

    `swap` makes the change of a site's values from what is kept of them and the other run's.
    """
    swap, taps = swap or _unless, sites(pair.lm.net)
    start = pair.start
    return {
        taps[site]: _by_head(site, swap(kept[site][:, start:, :, None], pair.other_values[site][start:]))
        for site in kept
    }


def share_of(pair: Pair, lead: Float[Tensor, "C"]) -> Float[Tensor, "C"]:
    """The share of the pair's logit difference that these leads are: 1 the first run's, 0 the other's."""
    return (lead - pair.second) / (pair.first - pair.second)


@contextmanager
def swapped(net: Network, swaps: dict[str, Swap]) -> Iterator[None]:
    """While the context is open, what these modules give is what `swaps` make of it; the changes always come off."""
    handles = []
    try:
        for name, swap in swaps.items():
            module = net.get_submodule(name)
            handles.append(module.register_forward_hook(lambda _, __, value, swap=swap: swap(value)))
        yield
    finally:
        for handle in handles:
            handle.remove()


def sites(net: Network) -> dict[Site, str]:
    """All sites of a network with their taps: stack by stack, in each of them kind by kind, the feed-forwards last."""
    found: dict[Site, str] = {}
    for name, prefix, stack in net.stacks:
        blocks = [stack.block(i) for i in range(stack.config.n_layers)]
        for kind in blocks[0].writes:
            found |= {Site(name, kind, i): f"{prefix}layers.{i}.{block.writes[kind]}" for i, block in enumerate(blocks)}
    return found


def last_logits(net: Network, texts: Sequence[Int[Tensor, "C _"]]) -> Float[Tensor, "C V"]:
    """The logits after these texts, one for each stack of the network."""
    return net(*texts, last_only=True)[:, -1]


def _texts(ids: Tensor, written: Tensor | None) -> tuple[Tensor, ...]:
    return (ids,) if written is None else (ids, written)


def _read_before(lm: LanguageModel, ids: Int[Tensor, "1 T"]) -> tuple[ReadBefore, Values]:
    """Tokens that both runs begin with, read once, and each node's value at them; none of no tokens."""
    with _keeping_values(lm.net) as seen:
        read = ReadBefore(read_text_once(lm, ids), ids.shape[1])
    return read, {site: value[0] for site, value in seen.items()}


def _values(
    net: Network, texts: Sequence[Int[Tensor, "C _"]], before: ReadBefore | None
) -> list[tuple[Float[Tensor, "V"], Values]]:
    """Of each row: the logits of the last position (float32), and each node's value at the tokens of these texts. With
    `before` they go on from there."""
    with torch.inference_mode(), _keeping_values(net) as seen:
        if before is None:
            logits = last_logits(net, texts).float()
        else:
            logits = net(*texts, before, before.capacity, last_only=True)[:, -1].float()
    return [(row, {site: value[i] for site, value in seen.items()}) for i, row in enumerate(logits)]


@contextmanager
def _keeping_values(net: Network) -> Iterator[dict[Site, Float[Tensor, "C T n_heads width"]]]:
    """While the context is open, the values of all nodes are put into the dict, site by site in the order of `sites`
    once it closes."""
    seen: dict[Site, Tensor] = {}
    taps = sites(net)

    def keeping(site: Site) -> Swap:
        def look(value: Tensor) -> Tensor:
            seen[site] = value
            return value

        return _by_head(site, look)

    with swapped(net, {tap: keeping(site) for site, tap in taps.items()}):
        yield seen
    ordered = [(site, seen[site]) for site in taps if site in seen]
    seen.clear()
    seen.update(ordered)


def _nudges(net: Network) -> tuple[dict[Site, Tensor], dict[str, Swap]]:
    """A zero added to every node, whose gradient is the node's."""
    nudges: dict[Site, Tensor] = {}

    def nudging(site: Site) -> Swap:
        def add(value: Tensor) -> Tensor:
            nudges[site] = torch.zeros_like(value, requires_grad=True)
            return value + nudges[site]

        return _by_head(site, add)

    return nudges, {tap: nudging(site) for site, tap in sites(net).items()}


def _by_head(site: Site, swap: Swap) -> Swap:
    """A change of a site's values by head as one of what its tap gives: of a feed-forward there is one."""
    return (lambda value: swap(value[..., None, :])[..., 0, :]) if site.kind == "ffn" else swap


def _unless(kept: Bool[Tensor, "C T *one"], theirs: Float[Tensor, "T *width"]) -> Swap:
    return lambda value: torch.where(kept, value, theirs)
