"""The nodes of a run, what each is worth for an answer, and runs in which only some of them keep their part.

Two prompts of as many tokens differ in what they tell or ask, and so in the answer. A *node* is what one head, or one
layer's FFN, writes to the residual stream at one token. Nodes are ranked by attribution patching with integrated
gradients (EAP-IG; Hanna, Pezzelle and Belinkov 2024, arXiv 2403.17806): |Σ (v - v')·g|, with v and v' a node's values
in the two runs and g the gradient of the logit difference, averaged over POINTS runs between the two prompts'
embeddings. A gradient only promises; what some nodes recover is run.

Symbols: L n_layers, T tokens, d d_model, C circuits measured at once, V vocabulary.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ..checkpoint import LanguageModel
from ..errors import GlassLlamaError
from ..network import Network
from ..prompt import prompt_ids

POINTS = 8
HEADS, FFN = "layers.{}.attn.mixed", "layers.{}.ffn_out"
Swap = Callable[[Tensor], Tensor]


class Node(NamedTuple):
    """What one head ("head") or one layer's feed-forward ("ffn", `head` None) writes at one token.

    At the ends of edges also stand a token's embedding ("embedding", layer -1) and the logits ("logits", layer L).
    """

    kind: Literal["head", "ffn", "embedding", "logits"]
    layer: int
    head: int | None
    token: int


class Values(NamedTuple):
    """A value for each node of a run: heads before W_O, (…, L, T, n_heads, head_dim), and FFNs, (…, L, T, d)."""

    heads: Tensor
    ffn: Tensor


class Kept(NamedTuple):
    """Which nodes keep their own values, for each of C circuits; as floats, how much of them (exchange.py)."""

    heads: Bool[Tensor, "C L T n_heads"] | Float[Tensor, "C L T n_heads"]
    ffn: Bool[Tensor, "C L T"] | Float[Tensor, "C L T"]


@dataclass(frozen=True)
class Pair:
    """Two prompts of as many tokens, their runs' values, and the two answers.

    `first` and `second` are the logits of `answer` less that of `other`, where each prompt runs as it is.
    """

    lm: LanguageModel
    ids: Int[Tensor, "1 T"]
    other_ids: Int[Tensor, "1 T"]
    answer: int
    other: int
    first: float
    second: float
    values: Values
    other_values: Values

    @property
    def shape(self) -> tuple[int, int, int]:
        """L, T, n_heads."""
        return self.lm.config.n_layers, self.ids.shape[1], self.lm.config.n_heads


def run_pair(lm: LanguageModel, prompt: str | Sequence[int], other: str | Sequence[int]) -> Pair:
    """Both prompts run; the answers are the most probable next tokens of the two.

    Raises GlassLlamaError where the prompts have different numbers of tokens or the same answer.
    """
    one, two = (torch.tensor([prompt_ids(lm, text)], device=lm.device) for text in (prompt, other))
    if one.shape != two.shape:
        counts = one.shape[1], two.shape[1]
        raise GlassLlamaError(
            "circuit_tokens",
            f"other: it has {counts[1]} tokens; expected {counts[0]}, as many as the prompt has.",
            tokens=counts[1],
            expected=counts[0],
        )
    (first, values), (second, other_values) = _values(lm, one), _values(lm, two)
    answer, other_answer = int(first.argmax()), int(second.argmax())
    if answer == other_answer:
        raise GlassLlamaError(
            "circuit_answer",
            f"other: the most probable next token is the same ({lm.tokenizer.pieces([answer])[0]!r}); expected a text "
            "with another answer.",
            piece=lm.tokenizer.pieces([answer])[0],
        )
    one_way, other_way = (float(logits[answer] - logits[other_answer]) for logits in (first, second))
    return Pair(lm, one, two, answer, other_answer, one_way, other_way, values, other_values)


def rank(pair: Pair, points: int = POINTS) -> tuple[list[Node], list[float]]:
    """Every node, the largest attribution in size first, and its attribution in logits (EAP-IG, see above)."""
    net = pair.lm.net
    with torch.inference_mode(False), torch.enable_grad():
        ends = [net.embed(ids).detach().clone() for ids in (pair.ids, pair.other_ids)]
        way = (torch.arange(points, device=pair.lm.device, dtype=ends[0].dtype) + 0.5)[:, None, None] / points
        nudges, swaps = _nudges(net)
        between = {"embed": lambda _: ends[1] + way * (ends[0] - ends[1])}
        with swapped(net, swaps | between):
            _difference(pair, net(pair.ids.expand(points, -1), last_only=True)[:, -1]).mean().backward()
        slopes = Values(*(_stacked([nudges[name].grad for name in names]) for names in node_taps(net)))
    pushes = Values(
        *(
            (a - b).float() * slope.float().sum(0)
            for a, b, slope in zip(pair.values, pair.other_values, slopes, strict=True)
        )
    )
    scores = torch.cat([part.sum(-1).flatten() for part in pushes]).tolist()
    best = sorted(zip(all_nodes(pair), scores, strict=True), key=lambda one: -abs(one[1]))
    return [node for node, _ in best], [score for _, score in best]


def all_nodes(pair: Pair) -> list[Node]:
    """Every node of a pair's runs, in the order of `Values`: heads by layer and token, then FFNs."""
    layers, tokens, heads = pair.shape
    places = [(layer, token) for layer in range(layers) for token in range(tokens)]
    own = [Node("head", layer, head, token) for layer, token in places for head in range(heads)]
    return own + [Node("ffn", layer, None, token) for layer, token in places]


