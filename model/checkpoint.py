"""Reading and writing checkpoints in Hugging Face's format: config.json, tokenizer.json and safetensors files.

Nothing but safetensors is ever loaded: other formats can run code. `load` is the front door.
"""

import json
import os
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import snapshot_download
from huggingface_hub.errors import GatedRepoError, HFValidationError, RepositoryNotFoundError
from safetensors.torch import save_file
from torch import Tensor

from .checkpoint_checks import check_depth, to_dtype
from .config import NetworkConfig
from .errors import GlassLlamaError, clipped, reason, shortly
from .families import family_of
from .families.family import Family
from .network import Network
from .tensor_files import HEAD, INDEX, WEIGHTS, in_file_order, locate_tensors, read_tensors, weight_files
from .tokenizer import Tokenizer

BUNDLED = Path(__file__).parent / "bundled"
BUNDLED_NAME = "Glass Llama (bundled)"
# Bytes of config.json and of an index: published ones have some 100 kB and 15 MB at most.
MOST_CONFIG, MOST_INDEX = 4 * 2**20, 32 * 2**20
DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}


@dataclass(frozen=True)
class LanguageModel:
    """A network with its tokenizer, ready to run; `directory` is where its files are."""

    name: str
    config: NetworkConfig
    tokenizer: Tokenizer
    net: Network
    directory: Path | None = None

    @property
    def device(self) -> torch.device:
        return self.net.embed.weight.device

    @property
    def dtype(self) -> torch.dtype:
        return self.net.embed.weight.dtype

    @cached_property
    def n_parameters(self) -> int:
        """Parameters held; a tied head counts once."""
        return sum(p.numel() for p in self.net.parameters())

    @property
    def reads_source(self) -> bool:
        """Whether the network reads a source text first, which it does not continue."""
        return hasattr(self.net, "encoder")

    def in_use(self) -> AbstractContextManager[None]:
        """A context in which the weights stay where they are, for models that drop them (model/on_demand.py)."""
        return nullcontext()


@dataclass(frozen=True)
class Outline:
    """A checkpoint without its weights: `net` has shapes alone, on torch's device "meta"."""

    directory: Path
    family: Family
    config: NetworkConfig
    net: Network
    files: list[Path]


def load(where: str | Path = BUNDLED, device: str = "auto", dtype: str = "auto") -> LanguageModel:
    """Load the bundled model, a checkpoint directory, or a Hugging Face Hub id such as "HuggingFaceTB/SmolLM2-135M".

    A checkpoint is of any family in model/families, found by config.json's model_type.

    `device` is "auto" (CUDA, else Apple's MPS, else CPU) or any torch device; `dtype` is "auto" (float32 on the CPU and
    MPS, bfloat16 on CUDA where the card has it, else float16), "float32", "float16" or "bfloat16". Raises
    GlassLlamaError, in one line that says what is wrong and how to mend it.
    """
    on = pick_device(device)
    kind = pick_dtype(dtype, on)
    plan = read_outline(where)
    tokenizer = read_tokenizer(plan)
    name = BUNDLED_NAME if plan.directory == BUNDLED else str(where)
    return LanguageModel(name, plan.config, tokenizer, load_weights(plan, on, kind), plan.directory)


def read_outline(where: str | Path) -> Outline:
    """The checkpoint without its weights and its tokenizer: its config, and the network that will hold them.

    Reads config.json and the headers of the safetensors files. Raises GlassLlamaError.
    """
    directory = _directory(where)
    raw = _read_json(directory / "config.json", MOST_CONFIG)
    family = family_of(raw)
    config = family.read(raw)
    index = directory / INDEX
    files = weight_files(directory, _read_json(index, MOST_INDEX) if index.exists() else None)
    check_depth(directory, files, config, family)
    try:
        with torch.device("meta"):
            net = family.build(config)
    except (RuntimeError, TypeError, OverflowError) as error:
        raise GlassLlamaError(
            "checkpoint", f"{directory}: config.json states sizes that no tensor can have."
        ) from error
    return Outline(directory, family, config, net, files)


def load_weights(plan: Outline, device: torch.device, dtype: torch.dtype) -> Network:
    """Read the weights into the outline's network, and give that network. Raises GlassLlamaError."""
    read = read_tensors(plan.directory, plan.files, plan.net, plan.family)
    tensors = {name: _laid_out(to_dtype(name, tensor, device, dtype)) for name, tensor in read.items()}
    plan.net.load_state_dict(tensors, assign=True, strict=False)
    if plan.config.tied_embeddings:
        plan.net.head.weight = plan.net.embed.weight
    return plan.net.eval().requires_grad_(False)


