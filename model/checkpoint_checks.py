"""Checks of a checkpoint's files: that they fit its config.json, and that their values fit the dtype it runs in."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from .config import NetworkConfig
from .errors import GlassLlamaError, clipped, reason
from .families.family import Family

MOST_HEADER = 32 * 2**20  # bytes; some 250,000 tensors


def check_depth(where: Path, shapes: Mapping[str, Sequence[int]], config: NetworkConfig, family: Family) -> None:
    """Raises GlassLlamaError where a config states other depths or another embedding than `shapes` has.

    `shapes` is of the tensors in the files, by Hugging Face's names. Runs before a network is built, so that no config
    alone can ask for a huge one. Each tensor's own shape is compared later, when it is read.
    """
    shapes = {family.rename(name): list(shape) for name, shape in shapes.items()}
    for stack, (field, stated) in config.depths.items():
        (of_a_layer,) = family.names(config)[f"{stack}.{{i}}.attn_norm.weight"]
        pattern = re.compile(re.escape(of_a_layer.partition("{i}")[0]) + r"(\d+)\.")
        layers = {found[1] for name in shapes if (found := pattern.match(name))}
        if len(layers) < stated:
            raise GlassLlamaError("checkpoint", f"{where}: the weights do not fit config.json: {field} is "
                                  f"{stated}, but the files hold {len(layers)} layers.")  # fmt: skip
    (name,) = family.names(config)["embed.weight"]
    embedding = shapes.get(name)
    if embedding is not None and embedding != [config.vocab_size, config.d_model]:
        raise GlassLlamaError("checkpoint", f"{where}: the weights do not fit config.json: {name} has shape "
                              f"{embedding}, expected {[config.vocab_size, config.d_model]}.")  # fmt: skip


def check_header(file: Path) -> None:
    """Raises GlassLlamaError where the header is longer than the file, or than that of any real checkpoint."""
    with open(file, "rb") as opened:
        size = int.from_bytes(opened.read(8), "little")
    there = file.stat().st_size - 8
    if not 2 <= size <= there:
        raise damaged_file(file, ValueError(f"its header has {size:,} bytes, and there are {max(0, there):,}"))
    if size > MOST_HEADER:
        raise damaged_file(file, ValueError(f"its header has {size:,} bytes; expected at most {MOST_HEADER:,}"))


def to_dtype(name: str, tensor: Tensor, device: torch.device, dtype: torch.dtype) -> Tensor:
    """The tensor on this device, in this dtype. Raises GlassLlamaError for a value beyond what the dtype holds."""
    there = tensor.to(device, dtype)
    if tensor.dtype != dtype and not bool(torch.isfinite(there).all()):
        largest = float(tensor.abs().max())
        raise GlassLlamaError("checkpoint", f"{name} holds values up to {largest:.4g}, and {str(dtype)[6:]} ends at "
                              f"{torch.finfo(dtype).max:.4g}; choose dtype 'float32' or 'bfloat16'.")  # fmt: skip
    return there


def damaged_file(file: Path, error: Exception) -> GlassLlamaError:
    """The refusal of a file that cannot be read."""
    return GlassLlamaError(
        "checkpoint", f"{file} is damaged or cut short ({clipped(reason(error), 200)}); fetch it again."
    )
