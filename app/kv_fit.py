"""What fits on a GPU: the settings that the page sent, and the answers of model/kv_math/memory.py and speed.py."""

from dataclasses import replace
from functools import partial
from typing import Any

from model.kv_math.gpus import GPUS, Gpu, find_gpu, own_gpu
from model.kv_math.memory import USABLE_PERCENT, Setup, gpus_needed, largest_batch, largest_context, memory_use
from model.kv_math.speed import decode_bound
from visuals import kv_fit as messages
from visuals.payload import Message

from .engine import Engine
from .kv import asked_options, size_from, spec_from

OWN_GPU = ":gpu"
USERS, USER_TOKENS = 64, 32_768


def kv_gpus(_engine: Engine, _data: dict[str, Any]) -> Message:
    """The GPUs and formats to choose from."""
    return messages.choices_message()


def kv_fit(_engine: Engine, data: dict[str, Any]) -> Message:
    """Weights and cache of a question on its GPU, the largest batch and context there, and the bound on decoding."""
    spec, size, gpu, setup = spec_from(data), size_from(data), gpu_from(data), setup_from(data)
    tokens, batch = size["tokens"], size["batch"]
    use = memory_use(spec, tokens, batch, gpu, setup)
    return {
        "use": messages.use_message(use),
        "batch": messages.message_or_reason(partial(largest_batch, spec, tokens, gpu, setup), messages.largest_message),
        "context": messages.message_or_reason(
            partial(largest_context, spec, batch, gpu, setup), messages.largest_message
        ),
        "bound": messages.message_or_reason(
            partial(decode_bound, spec, tokens, batch, gpu, setup), messages.bound_message
        ),
    }


def kv_needs(_engine: Engine, data: dict[str, Any]) -> Message:
    """What `users` with `user_tokens` tokens each need of every kind of GPU, however many share the work."""
    spec, gpu, setup = spec_from(data), gpu_from(data), setup_from(data)
    alone = replace(setup, options=replace(setup.options, tp=1, pp=1, dcp=1))
    kinds = [*GPUS.values(), *([gpu] if gpu.own else [])]
    users, tokens = data.get("users", USERS), data.get("user_tokens", USER_TOKENS)
    return messages.needs_message(gpus_needed(spec, users, tokens, kinds, alone))


def gpu_from(data: dict[str, Any]) -> Gpu:
    """The GPU of a question: a name, or OWN_GPU with `memory_gb` and `bandwidth_gb_per_s`."""
    if data.get("gpu") == OWN_GPU:
        return own_gpu(data.get("memory_gb", 0), data.get("bandwidth_gb_per_s", 0))
    return find_gpu(data.get("gpu", "H100 80 GB"))


def setup_from(data: dict[str, Any]) -> Setup:
    """Formats, options and usable percent of a question."""
    percent = data.get("usable_percent", USABLE_PERCENT)
    formats = {"dtype": data.get("dtype", "bf16"), "weights": data.get("weights", "bf16")}
    formats["embeddings"] = data.get("embeddings") or None
    return Setup(**formats, options=asked_options(data), usable_percent=percent)
