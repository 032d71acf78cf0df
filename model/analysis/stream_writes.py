"""What was written to a run's residual stream, which is the sum of it: the embedding, each head's W_O·(α·v), each
feed-forward (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits").

Symbols: S sources, T tokens, d d_model.
"""

from typing import Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from ..attention import Heads
from ..forward_pass import Pass
from ..interventions import intervened
from ..pieces import Work
from ..taps import capture
from ..trace import Trace

KEPT_BYTES = 128 * 2**20  # of a run's layers, at most


class Source(NamedTuple):
    """One writer to the residual stream at a token: the embedding, head `head` of `layer`, or the FFN of `layer`.

    "cross" is a head that looks at a source text. "patch" is what an intervention put in the stream's place before
    `layer`, less what stood there. Where a network has them, "bias" is that of W_O in a layer below, and in the score's
    own layer what the biases of norm and projection add to q and k; "position" is a bias on the score itself, which
    stands on the diagonal.
    """

    kind: Literal["embedding", "head", "cross", "ffn", "patch", "bias", "position"]
    layer: int | None = None
    head: int | None = None

    def __str__(self) -> str:
        """`embedding`, `4.4` (layer.head), `ffn 0`, `patch 2`, `bias 1`, `position`, `cross 2.1`."""
        if self.head is not None:
            return f"{'' if self.kind == 'head' else f'{self.kind} '}{self.layer}.{self.head}"
        return self.kind if self.layer is None else f"{self.kind} {self.layer}"


class LayerWrites(NamedTuple):
    """What a layer wrote at every token. `mixed` (T, heads, width) is what each head has mixed of its values, before
    W_O, by the name of its sublayer; `out` (T, d) is the stream after the layer, before a patch."""

    mixed: dict[str, Float[Tensor, "T heads width"]]
    ffn: Float[Tensor, "T d"]
    out: Float[Tensor, "T d"]

    @property
    def nbytes(self) -> int:
        return sum(held.nbytes for held in (*self.mixed.values(), self.ffn, self.out))


class StreamWrites:
    """What was written to the stream of a run. A layer is computed once more, with the run's own interventions, when it
    is first asked for, and kept as far as there is room."""

    def __init__(self, trace: Trace):
        self.trace = trace
        self._layers: dict[int, LayerWrites] = {}

    def before(self, layer: int, tokens: list[int]) -> Work[tuple[tuple[Source, ...], Float[Tensor, "tokens S d"]]]:
        """What the stream before `layer` consists of at these tokens, float64; a layer is a piece of work."""
        trace, net = self.trace, self.trace.lm.net
        stream = torch.from_numpy(trace.residual[: layer + 1])[:, tokens].double()
        sources, written = [Source("embedding")], [stream[0]]
        for i in range(layer):
            block, off = net.block(i), i in trace.intervention.attention
            wrote = self._layers.get(i) or (yield from self._computed(i))
            ffn = wrote.ffn[tokens].double()
            for name, mixed in wrote.mixed.items():
                kind = "head" if name == "attn" else "cross"
                sources += [Source(kind, i, h) for h in range(mixed.shape[1])]
                heads = _head_writes(getattr(block, name), mixed[tokens])
                written += (torch.zeros_like(heads) if off and name == "attn" else heads).unbind(1)
            sources.append(Source("ffn", i))
            written.append(ffn)
            bias = block.attn.o_proj.bias
            if bias is not None:
                sources.append(Source("bias", i))
                written.append(bias.double().cpu().expand_as(ffn) * (not off))
            if any(patch.layer == i + 1 for patch in trace.intervention.patches):
                sources.append(Source("patch", i + 1))
                written.append(stream[i + 1] - wrote.out[tokens].double())
        return tuple(sources), torch.stack(written, 1)

    def _computed(self, i: int) -> Work[LayerWrites]:
        lm, net = self.trace.lm, self.trace.lm.net
        block, x = net.block(i), torch.from_numpy(self.trace.residual[i]).to(lm.device, lm.dtype)[None]
        names = ("attn", *block.extra_sublayers)
        with (
            torch.inference_mode(),
            intervened(net, self.trace.intervention),
            capture(block, *(f"{name}.mixed" for name in names), "ffn_out", "resid_out") as seen,
        ):
            block(x, Pass(net.positions(0, x.shape[1])))
            kept = {name: values[0].cpu() for name, values in seen.items()}
        wrote = LayerWrites({name: kept[f"{name}.mixed"] for name in names}, kept["ffn_out"], kept["resid_out"])
        if wrote.nbytes * (len(self._layers) + 1) <= KEPT_BYTES:
            self._layers[i] = wrote
        yield
        return wrote


def _head_writes(attn: Heads, mixed: Float[Tensor, "t heads width"]) -> Float[Tensor, "t heads d"]:
    w_o = attn.o_proj.weight.detach().cpu().double().unflatten(1, mixed.shape[1:])
    return torch.einsum("thw,dhw->thd", mixed.double(), w_o)