def read_tokenizer(plan: Outline) -> Tokenizer:
    """The tokenizer of a checkpoint. Raises GlassLlamaError where it has tokens that the network does not."""
    return Tokenizer.from_file(plan.directory / "tokenizer.json", plan.config.vocab_size)


def save_weights(net: Network, directory: Path, dtype: torch.dtype = torch.float16) -> None:
    """Write config.json and model.safetensors in the family's own format, so that `load` and transformers read them."""
    directory.mkdir(parents=True, exist_ok=True)
    config = net.config.to_hf() | {"torch_dtype": str(dtype).removeprefix("torch.")}
    (directory / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    family, state = family_of(config), net.state_dict()
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
    """The dtype of weights and activations. Raises GlassLlamaError for an unknown name."""
    if dtype == "auto":
        if device.type != "cuda":
            return torch.float32
        return torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else torch.float16
    if dtype not in DTYPES:
        raise GlassLlamaError(
            "dtype", f"dtype {shortly(dtype)} is unknown; expected 'auto', {', '.join(map(repr, DTYPES))}."
        )
    return DTYPES[dtype]


def _directory(where: str | Path) -> Path:
    """The directory itself, or where the Hub's client put the files of a Hub id."""
    path = Path(os.path.expanduser(where))
    if os.path.isdir(path):  # Path's own methods raise for an unknown ~user and for a name that is too long
        return path
    if isinstance(where, Path) or path.is_absolute() or where.startswith((".", "~")) or where.count("/") > 1:
        raise GlassLlamaError("checkpoint", f"{where}: no such directory; give a directory that holds config.json, "
                              "tokenizer.json and safetensors files.")  # fmt: skip
    try:
        patterns = ["config.json", "tokenizer.json", "*.safetensors", INDEX]
        return Path(snapshot_download(str(where), allow_patterns=patterns))
    except GatedRepoError as error:
        hint = "it is gated: accept its terms on its page, then run `hf auth login`"
        raise GlassLlamaError("hub", f"{where}: {hint}.") from error
    except (RepositoryNotFoundError, HFValidationError) as error:
        hint = "there is no such directory here and no such model on the Hub"
        raise GlassLlamaError("hub", f"{where}: {hint}; check the spelling (OWNER/NAME).") from error
    except Exception as error:  # the client lets errors of its HTTP library through, under their own classes
        said = str(error).partition("\n")[0].rstrip(".") or type(error).__name__
        hint = f"the Hub cannot be reached and the model is not in the local cache ({clipped(said, 200)})"
        raise GlassLlamaError("hub", f"{where}: {hint}; download it elsewhere and give its directory.") from error


def _read_json(path: Path, most: int) -> dict[str, Any]:
    """The object in a file of up to `most` bytes. Raises GlassLlamaError, also where a field stands twice in it."""
    if not os.path.isfile(path):
        raise GlassLlamaError("checkpoint", f"{path} is missing; a checkpoint needs config.json, tokenizer.json and "
                              "safetensors files.")  # fmt: skip
    if (size := path.stat().st_size) > most:
        raise GlassLlamaError("checkpoint", f"{path} has {size:,} bytes; expected at most {most:,}.")
    try:
        raw = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_once)
    except (ValueError, RecursionError, OSError) as error:
        said = clipped(reason(error), 200)
        raise GlassLlamaError("checkpoint", f"{path} cannot be read as JSON ({said}); fetch it again.") from error
    if not isinstance(raw, dict):
        raise GlassLlamaError("checkpoint", f"{path} holds no JSON object; fetch it again.")
    return raw


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object's fields. Raises ValueError where one stands there twice with two values: which one counts?"""
    found = dict(pairs)
    for name, value in pairs if len(found) < len(pairs) else ():
        if found[name] != value:
            raise ValueError(f"{clipped(name)} is {shortly(value)} and {shortly(found[name])}")
    return found


def _laid_out(weight: Tensor) -> Tensor:
    """The same matrix, column by column in memory where the CPU multiplies it and it has at least as many rows.

    Decoding is one matrix-vector product after another, which is faster so: see docs/decisions/weights-by-column.md.
    """
    turned = weight.dim() == 2 and weight.shape[0] >= weight.shape[1] and weight.device.type == "cpu"
    return weight.t().contiguous().t() if turned else weight
