"""A run that grows by the tokens that are written after it, and one that is cut to its first tokens: no second pass.

A written token is read once, over the KV cache. What a trace keeps of a token is recorded in that step and put behind
the tokens before. In a causal network no later token changes what an earlier one recorded: so a run of a text's
beginning is the beginning of the run.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from .config import LlamaConfig
from .interventions import intervened
from .layer_cache import LayerCache
from .layer_metadata import network_metadata
from .network import Network
from .nonfinite import all_finite
from .shapes import figures
from .taps import Tap, taps_of, watched
from .trace import LAYER_CACHE_BYTES, Trace, share_above_0


@dataclass(frozen=True)
class TokenRecord:
    """What a trace keeps of a token, or (with a dimension B) of the one token that each of B texts read in a step.

    `residual` is the stream before each layer and after the last; `figures` are those that the stream itself does not
    give.
    """

    residual: Float[Tensor, "layers *B d"]
    figures: dict[str, Float[Tensor, "L *B"]]

    def of(self, row: int) -> "TokenRecord":
        """One text's. A copy: the others' are let go of with them."""
        figures = {name: values[:, row].clone() for name, values in self.figures.items()}
        return TokenRecord(self.residual[:, row].clone(), figures)


class Recorder:
    """Records the steps of one network."""

    def __init__(self, net: Network):
        taps, block, layers = taps_of(net), net.block(0), range(net.config.n_layers)
        self._seen: dict[str, list[Tensor]] = {}
        self._watches: dict[Tap, Callable[[Tensor], None]] = {}
        inside: dict[str, list[tuple[str, Callable[[Tensor], Tensor]]]] = {}
        for name, reads in block.norms.items():
            if reads != "resid_in":
                found = figures(getattr(block, name)).items()
                inside.setdefault(reads, []).extend((f"{name}_{what}", figure) for what, figure in found)
        inside[f"ffn.{block.ffn.activation_input}"] = [("gate_open", share_above_0)]
        for layer in layers:
            self._watch(taps[f"layers.{layer}.resid_in"], [("residual", _as_it_is)])
            for reads, kept in inside.items():
                self._watch(taps[f"layers.{layer}.{reads}"], kept)
        self._watch(taps["final_resid"], [("residual", _as_it_is)])

    def _watch(self, tap: Tap, kept: list[tuple[str, Callable[[Tensor], Tensor]]]) -> None:
        def watch(value: Tensor) -> None:
            for name, record in kept:
                self._seen.setdefault(name, []).append(record(value))

        self._watches[tap] = watch

    @contextmanager
    def recording(self) -> Generator["Recorder"]:
        """A context in which the network takes one step."""
        self._seen.clear()
        with watched(self._watches):
            yield self

    def record(self) -> TokenRecord:
        """What was recorded of the step."""
        kept = {name: torch.stack(values)[:, :, 0] for name, values in self._seen.items()}
        self._seen.clear()
        return TokenRecord(kept.pop("residual"), kept)


class Growth:
    """A trace of a prompt, and what was recorded of the tokens that are written after it.

    One thread may add to it while another asks for the run.
    """

    def __init__(self, trace: Trace):
        self._trace = trace
        self._read: list[tuple[int, TokenRecord]] = []

    @property
    def begun(self) -> int:
        """How many tokens the trace has of which it grows."""
        return len(self._trace.token_ids)

    @property
    def read(self) -> int:
        """How many of them were read so far; the last one that was chosen may still be unread."""
        return len(self._read)

    def add(self, token_id: int, record: TokenRecord) -> None:
        """This token was read."""
        self._read.append((token_id, record))

    def run(self, count: int) -> Trace | None:
        """The run of the trace's tokens and the first `count` that were written after them.

        None where it is to be run whole: there are none, or not all of them are read yet; a value is not finite; or
        the length changes what the tokens before recorded (dynamic NTK).
        """
        trace, net, read = self._trace, self._trace.lm.net, self._read[:count]
        ids = trace.token_ids + [token for token, _ in read]
        if not read or len(read) < count or not keeps_its_beginning(trace, len(ids)):
            return None
        with torch.inference_mode():
            new = torch.stack([record.residual for _, record in read], 1)
            kept = {name: torch.stack([one.figures[name] for _, one in read], 1) for name in read[0][1].figures}
            block = net.block(0)
            for name, reads in block.norms.items():
                if reads == "resid_in":
                    kept |= {f"{name}_{what}": make(new[:-1]) for what, make in figures(getattr(block, name)).items()}
            kept |= {f"final_norm_{what}": make(new[-1]) for what, make in figures(net.norm).items()}
            logits = _array(net.logits(new[-1, -1]))
        residual = np.concatenate((trace.residual, _array(new)), 1)
        grown = {name: np.concatenate((trace.figures[name], _array(own)), -1) for name, own in kept.items()}
        if not all_finite(grown, logits):
            return None
        return _remade(trace, ids, residual, {name: grown[name] for name in trace.figures}, logits)


def cut(trace: Trace, count: int) -> Trace | None:
    """The run of the first `count` tokens of a run; None where it is to be run by itself.

    What the head makes of the last of them is worked out anew, all else is there.
    """
    if trace.first_nonfinite is not None or not keeps_its_beginning(trace, len(trace.token_ids)):
        return None
    net = trace.lm.net
    with torch.inference_mode(), intervened(net, trace.intervention):
        last = torch.as_tensor(trace.residual[-1, count - 1], dtype=trace.lm.dtype, device=trace.lm.device)
        logits = _array(net.logits(last))
    shorter = {name: values[..., :count].copy() for name, values in trace.figures.items()}
    return _remade(trace, trace.token_ids[:count], trace.residual[:, :count].copy(), shorter, logits)


def keeps_its_beginning(trace: Trace, tokens: int) -> bool:
    """Whether a text of so many tokens records of its first ones what a run of those alone does."""
    config = trace.lm.config
    scaling = config.rope_scaling if isinstance(config, LlamaConfig) else None
    stretched = scaling is not None and scaling.kind == "dynamic" and tokens > config.max_context
    return trace.network.causal and not stretched


def _remade(
    trace: Trace, ids: list[int], residual: np.ndarray, kept: dict[str, np.ndarray], logits: np.ndarray
) -> Trace:
    return replace(
        trace,
        token_ids=ids,
        pieces=trace.lm.tokenizer.pieces(ids),
        residual=residual,
        figures=kept,
        logits=logits,
        network=network_metadata(trace.lm.net, len(ids)),
        source=None if trace.source is None else replace(trace.source, _layers=LayerCache(LAYER_CACHE_BYTES)),
        _mixed={},
        _layers=LayerCache(LAYER_CACHE_BYTES),
    )


def _as_it_is(value: Tensor) -> Tensor:
    return value


def _array(values: Tensor) -> np.ndarray:
    return values.float().cpu().numpy()
