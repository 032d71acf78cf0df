"""A network from a checkpoint's files, and back into files in Hugging Face's format. `load` is the front door."""

import json
import math
import os
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from .checkpoint_checks import check_depth, to_dtype
from .checkpoint_files import WEIGHTS, CheckpointFiles, open_checkpoint
from .config import NetworkConfig
from .errors import GlassLlamaError, shortly
from .families import family_of
from .families.family import Family
from .loading import Done, untold
from .network import Network
from .tensor_files import HEAD, arrange_tensors, count_numbers, in_file_order, locate_tensors
from .tiled import count_to_tile, count_weights, lies_in_tiles, named_weights, tile
from .tokenizer import Tokenizer
from .weight_error import TEXT, every_logit, weight_error

BUNDLED = Path(__file__).parent / "bundled"
BUNDLED_NAME = "Glass Llama (bundled)"
INT8 = "int8"  # weights of 8 bits, all else in float32
DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16, INT8: torch.float32}


@dataclass(frozen=True)
class LanguageModel:
    """A network with its tokenizer, ready to run.

    `directory` is where its files and its own records are, None for a single file; `where` is that directory or file.
    `stated` is its config.json.
    """

    name: str
    config: NetworkConfig
    tokenizer: Tokenizer
    net: Network
    directory: Path | None = None
    stated: dict[str, Any] = field(default_factory=dict, compare=False)  # dicts have no hash
    where: Path | None = None

    @property
    def device(self) -> torch.device:
        return self.net.embed.weight.device

    @property
    def dtype(self) -> torch.dtype:
        return self.net.embed.weight.dtype

    @cached_property
    def n_parameters(self) -> int:
        """Parameters held; a tied head counts once."""
        return count_weights(self.net)

    @property
    def reads_source(self) -> bool:
        """Whether the network reads a source text first, which it does not continue."""
        return hasattr(self.net, "encoder")

    def in_use(self) -> AbstractContextManager[None]:
        """A context in which the weights stay where they are, for models that drop them (model/on_demand.py)."""
        return nullcontext()

    def loading(self) -> None:
        """How far its weights are, for models that read them at first use (model/on_demand.py): these are there."""


@dataclass(frozen=True)
class Outline:
    """A checkpoint without its weights: `net` has shapes alone, on torch's device "meta".

    `stored` is how many numbers are in its files.
    """

    files: CheckpointFiles
    family: Family
    config: NetworkConfig
    net: Network
    stored: int


def load(where: str | Path = BUNDLED, device: str = "auto", dtype: str = "auto") -> LanguageModel:
    """Load the bundled model, a checkpoint directory, a GGUF file, or a Hugging Face Hub id such as
    "HuggingFaceTB/SmolLM2-135M".

    A checkpoint is of any family in model/families, found by config.json's model_type. A GGUF file, found by its first
    bytes whatever it is called, is of an architecture in model/gguf; its quantised weights are dequantised.

    `device` is "auto" (CUDA, else Apple's MPS, else CPU) or any torch device; `dtype` is "auto" (float32 on the CPU and
    MPS, bfloat16 on CUDA where the card has it, else float16), "float32", "float16", "bfloat16", or on the CPU "int8":
    float32 with weights of 8 bits, whose error is measured then (`net.int8_error`). On the CPU the linear maps of a
    large network, and of any in bfloat16 or int8, lie in tiles (model/tiled.py): such a weight is no parameter.
    Raises GlassLlamaError, in one line that says what is wrong and how to mend it.
    """
    on = pick_device(device)
    kind = pick_dtype(dtype, on)
    plan = read_outline(where)
    files = plan.files
    name = BUNDLED_NAME if files.place == BUNDLED else str(where)
    tokenizer = read_tokenizer(plan)
    net = load_weights(plan, on, kind, tokenizer.encode(TEXT) if dtype == INT8 else None)
    return LanguageModel(name, plan.config, tokenizer, net, files.directory, files.config, files.place)


def read_outline(where: str | Path) -> Outline:
    """The checkpoint without its weights and its tokenizer: its config, and the network that will hold them.

    Reads config.json and the headers of the files with weights. Raises GlassLlamaError.
    """
    files = open_checkpoint(where)
    family = family_of(files.config)
    config = family.read(files.config)
    shapes = files.shapes()
    check_depth(files.place, shapes, config, family)
    try:
        with torch.device("meta"):
            net = family.build(config)
    except (RuntimeError, TypeError, OverflowError) as error:
        raise GlassLlamaError(
            "checkpoint", f"{files.place}: config.json states sizes that no tensor can have."
        ) from error
    return Outline(files, family, config, net, sum(map(math.prod, shapes.values())))


def count_steps(plan: Outline, device: torch.device, dtype: torch.dtype, int8: bool) -> int:
    """What `load_weights` says is done, all together: each number is read, checked, arranged and laid out."""
    numbers = count_numbers(plan.net, plan.family)
    tiled = int8 or lies_in_tiles(plan.net, device, dtype)
    return plan.stored + 2 * numbers + (count_to_tile(plan.net) if tiled else numbers)


