"""The KV-cache calculator on the command line: python -m model.kv_math "Llama-3 8B" --tokens 8192.

A config.json instead of a name: --config FILE or --hub OWNER/NAME. What fits on a GPU: --gpu H100. What a load needs:
--users 64 --tokens 32768.
"""

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any, NoReturn

from ..errors import GlassLlamaError
from ..published.catalogue import catalogue
from ..published.hf import MODEL_TYPES
from ..published.hf.gguf import ARCHITECTURES
from ..published.hf_spec import spec_from_hub, spec_from_text
from ..published.parameters import not_counted
from ..published.spec import ModelSpec
from . import KvOptions, kv_breakdown
from .beside import CONTEXT_MIB, FRAGMENTATION_MIB, STEP_TOKENS, UBATCH_TOKENS
from .formats import FORMATS, PAIRED
from .gpus import GPUS, MAX_GB, Gpu, find_gpu, own_gpu
from .memory import Setup, gpus_needed, largest_batch, largest_context, memory_use
from .options import refusal, whole
from .report import bound_lines, breakdown_lines, largest_lines, memory_lines, needs_lines
from .speed import decode_bound
from .weights import AS_CONFIG, WEIGHT_FORMATS


def main(arguments: Sequence[str] | None = None) -> int:
    """Print every multiplication and the bytes. Gives 0, or 2 after a message on what was wrong."""
    try:
        given = vars(parser().parse_args(arguments))
        print("\n".join(_names(given) if given.pop("list") else _lines(given)))
    except GlassLlamaError as error:
        print(f"kv_math: {error}", file=sys.stderr)
        return 2
    return 0


def _names(given: dict[str, Any]) -> Iterable[str]:
    """Every model's name. Raises GlassLlamaError for anything given beside --list, which would have no effect."""
    command = parser()
    for name, value in given.items():
        if value != command.get_default(name):
            called = name if name == "model" else f"--{name.replace('_', '-')}"
            raise refusal(called, value, "nothing beside --list, which names all models and stops")
    return catalogue()


def _lines(given: dict[str, Any]) -> list[str]:
    if sum(given[name] is not None for name in ("model", "config", "hub")) != 1:
        raise GlassLlamaError(
            "command", "which model? A name (--list names them all), --config FILE or --hub OWNER/NAME."
        )
    spec, gpu = _spec(given), _gpu(given)
    tokens, batch, users = (given.pop(name) for name in ("tokens", "batch", "users"))
    room = {
        name: given.pop(name)
        for name in ("usable_percent", "step_tokens", "context_mib", "fragmentation_mib", "weight_bytes", "vllm")
    }
    dtype, weights, embeddings = (given.pop(name) for name in ("dtype", "weights", "embeddings"))
    setup = Setup(dtype, weights, embeddings, KvOptions(**given), **room)
    if users is not None:  # the load is the whole question
        if batch is not None:
            raise refusal("batch", batch, "none with --users, which takes its place")
        needs = needs_lines(gpus_needed(spec, users, tokens, [gpu] if gpu else list(GPUS), setup))
        return [line for line in needs if line] + _noted(spec)
    batch = 1 if batch is None else batch
    lines = breakdown_lines(kv_breakdown(spec, tokens, batch, dtype, setup.options))
    if gpu is not None and spec.unstated and setup.weight_bytes is None:
        lines += ["", str(not_counted(spec))]
    elif gpu is not None:
        use = memory_use(spec, tokens, batch, gpu, setup)
        lines += memory_lines(use)
        if not any(
            given[name] for name in ("reserved_tokens", "reserved_batch", "prompt_tokens")
        ):  # else they are given
            lines += largest_lines(largest_batch(spec, tokens, gpu, setup), largest_context(spec, batch, gpu, setup))
        if use.fits and not spec.unstated:
            lines += bound_lines(decode_bound(spec, tokens, batch, gpu, setup))
    return lines + _noted(spec) + [f"Source     {source}" for source in spec.source]


