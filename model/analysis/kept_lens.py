"""The Jacobian lens of a model: read from beside its weights, or fitted a token at a time and kept there.

`python -m model.evaluate --lens` fits one with as many tokens as one likes. Where there is none, the last layers alone
are fitted on a few tokens, on demand: the Jacobians of earlier layers differ so much from token to token that the mean
of a few dozen says nothing (`docs/decisions/jacobian-lens.md` has the measurement).
"""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import torch
from jaxtyping import Float, Int
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from ..checkpoint import LanguageModel
from ..errors import GlassLlamaError, reason
from ..little_world import little_world
from ..network import Network
from ..pieces import GPU_TIMES, Work, in_pieces
from ..tiled import named_weights
from .jacobian_lens import JacobianLens, Place, jacobians_at, mean_lens, places_in
from .lens import LogitLens, logit_lens
from .outside import knows_corpus
from .reference_mean import SENTENCES
from .stream import on_device

FILE = "jacobian_lens.safetensors"
TEXT_TOKENS = 96  # of a text, at most
TOKENS, FEWEST = 256, 16
LAYERS = 10  # fitted on demand: all of a small network, the last ones of another
# Multiply–adds that fitting on demand may take: about a minute on two cores of a CPU.
WORK = 1.8e12


class Fit(NamedTuple):
    """How far the lens is: `done` of `tokens` tokens, from layer `first` on. `tokens` is 0 where a fit takes too much
    work, or the network reads a source first. `own_texts`: the tokens are of held-out texts of the model's own world.
    """

    done: int
    tokens: int
    first: int
    own_texts: bool


@dataclass
class _Sum:
    """A lens on its way: the places that are left, and the sum over those that are done."""

    first: int
    left: list[Place]
    tokens: int
    total: Tensor | float = 0.0
    done: int = 0
    at_work: set[Place] = field(default_factory=set)


_kept: WeakKeyDictionary[Network, JacobianLens] = WeakKeyDictionary()
_sums: WeakKeyDictionary[Network, _Sum] = WeakKeyDictionary()


def lens_texts(lm: LanguageModel, held_back: bool = False) -> list[Sequence[int]]:
    """The texts that a lens is fitted on, as ids: every other held-out document of the model's own world, or a few
    ordinary sentences. With `held_back` the other documents, which a lens can be judged on."""
    texts = little_world().held_out[held_back::2] if knows_corpus(lm) else SENTENCES
    return [lm.tokenizer.encode(text)[:TEXT_TOKENS] for text in texts]


def kept_lens(lm: LanguageModel) -> JacobianLens | None:
    """The lens that was fitted for these weights; None where there is none.

    Raises GlassLlamaError for a file that cannot be used.
    """
    if lm.net not in _kept and (found := _read(lm)) is not None:
        _kept[lm.net] = found
    return _kept.get(lm.net)


def keep_lens(lm: LanguageModel, lens: JacobianLens) -> None:
    """Keep it with the network and, where that can be written, in a file beside the weights."""
    _kept[lm.net] = lens
    file = lens_file(lm)
    if file is None or not os.access(file.parent, os.W_OK):
        return
    partial = file.with_name(f"{file.name}.part")  # a reader never meets a half-written file
    about = {"tokens": str(lens.tokens), "weights": fingerprint(lm.net)}
    save_file({"jacobians": lens.jacobians.contiguous()}, partial, metadata=about)
    os.replace(partial, file)


def fit_of(lm: LanguageModel) -> Fit:
    """How far the lens of this model is."""
    own = knows_corpus(lm)
    if lm.reads_source:
        return Fit(0, 0, 0, own)
    if (lens := kept_lens(lm)) is not None:
        return Fit(lens.tokens, lens.tokens, lens.first, own)
    if (under_way := _sums.get(lm.net)) is not None:
        return Fit(under_way.done, under_way.tokens, under_way.first, own)
    tokens, first = _affordable(lm)
    return Fit(0, tokens, first, own)


