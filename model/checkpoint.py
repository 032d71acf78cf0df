"""Reading and writing checkpoints in Hugging Face's format: config.json, tokenizer.json and safetensors files.

Nothing but safetensors is ever loaded: other formats can run code. `load` is the front door.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import snapshot_download
from huggingface_hub.errors import GatedRepoError, HFValidationError, RepositoryNotFoundError
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from .config import LlamaConfig
from .errors import GlassLlamaError
from .fitting import cast, check_depth, damaged
from .llama import Llama
from .stacked import StackedLinear
from .tokenizer import Tokenizer

BUNDLED = Path(__file__).parent / "bundled"
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}

# Our name of each tensor -> Hugging Face's; several names are matrices one below the other in ours. {i} is the
# layer.
TENSOR_NAMES: dict[str, tuple[str, ...]] = {
    "embed.weight": ("model.embed_tokens.weight",),
    "layers.{i}.attn_norm.weight": ("model.layers.{i}.input_layernorm.weight",),
    "layers.{i}.attn.qkv_proj.weight": (
        "model.layers.{i}.self_attn.q_proj.weight",
        "model.layers.{i}.self_attn.k_proj.weight",
        "model.layers.{i}.self_attn.v_proj.weight",
    ),
    "layers.{i}.attn.o_proj.weight": ("model.layers.{i}.self_attn.o_proj.weight",),
    "layers.{i}.ffn_norm.weight": ("model.layers.{i}.post_attention_layernorm.weight",),
    "layers.{i}.ffn.gate_up_proj.weight": (
        "model.layers.{i}.mlp.gate_proj.weight",
        "model.layers.{i}.mlp.up_proj.weight",
    ),
    "layers.{i}.ffn.down_proj.weight": ("model.layers.{i}.mlp.down_proj.weight",),
    "norm.weight": ("model.norm.weight",),
    "head.weight": ("lm_head.weight",),
}
HEAD = "lm_head.weight"  # absent, or equal to the embedding, where the two are tied
# Old checkpoints store RoPE's frequencies; they follow from the config and are computed instead.
RECOMPUTED = "rotary_emb.inv_freq"


@dataclass(frozen=True)
class LanguageModel:
    """A network with its tokenizer, ready to run; `directory` is where its files are."""

    name: str
    config: LlamaConfig
    tokenizer: Tokenizer
    net: Llama
    directory: Path | None = None

    @property
    def device(self) -> torch.device:
        return self.net.embed.weight.device

    @property
    def dtype(self) -> torch.dtype:
        return self.net.embed.weight.dtype

    @property
    def n_parameters(self) -> int:
        """Parameters held; a tied head counts once."""
        return sum(p.numel() for p in self.net.parameters())


def load(where: str | Path = BUNDLED, device: str = "auto", dtype: str = "auto") -> LanguageModel:
    """Load the bundled model, a checkpoint directory, or a Hugging Face Hub id such as "HuggingFaceTB/SmolLM2-135M".

    `device` is "auto" (CUDA, else Apple's MPS, else CPU) or any torch device; `dtype` is "auto" (float32 on the CPU and
    MPS, bfloat16 on CUDA where the card has it, else float16), "float32", "float16" or "bfloat16". Raises
    GlassLlamaError, in one line that says what is wrong and how to mend it.
    """
    on = pick_device(device)
    kind = pick_dtype(dtype, on)
    directory = _directory(where)
    config = LlamaConfig.from_hf(_read_json(directory / "config.json"))
    tokenizer = Tokenizer.from_file(directory / "tokenizer.json")
    if len(tokenizer) > config.vocab_size:
        raise GlassLlamaError(
            "checkpoint",
            f"{directory}: tokenizer.json has {len(tokenizer)} tokens, but config.json's vocab_size is "
            f"{config.vocab_size}; the two files do not belong together.",
        )
    check_depth(directory, _weight_files(directory), config)
    try:
        with torch.device("meta"):
            net = Llama(config)
    except (RuntimeError, TypeError, OverflowError) as error:
        raise GlassLlamaError(
            "checkpoint", f"{directory}: config.json states sizes that no tensor can have."
        ) from error
    tensors = {name: _laid_out(cast(name, t, on, kind)) for name, t in _read_tensors(directory, net).items()}
    net.load_state_dict(tensors, assign=True, strict=False)
    if config.tied_embeddings:
        net.head.weight = net.embed.weight
    name = "Glass Llama (bundled)" if directory == BUNDLED else str(where)
    return LanguageModel(name, config, tokenizer, net.eval().requires_grad_(False), directory)


def save_weights(net: Llama, directory: Path, dtype: torch.dtype = torch.float16) -> None:
    """Write config.json and model.safetensors, so that `load` and transformers read them back."""
    directory.mkdir(parents=True, exist_ok=True)
    config = net.config.to_hf() | {"torch_dtype": str(dtype).removeprefix("torch.")}
    (directory / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    state = net.state_dict()
    tensors = {
        hf: part.detach().to("cpu", dtype).contiguous()
        for ours, names in _names(net).items()
        for hf, part in zip(names, state[ours].split(_rows(net, ours)), strict=True)
        if not (net.config.tied_embeddings and hf == HEAD)
    }
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
        reason = str(error).splitlines()[0].split(". ")[0].rstrip(".")
        raise GlassLlamaError("device", f"device {device!r} cannot be used: {reason}. Try 'auto' or 'cpu'.") from error


def pick_dtype(dtype: str, device: torch.device) -> torch.dtype:
    """The dtype of weights and activations. Raises GlassLlamaError for an unknown name."""
    if dtype == "auto":
        if device.type != "cuda":
            return torch.float32
        return torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else torch.float16
    if dtype not in DTYPES:
        raise GlassLlamaError("dtype", f"dtype {dtype!r} is unknown; expected 'auto', {', '.join(map(repr, DTYPES))}.")
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
        reason = str(error).partition("\n")[0].rstrip(".") or type(error).__name__
        hint = f"the Hub cannot be reached and the model is not in the local cache ({reason})"
        raise GlassLlamaError("hub", f"{where}: {hint}; download it elsewhere and give its directory.") from error


def _read_json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise GlassLlamaError("checkpoint", f"{path} is missing; a checkpoint needs config.json, tokenizer.json and "
                              "safetensors files.")  # fmt: skip
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError, OSError) as error:
        raise GlassLlamaError("checkpoint", f"{path} cannot be read as JSON ({error}); fetch it again.") from error
    if not isinstance(raw, dict):
        raise GlassLlamaError("checkpoint", f"{path} holds no JSON object; fetch it again.")
    return raw


def _names(net: Llama) -> dict[str, tuple[str, ...]]:
    """Our name -> Hugging Face's, for every tensor of this network."""
    layers = range(net.config.n_layers)
    return {
        ours.format(i=i): tuple(name.format(i=i) for name in hf)
        for ours, hf in TENSOR_NAMES.items()
        for i in (layers if "{i}" in ours else range(1))
    }