def _spec(given: dict[str, Any]) -> ModelSpec:
    name, path, hub = (given.pop(field) for field in ("model", "config", "hub"))
    if hub is not None:
        return spec_from_hub(hub)
    if path is None:
        return catalogue()[name]
    try:
        return spec_from_text(Path(path).read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no UTF-8 text"
        raise GlassLlamaError("hf_config", f"--config {path}: {reason}.", field="config") from error


def _noted(spec: ModelSpec) -> list[str]:
    """What a config.json left open; a catalogue entry's own notes are about the model, not about the figures."""
    read = {(f"config.json of {spec.name}",), (f"GGUF metadata of {spec.name}",)}
    notes = spec.notes if spec.source[:1] in read else ()
    return [f"Note       {note}" for note in notes]


def _gpu(given: dict[str, Any]) -> Gpu | None:
    name, memory, bandwidth = (given.pop(field) for field in ("gpu", "gpu_memory", "gpu_bandwidth"))
    if memory is None and bandwidth is None:
        return None if name is None else find_gpu(name)
    if name is not None or memory is None or bandwidth is None:
        raise GlassLlamaError(
            "kv_value", "gpu: expected --gpu NAME, or --gpu-memory and --gpu-bandwidth for one's own.", field="gpu"
        )
    for option, figure in (("--gpu-memory", memory), ("--gpu-bandwidth", bandwidth)):
        whole(option, figure, 1, MAX_GB)  # by the command's own name
    return own_gpu(memory, bandwidth)


def whole_number(text: str) -> int:
    """A whole number as it is typed or as the output has it: 8192, 8,192 or 8_192. ArgumentTypeError for others."""
    if not re.fullmatch(r"[+-]?([0-9]{1,300}|[0-9]{1,3}([,_][0-9]{3}){1,99})", text):
        raise argparse.ArgumentTypeError(f"{text!r}; expected a whole number, such as 8192 or 8,192")
    return int(text.replace(",", "").replace("_", ""))


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, as the calculator does, not below the usage of every option."""

    def error(self, message: str) -> NoReturn:
        raise GlassLlamaError("command", f"{message.removeprefix('argument ')} (--help names all options).")


def _listed(what: str, names: Iterable[str]) -> str:
    return fill(f"{what}: {', '.join(names)}.", 100, break_on_hyphens=False)


def parser() -> argparse.ArgumentParser:
    """Every option that the command knows; those of how the cache is kept are named as the fields of KvOptions."""
    command = _Parser(
        prog="python -m model.kv_math",
        description="Bytes of a model's KV cache, exactly; what fits; what a load needs.",
        epilog=f"{_listed('Architectures whose GGUF metadata --config reads', ARCHITECTURES)}\n\n"
        f"{_listed('model_type that --config and --hub read', MODEL_TYPES)}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("model", nargs="?", help='a name in the catalogue, such as "Llama-3 8B"')
    command.add_argument("--list", action="store_true", help="name all models and stop")
    command.add_argument(
        "--config",
        metavar="FILE",
        help="read a Hugging Face config.json, or GGUF metadata as llama.cpp logs it, instead of a name (types: below)",
    )
    command.add_argument("--hub", metavar="OWNER/NAME", help="read the config.json of a model on the Hub")
    command.add_argument("--tokens", type=whole_number, default=8192, help="tokens per sequence (default 8192)")
    command.add_argument("--batch", type=whole_number, help="sequences (default 1)")
    command.add_argument(
        "--dtype",
        default="bf16",
        metavar="DTYPE or K/V",
        help=f"the cache's: {', '.join(FORMATS)} (default bf16); or K and V apart as llama.cpp has them, such as "
        f"q8_0/q4_0: each one of {', '.join(PAIRED)}",
    )
    fits = command.add_argument_group("what fits")
    fits.add_argument("--gpu", help=f"count weights and cache on it: {', '.join(GPUS)}")
    fits.add_argument("--gpu-memory", type=whole_number, metavar="GB", help="one's own GPU: memory in GB (10⁹ bytes)")
    fits.add_argument("--gpu-bandwidth", type=whole_number, metavar="GB/s", help="one's own GPU: memory bandwidth")
    fits.add_argument("--users", type=whole_number, help="which GPUs so many users need, each with --tokens tokens")
    fits.add_argument(
        "--weights",
        default=AS_CONFIG,
        help=f"the weights': {', '.join(WEIGHT_FORMATS)}; or {AS_CONFIG} (default): as the config says, else bf16",
    )
    fits.add_argument("--embeddings", help="the embedding tables', where they differ")
    fits.add_argument("--weight-bytes", type=whole_number, help="the weights' bytes as their files have them")
    fits.add_argument(
        "--usable-percent",
        help="of a GPU's memory for weights and cache, such as 92.5, or a share, 0.925 (vLLM's own rule is stricter: "
        "--vllm); left out, the lines below are taken off instead",
    )
    fits.add_argument(
        "--vllm",
        action="store_true",
        help="with --usable-percent: by vLLM's own rule for --gpu-memory-utilization, where activations, context and "
        "CUDA graphs come out of the share, too",
    )
    fits.add_argument(
        "--step-tokens",
        type=whole_number,
        help="tokens that a step reads at once, for the activations "
        f"(default {STEP_TOKENS}, on an Apple chip {UBATCH_TOKENS}, as in llama.cpp)",
    )
    for name, default, text in (
        ("context-mib", CONTEXT_MIB, "CUDA's own context in MiB"),
        ("fragmentation-mib", FRAGMENTATION_MIB, "memory that fragmentation makes unusable, in MiB"),
    ):
        fits.add_argument(f"--{name}", type=whole_number, default=default, help=f"{text} (default {default})")
    _add_options(command.add_argument_group("how the cache is kept"))
    return command


def _add_options(group: argparse._ArgumentGroup) -> None:
    for name, text in (
        ("encoder-tokens", "tokens that the encoder read (encoder-decoder models)"),
        ("batched-tokens", "vLLM's max_num_batched_tokens, with --window vllm"),
        ("shared-layers", "last layers that read an earlier layer's K and V and keep none"),
        ("reserved-tokens", "tokens allocated per sequence, whatever is used"),
        ("reserved-batch", "sequences allocated, whatever is used"),
        ("prompt-tokens", "how many of the tokens were the prompt (hf_int4)"),
    ):
        group.add_argument(f"--{name}", type=whole_number, help=text)
    for name, default, text in (
        ("block-size", 1, "tokens per page"),
        ("shared-prefix", 0, "first tokens that all sequences share"),
        ("tp", 1, "tensor-parallel ranks"),
        ("pp", 1, "pipeline stages"),
        ("dcp", 1, "ranks with the same head that split the tokens"),
    ):
        group.add_argument(f"--{name}", type=whole_number, default=default, help=f"{text} (default {default})")
    group.add_argument("--window", default="ideal", help="ideal, transformers, vllm or off")
    group.add_argument("--layout", default="formula", help="formula, expanded_mla or broadcast_heads")
    group.add_argument("--indexer", default="fp8", help="fp8 or dtype")
    group.add_argument(
        "--state",
        default="own",
        help="linear-attention or state-space layers' state: own (as the model's code has it), dtype or fp32",
    )
    group.add_argument("--draft", help="a model in the catalogue that drafts tokens and caches them too")
    group.add_argument("--mtp", action="store_true", help="count the multi-token-prediction layers")


if __name__ == "__main__":
    sys.exit(main())