def load_weights(
    plan: Outline,
    device: torch.device,
    dtype: torch.dtype,
    int8_measured_on: list[int] | None = None,
    done: Done = untold,
) -> Network:
    """Read the weights into the outline's network, and give that network. Raises GlassLlamaError.

    With `int8_measured_on` its linear maps keep 8 bits a weight, and `int8_error` is what that changes after each of
    these tokens. `done` is told how many numbers are through one of the steps that `count_steps` counts.
    """
    read = arrange_tensors(plan.files.place, plan.files.tensors(done), plan.net, plan.family, done)
    # One by one: the weights are never there twice.
    int8 = int8_measured_on is not None
    in_tiles = not int8 and lies_in_tiles(plan.net, device, dtype)
    tensors: dict[str, Tensor] = {}
    for name in [*read]:
        weight = to_dtype(name, read.pop(name), device, dtype)
        tensors[name] = weight if in_tiles else _laid_out(weight)
        done(0 if in_tiles or int8 else weight.numel())
    plan.net.load_state_dict(tensors, assign=True, strict=False)
    if plan.config.tied_embeddings:
        plan.net.head.weight = plan.net.embed.weight
    net = plan.net.eval().requires_grad_(False)
    if int8_measured_on is not None:
        ids = torch.tensor([int8_measured_on])
        exact = every_logit(net, ids)
        net.int8_error = weight_error(exact, every_logit(tile(net, int8=True, done=done), ids))
    elif in_tiles:
        tile(net, int8=False, done=done)
    return net


def read_tokenizer(plan: Outline) -> Tokenizer:
    """The tokenizer of a checkpoint. Raises GlassLlamaError where it has tokens that the network does not."""
    return plan.files.tokenizer(plan.config.vocab_size)


def save_weights(net: Network, directory: Path, dtype: torch.dtype = torch.float16) -> None:
    """Write config.json and model.safetensors in the family's own format, so that `load` and transformers read them.

    Raises GlassLlamaError for a network whose weights were rounded to 8 bits.
    """
    if net.int8_error is not None:
        raise GlassLlamaError("dtype", "these weights are rounded to 8 bits; load them as float32 to save.")
    directory.mkdir(parents=True, exist_ok=True)
    config = net.config.to_hf() | {"torch_dtype": str(dtype).removeprefix("torch.")}
    (directory / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    family, state = family_of(config), net.state_dict() | dict(named_weights(net))
    order = family.row_order(net.config)
    tensors: dict[str, Tensor] = {}
    for ours, place in locate_tensors(net, family).items():
        if net.config.tied_embeddings and ours == HEAD:
            continue
        rows = in_file_order(state[ours], order.get(place.pattern)).split(place.rows)
        tensors |= {hf: part.detach().to("cpu", dtype).contiguous() for hf, part in zip(place.files, rows, strict=True)}
    partial = directory / f"{WEIGHTS}.part"  # a reader never meets a half-written file
    save_file(tensors, partial, metadata={"format": "pt"})
    os.replace(partial, directory / WEIGHTS)


def pick_device(device: str) -> torch.device:
    """The device to run on. Raises GlassLlamaError for one that torch does not know or that is not there."""
    if device == "auto":
        return torch.device(
            "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
        )
    try:
        torch.zeros(1, device=device).item()
        return torch.device(device)
    except (RuntimeError, AssertionError) as error:  # torch asserts where it was built without CUDA
        said = str(error).splitlines()[0].split(". ")[0].rstrip(".")
        raise GlassLlamaError(
            "device", f"device {shortly(device)} cannot be used: {said}. Try 'auto' or 'cpu'."
        ) from error


def pick_dtype(dtype: str, device: torch.device) -> torch.dtype:
    """The dtype of activations, and of weights where these are not int8. Raises GlassLlamaError for an unknown name."""
    if dtype == "auto":
        if device.type != "cuda":
            return torch.float32
        return torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else torch.float16
    if dtype == INT8 and device.type != "cpu":
        raise GlassLlamaError("dtype", f"dtype 'int8' is for the CPU; on {device} choose 'bfloat16' or 'float16'.")
    if dtype not in DTYPES:
        raise GlassLlamaError(
            "dtype", f"dtype {shortly(dtype)} is unknown; expected 'auto', {', '.join(map(repr, DTYPES))}."
        )
    return DTYPES[dtype]


def _laid_out(weight: Tensor) -> Tensor:
    """The same matrix, column by column in memory where the CPU multiplies it and it has at least as many rows.

    Decoding is one matrix-vector product after another, which is faster so: see docs/decisions/weights-in-tiles.md.
    """
    turned = weight.dim() == 2 and weight.shape[0] >= weight.shape[1] and weight.device.type == "cpu"
    return weight.t().contiguous().t() if turned else weight