def _rows(net: Llama, ours: str) -> tuple[int, ...]:
    """How many rows of a tensor of ours belong to each of Hugging Face's."""
    module = net.get_submodule(ours.rpartition(".")[0])
    return module.rows if isinstance(module, StackedLinear) else (len(net.get_parameter(ours)),)


def _weight_files(directory: Path) -> list[Path]:
    index = directory / INDEX
    if index.is_file():
        weight_map = _read_json(index).get("weight_map")
        if not isinstance(weight_map, dict) or not all(isinstance(name, str) for name in weight_map.values()):
            raise GlassLlamaError("checkpoint", f"{index} has no weight_map of file names; fetch it again.")
        names = sorted(set(weight_map.values()))
        if outside := [name for name in names if Path(name).name != name or not name.endswith(".safetensors")]:
            raise GlassLlamaError("checkpoint", f"{index}: weight_map names {outside[0]!r}; expected the name of a "
                                  "safetensors file beside it.")  # fmt: skip
        files = [directory / name for name in names]
    else:
        files = [directory / WEIGHTS]
    if missing := [file.name for file in files if not file.is_file()]:
        raise GlassLlamaError("checkpoint", f"{directory}: {', '.join(missing)} missing; only safetensors files are "
                              "loaded (convert other formats with transformers' save_pretrained).")  # fmt: skip
    return files


def _read_tensors(directory: Path, net: Llama) -> dict[str, Tensor]:
    """Every tensor under our name. One GlassLlamaError lists all that is unknown, missing, misshapen or NaN."""
    names, raw = _names(net), _raw_tensors(directory)
    known = {hf for parts in names.values() for hf in parts}
    problems = [f"unknown tensor {key}" for key in raw if key not in known and not key.endswith(RECOMPUTED)]
    for ours, parts in names.items():
        shape = net.get_parameter(ours).shape
        for hf, rows in zip(parts, _rows(net, ours), strict=True):
            if hf in raw:
                problems += _faults(hf, raw[hf], torch.Size((rows, *shape[1:])))
            elif not (hf == HEAD and net.config.tied_embeddings):
                problems.append(f"missing tensor {hf}")
    head = raw.pop(HEAD, None) if net.config.tied_embeddings else None
    if head is not None and not problems and not torch.equal(head, raw["model.embed_tokens.weight"]):
        problems.append(f"{HEAD} differs from the embedding, yet config.json says tie_word_embeddings")
    if problems:
        raise GlassLlamaError("checkpoint", f"{directory}: the weights do not fit config.json: {'; '.join(problems)}.")
    return {ours: torch.cat([raw.pop(hf) for hf in parts]) for ours, parts in names.items() if parts[0] in raw}


def _raw_tensors(directory: Path) -> dict[str, Tensor]:
    """Every tensor of every weight file, under the name that the file gives it."""
    raw: dict[str, Tensor] = {}
    for file in _weight_files(directory):
        try:
            raw |= load_file(file)
        except (SafetensorError, OSError) as error:
            raise damaged(file, error) from error
    return raw


def _laid_out(weight: Tensor) -> Tensor:
    """The same matrix, column by column in memory where the CPU multiplies it and it has at least as many rows.

    Decoding is one matrix-vector product after another, which is faster so: see docs/decisions/weights-by-column.md.
    """
    turned = weight.dim() == 2 and weight.shape[0] >= weight.shape[1] and weight.device.type == "cpu"
    return weight.t().contiguous().t() if turned else weight


def _faults(name: str, tensor: Tensor, shape: torch.Size) -> list[str]:
    if tensor.shape != shape:
        return [f"{name} has shape {list(tensor.shape)}, expected {list(shape)}"]
    if not tensor.is_floating_point() or tensor.element_size() < 2:
        return [f"{name} is {tensor.dtype}, expected float32, float16 or bfloat16"]
    if not bool(torch.isfinite(tensor).all()):
        return [f"{name} holds NaN or infinite values"]
    return []
