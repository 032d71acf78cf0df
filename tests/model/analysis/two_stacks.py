"""transformers' runs of an encoder and a decoder in which nodes keep their own values, and paths are cut, by hooks."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from model.analysis.nodes import AnyNode, Pair, Site, site_of
from model.analysis.paths import Ends

Change = Callable[[Site, Tensor], Tensor]


class Peer:
    """transformers' runs of both prompts, as they are or with something changed."""

    def __init__(self, net: Any, pair: Pair):
        self.net, self.pair, self.width = net, pair, pair.lm.config.head_dim
        assert pair.written is not None
        self.written = pair.written
        self.ends = [self.lead(self.run(ids)) for ids in (pair.ids, pair.other_ids)]

    def block(self, site: Site) -> Any:
        return getattr(self.net, site.stack or "").block[site.layer].layer

    def attention(self, site: Site) -> Any:
        return self.block(site)[1].EncDecAttention if site.kind == "cross" else self.block(site)[0].SelfAttention

    def norm(self, site: Site) -> nn.Module:
        return self.block(site)[{"head": 0, "cross": 1, "ffn": -1}[site.kind]].layer_norm

    def run(self, ids: Tensor, change: Change = lambda _, value: value) -> Tensor:
        """The last logits where each site's values by token and head, (T, n_heads, width), are what `change` makes."""

        def heads(site: Site) -> Any:
            return lambda _, given: (change(site, given[0][0].unflatten(-1, (-1, self.width))).flatten(1)[None],)

        def ffn(site: Site) -> Any:
            return lambda _, __, value: change(site, value[0, :, None])[:, 0][None]

        with ExitStack() as hooks, torch.no_grad():
            for site in self.pair.values:
                if site.kind == "ffn":
                    hooks.callback(self.block(site)[-1].DenseReluDense.register_forward_hook(ffn(site)).remove)
                else:
                    hooks.callback(self.attention(site).o.register_forward_pre_hook(heads(site)).remove)
            return self.net(ids, decoder_input_ids=self.written).logits[0, -1]

    def values(self, ids: Tensor, change: Change = lambda _, value: value) -> dict[Site, Tensor]:
        """What each site has to write, before it is changed."""
        seen: dict[Site, Tensor] = {}

        def look(site: Site, value: Tensor) -> Tensor:
            seen[site] = value.clone()
            return change(site, value)

        self.run(ids, look)
        return seen

    def kept(self, nodes: Iterable[AnyNode], amounts: dict[AnyNode, float] | None = None) -> Change:
        """These nodes keep their own values, of those in `amounts` as much, and all others get the other run's."""
        theirs = self.values(self.pair.other_ids)
        shares = {site: torch.zeros(*value.shape[:2], 1) for site, value in theirs.items()}
        for node, amount in (dict.fromkeys(nodes, 1.0) | (amounts or {})).items():
            shares[site_of(node)][node.token, node.head or 0] = amount
        return lambda site, value: theirs[site] + shares[site] * (value - theirs[site])

    def lead(self, logits: Tensor) -> float:
        return float(logits[self.pair.answer] - logits[self.pair.other])

    def share(self, logits: Tensor) -> float:
        first, second = self.ends
        return (self.lead(logits) - second) / (first - second)

    def recovered(self, nodes: Iterable[AnyNode], amounts: dict[AnyNode, float] | None = None) -> float:
        return self.share(self.run(self.pair.ids, self.kept(nodes, amounts)))

    def lost(self, nodes: Sequence[AnyNode], ends: Ends) -> float:
        """The effect of a path in a circuit: the target is computed once more from what it would read without it, and
        then has that value in a run that is otherwise the circuit's."""
        source, target = ends
        ids, keeping = self.pair.ids, self.kept(nodes)
        delta = self.delta(source, keeping)
        whole = self.share(self.run(ids, keeping))
        if target.kind == "logits":
            with fed(self.net.decoder.final_layer_norm, plus(target.token, delta)):
                return whole - self.share(self.run(ids, keeping))
        site, (token, head) = site_of(target), (target.token, target.head or 0)
        with ExitStack() as hooks:
            if source.stack == target.stack:
                hooks.enter_context(fed(self.norm(site), plus(source.token, delta)))
            else:
                streams: list[Tensor] = []
                with fed(self.net.encoder.final_layer_norm, lambda stream: streams.append(stream) or stream):
                    self.run(ids, keeping)
                memory = self.net.encoder.final_layer_norm(plus(source.token, delta)(streams[0]))
                for name in ("k", "v"):
                    hooks.enter_context(fed(getattr(self.attention(site), name), lambda _: memory))
            value = self.values(ids, keeping)[site][token, head]

        def cut(at: Site, own: Tensor) -> Tensor:
            own = keeping(at, own).clone()
            if at == site:
                own[token, head] = value
            return own

        return whole - self.share(self.run(ids, cut))

    def delta(self, source: AnyNode, keeping: Change) -> Tensor:
        """What the other run's value of the source would add to the stream."""
        ids, other = self.pair.ids, self.pair.other_ids
        if source.kind == "embedding":
            return self.net.shared(other[0, source.token]) - self.net.shared(ids[0, source.token])
        site = site_of(source)
        difference = (self.values(other)[site] - keeping(site, self.values(ids, keeping)[site]))[source.token]
        if site.kind == "ffn":
            return difference[0]
        alone = torch.zeros_like(difference)
        alone[source.head or 0] = difference[source.head or 0]
        return self.attention(site).o(alone.flatten())


@contextmanager
def fed(module: nn.Module, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """While the context is open, the module reads what `change` makes of what it is given."""
    handle = module.register_forward_pre_hook(lambda _, given: (change(given[0]), *given[1:]))
    yield
    handle.remove()


def plus(token: int, delta: Tensor) -> Callable[[Tensor], Tensor]:
    def change(stream: Tensor) -> Tensor:
        changed = stream.clone()
        changed[0, token] += delta
        return changed

    return change
