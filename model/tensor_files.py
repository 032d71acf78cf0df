"""The tensors of a checkpoint under our names, and where each of ours is among those of its files."""

import re
from pathlib import Path

import torch
from torch import Tensor, nn

from .errors import GlassLlamaError, clipped, several
from .families.family import Family
from .loading import Done, untold
from .network import Network
from .stacked import StackedLinear
from .tiled import own_weights

EMBEDDING, HEAD = "embed.weight", "head.weight"  # one and the same where the two are tied
# Old checkpoints store RoPE's frequencies; they follow from the config and are computed instead.
RECOMPUTED = ("rotary_emb.inv_freq", "rotary_pos_emb.inv_freq")
_NUMBERS = re.compile(r"\.(\d+)(?=\.)")


class TensorLocation:
    """Where one of our tensors is in the files: `files` are the tensors there, `rows` how many rows each gives."""

    def __init__(self, module: nn.Module, ours: str, shape: torch.Size, tensors: dict[str, tuple[str, ...]]):
        """Of the weight `ours` of this module."""
        numbers = [int(found) for found in _NUMBERS.findall(ours)]
        keys = iter(("{i}", "{e}"))
        self.pattern = _NUMBERS.sub(lambda _: f".{next(keys)}", ours)
        at = dict(zip("ie", numbers, strict=False))
        self.files = tuple(name.format(**at) for name in tensors[self.pattern])
        self.shape = shape
        stacked = isinstance(module, StackedLinear) and len(self.files) > 1
        self.rows = module.rows if isinstance(module, StackedLinear) and stacked else (self.shape[0],)


def locate_tensors(net: Network, family: Family) -> dict[str, TensorLocation]:
    """The location of every tensor of this network, by our name."""
    names = family.names(net.config)
    found: dict[str, TensorLocation] = {}
    for path, module in net.named_modules():  # one that stands in two places counts once, a weight in two twice
        for name, weight in own_weights(module):
            ours = f"{path}.{name}" if path else name
            found[ours] = TensorLocation(module, ours, weight.shape, names)
    return found


def count_numbers(net: Network, family: Family) -> int:
    """How many numbers `arrange_tensors` gives."""
    tied = net.config.tied_embeddings
    return sum(at.shape.numel() for ours, at in locate_tensors(net, family).items() if not (ours == HEAD and tied))


def arrange_tensors(
    place: Path, found: dict[str, Tensor], net: Network, family: Family, done: Done = untold
) -> dict[str, Tensor]:
    """Every tensor under our name, from those `found` under Hugging Face's; `found` is emptied, so that what has been
    arranged is let go of. `done` is told of each twice: when it is checked, and when it is arranged.

    One GlassLlamaError, about `place`, lists all that is unknown, missing, misshapen or NaN.
    """
    where, tied = locate_tensors(net, family), net.config.tied_embeddings
    raw = family.unpack({family.rename(name): tensor for name, tensor in found.items()}, net.config)
    found.clear()
    known = {name for at in where.values() for name in at.files}
    problems = [f"unknown tensor {clipped(key)}" for key in raw if key not in known and not key.endswith(RECOMPUTED)]
    for ours, at in where.items():
        for name, rows in zip(at.files, at.rows, strict=True):
            if name in raw:
                problems += _faults(name, raw[name], torch.Size((rows, *at.shape[1:])))
            elif not (ours == HEAD and tied):
                problems.append(f"missing tensor {name}")
        done(0 if ours == HEAD and tied else at.shape.numel())
    if tied and not problems:
        name = where.pop(HEAD).files[0]
        head = raw.pop(name, None)
        if head is not None and not torch.equal(head, raw[where[EMBEDDING].files[0]]):
            problems.append(f"{name} differs from the embedding, yet config.json says tie_word_embeddings")
    if problems:
        listed = several(problems, by="; ")
        raise GlassLlamaError("checkpoint", f"{place}: the weights do not fit config.json: {listed}.")
    order = family.row_order(net.config)
    arranged: dict[str, Tensor] = {}
    for ours, at in where.items():
        arranged[ours] = _ordered(torch.cat([raw.pop(name) for name in at.files]), order.get(at.pattern))
        done(at.shape.numel())
    return arranged


def _ordered(tensor: Tensor, order: Tensor | None) -> Tensor:
    return tensor if order is None else tensor[order]


def in_file_order(tensor: Tensor, order: Tensor | None) -> Tensor:
    """A tensor of ours with its rows as the file has them."""
    return tensor if order is None else tensor[order.argsort().to(tensor.device)]


def _faults(name: str, tensor: Tensor, shape: torch.Size) -> list[str]:
    if tensor.shape != shape:
        return [f"{name} has shape {list(tensor.shape)}, expected {list(shape)}"]
    if not tensor.is_floating_point() or tensor.element_size() < 2:
        return [f"{name} is {tensor.dtype}, expected float32, float16 or bfloat16"]
    if not bool(torch.isfinite(tensor).all()):
        return [f"{name} holds NaN or infinite values"]
    return []