def keep(pair: Pair, circuits: Sequence[Iterable[Node]]) -> Kept:
    """Circuits as masks."""
    layers, tokens, heads = pair.shape
    kept = Kept(
        torch.zeros(len(circuits), layers, tokens, heads, dtype=torch.bool, device=pair.lm.device),
        torch.zeros(len(circuits), layers, tokens, dtype=torch.bool, device=pair.lm.device),
    )
    for i, nodes in enumerate(circuits):
        for node in nodes:
            place = (i, node.layer, node.token)
            if node.head is None:
                kept.ffn[place] = True
            else:
                kept.heads[(*place, node.head)] = True
    return kept


def recovered(pair: Pair, kept: Kept) -> list[float]:
    """The share of the logit difference that each circuit brings about: (Δ - Δ') / (Δ₁ - Δ').

    Δ is the logit of the answer less that of the other one with the circuit's nodes computed from the first prompt and
    all other nodes set to the other run's values; Δ₁ and Δ' are those of the two runs.
    """
    net = pair.lm.net
    with torch.inference_mode(), swapped(net, others_swapped(pair, kept)):
        return share_of(pair, net(pair.ids.expand(len(kept.ffn), -1), last_only=True)[:, -1]).tolist()


def others_swapped(pair: Pair, kept: Kept, swap: Callable[[Tensor, Tensor], Swap] | None = None) -> dict[str, Swap]:
    """What sets every node outside of C circuits to the other run's value, in a pass of C rows.

    `swap` makes the change of a layer's heads or FFNs from what is kept of them and the other run's values.
    """
    swap = swap or _unless
    theirs = pair.other_values
    swaps: dict[str, Swap] = {}
    for i, (heads, ffn) in enumerate(zip(*node_taps(pair.lm.net), strict=True)):
        swaps[heads] = swap(kept.heads[:, i, ..., None], theirs.heads[i])
        swaps[ffn] = swap(kept.ffn[:, i, ..., None], theirs.ffn[i])
    return swaps


def share_of(pair: Pair, logits: Float[Tensor, "C V"]) -> Float[Tensor, "C"]:
    """The share of the pair's logit difference that these logits show: 1 the first run's, 0 the other's."""
    return (_difference(pair, logits) - pair.second) / (pair.first - pair.second)


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


def node_taps(net: Network) -> tuple[list[str], list[str]]:
    """The taps of heads and of FFNs, layer by layer."""
    every = range(net.config.n_layers)
    return [HEADS.format(i) for i in every], [FFN.format(i) for i in every]


def _values(lm: LanguageModel, ids: Int[Tensor, "1 T"]) -> tuple[Float[Tensor, "V"], Values]:
    """Logits of the last position (float32), and each node's value."""
    seen: dict[str, Tensor] = {}
    heads, ffn = node_taps(lm.net)

    def keeping(name: str) -> Swap:
        def look(value: Tensor) -> Tensor:
            seen[name] = value[0]
            return value

        return look

    with torch.inference_mode(), swapped(lm.net, {name: keeping(name) for name in (*heads, *ffn)}):
        logits = lm.net(ids, last_only=True)[0, -1].float()
    return logits, Values(*(torch.stack([seen[name] for name in names]) for names in (heads, ffn)))


def _nudges(net: Network) -> tuple[dict[str, Tensor], dict[str, Swap]]:
    """A zero added to every node, whose gradient is the node's."""
    nudges: dict[str, Tensor] = {}

    def nudging(name: str) -> Swap:
        def add(value: Tensor) -> Tensor:
            nudges[name] = torch.zeros_like(value, requires_grad=True)
            return value + nudges[name]

        return add

    heads, ffn = node_taps(net)
    return nudges, {name: nudging(name) for name in (*heads, *ffn)}


def _unless(kept: Bool[Tensor, "C T *one"], theirs: Float[Tensor, "T *width"]) -> Swap:
    return lambda value: torch.where(kept, value, theirs)


def _difference(pair: Pair, logits: Float[Tensor, "C V"]) -> Float[Tensor, "C"]:
    return logits[:, pair.answer].float() - logits[:, pair.other].float()


def _stacked(grads: list[Tensor | None]) -> Tensor:
    return torch.stack([grad for grad in grads if grad is not None], 1)