@in_pieces
def fit_further(lm: LanguageModel) -> Work[Fit]:
    """Take one more token into the lens, and keep it when that was the last. Raises GlassLlamaError where it takes too
    much work."""
    now = fit_of(lm)
    if not now.tokens:
        raise GlassLlamaError("lens_too_large", "A Jacobian lens of this network takes too much work here; fit it "
                              "with `python -m model.evaluate --lens`.")  # fmt: skip
    if now.done == now.tokens:
        return now
    if lm.net not in _sums:
        places = places_in(lens_texts(lm), now.tokens)
        _sums[lm.net] = _Sum(now.first, places, len(places))
    under_way = _sums[lm.net]
    place = next((place for place in under_way.left if place not in under_way.at_work), under_way.left[0])
    under_way.at_work.add(place)
    try:
        found = yield from jacobians_at.pieces(lm, place, under_way.first)
    finally:
        under_way.at_work.discard(place)
    if place in under_way.left:  # nobody else has done it meanwhile
        under_way.left.remove(place)
        under_way.total, under_way.done = under_way.total + found, under_way.done + 1
    if not under_way.left and lm.net in _sums:
        assert isinstance(under_way.total, Tensor)
        keep_lens(lm, mean_lens(under_way.total, under_way.done, under_way.first))
        del _sums[lm.net]
    return fit_of(lm)


@in_pieces
def jacobian_lens_at_every_depth(
    lm: LanguageModel, stream: Float[np.ndarray, "depths T d"], targets: Int[np.ndarray, "T"]
) -> Work[list[LogitLens]]:
    """The Jacobian lens before each layer that it is fitted for, and after the last; each depth a piece.

    Final norm and head read the stream that the mean Jacobian carried there. Raises GlassLlamaError where none is
    fitted.
    """
    if lm.reads_source or (lens := kept_lens(lm)) is None:
        raise GlassLlamaError("lens_unfitted", "No Jacobian lens of this network is fitted yet.")
    found: list[LogitLens] = []
    for depth in range(lens.first, len(stream)):
        with torch.inference_mode():
            carried = lens.carry(depth, on_device(lm, stream[depth])).float().cpu().numpy()
        found.append(logit_lens(lm, carried, targets))
        yield
    return found


def passes_of_a_token(lm: LanguageModel) -> float:
    """What one token of a fit costs on demand, in tokens that pass through the whole network: d rows, forth and back,
    through the layers that are fitted."""
    return 2 * lm.config.d_model * min(1.0, LAYERS / lm.config.n_layers)


def _affordable(lm: LanguageModel) -> tuple[int, int]:
    """How many tokens are fitted on demand, 0 where too few would be, and from which layer on."""
    work = WORK * (1 if lm.device.type == "cpu" else GPU_TIMES)
    tokens = min(TOKENS, int(work / (passes_of_a_token(lm) * lm.n_parameters)))
    tokens = len(places_in(lens_texts(lm), tokens))
    return tokens if tokens >= FEWEST else 0, max(0, lm.config.n_layers - LAYERS)


def fingerprint(net: Network) -> str:
    """A hash of every hundredth number or so of each weight, in bfloat16: the same for one checkpoint in any dtype."""
    found = hashlib.sha256()
    for _, weight in named_weights(net):
        some = weight.detach()[tuple(slice(None, None, 11) for _ in weight.shape)]
        found.update(some.to("cpu", torch.bfloat16).contiguous().view(torch.int16).numpy().tobytes())
    return found.hexdigest()


def lens_file(lm: LanguageModel) -> Path | None:
    """Where the lens is kept: in the checkpoint's directory, or beside its file."""
    if lm.directory is not None:
        return lm.directory / FILE
    return None if lm.where is None else Path(lm.where).with_name(f"{Path(lm.where).name}.{FILE}")


def _read(lm: LanguageModel) -> JacobianLens | None:
    file = lens_file(lm)
    if file is None or not file.is_file():
        return None
    layers, d = lm.config.n_layers, lm.config.d_model
    try:
        with safe_open(file, framework="pt") as opened:
            about, shape = opened.metadata() or {}, opened.get_slice("jacobians").get_shape()
            if about.get("weights") != fingerprint(lm.net):  # another checkpoint lay here when it was fitted
                return None
            if shape[1:] != [d, d] or not 0 < shape[0] <= layers:
                raise ValueError(f"its shape is {shape}, expected at most {layers} layers of [{d}, {d}]")
            return JacobianLens(opened.get_tensor("jacobians"), int(about["tokens"]), layers - shape[0])
    except (SafetensorError, OSError, ValueError, KeyError) as error:
        hint = "write it afresh with `python -m model.evaluate --lens`, or remove it"
        raise GlassLlamaError("lens", f"{FILE} of this model cannot be used: {reason(error)}; {hint}.") from error
